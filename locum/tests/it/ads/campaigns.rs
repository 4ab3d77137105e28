//! Campaigns, line items and what they show.

use serde_json::{Value, json};

use super::{Advertiser, is, send};
use crate::harness::shared;

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_campaign_runs_once_it_is_whole() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let path = format!("/campaigns/{campaign}");
    let state = || {
        let one = ads.get(&path, &[]);
        (
            one["data"]["effective_status"].clone(),
            one["data"]["reasons_not_servable"].clone(),
        )
    };
    let new = ads.get(&path, &[]);
    assert_eq!(new["data"]["currency"], "USD");
    assert_eq!(new["data"]["standard_delivery"], true);
    assert_eq!(state(), (json!("UNKNOWN"), json!(["INCOMPLETE"])));
    let item = ads.line_item(&campaign);
    assert_eq!(state(), (json!("UNKNOWN"), json!(["INCOMPLETE"])));
    let post = ads.person.says("Look at this");
    let promote = [
        ("line_item_id", item.as_str()),
        ("tweet_ids", post.as_str()),
    ];
    let made = ads.send("POST", "/promoted_tweets", &promote).is(200);
    assert_eq!(made["data"][0]["tweet_id"], post.as_str());
    assert_eq!(made["total_count"], 1);
    assert_eq!(
        made["request"]["params"]["tweet_ids"][0],
        post.parse::<i64>().unwrap()
    );
    assert_eq!(state(), (json!("RUNNING"), json!([])));
    let promoted = made["data"][0]["id"].as_str().unwrap().to_owned();
    let again = ads.send("POST", "/promoted_posts", &promote).is(200);
    assert_eq!(again["data"][0]["id"], promoted.as_str());
    assert_eq!(again["data"][0]["post_id"], post.as_str());
    ads.send("PUT", &path, &[("entity_status", "PAUSED")])
        .is(200);
    assert_eq!(state(), (json!("PAUSED"), json!(["PAUSED_BY_ADVERTISER"])));
    ads.send("DELETE", &format!("/promoted_posts/{promoted}"), &[])
        .is(200);
    assert_eq!(
        state(),
        (
            json!("UNKNOWN"),
            json!(["PAUSED_BY_ADVERTISER", "INCOMPLETE"])
        )
    );
    let revived = ads.send("POST", "/promoted_posts", &promote).is(200);
    assert_eq!(revived["data"][0]["id"], promoted.as_str());
    assert_eq!(revived["data"][0]["deleted"], false);

    // What is below a deleted record is listed with deleted ones, and was not deleted itself.
    ads.send("DELETE", &format!("/line_items/{item}"), &[])
        .is(200);
    let below = [("line_item_ids", item.as_str())];
    assert!(ids(&ads.get("/promoted_posts", &below)).is_empty());
    let seen = ads.get("/promoted_posts", &[below[0], ("with_deleted", "True")]);
    assert_eq!(seen["data"][0]["deleted"], false);
    let gone = ads.send("DELETE", &path, &[]).is(200);
    assert_eq!(
        (&gone["data"]["deleted"], &gone["data"]["servable"]),
        (&json!(true), &Value::Null)
    );
    is(
        &ads.send("DELETE", &path, &[]),
        404,
        "CAMPAIGN_NOT_FOUND",
        "campaign_id",
    );
    is(
        &ads.send("GET", &path, &[]),
        404,
        "CAMPAIGN_NOT_FOUND",
        "campaign_id",
    );
    ads.send("GET", &path, &[("with_deleted", "true")]).is(200);
}

