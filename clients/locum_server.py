"""Runs the built binary as a server for the client library suites.

LOCUM_BINARY selects the binary; by default, `cargo build` builds it. LOCUM_TEST_POSTGRES names a
PostgreSQL server on which databases may be created; by default, the suites run on SQLite.
"""

import atexit
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

# A terminated suite terminates its servers.
LEFT = set()
atexit.register(lambda: [process.kill() for process in LEFT])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBERS = itertools.count()


def binary():
    named = os.environ.get("LOCUM_BINARY")
    if not named:
        subprocess.run(["cargo", "build", "--quiet", "-p", "locum"], cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
        named = os.environ["LOCUM_BINARY"] = str(ROOT / target / "debug" / "locum")
    return named


class Server:
    """`locum dev` in its own directory, and the contents of its dev.env."""

    def __init__(self, *arguments):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="locum-client-"))
        self.data = self.folder / "data"
        self.place = ["--data-dir", str(self.data)]
        self.database = None
        administration = os.environ.get("LOCUM_TEST_POSTGRES")
        if administration:
            self.database = f"client_{os.getpid()}_{next(NUMBERS)}"
            self._psql(f"CREATE DATABASE {self.database}")
            self.place += ["--db", f"{administration.rsplit('/', 1)[0]}/{self.database}"]
        if "--rate-limits" not in arguments:
            arguments += ("--rate-limits", "off")
        self.arguments = list(arguments)
        self.process = None
        self.start()

    def start(self):
        (self.data / "server.json").unlink(missing_ok=True)
        self.log = open(self.folder / "log", "ab")
        command = [binary(), "dev", "--port", "0", "--control-port", "0", *self.place, *self.arguments]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self.log, stderr=self.log)
        LEFT.add(self.process)
        self.url = self._until(self._address)
        self._until(lambda: urllib.request.urlopen(f"{self.url}/readyz", timeout=5).status == 200)
        self.env = {}
        for line in (self.data / "dev.env").read_text().splitlines():
            name, _, value = line.removeprefix("LOCUM_").partition("=")
            self.env[name] = value

    def _address(self):
        return json.loads((self.data / "server.json").read_text())["base_url"]

    def _until(self, ask):
        end = time.monotonic() + 90
        while True:
            try:
                return ask()
            except (OSError, ValueError, KeyError):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)

    def cli(self, *arguments):
        """The output of a command on this server's data."""
        command = [binary(), *arguments, "--json", *self.place]
        done = subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(25)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        LEFT.discard(self.process)
        self.log.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.database:
            self._psql(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")

    def _psql(self, statement):
        url = os.environ["LOCUM_TEST_POSTGRES"]
        subprocess.run(["psql", "-qX", url, "-c", statement], check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    """Runs the suite and prints a summary like that of `cargo test`."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    said = "ok" if result.wasSuccessful() else "FAILED"
    passed = result.testsRun - failed - skipped
    print(f"test result: {said}. {passed} passed; {failed} failed; {skipped} ignored", flush=True)
    sys.exit(not result.wasSuccessful())
