"""The calls of each example of the official Ads API library, in its order, with the
library unmodified except for the base URL. Each test is named after its example."""

import hashlib
import io
import json
import time
import unittest
from datetime import datetime, timedelta

import requests
import tweepy
from dateutil.parser import parse
from twitter_ads.audience import CustomAudience
from twitter_ads.campaign import (
    AdvertiserBusinessCategories, Campaign, ContentCategories, IabCategories, LineItem,
    LineItemPlacements, ScheduledPromotedTweet, TargetingCriteria, TaxSettings, TrackingTags,
    Tweet, UserSettings,
)
from twitter_ads.client import Client
from twitter_ads.creative import (
    AccountMedia, Card, CardsFetch, DraftTweet, ImageConversationCard, MediaCreative, MediaLibrary,
    PollCard, PromotedAccount, PromotedTweet, ScheduledTweet, TweetPreview, Tweets,
    VideoConversationCard,
)
from twitter_ads.cursor import Cursor
from twitter_ads.enum import (
    ENTITY_STATUS, GRANULARITY, MEDIA_CATEGORY, MEDIA_TYPE, METRIC_GROUP, OBJECTIVE, PLACEMENT,
    PRODUCT,
)
from twitter_ads.error import BadRequest, Error, NotFound, RateLimit
from twitter_ads.http import Request
from twitter_ads.restapi import UserIdLookup
from twitter_ads.targeting import AudienceEstimate
from twitter_ads.utils import remove_minutes

import locum_server
import tour_world

PORTUGAL = "3c65374ea675483e"


def setUpModule():
    global SERVER, CLIENT, ACCOUNT
    SERVER = locum_server.Server()
    Request._DEFAULT_DOMAIN = SERVER.url
    Request._SANDBOX_DOMAIN = f"{SERVER.url}/ads-sandbox"
    UserIdLookup.DOMAIN = SERVER.url
    CLIENT = client()
    ACCOUNT = CLIENT.accounts(CLIENT.accounts().first.id)


def tearDownModule():
    SERVER.close()


