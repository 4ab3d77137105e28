"""Uses the public addresses with requests-oauthlib, Authlib and httpx."""

import os

import httpx
from authlib.integrations.requests_client import OAuth1Session as AuthlibOAuth1
from authlib.integrations.requests_client import OAuth2Session as AuthlibOAuth2
from requests_oauthlib import OAuth1Session

key, secret = os.environ["LOCUM_API_KEY"], os.environ["LOCUM_API_SECRET"]
token = os.environ["LOCUM_ACCESS_TOKEN"]
token_secret = os.environ["LOCUM_ACCESS_TOKEN_SECRET"]
name = os.environ["LOCUM_USERNAME"]

for session in (
    OAuth1Session(key, secret, token, token_secret),
    AuthlibOAuth1(key, secret, token=token, token_secret=token_secret),
):
    for host in ("api.x.com", "api.twitter.com"):
        me = session.get(f"https://{host}/2/users/me")
        assert me.status_code == 200 and me.json()["data"]["username"] == name, me.text

session = AuthlibOAuth2(key, secret)
session.fetch_token("https://api.twitter.com/oauth2/token", grant_type="client_credentials")
assert session.get(f"https://api.twitter.com/2/users/by/username/{name}").status_code == 200

bearer = {"authorization": "Bearer " + os.environ["LOCUM_BEARER_TOKEN"]}
assert httpx.get(f"https://api.x.com/2/users/by/username/{name}", headers=bearer).status_code == 200
print("done")
