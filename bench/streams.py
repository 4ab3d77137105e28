"""Row P7: latency from post to filtered stream, and the cost of idle streams."""

import json
import multiprocessing
import random
import resource
import selectors
import socket
import threading
import time

from server import Failed

RULES, AT_ONCE = 25_000, 1_000
# Non-matching posts per second, and the number of connections that send them.
FLOWING, CONNECTIONS = 1_000, 32
# Matching posts, sent while the others flow.
MATCHING, PAUSE = 300, 0.05
# Seconds without a matching post before giving up.
PATIENCE = 30
IDLE, IDLE_SECONDS = 1_000, 20
# The connection limit of an enterprise app on streams without rules.
PARTS = [f"/2/tweets/firehose/stream?partition={part}" for part in range(1, 21)]
PARTS += [f"/2/tweets/firehose/stream/lang/en?partition={part}" for part in range(1, 9)]
for language in ("ja", "ko", "pt"):
    PARTS += [f"/2/tweets/firehose/stream/lang/{language}?partition={part}" for part in (1, 2)]
PARTS += [f"/2/tweets/sample10/stream?partition={part}" for part in (1, 2)]
NEEDLE = "needlethatmatches"


def rules(chance):
    """Rules of several kinds, with common words and one that occurs in no post."""
    words = ["a", "the", "on", "shi", "sha", "lane", "son", "train"]
    for number in range(RULES - 1):
        common = chance.sample(words, 2)
        yield [
            f"{common[0]} {common[1]} nowhere{number}",
            f'"{common[0]} nowhere{number}" lang:en',
            f"from:nobody{number % 9999} OR #nowhere{number}",
            f"(nowhere{number} OR elsewhere{number}) {common[0]} -is:retweet",
        ][number % 4]
    yield NEEDLE


def add_rules(world):
    path = "/2/tweets/search/stream/rules"
    every = list(rules(random.Random(world.options.seed)))
    for start in range(0, len(every), AT_ONCE):
        add = [{"value": value} for value in every[start : start + AT_ONCE]]
        world.server.change("POST", path, world.bearer, {"add": add})


class Stream(threading.Thread):
    """An open stream that records when each text arrived."""

    def __init__(self, server, path, bearer):
        super().__init__(daemon=True)
        self.socket, self.came = connect(server.address, path, bearer), {}
        self.start()

    def run(self):
        reader = self.socket.makefile("rb")
        for line in reader:
            if line.startswith(b"{"):
                now = time.monotonic()
                message = json.loads(line)
                if "data" not in message:
                    return # a farewell
                self.came[message["data"]["text"]] = now


def connect(address, path, bearer):
    """A socket after the response header of a stream."""
    host, _, port = address.partition(":")
    connected = socket.create_connection((host, int(port)))
    head = f"GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {bearer}\r\n\r\n"
    connected.sendall(head.encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        byte = connected.recv(1)
        if not byte:
            raise Failed(f"{path} closed: {answer!r}")
        answer += byte
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise Failed(f"{path} returned {answer!r} {connected.recv(1000)!r}")
    return connected


def flow(address, tokens, stop, counted):
    """Writes posts at a constant rate until stopped, in a separate process."""
    host, _, port = address.partition(":")
    waiting, selector = [], selectors.DefaultSelector()
    for _ in range(CONNECTIONS):
        one = socket.create_connection((host, int(port)))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(one, selectors.EVENT_READ)
        waiting.append(one)
    begun, number, late = time.monotonic(), 0, 0
    while not stop.is_set():
        due = int((time.monotonic() - begun) * FLOWING) - late
        while number < due and waiting:
            body = json.dumps({"text": f"the shi of train lane {number} on {begun} sha son"})
            head = f"POST /2/tweets HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            token = tokens[number % len(tokens)]
            head += f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
            waiting.pop().sendall((head + body).encode())
            number += 1
        # Late posts are skipped instead of sent in a burst.
        late += max(0, due - number - CONNECTIONS)
        for key, _ in selector.select(0.002):
            answer = key.fileobj.recv(65536)
            if not answer.startswith(b"HTTP/1.1 201 "):
                raise SystemExit(f"a post was rejected: {answer!r}")
            counted.value += 1
            waiting.append(key.fileobj)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def latency(world):
    server = world.server
    add_rules(world)
    stream = Stream(server, "/2/tweets/search/stream", world.bearer)
    tokens = [world.token(handle) for handle in world.facts["writers"][:64]]
    stop, counted = multiprocessing.Event(), multiprocessing.Value("q", 0, lock=False)
    writing = multiprocessing.Process(target=flow, args=(server.address, tokens, stop, counted))
    writing.start()
    try:
        time.sleep(2)
        sent, before, cpu, begun = {}, counted.value, server.cpu(), time.monotonic()
        client = server.client()
        for number in range(MATCHING):
            text = f"{NEEDLE} {number} {begun}"
            body = json.dumps({"text": text})
            token = tokens[number % len(tokens)]
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            client.request("POST", "/2/tweets", body, headers)
            answer = client.getresponse()
            sent[text] = time.monotonic()
            if answer.status != 201:
                raise Failed(f"a post was rejected: {answer.read()!r}")
            answer.read()
            time.sleep(PAUSE)
        took = time.monotonic() - begun
        flowing, cpu = (counted.value - before) / took, (server.cpu() - cpu) / took
    finally:
        stop.set()
        writing.join()
    # If the machine is too slow for the rate, the figures show it.
    came, end = 0, time.monotonic() + PATIENCE
    while len(stream.came) < MATCHING and time.monotonic() < end:
        if len(stream.came) > came:
            came, end = len(stream.came), time.monotonic() + PATIENCE
        time.sleep(0.01)
    if set(stream.came) != set(sent):
        raise Failed(f"{len(sent)} posts match, {len(stream.came)} arrived")
    after = [max(0.0, stream.came[text] - at) * 1000 for text, at in sent.items()]
    stream.socket.close()
    return {
        "p50": percentile(after, 0.5),
        "p99": percentile(after, 0.99),
        "flowing": flowing,
        "cores": cpu,
    }


def idle(world):
    """CPU time and memory of open idle streams."""
    server = world.server
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * IDLE + 500), hard))
    server.stop()
    server.more += ["--set", f"listen.max_connections_per_ip={2 * IDLE}"]
    levels = ["--access-level", "enterprise"]
    apps = [
        world.command("app", "create", f"idle {number}", "--owner", "benchowner", *levels)
        for number in range(IDLE // len(PARTS) + 1)
    ]
    server.start()
    time.sleep(1)
    before, sockets = server.memory()[1], []
    for app in apps:
        for path in PARTS:
            if len(sockets) < IDLE:
                sockets.append(connect(server.address, path, app["bearer_token"]))
    time.sleep(1)
    more = (server.memory()[1] - before) / IDLE * 1024
    cpu, begun = server.cpu(), time.monotonic()
    time.sleep(IDLE_SECONDS)
    share = (server.cpu() - cpu) / (time.monotonic() - begun)
    for one in sockets:
        one.settimeout(5)
        # Each got keep-alives and nothing else.
        if one.recv(100).replace(b"2\r\n\r\n\r\n", b""):
            raise Failed("an idle stream received data")
        one.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return {"share": share, "kilobytes": more}


def p7(world):
    yield "stream", latency(world)
    yield "idle-streams", idle(world)
