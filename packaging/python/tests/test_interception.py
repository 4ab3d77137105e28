"""Which clients are intercepted, and that nothing is left changed."""

import asyncio
import contextlib
import http.server
import os
import socket
import ssl
import threading
import urllib.request

import aiohttp
import httpx
import pytest
import requests
import urllib3

from locum import Server, intercept

URL = "https://api.x.com/2/users/me"


@pytest.fixture
def authorization(locum):
    return {"Authorization": f"Bearer {locum.env['LOCUM_USER_TOKEN']}"}


def with_requests(headers):
    session = requests.Session()
    return lambda: session.get(URL, headers=headers).json()


def with_httpx(headers):
    client = httpx.Client()
    return lambda: client.get(URL, headers=headers).json()


def with_urllib3(headers):
    pool = urllib3.PoolManager()
    return lambda: pool.request("GET", URL, headers=headers).json()


def with_urllib(headers):
    opener = urllib.request.build_opener()

    def read():
        with opener.open(urllib.request.Request(URL, headers=headers)) as response:
            return requests.models.complexjson.load(response)

    return read


def with_asynchronous_httpx(headers):
    client = httpx.AsyncClient()

    async def read():
        async with client:
            return (await client.get(URL, headers=headers)).json()

    return lambda: asyncio.run(read())


def with_aiohttp(headers):
    async def read():
        async with aiohttp.ClientSession() as session, session.get(URL, headers=headers) as response:
            return await response.json()

    return lambda: asyncio.run(read())


CLIENTS = [with_requests, with_httpx, with_urllib3, with_urllib, with_asynchronous_httpx, with_aiohttp]


@pytest.mark.parametrize("make", CLIENTS)
def test_client_that_was_made_before_reaches_the_world(make, locum, authorization):
    read = make(authorization)

    with intercept(locum):
        answer = read()

    assert answer["data"]["id"] == locum.env["LOCUM_USER_ID"]
    locum.journal.expect("GET /2/users/me status=200 count=1")


def test_proxy_of_the_environment_is_bypassed(locum, authorization, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet.example")

    with intercept(locum):
        assert requests.get(URL, headers=authorization).ok

    assert (os.environ["NO_PROXY"], os.environ.get("no_proxy")) == ("intranet.example", None)


@pytest.mark.parametrize("bypassed", ["localhost", "*"])
def test_hosts_that_bypassed_the_proxy_still_do(locum, authorization, monkeypatch, bypassed):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("NO_PROXY", bypassed)
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with intercept(locum):
        for client in (requests, httpx):
            assert client.get(locum.url.replace("127.0.0.1", "localhost")).status_code == 200
            assert client.get(URL, headers=authorization).status_code == 200


def test_other_hosts_are_not_affected(locum):
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with intercept(locum):
            assert requests.get(f"http://localhost:{other.server_port}/").status_code == 501
        other.shutdown()


def test_everything_is_restored(locum):
    def state():
        return [dict(vars(owner)) for owner in (socket, socket.socket, ssl.SSLContext)], dict(os.environ)

    before = state()
    with pytest.raises(ZeroDivisionError), intercept(locum):
        assert state() != before
        raise ZeroDivisionError
    assert state() == before


def test_interceptions_that_overlap_end_in_any_order(locum, authorization):
    resolve = socket.getaddrinfo
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        first.enter_context(intercept(locum))
        second.enter_context(intercept(locum))
        first.close()
        assert requests.get(URL, headers=authorization).ok
    assert socket.getaddrinfo is resolve


def test_server_entered_last_is_reached(locum, authorization):
    with Server(world="empty") as other, intercept(locum):
        with intercept(other):
            assert requests.get(URL, headers=authorization).status_code == 401
        assert requests.get(URL, headers=authorization).ok


def test_authority_is_trusted_for_the_emulated_hosts_only(locum, locum_server):
    address = locum_server.url.removeprefix("http://")
    with intercept(locum), pytest.raises(requests.exceptions.SSLError):
        requests.get(f"https://localhost:{address.rpartition(':')[2]}/2/users/me")
