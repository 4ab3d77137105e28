"""Rows P7 and P10: latency from post to webhook receiver, and the cost of a delivery."""

import asyncio
import base64
import hashlib
import hmac
import json
import multiprocessing
import queue
import selectors
import socket
import time
from urllib.parse import parse_qs, urlsplit

from server import Failed
from streams import percentile

HOOKS, EVENTS = 100, 500
WARM, CONNECTIONS = 2, 32
# Seconds to measure, and concurrent deliveries per webhook.
SECONDS, BACKLOG = 20, 200
PATIENCE = 30


class Receiver(asyncio.Protocol):
    """Answers challenges, checks every signature, and records when each text arrived."""

    def __init__(self, desk):
        self.desk, self.data = desk, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        while True:
            head, end, rest = self.data.partition(b"\r\n\r\n")
            if not end:
                return
            first, *lines = head.decode("latin-1").split("\r\n")
            fields = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
            length = int(fields.get("content-length", 0))
            if len(rest) < length:
                return
            body, self.data = rest[:length], rest[length:]
            answer = json.dumps(self.desk.take(first.split(" "), fields, body)).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
            self.transport.write(head.encode() + answer)


class Desk:
    """What all receivers got."""

    def __init__(self, secret):
        self.secret, self.came, self.wrong = secret.encode(), [], 0

    def sign(self, data):
        return "sha256=" + base64.b64encode(hmac.new(self.secret, data, hashlib.sha256).digest()).decode()

    def take(self, line, fields, body):
        now, (method, target, _) = time.monotonic(), line
        if method == "GET":
            token = parse_qs(urlsplit(target).query)["crc_token"][0]
            return {"response_token": self.sign(token.encode())}
        if fields.get("x-twitter-webhooks-signature") != self.sign(body):
            self.wrong += 1
        told = json.loads(body)
        self.came.append((self.name(told), now))
        return {}

    @staticmethod
    def name(told):
        """What tells an event from others: the text of a post, the post that is liked, its id."""
        if "data" not in told:
            return told["test_event"]["id"]
        payload = told["data"]["payload"]
        return payload.get("text") or payload["liked_tweet_id"]


def receive(secret, port, counted, stop, results):
    """The receivers, in a separate process."""

    async def serve():
        desk, loop = Desk(secret), asyncio.get_running_loop()
        server = await loop.create_server(lambda: Receiver(desk), "127.0.0.1", 0, backlog=1024)
        port.put(server.sockets[0].getsockname()[1])
        while not stop.is_set():
            counted.value = len(desk.came)
            await asyncio.sleep(0.01)
        results.put((desk.came, desk.wrong))

    asyncio.run(serve())


def write(address, tokens, seconds, results):
    """Writes posts at a constant rate and records when each was acknowledged, in a separate process."""
    host, _, port = address.partition(":")
    waiting, selector, under_way = [], selectors.DefaultSelector(), {}

    def connect():
        one = socket.create_connection((host, int(port)))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(one, selectors.EVENT_READ)
        waiting.append(one)

    for _ in range(CONNECTIONS):
        connect()
    begun, number, late, acknowledged = time.monotonic(), 0, 0, {}
    while under_way or time.monotonic() < begun + seconds:
        over = time.monotonic() >= begun + seconds
        due = number if over else int((time.monotonic() - begun) * EVENTS) - late
        while number < due and waiting:
            text = f"event {number} of {begun}"
            body = json.dumps({"text": text})
            head = f"POST /2/tweets HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            head += f"Authorization: Bearer {tokens[number % len(tokens)]}\r\nContent-Length: {len(body)}\r\n\r\n"
            one = waiting.pop()
            under_way[one] = text
            one.sendall((head + body).encode())
            number += 1
        # Late posts are skipped instead of sent in a burst.
        late += max(0, due - number - CONNECTIONS)
        for key, _ in selector.select(0.002):
            answer, now = key.fileobj.recv(65536), time.monotonic()
            if not answer and key.fileobj not in under_way:
                # The connection was idle for too long.
                waiting.remove(key.fileobj)
                selector.unregister(key.fileobj)
                connect()
                continue
            if not answer.startswith(b"HTTP/1.1 201 "):
                results.put(f"a post was rejected: {answer!r}")
                return
            acknowledged[under_way.pop(key.fileobj)] = now
            waiting.append(key.fileobj)
    results.put(acknowledged)


