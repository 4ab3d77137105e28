"""The rows: requests, expected responses and targets."""

import json
import random
import re
import statistics
import time
from urllib.parse import quote, urlencode

import adverts
import dataset
import hooks
import searches
import streams
from load import Load, beside, written
from server import Failed, Server, forget, run, say
from signer import Signer

# The maximum number of distinct requests.
VARIETY = 20_000
READERS = 16
WRITERS = 64
# Pages to skip before a page counts as deep.
DEEP = 200
STARTS = 5
# Single posts with their author, as clients request them.
LOOKUP = "expansions=author_id&post.fields=public_metrics"

# Rows measured by other programs.
ELSEWHERE = {
    "P6": "bench/matcher",
    "statistics of P13": "bench/figures.py",
    "estimates of P13": "the example `reach` of the crate `ads-delivery`",
}


class World:
    """A filled data directory, its server, and the credentials for the load."""

    def __init__(self, server, source, options):
        self.server, self.options = server, options
        self.facts = json.loads((source / "facts.json").read_text())
        self.ids = dataset.post_ids(source)
        self.source = source
        self.chance = random.Random(options.seed)
        self.size = self.facts["size"]

    def prepare(self, command):
        """Creates an app and its tokens. `command` runs a locum command on the data directory."""
        command("user", "create", "benchowner", "--password", "a long secret")
        levels = ["--access-level", "enterprise", "--permission", "messages"]
        self.app = command("app", "create", "bench", "--owner", "benchowner", *levels)
        self.bearer = self.app["bearer_token"]
        self.command = command
        self.tokens, self.writers = {}, {}

    def mint(self, handle, *more):
        return self.command("token", "mint", "--app", self.app["id"], "--user", handle, *more)

    def token(self, handle):
        """An OAuth 2.0 token of a user."""
        if handle not in self.tokens:
            self.tokens[handle] = self.mint(handle, "--ttl", "never")["token"]
        return self.tokens[handle]

    def id(self, handle):
        return self.facts["ids"][handle]

    def writer(self, handle):
        """The id of the token's user."""
        if handle not in self.writers:
            answer = self.server.ask("/2/users/me", self.token(handle))
            self.writers[handle] = answer["data"]["id"]
        return self.writers[handle]

    def some_posts(self, count):
        return [str(self.ids[self.chance.randrange(len(self.ids))]) for _ in range(count)]

    def length(self, paths, bearer):
        """The mean response length of a sample of these requests, all successful."""
        client, lengths = self.server.client(), []
        for path in paths:
            status, length, body = self.server.get(path, bearer, client)
            if status != 200:
                raise Failed(f"GET {path} returned {status}: {body[:300]!r}")
            lengths.append(length)
        return statistics.mean(lengths)

    def measure(self, paths, bearer, connections=READERS):
        """Measures these paths against the reference."""
        headers = {"Authorization": f"Bearer {bearer}"}
        requests = [written(self.server.address, path, headers) for path in paths]
        length = self.length(self.chance.sample(paths, min(len(paths), 200)), bearer)
        load = Load(self.server, connections, requests, length=length)
        return beside(load, self.options.rounds, self.options.seconds)


def expect(what, got, wanted):
    if got != wanted:
        raise Failed(f"{what}: got {str(got)[:300]}, not {str(wanted)[:300]}")


def without_links(text):
    """Posts are shown with short links in place of those that were written."""
    return re.sub(r"https?://\S+", "<link>", text)


# P1, P2


def lookup_path(post):
    return f"/2/posts/{post}?{LOOKUP}"


def check_lookups(world, bearer):
    client = world.server.client()
    for sample in world.chance.sample(world.facts["samples"], 200):
        answer = world.server.ask(lookup_path(sample["id"]), bearer, client)
        data, people = answer["data"], answer["includes"]["users"]
        expect("the post", data["id"], sample["id"])
        expect("its text", without_links(data["text"]), without_links(sample["text"]))
        expect("its author", people[0]["id"], sample["author"])
        expect("its author", people[0]["username"], sample["username"])
        if "like_count" not in data["public_metrics"]:
            raise Failed(f"no figures in {data}")


def p1(world):
    check_lookups(world, world.bearer)
    paths = [lookup_path(post) for post in world.some_posts(VARIETY)]
    yield "lookup", world.measure(paths, world.bearer)


def p2(world):
    token = world.token(dataset.READER_500)
    answer = world.server.ask("/2/users/me", token)
    expect("me", answer["data"]["id"], world.id(dataset.READER_500))
    yield "me", world.measure(["/2/users/me"], token)


