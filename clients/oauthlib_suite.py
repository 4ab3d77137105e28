"""Unmodified requests-oauthlib: OAuth 1.0a in each position, OAuth 2.0 app-only."""

import os
import random
import time
import unittest
from urllib.parse import urlencode

import requests
from oauthlib.oauth1 import SIGNATURE_TYPE_BODY, SIGNATURE_TYPE_QUERY
from oauthlib.oauth2 import BackendApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth1, OAuth1Session, OAuth2Session

import locum_server

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
FORM = "application/x-www-form-urlencoded"
PIECES = list("aAzZ09-._~ +&=%/?:;,!*'()#@$[]\"<>|\\^`{}\t") + ["é", "ß", "日本", "☃", "👩‍🚀", "e\u0301", "%20"]


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server()
        cls.addClassCleanup(cls.server.close)

    def auth(self, suffix="", **more):
        env = self.server.env
        keys = {
            "client_key": env["API_KEY"],
            "client_secret": env["API_SECRET"],
            "resource_owner_key": env["ACCESS_TOKEN" + suffix],
            "resource_owner_secret": env["ACCESS_TOKEN_SECRET" + suffix],
        }
        return OAuth1(**(keys | more))

    def url(self, path):
        return self.server.url + path

    def me(self, **more):
        return requests.get(self.url("/2/users/me"), auth=self.auth(**more))

    def assert_code(self, answer, status, code):
        self.assertEqual(answer.status_code, status, answer.text)
        self.assertEqual(answer.json()["errors"][0]["code"], code, answer.text)


class Signatures(Suite):
    def test_a_signed_request_is_answered(self):
        answer = self.me()
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertEqual(answer.json()["data"]["id"], self.server.env["USER_ID"])
        self.assertEqual(self.me(realm="Photos").status_code, 200)

    def test_json_is_sent_and_not_signed(self):
        body = {"text": "Signed around the body ☃"}
        answer = requests.post(self.url("/2/tweets"), json=body, auth=self.auth())
        self.assertEqual(answer.status_code, 201, answer.text)

    def test_a_signature_in_the_query(self):
        answer = self.me(signature_type=SIGNATURE_TYPE_QUERY)
        self.assertEqual(answer.status_code, 200, answer.text)

    def test_a_signature_in_the_form_ends_its_own_token(self):
        made = self.server.cli("user", "create", "former", "--password", "secret")
        app = self.server.env["API_KEY"]
        minted = self.server.cli("token", "mint", "--app", app, "--user", made["id"], "--oauth1")
        keys = {
            "resource_owner_key": minted["access_token"],
            "resource_owner_secret": minted["access_token_secret"],
        }
        self.assertEqual(self.me(**keys).status_code, 200)
        answer = requests.post(
            self.url("/1.1/oauth/invalidate_token"),
            data={"extra": "a b+c&é"},
            auth=self.auth(signature_type=SIGNATURE_TYPE_BODY, **keys),
        )
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertEqual(answer.json(), {"access_token": minted["access_token"]})
        self.assert_code(self.me(**keys), 401, 89)

    def test_wrong_secrets_are_refused(self):
        self.assert_code(self.me(client_secret="wrong"), 401, 32)
        self.assert_code(self.me(resource_owner_secret="wrong"), 401, 32)
        self.assert_code(self.me(client_key="wrong"), 401, 32)
        self.assert_code(self.me(resource_owner_key="1-wrong"), 401, 89)
        self.assert_code(self.me(signature_method="PLAINTEXT"), 401, 32)
        self.assert_code(self.me(signature_method="HMAC-SHA256"), 401, 32)

    def test_a_request_counts_once(self):
        signed = requests.Request("GET", self.url("/2/users/me"), auth=self.auth()).prepare()
        with requests.Session() as session:
            self.assertEqual(session.send(signed).status_code, 200)
            self.assert_code(session.send(signed), 401, 32)

    def test_a_clock_that_is_wrong_is_told(self):
        for skew in (-400, 400):
            self.assert_code(self.me(timestamp=str(int(time.time()) + skew)), 401, 135)

    def test_a_session_signs_everything(self):
        env = self.server.env
        session = OAuth1Session(
            env["API_KEY"], env["API_SECRET"], env["ACCESS_TOKEN_2"], env["ACCESS_TOKEN_SECRET_2"]
        )
        made = session.post(self.url("/2/posts"), json={"text": "In a session"})
        self.assertEqual(made.status_code, 201, made.text)
        path = f"/2/posts/{made.json()['data']['id']}"
        self.assertEqual(session.get(self.url(path)).json()["data"]["text"], "In a session")
        self.assertEqual(session.delete(self.url(path)).json(), {"data": {"deleted": True}})

    def test_random_queries_and_forms_are_signed_alike(self):
        """The server rejects unknown parameters with 400, after it has verified the signature."""
        seed = int(os.environ.get("LOCUM_SEED", time.time()))
        dice = random.Random(seed)

        def text(most):
            return "".join(dice.choice(PIECES) for _ in range(dice.randrange(most)))

        def pairs():
            names = dice.sample(["status", "a", "B", "a1", "a-1", "x y", "é", "tweet.fields", "~"], dice.randrange(1, 6))
            return [(name, text(10)) for name in names]

        auth = self.auth()
        with requests.Session() as session:
            for number in range(300):
                query = urlencode(pairs())
                if dice.random() < 0.5:
                    query = query.replace("+", "%20")
                url = self.url(f"/2/users/me?{query}")
                answer = session.get(url, auth=auth)
                self.assertEqual(answer.status_code, 400, f"seed {seed}, {number}: {url}: {answer.text}")
                answer = session.post(self.url("/2/tweets"), data=pairs(), auth=auth)
                self.assertIn(answer.status_code, (400, 415), f"seed {seed}, {number}: {answer.text}")


class AppOnly(Suite):
    def session(self):
        env = self.server.env
        session = OAuth2Session(client=BackendApplicationClient(client_id=env["API_KEY"]))
        keys = HTTPBasicAuth(env["API_KEY"], env["API_SECRET"])
        return session, session.fetch_token(self.url("/oauth2/token"), auth=keys)

    def test_a_token_is_fetched_and_used(self):
        session, token = self.session()
        self.assertEqual(token["access_token"], self.server.env["BEARER_TOKEN"])
        self.assertEqual(self.session()[1], token)
        answer = session.get(self.url(f"/2/users/{self.server.env['USER_ID']}"))
        self.assertEqual(answer.status_code, 200, answer.text)

    def test_an_invalidated_token_is_followed_by_another(self):
        _, token = self.session()
        answer = requests.post(
            self.url("/oauth2/invalidate_token"),
            data={"access_token": token["access_token"]},
            auth=self.auth(),
        )
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertEqual(answer.json(), {"access_token": token["access_token"]})
        dead = requests.get(
            self.url(f"/2/users/{self.server.env['USER_ID']}"),
            headers={"Authorization": f"Bearer {token['access_token']}"},
        )
        self.assert_code(dead, 401, 89)
        session, after = self.session()
        self.assertNotEqual(after["access_token"], token["access_token"])
        self.assertEqual(session.get(self.url(f"/2/users/{self.server.env['USER_ID']}")).status_code, 200)


if __name__ == "__main__":
    locum_server.main()
