"""All groups of operations with tweepy, unmodified except for the base URL."""

import datetime
import io
import os
import time
import unittest
import warnings

import requests
import tweepy

import locum_server
import tour_world

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
HOSTS = ("https://api.twitter.com", "https://api.x.com", "https://upload.twitter.com")
EVERYTHING = {
    "expansions": [
        "attachments.media_keys", "attachments.poll_ids", "author_id", "edit_history_tweet_ids",
        "entities.mentions.username", "geo.place_id", "in_reply_to_user_id", "referenced_tweets.id",
        "referenced_tweets.id.author_id",
    ],
    "tweet_fields": [
        "attachments", "author_id", "context_annotations", "conversation_id", "created_at",
        "edit_controls", "edit_history_tweet_ids", "entities", "geo", "id", "in_reply_to_user_id", "lang",
        "possibly_sensitive", "public_metrics", "referenced_tweets", "reply_settings", "source", "text",
        "withheld", "note_tweet", "community_id", "card_uri", "display_text_range",
    ],
    "media_fields": [
        "alt_text", "duration_ms", "height", "media_key", "preview_image_url", "public_metrics", "type",
        "url", "variants", "width",
    ],
    "place_fields": ["contained_within", "country", "country_code", "full_name", "geo", "id", "name", "place_type"],
    "poll_fields": ["duration_minutes", "end_datetime", "id", "options", "voting_status"],
    "user_fields": [
        "created_at", "description", "entities", "id", "location", "most_recent_tweet_id", "name",
        "pinned_tweet_id", "profile_banner_url", "profile_image_url", "protected", "public_metrics", "url",
        "username", "verified", "verified_type", "withheld",
    ],
}
PEOPLE = {
    "expansions": ["pinned_tweet_id", "most_recent_tweet_id"],
    "user_fields": EVERYTHING["user_fields"],
    "tweet_fields": EVERYTHING["tweet_fields"],
}
SPACES = {
    "expansions": ["creator_id", "host_ids", "invited_user_ids", "speaker_ids", "topic_ids"],
    "space_fields": [
        "created_at", "creator_id", "ended_at", "host_ids", "id", "invited_user_ids", "is_ticketed", "lang",
        "participant_count", "scheduled_start", "speaker_ids", "started_at", "state", "subscriber_count",
        "title", "topic_ids", "updated_at",
    ],
    "user_fields": EVERYTHING["user_fields"],
}
LISTS = {
    "expansions": ["owner_id"],
    "list_fields": ["created_at", "description", "follower_count", "id", "member_count", "name", "owner_id", "private"],
    "user_fields": EVERYTHING["user_fields"],
}
MESSAGES = {
    "expansions": ["attachments.media_keys", "participant_ids", "referenced_tweets.id", "sender_id"],
    "dm_event_fields": [
        "attachments", "created_at", "dm_conversation_id", "event_type", "id", "participant_ids",
        "referenced_tweets", "sender_id", "text",
    ],
    "media_fields": EVERYTHING["media_fields"],
    "tweet_fields": EVERYTHING["tweet_fields"],
    "user_fields": EVERYTHING["user_fields"],
}
as_is = requests.Session.request


def redirect(server):
    """Redirects requests for the public service to `server` before they are signed."""

    def request(self, method, url, *arguments, **more):
        for host in HOSTS:
            if url.startswith(host):
                url = server.url + url.removeprefix(host)
        return as_is(self, method, url, *arguments, **more)

    requests.Session.request = request


def ids(found):
    return [str(one.id) for one in found.data or []]


# tweepy warns about posts without the default fields.
warnings.filterwarnings("error", category=RuntimeWarning, module="tweepy")


class Suite(unittest.TestCase):
    """Ada and Bob sign with OAuth 1.0a; `ada2` is Ada with OAuth 2.0, `app` the app alone."""

    @classmethod
    def setUpClass(cls):
        cls.server = server = locum_server.Server()
        cls.addClassCleanup(server.close)
        redirect(server)
        cls.addClassCleanup(setattr, requests.Session, "request", as_is)
        cls.app = tweepy.Client(bearer_token=server.env["BEARER_TOKEN"])
        cls.people = [tour_world.person(server, f"tour_{number}") for number in range(8)]
        cls.who, cls.other = cls.people[0], cls.people[1]
        cls.ada, cls.bob = cls.signed(cls.who), cls.signed(cls.other)
        cls.ada2 = tweepy.Client(bearer_token=cls.who.user_token)

    @classmethod
    def signed(cls, person):
        env = cls.server.env
        return tweepy.Client(
            consumer_key=env["API_KEY"], consumer_secret=env["API_SECRET"],
            access_token=person.access_token, access_token_secret=person.access_token_secret,
        )

    def api(self, person=None):
        """The older client, which can upload media."""
        env = self.server.env
        person = person or self.who
        auth = tweepy.OAuth1UserHandler(
            env["API_KEY"], env["API_SECRET"], person.access_token, person.access_token_secret
        )
        return tweepy.API(auth)

    def ask(self, client, method, route, params=None, json=None, user_auth=True):
        """A request without a client method, signed by the client."""
        return client.request(method, route, params=params, json=json, user_auth=user_auth).json()

    def says(self, client, text, **more):
        return client.create_tweet(text=text, **more).data["id"]

    def metrics(self, post):
        return self.app.get_tweet(post, tweet_fields=["public_metrics"]).data.public_metrics

    def numbers(self, person):
        return self.app.get_user(id=person.id, user_fields=["public_metrics"]).data.public_metrics

    def walk(self, ask, *who, size, least=3, **more):
        """The ids on all pages, without duplicates; checks the minimum number of pages."""
        pages = list(tweepy.Paginator(ask, *who, max_results=size, **more))
        found = [one for page in pages for one in ids(page)]
        self.assertGreaterEqual(len(pages), least)
        self.assertEqual(len(found), len(set(found)))
        for page in pages:
            self.assertEqual(page.meta["result_count"], len(page.data or []))
        self.assertNotIn("next_token", pages[-1].meta)
        return found

    def refused(self, kind, text, ask, *who, **more):
        with self.assertRaises(kind) as caught:
            ask(*who, **more)
        self.assertIn(text, str(caught.exception))


