"""All groups of operations with the official Python library, whose models parse every response."""

import base64
import inspect
import re
import unittest

import requests
from xdk import Client
from xdk.community_notes import models as notes
from xdk.direct_messages import models as messages
from xdk.lists import models as lists
from xdk.media import models as media
from xdk.oauth1_auth import OAuth1
from xdk.posts import models as posts
from xdk.users import models as users

import locum_server
import tour_world

# Only an author may request these, and not for every post.
PRIVATE = {"non_public_metrics", "organic_metrics", "promoted_metrics", "confirmed_email"}


def everything(method):
    """All fields and expansions that a method supports."""
    found = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if name == "expansions" or name.endswith("_fields"):
            words = re.findall(r"['\"]([\w.]+)['\"]", str(parameter.annotation))
            found[name] = [word for word in words if word not in PRIVATE]
    return found


def ids(answer):
    return [one.id for one in answer.data or []]


class Suite(unittest.TestCase):
    """Ada has OAuth 2.0, `ada1` is Ada with OAuth 1.0a, `app` the app alone."""

    @classmethod
    def setUpClass(cls):
        cls.server = server = locum_server.Server()
        cls.addClassCleanup(server.close)
        cls.people = [tour_world.person(server, f"tour_{number}") for number in range(5)]
        cls.who, cls.other = cls.people[:2]
        cls.app = Client(base_url=server.url, bearer_token=server.env["BEARER_TOKEN"])
        cls.all = [cls.client(person) for person in cls.people]
        cls.ada, cls.bob = cls.all[:2]
        env = server.env
        auth = OAuth1(env["API_KEY"], env["API_SECRET"], "http://localhost/", cls.who.access_token, cls.who.access_token_secret)
        cls.ada1 = Client(base_url=server.url, auth=auth)

    @classmethod
    def client(cls, person):
        return Client(base_url=cls.server.url, access_token=person.user_token)

    def says(self, client, text, **more):
        return client.posts.create(posts.CreateRequest.model_validate({"text": text, **more})).data.id

    def metrics(self, post):
        return self.app.posts.get_by_id(post, post_fields=["public_metrics"]).data.public_metrics

    def numbers(self, person):
        return self.app.users.get_by_id(person.id, user_fields=["public_metrics"]).data.public_metrics

    def walk(self, method, *who, size, least=2, **more):
        """The ids on all pages with all fields, without duplicates; checks the minimum number of pages."""
        pages = list(method(*who, max_results=size, **everything(method), **more))
        found = [one for page in pages for one in ids(page)]
        self.assertGreaterEqual(len(pages), least)
        self.assertEqual(len(found), len(set(found)))
        return found

    def first(self, method, *who, **more):
        return ids(next(method(*who, **everything(method), **more)))

    def refused(self, status, text, ask, *who, **more):
        with self.assertRaises(requests.HTTPError) as caught:
            ask(*who, **more)
        self.assertEqual(caught.exception.response.status_code, status)
        self.assertIn(text, caught.exception.response.text)


