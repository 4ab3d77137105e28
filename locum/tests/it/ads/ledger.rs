//! The ledger: what is served and done shows in every figure, and figures agree with each other.

use std::io::Read as _;

use base::Time;
use base::clock::wall;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::{Advertiser, is, send};
use crate::harness::{Answer, App, Ask, Server, until};

/// A server of each test's own: what others promote would be served beside it.
fn market() -> &'static Server {
    thread_local! {
        static MARKET: &'static Server = Box::leak(Box::new(Server::start(&[])));
    }
    MARKET.with(|server| *server)
}

/// A network that serves what is promoted.
pub(super) struct Network(App);

impl Network {
    pub(super) fn new() -> Self {
        let app = market().new_app("self-serve");
        let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
        market().cli(&allow).well();
        Self(app)
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let ask = Ask::post(format!("/ads-serve/1/{path}")).json(body);
        market().send(ask.bearer(&self.0.bearer))
    }

    /// What is shown to a viewer in a timeline.
    fn request(&self, viewer: &Value, slots: i64) -> Vec<Value> {
        let body = json!({ "viewer": viewer, "placement": "TWITTER_TIMELINE", "slots": slots });
        let answer = self.post("request", &body).is(200);
        answer["data"].as_array().unwrap().clone()
    }

    fn token(&self, viewer: &Value) -> String {
        let shown = self.request(viewer, 1);
        let token = shown.first().map(|one| one["impression_token"].as_str());
        token
            .flatten()
            .unwrap_or_else(|| panic!("nothing is shown"))
            .to_owned()
    }

    fn report(&self, events: &[(&str, &str)]) -> Answer {
        let events: Vec<Value> = events
            .iter()
            .map(|(token, kind)| json!({ "impression_token": token, "kind": kind }))
            .collect();
        self.post("events", &json!({ "events": events }))
    }
}

const HOUR: i64 = 3_600_000;

fn written(ms: i64) -> String {
    let text = Time::from_ms(ms).to_string();
    format!("{}Z", text.split('.').next().unwrap())
}

/// So many hours around now, whole ones.
fn around(before: i64, after: i64) -> (String, String) {
    let now = wall().ms() / HOUR * HOUR;
    (written(now - before * HOUR), written(now + after * HOUR))
}

impl Advertiser {
    fn stats(&self, entity: &str, id: &str, more: &[(&str, &str)]) -> Value {
        let (from, to) = around(24, 1);
        let mut params = vec![
            ("entity", entity),
            ("entity_ids", id),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("granularity", "TOTAL"),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more);
        self.figures(&params).is(200)
    }

    fn figures(&self, params: &[(&str, &str)]) -> Answer {
        let path = format!("/12/stats/accounts/{}", self.account);
        send(&self.person, "GET", &path, params)
    }

    fn beside(&self, method: &'static str, path: &str, params: &[(&str, &str)]) -> Answer {
        let path = format!(
            "/12/stats/{}",
            path.replace('A', &format!("accounts/{}", self.account))
        );
        send(&self.person, method, &path, params)
    }

    /// A campaign whose budget may be spent at once.
    fn quick_campaign(&self, daily: &str) -> String {
        let params = [
            ("funding_instrument_id", self.instrument.as_str()),
            ("name", "Quick"),
            ("daily_budget_amount_local_micro", daily),
            ("standard_delivery", "false"),
        ];
        self.make("/campaigns", &params)
    }

    fn quick_item(&self, campaign: &str, bid: &str) -> String {
        let params = [
            ("campaign_id", campaign),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", bid),
            ("start_time", "2026-01-01T00:00:00Z"),
        ];
        self.make("/line_items", &params)
    }