class Posts(Suite):
    def test_every_expansion_and_field_at_once(self):
        place = self.server.cli("place", "add", "Tourville", "--country", "Fictia", "--country-code", "FR",
                                "--bbox", "2.0,48.0,3.0,49.0")
        root = self.says(self.ada, f"Hello @{self.other.username} #tour $TOUR https://example.com/a",
                         poll_options=["yes", "no"], poll_duration_minutes=60, place_id=place["id"])
        reply = self.says(self.bob, "A reply", in_reply_to_tweet_id=root)
        quote = self.says(self.bob, "A quote", quote_tweet_id=root, reply_settings="following")
        self.server.cli("poll", "vote", root, "2", "--as", self.other.username)
        for client, more in ((self.app, {}), (self.ada, {"user_auth": True}), (self.ada2, {})):
            read = client.get_tweets([root, reply, quote], **EVERYTHING, **more)
            first, second, third = read.data
            self.assertEqual(read.errors, [])
            self.assertEqual(first.text.split(" http")[0], f"Hello @{self.other.username} #tour $TOUR")
            self.assertEqual(first.entities["mentions"][0]["id"], self.other.id)
            self.assertIsInstance(first.created_at, datetime.datetime)
            self.assertIsInstance(first.edit_controls["edits_remaining"], int)
            self.assertEqual(first.public_metrics, {
                "retweet_count": 0, "reply_count": 1, "like_count": 0, "quote_count": 1,
                "bookmark_count": 0, "impression_count": first.public_metrics["impression_count"],
            })
            poll = read.includes["polls"][0]
            self.assertEqual([option["label"] for option in poll], ["yes", "no"])
            self.assertEqual([option["votes"] for option in poll], [0, 1])
            self.assertEqual((poll.voting_status, poll.duration_minutes), ("open", 60))
            self.assertIsInstance(poll.end_datetime, datetime.datetime)
            self.assertEqual(read.includes["places"][0].country_code, "FR")
            self.assertEqual(first.geo["place_id"], place["id"])
            self.assertEqual([(one.type, str(one.id)) for one in second.referenced_tweets], [("replied_to", root)])
            self.assertEqual([(one.type, str(one.id)) for one in third.referenced_tweets], [("quoted", root)])
            self.assertEqual(str(second.in_reply_to_user_id), self.who.id)
            self.assertEqual(str(second.conversation_id), root)
            self.assertEqual(third.reply_settings, "following")
            self.assertIn(root, [str(one.id) for one in read.includes["tweets"]])
            self.assertEqual({str(user.id) for user in read.includes["users"]}, {self.who.id, self.other.id})
        self.assertEqual(ids(self.app.get_quote_tweets(root, **EVERYTHING)), [quote])

    def test_quotes_over_several_pages(self):
        root = self.says(self.ada, "Quoted often")
        quotes = [self.says(self.bob, f"Quote {number}", quote_tweet_id=root) for number in range(23)]
        self.assertEqual(self.walk(self.app.get_quote_tweets, root, size=10), quotes[::-1])
        self.assertEqual(self.metrics(root)["quote_count"], 23)

    def edit(self, client, post, text):
        """The client has no method for this."""
        body = {"text": text, "edit_options": {"previous_post_id": post}}
        return client._make_request("POST", "/2/tweets", json=body, user_auth=True).data["id"]

    def test_a_post_is_edited(self):
        writer = tour_world.person(self.server, "tour_writer", "--subscription-type", "Premium")
        client = self.signed(writer)
        first = self.says(client, "With a mistaek")
        second = self.edit(client, first, "Without a mistake")
        read = self.app.get_tweet(second, **EVERYTHING).data
        self.assertEqual(read.text, "Without a mistake")
        self.assertEqual([str(one) for one in read.edit_history_tweet_ids], [first, second])
        self.assertEqual(self.app.get_tweet(first).data.text, "With a mistaek")
        own = self.says(self.ada, "Without a subscription")
        self.refused(tweepy.Forbidden, "Editing posts needs a premium subscription.", self.edit, self.ada, own, "No")

    def test_replies_are_limited_and_hidden(self):
        root = self.says(self.ada, "Only the mentioned may reply", reply_settings="mentionedUsers")
        self.refused(tweepy.Forbidden, "", self.says, self.bob, "May I?", in_reply_to_tweet_id=root)
        root = self.says(self.ada, "All may reply")
        reply = self.says(self.bob, "A rude reply", in_reply_to_tweet_id=root)
        self.assertEqual(self.ada.hide_reply(reply).data, {"hidden": True})
        self.assertEqual(self.ada2.unhide_reply(reply, user_auth=False).data, {"hidden": False})
        self.refused(tweepy.Forbidden, "", self.bob.hide_reply, reply)

    def test_refusals(self):
        self.says(self.ada, "Said twice")
        self.refused(tweepy.Forbidden, "You are not allowed to create a Tweet with duplicate content.",
                     self.says, self.ada, "Said twice")
        self.refused(tweepy.BadRequest, "", self.says, self.ada, "One option", poll_options=["a"], poll_duration_minutes=5)
        self.refused(tweepy.BadRequest, "The `id` query parameter value [abc] is not valid", self.app.get_tweet, "abc")
        self.refused(tweepy.Forbidden, "OAuth 2.0 Application-Only", self.says, self.app, "Nobody", user_auth=False)
        self.refused(tweepy.Unauthorized, "", tweepy.Client(bearer_token="wrong").get_tweet, "1")
        post = self.says(self.ada, "Ada's")
        self.refused(tweepy.Forbidden, "", self.bob.delete_tweet, post)
        self.assertEqual(self.ada2.delete_tweet(post, user_auth=False).data, {"deleted": True})
        self.assertEqual(self.app.get_tweet(post).errors[0]["title"], "Not Found Error")


