//! Campaigns, line items and what they show.

mod budgets;
mod line_items;
mod lists;

use std::collections::BTreeSet;

use base::clock::wall_time;
use serde_json::{Value, json};

use super::ledger::written;
use super::{Advertiser, is, send, with_overrides};
use crate::harness::{TestRequest, TestResponse, TestServer, shared_server};

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn campaign_runs_once_a_line_item_has_a_promoted_post() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let path = format!("/campaigns/{campaign}");
    let state = || {
        let one = ads.get(&path, &[]);
        (one["data"]["effective_status"].clone(), one["data"]["reasons_not_servable"].clone())
    };
    let new = ads.get(&path, &[]);
    assert_eq!(new["data"]["currency"], "USD");
    assert_eq!(new["data"]["standard_delivery"], true);
    assert_eq!(state(), (json!("UNKNOWN"), json!(["INCOMPLETE"])));
    let item = ads.line_item(&campaign);
    assert_eq!(state(), (json!("UNKNOWN"), json!(["INCOMPLETE"])));
    let post = ads.person.publish_text("Look at this");
    let promote = [("line_item_id", item.as_str()), ("tweet_ids", post.as_str())];
    let created = ads.send("POST", "/promoted_tweets", &promote).assert_status(200);
    assert_eq!(created["data"][0]["tweet_id"], post.as_str());
    assert_eq!(created["total_count"], 1);
    assert_eq!(created["request"]["params"]["tweet_ids"][0], post.parse::<i64>().unwrap());
    assert_eq!(state(), (json!("RUNNING"), json!([])));
    let promoted = created["data"][0]["id"].as_str().unwrap().to_owned();
    let again = ads.send("POST", "/promoted_posts", &promote).assert_status(200);
    assert_eq!(again["data"][0]["id"], promoted.as_str());
    assert_eq!(again["data"][0]["post_id"], post.as_str());
    ads.send("PUT", &path, &[("entity_status", "PAUSED")]).assert_status(200);
    assert_eq!(state(), (json!("PAUSED"), json!(["PAUSED_BY_ADVERTISER"])));
    ads.send("DELETE", &format!("/promoted_posts/{promoted}"), &[]).assert_status(200);
    assert_eq!(state(), (json!("UNKNOWN"), json!(["PAUSED_BY_ADVERTISER", "INCOMPLETE"])));
    let revived = ads.send("POST", "/promoted_posts", &promote).assert_status(200);
    assert_eq!(revived["data"][0]["id"], promoted.as_str());
    assert_eq!(revived["data"][0]["deleted"], false);
}

