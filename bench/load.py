"""Load by wrk, a few rounds of it, each beside a round of the reference."""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from server import TICKS, Failed, children_cpu, say

HERE = Path(__file__).resolve().parent
REFERENCE = "/livez"
# How far the mean length of answers under load may be from that of the answers looked at.
LENGTH_OFF = 0.15


def install():
    """wrk, from the distribution's packages."""
    if shutil.which("wrk"):
        return
    say("installing wrk")
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "wrk"]
    if os.geteuid() != 0:
        command.insert(0, "sudo")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def written(address, path, headers):
    """A request as it goes over the wire."""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"GET {path} HTTP/1.1\r\nHost: {address}\r\n{head}\r\n"


def machine_cpu():
    """Processor seconds that the whole machine has used."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, *_ = map(int, fields)
    return (user + nice + system + irq + softirq) / TICKS


class Load:
    """Requests to send over and over, and what is known of good answers to them."""

    # Shares of the machine that neither the server nor its load used, a round each.
    others = []

    def __init__(
        self,
        server,
        connections,
        requests=None,
        once=False,
        length=None,
        tokens=None,
        script="write.lua",
    ):
        self.server, self.connections = server, connections
        self.once, self.length = once, length
        self.file = tempfile.NamedTemporaryFile("w", prefix="locum-bench-", encoding="utf-8")
        self.is_writing = tokens is not None
        self.script = script if self.is_writing else "load.lua"
        self.file.write("\n".join(tokens) if self.is_writing else "\1".join(requests))
        self.file.flush()
        self.runs = self.sent = 0

    def run(self, seconds):
        """One round. Anything but good answers is a failure, not a figure."""
        self.runs += 1
        more = [f"r{os.getpid()}n{self.runs}", self.server.address] if self.is_writing else []
        more += ["once"] if self.once else []
        connections, seconds = f"-c{self.connections}", f"-d{seconds}s"
        command = ["wrk", "-t1", connections, seconds, "--timeout", "10s", "-s", HERE / self.script]
        command += [self.server.url, "--", self.file.name, *more]
        before, load, whole = self.server.cpu(), children_cpu(), machine_cpu()
        begun = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True)
        used = self.server.cpu() - before
        ours = used + children_cpu() - load
        cores = (time.monotonic() - begun) * os.cpu_count()
        Load.others.append(max(0, machine_cpu() - whole - ours) / cores)
        lines = [line for line in ran.stdout.splitlines() if line.startswith("BENCH ")]
        if ran.returncode != 0 or not lines:
            raise Failed(f"wrk failed: {ran.stdout} {ran.stderr}")
        told = json.loads(lines[-1].removeprefix("BENCH "))
        self.check(told)
        self.sent += told["requests"]
        self.server.forget_log()
        return {
            "requests": told["requests"],
            "rate": told["requests"] / told["seconds"],
            "cpu": used / told["requests"] * 1e6,
            "p50": told["p50"],
            "p99": told["p99"],
        }

    def check(self, told):
        if told["status"] or told["socket"] or told["requests"] == 0:
            raise Failed(f"answers under load went wrong: {told}")
        if told["again"]:
            raise Failed("the requests that can be sent once only ran out")
        mean = told["bytes"] / told["requests"]
        if self.length and abs(mean / self.length - 1) > LENGTH_OFF:
            raise Failed(f"answers under load have {mean:.0f} bytes, good ones {self.length:.0f}")

    def close(self):
        self.file.close()


def beside(load, rounds, seconds, other=None):
    """Ours and the reference by turns; medians. `other` takes the reference's place."""
    request = written(load.server.address, REFERENCE, {})
    reference = other or Load(load.server, load.connections, [request])
    load.run(1)
    reference.run(1)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(load.run(seconds))
        theirs.append(reference.run(seconds))
    return medians(ours, theirs)


def medians(ours, theirs):
    def middle(rounds, name):
        return statistics.median(one[name] for one in rounds)

    pairs = list(zip(ours, theirs, strict=True))
    return {
        "cpu": middle(ours, "cpu"),
        "rate": middle(ours, "rate"),
        "p50": middle(ours, "p50"),
        "p99": middle(ours, "p99"),
        "ratio": statistics.median(one["rate"] / other["rate"] for one, other in pairs),
        "cost": statistics.median(one["cpu"] / other["cpu"] for one, other in pairs),
        "reference_cpu": middle(theirs, "cpu"),
        "reference_rate": middle(theirs, "rate"),
        "reference_p99": middle(theirs, "p99"),
        "requests": sum(one["requests"] for one in ours),
    }
