"""The requests whose instructions are counted, and the data that they need."""

import asyncio
import itertools
import json
import random
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import adverts
import dataset
import figures
import hooks
import rows
import searches
import streams
from server import Failed

SEED = 7
RULES = 1_000
# Of 40 campaigns each.
BATCHES = 10
# Events of advertising: every line item has some of each kind in every hour.
EVENTS = 60_000
# Days before the end of the posts in which is searched.
DAYS = 6
# Seconds until the receiver of a webhook must listen.
PATIENCE = 30


@dataclass(frozen=True)
class Request:
    """A request and the status of its expected response."""

    method: str
    path: str
    headers: dict
    body: str | None = None
    status: int = 200


def reading(path, bearer=None):
    return Request("GET", path, {"Authorization": f"Bearer {bearer}"} if bearer else {})


def changing(method, path, bearer, body=None, status=200):
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
    return Request(method, path, headers, json.dumps(body) if body else None, status)


class Listener(threading.Thread):
    """The receiver of a webhook on this machine."""

    def __init__(self, secret):
        super().__init__(daemon=True)
        self.desk, self.port, self.listens = hooks.Desk(secret), None, threading.Event()
        self.start()
        if not self.listens.wait(PATIENCE):
            raise Failed("the receiver of webhooks does not listen")

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: hooks.Receiver(self.desk), "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.listens.set()
        await server.serve_forever()


class Stage:
    """A filled data folder with all that the requests need, and then the server that is measured."""

    def __init__(self, server, source, end_ms, command):
        self.server, self.source, self.end_ms = server, source, end_ms
        self.world = rows.World(server, source, types.SimpleNamespace(seed=SEED))
        self.world.prepare(command)
        searches.await_index(self.world)
        self.posts = searches.Posts(source)
        self.prepare_people()
        self.prepare_campaigns()
        self.prepare_stream()
        self.prepare_hook()

    def prepare_people(self):
        self.reader = self.world.token(dataset.READER_500)
        self.writer, self.liker = self.world.facts["writers"][:2]
        for handle in (self.writer, self.liker):
            self.world.writer(handle)
        self.at = f"/2/users/{self.world.writer(self.writer)}"
        followed = self.server.ask(f"{self.at}/following?max_results=1000", self.world.bearer)
        known = {self.world.writer(self.writer), *rows.ids_of(followed)}
        with open(self.source / "users.jsonl", encoding="utf-8") as file:
            people = [json.loads(line)["id"] for line in file]
        self.strangers = [user for user in people if user not in known]

    def prepare_campaigns(self):
        own = self.own = adverts.Advertiser(self.world)
        for number in range(BATCHES):
            ids = own.create(number * adverts.BATCH)
        self.campaign = ids[0]
        self.items = [self.create_line_item() for _ in range(figures.ITEMS)]

    def create_line_item(self):
        params = {
            "campaign_id": self.campaign,
            "objective": "ENGAGEMENTS",
            "product_type": "PROMOTED_TWEETS",
            "placements": "ALL_ON_TWITTER",
            "bid_amount_local_micro": 100_000,
        }
        return self.own.send("POST", f"{self.own.at}/line_items", params)["data"]["id"]

    def prepare_stream(self):
        rules = itertools.islice(streams.rules(random.Random(SEED)), RULES - 1)
        add = [{"value": value} for value in [*rules, streams.NEEDLE]]
        self.server.change("POST", "/2/tweets/search/stream/rules", self.world.bearer, {"add": add})

    def prepare_hook(self):
        """A webhook of an app of its own, subscribed to the likes of one user."""
        levels = ["--access-level", "enterprise", "--permission", "messages"]
        app = self.world.command("app", "create", "webhooks", "--owner", "benchowner", *levels)
        # Likes are private: the app needs a token of the user.
        self.world.command("token", "mint", "--app", app["id"], "--user", self.liker)
        self.listener = Listener(app["api_secret"])
        change = lambda path, body: self.server.change("POST", path, app["bearer_token"], body)
        hook = change("/2/webhooks", {"url": f"http://127.0.0.1:{self.listener.port}/"})["id"]
        about = {"user_id": self.world.writer(self.liker)}
        wanted = {"event_type": "like.create", "filter": about, "webhook_id": hook}
        change("/2/activity/subscriptions", wanted)

    def fill_ledger(self, folder):
        """Events of advertising, written to the database while no server runs."""
        own = self.own
        ids = own.account, own.instruments[0], self.campaign, self.items
        begin = self.end_ms - figures.DAYS * dataset.DAY_MS
        figures.fill(folder / "locum.db", ids, EVENTS, begin)

    def serve(self, server):
        """From now on this server is asked."""
        self.server = self.world.server = self.own.server = server
        self.own.signer.origin = server.url.rstrip("/")
        self.own.client = server.client()


