"""Search and counts: queries and expected responses."""

import collections
import heapq
import itertools
import json
import statistics
import time
from urllib.parse import urlencode

from server import Failed

# Stop words, which cannot be a query on their own.
STOP = set("the a of to and in is it on for an as at be by".split())
DAY_MS = 86_400_000
PAGE = 10
# Posts to write and find.
WRITTEN = 50
PATIENCE = 900


def words_of(text):
    """The words of a text; a hashtag is also found by its word."""
    words = [word.removeprefix("#") for word in text.lower().split()]
    return [word for word in words if word.isalpha()]


class Posts:
    """The parts of the data set's posts that queries match."""

    def __init__(self, source):
        self.count = collections.Counter()
        self.pairs = collections.Counter()
        self.tags, self.authors = collections.Counter(), collections.Counter()
        self.path = source / "posts.jsonl"
        for number, post in enumerate(self.each()):
            words = words_of(post["text"])
            self.count.update(set(words))
            if number < 20_000:
                self.pairs.update(itertools.pairwise(words))
            self.tags.update(word[1:] for word in post["text"].split() if word[0] == "#")
            self.authors[post["author"]] += 1
        self.ranked = [word for word, _ in self.count.most_common() if word not in STOP]

    def each(self):
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def newest(self, holds):
        ids = (int(post["id"]) for post in self.each() if holds(post))
        return [str(post) for post in heapq.nlargest(PAGE, ids)]


def queries(posts):
    """The queries, each with a predicate for matching posts where that is simple."""
    common, second, third = posts.ranked[:3]
    middle, rare = posts.ranked[500], posts.ranked[-200]
    pair = next(pair for pair, _ in posts.pairs.most_common() if not STOP & set(pair))
    author, tag = posts.authors.most_common(200)[-1][0], posts.tags.most_common(20)[-1][0]
    says = lambda word: lambda post: word in words_of(post["text"])
    return {
        common: says(common),
        middle: says(middle),
        rare: says(rare),
        f"{common} {middle}": lambda post: {common, middle} <= set(words_of(post["text"])),
        f"{second} OR {middle}": lambda post: bool({second, middle} & set(words_of(post["text"]))),
        f'"{pair[0]} {pair[1]}"': None,
        f"from:{author}": lambda post: post["author"] == author,
        f"from:{author} {common}": None,
        f"{common} has:links -is:reply": None,
        f"{common} lang:en -{second} -{third}": None,
        f"#{tag}": None,
        "nothing_says_this": lambda post: False,
    }


def path_of(query, which="search/all", **more):
    return f"/2/posts/{which}?{urlencode({'query': query, **more})}"


def await_index(world):
    """Seconds until the index is complete."""
    begun = time.monotonic()
    newest = str(max(world.ids))
    author = world.server.ask(f"/2/posts/{newest}?post.fields=author_id", world.bearer)
    path = path_of(f"from:{author['data']['author_id']}", **since(world))
    while time.monotonic() - begun < PATIENCE:
        # Imported posts are indexed in the background, the newest last.
        status, _, body = world.server.get(path, world.bearer)
        found = json.loads(body).get("data", []) if status == 200 else []
        if newest in [post["id"] for post in found]:
            return time.monotonic() - begun
        time.sleep(0.2)
    raise Failed("the index was not complete in time")


def since(world):
    """The start of all posts; the archive looks back a month by default."""
    return {"start_time": "2020-01-01T00:00:00Z"}


def check(world, posts, asked):
    for query, holds in asked.items():
        answer = world.server.ask(path_of(query, **since(world)), world.bearer)
        got = [post["id"] for post in answer.get("data", [])]
        if got != sorted(got, key=int, reverse=True):
            raise Failed(f"{query}: not newest first")
        if holds is not None and got != posts.newest(holds):
            raise Failed(f"{query}: got {got}, not {posts.newest(holds)}")


def check_counts(world, posts, word):
    """Compares a month's count with the posts."""
    ids = [int(post["id"]) for post in posts.each() if word in words_of(post["text"])]
    total, token = 0, {}
    while True:
        more = {"granularity": "day", **since(world), **token}
        answer = world.server.ask(path_of(word, "counts/all", **more), world.bearer)
        total += answer["meta"]["total_post_count"]
        if "next_token" not in answer["meta"]:
            break
        token = {"next_token": answer["meta"]["next_token"]}
        if total >= len(ids):
            break
    if total != len(ids):
        raise Failed(f"{word} has a count of {total}, expected {len(ids)}")


def findable(world):
    """Milliseconds from the acknowledgement of a post until its author finds it."""
    server, token = world.server, world.token(world.facts["writers"][0])
    waits = []
    for number in range(WRITTEN):
        word = f"benchword{number}x{time.time_ns()}"
        made = server.change("POST", "/2/posts", token, {"text": f"{word} is new"})
        begun = time.monotonic()
        found = []
        # A search waits for earlier writes, for a limited time.
        while not found and time.monotonic() - begun < PATIENCE:
            found = server.ask(path_of(word, "search/recent"), token).get("data", [])
        waits.append((time.monotonic() - begun) * 1e3)
        if [post["id"] for post in found] != [made["id"]]:
            raise Failed(f"{word} was not found")
    waits.sort()
    return {"p50": statistics.median(waits), "p99": waits[-1]}


def p8(world):
    posts = Posts(world.source)
    asked = queries(posts)
    check(world, posts, asked)
    common = next(iter(asked))
    check_counts(world, posts, posts.ranked[500])
    paths = [path_of(query, **since(world)) for query in asked]
    yield "search", world.measure(paths, world.bearer)
    for name, query in (("common", common), ("phrase", next(q for q in asked if q[0] == '"'))):
        yield f"search-{name}", world.measure([path_of(query, **since(world))], world.bearer)
    yield "search-none", world.measure([path_of("nothing_says_this")], world.bearer)
    newest = max(int(post["id"]) for post in posts.each())
    end = ((newest >> 22) + 1_288_834_974_657) // 1000
    iso = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    week = {"start_time": iso(end - 7 * DAY_MS // 1000), "end_time": iso(end)}
    yield "counts", world.measure([path_of(common, "counts/all", **week)], world.bearer, 2)
    yield "findable", findable(world)
