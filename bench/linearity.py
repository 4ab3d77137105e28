#!/usr/bin/env python3
"""Reads of one, two and three nodes on one PostgreSQL server: requests per second and CPU time per read.

    scripts/with-postgres python3 bench/linearity.py [--posts 10000] [--seconds 5] [--rounds 3]

All nodes, the database and the load share this machine's cores: what shows linearity is that the CPU
time per read, of the node and of the database, does not depend on the number of nodes. Prints a line
`figure: {...}` for each number of nodes, and fails if the CPU time per read grows by more than a fifth.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import load
import postgres
import rows
import server
from server import Failed, Server, run, run_program

NODES = 3
# Connections in all, whatever the number of nodes.
CONNECTIONS = 24
GROWTH = 1.2


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=5, help="duration of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-build", action="store_true", help="use the existing binary")
    return parser.parse_args()


def round_of(nodes, loads, database, seconds):
    """One round of lookups on these nodes at once."""
    cpu, of_database, told = sum(node.cpu() for node in nodes), database.cpu(), []
    threads = [threading.Thread(target=lambda one=one: told.append(one.run(seconds))) for one in loads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(told) != len(loads):
        raise Failed("a load failed")
    requests = sum(one["requests"] for one in told)
    return {
        "rate": sum(one["rate"] for one in told),
        "node_us": (sum(node.cpu() for node in nodes) - cpu) / requests * 1e6,
        "database_us": (database.cpu() - of_database) / requests * 1e6,
        "p99_ms": max(one["p99"] for one in told),
    }


def measure(nodes, requests, database, options):
    loads = [load.Load(node, CONNECTIONS // len(nodes), requests) for node in nodes]
    round_of(nodes, loads, database, 1)
    found = [round_of(nodes, loads, database, options.seconds) for _ in range(options.rounds)]
    return {name: round(statistics.median(one[name] for one in found), 1) for name in found[0]}


def started_nodes(binary, folder, stack):
    """Nodes with the same key and their own data directories."""
    nodes = []
    for number in range(NODES):
        own = folder if number == 0 else folder.with_name(f"{folder.name}-{number}")
        if number > 0:
            shutil.copytree(folder, own, ignore=shutil.ignore_patterns("*.sock"))
            stack.callback(shutil.rmtree, own, ignore_errors=True)
        nodes.append(stack.enter_context(Server(binary, own)))
    return nodes


def main():
    chosen = options()
    load.install()
    if not chosen.no_build:
        server.build()
    binary, found = server.binary(), []
    database = postgres.DatabaseProcess(os.environ["LOCUM_TEST_POSTGRES"])
    with ExitStack() as stack:
        source, folder, _ = stack.enter_context(server.filled_postgres(binary, chosen.posts, chosen.seed))
        nodes = started_nodes(binary, folder, stack)
        world = rows.World(nodes[0], source, chosen)
        world.prepare(lambda *arguments: run(binary, folder, *arguments))
        rows.check_lookups(world, world.bearer)
        headers = {"Authorization": f"Bearer {world.bearer}"}
        posts = world.some_posts(rows.VARIETY)
        requests = [load.written(nodes[0].address, rows.lookup_path(post), headers) for post in posts]
        for count in range(1, NODES + 1):
            found.append({"nodes": count, **measure(nodes[:count], requests, database, chosen)})
            print("figure:", json.dumps(found[-1]), flush=True)
    costs = [one["node_us"] + one["database_us"] for one in found]
    return 0 if max(costs) <= min(costs) * GROWTH else 1


if __name__ == "__main__":
    run_program(main)
