"""Unmodified programs, which name the public hosts, with `locum run` in both modes.

The programs are in `programs` and `rust`; each prints "done" at its end. LOCUM_RUST_CLIENTS names the built binary of
`rust`. Where no namespaces may be created, only the proxy is
tested.
"""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import locum_server

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
PATIENCE = 120
BOTH = ("sandbox", "proxy")
# Clients that do not read proxy variables.
SANDBOX = ("sandbox",)

PYTHON = [sys.executable]
NODE = ["node"]
MATRIX = {
    "tweepy_bot.py": (PYTHON, BOTH),
    "tweepy_stream.py": (PYTHON, BOTH),
    "tweepy_async.py": (PYTHON, SANDBOX),
    "xdk_bot.py": (PYTHON, BOTH),
    "twitter_ads_report.py": (PYTHON, BOTH),
    "twitterapi_bot.py": (PYTHON, BOTH),
    "python_twitter_bot.py": (PYTHON, BOTH),
    "oauth_sessions.py": (PYTHON, BOTH),
    "twarc2.sh": (["sh"], BOTH),
    "curl.sh": (["sh"], BOTH),
    "twitter_api_v2.mjs": (NODE, BOTH),
    "xdk_bot.mjs": (NODE, BOTH),
    "passport_chromium.mjs": (NODE, BOTH),
    "client.go": (["go", "run"], BOTH),
    "Client.java": (["java"], BOTH),
    "twitter_api.pl": (["perl"], BOTH),
    "twitter_gem.rb": (["ruby"], SANDBOX),
    "net_http.rb": (["ruby"], BOTH),
    "curl.php": (["php"], BOTH),
}


@functools.cache
def sandbox_refusal():
    """Why there is no sandbox on this machine; empty if there is one."""
    command = [locum_server.binary(), "run", "--fresh", "--world", "empty", "--mode", "sandbox", "true"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    return done.stderr if done.returncode else ""


@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the same on both databases")
class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server("--world", "ads")
        cls.addClassCleanup(cls.server.close)
        cls.folder = tempfile.mkdtemp(prefix="locum-programs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def command(self, mode, *program):
        if mode == "sandbox" and sandbox_refusal():
            self.skipTest(sandbox_refusal())
        return [locum_server.binary(), "run", "--mode", mode, "--data-dir", str(self.server.data), "--", *program]

    def environment(self):
        return {**os.environ, "TMPDIR": self.folder, "LOCUM_BINARY": locum_server.binary()}

    def run_program(self, mode, name):
        interpreter, _ = MATRIX[name]
        if not shutil.which(interpreter[0]):
            self.skipTest(f"{interpreter[0]} is not installed")
        self.expect_done(self.command(mode, *interpreter, str(PROGRAMS / name)))

    def run_rust(self, mode):
        binary = os.environ.get("LOCUM_RUST_CLIENTS")
        if not binary:
            self.skipTest("LOCUM_RUST_CLIENTS is not set")
        self.expect_done(self.command(mode, binary))

    def expect_done(self, command):
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(), timeout=PATIENCE, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        said = f"{done.stdout}\n{done.stderr}"
        self.assertEqual(done.returncode, 0, said)
        self.assertTrue(done.stdout.endswith("done\n"), said)

    def sign_in_with_pin(self, mode):
        # The user's browser is elsewhere.
        from browser import Browser

        command = self.command(mode, *PYTHON, str(PROGRAMS / "tweepy_pin.py"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=self.folder, env=self.environment(), **pipes) as program:
            browser = Browser(self.server)
            self.addCleanup(browser.close)
            browser.authorize(program.stdout.readline().strip())
            said, _ = program.communicate(browser.pin() + "\n", timeout=PATIENCE)
        self.assertEqual(program.returncode, 0, said)
        self.assertTrue(said.endswith("done\n"), said)

    def test_rust_crates_in_the_sandbox(self):
        self.run_rust("sandbox")

    def test_rust_crates_through_the_proxy(self):
        self.run_rust("proxy")

    def test_tweepy_signs_in_with_a_pin_in_the_sandbox(self):
        self.sign_in_with_pin("sandbox")

    def test_tweepy_signs_in_with_a_pin_through_the_proxy(self):
        self.sign_in_with_pin("proxy")


def add_tests():
    for name, (_, modes) in MATRIX.items():
        for mode in modes:
            test = functools.partialmethod(Programs.run_program, mode, name)
            setattr(Programs, f"test_{name.replace('.', '_')}_{mode}", test)


add_tests()

if __name__ == "__main__":
    locum_server.main()