# The requests.


@dataclass(frozen=True)
class Row:
    """A kind of request, and how many of them a round has."""

    count: int
    # Makes the request at a place of a round.
    ask: Callable
    # Looks at the first answer.
    check: Callable = lambda answer: None
    # Makes the request that takes one back, from its place and its answer.
    undo: Callable | None = None
    # How many things came that are sent because of these requests; they are waited for.
    arrived: Callable | None = None
    # How many requests are sent before it is waited for, the seconds by which a clock that stands is
    # moved on meanwhile, and how many pass at least.
    at_once: int = 1_000
    step: float = 0.001
    lasting: float = 0
    # Whether something follows from these requests after their answers.
    has_followup: bool = False


def same(request):
    """Asks the same at every place."""
    return lambda place: request


def has_ids(what, wanted):
    return lambda answer: rows.expect(what, rows.ids_of(answer), wanted)


def livez(stage):
    return Row(1_000, same(reading("/livez")))


def lookup(stage):
    sample = stage.world.facts["samples"][0]
    request = reading(rows.lookup_path(sample["id"]), stage.world.bearer)

    def check(answer):
        rows.expect("the post", rows.without_links(answer["data"]["text"]), rows.without_links(sample["text"]))
        rows.expect("its author", answer["includes"]["users"][0]["id"], sample["author"])

    return Row(400, same(request), check)


def home(stage):
    request = reading(rows.home_path(stage.world, dataset.READER_500), stage.reader)
    check = has_ids("the home timeline", stage.world.facts["homes"][dataset.READER_500])
    return Row(20, same(request), check)


def user_posts(stage):
    path = f"/2/users/{stage.world.id(dataset.PROLIFIC)}/posts?max_results=100"
    check = has_ids("the posts", stage.world.facts["prolific"]["newest"])
    return Row(30, same(reading(path, stage.world.bearer)), check)


def mentions(stage):
    path = f"/2/users/{stage.world.id(dataset.STAR)}/mentions?max_results=100"
    check = has_ids("the mentions", stage.world.facts["mentions"]["newest"])
    return Row(20, same(reading(path, stage.world.bearer)), check)


def window(stage, days):
    """The last days of the posts: the same posts lie in them at any time."""
    return {
        "start_time": figures.written(stage.end_ms - days * dataset.DAY_MS),
        "end_time": figures.written(stage.end_ms),
    }


def search(stage):
    word = stage.posts.ranked[0]
    path = searches.path_of(word, "search/recent", **window(stage, DAYS))
    wanted = stage.posts.newest(lambda post: word in searches.words_of(post["text"]))
    return Row(80, same(reading(path, stage.world.bearer)), has_ids("the posts found", wanted))


def counts(stage):
    word = stage.posts.ranked[0]
    path = searches.path_of(word, "counts/recent", granularity="hour", **window(stage, DAYS))
    check = lambda answer: rows.expect("the hours", len(answer["data"]), DAYS * 24)
    return Row(150, same(reading(path, stage.world.bearer)), check)


def signed(stage, method, path, body=None):
    """A request with a signature, which is taken once."""
    headers = {"Authorization": stage.own.signer.header(path, method)}
    headers |= {"Content-Type": "application/json"} if body else {}
    return Request(method, path, headers, body)


def campaigns(stage):
    path = f"{stage.own.at}/campaigns?{urlencode({'count': 200, 'with_total_count': 'true'})}"
    total = BATCHES * adverts.BATCH
    check = lambda answer: rows.expect("the campaigns", answer["total_count"], total)
    return Row(15, lambda place: signed(stage, "GET", path), check)


def batch(stage):
    path = f"/12/batch/accounts/{stage.own.account}/campaigns"
    create = [stage.own.campaign(place) for place in range(adverts.BATCH)]
    ask = lambda place: signed(stage, "POST", path, json.dumps(create))

    def undo(place, answer):
        ids = [one["id"] for one in answer["data"]]
        delete = [{"operation_type": "Delete", "params": {"campaign_id": one}} for one in ids]
        return signed(stage, "POST", path, json.dumps(delete))

    return Row(6, ask, undo=undo, has_followup=True)