# P3

HOMES = {"home-500": dataset.READER_500, "home-5000": dataset.READER_5000}


def home_path(world, handle, more=""):
    return f"/2/users/{world.id(handle)}/timelines/reverse_chronological?max_results=100{more}"


def ids_of(answer):
    return [one["id"] for one in answer.get("data", [])]


def check_home(world, handle, answer):
    wanted = world.facts["homes"][handle]
    expect(f"the home timeline of @{handle}", ids_of(answer), wanted)


def readers(world):
    return {name: handle for name, handle in HOMES.items() if handle in world.facts["homes"]}


def cold_homes(world):
    """The first request after a start, which merges the timeline."""
    found = {}
    for name, handle in readers(world).items():
        token = world.token(handle)
        client = world.server.client()
        world.server.ask("/2/users/me", token, client)
        cpu, begun = world.server.fine_cpu(), time.monotonic()
        answer = world.server.ask(home_path(world, handle), token, client)
        wall, cpu = time.monotonic() - begun, world.server.fine_cpu() - cpu
        check_home(world, handle, answer)
        found[name] = (wall * 1e3, cpu * 1e3)
    return found


def p3(world):
    for name, handle in readers(world).items():
        token = world.token(handle)
        check_home(world, handle, world.server.ask(home_path(world, handle), token))
        yield name, world.measure([home_path(world, handle)], token)
    full = "&expansions=author_id&post.fields=created_at,public_metrics"
    path = home_path(world, dataset.READER_500, full)
    token = world.token(dataset.READER_500)
    check_home(world, dataset.READER_500, world.server.ask(path, token))
    yield "home-500-full", world.measure([path], token)
    for name, wanted in world.facts["lists"].items():
        path = f"/2/lists/{wanted['id']}/posts?max_results=100"
        answer = world.server.ask(path, world.bearer)
        expect(f"the timeline of {name}", ids_of(answer), wanted["posts"])
        yield name, world.measure([path], world.bearer)


# P4


def walk(world, path):
    """The first page and the path of a deep page; checks all pages in between."""
    client, seen, at = world.server.client(), set(), path
    first, pages = None, [path]
    for _ in range(DEEP):
        answer = world.server.ask(at, world.bearer, client)
        page = ids_of(answer)
        first = first or page
        if len(set(page)) != len(page) or seen & set(page):
            raise Failed(f"{path}: pages repeat posts")
        seen |= set(page)
        token = answer["meta"].get("next_token")
        if token is None:
            break
        at = f"{path}&pagination_token={quote(token)}"
        if len(page) == dataset.PAGE:
            pages.append(at)
    # The last page may be short.
    deep = pages[-2] if len(pages) > 2 else None
    return first, deep, len(seen)


def p4(world):
    facts = world.facts
    posts = f"/2/users/{world.id(dataset.PROLIFIC)}/posts?max_results=100"
    mentions = f"/2/users/{world.id(dataset.STAR)}/mentions?max_results=100"
    followers = f"/2/users/{world.id(dataset.STAR)}/followers?max_results=100"
    lists = [
        ("posts", posts, facts["prolific"]),
        ("mentions", mentions, facts["mentions"]),
        ("followers", followers, {"count": facts["followers"], "newest": None}),
    ]
    for one in list(facts["lists"].values())[-1:]:
        on, path = one["members"], f"/2/lists/{one['id']}/members?max_results=100"
        lists.append(("members", path, {"count": len(on), "newest": on[: dataset.PAGE]}))
    for name, path, wanted in lists:
        first, deep, seen = walk(world, path)
        if wanted["newest"] is not None:
            expect(f"page one of {name}", first, wanted["newest"])
        reach = min(wanted["count"], DEEP * dataset.PAGE)
        # Only part of a timeline is reachable.
        if seen < min(reach, 800 if name in ("posts", "mentions") else reach):
            raise Failed(f"{name}: {seen} of {reach} seen")
        yield name, world.measure([path], world.bearer)
        if deep:
            yield f"{name}-deep", world.measure([deep], world.bearer)
    token = world.token(dataset.READER_500)
    people = "/2/users/search?query=user&max_results=100"
    expect("people on a page", len(ids_of(world.server.ask(people, token))), dataset.PAGE)
    yield "people", world.measure([people], token)


# P5


