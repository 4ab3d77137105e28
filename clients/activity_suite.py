"""Events with the official Python library: subscriptions, the stream, a webhook, account activity.

The receiver checks signatures with the Python standard library only.
"""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time
import unittest
import urllib.parse

import requests
from xdk import Client
from xdk.account_activity import models as accounts
from xdk.activity import models as activity
from xdk.posts import models as posts
from xdk.users import models as users
from xdk.webhooks import models as webhooks

import locum_server
import tour_world


class Receiver(http.server.ThreadingHTTPServer):
    """Answers challenges, and stores deliveries with a valid signature."""

    daemon_threads = True

    def __init__(self, secret):
        super().__init__(("127.0.0.1", 0), Answer)
        self.secret, self.heard, self.forged = secret.encode(), [], 0
        self.url = f"http://127.0.0.1:{self.server_port}/hook"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def sign(self, data):
        return "sha256=" + base64.b64encode(hmac.new(self.secret, data, hashlib.sha256).digest()).decode()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.say({"response_token": self.server.sign(asked["crc_token"][0].encode())})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if hmac.compare_digest(self.headers["x-twitter-webhooks-signature"], self.server.sign(body)):
            self.server.heard.append(json.loads(body))
        else:
            self.server.forged += 1
        self.say({})

    def say(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def until(ask):
    end = time.monotonic() + 15
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("timed out")


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server = locum_server.Server()
        cls.addClassCleanup(server.close)
        cls.ada, cls.bob = (tour_world.person(server, name) for name in ("event_ada", "event_bob"))
        cls.app = Client(base_url=server.url, bearer_token=server.env["BEARER_TOKEN"])
        cls.as_ada, cls.as_bob = (Client(base_url=server.url, access_token=one.user_token) for one in (cls.ada, cls.bob))
        cls.receiver = Receiver(server.env["API_SECRET"])
        cls.addClassCleanup(cls.receiver.shutdown)
        made = cls.app.webhooks.create(webhooks.CreateRequest(url=cls.receiver.url))
        cls.hook = made.data.id

    def subscribe(self, kind, user=None, **more):
        body = {"event_type": kind, "filter": {"user_id": user} if user else {}, **more}
        request = activity.CreateSubscriptionRequest.model_validate(body)
        return self.app.activity.create_subscription(request).data.subscription

    def heard(self, holds):
        return until(lambda: next((body for body in list(self.receiver.heard) if holds(body)), None))

    def test_subscriptions_are_made_walked_changed_and_ended(self):
        kinds = ["profile.update.bio", "profile.update.geo", "post.delete", "spaces.start", "spaces.end"]
        made = [self.subscribe(kind, self.ada.id, tag="mine") for kind in kinds]
        self.assertEqual([one.event_type for one in made], kinds)
        self.assertEqual((made[0].filter.user_id, made[0].tag), (self.ada.id, "mine"))
        pages = list(self.app.activity.get_subscriptions(max_results=2))
        listed = [one.subscription_id for page in pages for one in page.data]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertGreater(len(pages), 2)
        self.assertTrue({one.subscription_id for one in made} <= set(listed))
        change = activity.UpdateSubscriptionRequest(tag="others", webhook_id=self.hook)
        changed = self.app.activity.update_subscription(made[0].subscription_id, change).data
        self.assertEqual((changed.subscription.tag, changed.subscription.webhook_id), ("others", self.hook))
        self.assertEqual(changed.total_subscriptions, len(listed))
        with self.assertRaises(requests.HTTPError) as caught:
            self.subscribe(kinds[1], self.ada.id)
        self.assertEqual(caught.exception.response.status_code, 409)
        self.assertTrue(self.app.activity.delete_subscription(made[0].subscription_id).data.deleted)
        rest = [one.subscription_id for one in made[1:]]
        many = self.app.activity.delete_subscriptions_by_ids([*rest, "12"])
        self.assertEqual([one.deleted for one in many.data], [True] * len(rest) + [False])
        self.assertEqual(many.errors[0].subscription_id, "12")

    def test_the_webhooks_of_the_filtered_stream_are_listed(self):
        self.app.webhooks.create_stream_link(self.hook)
        self.assertEqual([link.webhook_id for link in self.app.webhooks.get_stream_links().data], [self.hook])
        self.app.webhooks.delete_stream_link(self.hook)

    def test_the_stream_and_a_webhook_tell_the_same(self):
        self.subscribe("post.create", self.ada.id, webhook_id=self.hook, tag="both")
        self.subscribe("follow.follow", self.bob.id, webhook_id=self.hook)
        streamed = []

        def listen():
            try:
                for event in self.app.stream.activity():
                    streamed.append(event.data)
            except Exception:  # the server stops at the end
                pass

        threading.Thread(target=listen, daemon=True).start()
        until(self.connected)
        post = self.as_ada.posts.create(posts.CreateRequest.model_validate({"text": "Told twice"})).data.id
        self.as_ada.users.follow_user(self.ada.id, users.FollowUserRequest(target_user_id=self.bob.id))
        told = until(lambda: next((one for one in streamed if one.event_type == "post.create"), None))
        sent = self.heard(lambda body: body.get("data", {}).get("tag") == "both")["data"]
        self.assertEqual(told.event_uuid, sent["event_uuid"])
        self.assertEqual((sent["payload"]["id"], sent["payload"]["text"]), (post, "Told twice"))
        self.assertEqual(told.tag, "both")
        follow = self.heard(lambda body: body.get("data", {}).get("event_type") == "follow.follow")["data"]
        self.assertEqual(follow["payload"]["source"]["id"], self.ada.id)
        self.assertEqual(self.receiver.forged, 0)

    def connected(self):
        page = next(iter(self.app.connections.get_connection_history()))
        return [one for one in page.data or [] if one.endpoint_name == "activity_stream"]

    def test_account_activity(self):
        for client in (self.as_ada, self.as_bob):
            request = accounts.CreateSubscriptionRequest.model_validate({})
            self.assertTrue(client.account_activity.create_subscription(self.hook, request).data.subscribed)
            self.assertTrue(client.account_activity.validate_subscription(self.hook).data.subscribed)
        listed = self.app.account_activity.get_subscriptions(self.hook).data
        self.assertEqual({one.user_id for one in listed.subscriptions}, {self.ada.id, self.bob.id})
        self.assertEqual(listed.webhook_url, self.receiver.url)
        self.assertEqual(self.app.account_activity.get_subscription_count().data.subscriptions_count_all, "2")
        text = f"Hello @{self.bob.username}"
        self.as_ada.posts.create(posts.CreateRequest.model_validate({"text": text}))
        for person in (self.ada, self.bob):
            body = self.heard(lambda body: body.get("for_user_id") == person.id and "tweet_create_events" in body)
            self.assertEqual(body["tweet_create_events"][0]["user"]["id_str"], self.ada.id)
            self.assertEqual(body["tweet_create_events"][0]["entities"]["user_mentions"][0]["id_str"], self.bob.id)
        gone = self.app.account_activity.delete_subscription(self.hook, self.ada.id)
        self.assertFalse(gone.data.subscribed)
        self.assertFalse(self.as_ada.account_activity.validate_subscription(self.hook).data.subscribed)


if __name__ == "__main__":
    locum_server.main()
