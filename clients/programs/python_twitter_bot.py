"""Verifies its credentials with python-twitter, which uses version 1.1 of the API."""

import os

import twitter

api = twitter.Api(
    consumer_key=os.environ["LOCUM_API_KEY"],
    consumer_secret=os.environ["LOCUM_API_SECRET"],
    access_token_key=os.environ["LOCUM_ACCESS_TOKEN"],
    access_token_secret=os.environ["LOCUM_ACCESS_TOKEN_SECRET"],
)
assert api.VerifyCredentials().screen_name == os.environ["LOCUM_USERNAME"]
print("done")