    /// A post that a line item shows: the post, and what promotes it.
    fn promoted(&self, item: &str, nullcast: bool) -> (String, String) {
        let text = format!("Look at this {}", crate::harness::fresh());
        let body = json!({ "text": text, "nullcast": nullcast });
        let made = self.person.publish(&body).is(201);
        let post = made["data"]["id"].as_str().unwrap().to_owned();
        let params = [("line_item_id", item), ("tweet_ids", post.as_str())];
        let made = self.send("POST", "/promoted_tweets", &params).is(200);
        let promoted = made["data"][0]["id"].as_str().unwrap().to_owned();
        (post, promoted)
    }
}

fn metric(stats: &Value, name: &str) -> i64 {
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    assert!(metrics.as_object().unwrap().contains_key(name), "{stats}");
    let values = metrics[name].as_array();
    values.map_or(0, |all| all.iter().map(|one| one.as_i64().unwrap()).sum())
}

#[test]
fn what_is_served_and_done_shows_in_every_figure() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("20000000");
    let item = ads.quick_item(&campaign, "150000");
    let (post, promoted) = ads.promoted(&item, false);
    let fan = market().person("fan");
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
    let told = network
        .report(&[(token, "impression"), (token, "url_click")])
        .is(200);
    assert_eq!(told["data"][1]["status"], "RECORDED", "{told}");
    let again = network
        .report(&[(token, "url_click"), (token, "impression")])
        .is(200);
    assert_eq!(again["data"][0]["status"], "REPEATED", "{again}");
    // Someone who is no user sees it as well.
    let other = network.token(&json!({ "key": "device-1" }));
    network
        .report(&[(&other, "impression"), (&other, "qualified_impression")])
        .is(200);
    // What is done on the platform within a day of an impression belongs to it, once.
    let like = json!({ "tweet_id": post });
    let likes = format!("/2/users/{}/likes", fan.id);
    fan.post(&likes, &like).is(200);
    fan.delete(format!("{likes}/{post}")).is(200);
    fan.post(&likes, &like).is(200);
    let bystander = market().person("bystander");
    bystander
        .post(format!("/2/users/{}/likes", bystander.id), &like)
        .is(200);
    let reply = json!({ "text": "Nice", "reply": { "in_reply_to_tweet_id": post } });
    fan.publish(&reply).is(201);
    until("what was done is counted", || {
        metric(&ads.stats("LINE_ITEM", &item, &[]), "replies") == 1
    });
    let wanted = [
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
    for (entity, id, more) in [
        ("LINE_ITEM", &item, &[][..]),
        ("CAMPAIGN", &campaign, &[]),
        ("PROMOTED_POST", &promoted, &post_word),
    ] {
        let stats = ads.stats(entity, id, more);
        for (name, number) in wanted {
            assert_eq!(metric(&stats, name), number, "{entity} {name}: {stats}");
        }
    }
    for (entity, id) in [
        ("ACCOUNT", &ads.account),
        ("FUNDING_INSTRUMENT", &ads.instrument),
    ] {
        let stats = ads.stats(entity, id, &[]);
        assert_eq!(metric(&stats, "engagements"), 3);
    }
    let stats = ads.stats("LINE_ITEM", &item, &[]);
    let metrics = &stats["data"][0]["id_data"][0]["metrics"];
    assert_eq!(metrics["follows"], Value::Null);
    assert_eq!(metrics["tweets_send"], Value::Null);
    // Reach: two viewers, once each.
    let (from, to) = around(24, 1);
    let span = [("start_time", from.as_str()), ("end_time", to.as_str())];
    let params = [&span[..], &[("campaign_ids", campaign.as_str())]].concat();
    let reach = ads.beside("GET", "A/reach/campaigns", &params).is(200);
    assert_eq!(reach["data_type"], "reach");
    assert_eq!(
        reach["data"],
        json!([{ "id": campaign, "total_audience_reach": 2, "average_frequency": 1.0 }])
    );
    let params = [
        &span[..],
        &[("funding_instrument_ids", ads.instrument.as_str())],
    ]
    .concat();
    let reach = ads
        .beside("GET", "A/reach/funding_instruments", &params)
        .is(200);
    assert_eq!(reach["data"][0]["total_audience_reach"], 2);
    // The post's own figures, for its author only.
    let fields = "public_metrics,promoted_metrics,organic_metrics,non_public_metrics";
    let path = format!("/2/tweets/{post}?tweet.fields={fields}");
    let seen = ads.person.get(path.clone()).is(200);
    let figures = &seen["data"];
    assert_eq!(
        figures["public_metrics"]["impression_count"],
        1 + 1,
        "{seen}"
    );
    assert_eq!(figures["promoted_metrics"]["impression_count"], 2);
    assert_eq!(figures["promoted_metrics"]["like_count"], 1);
    assert_eq!(figures["promoted_metrics"]["url_link_clicks"], 1);
    assert_eq!(figures["organic_metrics"]["impression_count"], 0);
    assert_eq!(figures["organic_metrics"]["like_count"], 1);
    assert_eq!(figures["organic_metrics"]["reply_count"], 0);
    assert_eq!(figures["non_public_metrics"]["url_link_clicks"], 1);
    let refused = fan.get(path).is(200);
    assert_eq!(refused["data"], Value::Null, "{refused}");
    // Where viewers are: a country is asked for by its place.
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
        file(&ads, &ads.beside("POST", "jobs/A", &params).is(200))
    };
    let portugal = metros("3c65374ea675483e");
    assert_eq!(sum(&portugal["data"][0], "impressions"), 1, "{portugal}");
    let segment = &portugal["data"][0]["id_data"][0]["segment"];
    assert_eq!(segment["segment_name"], "Lisbon");
    let france = metros("FR");
    assert_eq!(france["data"][0]["id_data"], json!([]));
    // What changed, and under what.
    let params = [
        &span[..],
        &[("entity", "PROMOTED_TWEET"), ("campaign_ids", &campaign)],
    ]
    .concat();
    let active = ads.beside("GET", "A/active_entities", &params).is(200);
    assert_eq!(
        active["data"][0]["entity_id"],
        promoted.as_str(),
        "{active}"
    );
    assert_eq!(active["data"][0]["placements"], json!(["ALL_ON_TWITTER"]));
    let other = ads.campaign();
    let params = [
        &span[..],
        &[("entity", "LINE_ITEM"), ("campaign_ids", &other)],
    ]
    .concat();
    let active = ads.beside("GET", "A/active_entities", &params).is(200);
    assert_eq!(active["data"], json!([]));
}