class Media(Suite):
    def shown(self, *media):
        made = self.says(self.ada, f"With {len(media)} at {time.monotonic()}", media_ids=[one.media_id for one in media])
        read = self.app.get_tweet(made, **EVERYTHING)
        self.assertEqual(len(read.data.attachments["media_keys"]), len(media))
        return read.includes["media"]

    def test_photos_in_one_step_with_a_description(self):
        api = self.api()
        media = [api.media_upload("a.png", file=io.BytesIO(tour_world.png(40, size))) for size in (30, 31)]
        self.assertEqual(media[0].media_id_string, str(media[0].media_id))
        self.assertEqual(media[0].image["w"], 40)
        api.create_media_metadata(media[0].media_id, "Noise, <plain>")
        first, second = self.shown(*media)
        self.assertEqual((first.type, first.width, first.height), ("photo", 40, 30))
        self.assertEqual(first.alt_text, "Noise, <plain>")
        self.assertEqual((second.alt_text, second.height), (None, 31))
        answer = requests.get(first.url)
        self.assertEqual((answer.status_code, answer.headers["content-type"]), (200, "image/png"))

    def test_in_segments(self):
        api, file = self.api(), tour_world.png(900, 700)
        self.assertGreater(len(file), 1_500_000)
        media = api.media_upload("b.png", file=io.BytesIO(file), chunked=True, media_category="tweet_image")
        self.assertEqual(self.shown(media)[0].width, 900)

    def test_a_moving_picture_is_processed(self):
        api = self.api()
        media = api.chunked_upload("c.gif", file=io.BytesIO(tour_world.gif()), file_type="image/gif",
                                   media_category="tweet_gif", wait_for_async_finalize=True)
        if media.processing_info:
            self.assertEqual(media.processing_info["state"], "succeeded")
            told = api.get_media_upload_status(media.media_id).processing_info
            self.assertEqual(told["state"], "succeeded")
        shown = self.shown(media)[0]
        self.assertEqual(shown.type, "animated_gif")
        self.assertTrue(shown.preview_image_url)

    def test_refusals(self):
        with self.assertRaises(tweepy.HTTPException) as caught:
            self.api().media_upload("d.png", file=io.BytesIO(b"no picture"))
        self.assertEqual(caught.exception.response.status_code, 400)
        self.refused(tweepy.BadRequest, "", self.says, self.ada, "Nothing there", media_ids=[1])


