"""A small bot: tells everyone who mentions it how long their post is, and schedules a post for each day.

    python bot.py authorize       # once: asks for consent in a browser
    python bot.py plan 30         # schedules the posts of the next 30 days
    python bot.py run [--webhook https://bot.example/hook --port 8080]

Without a webhook, mentions arrive through the filtered stream. Settings are environment variables:
LOCUM_CLIENT_ID and so on, see `Settings`.
"""

import argparse
import base64
import dataclasses
import datetime
import hashlib
import hmac
import http.server
import json
import logging
import os
import pathlib
import queue
import threading
import time
import urllib.parse

import requests
import tweepy

TOKEN_URL = "https://api.twitter.com/2/oauth2/token"
ADS_URL = "https://ads-api.x.com/12"
SCOPES = ["tweet.read", "tweet.write", "users.read", "dm.read", "dm.write", "offline.access"]
# The server returns the same tokens to a repeated refresh for about half a minute.
REFRESH_PAUSES = (0, 0.1, 0.5, 2, 5, 10)
REMEMBERED_MENTIONS = 1000

log = logging.getLogger("bot")


@dataclasses.dataclass
class Settings:
    client_id: str
    client_secret: str
    callback_url: str
    api_key: str
    api_secret: str
    bearer_token: str
    access_token: str
    access_token_secret: str
    ads_account_id: str
    user_id: str
    username: str

    @classmethod
    def from_env(cls, env):
        return cls(**{field.name: env["LOCUM_" + field.name.upper()] for field in dataclasses.fields(cls)})


class State:
    """A JSON file: the tokens, and the mentions that have been answered."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lock = threading.Lock()
        self.values = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, name, default=None):
        return self.values.get(name, default)

    def update(self, **values):
        with self.lock:
            self.values.update(values)
            temporary = self.path.with_suffix(".tmp")
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(self.values))
            os.replace(temporary, self.path)


class Bot:
    def __init__(self, settings, state_path):
        self.settings = settings
        self.state = State(state_path)
        self.token_lock = threading.Lock()
        self.answer_lock = threading.Lock()
        self.being_answered = set()
        self.local = threading.local()
        self.oauth2 = tweepy.OAuth2UserHandler(
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            redirect_uri=settings.callback_url,
            scope=SCOPES,
        )

    # Tokens

    def authorization_url(self):
        return self.oauth2.get_authorization_url()

    def accept_authorization(self, callback_url):
        if callback_url.startswith("http://127.0.0.1:"):
            # oauthlib accepts http on this condition only; on the loopback address it is usual (RFC 8252).
            os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
        self.store_tokens(self.oauth2.fetch_token(callback_url))

    def store_tokens(self, tokens):
        self.state.update(access_token=tokens["access_token"], refresh_token=tokens["refresh_token"])

    def refresh(self, expired):
        """Replaces an expired access token. A refresh whose answer is lost is repeated with the same refresh token:
        the server then returns the tokens that it returned before."""
        with self.token_lock:
            if self.state.get("access_token") != expired:
                return  # Another thread was faster.
            for pause in REFRESH_PAUSES:
                time.sleep(pause)
                try:
                    tokens = self.oauth2.refresh_token(
                        TOKEN_URL, refresh_token=self.state.get("refresh_token"), auth=self.oauth2.auth
                    )
                except requests.ConnectionError as error:
                    log.warning("the answer to a refresh was lost: %s", error)
                else:
                    self.store_tokens(tokens)
                    return
        raise RuntimeError("the token endpoint cannot be reached")

    def call(self, operation):
        """Calls the API as the bot's user. After a 429, tweepy waits until the limit is reset."""
        token = self.state.get("access_token")
        try:
            return operation(self.client(token))
        except tweepy.Unauthorized:
            self.refresh(token)
        return operation(self.client(self.state.get("access_token")))

    def client(self, token):
        """The thread's client, which keeps its connection."""
        if not hasattr(self.local, "client"):
            self.local.client = tweepy.Client(wait_on_rate_limit=True)
        self.local.client.bearer_token = token
        return self.local.client

    # Mentions

    def answer(self, post_id, author_id, text):
        """Answers a mention, once, however often and by whatever way it arrives."""
        if str(author_id) == self.settings.user_id:
            return
        post_id = str(post_id)
        with self.answer_lock:
            if post_id in self.being_answered or post_id in self.state.get("answered", []):
                return
            self.being_answered.add(post_id)
        try:
            reply = f"That is {len(text.split())} words, in post {post_id}."
            self.call(lambda client: client.create_tweet(text=reply, in_reply_to_tweet_id=post_id, user_auth=False))
            with self.answer_lock:
                self.state.update(answered=[*self.state.get("answered", []), post_id][-REMEMBERED_MENTIONS:])
        finally:
            self.being_answered.discard(post_id)

    def catch_up(self):
        """Answers the mentions since the last call, at most 100. The first call answers none."""
        newest = self.state.get("newest_mention")
        found = self.call(
            lambda client: client.get_users_mentions(
                self.settings.user_id, since_id=newest, max_results=100, tweet_fields=["author_id"], user_auth=False
            )
        )
        mentions = found.data or []
        if newest is not None:
            for mention in reversed(mentions):
                self.answer(mention.id, mention.author_id, mention.text)
        self.state.update(newest_mention=mentions[0].id if mentions else newest or "1")

    def stream(self):
        """Follows mentions in a thread; the stream, whose `disconnect` ends it."""
        stream = MentionStream(self)
        stream.add_rules(tweepy.StreamRule(f"@{self.settings.username} -from:{self.settings.username}"))
        stream.filter(tweet_fields=["author_id"], threaded=True)
        return stream

    # Webhooks

    def subscribe(self, url):
        """Registers the webhook, which the server challenges at once, and subscribes to the bot's user; its id."""
        app = tweepy.Client(self.settings.bearer_token, wait_on_rate_limit=True)
        registered = app.request("GET", "/2/webhooks").json().get("data", [])
        webhook = next((one["id"] for one in registered if one["url"] == url), None)
        if webhook is None:
            webhook = app.request("POST", "/2/webhooks", json={"url": url}).json()["data"]["id"]
        route = f"/2/account_activity/webhooks/{webhook}/subscriptions/all"
        if not self.call(lambda client: client.request("GET", route)).json()["data"]["subscribed"]:
            self.call(lambda client: client.request("POST", route, json={}))
        return webhook

    def sign(self, data):
        digest = hmac.digest(self.settings.api_secret.encode(), data, hashlib.sha256)
        return "sha256=" + base64.b64encode(digest).decode()

    def receive(self, delivery):
        for post in delivery.get("tweet_create_events", []):
            names = [mention["id_str"] for mention in post["entities"]["user_mentions"]]
            if self.settings.user_id in names:
                self.answer(post["id_str"], post["user"]["id_str"], post["text"])

    # Scheduled posts

    def plan(self, first, days):
        """Schedules a post for the same time of each day."""
        s = self.settings
        auth = tweepy.OAuth1UserHandler(s.api_key, s.api_secret, s.access_token, s.access_token_secret).apply_auth()
        with requests.Session() as session:
            for number in range(days):
                at = first + datetime.timedelta(days=number)
                post = {
                    "as_user_id": s.user_id,
                    "text": f"Good morning! Day {number + 1} of {days}.",
                    "scheduled_at": at.strftime("%Y-%m-%dT%H:%M:00Z"),
                    "nullcast": "false",
                }
                url = f"{ADS_URL}/accounts/{s.ads_account_id}/scheduled_tweets"
                session.post(url, params=post, auth=auth, timeout=30).raise_for_status()


