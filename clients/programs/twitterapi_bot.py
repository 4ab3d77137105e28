"""Posts and looks up a user with TwitterAPI."""

import os
import time

from TwitterAPI import TwitterAPI

names = ("LOCUM_API_KEY", "LOCUM_API_SECRET", "LOCUM_ACCESS_TOKEN", "LOCUM_ACCESS_TOKEN_SECRET")
api = TwitterAPI(*(os.environ[name] for name in names), api_version="2")
user = api.request("users/by/username/:" + os.environ["LOCUM_USERNAME"])
assert user.json()["data"]["id"] == os.environ["LOCUM_USER_ID"], user.text
made = api.request("tweets", {"text": f"Posted with TwitterAPI {time.time_ns()}"}, method_override="POST")
assert made.status_code == 201, made.text
print("done")