class Timelines(Suite):
    def test_of_a_user_with_all_there_is(self):
        wanted = [self.says(self.bob, f"Timeline {number}") for number in range(17)]
        self.says(self.bob, "A reply to oneself", in_reply_to_tweet_id=wanted[0])
        found = self.walk(self.app.get_users_tweets, self.other.id, size=5, exclude=["replies"], **EVERYTHING)
        self.assertEqual([one for one in found if one in wanted], wanted[::-1])
        bounded = self.app.get_users_tweets(self.other.id, since_id=wanted[3], until_id=wanted[9], max_results=100)
        self.assertEqual(ids(bounded), wanted[8:3:-1])

    def test_mentions_and_home(self):
        self.ada.follow_user(self.other.id)
        wanted = [self.says(self.bob, f"@{self.who.username} mention {number}") for number in range(13)]
        for client, more in ((self.app, {}), (self.ada, {"user_auth": True})):
            found = self.walk(client.get_users_mentions, self.who.id, size=5, **EVERYTHING, **more)
            self.assertEqual([one for one in found if one in wanted], wanted[::-1])
        for client, more in ((self.ada, {}), (self.ada2, {"user_auth": False})):
            found = self.walk(client.get_home_timeline, size=5, **EVERYTHING, **more)
            self.assertEqual([one for one in found if one in wanted], wanted[::-1])
        # After this error the client returns dictionaries only, so this is its last request.
        app = tweepy.Client(bearer_token=self.server.env["BEARER_TOKEN"])
        self.refused(tweepy.Forbidden, "OAuth 2.0 Application-Only", app.get_home_timeline, user_auth=False)


class Engagement(Suite):
    def test_likes(self):
        post = self.says(self.ada, "Liked by many")
        for person in self.people[1:]:
            self.assertEqual(self.signed(person).like(post).data, {"liked": True})
        self.assertEqual(self.metrics(post)["like_count"], 7)
        found = self.walk(self.ada.get_liking_users, post, size=2, user_auth=True, **PEOPLE)
        self.assertEqual(set(found), {person.id for person in self.people[1:]})
        self.assertIn(post, ids(self.bob.get_liked_tweets(self.other.id, user_auth=True, **EVERYTHING)))
        self.assertEqual(self.bob.unlike(post).data, {"liked": False})
        self.assertEqual(self.metrics(post)["like_count"], 6)
        self.assertNotIn(post, ids(self.bob.get_liked_tweets(self.other.id, user_auth=True)))
        posts = [self.says(self.bob, f"To like {number}") for number in range(13)]
        for one in posts:
            self.assertTrue(self.ada2.like(one, user_auth=False).data["liked"])
        found = self.walk(self.ada2.get_liked_tweets, self.who.id, size=5, **EVERYTHING)
        self.assertEqual(found[:13], posts[::-1])
        self.refused(tweepy.NotFound, "", self.ada.like, 1)

    def test_reposts(self):
        post = self.says(self.ada, "Reposted by many")
        for person in self.people[1:]:
            self.assertTrue(self.signed(person).retweet(post).data["retweeted"])
        self.assertEqual(self.metrics(post)["retweet_count"], 7)
        found = self.walk(self.app.get_retweeters, post, size=2)
        self.assertEqual(set(found), {person.id for person in self.people[1:]})
        newest = self.app.get_users_tweets(self.other.id, **EVERYTHING).data[0]
        self.assertEqual((newest.referenced_tweets[0].type, str(newest.referenced_tweets[0].id)), ("retweeted", post))
        self.assertTrue(newest.text.startswith(f"RT @{self.who.username}: Reposted"))
        self.assertEqual(self.bob.unretweet(post).data, {"retweeted": False})
        self.assertEqual(self.metrics(post)["retweet_count"], 6)

    def test_bookmarks(self):
        posts = [self.says(self.bob, f"To keep {number}") for number in range(12)]
        for one in posts:
            self.assertEqual(self.ada2.bookmark(one).data, {"bookmarked": True})
        self.assertEqual(self.walk(self.ada2.get_bookmarks, size=5, **EVERYTHING), posts[::-1])
        self.assertEqual(self.metrics(posts[0])["bookmark_count"], 1)
        self.assertEqual(self.ada2.remove_bookmark(posts[5]).data, {"bookmarked": False})
        self.assertNotIn(posts[5], ids(self.ada2.get_bookmarks(**EVERYTHING)))
        self.refused(tweepy.Forbidden, "", self.app._make_request, "GET", f"/2/users/{self.who.id}/bookmarks")


