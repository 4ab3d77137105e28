//! Recommendations: what could do better, how that is followed, and when it is over.

use base::clock::wall_time;
use serde_json::{Value, json};

use super::ledger::{Network, market};
use super::{Advertiser, is, send};
use crate::harness::{TestRequest, TestResponse, shared_server};

const DAY: i64 = 24 * 3_600_000;

/// A number as base 36 has it.
fn number(id: &str) -> i64 {
    i64::from_str_radix(id, 36).unwrap()
}

/// Writes sums of an hour into the ledger, as serving would have.
fn sums(entity: i64, id: &str, hour: i64, (shown, done, charge): (i64, i64, i64)) {
    let hour = hour / 3_600_000 * 3_600_000;
    let none = [
        "qualified_impressions",
        "clicks",
        "url_clicks",
        "app_clicks",
        "card_engagements",
        "carousel_swipes",
        "likes",
        "reposts",
        "replies",
        "follows",
        "poll_votes",
        "billed",
        "video_starts",
        "video_views",
        "video_25",
        "video_50",
        "video_75",
        "video_100",
        "video_cta_clicks",
        "video_3s",
        "video_6s",
        "video_15s",
        "video_mrc",
    ];
    let (names, noughts) = (none.join(", "), vec!["0"; none.len()].join(", "));
    let id = number(id);
    shared_server().run_sql(&format!(
        "INSERT INTO ad_hour (entity, entity_id, hour, placement, impressions, engagements, \
         charge_micro, {names}) VALUES ({entity}, {id}, {hour}, 0, {shown}, {done}, {charge}, \
         {noughts})"
    ));
}

impl Advertiser {
    /// Makes everything of the account older.
    pub(super) fn ages(&self, days: i64) {
        let (account, by) = (number(&self.account), days * DAY);
        shared_server().run_sql(&format!(
            "UPDATE ads_record SET created_at = created_at - {by}, updated_at = updated_at - {by} \
             WHERE account_id = {account}"
        ));
    }

    pub(super) fn looks(&self, more: &[&str]) {
        let look = ["ads", "account", "recommend", &self.account];
        let server = self.person.server;
        server.run_cli(&[&look[..], more].concat()).assert_success();
    }

    fn path(&self, more: &str) -> String {
        format!("/5/accounts/{}/recommendations{more}", self.account)
    }

    /// The one that is open; none when none is.
    pub(super) fn open(&self) -> Option<String> {
        let list = send(&self.person, "GET", &self.path(""), &[]).assert_status(200);
        let data = list["data"].as_array().unwrap();
        assert_eq!(list["total_count"], data.len());
        assert_eq!(list["next_cursor"], Value::Null);
        assert!(data.len() <= 1, "{list}");
        let one = data.first()?;
        assert_eq!(one["status"], "PENDING");
        assert_eq!(one["account_id"], self.account.as_str());
        assert_eq!(one["funding_instrument_id"], self.instrument.as_str());
        assert_eq!(one["changes"], Value::Null);
        Some(one["id"].as_str().unwrap().to_owned())
    }

    pub(super) fn recommendation(&self, id: &str) -> Value {
        let one = send(&self.person, "GET", &self.path(&format!("/{id}")), &[]).assert_status(200);
        assert_eq!(one["data_type"], "recommendations");
        one["data"].clone()
    }

    fn promote(&self, params: &Value) -> TestResponse {
        let posts = params["post_ids"][0].as_str().unwrap();
        let item = params["line_item_id"].as_str().unwrap();
        let params = [("line_item_id", item), ("post_ids", posts)];
        self.send("POST", "/promoted_posts", &params)
    }

    fn promoting(&self, item: &str, post: &str) -> String {
        let created = self.promote(&json!({ "line_item_id": item, "post_ids": [post] }));
        let created = created.assert_status(200);
        created["data"][0]["id"].as_str().unwrap().to_owned()
    }

    /// It was followed, as the next look finds.
    #[track_caller]
    fn is_followed(&self, id: &str) {
        self.looks(&[]);
        assert_eq!(self.recommendation(id)["status"], "APPLIED");
        assert_eq!(self.open(), None);
    }
}

