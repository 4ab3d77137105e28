"""Load on a cluster, and what its clients were told: requests, streams and webhooks."""

import asyncio
import json
import random
import threading
import time
from collections import deque
from dataclasses import dataclass
from urllib.parse import urlencode

import hooks
from soak import Connection

# Seconds after which a client gives up.
PATIENCE = 8
BALANCER = "balancer"
# Clients of the balancer and of each node, and the requests per second of each client.
CLIENTS, NODE_CLIENTS, RATE = 14, 2, 2.0
# A silent stream is dead after this many seconds (limits.stream_keep_alive is 15 s).
STREAM_SILENCE = 20
# Posts of this many seconds before a stream's last line may not have arrived.
UNREAD = 10
# What every post of the load contains, and the streams' rule.
MARK = "clustertest"


@dataclass
class Person:
    id: str
    token: str


@dataclass
class Answer:
    """Status 0 is a connection that failed, None a client that gave up. Times are monotonic."""

    began: float
    ended: float
    target: str
    kind: str
    status: int | None
    detail: str = ""

    @property
    def took(self):
        return self.ended - self.began


@dataclass
class SentPost:
    text: str
    person: Person
    answer: Answer
    # By the machine's clock, to compare with commits.
    ended_at: float
    # None if it was not acknowledged.
    id: str | None


class SingleTryConnection(Connection):
    """Sends each request once: whether a lost one was executed is what the test finds out."""

    async def send(self, method, path, bearer, body=None):
        try:
            if self.writer is None:
                host, _, port = self.address.partition(":")
                self.reader, self.writer = await asyncio.open_connection(host, int(port))
            answer = await self.exchange(method, path, bearer, body)
        except BaseException:
            self.close()
            raise
        if self.fields.get("connection") == "close":
            self.close()
        return answer

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


async def read_lines(reader):
    """The lines of a chunked response, which a balancer may cut into chunks as it likes."""
    rest = b""
    while size := int(await asyncio.wait_for(reader.readuntil(b"\r\n"), STREAM_SILENCE), 16):
        *lines, rest = (rest + (await reader.readexactly(size + 2))[:-2]).split(b"\n")
        for line in lines:
            yield line


class Stream:
    """A client of a filtered stream that connects again after each end, and asks for what it missed."""

    def __init__(self, name, address, bearer):
        self.name, self.address, self.bearer = name, address, bearer
        # When each post arrived first.
        self.arrivals, self.last_read = {}, None
        # What happened to its connections: pairs of time and text, the latest ones.
        self.history = deque(maxlen=100)

    def note(self, text):
        self.history.append((time.monotonic(), text))

    def history_since(self, moment):
        return [f"{at - moment:.2f} s {text}" for at, text in self.history if at >= moment]

    async def follow(self):
        while True:
            try:
                await self.read_once()
            except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
                self.note(repr(error))
            await asyncio.sleep(0.2)

    def backfill(self):
        """Asks for the minutes that it missed, at most five."""
        if self.last_read is None:
            return ""
        missed = time.monotonic() - self.last_read + UNREAD
        return f"?backfill_minutes={min(5, 1 + int(missed / 60))}"

    async def read_once(self):
        host, _, port = self.address.partition(":")
        reader, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 2)
        try:
            path = "/2/tweets/search/stream" + self.backfill()
            head = f"GET {path} HTTP/1.1\r\nHost: {self.address}\r\nAuthorization: Bearer {self.bearer}\r\n\r\n"
            writer.write(head.encode())
            answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            if not answer.startswith(b"HTTP/1.1 200 "):
                body = await asyncio.wait_for(reader.read(300), 5)
                self.note(f"{path} returned {answer.split()[1].decode()} {body.decode(errors='replace')}")
                return
            self.note("connected")
            async for line in read_lines(reader):
                self.last_read = time.monotonic()
                if line.startswith(b'{"data"'):
                    self.arrivals.setdefault(json.loads(line)["data"]["id"], time.monotonic())
                elif line.strip():
                    self.note(line.decode(errors="replace"))
            self.note("end of the response")
        finally:
            writer.close()


class EventDesk(hooks.Desk):
    """Names an event by its id and the id of the post."""

    @staticmethod
    def name(told):
        return told["data"]["event_uuid"], told["data"]["payload"]["id"]


