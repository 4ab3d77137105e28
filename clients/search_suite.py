"""Search and counts with tweepy, unmodified except for the base URL."""

import datetime

import tweepy

import locum_server
from tour_tweepy_suite import EVERYTHING, Suite, ids


def iso(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.replace(microsecond=0)


class Search(Suite):
    def test_what_is_written_is_found_at_once_with_everything(self):
        post = self.says(self.ada, "Sturgeon roe by the #river $FISH https://example.com/roe")
        for client, more in ((self.app, {}), (self.ada, {"user_auth": True}), (self.ada2, {})):
            found = client.search_recent_tweets("sturgeon (roe OR caviar) -is:retweet", **EVERYTHING, **more)
            self.assertEqual(ids(found), [post])
            self.assertEqual(found.meta["newest_id"], post)
            self.assertEqual(found.meta["oldest_id"], post)
            self.assertEqual(found.meta["result_count"], 1)
            self.assertEqual(str(found.includes["users"][0].id), self.who.id)
            self.assertEqual(found.data[0].entities["hashtags"][0]["tag"], "river")
            self.assertEqual(found.data[0].public_metrics["retweet_count"], 0)
        self.ada.delete_tweet(post)
        gone = self.app.search_recent_tweets("sturgeon")
        self.assertIsNone(gone.data)
        self.assertEqual(gone.meta, {"result_count": 0})

    def test_pages_and_bounds(self):
        posts = [self.says(self.ada, f"Paginated barbel {number}") for number in range(35)][::-1]
        search = self.app.search_recent_tweets
        self.assertEqual(self.walk(search, "barbel", size=10, least=4), posts)
        self.assertEqual(sorted(self.walk(search, "barbel", size=10, sort_order="relevancy")), sorted(posts))
        self.assertEqual(ids(search("barbel", since_id=posts[2])), posts[:2])
        self.assertEqual(ids(search("barbel", until_id=posts[-3])), posts[-2:])
        self.assertEqual(ids(search("barbel", start_time=iso(-3600), max_results=100)), posts)
        self.assertIsNone(search("barbel", end_time=iso(-3600)).data)
        flat = tweepy.Paginator(search, "barbel", max_results=10).flatten(limit=23)
        self.assertEqual([str(one.id) for one in flat], posts[:23])
        self.assertEqual(self.walk(self.app.search_all_tweets, "barbel", size=10), posts)

    def test_counts(self):
        for number in range(3):
            self.says(self.ada, f"Counted grayling {number}")
        for ask in (self.app.get_recent_tweets_count, self.app.get_all_tweets_count):
            counts = ask("grayling")
            self.assertEqual(counts.meta["total_tweet_count"], 3)
            self.assertEqual(sum(span["tweet_count"] for span in counts.data), 3)
            self.assertEqual(counts.data[-1]["tweet_count"] + counts.data[-2]["tweet_count"], 3)
            self.assertIn(len(ask("grayling", granularity="day").data), (8, 31))
        minutes = self.app.get_recent_tweets_count("grayling", granularity="minute", start_time=iso(-3600))
        self.assertIn(len(minutes.data), (60, 61, 62))
        spans = [span for page in tweepy.Paginator(
            self.app.get_all_tweets_count, "grayling", granularity="day", start_time=iso(-100 * 86_400),
        ) for span in page.data[::-1]]
        self.assertIn(len(spans), (100, 101))
        self.assertEqual(sorted(spans, key=lambda span: span["start"], reverse=True), spans)

    def test_refusals(self):
        search = self.app.search_recent_tweets
        refused = (
            ("has:links", "Rules must contain at least one positive, non-stopword clause"),
            ("-cat", "Rules must contain a non-negation term"),
            ("cat AND dog", "Ambiguous use of and as a keyword"),
            ("cat filter:media", "Reference to invalid operator 'filter'"),
            ("(cat", "There were errors processing your request: "),
        )
        for query, text in refused:
            self.refused(tweepy.BadRequest, text, search, query)
            self.refused(tweepy.BadRequest, text, self.app.get_recent_tweets_count, query)
        self.refused(tweepy.BadRequest, "not between 10 and 100", search, "cat", max_results=5)
        self.refused(tweepy.BadRequest, "minimum of 10 seconds prior", search, "cat", start_time=iso(3600))
        self.refused(tweepy.BadRequest, "must be on or after", search, "cat", start_time=iso(-8 * 86_400))
        self.refused(tweepy.BadRequest, "must be a tweet id created after", search, "cat", since_id=20)
        self.refused(tweepy.BadRequest, "is not valid", search, "cat", next_token="abc")

    def test_it_is_found_again_after_a_start(self):
        post = self.says(self.bob, "A burbot that lasts")
        self.assertEqual(ids(self.app.search_recent_tweets("burbot")), [post])
        self.server.stop()
        self.server.start()
        self.assertEqual(ids(self.app.search_recent_tweets("burbot")), [post])
        self.assertEqual(self.app.get_recent_tweets_count("burbot").meta["total_tweet_count"], 1)


# The base class has tests of its own.
del Suite

if __name__ == "__main__":
    locum_server.main()
