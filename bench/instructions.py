"""Instructions that requests cost the server: the same on a busy machine as on one at rest."""

import json
import os
import shutil
import time
from contextlib import contextmanager

import dataset
import server
from clock import Clock
from instruction_rows import ROWS, SEED, Stage
from server import Failed, Server, run, say

SIZE = 1_500
# Requests before the first that are counted, and rounds of which the least counts.
WARM, ROUNDS = 5, 4
# Seconds in which a server that was started comes to rest.
SETTLING = 6
# Seconds in which what follows from requests comes to its end, and the steps in which they pass. What
# is done every so often is due at the end of a step then; a little more time leaves it behind.
FOLLOWING, STRIDE, MORE = 2.0, 0.25, 0.02
# Seconds until what is waited for must have come.
PATIENCE = 60
# Seconds between two looks at a server, how often it must be seen at rest, and how much of the time
# it may work all the same.
LOOK_EACH, LOOKS, AT_REST = 0.006, 3, 0.1


def end_of_data():
    """The last full hour: what lies so many days before now is the same at any time."""
    return int(time.time() - 60) // 3600 * 3_600_000


def last_processor():
    return str(max(os.sched_getaffinity(0)))


@contextmanager
def work_folder():
    work = server.cache() / f"instructions-{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def filled(binary, work):
    """A data folder with all that the requests need, and what they need to know of it."""
    source, folder, end = work / "lines", work / "data", end_of_data()
    source.mkdir()
    dataset.make(source, SIZE, SEED, end=end)
    server.fill(binary, folder, source)
    with Server(binary, folder) as preparing:
        stage = Stage(preparing, source, end, lambda *arguments: run(binary, folder, *arguments))
        time.sleep(SETTLING)
    stage.fill_ledger(folder)
    return stage, folder


class Measuring:
    """One connection to a server whose instructions are counted and whose clock can be stopped."""

    def __init__(self, stage, counter, clock):
        self.stage, self.counter, self.clock = stage, counter, clock
        self.client = stage.server.client()

    def send(self, request):
        """The body of a good answer."""
        self.client.request(request.method, request.path, request.body, request.headers)
        answer = self.client.getresponse()
        body = answer.read()
        if answer.status != request.status:
            raise Failed(f"{request.method} {request.path} answered {answer.status}: {body[:500]!r}")
        return body

    def rest(self):
        """Waits until the server does nothing any more."""
        end, seen = time.monotonic() + PATIENCE, 0
        before = self.stage.server.fine_cpu()
        while seen < LOOKS:
            if time.monotonic() > end:
                raise Failed("the server does not come to rest")
            time.sleep(LOOK_EACH)
            worked = self.stage.server.fine_cpu() - before
            is_at_rest = worked < AT_REST * LOOK_EACH and not self.stage.server.is_running()
            seen = seen + 1 if is_at_rest else 0
            before += worked

    def advance(self, seconds):
        """Moves the clock on, and waits until all is done that this lets begin."""
        self.clock.advance(seconds)
        self.rest()

    def finish(self):
        """Lets time pass until what follows from requests is done."""
        for _ in range(round(FOLLOWING / STRIDE)):
            self.advance(STRIDE)
        self.advance(MORE)

    def send_each(self, requests):
        """The bodies of the answers."""
        return [self.send(request) for request in requests]

    def send_and_await(self, row, requests):
        """The bodies of the answers; what is sent because of requests is waited for."""
        bodies, before = [], row.arrived() if row.arrived else 0
        for start in range(0, len(requests), row.at_once):
            bodies += self.send_each(requests[start : start + row.at_once])
            if row.arrived:
                self.await_all(row, before + len(bodies))
        return bodies

    def await_all(self, row, count):
        """Moves the clock on until so much came."""
        end, passed = time.monotonic() + PATIENCE, 0
        while row.arrived() < count or passed < row.lasting:
            if time.monotonic() > end:
                raise Failed(f"{row.arrived()} of {count} came of what follows from requests")
            self.advance(row.step)
            passed += row.step

    def round(self, row, count):
        """Instructions for each of some requests."""
        requests = [row.ask(place) for place in range(count)]
        self.rest()
        self.counter.begin()
        bodies = self.send_and_await(row, requests)
        counted = self.counter.end()
        answers = [json.loads(body) if body[:1] in b"{[" else body for body in bodies]
        row.check(answers[0])
        if row.undo:
            self.send_each([row.undo(place, one) for place, one in enumerate(answers)])
        if row.has_followup:
            self.finish()
        return counted / count

    def row(self, row):
        """Instructions for a request, in every round."""
        self.round(row, WARM)
        return [self.round(row, row.count) for _ in range(ROUNDS)]


@contextmanager
def measured(binary, counter, work):
    """A server that is counted, and whose clock stands."""
    stage, folder = filled(binary, work)
    counter, clock = counter(work), Clock(work)
    # With one processor it has one thread for requests, whatever the machine has.
    prefix = ["taskset", "--cpu-list", last_processor(), *clock.prefix(), *counter.prefix()]
    with Server(binary, folder, prefix=prefix) as process:
        stage.serve(process)
        time.sleep(SETTLING)
        counter.attach(process.process.pid)
        clock.stop()
        yield Measuring(stage, counter, clock)
        clock.start()
        counter.detach()


def measure(binary, counter, wanted):
    """Instructions for a request of each of these rows."""
    figures = {}
    with work_folder() as work, measured(binary, counter, work) as measuring:
        for name, make in ROWS.items():
            if name in wanted:
                rounds = measuring.row(make(measuring.stage))
                figures[name] = round(min(rounds))
                say(f"  {name}: {figures[name]:,}, in other rounds up to {max(rounds):,.0f}")
    return figures
