//! What is done with what was shown, and what is counted without an impression.

use serde_json::{Value, json};

use super::{Network, around, file, market, metric, sum};
use crate::ads::Advertiser;
use crate::harness::{TestUser, wait_until};

/// A promoted post that two viewers saw and a user engaged with.
struct ServedPost {
    ads: Advertiser,
    campaign: String,
    item: String,
    post: String,
    promoted: String,
    fan: TestUser<'static>,
}

impl ServedPost {
    fn new() -> Self {
        let ads = Advertiser::on(market());
        let network = Network::new();
        let campaign = ads.quick_campaign("20000000");
        let item = ads.quick_item(&campaign, "150000");
        let (post, promoted) = ads.promoted(&item, false);
        let fan = market().new_user("fan");
        let viewer = json!({
            "user_id": fan.id, "platform": 1, "country": "pt", "metro": "732da9aec70fbc02", "age": 30, "gender": 2
        });
        let shown = network.request(&viewer, 5);
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert_eq!(shown[0]["post_id"], post.as_str());
        assert_eq!(shown[0]["promoted_post_id"], promoted.as_str());
        assert_eq!(shown[0]["line_item_id"], item.as_str());
        let token = shown[0]["impression_token"].as_str().unwrap();
        // What is reported twice counts once.
        let response = network.report(&[(token, "impression"), (token, "url_click")]).assert_status(200);
        assert_eq!(response["data"][1]["status"], "RECORDED", "{response}");
        let again = network.report(&[(token, "url_click"), (token, "impression")]).assert_status(200);
        assert_eq!(again["data"][0]["status"], "REPEATED", "{again}");
        // Someone who is no user sees it as well.
        let other = network.token(&json!({ "key": "device-1" }));
        network.report(&[(&other, "impression"), (&other, "qualified_impression")]).assert_status(200);
        // What is done on the platform within a day of an impression belongs to it, once.
        let like = json!({ "tweet_id": post });
        let likes = format!("/2/users/{}/likes", fan.id);
        fan.post(&likes, &like).assert_status(200);
        fan.delete(format!("{likes}/{post}")).assert_status(200);
        fan.post(&likes, &like).assert_status(200);
        let bystander = market().new_user("bystander");
        bystander.post(format!("/2/users/{}/likes", bystander.id), &like).assert_status(200);
        let reply = json!({ "text": "Nice", "reply": { "in_reply_to_tweet_id": post } });
        fan.create_post(&reply).assert_status(201);
        wait_until("what was done is counted", || metric(&ads.stats("LINE_ITEM", &item, &[]), "replies") == 1);
        Self { ads, campaign, item, post, promoted, fan }
    }
}

#[test]
fn served_post_has_the_same_metrics_and_reach_at_every_level() {
    let ServedPost { ads, campaign, item, promoted, .. } = &ServedPost::new();
    let expected = [
        ("impressions", 2),
        ("engagements", 3),
        ("likes", 1),
        ("url_clicks", 1),
        ("clicks", 1),
        ("qualified_impressions", 1),
        ("billed_engagements", 3),
        // Nobody else bids: one step each.
        ("billed_charge_local_micro", 30_000),
    ];
    let post_word = [("entity", "PROMOTED_TWEET")];
    for (entity, id, more) in
        [("LINE_ITEM", item, &[][..]), ("CAMPAIGN", campaign, &[]), ("PROMOTED_POST", promoted, &post_word)]
    {
        let stats = ads.stats(entity, id, more);
        for (name, number) in expected {
            assert_eq!(metric(&stats, name), number, "{entity} {name}: {stats}");
        }
    }
    for (entity, id) in [("ACCOUNT", &ads.account), ("FUNDING_INSTRUMENT", &ads.instrument)] {
        let stats = ads.stats(entity, id, &[]);
        assert_eq!(metric(&stats, "engagements"), 3);
    }
    let stats = ads.stats("LINE_ITEM", item, &[]);
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    assert_eq!(metrics["follows"], Value::Null);
    assert_eq!(metrics["tweets_send"], Value::Null);
    // Reach: two viewers, once each.
    let (from, to) = around(24, 1);
    let span = [("start_time", from.as_str()), ("end_time", to.as_str())];
    let params = [&span[..], &[("campaign_ids", campaign.as_str())]].concat();
    let reach = ads.beside("GET", "A/reach/campaigns", &params).assert_status(200);
    assert_eq!(reach["data_type"], "reach");
    assert_eq!(reach["data"], json!([{ "id": campaign, "total_audience_reach": 2, "average_frequency": 1.0 }]));
    let params = [&span[..], &[("funding_instrument_ids", ads.instrument.as_str())]].concat();
    let reach = ads.beside("GET", "A/reach/funding_instruments", &params).assert_status(200);
    assert_eq!(reach["data"][0]["total_audience_reach"], 2);
}

