"""Sign-in with requests-oauthlib, Authlib, tweepy and xdk; users respond in Chromium."""

import os
import unittest
from urllib.parse import parse_qs, urlsplit

import requests
import tweepy
from authlib.integrations.requests_client import OAuth1Session as AuthlibOAuth1
from authlib.integrations.requests_client import OAuth2Session as AuthlibOAuth2
from requests_oauthlib import OAuth1Session, OAuth2Session
from requests_oauthlib.oauth1_session import TokenRequestDenied
from xdk import Client as XdkClient
from xdk.oauth1_auth import OAuth1 as XdkOAuth1

import locum_server
from browser import Browser, callback

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
SCOPES = ["tweet.read", "users.read", "offline.access"]
HOSTS = ("https://api.twitter.com", "https://api.x.com")
as_is = requests.Session.request


def answered(url):
    """The parameters of a URL to which a browser was redirected."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server()
        cls.addClassCleanup(cls.server.close)
        cls.username = cls.server.env["USERNAME"]
        cls.callback = callback()
        cls.web = cls.app("web")
        cls.native = cls.app("native")

    @classmethod
    def app(cls, kind):
        return cls.server.cli(
            "app", "create", f"Signs in ({kind})", "--owner", cls.username, "--kind", kind,
            "--callback", cls.callback, "--sign-in",
        )

    def url(self, path):
        return self.server.url + path

    def browser(self):
        browser = Browser(self.server, self.username)
        self.addCleanup(browser.close)
        return browser

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
        session, browser = self.session(self.callback + "?own=1"), self.browser()
        back = browser.authorize(session.authorization_url(self.url("/oauth/authorize")))
        self.assertEqual(answered(back)["own"], "1")
        session.parse_authorization_response(back)
        token = session.fetch_access_token(self.url("/oauth/access_token"))
        self.assertEqual(token["screen_name"], self.username)
        self.assert_me(session)
        # The second time there is no prompt.
        session = self.session(self.callback)
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
        session, browser = self.session(self.callback), self.browser()
        address = session.authorization_url(self.url("/oauth/authorize"))
        back = browser.authorize(address, "Cancel")
        self.assertEqual(list(answered(back)), ["denied"])
        with self.assertRaises(TokenRequestDenied):
            session.fetch_access_token(self.url("/oauth/access_token"), verifier="none")


class RequestsOAuth2(Suite):
    def sign_in(self, app, **more):
        session = OAuth2Session(app["client_id"], redirect_uri=self.callback, scope=SCOPES, pkce="S256")
        address, state = session.authorization_url(self.url("/i/oauth2/authorize"))
        back = self.browser().authorize(address)
        self.assertEqual(answered(back)["state"], state)
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
        session = OAuth2Session(self.web["client_id"], redirect_uri=self.callback, scope=SCOPES, pkce="S256")
        address, state = session.authorization_url(self.url("/i/oauth2/authorize"))
        told = answered(self.browser().authorize(address, "Cancel"))
        self.assertEqual((told["error"], told["state"]), ("access_denied", state))


class Authlib(Suite):
    def test_oauth1(self):
        session = AuthlibOAuth1(self.web["api_key"], self.web["api_secret"], redirect_uri=self.callback)
        session.fetch_request_token(self.url("/oauth/request_token"))
        back = self.browser().authorize(session.create_authorization_url(self.url("/oauth/authorize")))
        session.parse_authorization_response(back)
        token = session.fetch_access_token(self.url("/oauth/access_token"))
        self.assertEqual(token["screen_name"], self.username)
        self.assert_me(session)

    def sign_in(self, app, **more):
        session = AuthlibOAuth2(
            app["client_id"], redirect_uri=self.callback, scope=" ".join(SCOPES),
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


class Redirected(Suite):
    """Redirects a library's hard-coded base URL to the server."""

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


class Tweepy(Redirected):
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
        handler = self.oauth1(self.callback)
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
            client_id=app["client_id"], redirect_uri=self.callback, scope=SCOPES, client_secret=secret
        )
        back = self.browser().authorize(handler.get_authorization_url())
        token = handler.fetch_token(back)
        self.assert_user(tweepy.Client(token["access_token"]), user_auth=False)

    def test_oauth2_of_a_confidential_client(self):
        self.oauth2(self.web, self.web["client_secret"])

    def test_oauth2_of_a_public_client(self):
        self.oauth2(self.native, None)


class Xdk(Redirected):
    """The official library."""

    def client(self, app):
        return XdkClient(
            base_url=self.server.url,
            authorization_base_url=self.url("/i"),
            client_id=app["client_id"],
            client_secret=app.get("client_secret"),
            redirect_uri=self.callback,
            scope=SCOPES,
        )

    def assert_user(self, **credential):
        client = XdkClient(base_url=self.server.url, **credential)
        me = client.users.get_me(user_fields=["public_metrics"]).data
        self.assertEqual(me.username, self.username)

    def test_oauth2_of_a_confidential_client(self):
        client, browser = self.client(self.web), self.browser()
        back = browser.authorize(client.get_authorization_url(state="a-state"))
        self.assertEqual(answered(back)["state"], "a-state")
        token = client.fetch_token(back)
        self.assert_user(access_token=token["access_token"])
        again = client.refresh_token()
        self.assertNotEqual(again["access_token"], token["access_token"])
        self.assert_user(access_token=again["access_token"])
        told = answered(browser.authorize(client.get_authorization_url(), "Cancel"))
        self.assertEqual(told["error"], "access_denied")

    def test_oauth2_of_a_public_client(self):
        client = self.client(self.native)
        back = self.browser().authorize(client.get_authorization_url())
        token = client.exchange_code(answered(back)["code"])
        self.assert_user(access_token=token["access_token"])

    def test_oauth1(self):
        browser = self.browser()
        for sign_in in (False, True):
            helper = XdkOAuth1(self.web["api_key"], self.web["api_secret"], self.callback)
            back = browser.authorize(helper.start_oauth_flow(login_with_x=sign_in))
            token = helper.get_access_token(answered(back)["oauth_verifier"])
            helper = XdkOAuth1(
                self.web["api_key"], self.web["api_secret"], self.callback,
                token.access_token, token.access_token_secret,
            )
            self.assert_user(auth=helper)


if __name__ == "__main__":
    locum_server.main()