class People(Suite):
    def test_lookups_with_all_there_is(self):
        post = self.says(self.ada, "The latest of Ada")
        for client, more in ((self.app, {}), (self.ada, {"user_auth": True}), (self.ada2, {})):
            read = client.get_users(ids=[self.who.id, self.other.id, "1"], **PEOPLE, **more)
            self.assertEqual(ids(read), [self.who.id, self.other.id])
            self.assertEqual(read.errors[0]["detail"], "Could not find user with ids: [1].")
            self.assertIn(post, [str(one.id) for one in read.includes["tweets"]])
            self.assertIsInstance(read.data[0].created_at, datetime.datetime)
            self.assertEqual(read.data[0].public_metrics["tweet_count"], 1)
            name = client.get_users(usernames=[self.other.username], **PEOPLE, **more).data[0]
            self.assertEqual(str(name.id), self.other.id)
            self.assertEqual(str(client.get_user(username=self.who.username, **PEOPLE, **more).data.id), self.who.id)
        self.assertEqual(str(self.ada.get_me(**PEOPLE).data.id), self.who.id)
        self.assertEqual(str(self.ada2.get_me(user_auth=False, **PEOPLE).data.id), self.who.id)
        self.refused(tweepy.Forbidden, "OAuth 2.0 Application-Only", self.app.get_me, user_auth=False)

    def test_follows(self):
        target = self.people[7]
        for person in self.people[:7]:
            answer = self.signed(person).follow_user(target.id)
            self.assertEqual(answer.data, {"following": True, "pending_follow": False})
        self.assertEqual(self.numbers(target)["followers_count"], 7)
        found = self.walk(self.app.get_users_followers, target.id, size=2, **PEOPLE)
        self.assertEqual(found, [person.id for person in self.people[6::-1]])
        self.assertIn(target.id, ids(self.app.get_users_following(self.who.id, **PEOPLE)))
        self.assertEqual(self.ada2.unfollow_user(target.id, user_auth=False).data, {"following": False})
        self.assertEqual(self.numbers(target)["followers_count"], 6)
        self.assertNotIn(target.id, ids(self.app.get_users_following(self.who.id)))
        locked = tour_world.person(self.server, "tour_locked", "--protected")
        self.assertEqual(self.ada.follow_user(locked.id).data, {"following": False, "pending_follow": True})
        self.server.cli("follow", "approve", locked.username, self.who.username)
        self.assertIn(locked.id, ids(self.app.get_users_following(self.who.id)))
        self.refused(tweepy.Forbidden, "You cannot follow yourself.", self.ada.follow_user, self.who.id)

    def test_mutes_and_blocks(self):
        for person in self.people[1:7]:
            self.assertEqual(self.ada.mute(person.id).data, {"muting": True})
        found = self.walk(self.ada.get_muted, size=2, **PEOPLE)
        self.assertEqual(set(found), {person.id for person in self.people[1:7]})
        self.assertEqual(self.ada2.unmute(self.other.id, user_auth=False).data, {"muting": False})
        self.assertNotIn(self.other.id, ids(self.ada2.get_muted(user_auth=False)))
        # The client can only list blocks.
        route = f"/2/users/{self.who.id}/blocking"
        for person in self.people[2:7]:
            body = {"target_user_id": person.id}
            self.ada._make_request("POST", route, json=body, user_auth=True)
        found = self.walk(self.ada.get_blocked, size=2, **PEOPLE)
        self.assertEqual(set(found), {person.id for person in self.people[2:7]})
        blocked = self.signed(self.people[2])
        self.refused(tweepy.Forbidden, "", blocked.follow_user, self.who.id)
        for person in self.people[2:7]:
            self.ada._make_request("DELETE", f"{route}/{person.id}", user_auth=True)
        self.assertEqual(ids(self.ada.get_blocked()), [])


class Lists(Suite):
    def test_made_changed_and_deleted(self):
        made = self.ada.create_list("Gardeners", description="They dig", private=False).data
        self.assertEqual(made["name"], "Gardeners")
        read = self.app.get_list(made["id"], **LISTS)
        self.assertEqual((read.data.name, read.data.description, read.data.private), ("Gardeners", "They dig", False))
        self.assertEqual(str(read.includes["users"][0].id), self.who.id)
        self.assertIsInstance(read.data.created_at, datetime.datetime)
        self.assertEqual(self.ada2.update_list(made["id"], name="Diggers", user_auth=False).data, {"updated": True})
        self.assertEqual(self.app.get_list(made["id"]).data.name, "Diggers")
        self.refused(tweepy.Forbidden, "", self.bob.update_list, made["id"], name="Bob's")
        self.assertEqual(self.ada.delete_list(made["id"]).data, {"deleted": True})
        self.assertEqual(self.app.get_list(made["id"]).errors[0]["title"], "Not Found Error")
        self.refused(tweepy.BadRequest, "", self.ada.create_list, "x" * 26)

    def test_members_posts_followers_and_pins(self):
        made = self.ada.create_list("A tour").data["id"]
        for person in self.people[1:]:
            self.assertEqual(self.ada.add_list_member(made, person.id).data, {"is_member": True})
        found = self.walk(self.app.get_list_members, made, size=2, **PEOPLE)
        self.assertEqual(set(found), {person.id for person in self.people[1:]})
        self.assertIn(made, ids(self.app.get_list_memberships(self.other.id, **LISTS)))
        posts = [self.says(self.bob, f"For the list {number}") for number in range(12)]
        self.assertEqual(self.walk(self.app.get_list_tweets, made, size=5, **EVERYTHING), posts[::-1])
        self.assertEqual(self.ada.remove_list_member(made, self.other.id).data, {"is_member": False})
        self.assertEqual(self.app.get_list(made, **LISTS).data.member_count, 6)
        self.assertEqual(ids(self.app.get_list_tweets(made)), [])
        for person in self.people[1:]:
            self.assertEqual(self.signed(person).follow_list(made).data, {"following": True})
        self.assertEqual(len(self.walk(self.app.get_list_followers, made, size=2, **PEOPLE)), 7)
        self.assertEqual(ids(self.app.get_followed_lists(self.other.id, **LISTS)), [made])
        self.assertEqual(self.bob.unfollow_list(made).data, {"following": False})
        self.assertEqual(self.app.get_list(made, **LISTS).data.follower_count, 6)
        self.assertEqual(self.ada.pin_list(made).data, {"pinned": True})
        self.assertEqual(ids(self.ada.get_pinned_lists(**LISTS)), [made])
        self.assertEqual(self.ada.unpin_list(made).data, {"pinned": False})
        self.assertEqual(ids(self.ada.get_pinned_lists()), [])

    def test_owned_over_several_pages(self):
        made = [self.bob.create_list(f"List {number}", private=number == 0).data["id"] for number in range(5)]
        self.assertEqual(set(self.walk(self.app.get_owned_lists, self.other.id, size=2, least=2)), set(made[1:]))
        self.assertEqual(set(self.walk(self.bob.get_owned_lists, self.other.id, size=2, user_auth=True)), set(made))