def stats(stage):
    asked = {
        "entity": "LINE_ITEM",
        "entity_ids": ",".join(stage.items),
        "granularity": "HOUR",
        "metric_groups": "ENGAGEMENT,BILLING",
        "placement": "ALL_ON_TWITTER",
        **window(stage, 7),
    }
    path = f"/12/stats/accounts/{stage.own.account}?{urlencode(asked)}"

    def check(answer):
        seen = answer["data"][0]["id_data"][0]["metrics"]["impressions"]
        rows.expect("the hours", sum(bool(one) for one in seen), 7 * 24)

    return Row(3, lambda place: signed(stage, "GET", path), check)


def like(stage):
    posts = [str(one) for one in stage.world.ids]
    token, path = stage.world.token(stage.writer), f"{stage.at}/likes"
    ask = lambda place: changing("POST", path, token, {"tweet_id": posts[place]})
    undo = lambda place, answer: changing("DELETE", f"{path}/{posts[place]}", token)
    return Row(100, ask, undo=undo, has_followup=True)


def follow(stage):
    token, path = stage.world.token(stage.writer), f"{stage.at}/following"
    users = stage.strangers
    ask = lambda place: changing("POST", path, token, {"target_user_id": users[place]})
    undo = lambda place, answer: changing("DELETE", f"{path}/{users[place]}", token)
    return Row(100, ask, undo=undo, has_followup=True)


def webhook(stage):
    posts, token = iter(map(str, stage.world.ids)), stage.world.token(stage.liker)
    path, desk = f"/2/users/{stage.world.writer(stage.liker)}/likes", stage.listener.desk
    ask = lambda place: changing("POST", path, token, {"tweet_id": next(posts)})

    def arrived():
        if desk.wrong:
            raise Failed(f"{desk.wrong} signatures are wrong")
        return len(desk.came)

    # The same is done in this time, whenever the delivery comes.
    waiting = {"at_once": 1, "step": 0.005, "lasting": 0.06}
    return Row(4, ask, arrived=arrived, **waiting, has_followup=True)


def writing(stage, text):
    """Posts of one length, none of which says the same as another."""
    number, token = itertools.count(), stage.world.token(stage.writer)

    def ask(place):
        body = {"text": f"{text} {next(number):06d} on sha son"}
        return changing("POST", "/2/tweets", token, body, 201)

    return ask


def post(stage):
    ask = writing(stage, "the shi of train lane")
    return Row(100, ask, has_followup=True)


def stream(stage):
    opened = streams.Stream(stage.server, "/2/tweets/search/stream", stage.world.bearer)
    ask, arrived = writing(stage, streams.NEEDLE), lambda: len(opened.came)
    return Row(50, ask, arrived=arrived, has_followup=True)


# In the order in which they are measured: those that leave something behind come last.
ROWS = {
    "livez": livez,
    "lookup": lookup,
    "home": home,
    "posts": user_posts,
    "mentions": mentions,
    "search": search,
    "counts": counts,
    "campaigns": campaigns,
    "batch": batch,
    "statistics": stats,
    "like": like,
    "follow": follow,
    "webhook": webhook,
    "post": post,
    "stream": stream,
}
ABOUT = {
    "livez": "`/livez`, which only answers",
    "lookup": "one post, author expanded, app-only bearer",
    "home": "home timeline, 100 posts, 500 followed",
    "posts": "a user's posts, first page of 100",
    "mentions": "mentions, first page of 100",
    "search": f"search of the most common word over {DAYS} days, newest 10",
    "counts": f"counts of the most common word by the hour over {DAYS} days",
    "campaigns": f"ads: 200 of {BATCHES * adverts.BATCH} campaigns, and how many there are",
    "batch": f"ads: batch of {adverts.BATCH} new campaigns",
    "statistics": f"ads: statistics of {figures.ITEMS} line items, 7 days by the hour",
    "like": "`POST /2/users/{id}/likes`, durable",
    "follow": "`POST /2/users/{id}/following`, durable",
    "webhook": "a like, up to the delivery of its event to a webhook",
    "post": "`POST /2/tweets`, durable",
    "stream": f"a post that one of {RULES:,} rules matches, up to its arrival on an open stream",
}