#[test]
fn record_below_a_deleted_one_is_listed_with_deleted_records_only() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let path = format!("/campaigns/{campaign}");
    let item = ads.line_item(&campaign);
    ads.promote_new_post(&item);
    // What is below a deleted record is listed with deleted ones, and was not deleted itself.
    ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    let below = [("line_item_ids", item.as_str())];
    assert!(ids(&ads.get("/promoted_posts", &below)).is_empty());
    let seen = ads.get("/promoted_posts", &[below[0], ("with_deleted", "True")]);
    assert_eq!(seen["data"][0]["deleted"], false);
    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!((&deleted["data"]["deleted"], &deleted["data"]["servable"]), (&json!(true), &Value::Null));
    is(&ads.send("DELETE", &path, &[]), 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
    is(&ads.send("GET", &path, &[]), 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
    ads.send("GET", &path, &[("with_deleted", "true")]).assert_status(200);
}

#[test]
fn invalid_campaign_is_refused_with_all_its_errors() {
    let ads = Advertiser::new();
    let with = |params: &[(&str, &str)]| {
        let defaults = [
            ("funding_instrument_id", ads.instrument.as_str()),
            ("name", "N"),
            ("daily_budget_amount_local_micro", "10000000"),
        ];
        ads.send("POST", "/campaigns", &with_overrides(&defaults, params))
    };
    is(&with(&[("name", "")]), 400, "MISSING_PARAMETER", "name");
    let daily = "daily_budget_amount_local_micro";
    let total = "total_budget_amount_local_micro";
    with(&[(daily, "5000000"), (total, "5000000")]).assert_status(200);
    is(&with(&[(daily, "5010000"), (total, "5000000")]), 400, "INVALID", daily);
    is(&with(&[(daily, "5000001")]), 400, "INVALID_DENOMINATION", daily);
    for wrong in ["0", "-10000", "x", "99999999999999999999", "1.5", "+10000"] {
        is(&with(&[(daily, wrong)]), 400, "INVALID_PARAMETER", daily);
    }
    is(&with(&[("entity_status", "GONE")]), 400, "INVALID_PARAMETER", "entity_status");
    is(&with(&[("funding_instrument_id", "zz")]), 404, "FUNDING_INSTRUMENT_NOT_FOUND", "funding_instrument_id");
    is(&with(&[("funding_instrument_id", "a-b")]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "funding_instrument_id");
    let delivery = [("budget_optimization", "LINE_ITEM"), ("standard_delivery", "true")];
    is(&with(&delivery), 400, "INVALID", "standard_delivery");
    let all = with(&[("name", ""), (daily, "x"), ("entity_status", "y")]).assert_status(400);
    assert_eq!(all["errors"].as_array().unwrap().len(), 3, "{all}");
    // What clients send back of a record is passed over.
    with(&[("id", "x"), ("created_at", "never"), ("servable", "true"), ("to_delete", "False")]).assert_status(200);
}

#[test]
fn campaign_batch_is_applied_completely_or_not_at_all() {
    let ads = Advertiser::new();
    let create = |name: &str| {
        json!({ "operation_type": "Create", "params": {
            "name": name, "funding_instrument_id": ads.instrument,
            "daily_budget_amount_local_micro": 10_000_000,
        } })
    };
    let stored = ads.campaign();
    let change = json!({ "operation_type": "Update", "params": { "campaign_id": stored, "name": "Autumn" } });
    let broken = json!([create("One"), create(""), change, { "operation_type": "Delete", "params": {} }]);
    let refused = ads.batch("campaigns", &broken).assert_status(400);
    let items = refused["operation_errors"].as_array().unwrap();
    assert_eq!(items[0], json!([]));
    assert_eq!(items[1][0]["code"], "MISSING_PARAMETER");
    assert_eq!(items[2], json!([]));
    assert_eq!(items[3][0]["parameter"], "campaign_id");
    assert_eq!(ids(&ads.get("/campaigns", &[])), [stored.as_str()]);
    assert_eq!(ads.get(&format!("/campaigns/{stored}"), &[])["data"]["name"], "Spring");
    let whole = json!([create("One"), change, { "operation_type": "Delete", "params": { "id": stored } }]);
    is(&ads.batch("campaigns", &json!([])), 400, "INVALID_PARAMETER", "");
    is(&ads.batch("campaigns", &json!({})), 400, "INVALID_PARAMETER", "");
    // The same record twice: deletions come first, so that the change finds nothing.
    ads.batch("campaigns", &whole).assert_status(400);
    let done = ads.batch("campaigns", &json!([create("One"), change])).assert_status(200);
    assert_eq!(done["data"][1]["name"], "Autumn");
    let forty: Vec<Value> = (0..40).map(|number| create(&number.to_string())).collect();
    ads.batch("campaigns", &forty.into()).assert_status(200);
    let more: Vec<Value> = (0..41).map(|number| create(&number.to_string())).collect();
    is(&ads.batch("campaigns", &more.into()), 400, "INVALID_PARAMETER", "");
}

/// What is found by an index of its own is what a walk along the whole list leaves.
#[test]
fn active_campaign_beyond_the_account_limit_is_refused() {
    let ads = Advertiser::new();
    shared_server().run_cli(&["ads", "account", "set", &ads.account, "--campaigns", "2"]).assert_success();
    let one = json!({ "operation_type": "Create", "params": {
        "name": "Many", "funding_instrument_id": ads.instrument,
        "daily_budget_amount_local_micro": 10_000_000,
    } });
    let many = ads.batch("campaigns", &json!([one, one, one])).assert_status(400);
    assert_eq!(many["operation_errors"][0], json!([]));
    assert_eq!(many["operation_errors"][1], json!([]));
    assert_eq!(many["operation_errors"][2][0]["code"], "TOO_MANY_CAMPAIGNS");
    assert!(ids(&ads.get("/campaigns", &[])).is_empty());
    let first = ads.campaign();
    let second = ads.campaign();
    let params = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "Third"),
        ("daily_budget_amount_local_micro", "10000000"),
    ];
    is(&ads.send("POST", "/campaigns", &params), 400, "TOO_MANY_CAMPAIGNS", "");
    let draft = [&params[..], &[("entity_status", "DRAFT")]].concat();
    let draft = ads.make("/campaigns", &draft);
    let wake = |id: &str| ads.send("PUT", &format!("/campaigns/{id}"), &[("entity_status", "ACTIVE")]);
    is(&wake(&draft), 400, "TOO_MANY_CAMPAIGNS", "");
    ads.send("DELETE", &format!("/campaigns/{first}"), &[]).assert_status(200);
    wake(&draft).assert_status(200);
    is(
        &ads.send("PUT", &format!("/campaigns/{draft}"), &[("entity_status", "DRAFT")]),
        400,
        "INVALID_PARAMETER",
        "entity_status",
    );
    // Its line items have ended: it counts no longer.
    let item = ads.line_item(&second);
    ads.send("PUT", &format!("/line_items/{item}"), &[("end_time", "2026-01-02T00:00:00Z")]).assert_status(200);
    assert_eq!(ads.get(&format!("/campaigns/{second}"), &[])["data"]["reasons_not_servable"][0], "EXPIRED");
    ads.send("POST", "/campaigns", &params).assert_status(200);
}