class Spaces(Suite):
    def test_from_its_plan_to_its_end(self):
        run = self.server.cli
        made = run("space", "create", self.who.username, "--title", "Talking about tours", "--start", "2h",
                   "--lang", "en", "--invite", self.other.username, "--topic", "Travel", "--ticketed")["id"]
        read = self.app.get_space(made, **SPACES)
        space = read.data
        self.assertEqual((space.state, space.title, space.lang), ("scheduled", "Talking about tours", "en"))
        self.assertEqual((str(space.creator_id), space.is_ticketed), (self.who.id, True))
        self.assertIsInstance(space.scheduled_start, datetime.datetime)
        self.assertEqual([str(one) for one in space.invited_user_ids], [self.other.id])
        self.assertEqual({str(user.id) for user in read.includes["users"]}, {self.who.id, self.other.id})
        self.assertEqual(read.includes["topics"][0]["name"], "Travel")
        self.assertEqual(ids(self.app.search_spaces("tours", state="scheduled", **SPACES)), [made])
        run("space", "buy", made, self.other.username)
        self.assertEqual(ids(self.ada2.get_space_buyers(made, user_fields=["created_at"])), [self.other.id])
        run("space", "open", made)
        run("space", "speak", made, self.other.username)
        space = self.app.get_spaces(ids=[made, "1zzzzzzzzzzzz"], **SPACES)
        self.assertEqual((space.data[0].state, len(space.errors)), ("live", 1))
        self.assertIn(self.other.id, [str(one) for one in space.data[0].speaker_ids])
        self.assertEqual(ids(self.app.get_spaces(user_ids=[self.who.id], **SPACES)), [made])
        post = self.says(self.bob, "Shared in a space")
        run("space", "share", made, self.other.username, post)
        self.assertEqual(ids(self.app.get_space_tweets(made, **EVERYTHING)), [post])
        run("space", "close", made)
        self.assertEqual(ids(self.app.search_spaces("tours", state="live")), [])


class Communities(Suite):
    def test_a_post_to_one(self):
        made = self.server.cli("community", "create", "Tourists", "--owner", self.who.username)["id"]
        post = self.says(self.ada, "To the community", community_id=made)
        self.assertEqual(self.app.get_tweet(post, tweet_fields=["community_id"]).data["community_id"], made)
        self.refused(tweepy.Forbidden, "not allowed", self.says, self.bob, "From outside", community_id=made)
        found = self.ada.request("GET", "/2/communities/search", params={"query": "Tourists"}, user_auth=True).json()
        self.assertEqual([one["id"] for one in found["data"]], [made])