#[test]
fn a_campaign_keeps_its_limits() {
    let ads = Advertiser::new();
    let with = |params: &[(&str, &str)]| {
        let usual = [
            ("funding_instrument_id", ads.instrument.as_str()),
            ("name", "N"),
            ("daily_budget_amount_local_micro", "10000000"),
        ];
        let kept = usual
            .iter()
            .filter(|(name, _)| params.iter().all(|(other, _)| other != name));
        let all: Vec<(&str, &str)> = kept.copied().chain(params.iter().copied()).collect();
        ads.send("POST", "/campaigns", &all)
    };
    let long = |length: usize| "é".repeat(length);
    with(&[("name", &long(255))]).is(200);
    is(
        &with(&[("name", &long(256))]),
        400,
        "INVALID_PARAMETER",
        "name",
    );
    is(&with(&[("name", "")]), 400, "MISSING_PARAMETER", "name");
    with(&[("purchase_order_number", &long(50))]).is(200);
    is(
        &with(&[("purchase_order_number", &long(51))]),
        400,
        "INVALID_PARAMETER",
        "purchase_order_number",
    );
    let daily = "daily_budget_amount_local_micro";
    let total = "total_budget_amount_local_micro";
    with(&[(daily, "5000000"), (total, "5000000")]).is(200);
    is(
        &with(&[(daily, "5010000"), (total, "5000000")]),
        400,
        "INVALID",
        daily,
    );
    is(
        &with(&[(daily, "5000001")]),
        400,
        "INVALID_DENOMINATION",
        daily,
    );
    for wrong in ["0", "-10000", "x", "99999999999999999999", "1.5", "+10000"] {
        is(&with(&[(daily, wrong)]), 400, "INVALID_PARAMETER", daily);
    }
    is(
        &with(&[("entity_status", "GONE")]),
        400,
        "INVALID_PARAMETER",
        "entity_status",
    );
    is(
        &with(&[("funding_instrument_id", "zz")]),
        404,
        "FUNDING_INSTRUMENT_NOT_FOUND",
        "funding_instrument_id",
    );
    is(
        &with(&[("funding_instrument_id", "a-b")]),
        404,
        "INVALID_ID_ILLEGAL_CHARACTERS",
        "funding_instrument_id",
    );
    let delivery = [
        ("budget_optimization", "LINE_ITEM"),
        ("standard_delivery", "true"),
    ];
    is(&with(&delivery), 400, "INVALID", "standard_delivery");
    let all = with(&[("name", ""), (daily, "x"), ("entity_status", "y")]).is(400);
    assert_eq!(all["errors"].as_array().unwrap().len(), 3, "{all}");
    // What clients send back of a record is passed over.
    with(&[
        ("id", "x"),
        ("created_at", "never"),
        ("servable", "true"),
        ("to_delete", "False"),
    ])
    .is(200);
}

#[test]
fn lists_are_filtered_ordered_and_continued() {
    let ads = Advertiser::new();
    let items: Vec<Value> = (0..25)
        .map(|number| {
            json!({ "operation_type": "Create", "params": {
                "name": format!("{} {number:02}", if number % 2 == 0 { "Even" } else { "odd" }),
                "funding_instrument_id": ads.instrument,
                "daily_budget_amount_local_micro": 10_000_000 + 10_000 * (number % 5),
                "entity_status": if number == 7 { "DRAFT" } else { "PAUSED" },
            } })
        })
        .collect();
    let made = ads.batch("campaigns", &items.into()).is(200);
    let all = ids(&made);
    assert_eq!(all.len(), 25);
    assert_eq!(made["request"][3]["operation_type"], "Create");
    assert_eq!(made["request"][3]["params"]["name"], "odd 03");
    let walk = |params: &[(&str, &str)]| {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut params = params.to_vec();
            if let Some(cursor) = &cursor {
                params.push(("cursor", cursor));
            }
            let page = ads.get("/campaigns", &params);
            found.extend(ids(&page));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return found,
            }
        }
    };
    for sort in [
        "name-asc",
        "name-desc",
        "created_at-asc",
        "daily_budget_amount_local_micro-desc",
        "daily_budget_amount_local_micro-desc,name-asc",
        "standard_delivery-asc,daily_budget_amount_local_micro-asc,name-desc",
    ] {
        let whole = walk(&[("sort_by", sort)]);
        assert_eq!(whole.len(), 24, "without the draft");
        assert_eq!(walk(&[("sort_by", sort), ("count", "7")]), whole, "{sort}");
        assert_eq!(walk(&[("sort_by", sort), ("count", "8")]), whole, "{sort}");
    }
    // Within a budget by name, the highest budget first: what the ids alone would not do.
    let mut wanted: Vec<usize> = (0..25).filter(|number| *number != 7).collect();
    let name = |number: usize| (number % 2 == 1, number);
    wanted.sort_by_key(|number| (std::cmp::Reverse(number % 5), name(*number)));
    let wanted: Vec<&str> = wanted.iter().map(|number| all[*number].as_str()).collect();
    let sort = [("sort_by", "daily_budget_amount_local_micro-desc,name-asc")];
    assert_eq!(walk(&sort), wanted);
    let some = [sort[0], ("campaign_ids", &all.join(",")), ("count", "9")];
    assert_eq!(walk(&some), wanted, "those that are asked for alike");
    assert_eq!(walk(&[("with_draft", "true")]).len(), 25);
    assert_eq!(walk(&[("q", "eVeN")]).len(), 13);
    assert!(walk(&[("q", "ven")]).is_empty());
    let some = all[..3].join(",");
    assert_eq!(walk(&[("campaign_ids", &some), ("count", "2")]).len(), 3);
    assert_eq!(
        walk(&[("funding_instrument_ids", &ads.instrument), ("count", "5")]).len(),
        24
    );
    let total = ads.get(
        "/campaigns",
        &[("with_total_count", "true"), ("count", "1")],
    );
    assert_eq!(total["total_count"], 24);
    let cursor = total["next_cursor"].as_str().unwrap();
    let with = |params: &[(&str, &str)]| ads.send("GET", "/campaigns", params);
    is(
        &with(&[("cursor", cursor), ("with_total_count", "true")]),
        400,
        "EXCLUSIVE_PARAMETERS",
        "cursor",
    );
    is(
        &with(&[("cursor", cursor), ("sort_by", "name-asc")]),
        400,
        "INVALID_PARAMETER",
        "cursor",
    );
    is(
        &with(&[("cursor", "x")]),
        400,
        "INVALID_PARAMETER",
        "cursor",
    );
    for wrong in ["0", "1001", "x"] {
        is(
            &with(&[("count", wrong)]),
            400,
            "INVALID_PARAMETER",
            "count",
        );
    }
    is(
        &with(&[("sort_by", "currency-asc")]),
        400,
        "INVALID_PARAMETER",
        "sort_by",
    );
    is(
        &with(&[("q", &"x".repeat(256))]),
        400,
        "INVALID_PARAMETER",
        "q",
    );
    let many: Vec<String> = (1..=201).map(|number| number.to_string()).collect();
    with(&[("campaign_ids", &many[..200].join(","))]).is(200);
    is(
        &with(&[("campaign_ids", &many.join(","))]),
        400,
        "INVALID_PARAMETER",
        "campaign_ids",
    );
    let totals = with(&[("with_total_count", "true")]);
    assert_eq!(totals.number("x-rate-limit-limit"), 200);
    assert_eq!(with(&[]).number("x-rate-limit-limit"), 10_000);
}