#[test]
fn role_decides_who_reads_and_writes_campaigns() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let other = shared_server().new_user("colleague");
    let path = format!("/12/accounts/{}/campaigns", ads.account);
    let one = format!("{path}/{campaign}");
    let role = |role: &[&str]| {
        let grant = ["ads", "account", "role", &ads.account, &other.username];
        shared_server().run_cli(&[&grant[..], role].concat()).assert_success();
    };
    for (name, reads, writes) in [
        ("AD_MANAGER", true, true),
        ("CREATIVE_MANAGER", true, false),
        ("CAMPAIGN_ANALYST", true, false),
        ("ANALYST", false, false),
        ("PARTNER_AUDIENCE_MANAGER", false, false),
    ] {
        role(&[name]);
        let may = |response: &TestResponse, may: bool| {
            if may {
                response.assert_status(200);
            } else {
                is(response, 403, "ACTION_NOT_ALLOWED", "");
            }
        };
        may(&send(&other, "GET", &path, &[]), reads);
        may(&send(&other, "PUT", &one, &[("name", name)]), writes);
        let access = format!("/12/accounts/{}/authenticated_user_access", ads.account);
        let access = send(&other, "GET", &access, &[]).assert_status(200);
        assert_eq!(access["data"]["permissions"], json!([name]));
    }
    role(&[]);
    is(&send(&other, "GET", &path, &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
}

#[test]
fn tracking_tag_belongs_to_its_line_item_and_account() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let item = ads.line_item(&ads.campaign());
    let url = "https://partner.example/seen?a=1";
    let tag = [("line_item_id", item.as_str()), ("tracking_tag_type", "IMPRESSION_TAG"), ("tracking_tag_url", url)];
    let id = ads.make("/tracking_tags", &tag);
    let path = format!("/tracking_tags/{id}");
    is(&ads.send("PUT", &path, &[]), 400, "MISSING_PARAMETER", "tracking_tag_url");
    is(&ads.send("PUT", &path, &[("tracking_tag_url", "partner")]), 400, "INVALID_PARAMETER", "tracking_tag_url");
    let changed = ads.send("PUT", &path, &[("tracking_tag_url", "https://b.example")]).assert_status(200);
    assert_eq!(changed["data"]["tracking_tag_url"], "https://b.example");
    // Another account has neither the tag nor the line item.
    is(&other.send("GET", &path, &[]), 404, "NOT_FOUND", "tracking_tag_id");
    is(&other.send("POST", "/tracking_tags", &tag), 404, "LINE_ITEM_NOT_FOUND", "line_item_id");
    let none = other.get("/tracking_tags", &[("tracking_tag_ids", &id)]);
    assert!(ids(&none).is_empty());
    assert!(ids(&other.get("/tracking_tags", &[("line_item_ids", &item)])).is_empty());
}