class Posts(Suite):
    def test_every_expansion_and_field_at_once(self):
        root = self.says(self.ada, f"Hello @{self.other.username} #tour $TOUR https://example.com/a",
                         poll={"options": ["yes", "no"], "duration_minutes": 60})
        reply = self.says(self.bob, "A reply", reply={"in_reply_to_tweet_id": root})
        quote = self.says(self.bob, "A quote", quote_tweet_id=root, reply_settings="following")
        self.server.cli("poll", "vote", root, "2", "--as", self.other.username)
        for client in (self.app, self.ada, self.ada1):
            read = client.posts.get_by_ids([root, reply, quote, "1"], **everything(client.posts.get_by_ids))
            first, second, third = read.data
            self.assertEqual([post.id for post in read.data], [root, reply, quote])
            self.assertEqual([error.type.rsplit("/")[-1] for error in read.errors], ["resource-not-found"])
            self.assertEqual(first.entities.mentions[0].id, self.other.id)
            self.assertEqual(first.edit_history_post_ids, [root])
            self.assertEqual((first.public_metrics.reply_count, first.public_metrics.quote_count), (1, 1))
            self.assertEqual(first.public_metrics.repost_count, 0)
            poll = read.includes.polls[0]
            self.assertEqual([(option.label, option.votes) for option in poll.options], [("yes", 0), ("no", 1)])
            self.assertEqual([(one.type, one.id) for one in second.referenced_posts], [("replied_to", root)])
            self.assertEqual([(one.type, one.id) for one in third.referenced_posts], [("quoted", root)])
            self.assertEqual(second.in_reply_to_user_id, self.who.id)
            self.assertEqual(third.reply_settings, "following")
            self.assertIn(root, [post.id for post in read.includes.posts])
            self.assertEqual({user.id for user in read.includes.users}, {self.who.id, self.other.id})
        private = self.ada.posts.get_by_id(root, post_fields=["non_public_metrics", "organic_metrics"])
        self.assertIsNotNone(private.data.non_public_metrics)
        self.assertEqual(self.first(self.app.posts.get_quoted, root), [quote])

    def test_edits(self):
        writer = tour_world.person(self.server, "tour_writer", "--subscription-type", "Premium")
        client = self.client(writer)
        first = self.says(client, "With a mistaek")
        second = self.says(client, "Without a mistake", edit_options={"previous_post_id": first})
        read = self.app.posts.get_by_id(second, **everything(self.app.posts.get_by_id))
        self.assertEqual((read.data.text, read.data.edit_history_post_ids), ("Without a mistake", [first, second]))
        self.assertIn(first, [post.id for post in read.includes.posts])
        own = self.says(self.ada, "Without a subscription")
        self.refused(403, "Editing posts needs a premium subscription.", self.says, self.ada, "No",
                     edit_options={"previous_post_id": own})

    def test_replies_are_hidden(self):
        root = self.says(self.ada, "All may reply")
        reply = self.says(self.bob, "A rude reply", reply={"in_reply_to_tweet_id": root})
        for client, hidden in ((self.ada, True), (self.ada1, False)):
            self.assertEqual(client.posts.hide_reply(reply, posts.HideReplyRequest(hidden=hidden)).data.hidden, hidden)
        self.refused(403, "", self.bob.posts.hide_reply, reply, posts.HideReplyRequest(hidden=True))

    def test_refusals(self):
        post = self.says(self.ada1, "Said twice")
        self.refused(403, "You are not allowed to create a Tweet with duplicate content.", self.says, self.ada, "Said twice")
        self.refused(400, "", self.app.posts.get_by_id, "abc")
        self.refused(401, "Unauthorized", Client(base_url=self.server.url, bearer_token="wrong").posts.get_by_id, post)
        # The library rejects app-only writes itself.
        with self.assertRaises(ValueError):
            self.says(self.app, "Nobody says so")
        self.refused(403, "", self.bob.posts.delete, post)
        self.assertTrue(self.ada1.posts.delete(post).data.deleted)
        gone = self.app.posts.get_by_id(post)
        self.assertIsNone(gone.data)
        self.assertEqual(gone.errors[0].resource_type, "tweet" if "tweet" in gone.errors[0].detail else "post")


class Media(Suite):
    def shown(self, made):
        self.assertTrue(made.media_key.endswith(f"_{made.id}"))
        post = self.says(self.ada, f"With {made.id}", media={"media_ids": [made.id]})
        read = self.app.posts.get_by_id(post, **everything(self.app.posts.get_by_id))
        self.assertEqual(read.data.attachments.media_keys, [made.media_key])
        return read.includes.media[0]

    def test_in_one_step_with_a_description(self):
        file = base64.b64encode(tour_world.png(40, 30)).decode()
        for client in (self.ada, self.ada1):
            made = client.media.upload(media.UploadRequest(media=file, media_category="tweet_image")).data
            about = {"id": made.id, "metadata": {"alt_text": {"text": "Noise, <plain>"}}}
            client.media.create_metadata(media.CreateMetadataRequest.model_validate(about))
            shown = self.shown(made)
            self.assertEqual((shown.type, shown.width, shown.height, shown.alt_text), ("photo", 40, 30, "Noise, <plain>"))
            self.assertEqual(requests.get(shown.url).headers["content-type"], "image/png")

    def test_in_segments(self):
        file = tour_world.gif()
        begin = {"media_type": "image/gif", "media_category": "tweet_gif", "total_bytes": len(file)}
        begun = self.ada.media.initialize_upload(media.InitializeUploadRequest.model_validate(begin)).data
        for index, part in enumerate((file[:20], file[20:])):
            segment = media.AppendUploadRequest(media=base64.b64encode(part).decode(), segment_index=index)
            self.ada.media.append_upload(begun.id, segment)
        made = self.ada.media.finalize_upload(begun.id).data
        while made.processing_info and made.processing_info.state in ("pending", "in_progress"):
            made = self.ada.media.get_upload_status(begun.id).data
        self.assertEqual(self.shown(made).type, "animated_gif")

    def test_refusals(self):
        text = base64.b64encode(b"no picture").decode()
        request = media.UploadRequest(media=text, media_category="tweet_image")
        self.refused(400, "", self.ada.media.upload, request)


