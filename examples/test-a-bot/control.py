"""A development server, and what a test does with one of its worlds through the control API."""

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import requests


def wait_until(found, what, seconds=20):
    """The first result of `found` that is true."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)
    return result


class Server:
    """`locum dev` in a directory of its own."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="test-a-bot-"))
        self.data = self.folder / "data"
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [binary, "dev", "--port", "0", "--control-port", "0", "--data-dir", str(self.data)],
            cwd=self.folder, stdout=self.log, stderr=self.log,
        )
        atexit.register(self.close)
        wait_until(self.is_ready, "the server is ready", 60)
        address = json.loads((self.data / "server.json").read_text())
        self.control_url = f"http://{address['control']}/control/v1"
        self.session = requests.Session()
        self.session.trust_env = False  # No proxy.
        self.session.headers["Authorization"] = "Bearer " + (self.data / "control.token").read_text().strip()

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text())
        return (self.data / "server.json").exists()

    def run_cli(self, *arguments):
        command = [self.binary, *arguments, "--json", "--data-dir", str(self.data)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.close)


class World:
    """Demo data, with keys, a clock, faults and a journal of its own: a new world, or the main one as it was at first."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.headers = {} if name == "main" else {"X-Locum-World": name}
        if name == "main":
            for method, path in ("POST", "/reset"), ("DELETE", "/faults"), ("DELETE", "/requests"):
                self.control(method, path)
            self.env = server.run_cli("env")
        else:
            created = server.session.post(f"{server.control_url}/worlds", json={"name": name})
            self.env = created.json()["data"]["variables"]

    def control(self, method, path, body=None):
        url = self.server.control_url + path
        answer = self.server.session.request(method, url, headers=self.headers, json=body)
        assert answer.ok, answer.text
        return answer.json()["data"]

    def close(self):
        if self.name != "main":
            self.control("DELETE", f"/worlds/{self.name}")

    def add_fault(self, effect, parameters=None, **match):
        """Orders a fault; the rule's id."""
        rule = {"effect": {"name": effect, **(parameters or {})}, "match": match}
        return self.control("POST", "/faults", {"rules": [rule]})["ids"][0]

    def times_applied(self, rule):
        return next(one["applied"] for one in self.control("GET", "/faults") if one["id"] == rule)

    def now(self):
        return self.control("GET", "/clock")["now"]

    def advance(self, span):
        return self.control("POST", "/clock/advance", {"by": span})["report"]

    def requests(self, route, **filters):
        """The journal's entries, oldest first."""
        query = requests.compat.urlencode({"route": route, "limit": 1000, **filters})
        return self.control("GET", f"/requests?{query}")[::-1]

    def assert_requests(self, *checks):
        """Asserts what the bot has sent, once that holds; see `locum log --assert`."""
        answer = None

        def passed():
            nonlocal answer
            answer = self.control("POST", "/assert", {"checks": checks})
            return answer["passed"]

        end = time.monotonic() + 15
        while not passed():
            assert time.monotonic() < end, json.dumps(answer, indent=2)
            time.sleep(0.05)

    def token_family(self, token):
        world = [] if self.name == "main" else ["--world", self.name]
        return self.server.run_cli(*world, "token", "family", token)["tokens"]
