#!/usr/bin/env python3
"""What a home timeline costs while the whole network posts: the CPU time of the node and of PostgreSQL.

    scripts/with-postgres python3 bench/home_rate.py [--binary target/release/locum] [--requests 300]

For readers of 500 and 5,000 users and a list of 500 members, after 0, 3,000 and 30,000 posts of everyone in the last
30 seconds: the first request afterwards, whose response is compared with the database, and the mean of many.
"""

import argparse
import itertools
import os
import subprocess
import tempfile
import time
from pathlib import Path

import dataset
import server as bench
from server import Failed, Server, run_program, say

USERS, BASE_POSTS = 6_000, 20_000
READERS = {"reader500": 500, "reader5000": 5_000}
LIST, MEMBERS = 1_900_000_000_000_000_000, 500
RATES = (0, 3_000, 30_000)
SPAN_MS = 30_000
DAY_MS = 86_400_000
# Nodes that the ids of each set of posts name.
NODES = itertools.count(1_000)
# CPU seconds per second above which something is still being done.
BUSY = 0.03
# Milliseconds before the ids that this program makes.
OFFSET_MS = 100


def sql(url, text):
    command = ["psql", "-qXAt", url, "-v", "ON_ERROR_STOP=1", "-c", text]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise Failed(ran.stderr.strip())
    return ran.stdout.split()


def user_id(number):
    return dataset.first_id(1, 0) + (number << 22)


def write_network(folder):
    """Files to import: users, whom the readers follow, and the list."""
    handles = [f"user{number}" for number in range(USERS)] + list(READERS)
    ids = {handle: user_id(number) for number, handle in enumerate(handles)}
    with open(folder / "users.jsonl", "w", encoding="utf-8") as file:
        for handle, number in ids.items():
            file.write(dataset.dump(dataset.Maker.person(None, number, handle, handle, "")))
    with open(folder / "follows.jsonl", "w", encoding="utf-8") as file:
        for reader, many in READERS.items():
            for number in range(many):
                follow = {"kind": "follow", "from": str(ids[reader]), "to": str(user_id(number))}
                file.write(dataset.dump(follow))
    with open(folder / "lists.jsonl", "w", encoding="utf-8") as file:
        record = {"kind": "list", "id": str(LIST), "owner": str(user_id(0)), "name": "members"}
        more = {"description": "", "private": False, "role": "created", "url": ""}
        file.write(dataset.dump(record | more))
        for number in range(MEMBERS):
            member = {"kind": "list_member", "list": str(LIST), "user": str(user_id(number))}
            file.write(dataset.dump(member))
    return ids


def insert_posts(url, count, span_ms, with_events):
    """Posts of all users in turn up to now, as they are stored; without their log entries, as if imported."""
    end = int(time.time() * 1000) - OFFSET_MS
    step, start, node = span_ms / count, end - span_ms, next(NODES) << 12
    sql(
        url,
        f"""WITH new AS (
            SELECT (CAST({start - dataset.EPOCH_MS} + n * {step} AS BIGINT) << 22) + {node} + n % 4096 AS id,
                CAST({start} + n * {step} AS BIGINT) AS at,
                {user_id(0)} + (n % {USERS}) * {user_id(1) - user_id(0)} AS author, n
            FROM generate_series(CAST(1 AS BIGINT), {count}) AS n),
        posts AS (INSERT INTO post (id, author_id, created_at, text, lang, conversation_id, display_end)
            SELECT id, author, at, 'post number ' || n, 'en', id, length('post number ' || n) FROM new),
        newest AS (UPDATE users SET most_recent_post_id = found.id FROM
            (SELECT author, MAX(id) AS id FROM new GROUP BY author) AS found WHERE users.id = found.author)
        INSERT INTO pending_event (at, kind, actor_id, subject_id, body)
            SELECT at, 'post.create', author, id, '' FROM new WHERE {with_events}""",
    )
    sql(url, "NOTIFY locum_events, 'committed'")