class Timelines(Suite):
    def test_posts_mentions_and_home(self):
        self.ada.users.follow_user(self.who.id, users.FollowUserRequest(target_user_id=self.other.id))
        wanted = [self.says(self.bob, f"@{self.who.username} {number}") for number in range(13)][::-1]
        for client in (self.app, self.ada, self.ada1):
            self.assertEqual(self.walk(client.users.get_posts, self.other.id, size=5, least=3), wanted)
            self.assertEqual(self.walk(client.users.get_mentions, self.who.id, size=5, least=3), wanted)
        for client in (self.ada, self.ada1):
            self.assertEqual(self.walk(client.users.get_timeline, self.who.id, size=5, least=3), wanted)


class Engagement(Suite):
    def test_likes_and_reposts(self):
        post = self.says(self.ada, "Liked and reposted")
        for person, client in zip(self.people[1:], self.all[1:]):
            self.assertTrue(client.users.like_post(person.id, users.LikePostRequest(tweet_id=post)).data.liked)
            made = client.users.repost_post(person.id, users.RepostPostRequest(tweet_id=post)).data
            self.assertTrue(made.rest_id)
        expected = {person.id for person in self.people[1:]}
        self.assertEqual(set(self.walk(self.ada.posts.get_liking_users, post, size=2)), expected)
        self.assertEqual(set(self.walk(self.app.posts.get_reposted_by, post, size=2)), expected)
        self.assertEqual(len(self.first(self.app.posts.get_reposts, post)), 4)
        self.assertEqual(self.first(self.ada.users.get_reposts_of_me), [post])
        self.assertEqual(self.first(self.bob.users.get_liked_posts, self.other.id), [post])
        self.assertEqual((self.metrics(post).like_count, self.metrics(post).repost_count), (4, 4))
        self.assertFalse(self.bob.users.unlike_post(self.other.id, post).data.liked)
        self.bob.users.unrepost_post(self.other.id, post)
        self.assertEqual((self.metrics(post).like_count, self.metrics(post).repost_count), (3, 3))
        self.refused(404, "", self.bob.users.like_post, self.other.id, users.LikePostRequest(tweet_id="1"))
        self.refused(400, "must be the same as the authenticating user", self.bob.users.like_post, self.who.id, users.LikePostRequest(tweet_id=post))

    def test_bookmarks_and_their_folders(self):
        kept = [self.says(self.bob, f"To keep {number}") for number in range(7)]
        for post in kept:
            made = self.ada.users.create_bookmark(self.who.id, users.CreateBookmarkRequest(tweet_id=post))
            self.assertTrue(made.data.bookmarked)
        self.assertEqual(self.walk(self.ada.users.get_bookmarks, self.who.id, size=3), kept[::-1])
        request = users.CreateBookmarkFolderRequest(name="Later")
        folder = self.ada.users.create_bookmark_folder(self.who.id, request).data.id
        found = next(self.ada.users.get_bookmark_folders(self.who.id))
        self.assertEqual([(one.id, one.name) for one in found.data], [(folder, "Later")])
        self.ada.users.create_bookmark(self.who.id, users.CreateBookmarkRequest(tweet_id=kept[0], folder_id=folder))
        self.assertEqual(ids(next(self.ada.users.get_bookmarks_by_folder_id(self.who.id, folder))), [kept[0]])
        self.assertFalse(self.ada.users.delete_bookmark(self.who.id, kept[0]).data.bookmarked)
        self.assertEqual(self.first(self.ada.users.get_bookmarks, self.who.id), kept[:0:-1])


