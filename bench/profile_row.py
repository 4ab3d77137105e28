"""Where the processor time of a row goes: samples by the clock, by function and by thread."""

import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import rows
import server
from server import Failed, Server, run, say

FREQUENCY = 1999


class Watched(rows.World):
    """Measures by letting perf watch while the load runs, instead of comparing."""

    def measure(self, paths, bearer, connections=rows.READERS):
        print(f"=== {paths[0]}", flush=True)
        headers = {"Authorization": f"Bearer {bearer}"}
        requests = [rows.written(self.server.address, path, headers) for path in paths]
        watch(self.server, rows.Load(self.server, connections, requests), self.options)
        return {}


def watch(server, load, options):
    seconds = options.seconds
    load.run(1)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", data]
        command += ["-p", str(server.process.pid), "--", "sleep", str(seconds - 1)]
        told = {}
        thread = threading.Thread(target=lambda: told.update(load.run(seconds)))
        thread.start()
        time.sleep(0.5)
        recorded = subprocess.run(command, capture_output=True, text=True)
        thread.join()
        if recorded.returncode != 0:
            raise Failed(f"perf record failed: {recorded.stderr}")
        print(f"--- {told['cpu']:.0f} µs of processor a request")
        show_report(data, "comm", 1)
        show_report(data, "dso", 1)
        show_report(data, "symbol", 0.4)


def show_report(data, sort, least):
    command = ["perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none"]
    command += ["--sort", sort, "--percent-limit", str(least), "-q"]
    ran = subprocess.run(command, capture_output=True, text=True)
    lines = [line.rstrip() for line in ran.stdout.splitlines() if line.strip()]
    print("\n".join(lines), end="\n\n")


def show(binary, chosen):
    if not shutil.which("perf"):
        raise Failed("perf is missing: apt-get install linux-perf")
    row = chosen.profile
    if row not in rows.ROWS:
        raise Failed(f"{row} is not measured under load")
    for size in chosen.sizes:
        source, folder, _ = server.filled(binary, size, chosen.seed)
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
