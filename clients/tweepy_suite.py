"""tweepy, unmodified except for the base URL: app-only and OAuth 1.0a."""

import datetime
import os
import unittest

import requests
import tweepy

import locum_server

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
HOSTS = ("https://api.twitter.com", "https://api.x.com")
PAGES = 6
as_is = requests.Session.request


def redirect(server):
    """Redirects requests for the public service to `server` before they are signed."""

    def request(self, method, url, *arguments, **more):
        for host in HOSTS:
            if url.startswith(host):
                url = server.url + url.removeprefix(host)
        return as_is(self, method, url, *arguments, **more)

    requests.Session.request = request


class Suite(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server(*cls.arguments)
        cls.addClassCleanup(cls.server.close)
        redirect(cls.server)
        cls.addClassCleanup(setattr, requests.Session, "request", as_is)
        env = cls.server.env
        cls.app = tweepy.Client(bearer_token=env["BEARER_TOKEN"])
        cls.ada, cls.bob = cls.client(""), cls.client("_2")
        cls.ada_id, cls.bob_id = env["USER_ID"], env["USER_ID_2"]

    @classmethod
    def client(cls, suffix):
        env = cls.server.env
        return tweepy.Client(
            bearer_token=env["BEARER_TOKEN"],
            consumer_key=env["API_KEY"],
            consumer_secret=env["API_SECRET"],
            access_token=env["ACCESS_TOKEN" + suffix],
            access_token_secret=env["ACCESS_TOKEN_SECRET" + suffix],
        )


class Posts(Suite):
    def test_a_post_is_written_read_and_deleted(self):
        text = "Written by a client library, été & <b> ☃ 👩‍🚀"
        made = self.ada.create_tweet(text=text)
        self.assertIsInstance(made.data["id"], str)
        read = self.app.get_tweet(
            made.data["id"],
            expansions=["author_id"],
            tweet_fields=["created_at", "public_metrics", "conversation_id", "lang", "edit_controls"],
            user_fields=["created_at", "public_metrics"],
        )
        post, author = read.data, read.includes["users"][0]
        self.assertEqual(post.text, text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        self.assertEqual(str(post.id), made.data["id"])
        self.assertEqual(post.edit_history_tweet_ids, [post.id])
        self.assertEqual(post.conversation_id, post.id)
        self.assertIsInstance(post.created_at, datetime.datetime)
        self.assertEqual(post.public_metrics["retweet_count"], 0)
        self.assertEqual(author.username, self.server.env["USERNAME"])
        self.assertIsInstance(author.created_at, datetime.datetime)
        self.assertIn("tweet_count", author.public_metrics)
        self.assertEqual(self.ada.delete_tweet(post.id).data, {"deleted": True})
        gone = self.app.get_tweet(post.id)
        self.assertIsNone(gone.data)
        self.assertEqual(gone.errors[0]["title"], "Not Found Error")

    def test_replies_and_quotes_lead_to_their_posts(self):
        root = self.ada.create_tweet(text="A root for replies and quotes").data["id"]
        reply = self.bob.create_tweet(text="A reply", in_reply_to_tweet_id=root).data["id"]
        quote = self.bob.create_tweet(text="A quote", quote_tweet_id=root).data["id"]
        read = self.app.get_tweets(
            [reply, quote],
            expansions=["referenced_tweets.id", "referenced_tweets.id.author_id", "in_reply_to_user_id"],
            tweet_fields=["in_reply_to_user_id"],
        )
        kinds = [post.referenced_tweets[0].type for post in read.data]
        self.assertEqual(kinds, ["replied_to", "quoted"])
        self.assertEqual([str(post.id) for post in read.includes["tweets"]], [root])
        self.assertEqual(str(read.data[0].in_reply_to_user_id), self.ada_id)
        self.assertIn(self.ada_id, [str(user.id) for user in read.includes["users"]])

    def test_many_posts_come_with_what_is_missing(self):
        ids = [self.ada.create_tweet(text=f"One of some {number}").data["id"] for number in range(3)]
        read = self.app.get_tweets([ids[2], "1", ids[0]])
        self.assertEqual([str(post.id) for post in read.data], [ids[2], ids[0]])
        self.assertEqual([error["value"] for error in read.errors], ["1"])

    def test_entities_are_read(self):
        made = self.ada.create_tweet(text=f"@{self.server.env['USERNAME_2']} #tag $CASH https://example.com/a")
        entities = self.app.get_tweet(made.data["id"], tweet_fields=["entities"]).data.entities
        self.assertEqual(entities["mentions"][0]["id"], self.bob_id)
        self.assertEqual(entities["hashtags"][0]["tag"], "tag")
        self.assertEqual(entities["urls"][0]["expanded_url"], "https://example.com/a")

    def test_reply_settings_are_sent_and_kept(self):
        made = self.ada.create_tweet(text="Only some may reply", reply_settings="mentionedUsers")
        read = self.app.get_tweet(made.data["id"], tweet_fields=["reply_settings"])
        self.assertEqual(read.data.reply_settings, "mentionedUsers")


class Users(Suite):
    def test_users_are_found(self):
        name, other = self.server.env["USERNAME"], self.server.env["USERNAME_2"]
        self.assertEqual(str(self.app.get_user(username=name).data.id), self.ada_id)
        self.assertEqual(self.app.get_user(id=self.bob_id).data.username, other)
        read = self.app.get_users(usernames=[name, other], user_fields=["created_at", "verified"])
        self.assertEqual([user.username for user in read.data], [name, other])
        read = self.app.get_users(ids=[self.bob_id, "1"])
        self.assertEqual((len(read.data), len(read.errors)), (1, 1))

    def test_the_caller_is_told_who_it_is(self):
        me = self.ada.get_me(user_fields=["public_metrics"]).data
        self.assertEqual(str(me.id), self.ada_id)
        self.assertGreater(me.public_metrics["tweet_count"], 0)

    def test_followers_are_listed(self):
        pages = tweepy.Paginator(self.app.get_users_followers, self.ada_id, max_results=3)
        followers = [user.id for page in pages for user in page.data or []]
        self.assertGreater(len(followers), 3)
        self.assertEqual(len(set(followers)), len(followers))
        self.assertTrue(self.app.get_users_following(self.bob_id).data)


class Timelines(Suite):
    def walk(self, read, who, wanted, write, **more):
        """Five or more pages during concurrent writes: each post once, newest first."""
        seen, pages = [], 0
        for page in tweepy.Paginator(read, *who, max_results=5, **more):
            posts = page.data or []
            self.assertEqual(page.meta["result_count"], len(posts))
            seen += [post.id for post in posts]
            pages += 1
            write(pages)
            if pages > 100:
                self.fail("it does not end")
        self.assertGreaterEqual(pages, 5)
        self.assertEqual(seen, sorted(set(seen), reverse=True))
        self.assertEqual([post for post in wanted if post not in seen], [])

    def says(self, client, text):
        return int(client.create_tweet(text=text).data["id"])

    def test_a_users_posts(self):
        wanted = [self.says(self.bob, f"Timeline {number}") for number in range(5 * PAGES)]

        def write(page):
            self.says(self.bob, f"Timeline meanwhile {page}")

        self.walk(self.app.get_users_tweets, [self.bob_id], wanted, write)

    def test_mentions(self):
        name = self.server.env["USERNAME"]
        wanted = [self.says(self.bob, f"@{name} mention {number}") for number in range(5 * PAGES)]

        def write(page):
            self.says(self.bob, f"@{name} mention meanwhile {page}")

        self.walk(self.ada.get_users_mentions, [self.ada_id], wanted, write, user_auth=True)

    def test_the_home_timeline(self):
        wanted = [self.says(self.ada, f"Home {number}") for number in range(5 * PAGES)]

        def write(page):
            self.says(self.ada, f"Home meanwhile {page}")

        self.walk(self.ada.get_home_timeline, [], wanted, write)

    def test_flattened_with_bounds(self):
        ids = [self.says(self.ada, f"Bounded {number}") for number in range(12)]
        found = tweepy.Paginator(
            self.app.get_users_tweets, self.ada_id, max_results=5, since_id=ids[0], until_id=ids[11]
        ).flatten()
        self.assertEqual([post.id for post in found], ids[10:0:-1])


class Refusals(Suite):
    def test_the_same_text_twice_is_forbidden(self):
        self.ada.create_tweet(text="Twice")
        with self.assertRaises(tweepy.Forbidden) as caught:
            self.ada.create_tweet(text="Twice")
        self.assertIn("duplicate content", str(caught.exception))

    def test_wrong_keys_are_unauthorized(self):
        with self.assertRaises(tweepy.Unauthorized):
            tweepy.Client(bearer_token="wrong").get_user(id=self.ada_id)
        env = self.server.env
        wrong = tweepy.Client(
            consumer_key=env["API_KEY"],
            consumer_secret="wrong",
            access_token=env["ACCESS_TOKEN"],
            access_token_secret=env["ACCESS_TOKEN_SECRET"],
        )
        with self.assertRaises(tweepy.Unauthorized) as caught:
            wrong.get_me()
        self.assertIn(32, caught.exception.api_codes)

    def test_wrong_values_are_bad_requests(self):
        with self.assertRaises(tweepy.BadRequest) as caught:
            self.app.get_tweet("abc")
        self.assertIn("The `id` query parameter value [abc] is not valid", str(caught.exception))
        with self.assertRaises(tweepy.BadRequest):
            self.app.get_users_tweets(self.ada_id, max_results=1)
        with self.assertRaises(tweepy.BadRequest):
            self.ada.create_tweet(text="x" * 281)

    def test_what_is_not_ones_own_is_not_deleted(self):
        made = self.bob.create_tweet(text="Bob's own").data["id"]
        with self.assertRaises(tweepy.Forbidden):
            self.ada.delete_tweet(made)
        with self.assertRaises(tweepy.NotFound):
            self.ada.delete_tweet(1)

    def test_an_app_alone_is_nobody(self):
        with self.assertRaises(tweepy.Forbidden) as caught:
            self.app.get_me(user_auth=False)
        self.assertIn("OAuth 2.0 Application-Only", str(caught.exception))


class Signing(Suite):
    def test_an_app_gets_its_bearer_token(self):
        env = self.server.env
        handler = tweepy.OAuth2AppHandler(env["API_KEY"], env["API_SECRET"])
        self.assertEqual(handler._bearer_token, env["BEARER_TOKEN"])
        tweepy.Client(bearer_token=handler._bearer_token).get_user(id=self.ada_id)

    def test_everything_is_there_after_a_restart(self):
        made = self.ada.create_tweet(text="Before the restart").data["id"]
        self.server.process.kill()
        self.server.process.wait()
        self.server.start()
        self.assertEqual(self.ada.get_tweet(made, user_auth=True).data.text, "Before the restart")


class Limits(Suite):
    arguments = ("--rate-limits", "table")

    def test_too_many_requests(self):
        for _ in range(75):
            answer = self.ada.get_me()
        self.assertEqual(str(answer.data.id), self.ada_id)
        with self.assertRaises(tweepy.TooManyRequests) as caught:
            self.ada.get_me()
        self.assertEqual(caught.exception.response.headers["x-rate-limit-remaining"], "0")


if __name__ == "__main__":
    locum_server.main()