class People(Suite):
    def test_lookups_with_all_there_is(self):
        post = self.says(self.ada, "The latest of Ada")
        for client in (self.app, self.ada, self.ada1):
            of = client.users
            read = of.get_by_ids([self.who.id, self.other.id, "1"], **everything(of.get_by_ids))
            self.assertEqual(ids(read), [self.who.id, self.other.id])
            self.assertEqual(read.errors[0].detail, "Could not find user with ids: [1].")
            self.assertEqual([one.id for one in read.includes.posts], [post])
            self.assertEqual(read.data[0].public_metrics.post_count, 1)
            self.assertEqual(of.get_by_id(self.who.id, **everything(of.get_by_id)).data.most_recent_post_id, post)
            name = self.other.username
            self.assertEqual(ids(of.get_by_usernames([name], **everything(of.get_by_usernames))), [self.other.id])
            self.assertEqual(of.get_by_username(name, **everything(of.get_by_username)).data.id, self.other.id)
        for client in (self.ada, self.ada1):
            self.assertEqual(client.users.get_me(**everything(client.users.get_me)).data.id, self.who.id)
        self.assertIn(self.who.id, self.first(self.ada.users.search, self.who.username))

    def test_follows_mutes_and_blocks(self):
        target = self.people[4]
        for person, client in zip(self.people[:4], self.all[:4]):
            made = client.users.follow_user(person.id, users.FollowUserRequest(target_user_id=target.id)).data
            self.assertEqual((made.following, made.pending_follow), (True, False))
            mute = users.MuteUserRequest(target_user_id=target.id)
            self.assertTrue(client.users.mute_user(person.id, mute).data.muting)
        found = self.walk(self.app.users.get_followers, target.id, size=2)
        self.assertEqual(found, [person.id for person in self.people[3::-1]])
        self.assertEqual(self.first(self.app.users.get_following, self.who.id), [target.id])
        self.assertEqual(self.first(self.ada1.users.get_muting, self.who.id), [target.id])
        self.assertFalse(self.ada.users.unfollow_user(self.who.id, target.id).data.following)
        self.assertFalse(self.ada.users.unmute_user(self.who.id, target.id).data.muting)
        self.assertEqual(self.numbers(target).followers_count, 3)
        self.assertEqual(self.first(self.ada.users.get_muting, self.who.id), [])
        self.assertEqual(self.first(self.ada1.users.get_blocking, self.who.id), [])
        self.ada.users.block_dms(target.id)
        self.ada.users.unblock_dms(target.id)


class Lists(Suite):
    def test_all_of_a_list(self):
        made = self.ada.lists.create(lists.CreateRequest(name="Gardeners", description="They dig")).data.id
        read = self.app.lists.get_by_id(made, **everything(self.app.lists.get_by_id))
        self.assertEqual((read.data.name, read.data.owner_id), ("Gardeners", self.who.id))
        self.assertEqual(read.includes.users[0].id, self.who.id)
        self.assertTrue(self.ada1.lists.update(made, lists.UpdateRequest(name="Diggers")).data.updated)
        for person in self.people[1:]:
            added = self.ada.lists.add_member(made, lists.AddMemberRequest(user_id=person.id))
            self.assertTrue(added.data.is_member)
        expected = {person.id for person in self.people[1:]}
        self.assertEqual(set(self.walk(self.app.lists.get_members, made, size=2)), expected)
        self.assertEqual(self.first(self.app.users.get_list_memberships, self.other.id), [made])
        wanted = [self.says(self.bob, f"For the list {number}") for number in range(7)][::-1]
        self.assertEqual(self.walk(self.app.lists.get_posts, made, size=3), wanted)
        for person, client in zip(self.people[1:], self.all[1:]):
            self.assertTrue(client.users.follow_list(person.id, users.FollowListRequest(list_id=made)).data.following)
        self.assertEqual(set(self.walk(self.app.lists.get_followers, made, size=2)), expected)
        self.assertEqual(self.first(self.app.users.get_followed_lists, self.other.id), [made])
        self.assertFalse(self.bob.users.unfollow_list(self.other.id, made).data.following)
        self.assertFalse(self.ada.lists.remove_member_by_user_id(made, self.other.id).data.is_member)
        read = self.app.lists.get_by_id(made, **everything(self.app.lists.get_by_id)).data
        self.assertEqual((read.name, read.member_count, read.follower_count), ("Diggers", 3, 3))
        self.assertTrue(self.ada.users.pin_list(self.who.id, users.PinListRequest(list_id=made)).data.pinned)
        pinned = self.ada.users.get_pinned_lists
        self.assertEqual(ids(pinned(self.who.id, **everything(pinned))), [made])
        self.assertFalse(self.ada.users.unpin_list(self.who.id, made).data.pinned)
        self.assertEqual(ids(pinned(self.who.id)), [])
        self.refused(403, "", self.bob.lists.delete, made)
        self.assertEqual(self.first(self.app.users.get_owned_lists, self.who.id), [made])
        self.assertTrue(self.ada.lists.delete(made).data.deleted)
        self.assertEqual(self.app.lists.get_by_id(made).errors[0].title, "Not Found Error")


