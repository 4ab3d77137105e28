"""Rows P12 and part of P13: campaign lists, batches, audience members,
keyword insights."""

import hashlib
import json
import statistics
import time
from urllib.parse import urlencode

import searches
from load import Load, beside, written
from server import Failed, say
from signer import Signer

# Live campaigns, and deleted ones.
CAMPAIGNS, DELETED = 8_000, 32_000
BATCH, PAGE = 40, 200
INSTRUMENTS = 4
# Audience changes per request.
MEMBERS = 2_500
READERS = 4
BATCHES, TIMES = 50, 10
WEEK_S = 7 * 86_400
DAILY = "daily_budget_amount_local_micro"


class Advertiser:
    """An advertiser with an account and its records."""

    def __init__(self, world):
        self.world, self.server = world, world.server
        handle = "benchowner"
        token = world.mint(handle, "--oauth1")
        self.signer = Signer(self.server.url.rstrip("/"), world.app, token)
        account = world.command("ads", "account", "create", "Bench", "--user", handle)["id"]
        world.command("ads", "account", "set", account, "--campaigns", CAMPAIGNS)
        fund = ["--amount", 1_000_000, "--start", "2020-01-01T00:00:00Z"]
        self.instruments = [
            world.command("ads", "account", "funding", account, *fund)["id"]
            for _ in range(INSTRUMENTS)
        ]
        self.at, self.account = f"/12/accounts/{account}", account
        self.client = self.server.client()

    def send(self, method, path, params=None, body=None):
        """The body of a successful response."""
        path += f"?{urlencode(params)}" if params else ""
        headers = {"Authorization": self.signer.header(path, method)}
        headers |= {"Content-Type": "application/json"} if body else {}
        self.client.request(method, path, body, headers)
        answer = self.client.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise Failed(f"{method} {path} returned {answer.status}: {said[:500]!r}")
        return json.loads(said)

    def batch(self, items):
        path = f"/12/batch/accounts/{self.account}/campaigns"
        answer = self.send("POST", path, body=json.dumps(items))
        return [one["id"] for one in answer["data"]]

    def create(self, first):
        """A batch of new campaigns, alternating between instruments; one in ten names shares a prefix."""
        return self.batch([self.campaign(first + place) for place in range(BATCH)])

    def campaign(self, number):
        name = f"{'Spring' if number % 10 == 0 else 'Other'} {number}"
        params = {
            "name": name,
            "funding_instrument_id": self.instruments[number // 10 % INSTRUMENTS],
            DAILY: (1 + number * 7919 % 1000) * 1_000_000,
        }
        return {"operation_type": "Create", "params": params}

    def change(self, ids, kind, **params):
        return self.batch(
            [{"operation_type": kind, "params": {"campaign_id": one, **params}} for one in ids]
        )

    def worked(self, *calls):
        """Median CPU time and latency of each call, in milliseconds."""
        costs, took = [], []
        for call in calls:
            before, begun = self.server.fine_cpu(), time.monotonic()
            call()
            took.append((time.monotonic() - begun) * 1e3)
            costs.append((self.server.fine_cpu() - before) * 1e3)
        return {"cpu_ms": statistics.median(costs), "wall": statistics.median(took), "most": max(took)}


class Signed:
    """Requests signed before each round, because each signature is accepted once."""

    def __init__(self, advertiser, path):
        self.server, self.connections = advertiser.server, READERS
        self.signer, self.path = advertiser.signer, path
        _, self.length, _ = self.server.get(path, headers=self.headers())
        self.rate = 10_000

    def headers(self):
        return {"Authorization": self.signer.header(self.path)}

    def run(self, seconds):
        count = int(self.rate * (seconds + 1) * 2)
        address = self.server.address
        signed = [written(address, self.path, self.headers()) for _ in range(count)]
        load = Load(self.server, self.connections, signed, once=True, length=self.length)
        told = load.run(seconds)
        load.close()
        self.rate = max(told["rate"], 2_000)
        return told


def filled(world):
    """An account with all campaigns."""
    own, begun = Advertiser(world), time.monotonic()
    for number in range(0, DELETED, BATCH):
        own.change(own.create(number), "Delete")
    for number in range(0, CAMPAIGNS - BATCH, BATCH):
        own.create(number)
    say(f"  {CAMPAIGNS + DELETED:,} campaigns in {time.monotonic() - begun:.0f} s")
    return own


def lists(own):
    """Pages by name: parameters, expected total, and whether they must be sorted."""
    two = ",".join(own.instruments[:2])
    some = {"count": PAGE, "with_total_count": "true"}
    filters = {"funding_instrument_ids": two, "q": "spring", **some}
    rare = {**some, "q": "spring 1230"}
    live = CAMPAIGNS - BATCH
    budgets = lambda one: -one[DAILY]
    return {
        "list": (some, live, None),
        "list-filters": ({**filters, "sort_by": f"{DAILY}-desc"}, live // 20, budgets),
        "list-rare": (rare, sum(str(one).startswith("1230") for one in range(0, live, 10)), None),
        "list-deleted": ({**filters, "with_deleted": "true"}, (live + DELETED) // 20, None),
    }


def check(own, params, total, order):
    answer = own.send("GET", f"{own.at}/campaigns", params)
    data = answer["data"]
    if answer["total_count"] != total or len(data) != min(PAGE, total):
        raise Failed(f"{params}: {len(data)} of {answer['total_count']}, not of {total}")
    if order and sorted(data, key=order) != data:
        raise Failed(f"{params}: not sorted")


def p12(world):
    own = filled(world)
    for name, (params, total, order) in lists(own).items():
        check(own, params, total, order)
        load = Signed(own, f"{own.at}/campaigns?{urlencode(params)}")
        yield name, beside(load, world.options.rounds, world.options.seconds)
    made = []
    create = lambda: made.append(own.create(CAMPAIGNS))
    costs = {"batch-create": [], "batch-update": []}
    for number in range(BATCHES):
        costs["batch-create"].append(own.worked(create))
        budget = {DAILY: (number + 1) * 1_000_000}
        update = lambda: own.change(made[-1], "Update", **budget)
        costs["batch-update"].append(own.worked(update))
        own.change(made[-1], "Delete")
    for name, one in costs.items():
        yield name, middle(one)


def middle(several):
    figures = {name: statistics.median(one[name] for one in several) for name in several[0]}
    return figures | {"most": max(one["most"] for one in several)}


# P13


def members(begin):
    """A request that adds this many people by their email addresses."""
    digest = lambda number: hashlib.sha256(f"{number}@bench.example".encode()).hexdigest()
    return json.dumps(
        [
            {"operation_type": "Update", "params": {"users": [{"email": [digest(number)]}]}}
            for number in range(begin, begin + MEMBERS)
        ]
    )


def audience(own):
    made = own.send("POST", f"{own.at}/custom_audiences", {"name": "Bench"})
    path = f"{own.at}/custom_audiences/{made['data']['id']}/users"
    bodies = [members(number * MEMBERS) for number in range(TIMES)]

    def change(body):
        answer = own.send("POST", path, body=body)
        if answer["data"]["success_count"] != MEMBERS:
            raise Failed(f"an audience accepted {answer}")

    calls = [lambda body=body: change(body) for body in bodies]
    yield "audience-new", own.worked(*calls)
    yield "audience-same", own.worked(*calls)


def insights(own, world):
    """For words of each frequency: the first request, with cold caches."""
    posts = searches.Posts(world.source)
    newest = max(int(post["id"]) for post in posts.each())
    # Insights look back from now; the newest posts may be some days old.
    until = min(((newest >> 22) + 1_288_834_974_657) // 1000 // 3600 * 3600, int(time.time()))
    iso = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    # Reading the posts took longer than the idle timeout.
    own.client = own.server.client()
    for name, rank in (("common", 0), ("middle", 100), ("rare", 2_000)):
        words = posts.ranked[rank : rank + TIMES]
        told = []

        def ask(word):
            wanted = {"granularity": "HOUR", "keywords": word, "end_time": iso(until)}
            answer = own.send(
                "GET",
                "/12/insights/keywords/search",
                {**wanted, "start_time": iso(until - WEEK_S)},
            )
            told.append(answer["data"])

        calls = [lambda word=word: ask(word) for word in words]
        figures = own.worked(*calls)
        related = statistics.median(len(one["related_keywords"]) for one in told)
        volume = statistics.median(sum(one["post_volume"]) for one in told)
        yield f"insight-{name}", {**figures, "related": related, "volume": volume}


def p13(world):
    own = Advertiser(world)
    yield from audience(own)
    yield from insights(own, world)