#[test]
fn what_is_there_for_its_promotion_only_is_counted_without_an_impression() {
    let ads = Advertiser::on(market());
    let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    let (post, _) = ads.promoted(&item, true);
    let fan = market().person("fan");
    let likes = format!("/2/users/{}/likes", fan.id);
    fan.post(&likes, &json!({ "tweet_id": post })).is(200);
    until("the like is counted", || {
        metric(&ads.stats("LINE_ITEM", &item, &[]), "likes") == 1
    });
    // Nothing was won in an auction: nothing is charged.
    let stats = ads.stats("LINE_ITEM", &item, &[]);
    assert_eq!(metric(&stats, "billed_charge_local_micro"), 0);
}

#[test]
fn a_budget_that_is_used_up_ends_the_serving() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("100000");
    let total = [("total_budget_amount_local_micro", "100000")];
    let path = format!("/campaigns/{campaign}");
    ads.send("PUT", &path, &total).is(200);
    let item = ads.quick_item(&campaign, "50000");
    ads.promoted(&item, false);
    let kinds = [
        "impression",
        "click",
        "url_click",
        "app_click",
        "card_engagement",
        "carousel_swipe",
        "video_cta_click",
    ];
    for number in 0..2 {
        let token = network.token(&json!({ "key": format!("device-{number}") }));
        let events: Vec<(&str, &str)> = kinds.iter().map(|kind| (token.as_str(), *kind)).collect();
        network.report(&events).is(200);
    }
    let stats = ads.stats("CAMPAIGN", &campaign, &[]);
    assert_eq!(metric(&stats, "engagements"), 12);
    assert_eq!(metric(&stats, "billed_engagements"), 10);
    assert_eq!(metric(&stats, "billed_charge_local_micro"), 100_000);
    let seen = ads.get(&path, &[]);
    assert_eq!(
        seen["data"]["reasons_not_servable"],
        json!(["BUDGET_EXHAUSTED"])
    );
    assert_eq!(seen["data"]["effective_status"], "EXHAUSTED");
    assert_eq!(seen["data"]["servable"], false);
    assert!(network.request(&json!({ "key": "late" }), 5).is_empty());
    let less = [
        ("total_budget_amount_local_micro", "50000"),
        ("daily_budget_amount_local_micro", "50000"),
    ];
    is(
        &ads.send("PUT", &path, &less),
        400,
        "SPEND_EXCEEDS_BUDGET",
        "total_budget_amount_local_micro",
    );
    let more = [
        ("total_budget_amount_local_micro", "900000"),
        ("daily_budget_amount_local_micro", "900000"),
    ];
    ads.send("PUT", &path, &more).is(200);
    assert_eq!(network.request(&json!({ "key": "later" }), 5).len(), 1);
}