class Spaces(Suite):
    def test_from_its_plan_to_its_end(self):
        run = self.server.cli
        made = run("space", "create", self.who.username, "--title", "Talking about tours", "--start", "2h",
                   "--lang", "en", "--invite", self.other.username, "--topic", "Travel", "--ticketed")["id"]
        of = self.app.spaces
        read = of.get_by_id(made, **everything(of.get_by_id))
        self.assertEqual((read.data.state, read.data.title), ("scheduled", "Talking about tours"))
        self.assertEqual({user.id for user in read.includes.users}, {self.who.id, self.other.id})
        self.assertEqual(read.includes.topics[0].name, "Travel")
        run("space", "buy", made, self.other.username)
        self.assertEqual(self.first(self.ada.spaces.get_buyers, made), [self.other.id])
        run("space", "open", made)
        run("space", "speak", made, self.other.username)
        read = of.get_by_ids([made, "1zzzzzzzzzzzz"], **everything(of.get_by_ids))
        self.assertEqual((read.data[0].state, len(read.errors)), ("live", 1))
        self.assertIn(self.other.id, read.data[0].speaker_ids)
        self.assertEqual(ids(of.get_by_creator_ids([self.who.id], **everything(of.get_by_creator_ids))), [made])
        post = self.says(self.bob, "Shared in a space")
        run("space", "share", made, self.other.username, post)
        self.assertEqual(self.first(of.get_posts, made), [post])
        self.assertEqual(ids(of.search("tours", state="live", **everything(of.search))), [made])
        run("space", "close", made)
        self.assertEqual(ids(of.search("tours", state="live")), [])


class Communities(Suite):
    def test_found_and_posted_to(self):
        made = [self.server.cli("community", "create", f"Tourists {number}", "--owner", self.who.username)["id"]
                for number in range(12)]
        of = self.app.communities
        read = of.get_by_id(made[0], **everything(of.get_by_id)).data
        self.assertEqual((read.name, read.member_count, read.join_policy), ("Tourists 0", 1, "Open"))
        self.assertEqual(set(self.walk(self.ada.communities.search, "Tourists", size=10)), set(made))
        post = self.says(self.ada, "To the community", community_id=made[0])
        self.assertEqual(self.app.posts.get_by_id(post, post_fields=["community_id"]).data.community_id, made[0])
        self.refused(403, "not allowed", self.says, self.bob, "From outside", community_id=made[0])


