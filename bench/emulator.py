#!/usr/bin/env python3
"""Measures what the tools for testers cost: worlds, snapshots, the clock and the journal.

    bench/emulator.py BINARY [SECONDS]

Needs wrk. Times are medians; each figure of CPU is the median of five rounds of SECONDS, 5 by default.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging" / "python" / "src"))

from locum.server import Server

TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS, WORLDS = 5, 100
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


def main():
    binary, seconds = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["5"])[0])
    measure_worlds(binary)
    measure_journal(binary, seconds)


if __name__ == "__main__":
    main()
