"""The bot in the conditions of a bad month. Each test has a world of its own; see control.py."""

import datetime
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot import WebhookServer
from control import wait_until

REPLIES = "POST /2/tweets request.reply exists"


def mention(person, text):
    return person.create_tweet(text=f"@ada {text}", user_auth=False).data["id"]


def answers(post):
    return f"POST /2/tweets status=201 request.reply.in_reply_to_tweet_id={post}"


def test_refresh_whose_answer_is_lost_is_repeated(world, bot, bob):
    first = bot.state.get("refresh_token")
    lost = world.add_fault("refresh-lost", times=2)
    post = mention(bob, "are you there?")
    world.advance("3h")  # An access token is valid for two.

    bot.catch_up()

    assert world.times_applied(lost) == 2
    world.assert_requests(
        answers(post) + " count=1",
        "GET /2/users/:id/mentions status=401 count=1",
        "POST /2/oauth2/token request.grant_type=refresh_token count=3",
        "POST /2/oauth2/token status=failed count=0",
    )
    # Nothing was issued twice, and nothing was taken for theft.
    assert first != bot.state.get("refresh_token")
    family = [(row["generation"], row["kind"], row["state"]) for row in world.token_family(first)]
    assert family == [
        (1, "access", "expired"), (1, "refresh", "used"), (2, "access", "active"), (2, "refresh", "active"),
    ]


def test_mention_that_a_disconnecting_stream_loses_is_answered(world, bot, bob):
    stream = bot.stream()
    wait_until(lambda: world.control("GET", "/streams")["open"], "the stream is open")
    before = mention(bob, "before it ends")
    world.assert_requests(answers(before) + " count=1")
    cut = world.add_fault("operational-disconnect", times=1)

    lost = mention(bob, "this one meets the end of the stream")

    world.assert_requests(answers(lost) + " count=1")
    after = mention(bob, "and this one a new connection")
    world.assert_requests(answers(after) + " count=1", f"{REPLIES} count=3")
    assert world.times_applied(cut) == 1
    stream.disconnect()


def test_nothing_is_sent_before_the_rate_limit_is_reset(world, bot, bob):
    posts = [mention(bob, f"number {number}") for number in range(3)]
    world.add_fault("rate-limit", {"reset_seconds": 1}, route="POST /2/tweets", times=len(posts))

    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda post: bot.answer(post, world.env["LOCUM_USER_ID_2"], "a text"), posts))

    # Each answer was refused once, and sent again when the header allowed it.
    world.assert_requests(
        "POST /2/tweets status=429 count=3",
        f"{REPLIES} status=201 count=3",
        *[answers(post) + " count=1" for post in posts],
    )
    resets = sorted(reset_time(world, entry) for entry in world.requests("POST /2/tweets", status="429"))
    sent = sorted(received_at(entry) for entry in world.requests("POST /2/tweets", status="201"))[-3:]
    assert all(time >= reset for time, reset in zip(sent, resets, strict=True))


def reset_time(world, entry):
    headers = world.control("GET", f"/requests/{entry['id']}")["response"]["headers"]
    (reset,) = [header["value"] for header in headers if header["name"] == "x-rate-limit-reset"]
    return datetime.datetime.fromtimestamp(int(reset), datetime.timezone.utc)


def received_at(entry):
    return datetime.datetime.fromisoformat(entry["received_at"])


@pytest.fixture
def webhook(bot):
    server = WebhookServer(bot, 0)
    bot.subscribe(f"http://127.0.0.1:{server.server_port}/hook")
    yield server
    server.shutdown()
    server.server_close()


def test_event_that_is_delivered_twice_is_answered_once(world, webhook, bob, caplog):
    caplog.set_level(logging.DEBUG, "bot")
    world.add_fault("duplicate-delivery")

    first, second = mention(bob, "once"), mention(bob, "and again")

    # Two mentions and the bot's two answers, which are events of its account too; each twice.
    wait_until(lambda: caplog.text.count('"POST /hook') == 8, "all deliveries arrive")
    webhook.deliveries.join()
    world.assert_requests(answers(first) + " count=1", answers(second) + " count=1", f"{REPLIES} count=2")


def test_delivery_with_a_wrong_signature_is_refused(world, webhook, bob, caplog):
    caplog.set_level(logging.DEBUG, "bot")
    forged = world.add_fault("bad-signature", times=1)

    post = mention(bob, "is this you?")

    wait_until(lambda: '" 403 ' in caplog.text, "the bot refuses the delivery")
    assert world.times_applied(forged) == 1
    world.assert_requests(f"{REPLIES} count=0")
    world.advance("1h")  # The server tries again, with the right signature.
    world.assert_requests(answers(post) + " count=1")


def test_month_of_posts_is_scheduled(world, bot):
    tomorrow = datetime.datetime.fromisoformat(world.now()) + datetime.timedelta(days=1)
    first = tomorrow.replace(hour=9, minute=0, second=0, microsecond=0)

    bot.plan(first, 30)
    report = world.advance("31d")

    assert report["jobs"]["scheduled_posts"] == 30
    # The token of a month ago has expired: the bot refreshes it, once.
    published = bot.call(
        lambda client: client.get_users_tweets(
            bot.settings.user_id, max_results=30, tweet_fields=["created_at"], user_auth=False
        )
    ).data
    texts = [post.text for post in reversed(published)]
    times = [post.created_at for post in reversed(published)]
    assert texts == [f"Good morning! Day {day} of 30." for day in range(1, 31)]
    assert times == [first + datetime.timedelta(days=day) for day in range(30)]
    world.assert_requests(
        "POST /12/accounts/:account_id/scheduled_tweets status=200 count=30",
        "POST /2/oauth2/token request.grant_type=refresh_token status=200 count=1",
    )