class Messages(Suite):
    def of_all(self, client, other, name):
        """The events from each of the three lists, which must agree."""
        of = client.direct_messages
        found = self.walk(of.get_events, size=2)
        self.assertEqual(self.walk(of.get_events_by_participant_id, other.id, size=2), found)
        self.assertEqual(self.walk(of.get_events_by_conversation_id, name, size=2), found)
        return found

    def test_two_write_to_each_other(self):
        said = []
        for number in range(3):
            request = messages.CreateByParticipantIdRequest(text=f"Ping {number}")
            made = self.ada1.direct_messages.create_by_participant_id(self.other.id, request).data
            name = made.dm_conversation_id
            request = messages.CreateByConversationIdRequest(text=f"Pong {number}")
            answer = self.bob.direct_messages.create_by_conversation_id(name, request).data
            said += [made.dm_event_id, answer.dm_event_id]
        for client, other in ((self.ada, self.other), (self.ada1, self.other), (self.bob, self.who)):
            self.assertEqual(self.of_all(client, other, name), said[::-1])
            of = client.direct_messages
            read = of.get_events_by_id(said[0], **everything(of.get_events_by_id))
            self.assertEqual((read.data.event_type, read.data.text), ("MessageCreate", "Ping 0"))
            self.assertEqual((read.data.sender_id, read.data.dm_conversation_id), (self.who.id, name))
            self.assertEqual([user.id for user in read.includes.users], [self.who.id])
        self.assertTrue(self.ada.direct_messages.delete_events(said[0]).data.deleted)
        self.assertEqual(self.of_all(self.ada1, self.other, name), said[:0:-1])
        self.assertEqual(self.of_all(self.bob, self.who, name), said[::-1])
        request = messages.CreateByConversationIdRequest(text="May I?")
        self.refused(404, "", self.all[4].direct_messages.create_by_conversation_id, name, request)

    def test_a_group(self):
        others = [person.id for person in self.people[3:5]]
        body = {"conversation_type": "Group", "participant_ids": others, "message": {"text": "Hello all"}}
        request = messages.CreateConversationRequest.model_validate(body)
        made = self.all[2].direct_messages.create_conversation(request).data
        name = made.dm_conversation_id
        request = messages.CreateByConversationIdRequest(text="Hello")
        answer = self.all[3].direct_messages.create_by_conversation_id(name, request).data.dm_event_id
        for client in self.all[2:5]:
            method = client.direct_messages.get_events_by_conversation_id
            events = next(method(name, **everything(method))).data
            self.assertEqual([event.id for event in events[:2]], [answer, made.dm_event_id])
            self.assertEqual(events[2].event_type, "ParticipantsJoin")
            self.assertEqual(self.first(method, name, event_types=["MessageCreate"]), [answer, made.dm_event_id])
            joined = self.first(client.direct_messages.get_events, event_types=["ParticipantsJoin"])
            self.assertEqual(joined, [events[2].id])

    def test_a_media_is_for_its_readers(self):
        file = tour_world.png(40, 30)
        upload = media.UploadRequest(media=base64.b64encode(file).decode(), media_category="dm_image")
        made = self.all[2].media.upload(upload).data
        request = messages.CreateByParticipantIdRequest.model_validate({"attachments": [{"media_id": made.id}]})
        sent = self.all[2].direct_messages.create_by_participant_id(self.people[3].id, request).data.dm_event_id
        of = self.all[3].direct_messages
        read = of.get_events_by_id(sent, **everything(of.get_events_by_id))
        shown = read.includes.media[0]
        self.assertEqual((read.data.attachments.media_keys, shown.width), ([made.media_key], 40))
        where = shown.url.split("/dm_conversations/media/")[1].split("/")
        self.assertEqual(where[:2], [sent, made.id])
        self.assertEqual(of.dm_conversations_media_download(*where), file)
        self.refused(404, "", self.ada.direct_messages.dm_conversations_media_download, *where)


class Notes(Suite):
    TEXT = "The photo was taken in 2019. https://example.com/archive"

    def draft(self, post):
        info = {"text": self.TEXT, "trustworthy_sources": True, "misleading_tags": ["outdated_information"],
                "classification": "misinformed_or_potentially_misleading"}
        return notes.CreateRequest.model_validate({"post_id": post, "test_mode": True, "info": info})

    def test_written_listed_and_deleted(self):
        told = "The weather in the city was very warm and dry this whole summer"
        about = [self.says(self.bob, f"{told}, {number}") for number in range(3)]
        of = self.ada.community_notes
        self.refused(403, "must be an API Note Writer", of.create, self.draft(about[0]))
        self.server.cli("user", "note-writer", "on", self.who.username)
        # The demo data contains more.
        eligible = lambda: set(self.first(of.search_eligible_posts, True)) & set(about)
        self.assertEqual(eligible(), set(about))
        scored = of.evaluate(notes.EvaluateRequest(post_id=about[0], note_text=self.TEXT)).data
        self.assertGreater(scored.claim_opinion_score, 0.7)
        made = [client.community_notes.create(self.draft(post)).data.id
                for client, post in zip((self.ada, self.ada1, self.ada), about)]
        self.assertEqual(eligible(), set())
        self.assertEqual(self.walk(of.search_written, True, size=1, least=3), made[::-1])
        written = next(of.search_written(True, **everything(of.search_written))).data[0]
        self.assertEqual((written.info.post_id, written.info.text), (about[2], self.TEXT))
        self.assertEqual((written.status, written.info.rating_status), ("needs_your_help", "needs_your_help"))
        self.assertEqual(written.test_result.evaluation_outcome[0].evaluator_score_bucket, "High")
        self.assertEqual(self.first(of.search_written, False), [])
        self.refused(404, "", self.bob.community_notes.delete, made[0])
        self.assertTrue(self.ada1.community_notes.delete(made[0]).data.deleted)
        self.assertEqual(self.first(of.search_written, True), made[:0:-1])


