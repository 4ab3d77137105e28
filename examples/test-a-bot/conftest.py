import html
import itertools
import os
import re
import shutil

import pytest
import requests
import tweepy

from bot import Bot, Settings
from control import Server, World

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server():
    """One server for all tests. It is the proxy for the hosts that tweepy names, as with `locum env --intercept`."""
    binary = os.environ.get("LOCUM_BINARY") or shutil.which("locum")
    if not binary:
        pytest.exit("put locum on the PATH, or name the binary in LOCUM_BINARY", returncode=2)
    server = Server(binary)
    intercept = server.run_cli("env", "--intercept")
    with pytest.MonkeyPatch.context() as patch:
        for name in "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy":
            patch.setenv(name, intercept[name])
        # The tests reach no other hosts, so that requests need not load all certificate authorities.
        patch.setenv("REQUESTS_CA_BUNDLE", intercept["LOCUM_CA_FILE"])
        yield server
    server.close()


@pytest.fixture
def world(server):
    """A world for this test alone."""
    world = World(server, f"test-{next(NUMBERS)}")
    yield world
    world.close()


@pytest.fixture
def bot(world, tmp_path):
    """The bot, to which its user has given consent."""
    bot = Bot(Settings.from_env(world.env), tmp_path / "bot.json")
    bot.accept_authorization(give_consent(world, bot.authorization_url()))
    bot.catch_up()
    return bot


@pytest.fixture
def bob(world):
    """Somebody who mentions the bot."""
    return tweepy.Client(world.env["LOCUM_USER_TOKEN_2"])


def give_consent(world, url):
    """Does what a person does in a browser: signs in, and allows the app; the URL to which the browser is sent."""
    browser = requests.Session()
    browser.headers.update(world.headers)
    page = browser.get(url)
    person = {"login": world.env["LOCUM_USERNAME"], "password": world.env["LOCUM_PASSWORD"]}
    page = submit(browser, page, "/login", person)
    answer = submit(browser, page, "/i/oauth2/authorize", {"decision": "allow"}, allow_redirects=False)
    return answer.headers["location"]


def submit(browser, page, action, values, **more):
    form = next(form for form in page.text.split("<form ")[1:] if f'action="{action}"' in form)
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form.split("</form>")[0])
    fields = {name: html.unescape(value) for name, value in hidden}
    return browser.post(requests.compat.urljoin(page.url, action), data={**fields, **values}, **more)
