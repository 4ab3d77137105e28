"""A third-party receiver: unmodified `twitterwebhooks` answers challenges and checks signatures."""

import contextlib
import logging
import socket
import threading
import unittest

import requests
from twitterwebhooks import TwitterWebhookAdapter

import locum_server
import tour_world
from activity_suite import until

ENDPOINT = "/webhooks/twitter"


class Receiver:
    """The library's server on a free port, and the events it emits."""

    def __init__(self, secret):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}{ENDPOINT}"
        self.adapter = TwitterWebhookAdapter(secret, ENDPOINT)
        self.heard = {"crc": [], "error": [], "any": []}
        for name, events in self.heard.items():
            self.adapter.on(name, events.append)
        threading.Thread(target=self.adapter.start, kwargs={"port": port}, daemon=True).start()
        until(self.answers)

    def answers(self):
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(self.url, timeout=5).status_code == 404

    def of(self, user, kind):
        """The received events of a type about a user."""
        bodies = [body for body in list(self.heard["any"]) if body["for_user_id"] == user]
        return [event for body in bodies for event in body.get(kind, [])]


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        cls.server = server = locum_server.Server()
        cls.addClassCleanup(server.close)
        cls.ada, cls.bob = (tour_world.person(server, name) for name in ("hook_ada", "hook_bob"))

    def ask(self, method, path, token, body=None):
        headers = {"Authorization": f"Bearer {token}"}
        return requests.request(method, self.server.url + path, headers=headers, json=body, timeout=30)

    def create(self, receiver):
        return self.ask("POST", "/2/webhooks", self.server.env["BEARER_TOKEN"], {"url": receiver.url})

    def test_it_passes_the_challenge_and_takes_every_delivery(self):
        receiver = Receiver(self.server.env["API_SECRET"])
        made = self.create(receiver)
        self.assertEqual(made.status_code, 200, made.text)
        hook = made.json()["data"]["id"]
        self.assertEqual(len(receiver.heard["crc"]), 1)
        path = f"/2/account_activity/webhooks/{hook}/subscriptions/all"
        joined = self.ask("POST", path, self.ada.user_token, {})
        self.assertTrue(joined.json()["data"]["subscribed"], joined.text)

        post = self.ask("POST", "/2/tweets", self.ada.user_token, {"text": "Seen by others: é 🦀"})
        post = post.json()["data"]["id"]
        (told,) = until(lambda: receiver.of(self.ada.id, "tweet_create_events"))
        self.assertEqual((told["id_str"], told["text"]), (post, "Seen by others: é 🦀"))

        path = f"/2/users/{self.bob.id}/following"
        self.ask("POST", path, self.bob.user_token, {"target_user_id": self.ada.id})
        (told,) = until(lambda: receiver.of(self.ada.id, "follow_events"))
        self.assertEqual(told["source"]["id"], self.bob.id)

        # An event triggered from the command line is the same.
        about = ["--user", self.ada.id, "--other", self.bob.id]
        self.server.cli("trigger", "like.create", *about)
        (told,) = until(lambda: receiver.of(self.ada.id, "favorite_events"))
        self.assertEqual(told["user"]["id_str"], self.ada.id)
        self.server.cli("trigger", "dm.received", *about, "--text", "To her")
        (told,) = until(lambda: receiver.of(self.ada.id, "direct_message_events"))
        self.assertEqual(told["message_create"]["message_data"]["text"], "To her")

        again = self.ask("PUT", f"/2/webhooks/{hook}", self.server.env["BEARER_TOKEN"])
        self.assertEqual(again.status_code, 200, again.text)
        self.assertEqual(len(receiver.heard["crc"]), 2)
        self.assertEqual(receiver.heard["error"], [])

        # The library rejects wrong and missing signatures.
        before = len(receiver.heard["any"])
        forged = {"x-twitter-webhooks-signature": "sha256=" + "A" * 43 + "="}
        refused = requests.post(receiver.url, json={"for_user_id": "1"}, headers=forged, timeout=5)
        self.assertEqual(refused.status_code, 403)
        self.assertEqual((len(receiver.heard["error"]), len(receiver.heard["any"])), (1, before))

    def test_one_with_another_secret_is_not_stored(self):
        receiver = Receiver("the secret of another app")
        refused = self.create(receiver)
        self.assertEqual(refused.status_code, 400, refused.text)
        self.assertEqual(len(receiver.heard["crc"]), 1)
        listed = self.ask("GET", "/2/webhooks", self.server.env["BEARER_TOKEN"]).json()
        self.assertNotIn(receiver.url, [one["url"] for one in listed.get("data", [])])


if __name__ == "__main__":
    locum_server.main()
