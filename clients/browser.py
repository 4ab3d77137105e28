"""A person in front of Chromium, for the suites of client libraries: `node/people.mjs` drives it."""

import atexit
import functools
import json
import pathlib
import select
import subprocess

DRIVER = pathlib.Path(__file__).resolve().parent / "node" / "people.mjs"
PATIENCE = 90


class _Chromium:
    """The browser; each act is a line out and a line back."""

    def __init__(self):
        self.driver = subprocess.Popen(
            ["node", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        atexit.register(self._end)
        self.callback = self._answer()["callback"]

    def ask(self, act, **more):
        self.driver.stdin.write(json.dumps({"do": act, **more}) + "\n")
        return self._answer()

    def _answer(self):
        ready, _, _ = select.select([self.driver.stdout], [], [], PATIENCE)
        line = self.driver.stdout.readline() if ready else ""
        if not line:
            self.driver.kill()
            raise RuntimeError("the browser does not answer")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _end(self):
        self.driver.stdin.close()
        try:
            self.driver.wait(15)
        except subprocess.TimeoutExpired:
            self.driver.kill()


@functools.cache
def chromium():
    """The one browser of a suite."""
    return _Chromium()


def callback():
    """Where apps may send people back to; a site answers there."""
    return chromium().callback


class Browser:
    """Somebody who has not been here before."""

    def __init__(self, server, username="ada", password="dev"):
        about = {"url": server.url, "username": username, "password": password}
        self.person = chromium().ask("start", **about)["person"]

    def _ask(self, act, **more):
        return chromium().ask(act, person=self.person, **more)

    def open(self, url):
        """Opens an address of the public service, or of the server; where the app was met, if it was."""
        return self._ask("open", url=url)["url"]

    def authorize(self, url, button="Authorize app"):
        """Signs in where that is asked for, and answers the app; the address that this leads to."""
        return self._ask("authorize", url=url, button=button)["url"]

    def pin(self):
        """The PIN that the page shows."""
        return self._ask("pin")["pin"]

    def close(self):
        self._ask("leave")