#[test]
fn what_pays_is_exhausted_by_all_its_campaigns() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let fund = [
        "ads",
        "account",
        "funding",
        &ads.account,
        "--type",
        "CREDIT_LINE",
    ];
    let fund = [
        &fund[..],
        &["--amount", "1", "--start", "2020-01-01T00:00:00Z"],
    ]
    .concat();
    let instrument = market().cli(&fund).json();
    assert_eq!(instrument["credit_remaining_local_micro"], 1_000_000);
    let ads = Advertiser {
        instrument: instrument["id"].as_str().unwrap().to_owned(),
        ..ads
    };
    let item = ads.quick_item(&ads.quick_campaign("5000000"), "500000");
    ads.promoted(&item, false);
    let rival = Advertiser::on(market());
    let other = rival.quick_item(&rival.quick_campaign("9000000"), "400000");
    rival.promoted(&other, false);
    // The second price and a step: at equal rates 410,000 each.
    for number in 0..3 {
        let token = network.token(&json!({ "key": format!("device-{number}") }));
        network
            .report(&[(&token, "impression"), (&token, "url_click")])
            .is(200);
    }
    let path = format!("/funding_instruments/{}", ads.instrument);
    let seen = ads.get(&path, &[]);
    let stats = ads.stats("FUNDING_INSTRUMENT", &ads.instrument, &[]);
    let spent = metric(&stats, "billed_charge_local_micro");
    let left = seen["data"]["credit_remaining_local_micro"]
        .as_i64()
        .unwrap();
    assert_eq!(left, (1_000_000 - spent).max(0), "{seen}");
    assert!(spent > 500_000 && spent < 1_000_000 + 500_000, "{stats}");
}