def p5(world):
    server, options = world.server, world.options
    handle = dataset.READER_500
    token = world.token(handle)
    signer = Signer(server.url.rstrip("/"), world.app, world.mint(handle, "--oauth1"))
    paths = [lookup_path(post) for post in world.some_posts(VARIETY)]
    headers = {"Authorization": f"Bearer {token}"}
    length = world.length(paths[:100], token)
    plain = Load(
        server, READERS, [written(server.address, path, headers) for path in paths], length=length
    )
    rate = plain.run(1)["rate"]
    ours, theirs, rest = [], [], []
    for _ in range(options.rounds):
        # Each signature is accepted once, within its time window.
        count = int(rate * (options.seconds + 1) * 1.2)
        signed = []
        for number in range(count):
            path = paths[number % len(paths)]
            signed.append(written(server.address, path, {"Authorization": signer.header(path)}))
        check_signed(server, signer, paths[0])
        load = Load(server, READERS, signed, once=True, length=length)
        ours.append(load.run(options.seconds))
        load.close()
        theirs.append(plain.run(options.seconds))
        rest.append(ours[-1]["cpu"] - theirs[-1]["cpu"])
    middle = lambda rounds, name: statistics.median(one[name] for one in rounds)
    figures = {name: middle(ours, name) for name in ("cpu", "rate", "p50", "p99")}
    figures["extra"] = statistics.median(rest)
    figures["requests"] = sum(one["requests"] for one in ours)
    yield "oauth1", figures


def check_signed(server, signer, path):
    header = signer.header(path)
    for status in (200, 401):
        got, _, body = server.get(path, headers={"Authorization": header})
        if got != status:
            raise Failed(f"a signed request returned {got}, not {status}: {body[:300]!r}")


# P9


def post_counts(world, handles):
    client, total = world.server.client(), 0
    for start in range(0, len(handles), 100):
        names = ",".join(handles[start : start + 100])
        query = urlencode({"usernames": names, "user.fields": "public_metrics"})
        answer = world.server.ask(f"/2/users/by?{query}", world.bearer, client)
        if len(answer["data"]) != len(handles[start : start + 100]):
            raise Failed("some writers do not exist")
        metrics = [one["public_metrics"] for one in answer["data"]]
        total += sum(one.get("post_count", one.get("tweet_count", 0)) for one in metrics)
    return total


def p9(world):
    server = world.server
    handles = world.facts["writers"][:WRITERS]
    tokens = [world.token(handle) for handle in handles]
    load = Load(server, WRITERS, tokens=tokens)
    before = post_counts(world, handles)
    figures = beside(load, world.options.rounds, world.options.seconds)
    more = post_counts(world, handles) - before
    # Requests in progress at the end of a round are written as well.
    if not load.sent <= more <= load.sent + WRITERS * load.runs:
        raise Failed(f"{load.sent} posts were acknowledged, {more} exist")
    yield "write", figures
    yield "like", like(world, handles)
    yield "follow", follows(world, handles)


def like(world, handles):
    """Alternates likes and unlikes."""
    check_like(world, handles[0])
    people = [f"{world.token(handle)} {world.writer(handle)}" for handle in handles]
    lines = people + world.some_posts(min(VARIETY, world.size))
    load = Load(world.server, WRITERS, tokens=lines, script="like.lua")
    return beside(load, world.options.rounds, world.options.seconds)


def check_like(world, handle):
    """A like increases the counter by one, and an unlike decreases it."""
    post, token, user = world.some_posts(1)[0], world.token(handle), world.writer(handle)
    count = lambda: world.server.ask(lookup_path(post), token)["data"]["public_metrics"][
        "like_count"
    ]
    before, path = count(), f"/2/users/{user}/likes"
    expect("a like", world.server.change("POST", path, token, {"tweet_id": post}), {"liked": True})
    expect("the likes", count(), before + 1)
    expect("no like", world.server.change("DELETE", f"{path}/{post}", token), {"liked": False})
    expect("the likes", count(), before)


def follows(world, handles):
    """These users unfollow and follow the most followed user."""
    server, star = world.server, world.id(dataset.STAR)
    lines = [f"{world.token(handle)} {world.writer(handle)} {star}" for handle in handles]
    load = Load(server, WRITERS, tokens=lines, script="follow.lua")
    before = followers(world, star)
    figures = beside(load, world.options.rounds, world.options.seconds)
    lost = before - followers(world, star)
    # All of them follow before and after a round.
    if not 0 <= lost <= len(lines):
        raise Failed(f"{lost} of {len(lines)} followers are lost")
    listed = server.ask(f"/2/users/{star}/followers?max_results=1000", world.bearer)
    back = {line.split()[1] for line in lines} & set(ids_of(listed))
    if len(back) < len(lines) - lost:
        raise Failed(f"{len(back)} of {len(lines)} are listed, {lost} do not follow")
    return figures


