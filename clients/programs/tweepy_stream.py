"""Follows the filtered stream until the post arrives that it publishes."""

import os
import threading
import time

import tweepy


class Printer(tweepy.StreamingClient):
    connected = threading.Event()
    found = None

    def on_connect(self):
        self.connected.set()

    def on_tweet(self, tweet):
        self.found = tweet
        self.disconnect()


word = f"word{time.time_ns()}"
printer = Printer(os.environ["LOCUM_BEARER_TOKEN"])
rule = printer.add_rules(tweepy.StreamRule(word)).data[0]
thread = printer.filter(threaded=True)
assert printer.connected.wait(30)
client = tweepy.Client(
    consumer_key=os.environ["LOCUM_API_KEY"],
    consumer_secret=os.environ["LOCUM_API_SECRET"],
    access_token=os.environ["LOCUM_ACCESS_TOKEN"],
    access_token_secret=os.environ["LOCUM_ACCESS_TOKEN_SECRET"],
)
client.create_tweet(text=f"A {word} on the stream")
thread.join(30)
assert word in printer.found.text
printer.delete_rules(rule.id)
print("done")