class Messages(Suite):
    def test_two_write_to_each_other(self):
        said = []
        for number in range(3):
            made = self.ada.create_direct_message(participant_id=self.other.id, text=f"Ping {number}").data
            name = made["dm_conversation_id"]
            answer = self.bob.create_direct_message(dm_conversation_id=name, text=f"Pong {number}").data
            self.assertEqual(answer["dm_conversation_id"], name)
            said += [made["dm_event_id"], answer["dm_event_id"]]
        self.assertEqual(name, "-".join(sorted((self.who.id, self.other.id), key=int)))
        two = ((self.ada, self.other, {}), (self.bob, self.who, {}), (self.ada2, self.other, {"user_auth": False}))
        for client, other, more in two:
            for where in ({}, {"participant_id": other.id}, {"dm_conversation_id": name}):
                found = self.walk(client.get_direct_message_events, size=2, **MESSAGES, **where, **more)
                self.assertEqual(found, said[::-1])
        read = self.bob.get_direct_message_events(**MESSAGES)
        newest = read.data[0]
        self.assertEqual((newest.event_type, newest.text), ("MessageCreate", "Pong 2"))
        self.assertEqual((str(newest.sender_id), newest.dm_conversation_id), (self.other.id, name))
        self.assertIsInstance(newest.created_at, datetime.datetime)
        self.assertEqual({str(user.id) for user in read.includes["users"]}, {self.who.id, self.other.id})
        # The client cannot remove one.
        gone = self.ask(self.ada, "DELETE", f"/2/dm_events/{said[0]}")
        self.assertEqual(gone, {"data": {"deleted": True}})
        self.assertEqual(ids(self.ada.get_direct_message_events()), said[:0:-1])
        self.assertEqual(ids(self.bob.get_direct_message_events()), said[::-1])
        stranger = self.signed(self.people[7])
        self.refused(tweepy.NotFound, "", self.ask, stranger, "POST", f"/2/dm_conversations/{name}/messages",
                     json={"text": "May I?"})
        self.assertEqual(ids(stranger.get_direct_message_events()), [])

    def test_a_group(self):
        first, second, third = (self.signed(person) for person in self.people[2:5])
        others = [person.id for person in self.people[3:5]]
        made = first.create_direct_message_conversation(participant_ids=others, text="Hello all").data
        where = {"dm_conversation_id": made["dm_conversation_id"]}
        answer = second.create_direct_message(text="Hello", **where).data["dm_event_id"]
        for client in (first, second, third):
            read = client.get_direct_message_events(**where, **MESSAGES)
            self.assertEqual(ids(read)[:2], [answer, made["dm_event_id"]])
            joined = read.data[2]
            self.assertEqual((joined.event_type, joined.text), ("ParticipantsJoin", None))
            self.assertEqual({str(one) for one in joined.participant_ids}, {person.id for person in self.people[2:5]})
            only = client.get_direct_message_events(event_types="ParticipantsJoin", **where)
            self.assertEqual(ids(only), [str(joined.id)])

    def test_a_media_is_for_its_readers(self):
        writer, reader, stranger = self.people[5:8]
        file = tour_world.png(40, 30)
        media = self.api(writer).media_upload("a.png", file=io.BytesIO(file), media_category="dm_image")
        sent = self.signed(writer).create_direct_message(participant_id=reader.id, media_id=media.media_id)
        read = self.signed(reader).get_direct_message_events(participant_id=writer.id, **MESSAGES)
        self.assertEqual(ids(read), [sent.data["dm_event_id"]])
        shown = read.includes["media"][0]
        self.assertEqual((shown.type, shown.width), ("photo", 40))
        self.assertEqual(read.data[0].attachments["media_keys"], [shown.media_key])
        route = shown.url.removeprefix(self.server.url)
        self.assertEqual(tweepy.Client(bearer_token=reader.user_token).request("GET", route).content, file)
        other = tweepy.Client(bearer_token=stranger.user_token)
        self.refused(tweepy.NotFound, "", other.request, "GET", route)


class Notes(Suite):
    """The client has no methods for these, so they are signed requests."""

    def draft(self, post):
        info = {"text": "The photo was taken in 2019. https://example.com/archive", "trustworthy_sources": True,
                "classification": "misinformed_or_potentially_misleading", "misleading_tags": ["outdated_information"]}
        return {"post_id": post, "test_mode": True, "info": info}

    def listed(self, route, **more):
        params = {"test_mode": "true", "max_results": 100, **more}
        return self.ask(self.ada, "GET", f"/2/notes/search/{route}", params)

    def test_written_listed_and_deleted(self):
        told = "The weather in the city was very warm and dry this whole summer"
        posts = [self.says(self.bob, f"{told}, {number}") for number in range(3)]
        self.refused(tweepy.Forbidden, "must be an API Note Writer", self.ask, self.ada, "POST", "/2/notes",
                     json=self.draft(posts[0]))
        self.server.cli("user", "note-writer", "on", self.who.username)
        eligible = [one["id"] for one in self.listed("posts_eligible_for_notes")["data"]]
        self.assertLessEqual(set(posts), set(eligible))
        score = {"post_id": posts[0], "note_text": self.draft(posts[0])["info"]["text"]}
        scored = self.ask(self.ada, "POST", "/2/notes/evaluate", json=score)["data"]["claim_opinion_score"]
        self.assertGreater(scored, 0.7)
        notes = [self.ask(self.ada, "POST", "/2/notes", json=self.draft(post))["data"]["id"] for post in posts]
        left = self.listed("posts_eligible_for_notes").get("data", [])
        self.assertTrue(set(posts).isdisjoint(one["id"] for one in left))
        found, more = [], {}
        for _ in notes:
            page = self.listed("notes_written", max_results=1, **{"note.fields": "id,info,status", **more})
            found += [(one["id"], one["info"]["post_id"], one["status"]) for one in page["data"]]
            more = {"pagination_token": page["meta"].get("next_token")}
        self.assertEqual(found, [(note, post, "needs_your_help") for note, post in zip(notes[::-1], posts[::-1])])
        self.assertIsNone(more["pagination_token"])
        self.assertEqual(self.ask(self.ada, "DELETE", f"/2/notes/{notes[0]}")["data"], {"deleted": True})
        self.assertEqual([one["id"] for one in self.listed("notes_written")["data"]], notes[:0:-1])