#[test]
fn a_batch_is_done_whole_or_not_at_all() {
    let ads = Advertiser::new();
    let create = |name: &str| {
        json!({ "operation_type": "Create", "params": {
            "name": name, "funding_instrument_id": ads.instrument,
            "daily_budget_amount_local_micro": 10_000_000,
        } })
    };
    let kept = ads.campaign();
    let change =
        json!({ "operation_type": "Update", "params": { "campaign_id": kept, "name": "Autumn" } });
    let broken =
        json!([create("One"), create(""), change, { "operation_type": "Delete", "params": {} }]);
    let refused = ads.batch("campaigns", &broken).is(400);
    let items = refused["operation_errors"].as_array().unwrap();
    assert_eq!(items[0], json!([]));
    assert_eq!(items[1][0]["code"], "MISSING_PARAMETER");
    assert_eq!(items[2], json!([]));
    assert_eq!(items[3][0]["parameter"], "campaign_id");
    assert_eq!(ids(&ads.get("/campaigns", &[])), [kept.as_str()]);
    assert_eq!(
        ads.get(&format!("/campaigns/{kept}"), &[])["data"]["name"],
        "Spring"
    );
    let whole =
        json!([create("One"), change, { "operation_type": "Delete", "params": { "id": kept } }]);
    is(
        &ads.batch("campaigns", &json!([])),
        400,
        "INVALID_PARAMETER",
        "",
    );
    is(
        &ads.batch("campaigns", &json!({})),
        400,
        "INVALID_PARAMETER",
        "",
    );
    // The same record twice: deletions come first, so that the change finds nothing.
    ads.batch("campaigns", &whole).is(400);
    let done = ads
        .batch("campaigns", &json!([create("One"), change]))
        .is(200);
    assert_eq!(done["data"][1]["name"], "Autumn");
    let forty: Vec<Value> = (0..40).map(|number| create(&number.to_string())).collect();
    ads.batch("campaigns", &forty.into()).is(200);
    let more: Vec<Value> = (0..41).map(|number| create(&number.to_string())).collect();
    is(
        &ads.batch("campaigns", &more.into()),
        400,
        "INVALID_PARAMETER",
        "",
    );
}