#[test]
fn larger_budget_is_recommended_when_it_is_used_up_early() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    ads.promoting(&item, &ads.person.publish_text("Promoted"));
    ads.looks(&[]);
    assert_eq!(ads.open(), None);
    // Eight or nine in the morning, where the account is.
    let morning = |days: i64| wall_time().ms() / DAY * DAY - days * DAY + 16 * 3_600_000;
    for days in 2..4 {
        sums(3, &campaign, morning(days), (10, 1, 20_000_000));
    }
    sums(3, &campaign, morning(4), (10, 1, 19_990_000));
    sums(3, &campaign, morning(5) + 7 * 3_600_000, (10, 1, 20_000_000));
    ads.looks(&[]);
    assert_eq!(ads.open(), None);
    sums(3, &campaign, morning(6), (10, 1, 20_000_000));
    ads.looks(&[]);
    ads.looks(&[]);
    let id = ads.open().unwrap();
    assert_eq!(id.len(), 12);
    let one = ads.recommendation(&id);
    assert_eq!(one["message"], "Daily budget ran out before 14:00 on 3 of the last 7 days");
    let params = json!({ "campaign_id": campaign, "daily_budget_amount_local_micro": 25_000_000 });
    let tree = json!({
        "entity_type": "campaigns",
        "operation_type": "Update",
        "params": params,
        "dependent_entities": [],
    });
    assert_eq!(one["changes"], tree);
    for version in ["12", "11"] {
        let path = ads.path(&format!("/{id}")).replacen("/5/", &format!("/{version}/"), 1);
        let same = send(&ads.person, "GET", &path, &[]).assert_status(200);
        assert_eq!(same["data"], one);
    }
    // The tree's node is an item of a batch.
    let done = ads.batch("campaigns", &json!([tree])).assert_status(200);
    assert_eq!(done["data"][0]["daily_budget_amount_local_micro"], 25_000_000);
    ads.is_followed(&id);
}

#[test]
fn best_post_is_recommended_for_a_line_item_without_posts() {
    let (ads, fan) = (Advertiser::new(), shared_server().new_user("fan"));
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let best = ads.person.publish_text("The best");
    ads.person.publish_text("Another");
    let like = json!({ "tweet_id": best });
    fan.post(format!("/2/users/{}/likes", fan.id), &like).assert_status(200);
    ads.looks(&[]);
    assert_eq!(ads.open(), None, "it has not waited long enough");
    ads.ages(3);
    ads.looks(&[]);
    let id = ads.open().unwrap();
    let one = ads.recommendation(&id);
    let params = json!({ "line_item_id": item, "post_ids": [best] });
    assert_eq!(
        one["changes"],
        json!({
            "entity_type": "campaigns",
            "operation_type": null,
            "params": { "campaign_id": campaign },
            "dependent_entities": [{
                "entity_type": "line_items",
                "operation_type": null,
                "params": { "line_item_id": item },
                "dependent_entities": [{
                    "entity_type": "promoted_posts",
                    "operation_type": "Create",
                    "params": params,
                    "dependent_entities": [],
                }],
            }],
        })
    );
    ads.promote(&params).assert_status(200);
    ads.is_followed(&id);
}

#[test]
fn replacing_a_worn_out_post_is_recommended() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let (item, other) = (ads.line_item(&campaign), ads.line_item(&campaign));
    let (old, new) = (ads.person.publish_text("Old"), ads.person.publish_text("New"));
    let (tired, fresh) = (ads.promoting(&item, &old), ads.promoting(&other, &new));
    ads.ages(10);
    let now = wall_time().ms();
    sums(5, &tired, now - 9 * DAY, (1_000, 100, 5_000_000));
    sums(5, &tired, now - DAY, (1_000, 51, 5_000_000));
    sums(5, &fresh, now - DAY, (1_000, 200, 5_000_000));
    ads.looks(&[]);
    assert_eq!(ads.open(), None, "more than half is left");
    sums(5, &tired, now - 2 * DAY, (1_000, 10, 5_000_000));
    ads.looks(&[]);
    let id = ads.open().unwrap();
    let changes = &ads.recommendation(&id)["changes"];
    let below = &changes["dependent_entities"][0]["dependent_entities"];
    assert_eq!(below[0]["operation_type"], "Delete");
    assert_eq!(below[0]["params"], json!({ "promoted_post_id": tired }));
    assert_eq!(below[1]["operation_type"], "Create");
    let params = json!({ "line_item_id": item, "post_ids": [new] });
    assert_eq!(below[1]["params"], params);
    ads.send("DELETE", &format!("/promoted_posts/{tired}"), &[]).assert_status(200);
    ads.promote(&params).assert_status(200);
    ads.is_followed(&id);
}