fn without_empty<'a>(params: Vec<(&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    params.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Creates a line item for engagements, unless the parameters say otherwise.
fn create_line_item(ads: &Advertiser, campaign: &str, more: &[(&str, &str)]) -> TestResponse {
    let defaults = [
        ("campaign_id", campaign),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "150000"),
    ];
    ads.send("POST", "/line_items", &without_empty(with_overrides(&defaults, more)))
}

#[test]
fn promoted_account_needs_a_followers_line_item_and_a_promotable_user() {
    let (ads, stranger) = (Advertiser::new(), shared_server().new_user("stranger"));
    let posts = ads.line_item(&ads.campaign());
    let campaign = ads.campaign();
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "FOLLOWERS"),
        ("product_type", "PROMOTED_ACCOUNT"),
        ("placements", "ALL_ON_TWITTER"),
    ];
    let users = ads.make("/line_items", &params);
    let promote = |item: &str, user: &str| {
        let params = [("line_item_id", item), ("user_id", user)];
        ads.send("POST", "/promoted_accounts", &params)
    };
    let post = ads.person.publish_text("Of the account");
    ads.send("POST", "/promoted_posts", &[("line_item_id", users.as_str()), ("post_ids", &post)]).assert_status(200);
    let shown = ads.get(&format!("/line_items/{users}"), &[]);
    assert_eq!(shown["data"]["placements"], json!(["ALL_ON_TWITTER", "TWITTER_TIMELINE"]));
    ads.send("PUT", &format!("/line_items/{users}"), &[("name", "Both")]).assert_status(200);
    let incompatible = "INCOMPATIBLE_LINE_ITEM";
    is(&promote(&posts, &ads.person.id), 400, incompatible, "line_item_id");
    is(&promote(&users, &stranger.id), 400, "INVALID_USER_ID", "user_id");
    is(&promote(&users, "1"), 400, "INVALID_USER_ID", "user_id");
    let list = |items: &str| ads.send("GET", "/promoted_accounts", &[("line_item_ids", items)]);
    assert_eq!(list(&users).assert_status(200)["data"], json!([]), "nobody is promoted");
    let created = promote(&users, &ads.person.id).assert_status(200);
    // Once more is no more.
    assert_eq!(promote(&users, &ads.person.id).assert_status(200)["data"]["id"], created["data"]["id"]);
    assert_eq!(ids(&list(&users).assert_status(200)).len(), 1);
    assert_eq!(ids(&list(&format!("{posts},{users}")).assert_status(200)).len(), 1);
    let refused = list(&posts);
    is(&refused, 400, incompatible, "line_item_ids");
    assert_eq!(refused.json()["errors"][0]["value"], posts.as_str());
    let path = format!("/promoted_accounts/{}", created["data"]["id"].as_str().unwrap());
    is(&ads.send("PUT", &path, &[]), 405, "METHOD_NOT_ALLOWED", "");
}

fn request_top(server: &TestServer, path: &str) -> Value {
    let requested = TestRequest::get(format!("/12{path}")).bearer(server.env_value("USER_TOKEN"));
    server.send(requested).assert_status(200)["data"].take()
}

