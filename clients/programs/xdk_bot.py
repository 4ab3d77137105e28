"""Looks up a user with the official Python library."""

import os

from xdk import Client

client = Client(bearer_token=os.environ["LOCUM_BEARER_TOKEN"])
assert client.users.get_by_username(os.environ["LOCUM_USERNAME"]).data.id == os.environ["LOCUM_USER_ID"]
print("done")