#[test]
fn serving_is_for_those_who_may_and_takes_nothing_that_is_wrong() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    ads.promoted(&item, false);
    let key = json!({ "key": "device" });
    let plain = market().new_app("enterprise");
    let ask = Ask::post("/ads-serve/1/request")
        .json(&json!({ "viewer": key, "placement": "TWITTER_TIMELINE" }));
    let refused = market().send(ask.bearer(&plain.bearer));
    is(&refused, 403, "UNAUTHORIZED_CLIENT_APPLICATION", "");
    let nobody = market().send(Ask::post("/ads-serve/1/events").json(&json!({})));
    is(&nobody, 401, "UNAUTHORIZED_ACCESS", "");
    for (body, code, at) in [
        (json!({}), "MISSING_PARAMETER", "viewer"),
        (json!({ "viewer": key }), "MISSING_PARAMETER", "placement"),
        (
            json!({ "viewer": key, "placement": "MOON" }),
            "INVALID_PARAMETER",
            "placement",
        ),
        (
            json!({ "viewer": { "user_id": "x" }, "placement": "TREND" }),
            "INVALID_PARAMETER",
            "user_id",
        ),
        (
            json!({ "viewer": { "key": "k", "user_id": "1" }, "placement": "TREND" }),
            "INVALID_PARAMETER",
            "viewer",
        ),
        (
            json!({ "viewer": key, "placement": "TREND", "slots": 21 }),
            "INVALID_PARAMETER",
            "slots",
        ),
        (json!([]), "INVALID_PARAMETER", ""),
    ] {
        is(&network.post("request", &body), 400, code, at);
    }
    let token = network.token(&key);
    let forged = format!("{}A{}", &token[..5], &token[6..]);
    for (token, kind, at) in [
        (forged.as_str(), "impression", "impression_token"),
        ("", "impression", "impression_token"),
        (&token, "like", "kind"),
        (&token, "sneeze", "kind"),
        // Nothing comes of what was not shown.
        (&token, "url_click", "kind"),
    ] {
        let sent = network.report(&[(token, kind)]);
        is(&sent, 400, "INVALID_PARAMETER", at);
    }
    // One that is wrong keeps the others out.
    let mixed = network.report(&[(&token, "impression"), (&token, "sneeze")]);
    is(&mixed, 400, "INVALID_PARAMETER", "kind");
    is(
        &network.post("events", &json!({ "events": [] })),
        400,
        "INVALID_PARAMETER",
        "events",
    );
    is(
        &network.post("events", &json!({})),
        400,
        "MISSING_PARAMETER",
        "events",
    );
    assert_eq!(
        metric(&ads.stats("LINE_ITEM", &item, &[]), "impressions"),
        0
    );
    // Who blocks the advertiser is shown nothing, nor is the advertiser.
    let own = json!({ "user_id": ads.person.id });
    assert!(network.request(&own, 1).is_empty());
    let ghost = json!({ "user_id": "1" });
    assert!(network.request(&ghost, 1).is_empty());
    let elsewhere = json!({ "viewer": key, "placement": "PUBLISHER_NETWORK" });
    assert_eq!(
        network.post("request", &elsewhere).is(200)["data"],
        json!([])
    );
}

#[test]
fn nobody_is_shown_more_than_the_cap() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("20000000");
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "REACH"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("start_time", "2026-01-01T00:00:00Z"),
        ("frequency_cap", "2"),
        ("duration_in_days", "7"),
    ];
    let item = ads.make("/line_items", &params);
    ads.promoted(&item, false);
    let viewer = json!({ "key": "often" });
    for _ in 0..2 {
        let token = network.token(&viewer);
        network.report(&[(&token, "impression")]).is(200);
    }
    assert!(network.request(&viewer, 1).is_empty());
    assert_eq!(network.request(&json!({ "key": "other" }), 1).len(), 1);
    let stats = ads.stats("LINE_ITEM", &item, &[]);
    assert_eq!(metric(&stats, "billed_engagements"), 2);
}