class MentionStream(tweepy.StreamingClient):
    """tweepy connects again when the stream ends; what was missed in between is read from the mentions."""

    def __init__(self, bot):
        super().__init__(bot.settings.bearer_token, wait_on_rate_limit=True, daemon=True)
        self.bot = bot

    def on_connect(self):
        self.attempt(self.bot.catch_up)

    def on_tweet(self, tweet):
        self.attempt(self.bot.answer, tweet.id, tweet.author_id, tweet.text)

    def attempt(self, action, *arguments):
        """Continues after a failure, since the next connection catches up."""
        try:
            action(*arguments)
        except (tweepy.TweepyException, requests.RequestException):
            log.exception("a mention was not answered")

    def on_errors(self, errors):
        log.warning("the stream reports %s", errors)


class WebhookServer(http.server.ThreadingHTTPServer):
    """Acknowledges deliveries at once, and has a thread handle them."""

    daemon_threads = True

    def __init__(self, bot, port):
        super().__init__(("127.0.0.1", port), WebhookHandler)
        self.bot = bot
        self.deliveries = queue.Queue()
        for work in (lambda: self.serve_forever(poll_interval=0.05), self.handle_deliveries):
            threading.Thread(target=work, daemon=True).start()

    def handle_deliveries(self):
        while True:
            try:
                self.bot.receive(self.deliveries.get())
            except Exception:
                log.exception("a delivery was not handled")
            self.deliveries.task_done()


class WebhookHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        if "crc_token" not in query:
            return self.respond(404)
        return self.respond(200, {"response_token": self.server.bot.sign(query["crc_token"][0].encode())})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        signature = self.headers.get("x-twitter-webhooks-signature", "")
        if not hmac.compare_digest(signature.encode(), self.server.bot.sign(body).encode()):
            return self.respond(403)
        self.server.deliveries.put(json.loads(body))
        return self.respond(200)

    def respond(self, status, value=None):
        body = json.dumps(value or {}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        log.debug(*arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--state", default="bot.json", help="the file with tokens and answered mentions")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("authorize")
    commands.add_parser("plan").add_argument("days", type=int)
    run = commands.add_parser("run")
    run.add_argument("--webhook", help="the public URL that leads to the port")
    run.add_argument("--port", type=int, default=8080)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    bot = Bot(Settings.from_env(os.environ), arguments.state)
    if arguments.command == "authorize":
        print(bot.authorization_url())
        bot.accept_authorization(input("The URL to which the browser was sent: "))
    elif arguments.command == "plan":
        today = datetime.datetime.now(datetime.timezone.utc).replace(hour=9, minute=0)
        bot.plan(today + datetime.timedelta(days=1), arguments.days)
    elif arguments.webhook:
        WebhookServer(bot, arguments.port)
        bot.subscribe(arguments.webhook)
        bot.catch_up()
        threading.Event().wait()
    else:
        bot.stream().thread.join()


if __name__ == "__main__":
    main()
