"""Seeded data sets as JSON Lines: users, posts, follows, and the expected responses about them.

The same seed, size and week produce the same files. Times end at the start of this week, so that ids
are below those that a server issues now, and a set is regenerated at most once a week.
"""

import array
import bisect
import itertools
import json
import math
import random
import time
from pathlib import Path

# Increase with every change to the generated data.
VERSION = 3
EPOCH_MS = 1_288_834_974_657
DAY_MS = 86_400_000
SPAN_MS = 30 * DAY_MS

READER_500 = "reader500"
READER_5000 = "reader5000"
STAR = "star"
PROLIFIC = "prolific"
# Measured lists: ids and member counts.
FIRST_LIST = (1_400_000_000_000 - EPOCH_MS) << 22
LISTS = {"list-500": (FIRST_LIST, 500), "list-5000": (FIRST_LIST + 1, 5000)}
# Other lists: one per this many posts, each with this many members.
LIST_FOR, ON_EACH = 500, 100
# Rows of the most expensive page of followers.
FULL_AUDIENCE = 1_000_000
# Posts whose content is retained to compare responses with.
SAMPLE = 1000
PAGE = 100
# The minimum number of posts by one author, and of mentions of one user, at any size.
FEWEST = 250


def anchor_ms(now=None):
    """Monday 00:00 UTC of this week: the end of the data's time range."""
    days = int((now or time.time()) // 86_400)
    return (days - (days + 3) % 7) * DAY_MS


def snowflake(ms, low):
    return (ms - EPOCH_MS) << 22 | low


def first_id(number, label):
    """The first id of a type of account, years before the posts."""
    return snowflake(1_500_000_000_000 + number * 1_000_000_000, 0) + label


class Words:
    """Generated words, distributed by Zipf's law."""

    def __init__(self, chance, count):
        heads = "b c d f g h j k l m n p r s t v w z br ch dr fl gr kl pr sh st tr".split()
        tails = "a e i o u ai ea ou an en in on er al is us et".split()
        words = dict.fromkeys(["the", "a", "of", "to", "and", "in", "is", "it", "on", "for"])
        while len(words) < count:
            syllables = chance.choice((1, 2, 2, 2, 3, 3, 4))
            words[
                "".join(chance.choice(heads) + chance.choice(tails) for _ in range(syllables))
            ] = None
        self.words = list(words)
        weights = [1 / (rank + 2.7) ** 1.05 for rank in range(len(self.words))]
        self.cumulative = list(itertools.accumulate(weights))
        self.chance = chance

    def take(self, count):
        return self.chance.choices(self.words, cum_weights=self.cumulative, k=count)


class Weighted:
    """Draws numbers below `count` with a log-normal distribution."""

    def __init__(self, chance, count, sigma):
        weights = [chance.lognormvariate(0, sigma) for _ in range(count)]
        self.cumulative = list(itertools.accumulate(weights))
        self.chance = chance

    def one(self):
        return bisect.bisect(self.cumulative, self.chance.random() * self.cumulative[-1])

    def many(self, count):
        numbers = range(len(self.cumulative))
        return self.chance.choices(numbers, cum_weights=self.cumulative, k=count)


def dump(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


class Maker:
    def __init__(self, folder, size, seed, audience, end=None):
        self.folder, self.size, self.seed = Path(folder), size, seed
        self.chance = random.Random(f"locum-bench {VERSION} {seed} {size}")
        self.words = Words(self.chance, 20_000)
        self.tags = Words(self.chance, 2_000)
        self.end = end or anchor_ms()
        self.count = max(1000, size // 10)
        self.audience = max(0, (audience or usual_audience(size)) - self.count)
        self.special = [PROLIFIC, STAR, READER_500]
        if self.count >= 6000:
            self.special.append(READER_5000)
        self.user_ids = [first_id(number % 200, number // 200 << 8) for number in range(self.count)]
        self.user_ids.sort()
        self.handles = [f"user{number}" for number in range(self.count)]
        # Special users are at the end of the list, so that their position attracts no followers.
        for place, handle in enumerate(self.special, start=1):
            self.handles[-place] = handle
        self.place = {handle: self.count - at for at, handle in enumerate(self.special, start=1)}

    def make(self):
        self.people()
        self.posts()
        self.follows()
        self.lists()
        self.write_facts()

    # Users.

    def person(self, user_id, handle, name, bio):
        return {
            "kind": "user",
            "id": str(user_id),
            "handle": handle,
            "name": name,
            "bio": bio,
            "location": "",
            "website": "",
            "created_at_ms": (user_id >> 22) + EPOCH_MS,
            "protected": False,
            "verified": False,
            "follower_count": 0,
            "following_count": 0,
            "post_count": 0,
            "like_count": 0,
            "listed_count": 0,
            "avatar_url": "",
            "banner_url": "",
        }

    def people(self):
        with open(self.folder / "users.jsonl", "w", encoding="utf-8") as file:
            for user_id, handle in zip(self.user_ids, self.handles, strict=True):
                bio = " ".join(self.words.take(self.chance.randrange(3, 14)))
                file.write(dump(self.person(user_id, handle, handle.capitalize(), bio)))
            for number in range(self.audience):
                handle = f"fan{number}"
                file.write(dump(self.person(self.fan(number), handle, handle, "")))

    @staticmethod
    def fan(number):
        return first_id(201 + number % 5, number // 5 << 8)

    # Posts.

    def posts(self):
        size, chance = self.size, self.chance
        self.post_ids = array.array("q")
        self.authors = array.array("l")
        self.mentions_star = []
        self.sample_at = set(chance.sample(range(size), min(SAMPLE, size)))
        self.samples = []
        writers = Weighted(chance, self.count - len(self.special), 1.2)
        popular = Weighted(chance, self.count - len(self.special), 1.5)
        likes = lambda: int(chance.lognormvariate(0.5, 1.6))
        start, last = self.end - SPAN_MS, 0
        with open(self.folder / "posts.jsonl", "w", encoding="utf-8") as file:
            for number in range(size):
                at = (number + chance.random()) / size * 30
                # More during the day than at night.
                at -= 0.6 * math.sin(2 * math.pi * at) / (2 * math.pi)
                post_id = max(snowflake(start + int(at * DAY_MS), 0), last + 1)
                last = post_id
                by = self.place[PROLIFIC] if chance.random() < self.share(0.02) else writers.one()
                record = self.post(number, post_id, by, popular)
                record["like_count"], record["repost_count"] = likes(), likes() // 4
                file.write(dump(record))
                self.post_ids.append(post_id)
                self.authors.append(by)
                if number in self.sample_at:
                    author = {"author": record["author"], "username": self.handles[by]}
                    self.samples.append({"id": str(post_id), "text": record["text"], **author})
        with open(self.folder / "ids.bin", "wb") as file:
            self.post_ids.tofile(file)

    def share(self, usual):
        return max(usual, FEWEST / self.size)

    def mention(self, user):
        handle = self.handles[user]
        return {"id": str(self.user_ids[user]), "handle": handle, "name": handle.capitalize()}

    def post(self, number, post_id, by, popular):
        chance = self.chance
        record = {
            "kind": "post",
            "id": str(post_id),
            "author": str(self.user_ids[by]),
            "text": "",
            "created_at_ms": (post_id >> 22) + EPOCH_MS,
            "lang": "en",
        }
        parts, named = [], []
        if number and chance.random() < 0.25:
            parent = self.recent(number)
            to = self.authors[parent]
            record["in_reply_to_post"] = str(self.post_ids[parent])
            record["in_reply_to_user"] = str(self.user_ids[to])
            record["in_reply_to_handle"] = self.handles[to]
            named.append(to)
        if chance.random() < 0.15:
            named.append(popular.one())
        if chance.random() < self.share(0.03):
            named.append(self.place[STAR])
        named = list(dict.fromkeys(named))
        parts.extend(f"@{self.handles[user]}" for user in named)
        parts.extend(self.words.take(chance.randrange(6, 24)))
        if chance.random() < 0.15:
            parts.extend(f"#{tag}" for tag in self.tags.take(chance.choice((1, 1, 2))))
        text = " ".join(parts)[:240].rstrip(" #@")
        if chance.random() < 0.1:
            url = f"https://example.com/{chance.randrange(10**6)}"
            text = f"{text} {url}"
            shown = url.removeprefix("https://")
            record["urls"] = [
                {"short": url, "expanded": url, "display": shown, "in_text": True}
            ]
        if number and chance.random() < 0.03:
            record["quoted_post"] = str(self.post_ids[self.recent(number)])
        if self.place[STAR] in named:
            self.mentions_star.append(post_id)
        record["text"] = text
        record["mentions"] = [self.mention(user) for user in named]
        return record

    def recent(self, number):
        back = min(int(self.chance.expovariate(1 / 300)), 3000)
        return max(0, number - 1 - back)

    # Follows.

    def follows(self):
        chance = self.chance
        plain = self.count - len(self.special)
        popular = Weighted(chance, plain, 1.5)
        self.followed = {}
        with open(self.folder / "follows.jsonl", "w", encoding="utf-8") as file:

            def follow(source, target):
                file.write(f'{{"kind":"follow","from":"{source}","to":"{target}"}}\n')

            star = self.user_ids[self.place[STAR]]
            for user in range(plain):
                many = min(int(chance.lognormvariate(math.log(6), 1)), 400, plain - 1)
                for target in dict.fromkeys(popular.many(many)):
                    if target != user:
                        follow(self.user_ids[user], self.user_ids[target])
                follow(self.user_ids[user], star)
            for number in range(self.audience):
                follow(self.fan(number), star)
            for handle, many in ((READER_500, 500), (READER_5000, 5000)):
                if handle not in self.place:
                    continue
                targets = chance.sample(range(plain), many)
                self.followed[handle] = targets
                for target in targets:
                    follow(self.user_ids[self.place[handle]], self.user_ids[target])
        self.star_followers = plain + self.audience

    # Lists.

    def lists(self):
        """The measured lists, and others, so that the members table is large."""
        chance, plain = self.chance, self.count - len(self.special)
        owner = self.user_ids[self.place[PROLIFIC]]
        self.on = {}
        with open(self.folder / "lists.jsonl", "w", encoding="utf-8") as file:

            def make(list_id, name, members):
                record = {"kind": "list", "id": str(list_id), "owner": str(owner), "name": name}
                more = {"description": "", "private": False, "role": "created", "url": ""}
                file.write(dump(record | more))
                for member in members:
                    user = str(self.user_ids[member])
                    file.write(dump({"kind": "list_member", "list": str(list_id), "user": user}))

            for name, (list_id, many) in LISTS.items():
                if many <= plain:
                    self.on[name] = chance.sample(range(plain), many)
                    make(list_id, name, self.on[name])
            for number in range(self.size // LIST_FOR):
                members = chance.sample(range(plain), min(ON_EACH, plain))
                make(FIRST_LIST + 100 + number, f"list {number}", members)

    # Expected responses.

    def newest_by(self, authors):
        """The newest of these posts."""
        wanted = set(authors)
        newest = []
        for at in range(self.size - 1, -1, -1):
            if self.authors[at] in wanted:
                newest.append(str(self.post_ids[at]))
                if len(newest) == PAGE:
                    break
        return newest

    def write_facts(self):
        prolific = self.place[PROLIFIC]
        own = [post for post, by in zip(self.post_ids, self.authors, strict=True) if by == prolific]
        facts = {
            "size": self.size,
            "seed": self.seed,
            "users": self.count + self.audience,
            "ids": {handle: str(self.user_ids[at]) for handle, at in self.place.items()},
            "writers": self.handles[:64],
            "samples": self.samples,
            "homes": {handle: self.newest_by(who) for handle, who in self.followed.items()},
            "lists": {
                name: {
                    "id": str(LISTS[name][0]),
                    "posts": self.newest_by(who),
                    "members": [str(self.user_ids[member]) for member in reversed(who)],
                }
                for name, who in self.on.items()
            },
            "prolific": {"count": len(own), "newest": newest(own)},
            "mentions": {"count": len(self.mentions_star), "newest": newest(self.mentions_star)},
            "followers": self.star_followers,
        }
        (self.folder / "facts.json").write_text(json.dumps(facts))


def newest(ids):
    return [str(post) for post in sorted(ids, reverse=True)[:PAGE]]


def usual_audience(size):
    """The default minimum number of followers of the most followed user."""
    return FULL_AUDIENCE if size >= 1_000_000 else 0


def make(folder, size, seed, audience=None, end=None):
    """Writes a data set into an empty directory. Its times end at `end`, in milliseconds, if it is given."""
    Maker(folder, size, seed, audience, end).make()


def post_ids(folder):
    ids = array.array("q")
    data = (Path(folder) / "ids.bin").read_bytes()
    ids.frombytes(data)
    return ids