class Load(threading.Thread):
    """Clients of the balancer and of each node, in one thread."""

    def __init__(self, targets, receiver_host, secret):
        super().__init__(daemon=True)
        self.targets, self.receiver_host = targets, receiver_host
        self.people, self.streams, self.desk = [], [], EventDesk(secret)
        self.answers, self.posts, self.blind_searches, self.missing_retry_after = [], [], [], []
        # Acknowledged: pairs of user and post, and of follower and followed.
        self.likes, self.follows = set(), set()
        self.chance, self.number, self.run_id = random.Random(7), 0, int(time.time())
        self.recent, self.pairs = deque(maxlen=200), deque()
        self.is_on, self.under_way = False, 0
        self.has_started, self.has_stopped = threading.Event(), False
        self.receiver = None

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: hooks.Receiver(self.desk), self.receiver_host, 0, backlog=1024)
        self.receiver = f"http://{self.receiver_host}:{server.sockets[0].getsockname()[1]}"
        self.has_started.set()
        tasks = []
        while not self.has_stopped:
            if self.people and not tasks:
                tasks = self.start_clients()
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def start_clients(self):
        self.pairs.extend((one, other) for one in self.people[3:] for other in self.people if one is not other)
        clients = [
            self.work(target, address, number)
            for target, address in self.targets.items()
            for number in range(CLIENTS if target == BALANCER else NODE_CLIENTS)
        ]
        return [asyncio.create_task(one) for one in [*clients, *(stream.follow() for stream in self.streams)]]

    def pause(self):
        """Returns when no request is under way."""
        self.is_on = False
        while self.under_way:
            time.sleep(0.02)

    def resume(self):
        self.is_on = True

    def stop(self):
        self.has_stopped = True
        self.join()

    async def work(self, target, address, number):
        connection = SingleTryConnection(address)
        await asyncio.sleep(number / CLIENTS / RATE)
        while True:
            begun = time.monotonic()
            if self.is_on:
                self.under_way += 1
                try:
                    await self.act(connection, target)
                finally:
                    self.under_way -= 1
            await asyncio.sleep(max(0.02, begun + 1 / RATE - time.monotonic()))

    async def act(self, connection, target):
        person, dice = self.chance.choice(self.people), self.chance.random()
        if dice < 0.55 or not self.recent:
            await self.create_post(connection, target, person)
        elif dice < 0.68:
            post = self.chance.choice(self.recent)
            path = f"/2/users/{person.id}/likes"
            answer, _ = await self.request(connection, target, "like", "POST", path, person, {"tweet_id": post})
            if answer.status == 200:
                self.likes.add((person.id, post))
        elif dice < 0.75 and self.pairs:
            one, other = self.pairs.popleft()
            path = f"/2/users/{one.id}/following"
            answer, _ = await self.request(connection, target, "follow", "POST", path, one, {"target_user_id": other.id})
            if answer.status == 200:
                self.follows.add((one.id, other.id))
        elif dice < 0.9:
            post = self.chance.choice(self.recent)
            await self.request(connection, target, "lookup", "GET", f"/2/tweets/{post}", person)
        else:
            path = f"/2/users/{person.id}/timelines/reverse_chronological?max_results=50"
            await self.request(connection, target, "home", "GET", path, person)

    async def create_post(self, connection, target, person):
        self.number += 1
        word = f"w{self.number}r{self.run_id}"
        text = f"{MARK} {word}"
        answer, body = await self.request(connection, target, "post", "POST", "/2/tweets", person, {"text": text})
        post = body["data"]["id"] if answer.status == 201 else None
        self.posts.append(SentPost(text, person, answer, time.time(), post))
        if post is None:
            return
        self.recent.append(post)
        if self.chance.random() < 0.15:
            path = "/2/tweets/search/recent?" + urlencode({"query": word})
            answer, body = await self.request(connection, target, "search", "GET", path, person)
            if answer.status == 200 and not body["meta"]["result_count"]:
                self.blind_searches.append(answer)

    async def request(self, connection, target, kind, method, path, person, body=None):
        """The answer, and its body if it is JSON."""
        begun, status, said = time.monotonic(), None, b""
        try:
            status, said = await asyncio.wait_for(connection.send(method, path, person.token, body), PATIENCE)
        except TimeoutError:
            pass
        except (OSError, asyncio.IncompleteReadError, ValueError):
            status = 0
        detail = said[:200].decode(errors="replace") if status and status >= 400 else ""
        answer = Answer(begun, time.monotonic(), target, kind, status, f"{method} {path} {detail}" if detail else "")
        self.answers.append(answer)
        if status == 503 and "retry-after" not in connection.fields:
            self.missing_retry_after.append(answer)
        return answer, json.loads(said) if said[:1] == b"{" else {}
