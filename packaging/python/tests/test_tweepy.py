"""tweepy, unmodified: synchronous, asynchronous and streaming."""

import asyncio
import datetime
import threading

import pytest
import tweepy
import tweepy.asynchronous


def user_client(world, **options):
    env = world.env
    return tweepy.Client(
        consumer_key=env["LOCUM_API_KEY"],
        consumer_secret=env["LOCUM_API_SECRET"],
        access_token=env["LOCUM_ACCESS_TOKEN"],
        access_token_secret=env["LOCUM_ACCESS_TOKEN_SECRET"],
        **options,
    )


def test_post_is_written_and_read(world):
    client = user_client(world)
    post = client.create_tweet(text="Hello from a test").data

    assert client.get_tweet(post["id"], user_auth=True).data.text == "Hello from a test"
    world.journal.expect('POST /2/tweets status=201 request.text="Hello from a test" count=1')


def test_client_waits_until_the_rate_limit_is_reset(world):
    world.faults.add("rate-limit", route="POST /2/tweets", times=1, reset_seconds=1)

    user_client(world, wait_on_rate_limit=True).create_tweet(text="patient")

    world.journal.expect("POST /2/tweets status=429 count=1", "POST /2/tweets status=201 count=1")


def test_exhausted_limit_is_an_error(world):
    world.limits.exhaust("GET /2/users/me", user="@" + world.env["LOCUM_USERNAME"])

    with pytest.raises(tweepy.TooManyRequests):
        user_client(world).get_me()


def test_expired_token_is_an_error(world):
    world.faults.add("expire-token", times=1)

    with pytest.raises(tweepy.Unauthorized):
        tweepy.Client(world.env["LOCUM_USER_TOKEN"]).get_me(user_auth=False)


def test_post_has_the_time_of_the_world(world):
    world.clock.freeze()
    world.clock.advance("1d")
    client = user_client(world)
    post = client.create_tweet(text="a day later").data

    written = client.get_tweet(post["id"], tweet_fields=["created_at"], user_auth=True).data.created_at
    assert abs(written - world.clock.now()) < datetime.timedelta(seconds=1)


def test_asynchronous_client_is_intercepted(world):
    async def read():
        client = tweepy.asynchronous.AsyncClient(world.env["LOCUM_BEARER_TOKEN"])
        response = await client.get_user(username=world.env["LOCUM_USERNAME"])
        if client.session:
            await client.session.close()
        return response.data

    assert str(asyncio.run(read()).id) == world.env["LOCUM_USER_ID"]


def test_stream_delivers_a_post(world):
    received = threading.Event()

    class Stream(tweepy.StreamingClient):
        def on_tweet(self, tweet):
            received.set()

    stream = Stream(world.env["LOCUM_BEARER_TOKEN"])
    stream.add_rules(tweepy.StreamRule("streamed"))
    thread = stream.filter(threaded=True)
    while not world.control.request("GET", "/streams")["open"]:
        assert thread.is_alive()
    user_client(world).create_tweet(text="streamed to a test")

    assert received.wait(20)
    stream.disconnect()
    thread.join(20)