def client(server=None, **options):
    env = (server or SERVER).env
    keys = ("API_KEY", "API_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    return Client(*(env[key] for key in keys), options=options)


def campaign(name, status=ENTITY_STATUS.PAUSED):
    made = Campaign(ACCOUNT)
    made.funding_instrument_id = ACCOUNT.funding_instruments().next().id
    made.daily_budget_amount_local_micro = 1000000
    made.name = name
    made.entity_status = status
    return made


def line_item(parent, name="my first ad", **more):
    made = LineItem(ACCOUNT)
    made.campaign_id = parent.id
    made.name = name
    made.product_type = PRODUCT.PROMOTED_TWEETS
    made.placements = [PLACEMENT.ALL_ON_TWITTER]
    made.objective = OBJECTIVE.ENGAGEMENTS
    made.bid_amount_local_micro = 10000
    made.entity_status = ENTITY_STATUS.PAUSED
    for field, value in more.items():
        setattr(made, field, value)
    return made


def say(text, **more):
    env = SERVER.env
    api = tweepy.Client(
        consumer_key=env["API_KEY"], consumer_secret=env["API_SECRET"],
        access_token=env["ACCESS_TOKEN"], access_token_secret=env["ACCESS_TOKEN_SECRET"],
    )
    send = api.session.request
    api.session.request = lambda method, url, **rest: send(
        method, url.replace("https://api.twitter.com", SERVER.url), **rest
    )
    return str(api.create_tweet(text=text, user_auth=True, **more).data["id"])


def serving(act, body):
    """Ad requests and event reports of a publisher network."""
    headers = {"Authorization": f"Bearer {SERVER.env['BEARER_TOKEN']}"}
    answer = requests.post(f"{SERVER.url}/ads-serve/1/{act}", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def me():
    return UserIdLookup.load(ACCOUNT, screen_name=SERVER.env["USERNAME"]).id


def uploaded(file, category):
    """Uploads a file in one piece, as the examples do; returns its media key."""
    params = {"media_category": category}
    files = {"media": (None, io.BytesIO(file))}
    resource = "/1.1/media/upload.json"
    answer = Request(CLIENT, "post", resource, files=files, domain=SERVER.url, params=params).perform()
    return answer.body["media_key"]


def upload_in_parts(file, category, kind):
    """Uploads a video in segments and waits until it is ready."""
    def ask(method, **params):
        files = {"media": (None, io.BytesIO(file))} if params["command"] == "APPEND" else None
        return Request(
            CLIENT, method, "/1.1/media/upload.json", params=params, files=files, domain=SERVER.url
        ).perform().body

    begun = ask("post", command="INIT", total_bytes=len(file), media_type=kind, media_category=category)
    id = begun["media_id_string"]
    ask("post", command="APPEND", media_id=id, segment_index=0)
    ended = ask("post", command="FINALIZE", media_id=id)
    end = time.monotonic() + 60
    while ended.get("processing_info", {}).get("state") in ("pending", "in_progress"):
        assert time.monotonic() < end, ended
        time.sleep(0.2)
        ended = ask("get", command="STATUS", media_id=id)
    return ended.get("media_key") or begun["media_key"]


def image():
    return uploaded(tour_world.png(800, 418), MEDIA_CATEGORY.TWEET_IMAGE)


def film(category=MEDIA_CATEGORY.AMPLIFY_VIDEO):
    return upload_in_parts(tour_world.mp4(600, width=160, height=90), category, "video/mp4")


def added(key, name):
    """The media library's contents."""
    media = MediaLibrary(ACCOUNT)
    media.media_key = key
    media.name = name
    media.file_name = f"{name}.file"
    return media.add()


def components(key, url):
    return [
        {"media_key": key, "type": "MEDIA", "media_metadata": {key: {"type": "IMAGE", "width": 1}}},
        {"title": "Ride", "destination": {"url": url, "type": "WEBSITE"}, "type": "DETAILS"},
    ]


class Campaigns(unittest.TestCase):
    def test_quick_start(self):
        made = campaign("my first campaign")
        made.save()
        item = line_item(made)
        item.save()
        criterion = TargetingCriteria(ACCOUNT)
        criterion.line_item_id = item.id
        criterion.targeting_type = "LOCATION"
        criterion.targeting_value = PORTUGAL
        criterion.save()
        self.assertEqual(criterion.name, "Portugal")

        read = ACCOUNT.campaigns(made.id)
        self.assertEqual(read.name, "my first campaign")
        self.assertEqual(read.daily_budget_amount_local_micro, 1000000)
        (found,) = ACCOUNT.line_items(None, campaign_ids=made.id)
        self.assertEqual(found.placements, ["ALL_ON_TWITTER"])
        (one,) = found.targeting_criteria()
        self.assertEqual((one.id, one.name), (criterion.id, "Portugal"))
        self.assertEqual(found.targeting_criteria(one.id).targeting_value, PORTUGAL)

    def test_batch_request(self):
        first, second = campaign("my first campaign"), campaign("my second campaign")
        Campaign.batch_save(ACCOUNT, [first, second])
        first.name, second.name = "my modified first campaign", "my modified second campaign"
        Campaign.batch_save(ACCOUNT, [first, second])
        self.assertEqual(ACCOUNT.campaigns(second.id).name, "my modified second campaign")
        items = [line_item(first), line_item(first, "my second ad", bid_amount_local_micro=20000)]
        LineItem.batch_save(ACCOUNT, items)
        criteria = []
        for kind, value in (("LOCATION", PORTUGAL), ("PHRASE_KEYWORD", "righteous dude")):
            one = TargetingCriteria(ACCOUNT)
            one.line_item_id, one.targeting_type, one.targeting_value = items[0].id, kind, value
            criteria.append(one)
        TargetingCriteria.batch_save(ACCOUNT, criteria)
        self.assertEqual(len(list(items[0].targeting_criteria())), 2)
        for entities in (criteria, items, [first, second]):
            for one in entities:
                one.to_delete = True
            type(entities[0]).batch_save(ACCOUNT, entities)
            self.assertTrue(all(one.deleted for one in entities))
        gone = ACCOUNT.campaigns(first.id, with_deleted=True)
        self.assertTrue(gone.deleted)

    def test_batch_tc_from_file(self):
        parent = campaign("criteria of a file")
        parent.save()
        item = line_item(parent)
        item.save()
        common = {"line_item_id": item.id, "targeting_type": "BROAD_KEYWORD"}
        file = json.dumps([
            {"operation_type": "Create", "params": {**common, "targeting_value": word, "operator_type": how}}
            for word, how in (("digital", "EQ"), ("analog", "NE"))
        ])
        targeting = []
        for entry in json.loads(file):
            one = TargetingCriteria(ACCOUNT)
            for name, value in entry["params"].items():
                setattr(one, name, value)
            targeting.append(one)
        TargetingCriteria.batch_save(ACCOUNT, targeting)
        read = {one.targeting_value: one.operator_type for one in item.targeting_criteria()}
        self.assertEqual(read, {"digital": "EQ", "analog": "NE"})

    def test_manual_request(self):
        resource = f"/11/accounts/{ACCOUNT.id}/features"
        params = {"feature_keys": "AGE_TARGETING,CPI_CHARGING"}
        features = Request(CLIENT, "get", resource, params=params).perform().body["data"]
        self.assertLessEqual(set(features), {"AGE_TARGETING", "CPI_CHARGING"})
        with self.assertRaises(Error) as refused:
            Request(CLIENT, "get", f"/0/accounts/{ACCOUNT.id}/features").perform()
        self.assertEqual(refused.exception.details[0]["code"], "ROUTE_NOT_FOUND")
        params = {"location_type": "CITIES", "q": "port"}
        cursor = Cursor(None, Request(CLIENT, "get", "/11/targeting_criteria/locations", params=params))
        self.assertIn("Porto", " ".join(one["name"] for one in cursor))

    def test_promoted_tweet(self):
        parent = campaign("promoted")
        parent.save()
        line_item(parent).save()
        item = ACCOUNT.line_items(None, campaign_ids=parent.id).next()
        posts = [say(f"There can be only one… {time.time()}") for _ in range(2)]
        promoted = PromotedTweet(ACCOUNT)
        promoted.line_item_id, promoted.tweet_id = item.id, posts[0]
        # The deprecation warning reads a name that only classes have.
        promoted.__name__ = "PromotedTweet"
        promoted.save()
        self.assertEqual(promoted.tweet_id, posts[0])
        read = ACCOUNT.promoted_tweets(promoted.id)
        self.assertEqual((read.approval_status, read.entity_status), ("ACCEPTED", "ACTIVE"))
        both = PromotedTweet.attach(ACCOUNT, line_item_id=item.id, tweet_ids=posts[1:])
        self.assertEqual(both.first.line_item_id, item.id)
        self.assertEqual(len(list(ACCOUNT.promoted_tweets(line_item_ids=item.id))), 2)
        read.delete()
        self.assertTrue(read.deleted)
        with self.assertRaises(NotFound):
            PromotedTweet.load(ACCOUNT, promoted.id)


class Creatives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = added(image(), "Wide").media_key
        cls.film = added(film(), "Film").media_key

    def test_media_upload(self):
        resource = "/1.1/media/upload.json"
        params = {"additional_owners": me(), "media_category": MEDIA_CATEGORY.TWEET_IMAGE}
        files = {"media": (None, io.BytesIO(tour_world.png(10, 10)))}
        answer = Request(CLIENT, "post", resource, files=files, domain=SERVER.url, params=params).perform()
        self.assertTrue(answer.body["media_key"].startswith("3_"))
        self.assertEqual(answer.body["image"], {"image_type": "image/png", "w": 10, "h": 10})
        self.assertGreaterEqual(answer.body["expires_after_secs"], 86_000)

    def test_media_library(self):
        media = added(uploaded(tour_world.png(20, 10), MEDIA_CATEGORY.TWEET_IMAGE), "name")
        self.assertEqual((media.media_type, media.file_name), (MEDIA_TYPE.IMAGE, "name.file"))
        self.assertEqual(media.media_status, "TRANSCODE_COMPLETED")
        media.name = "another"
        media.update()
        again = MediaLibrary(ACCOUNT)
        again._media_key = media.media_key
        self.assertEqual(again.reload().name, "another")
        kinds = {one.media_type for one in MediaLibrary.all(ACCOUNT, media_type=MEDIA_TYPE.IMAGE)}
        self.assertEqual(kinds, {MEDIA_TYPE.IMAGE})
        found = [one.media_key for one in MediaLibrary.all(ACCOUNT, q="another")]
        self.assertEqual(found, [media.media_key])
        picture = requests.get(again.media_url)
        self.assertEqual((picture.status_code, picture.headers["content-type"]), (200, "image/png"))
        media.delete()
        self.assertTrue(media.deleted)
        with self.assertRaises(NotFound):
            again.reload()

    def test_cards(self):
        new = Card(account=ACCOUNT)
        new.name = "my new card"
        new.components = components(self.image, "https://bikes.example/login")
        new.save()
        self.assertEqual((new.card_type, new.card_uri), ("IMAGE_WEBSITE", f"card://{new.id}"))
        self.assertEqual(Card.all(ACCOUNT, card_ids=new.id).first.id, new.id)
        card = Card.load(account=ACCOUNT, id=new.id)
        told = card.components[0]["media_metadata"][self.image]
        self.assertEqual((told["type"], told["width"], told["height"]), ("IMAGE", 800, 418))
        short = card.components[1]["destination"]["tco_url"]
        led = requests.get(short, allow_redirects=False)
        self.assertEqual(led.headers["location"], "https://bikes.example/login")
        # The response is sent back unchanged, except for one URL.
        card.components[1]["destination"]["url"] = "https://bikes.example/newvalue"
        card.save()
        read = ACCOUNT.cards(new.id)
        self.assertEqual(read.components[1]["destination"]["url"], "https://bikes.example/newvalue")
        self.assertIn(new.id, [one.id for one in ACCOUNT.cards(card_types="IMAGE_WEBSITE", count=1)])

    def test_cards_fetch(self):
        poll = PollCard(ACCOUNT)
        poll.name, poll.duration_in_minutes = "fetched", 60
        poll.first_choice, poll.second_choice = "a", "b"
        poll.save()
        website = Card(ACCOUNT)
        website.name = "website"
        website.components = components(self.image, "https://bikes.example/")
        website.save()
        fetch = CardsFetch(ACCOUNT)
        found = list(fetch.load(ACCOUNT, card_uris=[website.card_uri, poll.card_uri]))
        self.assertEqual([one.card_type for one in found], ["IMAGE_WEBSITE", "TEXT_POLLS"])
        same = fetch.load(ACCOUNT, card_id=poll.id)
        self.assertEqual((same.card_uri, same.second_choice), (poll.card_uri, "b"))
        with self.assertRaises(NotFound) as refused:
            fetch.load(ACCOUNT, card_id="zzzz")
        self.assertEqual(refused.exception.details[0]["code"], "CARD_NOT_FOUND")

    def test_poll_card(self):
        latest = MediaLibrary(ACCOUNT).all(ACCOUNT, media_type=MEDIA_TYPE.VIDEO)
        card = PollCard(ACCOUNT)
        card.duration_in_minutes = 10080
        card.first_choice, card.second_choice = "Northern", "Southern"
        card.name = latest.first.name + " poll card"
        card.media_key = latest.first.media_key
        with self.assertRaises(BadRequest) as refused:
            card.save()
        self.assertEqual(refused.exception.details[0]["code"], "FEATURE_NOT_AVAILABLE")
        SERVER.cli("ads", "account", "feature", ACCOUNT.id, "--add", "PROMOTED_MEDIA_POLLS")
        card.save()
        self.assertEqual((card.card_type, card.duration_in_minutes), ("VIDEO_POLLS", "10080"))
        self.assertEqual(card.video_width, "160")
        card.delete()
        with self.assertRaises(NotFound):
            PollCard.load(ACCOUNT, card.id)

    def test_conversation_cards(self):
        for kind, key in ((VideoConversationCard, self.film), (ImageConversationCard, self.image)):
            with self.subTest(kind.__name__):
                card = kind(ACCOUNT)
                card.name, card.title, card.media_key = "Routes", "Sunday ride", key
                card.first_cta, card.first_cta_tweet = "#Coast", "I choose the coast"
                card.thank_you_text = "See you there"
                card.save()
                self.assertTrue(card.card_uri.startswith("card://"))
                card.second_cta, card.second_cta_tweet = "#Hills", "I choose the hills"
                card.save()
                read = kind.load(ACCOUNT, card.id)
                self.assertEqual((read.second_cta, read.media_url), ("#Hills", card.media_url))
                self.assertEqual([one.id for one in kind.all(ACCOUNT, card_ids=card.id)], [card.id])
                card.delete()
                with self.assertRaises(NotFound):
                    kind.load(ACCOUNT, card.id)

    def test_account_media(self):
        parent = campaign("prerolls")
        parent.save()
        request = Request(CLIENT, "get", AdvertiserBusinessCategories.RESOURCE_COLLECTION)
        business = Cursor(None, request).first
        item = line_item(
            parent, objective=OBJECTIVE.PREROLL_VIEWS, product_type="MEDIA",
            categories=business["iab_categories"],
        )
        item.save()
        media = next(one for one in ACCOUNT.account_media() if one.creative_type == "PREROLL")
        self.assertEqual(AccountMedia.load(ACCOUNT, media.id).media_key, self.film)
        creative = MediaCreative(ACCOUNT)
        creative.line_item_id, creative.account_media_id = item.id, media.id
        creative.landing_url = "https://my-landing.example/"
        creative.save()
        self.assertEqual(ACCOUNT.media_creatives().first.id, creative.id)
        params = {"line_item_id": item.id, "call_to_action": "WATCH_NOW",
                  "call_to_action_url": "https://www.my-cta.example"}
        resource = f"/11/accounts/{ACCOUNT.id}/preroll_call_to_actions"
        made = Request(CLIENT, "post", resource, params=params).perform().body["data"]
        self.assertEqual(made["call_to_action"], "WATCH_NOW")
        creative.delete()
        self.assertTrue(creative.deleted)

    def test_draft_tweet(self):
        draft = DraftTweet(ACCOUNT)
        draft.text, draft.as_user_id = "draft tweet - new", me()
        draft = draft.save()
        self.assertIn(draft.id, [one.id for one in DraftTweet.all(ACCOUNT)])
        draft = draft.load(ACCOUNT, draft.id)
        self.assertEqual((draft.text, draft.nullcast), ("draft tweet - new", True))
        draft.text = "draft tweet - update"
        draft = draft.save()
        self.assertEqual(DraftTweet.load(ACCOUNT, draft.id).text, "draft tweet - update")
        draft.delete()
        with self.assertRaises(NotFound):
            DraftTweet.load(ACCOUNT, draft.id)

    def test_tweet(self):
        made = Tweet.create(ACCOUNT, as_user_id=me(), text=f"Only promoted {time.time()}")
        self.assertTrue(made["nullcast"])
        found = Tweets.all(ACCOUNT, tweet_ids=[made["id_str"]], tweet_type="PUBLISHED")
        self.assertEqual([one["tweet_id"] for one in found], [made["id_str"]])
        with self.assertRaises(BadRequest):
            Tweet.create(ACCOUNT, as_user_id=me(), text="")

    def test_tweet_previews(self):
        made = Tweet.create(ACCOUNT, as_user_id=me(), text=f"As it looks {time.time()}")
        ids = {"tweet_ids": [made["id_str"]], "tweet_type": "PUBLISHED"}
        (preview,) = TweetPreview.load(ACCOUNT, **ids)
        self.assertEqual(preview.tweet_id, made["id_str"])
        self.assertIn("<iframe", preview.preview)

    def test_scheduled_tweet(self):
        planned = ScheduledTweet(ACCOUNT)
        planned.text, planned.as_user_id = "Future", me()
        planned.scheduled_at = datetime.utcnow() + timedelta(days=2)
        planned.save()
        self.assertEqual(planned.scheduled_status, "SCHEDULED")
        self.assertEqual(parse(planned.scheduled_at).second, 0)
        parent = campaign("scheduled")
        parent.save()
        item = line_item(parent)
        item.save()
        promoted = ScheduledPromotedTweet(ACCOUNT)
        promoted.line_item_id, promoted.scheduled_tweet_id = item.id, planned.id
        promoted.save()
        (read,) = ACCOUNT.scheduled_promoted_tweets(line_item_ids=item.id)
        self.assertEqual(str(read.scheduled_tweet_id), str(planned.id))
        planned.text = "Later"
        planned.save()
        self.assertEqual(ACCOUNT.scheduled_tweets(planned.id).text, "Later")
        promoted.delete()
        planned.delete()
        with self.assertRaises(NotFound):
            ScheduledTweet.load(ACCOUNT, planned.id)


class Reached(unittest.TestCase):
    def test_custom_audience(self):
        audience = CustomAudience.create(ACCOUNT, f"test CA {time.time()}")
        email = hashlib.sha256(b"test-email@test.com").hexdigest()
        user = [{"operation_type": "Update", "params": {"users": [{"email": [email]}]}}]
        success, total = audience.users(user)
        self.assertEqual((success, total), (1, 1))
        self.assertIn(audience.id, [one.id for one in ACCOUNT.custom_audiences()])

    def test_audience_estimate(self):
        say(f"cats and more cats {time.time()}")
        params = {"targeting_criteria": [
            {"targeting_type": "LOCATION", "targeting_value": PORTUGAL},
            {"targeting_type": "BROAD_KEYWORD", "targeting_value": "cats"},
            {"targeting_type": "SIMILAR_TO_FOLLOWERS_OF_USER", "targeting_value": str(me())},
        ]}
        found = AudienceEstimate.load(account=ACCOUNT, params=params)
        self.assertLessEqual(found.audience_size["min"], found.audience_size["max"])


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = campaign("figures", ENTITY_STATUS.ACTIVE)
        made.standard_delivery = False
        made.save()
        cls.item = line_item(made, entity_status=ENTITY_STATUS.ACTIVE)
        cls.item.save()
        post = say(f"seen {time.time()}")
        PromotedTweet.attach(ACCOUNT, line_item_id=cls.item.id, tweet_ids=[post])
        SERVER.cli("app", "access", SERVER.env["API_KEY"], "--allow", "ads_serving")
        ask = {"viewer": {"key": "one", "platform": 1}, "placement": "TWITTER_TIMELINE", "slots": 20}
        tokens = [one["impression_token"] for one in serving("request", ask)["data"]]
        serving("events", {"events": [{"impression_token": one, "kind": "impression"} for one in tokens]})

    def test_analytics(self):
        items = list(ACCOUNT.line_items(None, count=10))[:10]
        groups = [METRIC_GROUP.BILLING]
        (own,) = items[0].stats(groups)
        self.assertEqual(own["id"], items[0].id)
        self.assertEqual(len(own["id_data"][0]["metrics"]["billed_charge_local_micro"] or range(168)), 168)
        ids = [one.id for one in items]
        stats = LineItem.all_stats(ACCOUNT, ids, groups)
        self.assertEqual([one["id"] for one in stats], ids)
        job = LineItem.queue_async_stats_job(ACCOUNT, ids, groups)
        end = time.monotonic() + 60
        while True:
            result = LineItem.async_stats_job_result(ACCOUNT, job_ids=[job.id]).first
            if result.status == "SUCCESS":
                break
            self.assertLess(time.monotonic(), end, result.status)
            time.sleep(0.2)
        data = LineItem.async_stats_job_data(ACCOUNT, url=result.url)
        self.assertEqual([one["id"] for one in data["data"]], ids)

    def test_async_stats(self):
        path = f"/11/stats/jobs/accounts/{ACCOUNT.id}"
        end = remove_minutes(datetime.utcnow()) + timedelta(hours=1)
        params = {
            "entity": "LINE_ITEM", "entity_ids": self.item.id, "granularity": "TOTAL",
            "metric_groups": "ENGAGEMENT", "placement": "ALL_ON_TWITTER", "segmentation_type": "PLATFORMS",
            "start_time": (end - timedelta(hours=48)).isoformat() + "Z", "end_time": end.isoformat() + "Z",
        }
        headers = {"X-As-User": str(me())}
        made = Request(CLIENT, "post", path, params=params, headers=headers).perform().body["data"]
        wanted = {"job_ids": made["id_str"]}
        until = time.monotonic() + 60
        while True:
            (job,) = Request(CLIENT, "get", path, params=wanted, headers=headers).perform().body["data"]
            if job["url"] is not None:
                break
            self.assertLess(time.monotonic(), until)
            time.sleep(0.2)
        file = requests.get(job["url"], stream=True)
        self.assertEqual(file.status_code, 200)

    def test_active_entities(self):
        end = remove_minutes(datetime.utcnow()) + timedelta(hours=1)
        active = LineItem.active_entities(ACCOUNT, end - timedelta(days=1), end)
        ids = [one["entity_id"] for one in active]
        self.assertIn(self.item.id, ids)
        first = remove_minutes(min(parse(one["activity_start_time"]) for one in active))
        last = remove_minutes(max(parse(one["activity_end_time"]) for one in active)) + timedelta(hours=1)
        stats = LineItem.all_stats(
            ACCOUNT, ids[:20], [METRIC_GROUP.ENGAGEMENT], granularity=GRANULARITY.HOUR,
            placement=PLACEMENT.ALL_ON_TWITTER, start_time=first, end_time=last,
        )
        metrics = next(one for one in stats if one["id"] == self.item.id)["id_data"][0]["metrics"]
        self.assertGreater(sum(metrics["impressions"]), 0)
        # Whole days, as in the example.
        today = datetime.utcnow().date()
        days = LineItem.active_entities(ACCOUNT, today - timedelta(days=1), today + timedelta(days=1))
        self.assertIn(self.item.id, [one["entity_id"] for one in days])


class Everything(unittest.TestCase):
    """Classes of the library without an example."""

    def test_what_an_account_has_is_listed(self):
        for listed in (
            ACCOUNT.promotable_users, ACCOUNT.funding_instruments, ACCOUNT.campaigns, ACCOUNT.line_items,
            ACCOUNT.custom_audiences, ACCOUNT.account_media, ACCOUNT.media_creatives,
            ACCOUNT.scheduled_tweets, ACCOUNT.promoted_tweets, ACCOUNT.scheduled_promoted_tweets,
            ACCOUNT.tracking_tags, ACCOUNT.cards,
        ):
            with self.subTest(listed.__name__):
                cursor = listed(count=1)
                self.assertLessEqual(cursor.fetched, 1)
                for one in list(cursor)[:3]:
                    self.assertEqual(listed(one.id).id, one.id)

    def test_targeting_options_are_listed(self):
        for listed, params in (
            ("app_store_categories", {}), ("conversations", {}), ("devices", {}),
            ("events", {"event_types": "SPORTS"}), ("interests", {}), ("languages", {}),
            ("locations", {"q": "port"}), ("network_operators", {}), ("platforms", {}),
            ("platform_versions", {}), ("tv_markets", {}), ("tv_shows", {"locale": "en-US"}),
        ):
            with self.subTest(listed):
                list(getattr(TargetingCriteria, listed)(ACCOUNT, **params))

    def test_what_is_the_same_for_all_is_listed(self):
        for of in (ContentCategories, IabCategories, LineItemPlacements, AdvertiserBusinessCategories):
            with self.subTest(of.__name__):
                request = Request(CLIENT, "get", of.RESOURCE_COLLECTION)
                self.assertIsNotNone(Cursor(of, request, init_with=[ACCOUNT]).first)

    def test_settings_are_read_and_changed(self):
        settings = UserSettings.load(ACCOUNT, me())
        settings.notification_email = "ads@bikes.example"
        # The library identifies existing records by id, which settings do not have.
        params = settings.to_params()
        resource = UserSettings.RESOURCE.format(account_id=ACCOUNT.id, id=me())
        Request(CLIENT, "put", resource, params=params).perform()
        self.assertEqual(UserSettings.load(ACCOUNT, me()).notification_email, "ads@bikes.example")
        tax = TaxSettings.load(ACCOUNT)
        tax.address_city, tax.address_country = "Porto", "PT"
        tax.save()
        self.assertEqual(TaxSettings.load(ACCOUNT).address_city, "Porto")

    def test_what_is_promoted_is_followed_and_called(self):
        parent = campaign("followed")
        parent.save()
        item = line_item(
            parent, objective=OBJECTIVE.FOLLOWERS, product_type=PRODUCT.PROMOTED_ACCOUNT,
            placements=[PLACEMENT.TWITTER_TIMELINE],
        )
        item.save()
        promoted = PromotedAccount(ACCOUNT)
        promoted.line_item_id, promoted.user_id = item.id, me()
        promoted.save()
        self.assertEqual(PromotedAccount.load(ACCOUNT, promoted.id).user_id, str(me()))
        other = campaign("called")
        other.save()
        shown = line_item(other, "called")
        shown.save()
        tag = TrackingTags(ACCOUNT)
        tag.line_item_id, tag.tracking_tag_type = shown.id, "IMPRESSION_TAG"
        tag.tracking_tag_url = "https://ad.doubleclick.net/ddm/trackimp/1"
        try:
            tag.save()
        except BadRequest as refused:
            self.fail(refused.details)
        self.assertEqual(ACCOUNT.tracking_tags(tag.id).tracking_tag_url, tag.tracking_tag_url)
        tag.delete()

    def test_limits_are_told_and_waited_for(self):
        campaigns = ACCOUNT.campaigns(count=1)
        self.assertTrue(campaigns.rate_limit_limit or campaigns.account_rate_limit_limit)
        with locum_server.Server("--rate-limits", "table") as server:
            strict = client(server, retry_max=1, retry_delay=10, retry_on_status=[429])
            domain = Request._DEFAULT_DOMAIN
            Request._DEFAULT_DOMAIN = server.url
            try:
                asked = Request(strict, "get", "/11/bidding_rules")
                with self.assertRaises(RateLimit) as refused:
                    for _ in range(7):
                        asked.perform()
                reset = int(refused.exception.reset_at)
                self.assertLess(abs(reset - time.time()), 2 * 900)
                self.assertEqual(refused.exception.details[0]["code"], "TOO_MANY_REQUESTS")
            finally:
                Request._DEFAULT_DOMAIN = domain


if __name__ == "__main__":
    locum_server.main()