/// The world `ads` has campaigns in every state, down to what is shown.
#[test]
fn ads_world_has_campaigns_in_every_state() {
    let server = TestServer::start(&["--world", "ads"]);
    let request = |path: &str| {
        let path = format!("/12/accounts{path}");
        let requested = TestRequest::get(path).bearer(server.env_value("USER_TOKEN"));
        server.send(requested).assert_status(200)["data"].take()
    };
    let account = request("")[0]["id"].as_str().unwrap().to_owned();
    let all = |path: &str| request(&format!("/{account}/{path}")).as_array().cloned().unwrap();
    let mut states: Vec<(String, String)> = all("campaigns?with_draft=true")
        .iter()
        .map(|one| ["name", "effective_status"].map(|name| one[name].as_str().unwrap().to_owned()))
        .map(|[name, state]| (name, state))
        .collect();
    states.sort();
    // Some have spent their budget of the day by now, and run again tomorrow.
    let today = |state| if state == "EXHAUSTED" { "RUNNING" } else { state };
    let states: Vec<(&str, &str)> = states.iter().map(|(name, state)| (name.as_str(), today(state.as_str()))).collect();
    let expected = [
        ("Across the bay", "RUNNING"),
        ("Autumn on the water", "RUNNING"),
        ("Back on board", "RUNNING"),
        ("Before the film", "RUNNING"),
        ("Harbour app", "RUNNING"),
        ("Harbour festival", "RUNNING"),
        ("Ideas", "DRAFT"),
        ("More followers", "RUNNING"),
        ("Next summer", "SCHEDULED"),
        ("Nothing in it yet", "UNKNOWN"),
        ("Summer", "EXPIRED"),
        ("The shop", "RUNNING"),
        ("Where to next", "RUNNING"),
        ("Winter offers", "PAUSED"),
    ];
    assert_eq!(states, expected);
    for (path, count) in [
        ("line_items", 12),
        ("promoted_posts", 11),
        ("media_creatives", 1),
        ("promoted_accounts", 1),
        ("scheduled_posts", 1),
        ("scheduled_promoted_posts", 1),
        ("draft_posts", 1),
        ("tracking_tags", 1),
        // The newsletter, and the visitors of the site.
        ("custom_audiences", 2),
        ("web_event_tags", 3),
        ("app_event_tags", 1),
        ("cards", 4),
        ("cards/poll", 1),
        ("media_library", 2),
        ("funding_instruments", 1),
    ] {
        assert_eq!(all(path).len(), count, "{path}");
    }
    let access = request(&format!("/{account}/authenticated_user_access"));
    assert_eq!(access["permissions"], json!(["ACCOUNT_ADMIN", "POST_COMPOSER"]));
    check_media(&server, &all("media_library"));
    let items = all("line_items");
    let objectives: BTreeSet<&str> = items.iter().map(|item| item["objective"].as_str().unwrap()).collect();
    assert_eq!(objectives, ads::resources::line_items::OBJECTIVES.iter().copied().collect());
    check_simulated_figures(&server, &account);
    check_pickers(&server);
}

fn check_media(server: &TestServer, library: &[Value]) {
    for media in library {
        let path = media["media_url"].as_str().unwrap().strip_prefix(&server.url).unwrap();
        assert_eq!(server.send(TestRequest::get(path)).status, 200);
    }
}

fn check_simulated_figures(server: &TestServer, account: &str) {
    // It opens with three months of simulated figures, which are not added again.
    let stats = |entity: &str, id: &str| {
        let day = |back: i64| written(wall_time().ms() - back * 86_400_000)[..10].to_owned();
        let query = format!(
            "entity={entity}&entity_ids={id}&granularity=DAY&placement=ALL_ON_TWITTER&metric_groups=ENGAGEMENT,BILLING\
             &start_time={}&end_time={}",
            day(80),
            day(74)
        );
        let path = format!("/12/stats/accounts/{account}?{query}");
        server.send(TestRequest::get(path).bearer(server.env_value("USER_TOKEN"))).assert_status(200)
    };
    for campaign in request_top(server, &format!("/accounts/{account}/campaigns"))
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["effective_status"] == "RUNNING")
    {
        let found = stats("CAMPAIGN", campaign["id"].as_str().unwrap());
        let days = found["data"][0]["id_data"][0]["metrics"]["impressions"].as_array();
        assert!(days.is_some_and(|days| days.iter().any(|day| day.as_i64() > Some(0))), "{campaign}: {found}");
    }
    let again = server.run_cli(&["ads", "simulate", account, "--hours", "24"]).json();
    let other = server.run_cli(&["ads", "simulate", account, "--hours", "24", "--seed", "2"]).json();
    assert!(again["events"].as_i64() < Some(500) && other["events"].as_i64() > Some(0), "{again}: {other}");
}

fn check_pickers(server: &TestServer) {
    for path in [
        "devices",
        "platform_versions",
        "events?event_types=MUSIC_AND_ENTERTAINMENT",
        "tv_markets",
        "tv_shows?locale=en-GB",
        "app_store_categories",
        "network_operators?country_code=GB",
        "conversations",
        "locations?location_type=METROS",
        "locations?location_type=POSTAL_CODES",
    ] {
        let path = format!("/targeting_criteria/{path}");
        assert!(!request_top(server, &path).as_array().unwrap().is_empty(), "{path}");
    }
    assert!(!request_top(server, "/publishers").as_array().unwrap().is_empty());
}