#[test]
fn active_campaigns_are_limited() {
    let ads = Advertiser::new();
    shared()
        .cli(&["ads", "account", "set", &ads.account, "--campaigns", "2"])
        .well();
    let first = ads.campaign();
    let second = ads.campaign();
    let params = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "Third"),
        ("daily_budget_amount_local_micro", "10000000"),
    ];
    is(
        &ads.send("POST", "/campaigns", &params),
        400,
        "TOO_MANY_CAMPAIGNS",
        "",
    );
    let draft = [&params[..], &[("entity_status", "DRAFT")]].concat();
    let draft = ads.make("/campaigns", &draft);
    let wake = |id: &str| {
        ads.send(
            "PUT",
            &format!("/campaigns/{id}"),
            &[("entity_status", "ACTIVE")],
        )
    };
    is(&wake(&draft), 400, "TOO_MANY_CAMPAIGNS", "");
    ads.send("DELETE", &format!("/campaigns/{first}"), &[])
        .is(200);
    wake(&draft).is(200);
    is(
        &ads.send(
            "PUT",
            &format!("/campaigns/{draft}"),
            &[("entity_status", "DRAFT")],
        ),
        400,
        "INVALID_PARAMETER",
        "entity_status",
    );
    // Its line items have ended: it counts no longer.
    let item = ads.line_item(&second);
    ads.send(
        "PUT",
        &format!("/line_items/{item}"),
        &[("end_time", "2026-01-02T00:00:00Z")],
    )
    .is(200);
    assert_eq!(
        ads.get(&format!("/campaigns/{second}"), &[])["data"]["reasons_not_servable"][0],
        "EXPIRED"
    );
    ads.send("POST", "/campaigns", &params).is(200);
}

#[test]
fn roles_say_what_may_be_done() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let other = shared().person("colleague");
    let path = format!("/12/accounts/{}/campaigns", ads.account);
    let one = format!("{path}/{campaign}");
    let role = |role: &[&str]| {
        let grant = ["ads", "account", "role", &ads.account, &other.username];
        shared().cli(&[&grant[..], role].concat()).well();
    };
    for (name, reads, writes) in [
        ("AD_MANAGER", true, true),
        ("CREATIVE_MANAGER", true, false),
        ("CAMPAIGN_ANALYST", true, false),
        ("ANALYST", false, false),
        ("PARTNER_AUDIENCE_MANAGER", false, false),
    ] {
        role(&[name]);
        let may = |answer: &crate::harness::Answer, may: bool| {
            if may {
                answer.is(200);
            } else {
                is(answer, 403, "ACTION_NOT_ALLOWED", "");
            }
        };
        may(&send(&other, "GET", &path, &[]), reads);
        may(&send(&other, "PUT", &one, &[("name", name)]), writes);
        let access = format!("/12/accounts/{}/authenticated_user_access", ads.account);
        let access = send(&other, "GET", &access, &[]).is(200);
        assert_eq!(access["data"]["permissions"], json!([name]));
    }
    role(&[]);
    is(
        &send(&other, "GET", &path, &[]),
        403,
        "ACCOUNT_NOT_FOUND",
        "account_id",
    );
}

#[test]
fn a_tag_belongs_to_its_line_item() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let item = ads.line_item(&ads.campaign());
    let url = "https://partner.example/seen?a=1";
    let tag = [
        ("line_item_id", item.as_str()),
        ("tracking_tag_type", "IMPRESSION_TAG"),
        ("tracking_tag_url", url),
    ];
    let id = ads.make("/tracking_tags", &tag);
    let path = format!("/tracking_tags/{id}");
    is(
        &ads.send("PUT", &path, &[]),
        400,
        "MISSING_PARAMETER",
        "tracking_tag_url",
    );
    is(
        &ads.send("PUT", &path, &[("tracking_tag_url", "partner")]),
        400,
        "INVALID_PARAMETER",
        "tracking_tag_url",
    );
    let changed = ads
        .send("PUT", &path, &[("tracking_tag_url", "https://b.example")])
        .is(200);
    assert_eq!(changed["data"]["tracking_tag_url"], "https://b.example");
    // Another account has neither the tag nor the line item.
    is(
        &other.send("GET", &path, &[]),
        404,
        "NOT_FOUND",
        "tracking_tag_id",
    );
    is(
        &other.send("POST", "/tracking_tags", &tag),
        404,
        "LINE_ITEM_NOT_FOUND",
        "line_item_id",
    );
    let none = other.get("/tracking_tags", &[("tracking_tag_ids", &id)]);
    assert!(ids(&none).is_empty());
    assert!(ids(&other.get("/tracking_tags", &[("line_item_ids", &item)])).is_empty());
}
