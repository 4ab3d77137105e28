"""Signs in with OAuth 1.0a and a PIN, which the user types. From tweepy's documentation."""

import os

import tweepy

handler = tweepy.OAuth1UserHandler(os.environ["LOCUM_API_KEY"], os.environ["LOCUM_API_SECRET"], callback="oob")
print(handler.get_authorization_url(), flush=True)
access_token, access_token_secret = handler.get_access_token(input())
client = tweepy.Client(
    consumer_key=os.environ["LOCUM_API_KEY"],
    consumer_secret=os.environ["LOCUM_API_SECRET"],
    access_token=access_token,
    access_token_secret=access_token_secret,
)
assert client.get_me().data.username == os.environ["LOCUM_USERNAME"]
print("done")