def database_cpu(url):
    """CPU seconds of each of the node's connections to the database."""
    pids = sql(url, "SELECT pid FROM pg_stat_activity WHERE application_name = 'locum'")
    return {pid: int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in pids}


def await_rest(server, url):
    """Waits until the posts were numbered, indexed and sent."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        before = server.fine_cpu()
        time.sleep(1)
        busy = server.fine_cpu() - before
        if busy < BUSY and sql(url, "SELECT COUNT(*) FROM pending_event") == ["0"]:
            return
    raise Failed(f"the server does not come to rest: {busy} CPU seconds per second")


def measure(server, url, path, token, requests):
    """Milliseconds of CPU time, node and database, of the first request and of the mean of the others."""
    client = server.client()
    server.ask("/2/users/me", token, client)

    def times(count):
        node, database = server.fine_cpu(), database_cpu(url)
        for _ in range(count):
            answer = server.ask(path, token, client)
        node, after = server.fine_cpu() - node, database_cpu(url)
        database = sum(cpu - database.get(pid, 0) for pid, cpu in after.items())
        return answer, node / count * 1e3, database / count * 1e3

    answer, *first = times(1)
    _, *others = times(requests)
    return answer, first, others


def expected(url, authors):
    return sql(url, f"SELECT id FROM post WHERE author_id IN ({authors}) ORDER BY id DESC LIMIT 100")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, help="instead of the release binary")
    parser.add_argument("--requests", type=int, default=300)
    return parser.parse_args()


def main():
    chosen = options()
    binary = (chosen.binary or bench.binary()).resolve()
    root = os.environ["LOCUM_TEST_POSTGRES"]
    name = f"home_rate_{os.getpid()}"
    url = f"{root.rsplit('/', 1)[0]}/{name}"
    sql(root, f"CREATE DATABASE {name}")
    bench.DATABASE[:] = ["--db", url]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        ids, data = write_network(folder), folder / "data"
        bench.create(binary, data)
        for kind in ("users", "follows", "lists"):
            bench.run(binary, data, "import", "jsonl", folder / f"{kind}.jsonl")
        insert_posts(url, BASE_POSTS, DAY_MS, False)
        sql(url, "ANALYZE")
        bench.run(binary, data, "user", "create", "benchowner", "--password", "a long secret")
        levels = ["--access-level", "enterprise"]
        app = bench.run(binary, data, "app", "create", "bench", "--owner", "benchowner", *levels)
        mint = ["token", "mint", "--app", app["id"], "--ttl", "never", "--user"]
        tokens = {handle: bench.run(binary, data, *mint, handle)["token"] for handle in READERS}
        with Server(binary, data) as server:
            run(server, url, ids, tokens, chosen.requests)


def run(server, url, ids, tokens, requests):
    follows = "SELECT target_id FROM follow WHERE source_id = {0} UNION SELECT {0}"
    rows = {
        handle: (
            f"/2/users/{ids[handle]}/timelines/reverse_chronological?max_results=100",
            tokens[handle],
            follows.format(ids[handle]),
        )
        for handle in READERS
    }
    members = f"SELECT user_id FROM list_member WHERE list_id = {LIST}"
    rows["list500"] = (f"/2/lists/{LIST}/posts?max_results=100", tokens["reader500"], members)
    await_rest(server, url)
    for path, token, _ in rows.values():
        server.ask(path, token)
    print("timeline | posts in 30 s | first: node ms, PostgreSQL ms | mean: node ms, PostgreSQL ms")
    for posts in RATES:
        if posts:
            insert_posts(url, posts, SPAN_MS, True)
        await_rest(server, url)
        for name, (path, token, authors) in rows.items():
            answer, first, others = measure(server, url, path, token, requests)
            found = [post["id"] for post in answer["data"]]
            if found != expected(url, authors):
                raise Failed(f"the timeline of {name} after {posts} posts is wrong: {found[:3]}")
            times = [" ".join(f"{ms:.2f}" for ms in pair) for pair in (first, others)]
            print(f"{name} | {posts:,} | {times[0]} | {times[1]}", flush=True)


if __name__ == "__main__":
    say("preparing")
    run_program(main)