class Bench:
    """Running receivers, one per webhook, and writers, one subscribed by each webhook."""

    def __init__(self, world):
        self.world, self.server = world, world.server
        self.port, self.results, self.stop = multiprocessing.Queue(), multiprocessing.Queue(), multiprocessing.Event()
        self.counted = multiprocessing.Value("q", 0, lock=False)
        levels = ["--access-level", "enterprise", "--permission", "messages"]
        self.app = world.command("app", "create", "bench webhooks", "--owner", "benchowner", *levels)
        given = (self.app["api_secret"], self.port, self.counted, self.stop, self.results)
        self.process = multiprocessing.Process(target=receive, args=given, daemon=True)
        self.process.start()
        origin = f"http://127.0.0.1:{self.port.get(timeout=PATIENCE)}"
        self.hooks = [
            self.change("/2/webhooks", {"url": f"{origin}/{number}"})["id"] for number in range(HOOKS)
        ]

    def change(self, path, body):
        return self.server.change("POST", path, self.app["bearer_token"], body)

    def writers(self):
        """Tokens of one user per webhook."""
        handles = self.world.facts["writers"][:HOOKS]
        for number in range(len(handles), HOOKS):
            handles.append(f"benchhook{number}")
            self.world.command("user", "create", handles[-1], "--password", "a long secret")
        return handles

    def subscribe(self, handles):
        for handle, hook in zip(handles, self.hooks, strict=True):
            about = {"user_id": self.world.writer(handle)}
            body = {"event_type": "post.create", "filter": about, "webhook_id": hook}
            self.change("/2/activity/subscriptions", body)

    def write(self, tokens, seconds):
        results = multiprocessing.Queue()
        given = (self.server.address, tokens, seconds, results)
        multiprocessing.Process(target=write, args=given, daemon=True).start()
        written = results.get(timeout=seconds + PATIENCE)
        if isinstance(written, str):
            raise Failed(written)
        return written

    def await_all(self, count):
        end = time.monotonic() + PATIENCE
        while self.counted.value < count and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(0.5) # What came is noted a moment later.

    def latency(self):
        handles = self.writers()
        tokens = [self.world.token(handle) for handle in handles]
        # The same posts without deliveries.
        self.write(tokens, WARM)
        cpu = self.server.cpu()
        alone = len(self.write(tokens, SECONDS))
        alone = (self.server.cpu() - cpu) / alone
        self.subscribe(handles)
        before = self.counted.value
        warm = self.write(tokens, WARM)
        self.await_all(before + len(warm))
        before, cpu, begun = self.counted.value, self.server.cpu(), time.monotonic()
        sent = self.write(tokens, SECONDS)
        took = time.monotonic() - begun
        self.await_all(before + len(sent))
        return sent, len(sent) / took, ((self.server.cpu() - cpu) / len(sent) - alone) * 1e6

    def dispatch(self):
        """CPU time of queued deliveries, from the queue to the recorded outcome."""
        before, cpu, begun, sent = self.counted.value, self.server.cpu(), time.monotonic(), []
        for hook in self.hooks:
            told = self.world.command("webhook", "send", hook, "--count", str(BACKLOG))
            sent += told["events"]
        self.await_all(before + len(sent))
        took, cpu = time.monotonic() - begun, self.server.cpu() - cpu
        return set(sent), {"cpu": cpu / len(sent) * 1e6, "rate": len(sent) / took}

    def close(self):
        """When each text first arrived."""
        self.stop.set()
        try:
            came, wrong = self.results.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed("the receivers do not respond") from None
        self.process.join()
        if wrong:
            raise Failed(f"{wrong} signatures are wrong")
        first = {}
        for text, at in came:
            first.setdefault(text, at)
        return first


def measure(world, rows):
    bench, sent, events, figures = Bench(world), {}, set(), {}
    try:
        if "P7" in rows:
            sent, rate, extra = bench.latency()
        if "P10" in rows:
            events, figures = bench.dispatch()
    finally:
        came = bench.close()
    missing = [text for text in [*sent, *events] if text not in came]
    if missing:
        raise Failed(f"{len(missing)} of {len(sent) + len(events)} events did not arrive: {missing[:3]}")
    if sent:
        after = [max(0.0, came[text] - at) * 1000 for text, at in sent.items()]
        times = {"p50": percentile(after, 0.5), "p99": percentile(after, 0.99)}
        yield "P7", "webhook", {**times, "events": rate, "more": extra}
    if events:
        yield "P10", "dispatch", figures
