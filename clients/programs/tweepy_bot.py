"""A bot: posts, and reads what it posted. From tweepy's documentation."""

import os
import time

import tweepy

client = tweepy.Client(
    bearer_token=os.environ["LOCUM_BEARER_TOKEN"],
    consumer_key=os.environ["LOCUM_API_KEY"],
    consumer_secret=os.environ["LOCUM_API_SECRET"],
    access_token=os.environ["LOCUM_ACCESS_TOKEN"],
    access_token_secret=os.environ["LOCUM_ACCESS_TOKEN_SECRET"],
)
response = client.create_tweet(text=f"This Tweet was Tweeted using Tweepy and Twitter API v2! {time.time_ns()}")
tweet = client.get_tweet(response.data["id"]).data
assert tweet.text.startswith("This Tweet was Tweeted"), tweet.text
print("done")
