"""What must hold during and after a fault, and the figures that show it."""

import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from itertools import pairwise

from cluster_load import BALANCER
from server import Failed

# Seconds. A node answers within LIMIT; the balancer and a busy machine may add a second for each process that waits
# for a core.
LIMIT = 5
REVOCATION = 1
# How long an abandoned write may still take: its COMMIT may be on the way.
ABANDONED = 2
# Deliveries that were in flight at a fault may arrive twice: those around it, in seconds.
IN_FLIGHT = (-1, 5)
# How long to wait for the last events and messages, in seconds.
ARRIVAL = 45
REVOCATION_PATIENCE = 15


def processes_per_core():
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def seconds_outside(begin, end, outages):
    """The length of an interval without its parts in outages."""
    covered = sum(max(0.0, min(end, stop) - max(begin, start)) for start, stop in outages)
    return end - begin - covered


class Trial:
    """One scenario: what happened when, and what came of it."""

    def __init__(self, name, setup):
        self.name, self.setup, self.cluster, self.load = name, setup, setup.cluster, setup.load
        self.begun = time.monotonic()
        self.tolerance = processes_per_core()
        # Moments at which something in flight may be repeated; intervals without a database; intervals in
        # which a node cannot answer, by its name.
        self.moments, self.outages, self.silences = [], [], defaultdict(list)
        self.figures, self.failures, self.revocations = {}, [], []
        self.first_event = len(self.load.desk.came)
        self.first_answer, self.first_post = len(self.load.answers), len(self.load.posts)

    def mark_moment(self):
        self.moments.append(time.monotonic())
        return self.moments[-1]

    def mark_silence(self, node, begin):
        """A node that could not answer since a moment can again."""
        self.silences[node.name].append((begin, time.monotonic() + 1))

    def mark_outage(self, begin):
        self.outages.append((begin, time.monotonic()))

    def check(self, name, value, limit=0):
        """A figure that must not exceed its limit."""
        value = round(value, 2) if isinstance(value, float) else value
        self.figures[name] = value
        if value is None or value > limit:
            self.failures.append(f"{name} is {value}, limit {limit}")

    def record(self, name, value):
        self.figures[name] = round(value, 2) if isinstance(value, float) else value

    def fail(self, text):
        self.failures.append(text)

    def note_revocation(self, issuer, checker):
        """Revokes a token on one node and waits until the other one refuses it."""
        self.revocations.append(self.setup.time_revocation(issuer, checker, REVOCATION_PATIENCE))

    def is_silent(self, answer):
        return any(
            answer.began < end and answer.ended > begin for begin, end in self.silences.get(answer.target, ())
        )

    def answers(self):
        return [answer for answer in self.load.answers[self.first_answer :] if not self.is_silent(answer)]

    def posts(self):
        return self.load.posts[self.first_post :]

    def acknowledged(self):
        return {post.id: post for post in self.posts() if post.id is not None}

    def conclude(self):
        """Checks everything; the load is paused and the cluster is whole again."""
        self.tolerance = max(self.tolerance, processes_per_core())
        self.record("tolerance_s", self.tolerance)
        self.check_answers()
        self.check_pause()
        self.check_stored()
        self.check_relations()
        self.check_read_back()
        self.check_streams()
        self.check_webhooks()
        if self.revocations:
            self.check("revocation_s", max(self.revocations), REVOCATION + self.tolerance - 1)
        self.check("fsck_unsound", 0 if self.setup.run_fsck() else 1)

    def check_answers(self):
        answers = self.answers()
        self.record("requests", len(answers))
        limit = LIMIT + self.tolerance
        self.check("slowest_s", max((answer.took for answer in answers), default=0.0), limit)
        slow = Counter((answer.target, answer.kind) for answer in answers if answer.took > limit)
        for (target, kind), count in slow.most_common(3):
            self.fail(f"{count} times late: {kind} by {target}")
        statuses = Counter(answer.status for answer in answers)
        self.check("errors_500", statuses[500])
        wrong = [answer for answer in answers if answer.status and 400 <= answer.status < 500]
        self.check("wrong_refusals", len(wrong))
        for answer in [*wrong, *(one for one in answers if one.status == 500)][:3]:
            self.fail(f"{answer.target}: {answer.status} {answer.detail}")
        self.check("blind_searches", self.count_since(self.load.blind_searches))
        self.check("no_retry_after", self.count_since(self.load.missing_retry_after))
        through = Counter(answer.status for answer in answers if answer.target == BALANCER)
        self.record("unavailable", sum(count for status, count in through.items() if status in (0, None, 502, 503, 504)))

    def count_since(self, answers):
        return sum(answer.began >= self.begun and not self.is_silent(answer) for answer in answers)

    def check_pause(self):
        """The longest time without an acknowledged write through the balancer."""
        times = sorted(
            post.answer.ended for post in self.posts() if post.id and post.answer.target == BALANCER
        )
        pauses = [seconds_outside(one, other, self.outages) for one, other in pairwise(times)]
        self.check("write_pause_s", max(pauses, default=0.0), LIMIT + self.tolerance)

    def check_stored(self):
        """Acknowledged posts are stored, each once, and abandoned ones do not appear later."""
        rows = self.setup.stored_posts()
        acknowledged = self.acknowledged()
        self.record("acknowledged", len(acknowledged))
        self.check("lost", sum(id not in rows for id in acknowledged))
        texts = Counter(text for text, _ in rows.values())
        self.check("doubled", sum(texts[post.text] > 1 for post in self.posts()))
        committed = {text: at for text, at in rows.values()}
        silent = [post for post in self.posts() if post.id is None and post.text in committed]
        self.record("stored_unacknowledged", len(silent))
        self.check("stored_late", sum(committed[post.text] > post.ended_at + ABANDONED for post in silent))

    def check_relations(self):
        for table, first, second, wanted in (
            ("post_like", "user_id", "post_id", self.load.likes),
            ("follow", "source_id", "target_id", self.load.follows),
        ):
            rows = self.setup.sql(f"SELECT {first}, {second} FROM {table}").split()
            self.check(f"lost_{table}", len({f"{one}|{other}" for one, other in wanted} - set(rows)))

    def check_read_back(self):
        """Every node shows every acknowledged post."""
        ids, missing = list(self.acknowledged()), 0
        for node in self.cluster.nodes:
            for start in range(0, len(ids), 100):
                part = ids[start : start + 100]
                try:
                    answer = self.setup.node(node).ask(f"/2/tweets?ids={','.join(part)}", self.load.people[0].token)
                except (Failed, OSError):
                    missing += len(part)
                    continue
                missing += len(set(part) - {post["id"] for post in answer.get("data", ())})
        self.check("unreadable", missing)

    def check_streams(self):
        """Each stream gets every acknowledged post; those of healthy nodes in time."""
        posts = self.acknowledged()
        self.await_all(lambda: all(posts.keys() <= stream.arrivals.keys() for stream in self.load.streams))
        limit = self.setup.stream_gap_limit(self) + self.tolerance
        longest, missing = 0.0, 0
        for stream in self.load.streams:
            if lacking := posts.keys() - stream.arrivals.keys():
                missing += len(lacking)
                self.fail(f"the stream of {stream.name} lacks {len(lacking)} posts: {stream.history_since(self.begun)}")
            if self.silences.get(stream.name) or stream.name in self.setup.restarted:
                continue
            gap = max((
                seconds_outside(posts[id].answer.ended, at, self.outages)
                for id, at in stream.arrivals.items()
                if id in posts and at > posts[id].answer.ended
            ), default=0.0)
            if gap > limit:
                self.fail(f"the stream of {stream.name} was late: {stream.history_since(self.begun)}")
            longest = max(longest, gap)
        self.check("stream_gap_s", longest, limit)
        self.check("stream_missing", missing)

    def check_webhooks(self):
        """Each event arrives, and twice only if it was in flight at a fault; a copy has the same id."""
        subscribed = {person.id for person in self.setup.subscribed}
        wanted = {id: post for id, post in self.acknowledged().items() if post.person.id in subscribed}
        self.await_all(lambda: wanted.keys() <= {post for (_, post), _ in self.load.desk.came[self.first_event :]})
        arrivals, ids = defaultdict(list), defaultdict(set)
        for (event, post), at in self.load.desk.came[self.first_event :]:
            arrivals[post].append(at)
            ids[post].add(event)
        self.record("events", len(wanted))
        self.check("event_delay_s", max(
            (seconds_outside(post.answer.ended, arrivals[id][0], self.outages) for id, post in wanted.items()
             if id in arrivals), default=0.0), self.setup.event_delay_limit(self) + self.tolerance - 1)
        self.check("events_missing", len(wanted.keys() - arrivals.keys()))
        self.check("events_tripled", sum(len(times) > 2 for times in arrivals.values()))
        doubled = [times[0] for times in arrivals.values() if len(times) > 1]
        self.record("events_doubled", len(doubled))
        self.check("doubled_not_in_flight", sum(not self.was_in_flight(at) for at in doubled))
        self.check("event_ids_differ", sum(len(events) > 1 for events in ids.values()))
        self.check("wrong_signatures", self.load.desk.wrong)

    def was_in_flight(self, at):
        before, after = IN_FLIGHT
        place = bisect_left(self.moments, at - after)
        return place < len(self.moments) and self.moments[place] + before <= at

    @staticmethod
    def await_all(has_arrived):
        end = time.monotonic() + ARRIVAL
        while not has_arrived() and time.monotonic() < end:
            time.sleep(0.1)
