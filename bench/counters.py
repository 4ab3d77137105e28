"""What counts the instructions of a process: perf where the processor lets it, else callgrind."""

import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from server import Failed, say

# Seconds after which a counter that does not answer is given up.
PATIENCE = 60
# Seconds until the process runs again after it was stopped; before that it cannot be stopped.
RUNNING = 0.02


class Perf:
    """The processor's own counter, of user code alone."""

    name = "perf"
    event = "instructions:u"

    def __init__(self, folder):
        self.process = None

    @classmethod
    def works(cls):
        """Whether it counts here: in many virtual machines it does not."""
        if not shutil.which("perf"):
            return False
        command = ["perf", "stat", "-x,", "-e", cls.event, "true"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        return ran.returncode == 0 and cls.counted(ran.stderr) is not None

    @classmethod
    def counted(cls, said):
        """The number before the event's name, if it was counted."""
        for line in said.splitlines():
            count, _, event, *_ = [*line.split(","), "", ""]
            if cls.event.partition(":")[0] in event and count.replace(".", "").isdigit():
                return float(count)
        return None

    def prefix(self):
        return []

    def attach(self, pid):
        self.pid = pid

    def detach(self):
        pass

    def begin(self):
        """Counts from here on."""
        taken, self.orders = os.pipe()
        self.answers, given = os.pipe()
        command = ["perf", "stat", "-x,", "-e", self.event, "--delay=-1"]
        command += [f"--control=fd:{taken},{given}", "-p", str(self.pid)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=[taken, given]
        )
        os.close(taken)
        os.close(given)
        self.order("enable")

    def end(self):
        """Instructions of all threads since `begin`."""
        self.order("disable")
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        os.close(self.orders)
        os.close(self.answers)
        count = self.counted(said)
        if count is None:
            raise Failed(f"perf did not count: {said}")
        return count

    def order(self, what):
        os.write(self.orders, f"{what}\n".encode())
        ready, _, _ = select.select([self.answers], [], [], PATIENCE)
        if not ready or not os.read(self.answers, 16).startswith(b"ack"):
            raise Failed(f"perf does not answer to {what}")


class Unavailable(Failed):
    """Nothing can count here, such as in a container that may not trace processes."""


class Callgrind:
    """Valgrind's callgrind, controlled through vgdb, as by a debugger."""

    name = "callgrind"

    def __init__(self, folder):
        self.file = Path(folder) / "callgrind"
        # What both put the names of their pipes behind.
        self.pipes = f"--vgdb-prefix={Path(folder) / 'vgdb'}"

    @staticmethod
    def works():
        return bool(shutil.which("valgrind") and shutil.which("vgdb"))

    def prefix(self):
        """What the command of the process begins with."""
        options = ["--instr-atstart=no", "--fair-sched=yes", f"--callgrind-out-file={self.file}"]
        return ["valgrind", "--quiet", "--tool=callgrind", self.pipes, *options]

    def attach(self, pid):
        self.relay = subprocess.Popen(
            ["vgdb", self.pipes, f"--pid={pid}", "--wait=30", "--max-invoke-ms=1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self.said = b""
        try:
            self.ask("QStartNoAckMode")
        except (Failed, OSError) as failed:
            raise Unavailable(f"callgrind cannot be controlled: {failed}") from failed
        self.tell("instrumentation on")
        self.go_on(RUNNING)

    def detach(self):
        self.stop()
        self.tell("instrumentation off")
        self.ask("D")
        self.relay.stdin.close()
        self.relay.wait(PATIENCE)

    def begin(self):
        """Counts from here on."""
        self.stop()
        self.tell("zero")
        self.go_on()

    def end(self):
        """Instructions of all threads since `begin`."""
        self.stop()
        self.tell("dump")
        self.go_on(RUNNING)
        [dump] = self.file.parent.glob(f"{self.file.name}.*")
        lines = dump.read_text(encoding="utf-8", errors="replace").splitlines()
        dump.unlink()
        return next(int(line.split()[1]) for line in reversed(lines) if line.startswith("totals:"))

    # The protocol of gdb: packets of `$`, what is said, `#` and a checksum.

    def write(self, packet):
        self.relay.stdin.write(b"$%s#%02x" % (packet, sum(packet) % 256))

    def read(self):
        end = time.monotonic() + PATIENCE
        while True:
            _, begun, rest = self.said.partition(b"$")
            packet, ended, after = rest.partition(b"#")
            if begun and ended and len(after) >= 2:
                self.said = after[2:]
                return packet
            if not select.select([self.relay.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed("callgrind does not answer")
            more = os.read(self.relay.stdout.fileno(), 65536)
            if not more:
                raise Failed("vgdb ended")
            self.said += more

    def ask(self, packet):
        self.write(packet.encode())
        return self.read()

    def tell(self, command):
        """Has callgrind carry a command out; what it prints is passed over."""
        said = self.ask("qRcmd," + command.encode().hex())
        while said != b"OK":
            if not said.startswith(b"O"):
                raise Failed(f"callgrind answered {said!r} to {command}")
            said = self.read()

    def stop(self):
        self.relay.stdin.write(b"\x03")
        said = self.read()
        if said[:1] not in (b"S", b"T"):
            raise Failed(f"callgrind answered {said!r} instead of stopping")

    def go_on(self, seconds=0):
        self.write(b"c")
        time.sleep(seconds)


ALL = {counter.name: counter for counter in (Perf, Callgrind)}


def install():
    """Valgrind, from the distribution's packages, where nothing else counts."""
    if any(counter.works() for counter in ALL.values()):
        return
    say("installing valgrind")
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    packages = ["install", "-y", "-qq", "--no-install-recommends", "valgrind"]
    for command in (["update", "-qq"], packages):
        subprocess.run([*as_root, "apt-get", *command], check=True, stdout=subprocess.DEVNULL)


def choose(names):
    """The first of these counters that works here."""
    for name in ALL:
        if name in names and ALL[name].works():
            return ALL[name]
    raise Unavailable(f"nothing counts instructions here: {' or '.join(names)} is needed")