class Told(Suite):
    """News, trends and metrics, also as signed requests."""

    def test_a_story(self):
        post = self.says(self.bob, "The tour has begun")
        story = self.server.cli("news", "create", "Tourists arrive", "--summary", "All of them", "--post", post, "--draft")
        params = {"query": "tourists", "news.fields": "id,name,summary,category,cluster_posts_results,updated_at"}

        def found():
            return self.ask(self.app, "GET", "/2/news/search", params, user_auth=False).get("data", [])

        self.assertEqual(found(), [])
        self.server.cli("news", "publish", story["id"])
        self.assertEqual([(one["id"], one["cluster_posts_results"]) for one in found()], [(story["id"], [{"post_id": post}])])
        read = self.ask(self.ada, "GET", f"/2/news/{story['id']}", {"news.fields": "name,summary"})["data"]
        self.assertEqual((read["name"], read["summary"]), ("Tourists arrive", "All of them"))
        self.server.cli("news", "delete", story["id"])
        self.assertEqual(found(), [])

    def test_what_trends(self):
        self.ada.follow_user(self.other.id)
        for person in self.people[1:5]:
            self.says(self.signed(person), "Everybody says so #TourTrend")
        self.server.cli("news", "refresh")
        world = self.ask(self.app, "GET", "/2/trends/by/woeid/1", {"max_trends": 50}, user_auth=False)["data"]
        self.assertIn({"trend_name": "#TourTrend", "tweet_count": 4}, world)
        own = self.ask(self.ada, "GET", "/2/users/personalized_trends")["data"]
        self.assertIn(("#TourTrend", "4 posts"), [(one["trend_name"], one["post_count"]) for one in own])
        self.refused(tweepy.NotFound, "Could not find trends for WOEID: 44418", self.ask, self.app, "GET",
                     "/2/trends/by/woeid/44418", user_auth=False)

    def test_usage(self):
        def used():
            told = self.ask(self.app, "GET", "/2/usage/tweets", {"days": 3}, user_auth=False)["data"]
            self.assertEqual(len(told["daily_project_usage"]["usage"]), 3)
            return int(told["project_usage"])

        post = self.says(self.ada, "Read and counted")
        before = used()
        for client, more in ((self.app, {}), (self.app, {}), (self.ada, {"user_auth": True})):
            self.assertEqual(str(client.get_tweet(post, **more).data.id), post)
        self.assertEqual(used(), before + 1)
        self.refused(tweepy.Forbidden, "", self.ask, self.ada, "GET", "/2/usage/tweets")

    def test_affiliates(self):
        wanted = [person.id for person in self.people[1:5]]
        for one in wanted:
            self.server.cli("user", "affiliate", one, self.who.username, "--description", "A tour")
        route = f"/2/users/{self.who.id}/affiliates"
        first = self.ask(self.app, "GET", route, {"max_results": 2}, user_auth=False)
        next_token = first["meta"]["next_token"]
        second = self.ask(self.app, "GET", route, {"max_results": 2, "pagination_token": next_token}, user_auth=False)
        self.assertEqual([one["id"] for one in first["data"] + second["data"]], wanted[::-1])
        shown = self.app.get_user(id=wanted[0], user_fields=["affiliation"]).data["affiliation"]
        self.assertEqual((shown["user_id"], shown["description"]), ([self.who.id], "A tour"))
        self.server.cli("user", "unaffiliate", wanted[0])
        left = self.ask(self.app, "GET", route, user_auth=False)["data"]
        self.assertEqual([one["id"] for one in left], wanted[:0:-1])

    def test_analytics_of_own_posts(self):
        post, foreign = self.says(self.ada, "Measured"), self.says(self.bob, "Not Ada's")
        self.bob.like(post)
        self.bob.retweet(post)
        self.says(self.bob, "A reply", in_reply_to_tweet_id=post)
        params = {"ids": f"{post},{foreign}", **tour_world.window(), "granularity": "daily"}
        read = self.ask(self.ada, "GET", "/2/tweets/analytics", params)
        figures = read["data"][0]
        self.assertEqual([one["id"] for one in read["data"]], [post])
        self.assertEqual([figures[name] for name in ("likes", "retweets", "replies", "quote_tweets")], [1, 1, 1, 0])
        self.assertEqual(sum(one["metrics"]["likes"] for one in figures["timestamped_metrics"]), 1)
        self.assertEqual([one["title"] for one in read["errors"]], ["Authorization Error"])
        self.refused(tweepy.Forbidden, "", self.ask, self.app, "GET", "/2/tweets/analytics", params, user_auth=False)


if __name__ == "__main__":
    locum_server.main()