#[test]
fn higher_bid_is_recommended_after_lost_auctions() {
    let (server, network) = (market(), Network::new());
    let (ads, rival) = (Advertiser::on(server), Advertiser::on(server));
    let campaign = ads.quick_campaign("20000000");
    let item = ads.quick_item(&campaign, "50000");
    ads.promoted(&item, false);
    let best = rival.quick_item(&rival.quick_campaign("20000000"), "300000");
    rival.promoted(&best, false);
    let address = format!("{}@mail.example", ads.person.username);
    let settings = [("notification_email", address.as_str()), ("subscribe_email_types", "PERFORMANCE_IMPROVEMENT")];
    let path = format!("/user_settings/{}", ads.person.id);
    ads.send("PUT", &path, &settings).assert_status(200);
    let shown = |number: usize| {
        let shown = network.request(&json!({ "key": format!("device-{number}") }), 1);
        shown[0]["line_item_id"].clone()
    };
    for number in 0..19 {
        assert_eq!(shown(number), best.as_str());
    }
    ads.looks(&[]);
    assert_eq!(ads.open(), None, "too few to say so");
    assert_eq!(shown(19), best.as_str());
    ads.looks(&[]);
    let id = ads.open().unwrap();
    let one = ads.recommendation(&id);
    assert_eq!(one["message"], "Bid won 0% of the auctions of the last 7 days");
    let update = json!({
        "entity_type": "line_items",
        "operation_type": "Update",
        "params": { "line_item_id": item, "bid_amount_local_micro": 310_000 },
        "dependent_entities": [],
    });
    assert_eq!(one["changes"]["params"], json!({ "campaign_id": campaign }));
    assert_eq!(one["changes"]["dependent_entities"], json!([update]));
    // Who asked for it is told, once.
    let mailbox = server.send(TestRequest::get("/mailbox")).text();
    assert_eq!(mailbox.matches(&address).count(), 1, "{mailbox}");
    ads.batch("line_items", &json!([update])).assert_status(200);
    ads.is_followed(&id);
    assert_eq!(shown(20), item.as_str());
    rival.looks(&[]);
    assert_eq!(rival.open(), None, "it wins");
}

#[test]
fn recommendation_ends_when_outdated_or_dismissed() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    ads.person.publish_text("A post");
    ads.ages(3);
    // Nobody has to ask: a new instrument is looked at soon, and then every day.
    let looks = || {
        ads.looks(&[]);
        ads.open()
    };
    let first = looks().unwrap();
    let path = format!("/line_items/{item}");
    let pause = |status: &str| {
        ads.send("PUT", &path, &[("entity_status", status)]).assert_status(200);
    };
    pause("PAUSED");
    assert_eq!(looks(), None);
    assert_eq!(ads.recommendation(&first)["status"], "EXPIRED");
    pause("ACTIVE");
    let second = looks().unwrap();
    assert_ne!(first, second);
    let foreign = other.path(&format!("/{second}"));
    let foreign = send(&other.person, "GET", &foreign, &[]);
    is(&foreign, 404, "NOT_FOUND", "recommendation_id");
    let unknown = send(&ads.person, "GET", &ads.path("/no-id"), &[]);
    is(&unknown, 404, "INVALID_ID_ILLEGAL_CHARACTERS", "recommendation_id");
    ads.looks(&["--dismiss", &second]);
    assert_eq!(ads.recommendation(&second)["status"], "DISMISSED");
    assert_eq!(looks(), None, "it was turned down");
    let refuse = ["ads", "account", "set", &ads.account, "--refuse"];
    shared_server().run_cli(&[&refuse[..], &["RECOMMENDATIONS"]].concat()).assert_success();
    for path in [ads.path(""), ads.path(&format!("/{second}"))] {
        let refused = send(&ads.person, "GET", &path, &[]);
        is(&refused, 400, "FEATURE_NOT_AVAILABLE", "");
    }
}