class Told(Suite):
    """News, trends and metrics."""

    def test_a_story(self):
        post = self.says(self.bob, "The tour has begun")
        run, of = self.server.cli, self.app.news
        story = run("news", "create", "Tourists arrive", "--summary", "All of them", "--post", post, "--draft")["id"]
        self.assertEqual(ids(of.search("tourists")), [])
        run("news", "publish", story)
        for client in (self.app, self.ada, self.ada1):
            fields = everything(client.news.get)["news_fields"]
            found = client.news.search("tourists", news_fields=fields)
            self.assertEqual(ids(found), [story])
            self.assertIn("tour", found.data[0].keywords)
            read = client.news.get(story, news_fields=fields).data
            self.assertEqual((read.name, read.summary), ("Tourists arrive", "All of them"))
            self.assertEqual([one.post_id for one in read.cluster_posts_results], [post])
        run("news", "delete", story)
        self.assertEqual(ids(of.search("tourists")), [])

    def test_what_trends(self):
        self.ada.users.follow_user(self.who.id, users.FollowUserRequest(target_user_id=self.other.id))
        for client in self.all[1:]:
            self.says(client, "Everybody says so #TourTrend")
        self.server.cli("news", "refresh")
        method = self.app.trends.get_by_woeid
        found = method(1, max_trends=50, **everything(method)).data
        self.assertIn(("#TourTrend", 4), [(one.trend_name, one.tweet_count) for one in found])
        for client in (self.ada, self.ada1):
            method = client.trends.get_personalized
            own = method(**everything(method)).data
            self.assertIn(("#TourTrend", "4 posts"), [(one.trend_name, one.post_count) for one in own])
        self.refused(404, "Could not find trends for WOEID: 44418", self.app.trends.get_by_woeid, 44418)

    def test_usage(self):
        post = self.says(self.ada, "Read and counted")
        used = []
        for _ in range(2):
            told = self.app.usage.get(days=3, **everything(self.app.usage.get)).data
            self.assertEqual(len(told.daily_project_usage.usage), 3)
            used.append(int(told.project_usage))
            for client in (self.app, self.ada, self.ada1):
                self.assertEqual(client.posts.get_by_id(post).data.id, post)
        self.assertEqual(used[1], used[0] + 1)

    def test_affiliates(self):
        wanted = [person.id for person in self.people[1:]]
        for one in wanted:
            self.server.cli("user", "affiliate", one, self.who.username, "--description", "A tour")
        self.assertEqual(self.walk(self.app.users.get_affiliates, self.who.id, size=2), wanted[::-1])
        self.server.cli("user", "unaffiliate", wanted[0])
        self.assertEqual(self.first(self.ada.users.get_affiliates, self.who.id), wanted[:0:-1])

    def test_analytics_of_own_posts(self):
        post, foreign = self.says(self.ada, "Measured"), self.says(self.bob, "Not Ada's")
        self.bob.users.like_post(self.other.id, users.LikePostRequest(tweet_id=post))
        self.bob.users.repost_post(self.other.id, users.RepostPostRequest(tweet_id=post))
        for client in (self.ada, self.ada1):
            of = client.posts.get_analytics
            read = of([post, foreign], **tour_world.window(), granularity="daily", **everything(of))
            self.assertEqual(ids(read), [post])
            figures = read.data[0]
            self.assertEqual((figures.likes, figures.retweets, figures.replies), (1, 1, 0))
            self.assertEqual(sum(one.metrics.likes for one in figures.timestamped_metrics), 1)
            self.assertEqual([error.title for error in read.errors], ["Authorization Error"])


if __name__ == "__main__":
    locum_server.main()
