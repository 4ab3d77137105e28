"""A process that is started in the background and found again."""

import signal
import subprocess
from contextlib import suppress
from pathlib import Path


class Process:
    """A process that outlives Ctrl-C in the terminal and is known by a file if this program is killed."""

    def __init__(self, folder, name):
        self.name, self.log, self.note = name, folder / f"{name}.log", folder / f"{name}.pid"
        self.process = None

    def spawn(self, command, environment=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                list(map(str, command)),
                cwd=self.log.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.note.write_text(f"{self.process.pid} {start_of(self.process.pid)}")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=30):
        """The exit code after SIGTERM."""
        if self.process is None:
            return None
        self.note.unlink(missing_ok=True)
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def last_lines(self):
        return self.log.read_text(errors="replace")[-1500:] if self.log.exists() else ""


def start_of(pid):
    """When a process started, which tells it from a later one with its id; None if there is none."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return None
