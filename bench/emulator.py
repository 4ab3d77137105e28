#!/usr/bin/env python3
"""Measures what the tools for testers cost: worlds, snapshots, the clock and the journal.

    bench/emulator.py BINARY [SECONDS]

Needs wrk, and perf or valgrind. Times are medians; each figure of CPU is the median of five rounds of SECONDS, 5 by
default.
"""

import http.client
import json
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging" / "python" / "src"))

import counters
from locum.server import Server

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS, WORLDS = 5, 100
# Requests of a round whose instructions are counted, and seconds until a server has come to rest.
COUNTED, SETTLING = 200, 6
ADDRESS, PATIENCE = "127.0.0.1:18280", 60
PATH = "/2/users/me"
NO_LIMITS = ["--rate-limits", "off", "--set", "listen.max_connections_per_ip=10000"]


def milliseconds(work):
    begun = time.monotonic()
    work()
    return (time.monotonic() - begun) * 1000


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def private_megabytes(pid):
    sizes = re.findall(r"^(?:Private_Clean|Private_Dirty): +(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    return sum(map(int, sizes)) / 1024


def cost_of_requests(server, seconds):
    """CPU microseconds of the server for each request on 16 kept connections."""
    pid, url, token = server._process.pid, server.url, server.env["LOCUM_USER_TOKEN"]
    before = cpu_seconds(pid)
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "-H", f"Authorization: Bearer {token}", url + PATH]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in output:
        sys.exit(output)
    return (cpu_seconds(pid) - before) * 1e6 / int(re.search(r"(\d+) requests in", output).group(1))


def show(what, value, unit, more=""):
    print(f"{what}: {value:.1f} {unit}{more}", flush=True)


def measure_worlds(binary):
    with Server(binary=binary) as server:
        pid = server._process.pid
        for world in [server.world() for _ in range(3)]:
            world.close()
        before, worlds = private_megabytes(pid), []
        times = [milliseconds(lambda: worlds.append(server.world())) for _ in range(WORLDS)]
        show(f"creation of a world, median of {WORLDS}", statistics.median(times), "ms",
             f", 95th percentile {sorted(times)[int(WORLDS * 0.95)]:.1f} ms")
        for world in worlds:
            world.control.request("GET", "/clock")
        show(f"memory of {WORLDS} worlds", private_megabytes(pid) - before, "MB")
        for world in worlds:
            world.close()
        one = server.world()
        show("reset", statistics.median(milliseconds(one.reset) for _ in range(5)), "ms")
        save = [milliseconds(lambda: one.snapshots.save(f"s{number}")) for number in range(5)]
        show("saving a snapshot", statistics.median(save), "ms")
        load = [milliseconds(lambda: one.snapshots.load("s0")) for _ in range(5)]
        show("loading a snapshot", statistics.median(load), "ms")
    for world in ("demo", "ads"):
        with Server(binary=binary, world=world) as server:
            show(f"moving the clock of the world {world} by 30 days",
                 milliseconds(lambda: server.main.clock.advance("30d")), "ms")


def measure_journal(binary, seconds):
    """Rounds with and without take turns, so that both meet the same machine."""
    with (
        Server(binary=binary, arguments=[*NO_LIMITS, "--set", "journal.size=0"]) as without,
        Server(binary=binary, arguments=NO_LIMITS) as recording,
    ):
        rounds = [[cost_of_requests(server, seconds) for server in (without, recording)] for _ in range(ROUNDS)]
    off, on = (statistics.median(column) for column in zip(*rounds))
    show(f"{PATH} without the journal", off, "us CPU")
    show(f"{PATH} with the journal", on, "us CPU", f", {on - off:.1f} more")


def create_token(binary, folder, environment):
    def run(*arguments):
        command = [binary, "--json", "--data-dir", folder, *arguments]
        return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)

    run("user", "create", "ada")
    app = run("app", "create", "--owner", "@ada", "Reader")
    return run("token", "mint", "--app", app["id"], "--user", "@ada")["token"]


def read_answer(connection, method, path, headers, body=None):
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        sys.exit(text.decode())
    return json.loads(text)


@contextmanager
def counted_server(binary, command, settings):
    """A new server: what counts its instructions, and a function that reads one post with its author a number of times."""
    with tempfile.TemporaryDirectory() as work:
        counter, folder = counters.choose(list(counters.ALL))(work), Path(work) / "data"
        key = Path(work) / "master.key"
        make_key = [binary, "init", "--base-url", "https://social.example", "--master-key", key]
        subprocess.run(make_key, check=True, capture_output=True)
        environment = {**os.environ, "LOCUM_SECRETS__MASTER_KEY_FILE": str(key), **settings}
        reads, writes = os.pipe()
        with open(Path(work) / "log", "wb") as log:
            process = subprocess.Popen(
                ["taskset", "--cpu-list", "0", *counter.prefix(), binary, *command, "--data-dir", folder,
                 "--ready-fd", str(writes), "--control-port", "0"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, pass_fds=[writes],
                env=environment,
            )
        os.close(writes)
        try:
            with open(reads, encoding="utf-8") as pipe:
                if not select.select([pipe], [], [], PATIENCE)[0] or not pipe.readline():
                    sys.exit(Path(log.name).read_text())
            connection = http.client.HTTPConnection(ADDRESS, timeout=PATIENCE)
            headers = {"Authorization": f"Bearer {create_token(binary, folder, environment)}"}
            post = read_answer(connection, "POST", "/2/tweets", {**headers, "Content-Type": "application/json"}, '{"text": "Hi"}')
            path = f"/2/tweets/{post['data']['id']}?expansions=author_id"

            def read_post(times):
                for _ in range(times):
                    read_answer(connection, "GET", path, headers)

            # What is done after the start comes to its end.
            time.sleep(SETTLING)
            counter.attach(process.pid)
            yield counter, read_post
            counter.detach()
        finally:
            process.terminate()
            process.wait()


def instructions_of_requests(binary, command, settings):
    """Of one request: the least of some rounds, since background work only adds to it."""
    counts = []
    with counted_server(binary, command, settings) as (counter, read_post):
        read_post(COUNTED)
        for _ in range(ROUNDS):
            counter.begin()
            read_post(COUNTED)
            counts.append(counter.end() / COUNTED)
    return min(counts)


def measure_instructions(binary):
    """A production server, which has no testing tools, against a development server without and with a journal."""
    production = {
        "LOCUM_CORE__BASE_URL": f"http://{ADDRESS}",
        "LOCUM_CORE__DANGER_PLAIN_HTTP": "true",
        "LOCUM_LIMITS__DANGER_RATE_LIMITS": "true",
    }
    development = ["dev", "--world", "empty", "--listen", ADDRESS, "--ads-sandbox-port", "0"]
    common = ["--rate-limits", "off", "--log-format", "json"]
    none, off, on = (
        instructions_of_requests(binary, [*command, *common], settings)
        for command, settings in (
            (["serve", "--init", "--listen", ADDRESS], production),
            ([*development, "--set", "journal.size=0"], {}),
            (development, {}),
        )
    )
    show("a post with its author, from a production server", none, "instructions")
    show("the same, without the journal", off, "instructions", f", ratio {off / none:.3f}")
    show("the same, with the journal", on, "instructions", f", ratio {on / none:.3f}")


def main():
    binary, seconds = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["5"])[0])
    measure_worlds(binary)
    measure_journal(binary, seconds)
    measure_instructions(binary)


if __name__ == "__main__":
    main()
