#!/usr/bin/env python3
"""Soak test: mixed requests at a constant rate, with streams and webhooks open.

    python3 bench/soak.py [--minutes 120] [--rate 300] [--binary target/release/locum]

Prints a line per minute on standard error and a summary as JSON on standard output. It fails if a
response is not successful, a stream ends, a webhook event is lost, or the memory or the open descriptors of the
server grow during the second half.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import shutil
import tempfile
import time
from collections import Counter, deque
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import hooks
import server as bench
from rows import World, lookup_path
from searches import await_index
from server import Failed, Server, run_program, say
from streams import PARTS, percentile

POSTS = 1_000
CONNECTIONS, WEBHOOKS, STREAMS = 24, 5, 20
# Retained ids of own posts, to like and delete.
OWN_POSTS = 5_000
# The newest of them, which are liked; older ones are deleted.
LIKED_POSTS = 50
# Seconds between samples.
INTERVAL = 60
# Growth of anonymous memory over the second half that is within noise, in percent of its mean.
MAX_GROWTH_PERCENT = 5


class Connection:
    """A keep-alive connection that is reopened when the server has closed it."""

    def __init__(self, address):
        self.address, self.reader, self.writer = address, None, None
        # The header of the last response.
        self.fields = {}

    async def send(self, method, path, bearer, body=None):
        """Status and body of the response."""
        for attempt in (1, 2):
            try:
                if self.writer is None:
                    host, _, port = self.address.partition(":")
                    self.reader, self.writer = await asyncio.open_connection(host, int(port))
                return await self.exchange(method, path, bearer, body)
            except (OSError, asyncio.IncompleteReadError):
                self.writer = None
                if attempt == 2:
                    raise

    async def exchange(self, method, path, bearer, body):
        text = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.address}\r\nAuthorization: Bearer {bearer}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + text)
        response = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = response.split("\r\n")[1:]
        self.fields = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        body = await self.reader.readexactly(int(self.fields.get("content-length", 0)))
        return int(response.split(" ", 2)[1]), body


class Soak:
    def __init__(self, world, options):
        self.world, self.options, self.chance = world, options, random.Random(7)
        self.users = [(world.token(handle), world.writer(handle)) for handle in world.facts["writers"][:40]]
        self.old_posts, self.own_posts = world.some_posts(2_000), deque(maxlen=OWN_POSTS)
        self.liked, self.followed = deque(), deque()
        self.statuses, self.times, self.failures = Counter(), [], []
        self.samples, self.number, self.streamed, self.stream_ends = [], 0, 0, 0
        self.sent_events = set()

    def next_request(self):
        """Method, path, token, body, and what to do with a successful response."""
        (token, user), dice = self.chance.choice(self.users), self.chance.random()
        self.number += 1
        if dice < 0.40:
            return "GET", lookup_path(self.chance.choice(self.old_posts)), token, None, None
        if dice < 0.50:
            return "GET", f"/2/users/{user}/timelines/reverse_chronological?max_results=50", token, None, None
        if dice < 0.58:
            return "GET", f"/2/users/{user}/tweets?max_results=50", token, None, None
        if dice < 0.66:
            return "GET", "/2/tweets/search/recent?" + urlencode({"query": "soak number lang:en"}), token, None, None
        if dice < 0.70:
            query = urlencode({"query": "soak", "granularity": "hour"})
            return "GET", f"/2/tweets/counts/recent?{query}", self.world.bearer, None, None
        if dice < 0.85:
            return self.create_post(token, user)
        if dice < 0.90 and len(self.own_posts) > 100:
            post, owner = self.own_posts.popleft()
            return "DELETE", f"/2/tweets/{post}", owner, None, None
        if dice < 0.93 and len(self.own_posts) > LIKED_POSTS:
            # Not one of the oldest, which another connection may be deleting.
            post, _ = self.own_posts[-self.chance.randint(1, LIKED_POSTS)]
            return "POST", f"/2/users/{user}/likes", token, {"tweet_id": post}, None
        if dice < 0.97:
            _, other = self.chance.choice([one for one in self.users if one[1] != user])
            if self.chance.random() < 0.5:
                return "POST", f"/2/users/{user}/following", token, {"target_user_id": other}, None
            return "DELETE", f"/2/users/{user}/following/{other}", token, None, None
        return "GET", "/2/users/me", token, None, None

    def create_post(self, token, user):
        text = f"the soak number {self.number}"

        def note(body):
            self.own_posts.append((json.loads(body)["data"]["id"], token))
            if any(user == subscribed for _, subscribed in self.users[:WEBHOOKS]):
                self.sent_events.add(text)

        return "POST", "/2/tweets", token, {"text": text}, note

    async def load(self):
        """Sends requests at the rate; one that is late is not sent in a burst later."""
        due, begun = asyncio.Queue(maxsize=CONNECTIONS), time.monotonic()
        workers = [asyncio.create_task(self.work(due)) for _ in range(CONNECTIONS)]
        end, sent = begun + self.options.minutes * 60, 0
        while (now := time.monotonic()) < end:
            wanted = int((now - begun) * self.options.rate)
            while sent < wanted:
                if not due.full():
                    due.put_nowait(self.next_request())
                sent += 1
            await asyncio.sleep(0.005)
        for _ in workers:
            await due.put(None)
        await asyncio.gather(*workers)

    async def work(self, due):
        connection = Connection(self.world.server.address)
        while request := await due.get():
            method, path, token, body, note = request
            begun = time.monotonic()
            try:
                status, answer = await connection.send(method, path, token, body)
            except (OSError, asyncio.IncompleteReadError) as error:
                status, answer = 599, repr(error).encode()
            self.times.append(time.monotonic() - begun)
            self.statuses[status] += 1
            if status >= 400:
                self.failures.append(f"{method} {path} returned {status}: {answer[:200]!r}")
            elif note and status < 300:
                note(answer)

    async def stream(self, path, bearer):
        host, _, port = self.world.server.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"GET {path} HTTP/1.1\r\nHost: {self.world.server.address}\r\nAuthorization: Bearer {bearer}\r\n\r\n"
        writer.write(head.encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise Failed(f"{path} returned {answer!r}")
        try:
            while chunk := await reader.read(65_536):
                self.streamed += chunk.count(b'{"data"')
        finally:
            writer.close()
        self.stream_ends += 1

    async def sample(self):
        process, begun = self.world.server.process, time.monotonic()
        while True:
            await asyncio.sleep(INTERVAL)
            self.world.server.forget_log()
            times, self.times = self.times, []
            resident, anonymous = self.world.server.memory()
            self.samples.append({
                "minute": round((time.monotonic() - begun) / 60, 1),
                "resident_mb": round(resident, 1),
                "anonymous_mb": round(anonymous, 1),
                "descriptors": len(os.listdir(f"/proc/{process.pid}/fd")),
                "threads": len(os.listdir(f"/proc/{process.pid}/task")),
                "requests": len(times),
                "p50_ms": round(percentile(times, 0.5) * 1000, 2) if times else None,
                "p99_ms": round(percentile(times, 0.99) * 1000, 2) if times else None,
            })
            say(json.dumps(self.samples[-1]))

    async def run(self):
        # Apps with an access level that allows a stream of every part.
        helpers = [asyncio.create_task(self.stream(path, self.world.bearer)) for path in PARTS[:STREAMS]]
        helpers.append(asyncio.create_task(self.stream("/2/tweets/search/stream", self.world.bearer)))
        helpers.append(asyncio.create_task(self.sample()))
        await self.load()
        await asyncio.sleep(2)
        ended = [task.exception() for task in helpers if task.done() and task.exception()]
        for task in helpers:
            task.cancel()
        if ended:
            raise ended[0]

    def summary(self, lost):
        middle = len(self.samples) // 2
        half = self.samples[middle:]
        memory = [one["anonymous_mb"] for one in half]
        part = max(1, len(memory) // 4)
        mean = sum(memory) / len(memory)
        growth = (sum(memory[-part:]) - sum(memory[:part])) / part / mean * 100
        # The highest of each half: at the last sample, the clients may be gone.
        descriptors = [max(one["descriptors"] for one in part) for part in (self.samples[:middle], half)]
        return {
            "minutes": self.options.minutes,
            "requests": sum(self.statuses.values()),
            "requests_per_second": round(sum(self.statuses.values()) / self.options.minutes / 60, 1),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "failures": self.failures[:5],
            "stream_messages": self.streamed,
            "stream_ends": self.stream_ends,
            "webhook_events": len(self.sent_events),
            "webhook_events_lost": lost,
            "anonymous_mb_first_last": [self.samples[0]["anonymous_mb"], self.samples[-1]["anonymous_mb"]],
            "memory_growth_second_half_percent": round(growth, 1),
            "most_descriptors_by_half": descriptors,
            "p99_ms_worst_minute": max(one["p99_ms"] or 0 for one in self.samples),
            "samples": self.samples,
        }


class Webhooks:
    """Receivers of the posts of the first users."""

    def __init__(self, world, users):
        queue, self.results, self.stop = multiprocessing.Queue(), multiprocessing.Queue(), multiprocessing.Event()
        self.counted = multiprocessing.Value("q", 0, lock=False)
        secret = world.app["api_secret"]
        given = (secret, queue, self.counted, self.stop, self.results)
        self.process = multiprocessing.Process(target=hooks.receive, args=given, daemon=True)
        self.process.start()
        origin = f"http://127.0.0.1:{queue.get(timeout=hooks.PATIENCE)}"
        change = world.server.change
        for number, (_, user) in enumerate(users[:WEBHOOKS]):
            hook = change("POST", "/2/webhooks", world.bearer, {"url": f"{origin}/{number}"})["id"]
            body = {"event_type": "post.create", "filter": {"user_id": user}, "webhook_id": hook}
            change("POST", "/2/activity/subscriptions", world.bearer, body)

    def missing(self, sent):
        """How many of the sent events did not arrive."""
        end = time.monotonic() + hooks.PATIENCE
        while self.counted.value < len(sent) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.5)
        self.stop.set()
        came, wrong = self.results.get(timeout=hooks.PATIENCE)
        self.process.join()
        if wrong:
            raise Failed(f"{wrong} signatures are wrong")
        return len(sent - {text for text, _ in came})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rate", type=int, default=300, help="requests per second")
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    binary = (options.binary or bench.binary()).resolve()
    source = bench.lines(POSTS, 7)
    folder = Path(tempfile.mkdtemp(prefix="locum-soak-"))
    try:
        data = folder / "data"
        bench.fill(binary, data, source)
        with Server(binary, data) as server:
            world = World(server, source, SimpleNamespace(seed=7))
            world.prepare(lambda *arguments: bench.run(binary, data, *arguments))
            await_index(world)
            rule = {"add": [{"value": "soak lang:en"}, {"value": "soak"}]}
            server.change("POST", "/2/tweets/search/stream/rules", world.bearer, rule)
            soak = Soak(world, options)
            webhooks = Webhooks(world, soak.users)
            asyncio.run(soak.run())
            summary = soak.summary(webhooks.missing(soak.sent_events))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(summary))
    before, after = summary["most_descriptors_by_half"]
    sound = not (summary["failures"] or summary["stream_ends"] or summary["webhook_events_lost"])
    steady = summary["memory_growth_second_half_percent"] <= MAX_GROWTH_PERCENT and after - before <= CONNECTIONS
    return 0 if sound and steady else 1


if __name__ == "__main__":
    run_program(main)
