#!/usr/bin/env python3
"""Latency from a post to all its subscribers: filtered streams, and webhooks.

    python3 bench/fanout.py [--subscribers 1,100,1000] [--posts 30] [--binary target/release/locum]

Each post is sent to every subscriber. The latency runs from the response to the post until the
message has arrived; the subscribers run on the same machine.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import shutil
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import hooks
import server as bench
from rows import World
from server import Failed, Server, run_program, say
from soak import Connection
from streams import percentile

WEBHOOKS_PER_APP = 100
PAUSE, PATIENCE = 0.3, 60


class Arrivals:
    """When each text arrived, once per subscriber."""

    def __init__(self):
        self.times = {}

    def note(self, text):
        self.times.setdefault(text, []).append(time.monotonic())

    def latencies(self, sent, subscribers):
        """In milliseconds, for all pairs of post and subscriber."""
        missing = sum(max(0, subscribers - len(self.times.get(text, []))) for text in sent)
        if missing:
            raise Failed(f"{missing} messages did not arrive")
        pairs = [max(0.0, came - at) * 1000 for text, at in sent.items() for came in self.times[text]]
        return {"p50_ms": round(percentile(pairs, 0.5), 1), "p99_ms": round(percentile(pairs, 0.99), 1)}


async def send_posts(world, posts):
    """When each post was acknowledged."""
    connection, sent = Connection(world.server.address), {}
    token, begun = world.token(world.facts["writers"][0]), time.monotonic()
    for number in range(posts):
        text = f"fanout {number} at {begun}"
        status, body = await connection.send("POST", "/2/tweets", token, {"text": text})
        if status != 201:
            raise Failed(f"a post was rejected: {body!r}")
        sent[text] = time.monotonic()
        await asyncio.sleep(PAUSE)
    return sent


async def read_stream(address, bearer, ready, arrivals):
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"GET /2/tweets/search/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {bearer}\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise Failed(f"the stream returned {answer!r}")
    ready.release()
    try:
        while line := await reader.readline():
            if line.startswith(b"{"):
                arrivals.note(json.loads(line)["data"]["text"])
    finally:
        writer.close()


async def measure_streams(world, bearers, posts):
    arrivals, ready = Arrivals(), asyncio.Semaphore(0)
    readers = [
        asyncio.create_task(read_stream(world.server.address, bearer, ready, arrivals)) for bearer in bearers
    ]
    for _ in readers:
        await asyncio.wait_for(ready.acquire(), PATIENCE)
    sent = await send_posts(world, posts)
    end = time.monotonic() + PATIENCE
    while sum(map(len, arrivals.times.values())) < posts * len(bearers) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    for reader in readers:
        reader.cancel()
    return arrivals.latencies(sent, len(bearers))


def receive(secrets, port, counted, stop, results):
    """The receivers of all apps, in a separate process; the app's number is in the path."""

    async def serve():
        desks = [hooks.Desk(secret) for secret in secrets]

        class Switch:
            came = []

            def take(self, line, fields, body):
                return desks[int(line[1].split("/")[1])].take(line, fields, body)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: hooks.Receiver(Switch()), "127.0.0.1", 0, backlog=4096)
        port.put(server.sockets[0].getsockname()[1])
        while not stop.is_set():
            counted.value = sum(len(desk.came) for desk in desks)
            await asyncio.sleep(0.01)
        results.put([one for desk in desks for one in desk.came])

    asyncio.run(serve())


def measure_webhooks(world, apps, subscribers, posts):
    port, results, stop = multiprocessing.Queue(), multiprocessing.Queue(), multiprocessing.Event()
    counted = multiprocessing.Value("q", 0, lock=False)
    used = apps[: (subscribers + WEBHOOKS_PER_APP - 1) // WEBHOOKS_PER_APP]
    given = ([app["api_secret"] for app in used], port, counted, stop, results)
    process = multiprocessing.Process(target=receive, args=given, daemon=True)
    process.start()
    origin = f"http://127.0.0.1:{port.get(timeout=PATIENCE)}"
    user, webhooks = world.writer(world.facts["writers"][0]), []
    for number in range(subscribers):
        app = number // WEBHOOKS_PER_APP
        bearer = used[app]["bearer_token"]
        url = {"url": f"{origin}/{app}/{number}"}
        hook = world.server.change("POST", "/2/webhooks", bearer, url)["id"]
        body = {"event_type": "post.create", "filter": {"user_id": user}, "webhook_id": hook}
        world.server.change("POST", "/2/activity/subscriptions", bearer, body)
        webhooks.append((hook, bearer))
    sent = asyncio.run(send_posts(world, posts))
    end = time.monotonic() + PATIENCE
    while counted.value < posts * subscribers and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    stop.set()
    arrivals = Arrivals()
    for text, at in results.get(timeout=PATIENCE):
        arrivals.times.setdefault(text, []).append(at)
    process.join()
    for hook, bearer in webhooks:
        world.server.change("DELETE", f"/2/webhooks/{hook}", bearer)
    return arrivals.latencies(sent, subscribers)


def prepare_apps(world, count):
    """Apps with one rule that matches the posts."""
    apps = []
    for number in range(count):
        app = world.command(
            "app", "create", f"fanout {number}", "--owner", "benchowner", "--access-level", "enterprise"
        )
        rule = {"add": [{"value": "fanout"}]}
        world.server.change("POST", "/2/tweets/search/stream/rules", app["bearer_token"], rule)
        apps.append(app)
    return apps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscribers", default="1,100,1000")
    parser.add_argument("--posts", type=int, default=30)
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    counts = [int(count) for count in options.subscribers.split(",")]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * max(counts) + 1000)), hard))
    binary = (options.binary or bench.binary()).resolve()
    source, folder = bench.lines(1_000, 7), Path(tempfile.mkdtemp(prefix="locum-fanout-"))
    try:
        bench.fill(binary, folder / "data", source)
        more = ["--set", f"listen.max_connections_per_ip={2 * max(counts) + 100}"]
        with Server(binary, folder / "data", more) as server:
            world = World(server, source, SimpleNamespace(seed=7))
            world.prepare(lambda *arguments: bench.run(binary, folder / "data", *arguments))
            say("creating apps")
            apps = prepare_apps(world, max(counts))
            for count in counts:
                bearers = [app["bearer_token"] for app in apps[:count]]
                streams = asyncio.run(measure_streams(world, bearers, options.posts))
                print("figure:", json.dumps({"streams": count, **streams}), flush=True)
                webhooks = measure_webhooks(world, apps, count, options.posts)
                print("figure:", json.dumps({"webhooks": count, **webhooks}), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    run_program(main)
