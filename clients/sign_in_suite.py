"""requests-oauthlib, Authlib and tweepy sign people in, through the pages that people see."""

import os
import unittest
from urllib.parse import parse_qs, urlsplit

import requests
import tweepy
from authlib.integrations.requests_client import OAuth1Session as AuthlibOAuth1
from authlib.integrations.requests_client import OAuth2Session as AuthlibOAuth2
from requests_oauthlib import OAuth1Session, OAuth2Session
from requests_oauthlib.oauth1_session import TokenRequestDenied

import locum_server
from browser import Browser

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
CALLBACK = "https://client.example/callback"
SCOPES = ["tweet.read", "users.read", "offline.access"]
HOSTS = ("https://api.twitter.com", "https://api.x.com")
as_is = requests.Session.request


def answered(url):
    """The parameters of an address that a browser was sent to."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server()
        cls.addClassCleanup(cls.server.close)
        cls.username = cls.server.env["USERNAME"]
        cls.web = cls.app("web")
        cls.native = cls.app("native")

    @classmethod
    def app(cls, kind):
        return cls.server.cli(
            "app", "create", f"Signs in ({kind})", "--owner", cls.username, "--kind", kind,
            "--callback", CALLBACK, "--sign-in",
        )

    def url(self, path):
        return self.server.url + path

    def browser(self):
        return Browser(self.server, self.username)

    def assert_me(self, session):
        answer = session.get(self.url("/2/users/me"))
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertEqual(answer.json()["data"]["username"], self.username)


class RequestsOAuth1(Suite):
    def session(self, callback):
        session = OAuth1Session(self.web["api_key"], self.web["api_secret"], callback_uri=callback)
        session.fetch_request_token(self.url("/oauth/request_token"))
        return session

    def test_a_callback(self):
        session, browser = self.session(CALLBACK + "?own=1"), self.browser()
        back = browser.authorize(session.authorization_url(self.url("/oauth/authorize")))
        self.assertEqual(answered(back)["own"], "1")
        session.parse_authorization_response(back)
        token = session.fetch_access_token(self.url("/oauth/access_token"))
        self.assertEqual(token["screen_name"], self.username)
        self.assert_me(session)
        # The second time nobody is asked.
        session = self.session(CALLBACK)
        back = browser.open(session.authorization_url(self.url("/oauth/authenticate")))
        session.parse_authorization_response(back)
        again = session.fetch_access_token(self.url("/oauth/access_token"))
        self.assertEqual(again["oauth_token"], token["oauth_token"])

    def test_a_pin(self):
        session, browser = self.session("oob"), self.browser()
        address = session.authorization_url(self.url("/oauth/authorize"))
        self.assertIsNone(browser.authorize(address))
        pin = browser.pin()
        self.assertRegex(pin, r"^\d{7}$")
        session.fetch_access_token(self.url("/oauth/access_token"), verifier=pin)
        self.assert_me(session)

    def test_a_person_says_no(self):
        session, browser = self.session(CALLBACK), self.browser()
        address = session.authorization_url(self.url("/oauth/authorize"))
        back = browser.authorize(address, "deny")
        self.assertEqual(list(answered(back)), ["denied"])
        with self.assertRaises(TokenRequestDenied):
            session.fetch_access_token(self.url("/oauth/access_token"), verifier="none")


class RequestsOAuth2(Suite):
    def sign_in(self, app, **more):
        session = OAuth2Session(app["client_id"], redirect_uri=CALLBACK, scope=SCOPES, pkce="S256")
        address, state = session.authorization_url(self.url("/i/oauth2/authorize"))
        back = self.browser().authorize(address)
        self.assertEqual(answered(back)["state"], state)
        self.assertEqual(answered(back)["iss"], self.server.url)
        session.fetch_token(self.url("/2/oauth2/token"), authorization_response=back, **more)
        self.assert_me(session)
        return session

    def test_a_confidential_client(self):
        session = self.sign_in(self.web, client_secret=self.web["client_secret"])
        before = session.token["access_token"]
        auth = requests.auth.HTTPBasicAuth(self.web["client_id"], self.web["client_secret"])
        session.refresh_token(self.url("/2/oauth2/token"), auth=auth)
        self.assertNotEqual(session.token["access_token"], before)
        self.assert_me(session)

    def test_a_public_client(self):
        client_id = self.native["client_id"]
        session = self.sign_in(self.native, include_client_id=True)
        session.refresh_token(self.url("/2/oauth2/token"), client_id=client_id)
        self.assert_me(session)

    def test_a_person_says_no(self):
        session = OAuth2Session(self.web["client_id"], redirect_uri=CALLBACK, scope=SCOPES, pkce="S256")
        address, state = session.authorization_url(self.url("/i/oauth2/authorize"))
        told = answered(self.browser().authorize(address, "deny"))
        self.assertEqual((told["error"], told["state"]), ("access_denied", state))


class Authlib(Suite):
    def test_oauth1(self):
        session = AuthlibOAuth1(self.web["api_key"], self.web["api_secret"], redirect_uri=CALLBACK)
        session.fetch_request_token(self.url("/oauth/request_token"))
        back = self.browser().authorize(session.create_authorization_url(self.url("/oauth/authorize")))
        session.parse_authorization_response(back)
        token = session.fetch_access_token(self.url("/oauth/access_token"))
        self.assertEqual(token["screen_name"], self.username)
        self.assert_me(session)

    def sign_in(self, app, **more):
        session = AuthlibOAuth2(
            app["client_id"], redirect_uri=CALLBACK, scope=" ".join(SCOPES),
            code_challenge_method="S256", **more,
        )
        verifier = "a-verifier-of-more-than-forty-three-characters-0123"
        address, _ = session.create_authorization_url(
            self.url("/i/oauth2/authorize"), code_verifier=verifier
        )
        back = self.browser().authorize(address)
        session.fetch_token(
            self.url("/2/oauth2/token"), authorization_response=back, code_verifier=verifier
        )
        self.assert_me(session)
        session.refresh_token(self.url("/2/oauth2/token"))
        self.assert_me(session)

    def test_a_confidential_client(self):
        self.sign_in(self.web, client_secret=self.web["client_secret"])

    def test_a_public_client(self):
        self.sign_in(self.native, token_endpoint_auth_method="none")


class Tweepy(Suite):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = cls.server

        def request(self, method, url, *arguments, **more):
            for host in HOSTS:
                if url.startswith(host):
                    url = server.url + url.removeprefix(host)
            return as_is(self, method, url, *arguments, **more)

        requests.Session.request = request
        cls.addClassCleanup(setattr, requests.Session, "request", as_is)

    def assert_user(self, client, **more):
        self.assertEqual(client.get_me(**more).data.username, self.username)

    def oauth1(self, callback):
        return tweepy.OAuth1UserHandler(self.web["api_key"], self.web["api_secret"], callback=callback)

    def client(self, handler):
        return tweepy.Client(
            consumer_key=self.web["api_key"],
            consumer_secret=self.web["api_secret"],
            access_token=handler.access_token,
            access_token_secret=handler.access_token_secret,
        )

    def test_oauth1_with_a_callback(self):
        handler = self.oauth1(CALLBACK)
        back = self.browser().authorize(handler.get_authorization_url(access_type="read"))
        handler.get_access_token(answered(back)["oauth_verifier"])
        self.assert_user(self.client(handler))

    def test_oauth1_with_a_pin(self):
        handler, browser = self.oauth1("oob"), self.browser()
        browser.authorize(handler.get_authorization_url(signin_with_twitter=True))
        handler.get_access_token(browser.pin())
        self.assert_user(self.client(handler))

    def oauth2(self, app, secret):
        handler = tweepy.OAuth2UserHandler(
            client_id=app["client_id"], redirect_uri=CALLBACK, scope=SCOPES, client_secret=secret
        )
        back = self.browser().authorize(handler.get_authorization_url())
        token = handler.fetch_token(back)
        self.assert_user(tweepy.Client(token["access_token"]), user_auth=False)

    def test_oauth2_of_a_confidential_client(self):
        self.oauth2(self.web, self.web["client_secret"])

    def test_oauth2_of_a_public_client(self):
        self.oauth2(self.native, None)


if __name__ == "__main__":
    locum_server.main()
