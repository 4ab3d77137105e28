"""Streams with unmodified client libraries: tweepy's StreamingClient and the official Python library."""

import queue
import threading
import time
import unittest

import requests
import tweepy
from xdk import Client
from xdk.stream import models
from xdk.streaming import StreamConfig

import locum_server
import tweepy_suite

WAIT = 20


class Streaming(tweepy.StreamingClient):
    """Collects what arrives."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.came = queue.Queue()
        self.connected = threading.Event()
        self.refused, self.ended = [], threading.Event()

    def on_connect(self):
        self.connected.set()

    def on_response(self, response):
        self.came.put(response)

    def on_errors(self, errors):
        self.refused.extend(errors)
        # Otherwise it reconnects.
        self.disconnect()

    def on_request_error(self, status_code):
        self.refused.append(status_code)
        self.disconnect()

    def on_disconnect(self):
        self.ended.set()


class Streams(tweepy_suite.Suite):
    def listen(self, call, **more):
        """Runs a stream in a thread until the end of the test."""
        client = Streaming(self.server.env["BEARER_TOKEN"], max_retries=0, daemon=True)
        getattr(client, call)(threaded=True, **more)
        self.assertTrue(client.connected.wait(WAIT) or client.refused, "not connected")
        self.addCleanup(self.leave, client)
        return client

    def leave(self, client):
        client.disconnect()
        requests.delete(f"{self.server.url}/2/connections/all", headers=self.bearer())
        client.ended.wait(WAIT)

    def bearer(self):
        return {"Authorization": f"Bearer {self.server.env['BEARER_TOKEN']}"}

    def setUp(self):
        rules = Streaming(self.server.env["BEARER_TOKEN"]).get_rules().data
        if rules:
            self.app_rules().delete_rules([rule.id for rule in rules])

    def app_rules(self):
        return Streaming(self.server.env["BEARER_TOKEN"])

    def test_rules_are_added_read_and_deleted(self):
        client = self.app_rules()
        answer = client.add_rules([tweepy.StreamRule("cats has:images", "pets"), tweepy.StreamRule("dogs")])
        self.assertEqual([rule.value for rule in answer.data], ["cats has:images", "dogs"])
        self.assertEqual(answer.meta["summary"]["created"], 2)
        answer = client.add_rules(tweepy.StreamRule("dogs", "again"))
        self.assertEqual(answer.errors[0]["title"], "DuplicateRule")
        answer = client.add_rules(tweepy.StreamRule("birds"), dry_run=True)
        self.assertEqual(answer.meta["summary"]["created"], 1)
        rules = client.get_rules().data
        self.assertEqual([rule.tag for rule in rules], ["pets", None])
        answer = client.delete_rules(rules)
        self.assertEqual(answer.meta["summary"]["deleted"], 2)
        self.assertIsNone(client.get_rules().data)

    def test_posts_come_with_their_rules_and_what_they_lead_to(self):
        self.app_rules().add_rules(tweepy.StreamRule("streamedword", "by word"))
        client = self.listen("filter", expansions="author_id", tweet_fields="created_at,lang")
        self.bob.create_tweet(text="nothing for you")
        made = self.ada.create_tweet(text="a streamedword, été ☃ <b>")
        came = client.came.get(timeout=WAIT)
        self.assertEqual(str(came.data.id), made.data["id"])
        self.assertEqual(came.data.text, "a streamedword, été ☃ &lt;b&gt;")
        self.assertIsNotNone(came.data.created_at)
        self.assertEqual(came.includes["users"][0].username, "ada")
        self.assertEqual([rule.tag for rule in came.matching_rules], ["by word"])
        self.assertTrue(client.came.empty())

    def test_a_second_connection_is_refused_until_the_first_is_gone(self):
        self.app_rules().add_rules(tweepy.StreamRule("whatever"))
        most = 2 if self.enterprise() else 1
        open_ones = [self.listen("filter") for _ in range(most)]
        second = self.listen("filter")
        self.assertEqual(second.refused, [429])
        url = f"{self.server.url}/2/connections"
        listed = requests.get(url, headers=self.bearer()).json()["data"]
        self.assertEqual(len(listed), most)
        ids = [one["id"] for one in listed]
        killed = requests.delete(url, json={"uuids": ids}, headers=self.bearer()).json()["data"]
        self.assertEqual(killed["successful_kills"], most)
        for one in open_ones:
            self.assertTrue(self.soon(lambda: one.refused), "no farewell")
            self.assertEqual(one.refused[0]["disconnect_type"], "ForceDisconnect")
        third = self.listen("filter")
        self.assertEqual(third.refused, [])

    def test_the_sample_brings_what_it_brings(self):
        client = self.listen("sample")
        self.assertEqual(client.refused, [])
        for number in range(30):
            self.ada.create_tweet(text=f"perhaps in the sample {number}")
        time.sleep(1)
        while not client.came.empty():
            came = client.came.get()
            self.assertIn("perhaps in the sample", came.data.text)
            self.assertEqual(came.matching_rules, [])

    def enterprise(self):
        answer = requests.get(f"{self.server.url}/2/tweets/search/stream/rules/counts", headers=self.bearer())
        return str(answer.json()["data"]["cap_per_client_app"]) != "1000"

    def soon(self, holds):
        end = time.monotonic() + WAIT
        while not holds() and time.monotonic() < end:
            time.sleep(0.02)
        return holds()

    def test_the_official_library_reads_the_same(self):
        client = Client(base_url=self.server.url, bearer_token=self.server.env["BEARER_TOKEN"])
        added = client.stream.update_rules(
            body=models.UpdateRulesRequest.model_validate({"add": [{"value": "officialword", "tag": "official"}]})
        )
        self.assertEqual(added.data[0].value, "officialword")
        self.assertEqual(next(client.stream.get_rules()).data[0].tag, "official")
        counts = client.stream.get_rule_counts().data
        self.assertEqual(counts.client_app_rules_count.rule_count, 1)
        connected, came = threading.Event(), queue.Queue()
        config = StreamConfig(max_retries=0, on_connect=connected.set, timeout=WAIT)

        def read():
            for message in client.stream.posts(
                stream_config=config,
                expansions=["author_id"],
                tweet_fields=["public_metrics"],
                user_fields=["public_metrics"],
            ):
                came.put(message)
                return

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        self.assertTrue(connected.wait(WAIT))
        made = self.ada.create_tweet(text="an officialword from ada")
        message = came.get(timeout=WAIT)
        self.assertEqual(message.data.id, made.data["id"])
        self.assertEqual(message.matching_rules[0].tag, "official")
        self.assertEqual(message.includes.users[0].username, "ada")
        self.assertEqual(message.data.public_metrics.repost_count, 0)
        thread.join(WAIT)
        listed = next(client.connections.get_connection_history(status="all"))
        self.assertEqual(listed.data[0].endpoint_name, "filtered_stream")


if __name__ == "__main__":
    locum_server.main()
