"""A user in Chromium, for the client library suites; driven by `node/people.mjs`."""

import atexit
import functools
import json
import pathlib
import select
import subprocess

DRIVER = pathlib.Path(__file__).resolve().parent / "node" / "people.mjs"
PATIENCE = 90


class _Chromium:
    """The browser; each action is one line out and one line back."""

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
            raise RuntimeError("the browser does not respond")
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
    """The browser of a suite."""
    return _Chromium()


def callback():
    """The redirect URI of apps; a site responds there."""
    return chromium().callback


class Browser:
    """A new user with an empty browser profile."""

    def __init__(self, server, username="ada", password="dev"):
        about = {"url": server.url, "username": username, "password": password}
        self.person = chromium().ask("start", **about)["person"]

    def _ask(self, act, **more):
        return chromium().ask(act, person=self.person, **more)

    def open(self, url):
        """Opens a URL of the public service or the server; returns the redirect to the app, if any."""
        return self._ask("open", url=url)["url"]

    def authorize(self, url, button="Authorize app"):
        """Signs in if needed and answers the app's request; returns the resulting URL."""
        return self._ask("authorize", url=url, button=button)["url"]

    def pin(self):
        """The PIN on the page."""
        return self._ask("pin")["pin"]

    def close(self):
        self._ask("leave")
