"""The official Ads API client library, unmodified except for the base URL."""

import hashlib
import time
import unittest
from datetime import datetime, timedelta

import requests
import tweepy
from twitter_ads.audience import CustomAudience, CustomAudiencePermission
from twitter_ads.campaign import Campaign, LineItem, TargetingCriteria
from twitter_ads.client import Client
from twitter_ads.creative import PromotedTweet
from twitter_ads.enum import GRANULARITY, METRIC_GROUP
from twitter_ads.cursor import Cursor
from twitter_ads.error import BadRequest, Forbidden, NotAuthorized, NotFound
from twitter_ads.http import Request
from twitter_ads.targeting import AudienceEstimate

import locum_server


def setUpModule():
    global SERVER, CLIENT, ACCOUNT
    SERVER = locum_server.Server()
    Request._DEFAULT_DOMAIN = SERVER.url
    Request._SANDBOX_DOMAIN = f"{SERVER.url}/ads-sandbox"
    CLIENT = client()
    ACCOUNT = CLIENT.accounts().first


def tearDownModule():
    SERVER.close()


def client(**options):
    env = SERVER.env
    keys = ("API_KEY", "API_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    return Client(*(env[key] for key in keys), **options)


def campaign(name, **more):
    made = Campaign(ACCOUNT)
    made.funding_instrument_id = ACCOUNT.funding_instruments().first.id
    made.daily_budget_amount_local_micro = 1_000_000
    made.name = name
    made.entity_status = "PAUSED"
    for field, value in more.items():
        setattr(made, field, value)
    return made


def line_item(parent):
    item = LineItem(ACCOUNT)
    item.campaign_id = parent.id
    item.name = "Riders"
    item.product_type = "PROMOTED_TWEETS"
    item.placements = ["ALL_ON_TWITTER"]
    item.objective = "ENGAGEMENTS"
    item.bid_amount_local_micro = 10_000
    item.entity_status = "PAUSED"
    return item


def say(text):
    env = SERVER.env
    api = tweepy.Client(
        consumer_key=env["API_KEY"], consumer_secret=env["API_SECRET"],
        access_token=env["ACCESS_TOKEN"], access_token_secret=env["ACCESS_TOKEN_SECRET"],
    )
    session = api.session
    send = session.request
    session.request = lambda method, url, **rest: send(
        method, url.replace("https://api.twitter.com", SERVER.url), **rest
    )
    return api.create_tweet(text=text, user_auth=True).data["id"]


def hashed(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Audiences(unittest.TestCase):
    def test_an_audience_is_filled_shared_and_targeted(self):
        name = f"Readers {time.time()}"
        audience = CustomAudience.create(ACCOUNT, name)
        self.assertEqual(audience.name, name)
        self.assertFalse(audience.targetable)
        with self.assertRaises(BadRequest) as refused:
            CustomAudience.create(ACCOUNT, name)
        self.assertEqual(refused.exception.details[0]["attribute"], "name")

        made = SERVER.cli("user", "create", f"reader{time.time_ns() % 10**8}", "--password", "secret")
        users = [{"email": [hashed("test-email@test.com")]}, {"twitter_id": [hashed(made["id"])]}]
        update = [{"operation_type": "Update", "params": {"users": users}}]
        self.assertEqual(audience.users(update), (2, 2))
        with self.assertRaises(BadRequest):
            audience.users([{"operation_type": "Update", "params": {"users": []}}])
        end = time.monotonic() + 60
        while not audience.reload().targetable and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual((audience.audience_size, audience.reasons_not_targetable), (1, []))
        self.assertIn(audience.id, [one.id for one in CustomAudience.all(ACCOUNT, q="readers")])

        parent = campaign("Audience")
        parent.save()
        item = line_item(parent)
        item.save()
        criterion = TargetingCriteria(ACCOUNT)
        criterion.line_item_id = item.id
        criterion.targeting_type = "CUSTOM_AUDIENCE"
        criterion.targeting_value = audience.id
        criterion.save()
        self.assertEqual(criterion.name, name)
        self.assertEqual(list(audience.targeted()), [])
        (entry,) = audience.targeted(with_active=False)
        self.assertEqual((entry.campaign_id, entry.campaign_name), (parent.id, "Audience"))
        self.assertEqual(entry.line_items, [{"id": item.id, "name": "Riders", "servable": False}])

        owner = SERVER.cli("user", "show", made["id"])["username"]
        other = SERVER.cli("ads", "account", "create", "Other", "--user", owner)["id"]
        permission = CustomAudiencePermission(ACCOUNT)
        permission.custom_audience_id = audience.id
        permission.granted_account_id = other
        permission.permission_level = "READ_ONLY"
        with self.assertRaises(BadRequest) as refused:
            permission.save()
        self.assertEqual(refused.exception.details[0]["code"], "FEATURE_NOT_AVAILABLE")
        for account in (ACCOUNT.id, other):
            SERVER.cli("ads", "account", "set", account, "--business", "readers")
        permission.save()
        self.assertEqual([one.id for one in audience.permissions()], [permission.id])
        older = f"/5/accounts/{ACCOUNT.id}/tailored_audiences/{audience.id}/permissions"
        (record,) = Request(CLIENT, "get", older).perform().body["data"]
        self.assertEqual(record["tailored_audience_id"], audience.id)
        permission.delete()
        self.assertEqual(list(audience.permissions()), [])
        self.assertTrue(audience.delete().deleted)
        with self.assertRaises(NotFound):
            CustomAudience.load(ACCOUNT, audience.id)


def served(post, viewer):
    """Requests an ad for a viewer and reports an impression and a link click."""
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {SERVER.env['BEARER_TOKEN']}"
    at = f"{SERVER.url}/ads-serve/1"
    ask = {"viewer": {"key": viewer, "platform": 1}, "placement": "TWITTER_TIMELINE", "slots": 20}
    shown = session.post(f"{at}/request", json=ask).json()["data"]
    [token] = [one["impression_token"] for one in shown if one.get("post_id") == post]
    events = [{"impression_token": token, "kind": kind} for kind in ("impression", "url_click")]
    answer = session.post(f"{at}/events", json={"events": events})
    assert answer.status_code == 200, answer.text


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        app = SERVER.env["API_KEY"]
        SERVER.cli("app", "access", app, "--allow", "ads_serving")
        made = campaign("Figures", entity_status="ACTIVE", standard_delivery=False)
        made.save()
        cls.item = line_item(made)
        cls.item.entity_status = "ACTIVE"
        cls.item.save()
        cls.campaign = made
        cls.post = str(say(f"Count this {time.time()}"))
        PromotedTweet.attach(ACCOUNT, line_item_id=cls.item.id, tweet_ids=[cls.post])
        for viewer in ("one", "two"):
            served(cls.post, viewer)
        cls.end = datetime.utcnow().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        cls.start = cls.end - timedelta(hours=24)
        cls.groups = [METRIC_GROUP.ENGAGEMENT, METRIC_GROUP.BILLING]
        cls.span = {"start_time": cls.start, "end_time": cls.end, "granularity": GRANULARITY.TOTAL}

    def check(self, stats):
        self.assertEqual([one["id"] for one in stats], [self.item.id])
        metrics = stats[0]["id_data"][0]["metrics"]
        self.assertEqual(metrics["impressions"], [2])
        self.assertEqual(metrics["url_clicks"], [2])
        self.assertEqual(metrics["billed_engagements"], [2])
        self.assertIsNone(metrics["follows"])

    def test_figures_come_at_once(self):
        self.check(LineItem.all_stats(ACCOUNT, [self.item.id], self.groups, **self.span))
        self.check(self.item.stats(self.groups, **self.span))
        hourly = {**self.span, "granularity": GRANULARITY.HOUR}
        stats = LineItem.all_stats(ACCOUNT, [self.item.id], self.groups, **hourly)
        values = stats[0]["id_data"][0]["metrics"]["impressions"]
        self.assertEqual((len(values), sum(values)), (24, 2))

    def test_figures_come_as_a_file(self):
        queue = LineItem.queue_async_stats_job
        job = queue(ACCOUNT, [self.item.id], self.groups, **self.span)
        self.assertEqual(job.status, "QUEUED")
        segmented = queue(
            ACCOUNT, [self.item.id], self.groups, segmentation_type="PLATFORMS", **self.span
        )
        found = {}
        end = time.monotonic() + 60
        while len(found) < 2 and time.monotonic() < end:
            for one in LineItem.async_stats_job_result(ACCOUNT, job_ids=[job.id, segmented.id]):
                if one.status == "SUCCESS":
                    found[one.id] = one
            time.sleep(0.2)
        data = LineItem.async_stats_job_data(ACCOUNT, url=found[job.id].url)
        self.check(data["data"])
        data = LineItem.async_stats_job_data(ACCOUNT, url=found[segmented.id].url)
        segments = [one["segment"]["segment_name"] for one in data["data"][0]["id_data"]]
        self.assertEqual(segments, ["Android"])

    def test_what_changed_is_told_and_who_was_reached(self):
        active = LineItem.active_entities(ACCOUNT, self.start, self.end)
        self.assertIn(self.item.id, [one["entity_id"] for one in active])
        params = {
            "campaign_ids": self.campaign.id,
            "start_time": self.start.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "end_time": self.end.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        path = f"/11/stats/accounts/{ACCOUNT.id}/reach/campaigns"
        reach = Request(CLIENT, "get", path, params=params).perform()
        self.assertEqual(reach.body["data"][0]["total_audience_reach"], 2)

    def test_hours_are_whole(self):
        with self.assertRaises(BadRequest) as refused:
            LineItem.all_stats(
                ACCOUNT, [self.item.id], self.groups,
                start_time=self.start + timedelta(minutes=5), end_time=self.end,
                granularity=GRANULARITY.TOTAL,
            )
        self.assertEqual(refused.exception.details[0]["code"], "INVALID_PARAMETER")


class Tree(unittest.TestCase):
    def test_a_campaign_tree_is_built_changed_and_taken_down(self):
        made = campaign("Spring")
        made.save()
        self.assertTrue(made.id)
        self.assertEqual(made.currency, "USD")
        item = line_item(made)
        item.save()
        self.assertEqual(item.goal, "ENGAGEMENT")
        criterion = TargetingCriteria(ACCOUNT)
        criterion.line_item_id = item.id
        criterion.targeting_type = "PHRASE_KEYWORD"
        criterion.targeting_value = "cargo bike"
        criterion.save()
        found = list(TargetingCriteria.all(ACCOUNT, line_item_ids=item.id))
        self.assertEqual([one.id for one in found], [criterion.id])
        post = say(f"Look at this {time.time()}")
        promoted = PromotedTweet.attach(ACCOUNT, line_item_id=item.id, tweet_ids=[post])
        self.assertEqual([one.tweet_id for one in promoted], [post])

        made.reload()
        self.assertEqual(made.reasons_not_servable, ["PAUSED_BY_ADVERTISER"])
        made.name, made.entity_status = "Summer", "ACTIVE"
        made.save()
        again = ACCOUNT.campaigns(made.id)
        self.assertEqual((again.name, again.servable), ("Summer", True))
        made.delete()
        self.assertTrue(made.deleted)
        with self.assertRaises(NotFound) as refused:
            Campaign.load(ACCOUNT, made.id)
        self.assertEqual(refused.exception.details[0]["code"], "CAMPAIGN_NOT_FOUND")
        self.assertTrue(Campaign.load(ACCOUNT, made.id, with_deleted=True).deleted)

    def test_batches_and_cursors_agree(self):
        batch = [campaign(f"Batch {number:02}") for number in range(25)]
        Campaign.batch_save(ACCOUNT, batch)
        self.assertTrue(all(one.id for one in batch))
        ids = [one.id for one in batch]
        walked = list(Campaign.all(ACCOUNT, q="batch", count=4, sort_by=["name-asc"]))
        self.assertEqual([one.id for one in walked], ids)
        some = Campaign.all(ACCOUNT, campaign_ids=ids[:3], with_total_count=True)
        self.assertEqual(some.count, 3)
        for one in batch:
            one.to_delete = True
        Campaign.batch_save(ACCOUNT, batch)
        self.assertEqual(list(Campaign.all(ACCOUNT, q="batch")), [])

    def test_refusals_are_the_classes_that_the_library_knows(self):
        with self.assertRaises(BadRequest) as refused:
            campaign("Too cheap", daily_budget_amount_local_micro=1).save()
        self.assertEqual(refused.exception.details[0]["code"], "INVALID_DENOMINATION")
        with self.assertRaises(Forbidden):
            CLIENT.accounts("zzz")
        stranger = Client("a", "b", "c", "d")
        with self.assertRaises(NotAuthorized):
            stranger.accounts()

    def test_the_sandbox_makes_accounts(self):
        sandbox = client()
        sandbox.sandbox = True
        answer = Request(sandbox, "post", "/11/accounts").perform()
        made = answer.body["data"][0]["id"]
        self.assertIn(made, [account.id for account in sandbox.accounts()])
        self.assertNotIn(made, [account.id for account in CLIENT.accounts()])
        self.assertIn("CPI_CHARGING", sandbox.accounts(made).features())

    def test_an_audience_is_estimated_and_keywords_are_looked_into(self):
        say(f"A gravel bike, a gravel road {time.time()}")
        asked = [{"targeting_type": "BROAD_KEYWORD", "targeting_value": "gravel"},
                 {"targeting_type": "LANGUAGE", "targeting_value": "en"}]
        estimate = AudienceEstimate.load(ACCOUNT, params={"targeting_criteria": asked})
        self.assertEqual(sorted(estimate.audience_size), ["max", "min"])
        self.assertGreaterEqual(estimate.audience_size["max"], 1)
        with self.assertRaises(BadRequest) as refused:
            AudienceEstimate.load(ACCOUNT, params={"targeting_criteria": asked[1:]})
        self.assertEqual(refused.exception.details[0]["code"], "MISSING_PARAMETER")

        day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
        params = {"granularity": "HOUR", "keywords": "gravel,tarmac", "start_time": day}
        answer = Request(CLIENT, "get", "/11/insights/keywords/search", params=params).perform()
        self.assertGreaterEqual(sum(answer.body["data"]["tweet_volume"]), 1)
        self.assertLessEqual(len(answer.body["data"]["related_keywords"]), 30)

    def test_options_of_targeting_are_listed(self):
        found = list(TargetingCriteria.locations(ACCOUNT, q="portugal", location_type="COUNTRIES"))
        self.assertEqual([one["targeting_value"] for one in found], ["3c65374ea675483e"])
        self.assertEqual(len(list(TargetingCriteria.platforms(ACCOUNT))), 5)
        interests = list(TargetingCriteria.interests(ACCOUNT, count=100))
        self.assertIn("Sports/Bicycling", [one["name"] for one in interests])
        self.assertGreater(len(interests), 300)

    def test_what_is_the_same_for_all_is_listed(self):
        answer = Request(CLIENT, "get", "/11/iab_categories", params={"count": 100})
        self.assertEqual(len(list(Cursor(None, answer))), 392)
        rules = Request(CLIENT, "get", "/11/bidding_rules", params={"currency": "JPY"}).perform()
        self.assertEqual(rules.body["data"][0]["minimum_denomination"], 1_000_000)


if __name__ == "__main__":
    locum_server.main()