#[test]
fn figures_are_given_for_what_the_contract_allows() {
    let ads = Advertiser::on(market());
    let item = ads.line_item(&ads.campaign());
    let usual = [
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "HOUR"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let with = |more: &[(&'static str, &str)]| -> Answer {
        let mut params: Vec<(&str, &str)> = usual.to_vec();
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more.iter().copied().filter(|(_, value)| !value.is_empty()));
        ads.figures(&params)
    };
    let stats = with(&[]).is(200);
    assert_eq!(stats["data_type"], "stats");
    assert_eq!(stats["time_series_length"], 24);
    assert_eq!(
        stats["request"]["params"],
        json!({
            "account_id": ads.account,
            "start_time": "2026-03-01T08:00:00Z",
            "end_time": "2026-03-02T08:00:00Z",
            "segmentation_type": null,
            "entity_ids": [item],
            "country": null,
            "placement": "ALL_ON_TWITTER",
            "granularity": "HOUR",
            "entity": "LINE_ITEM",
            "platform": null,
            "metric_groups": ["ENGAGEMENT"],
        })
    );
    let one = &stats["data"][0]["id_data"][0];
    assert_eq!(one["segment"], Value::Null);
    assert_eq!(one["metrics"]["impressions"], Value::Null);
    let many = "zz".to_owned();
    let twenty_one: Vec<String> = (0..21).map(|n| format!("a{n}")).collect();
    let twenty_one = twenty_one.join(",");
    let rival = Advertiser::on(market());
    let foreign = rival.line_item(&rival.campaign());
    for (more, status, code, at) in [
        (
            &[("start_time", "2026-03-01T08:30:00Z")][..],
            400,
            "INVALID_PARAMETER",
            "start_time",
        ),
        (
            &[("end_time", "yesterday")],
            400,
            "INVALID_PARAMETER",
            "end_time",
        ),
        (
            &[("end_time", "2026-03-01T08:00:00Z")],
            400,
            "INVALID_TIME_WINDOW",
            "",
        ),
        (
            &[("end_time", "2026-03-08T09:00:00Z")],
            400,
            "INVALID_TIME_WINDOW",
            "",
        ),
        (
            &[("granularity", "WEEK")],
            400,
            "INVALID_PARAMETER",
            "granularity",
        ),
        (
            &[
                ("granularity", "DAY"),
                ("start_time", "2026-03-01T09:00:00Z"),
            ],
            400,
            "INVALID_PARAMETER",
            "start_time",
        ),
        (
            &[("metric_groups", "ENGAGEMENT,MOBILE_CONVERSION")],
            400,
            "REQUEST_TOO_COMPLEX",
            "metric_groups",
        ),
        (
            &[("metric_groups", "")],
            400,
            "MISSING_PARAMETER",
            "metric_groups",
        ),
        (
            &[("placement", "TWITTER_TIMELINE")],
            400,
            "INVALID_PARAMETER",
            "placement",
        ),
        (&[("entity", "PLANET")], 400, "INVALID_PARAMETER", "entity"),
        (
            &[("entity_ids", many.as_str())],
            404,
            "LINE_ITEM_NOT_FOUND",
            "entity_ids",
        ),
        (
            &[("entity_ids", twenty_one.as_str())],
            400,
            "INVALID_PARAMETER",
            "entity_ids",
        ),
        (
            &[("entity_ids", "a-b")],
            404,
            "INVALID_ID_ILLEGAL_CHARACTERS",
            "entity_ids",
        ),
        (
            &[("entity_ids", foreign.as_str())],
            404,
            "LINE_ITEM_NOT_FOUND",
            "entity_ids",
        ),
    ] {
        // Numbers are counted by kind: the other's first line item may have this one's number.
        if at == "entity_ids" && more[0].1 == item {
            continue;
        }
        is(&with(more), status, code, at);
    }
    // A date is its midnight in the account's time zone; days begin there.
    let days = [
        ("start_time", "2026-11-15"),
        ("end_time", "2026-11-18"),
        ("granularity", "DAY"),
    ];
    let stats = with(&days).is(200);
    assert_eq!(stats["time_series_length"], 3);
    assert_eq!(
        stats["request"]["params"]["start_time"],
        "2026-11-15T08:00:00Z"
    );
    // Roles.
    let analyst = market().person("analyst");
    let role = [
        "ads",
        "account",
        "role",
        &ads.account,
        &analyst.username,
        "ANALYST",
    ];
    market().cli(&role).well();
    let path = format!("/12/stats/accounts/{}", ads.account);
    is(
        &send(&analyst, "GET", &path, &usual),
        403,
        "ACTION_NOT_ALLOWED",
        "",
    );
    let mut params = usual.to_vec();
    params[0].1 = "ACCOUNT";
    params[1].1 = &ads.account;
    send(&analyst, "GET", &path, &params).is(200);
    let stranger = market().person("stranger");
    is(
        &send(&stranger, "GET", &path, &usual),
        403,
        "ACCOUNT_NOT_FOUND",
        "account_id",
    );
}

/// A job's file, once it is there.
fn file(ads: &Advertiser, job: &Value) -> Value {
    let id = job["data"]["id_str"].as_str().unwrap().to_owned();
    let mut url = String::new();
    until("the job is done", || {
        let found = ads.beside("GET", "jobs/A", &[("job_ids", &id)]).is(200);
        let one = &found["data"][0];
        one["url"].as_str().unwrap_or_default().clone_into(&mut url);
        assert_ne!(one["status"], "FAILED");
        one["status"] == "SUCCESS"
    });
    let path = &url[url.find("/ads-files/").unwrap()..];
    let answer = market().send(Ask::get(path));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/gzip");
    let mut text = String::new();
    GzDecoder::new(answer.body.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

fn sum(entity: &Value, name: &str) -> i64 {
    let data = entity["id_data"].as_array().unwrap().iter();
    let values = data.filter_map(|one| one["metrics"][name].as_array());
    values.flatten().map(|one| one.as_i64().unwrap()).sum()
}

/// Whatever happened, figures agree with each other and with the budget.
#[test]
fn figures_agree_whatever_was_made_up() {
    let ads = Advertiser::on(market());
    let campaign = ads.quick_campaign("900000");
    let items = [
        ads.quick_item(&campaign, "150000"),
        ads.quick_item(&campaign, "100000"),
    ];
    for item in &items {
        ads.promoted(item, false);
        ads.promoted(item, true);
    }
    for _ in 0..5 {
        market().person("viewer");
    }
    for seed in ["1", "2"] {
        let simulate = [
            "ads",
            "simulate",
            &ads.account,
            "--hours",
            "40",
            "--seed",
            seed,
        ];
        let made = market().cli(&simulate).json();
        assert!(made["events"].as_i64().unwrap() > 50, "{made}");
        // The same seed makes the same events, and makes them once.
        let again = market().cli(&simulate).json();
        assert!(
            again["events"].as_i64().unwrap() <= made["events"].as_i64().unwrap() / 10,
            "{again}"
        );
    }
    let both = items.join(",");
    let (from, to) = around(48, 1);
    let of = |entity: &'static str, ids: &str, granularity: &'static str| {
        let more = [
            ("entity", entity),
            ("entity_ids", ids),
            ("granularity", granularity),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
        ];
        ads.stats(entity, ids, &more)
    };
    let by_item = of("LINE_ITEM", &both, "TOTAL");
    let by_hour = of("LINE_ITEM", &both, "HOUR");
    let whole = of("CAMPAIGN", &campaign, "TOTAL");
    let job = |segments: &'static str| {
        let mut params = vec![
            ("entity", "LINE_ITEM"),
            ("entity_ids", both.as_str()),
            ("granularity", "HOUR"),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        if !segments.is_empty() {
            params.push(("segmentation_type", segments));
        }
        let made = ads.beside("POST", "jobs/A", &params).is(200);
        assert_eq!(made["data"]["status"], "QUEUED");
        assert!(made["data"]["id"].is_i64());
        file(&ads, &made)
    };
    let late = job("");
    assert_eq!(
        late["data"], by_hour["data"],
        "at once and in the background"
    );
    assert_eq!(late["request"]["params"], by_hour["request"]["params"]);
    let segmented: Vec<Value> = ["PLATFORMS", "AGE", "GENDER"]
        .into_iter()
        .map(job)
        .collect();
    for name in [
        "impressions",
        "engagements",
        "likes",
        "clicks",
        "billed_engagements",
        "billed_charge_local_micro",
    ] {
        let mut all = 0;
        for place in 0..2 {
            let total = sum(&by_item["data"][place], name);
            assert_eq!(total, sum(&by_hour["data"][place], name), "{name} by hour");
            for one in &segmented {
                assert_eq!(total, sum(&one["data"][place], name), "{name} by segment");
                let segments = one["data"][place]["id_data"].as_array().unwrap();
                assert!(segments.len() > 1, "{one}");
                assert!(segments[0]["segment"]["segment_name"].is_string());
            }
            all += total;
        }
        assert_eq!(all, sum(&whole["data"][0], name), "{name} of the campaign");
    }
    // Three days at most, and an event each.
    let spent = sum(&whole["data"][0], "billed_charge_local_micro");
    assert!(spent > 0 && spent <= 3 * (900_000 + 150_000), "{spent}");
    let params = [
        ("campaign_ids", campaign.as_str()),
        ("start_time", &from),
        ("end_time", &to),
    ];
    let reach = ads.beside("GET", "A/reach/campaigns", &params).is(200);
    let reach = reach["data"][0]["total_audience_reach"].as_i64().unwrap();
    assert!(reach > 0 && reach <= sum(&whole["data"][0], "impressions"));
}

#[test]
fn jobs_wait_are_called_off_and_are_counted() {
    let ads = Advertiser::on(market());
    let item = ads.line_item(&ads.campaign());
    let usual = vec![
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let with = |more: &[(&'static str, &'static str)]| {
        let mut params = usual.clone();
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more.iter().copied());
        ads.beside("POST", "jobs/A", &params)
    };
    let long = [("end_time", "2026-05-30T08:00:00Z")];
    let made = with(&long);
    assert_eq!(made.header("x-concurrent-job-limit"), "100");
    let first = made.is(200)["data"]["id_str"].as_str().unwrap().to_owned();
    for (more, code, at) in [
        (
            &[("end_time", "2026-05-31T08:00:00Z")][..],
            "INVALID_TIME_WINDOW",
            "",
        ),
        (
            &[long[0], ("segmentation_type", "AGE")],
            "INVALID_TIME_WINDOW",
            "",
        ),
        (
            &[("segmentation_type", "METROS")],
            "INCLUSIVE_PARAMETERS",
            "country",
        ),
        (
            &[("segmentation_type", "CONVERSION_TAGS")],
            "INVALID_PARAMETER",
            "segmentation_type",
        ),
        (
            &[("segmentation_type", "MOODS")],
            "INVALID_PARAMETER",
            "segmentation_type",
        ),
    ] {
        is(&with(more), 400, code, at);
    }
    let second = with(&[]).is(200)["data"]["id_str"]
        .as_str()
        .unwrap()
        .to_owned();
    let gone = ads
        .beside("DELETE", &format!("jobs/A/{second}"), &[])
        .is(200);
    assert_eq!(gone["data"]["status"], "CANCELLED");
    let again = ads.beside("DELETE", &format!("jobs/A/{second}"), &[]);
    is(&again, 400, "INVALID", "job_id");
    is(
        &ads.beside("DELETE", "jobs/A/1", &[]),
        404,
        "NOT_FOUND",
        "job_id",
    );
    let rival = Advertiser::on(market());
    let foreign = rival.beside("DELETE", &format!("jobs/A/{first}"), &[]);
    is(&foreign, 404, "NOT_FOUND", "job_id");
    let none = rival
        .beside("GET", "jobs/A", &[("job_ids", &first)])
        .is(200);
    assert_eq!(none["data"], json!([]));
    // The latest first, page by page.
    let page = ads.beside("GET", "jobs/A", &[("count", "1")]).is(200);
    assert_eq!(page["data"][0]["id_str"], second.as_str());
    let next = page["next_cursor"].as_str().unwrap();
    let page = ads
        .beside("GET", "jobs/A", &[("count", "1"), ("cursor", next)])
        .is(200);
    assert_eq!(page["data"][0]["id_str"], first.as_str());
    assert_eq!(page["next_cursor"], Value::Null);
    let unknown = market().send(Ask::get("/ads-files/nothing"));
    assert_eq!(unknown.status, 404);
}
