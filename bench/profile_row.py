"""Profiles the CPU time of a row by function and by thread."""

import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import rows
import server
from server import Failed, Server, run, say

# From call stacks: our functions, the database's, and the system calls at their end.
OURS = re.compile(
    r"(\[\.\] |<|&)(base|database|edge|network|store|view|web|locum)::"
    r"|sqlite3|Checkpoint|Wal|rusqlite|serde_json|tracing_subscriber|__x64_sys_"
)


class Watched(rows.World):
    """Records a profile with perf while the load runs."""

    def measure(self, paths, bearer, connections=rows.READERS):
        print(f"=== {paths[0]}", flush=True)
        headers = {"Authorization": f"Bearer {bearer}"}
        requests = [rows.written(self.server.address, path, headers) for path in paths]
        watch(self.server, rows.Load(self.server, connections, requests), self.options)
        return {}


def watch(server, load, options):
    load.run(1)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        flat = ["-F", "1999"]
        told = record(server, load, options.seconds, data, flat)
        print(f"--- {told['cpu']:.0f} µs CPU per request")
        report(data, "--sort", "comm", "--percent-limit", "1")
        report(data, "--sort", "dso", "--percent-limit", "1")
        report(data, "--sort", "symbol", "--percent-limit", "0.4")
        # Call stacks are expensive to record: few samples, for the inclusive cost of functions.
        record(server, load, options.seconds, data, ["-F", "299", "--call-graph", "dwarf,32768"])
        print("--- including callees")
        report(data, "--children", "--sort", "symbol", "--percent-limit", "1", only=OURS)


def record(server, load, seconds, data, how):
    """Runs perf on the server during a round of load."""
    command = ["perf", "record", "-q", "-e", "cpu-clock", *how, "-o", data]
    command += ["-p", str(server.process.pid), "--", "sleep", str(seconds - 1)]
    told = {}
    thread = threading.Thread(target=lambda: told.update(load.run(seconds)))
    thread.start()
    time.sleep(0.5)
    recorded = subprocess.run(command, capture_output=True, text=True)
    thread.join()
    if recorded.returncode != 0:
        raise Failed(f"perf record failed: {recorded.stderr}")
    return told


def report(data, *how, only=None):
    command = ["perf", "report", "-i", data, "--stdio", "-g", "none", "-q", *how]
    if "--children" not in how:
        command.append("--no-children")
    ran = subprocess.run(command, capture_output=True, text=True)
    lines = [line.rstrip() for line in ran.stdout.splitlines() if line.strip()]
    if only:
        lines = [line for line in lines if only.search(line)][:60]
    print("\n".join(lines), end="\n\n", flush=True)


def show(binary, chosen):
    if not shutil.which("perf"):
        raise Failed("perf is missing: apt-get install linux-perf")
    row = chosen.profile
    if row not in rows.ROWS:
        raise Failed(f"{row} is not measured under load")
    for size in chosen.sizes:
        source, folder, _ = server.filled(binary, size, chosen.seed, chosen.audience)
        with server.copy_of(folder) as work, Server(binary, work) as process:
            world = Watched(process, source, chosen)
            world.prepare(lambda *arguments: run(binary, work, *arguments))
            if row == "P9":
                tokens = [world.token(handle) for handle in world.facts["writers"]]
                say(f"P9 at {size:,} posts")
                watch(process, rows.Load(process, rows.WRITERS, tokens=tokens), chosen)
                continue
            say(f"{row} at {size:,} posts")
            for _ in rows.ROWS[row](world):
                pass