#[test]
fn metrics_of_a_promoted_post_are_shown_to_its_author_only() {
    let ServedPost { ads, post, fan, .. } = &ServedPost::new();
    let fields = "public_metrics,promoted_metrics,organic_metrics,non_public_metrics";
    let path = format!("/2/tweets/{post}?tweet.fields={fields}");
    let seen = ads.person.get(path.clone()).assert_status(200);
    let figures = &seen["data"];
    assert_eq!(figures["public_metrics"]["impression_count"], 1 + 1, "{seen}");
    assert_eq!(figures["promoted_metrics"]["impression_count"], 2);
    assert_eq!(figures["promoted_metrics"]["like_count"], 1);
    assert_eq!(figures["promoted_metrics"]["url_link_clicks"], 1);
    assert_eq!(figures["organic_metrics"]["impression_count"], 0);
    assert_eq!(figures["organic_metrics"]["like_count"], 1);
    assert_eq!(figures["organic_metrics"]["reply_count"], 0);
    assert_eq!(figures["non_public_metrics"]["url_link_clicks"], 1);
    let refused = fan.get(path).assert_status(200);
    assert_eq!(refused["data"], Value::Null, "{refused}");
}

#[test]
fn served_campaign_is_segmented_by_metro_and_listed_as_active() {
    let ServedPost { ads, campaign, promoted, .. } = &ServedPost::new();
    let (from, to) = around(24, 1);
    let span = [("start_time", from.as_str()), ("end_time", to.as_str())];
    let metros = |country: &str| {
        let params = [
            ("entity", "CAMPAIGN"),
            ("entity_ids", campaign.as_str()),
            ("granularity", "TOTAL"),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("metric_groups", "ENGAGEMENT"),
            ("placement", "ALL_ON_TWITTER"),
            ("segmentation_type", "METROS"),
            ("country", country),
        ];
        file(ads, &ads.beside("POST", "jobs/A", &params).assert_status(200))
    };
    let portugal = metros("3c65374ea675483e");
    assert_eq!(sum(&portugal["data"][0], "impressions"), 1, "{portugal}");
    let segment = &portugal["data"][0]["id_data"][0]["segment"];
    assert_eq!(segment["segment_name"], "Lisbon");
    let france = metros("FR");
    assert_eq!(france["data"][0]["id_data"], json!([]));
    // What changed, and under what.
    let params = [&span[..], &[("entity", "PROMOTED_TWEET"), ("campaign_ids", campaign)]].concat();
    let active = ads.beside("GET", "A/active_entities", &params).assert_status(200);
    assert_eq!(active["data"][0]["entity_id"], promoted.as_str(), "{active}");
    assert_eq!(active["data"][0]["placements"], json!(["ALL_ON_TWITTER"]));
    let other = ads.campaign();
    let params = [&span[..], &[("entity", "LINE_ITEM"), ("campaign_ids", &other)]].concat();
    let active = ads.beside("GET", "A/active_entities", &params).assert_status(200);
    assert_eq!(active["data"], json!([]));
}

#[test]
fn engagement_with_a_nullcast_post_counts_without_an_impression() {
    let ads = Advertiser::on(market());
    let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    let (post, _) = ads.promoted(&item, true);
    let fan = market().new_user("fan");
    let likes = format!("/2/users/{}/likes", fan.id);
    fan.post(&likes, &json!({ "tweet_id": post })).assert_status(200);
    wait_until("the like is counted", || metric(&ads.stats("LINE_ITEM", &item, &[]), "likes") == 1);
    // Nothing was won in an auction: nothing is charged.
    let stats = ads.stats("LINE_ITEM", &item, &[]);
    assert_eq!(metric(&stats, "billed_charge_local_micro"), 0);
}

#[test]
fn post_in_two_line_items_has_separate_figures_in_each() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("20000000");
    let items = ["150000", "150000"].map(|bid| ads.quick_item(&campaign, bid));
    let (post, first) = ads.promoted(&items[0], false);
    let params = [("line_item_id", items[1].as_str()), ("post_ids", post.as_str())];
    let second = ads.send("POST", "/promoted_posts", &params).assert_status(200);
    let promoted = [first, second["data"][0]["id"].as_str().unwrap().to_owned()];
    assert_ne!(promoted[0], promoted[1]);
    let show = |number: usize| network.request(&json!({ "key": format!("device-{number}") }), 1).pop();
    let mut expected = [0, 0];
    for (place, clicks) in [(0, 1), (1, 3)] {
        let other = format!("/line_items/{}", items[1 - place]);
        ads.send("PUT", &other, &[("entity_status", "PAUSED")]).assert_status(200);
        ads.send("PUT", &format!("/line_items/{}", items[place]), &[("entity_status", "ACTIVE")]).assert_status(200);
        for click in 0..clicks {
            let number = place * 100 + click;
            wait_until("the other line item serves", || {
                show(number).is_some_and(|shown| shown["line_item_id"] == items[place].as_str())
            });
            let shown = show(number).unwrap();
            assert_eq!(shown["promoted_post_id"], promoted[place].as_str());
            let token = shown["impression_token"].as_str().unwrap();
            network.report(&[(token, "impression"), (token, "url_click")]).assert_status(200);
            expected[place] += 1;
        }
    }
    for place in 0..2 {
        let of_item = ads.stats("LINE_ITEM", &items[place], &[]);
        let of_post = ads.stats("PROMOTED_POST", &promoted[place], &[("entity", "PROMOTED_TWEET")]);
        for stats in [of_item, of_post] {
            assert_eq!(metric(&stats, "url_clicks"), expected[place], "{place}: {stats}");
            assert_eq!(metric(&stats, "impressions"), expected[place], "{place}: {stats}");
        }
    }
    assert_eq!(metric(&ads.stats("CAMPAIGN", &campaign, &[]), "url_clicks"), expected.iter().sum::<i64>());
}