def followers(world, user):
    path = f"/2/users/{user}?user.fields=public_metrics"
    return world.server.ask(path, world.bearer)["data"]["public_metrics"]["followers_count"]


# P11


def first_answer(world, server, post):
    """Seconds from the start of the process to the first correct response."""
    begun = time.monotonic()
    server.start()
    answer = server.ask(lookup_path(post), world.bearer)
    took = time.monotonic() - begun
    expect("the first answer", answer["data"]["id"], post)
    return took


def starts(world):
    """Cold starts: drops the system's file cache of the program and its files first."""
    server, took, idle, homes = world.server, [], [], []
    server.stop()
    for _ in range(STARTS):
        forget(server.binary, *server.folder.glob("*.db*"))
        took.append(first_answer(world, server, world.facts["samples"][0]["id"]))
        server.stop()
    # From here on the files are cached, as after any restart.
    for _ in range(STARTS):
        server.start()
        time.sleep(1)
        idle.append(server.memory())
        homes.append(cold_homes(world))
        server.stop()
    server.start()
    figures = {
        "start": statistics.median(took),
        "idle": statistics.median(one[0] for one in idle),
        "idle_anonymous": statistics.median(one[1] for one in idle),
    }
    cold = {}
    for name in readers(world):
        cold[f"{name}-cold"] = {
            "wall": statistics.median(one[name][0] for one in homes),
            "cpu_ms": statistics.median(one[name][1] for one in homes),
        }
    return figures, cold


# All rows, in the order of measurement.
ROWS = {"P1": p1, "P2": p2, "P3": p3, "P4": p4, "P5": p5, "P8": searches.p8, "P9": p9}
ROWS |= {"P12": adverts.p12, "P13": adverts.p13}
ALL = ["P1", "P2", "P3", "P4", "P5", "P7", "P8", "P9", "P10", "P11", "P12", "P13"]


class Measured:
    """Figures of one size by row and name."""

    def __init__(self, size):
        self.size, self.figures = size, {}

    def add(self, row, name, figures):
        self.figures[f"{row} {name} {self.size}"] = figures
        shown = {key: round(value, 3) for key, value in figures.items()}
        say(f"  {row} {name}: {json.dumps(shown)}")


def measure(binary, folder, source, took, rows, options):
    """Measures all rows at one size on a copy of a filled data directory."""
    measured = Measured(options.size_now)
    server = Server(binary, folder)
    with server:
        world = World(server, source, options)
        world.prepare(lambda *arguments: run(binary, folder, *arguments))
        # The first server after an import builds the search index; wait until it is complete.
        waited = searches.await_index(world)
        if "P8" in rows:
            measured.add("P8", "index", {"seconds": waited, "posts": world.size / waited})
        if "P3" in rows or "P11" in rows:
            for handle in readers(world).values():
                world.token(handle)
            figures, cold = starts(world)
            if "P11" in rows:
                measured.add("P11", "start", figures)
            if "P3" in rows:
                for name, one in cold.items():
                    measured.add("P3", name, one)
        # Writes come last, because expected responses refer to the original data.
        for row in rows:
            if row in ROWS and row != "P9":
                for name, one in ROWS[row](world):
                    measured.add(row, name, one)
        if "P11" in rows:
            resident, anonymous = server.memory()
            loaded = {"resident": resident, "anonymous": anonymous}
            measured.add("P11", "loaded", loaded)
        if "P9" in rows:
            for name, one in p9(world):
                measured.add("P9", name, one)
        if "P7" in rows:
            for name, one in streams.p7(world):
                measured.add("P7", name, one)
        if "P7" in rows or "P10" in rows:
            for row, name, one in hooks.measure(world, rows):
                measured.add(row, name, one)
    # A small import is dominated by startup: no rate.
    if "P11" in rows and options.size_now >= 100_000:
        wall, worked = took["posts"]
        rate, seconds = options.size_now / wall, sum(one[0] for one in took.values())
        per_post = worked / options.size_now * 1e6
        measured.add("P11", "import", {"posts": rate, "seconds": seconds, "worked": per_post})
    return measured.figures
