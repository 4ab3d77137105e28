"""A clock for the server that can be stopped, so that nothing is done merely because time passes."""

import mmap
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "clock.c"
SECOND = 1_000_000_000


class Clock:
    """What CLOCK_MONOTONIC says to a process that is started with `prefix`; see clock.c."""

    def __init__(self, folder):
        self.library, self.path = Path(folder) / "clock.so", Path(folder) / "clock"
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl"]
        subprocess.run(command, check=True)
        self.path.write_bytes(bytes(16))
        with open(self.path, "r+b") as file:
            self.numbers = memoryview(mmap.mmap(file.fileno(), 16)).cast("q")

    def prefix(self):
        return ["env", f"LD_PRELOAD={self.library}", f"BENCH_CLOCK={self.path}"]

    def stop(self):
        """Stops it a little later than now, so that it never goes back."""
        self.numbers[0] = time.monotonic_ns() - self.numbers[1] + SECOND // 1000

    def advance(self, seconds):
        self.numbers[0] += int(seconds * SECOND)

    def start(self):
        self.numbers[1] = time.monotonic_ns() - self.numbers[0]
        self.numbers[0] = 0
