//! Campaigns, line items and what they show.

use serde_json::{Value, json};

use super::{Advertiser, is, send};
use crate::harness::{TestRequest, TestResponse, TestServer, shared_server};

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_campaign_runs_once_it_is_whole() {
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
    let made = ads.send("POST", "/promoted_tweets", &promote).assert_status(200);
    assert_eq!(made["data"][0]["tweet_id"], post.as_str());
    assert_eq!(made["total_count"], 1);
    assert_eq!(made["request"]["params"]["tweet_ids"][0], post.parse::<i64>().unwrap());
    assert_eq!(state(), (json!("RUNNING"), json!([])));
    let promoted = made["data"][0]["id"].as_str().unwrap().to_owned();
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

    // What is below a deleted record is listed with deleted ones, and was not deleted itself.
    ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    let below = [("line_item_ids", item.as_str())];
    assert!(ids(&ads.get("/promoted_posts", &below)).is_empty());
    let seen = ads.get("/promoted_posts", &[below[0], ("with_deleted", "True")]);
    assert_eq!(seen["data"][0]["deleted"], false);
    let gone = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!((&gone["data"]["deleted"], &gone["data"]["servable"]), (&json!(true), &Value::Null));
    is(&ads.send("DELETE", &path, &[]), 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
    is(&ads.send("GET", &path, &[]), 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
    ads.send("GET", &path, &[("with_deleted", "true")]).assert_status(200);
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
        let kept = usual.iter().filter(|(name, _)| params.iter().all(|(other, _)| other != name));
        let all: Vec<(&str, &str)> = kept.copied().chain(params.iter().copied()).collect();
        ads.send("POST", "/campaigns", &all)
    };
    let long = |length: usize| "é".repeat(length);
    with(&[("name", &long(255))]).assert_status(200);
    is(&with(&[("name", &long(256))]), 400, "INVALID_PARAMETER", "name");
    is(&with(&[("name", "")]), 400, "MISSING_PARAMETER", "name");
    with(&[("purchase_order_number", &long(50))]).assert_status(200);
    is(&with(&[("purchase_order_number", &long(51))]), 400, "INVALID_PARAMETER", "purchase_order_number");
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
    let made = ads.batch("campaigns", &items.into()).assert_status(200);
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
    assert_eq!(walk(&[("funding_instrument_ids", &ads.instrument), ("count", "5")]).len(), 24);
    let total = ads.get("/campaigns", &[("with_total_count", "true"), ("count", "1")]);
    assert_eq!(total["total_count"], 24);
    let cursor = total["next_cursor"].as_str().unwrap();
    let with = |params: &[(&str, &str)]| ads.send("GET", "/campaigns", params);
    is(&with(&[("cursor", cursor), ("with_total_count", "true")]), 400, "EXCLUSIVE_PARAMETERS", "cursor");
    is(&with(&[("cursor", cursor), ("sort_by", "name-asc")]), 400, "INVALID_PARAMETER", "cursor");
    is(&with(&[("cursor", "x")]), 400, "INVALID_PARAMETER", "cursor");
    for wrong in ["0", "1001", "x"] {
        is(&with(&[("count", wrong)]), 400, "INVALID_PARAMETER", "count");
    }
    is(&with(&[("sort_by", "currency-asc")]), 400, "INVALID_PARAMETER", "sort_by");
    is(&with(&[("q", &"x".repeat(256))]), 400, "INVALID_PARAMETER", "q");
    let many: Vec<String> = (1..=201).map(|number| number.to_string()).collect();
    with(&[("campaign_ids", &many[..200].join(","))]).assert_status(200);
    is(&with(&[("campaign_ids", &many.join(","))]), 400, "INVALID_PARAMETER", "campaign_ids");
    let totals = with(&[("with_total_count", "true")]);
    assert_eq!(totals.header_number("x-rate-limit-limit"), 200);
    assert_eq!(with(&[]).header_number("x-rate-limit-limit"), 10_000);
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
    let change = json!({ "operation_type": "Update", "params": { "campaign_id": kept, "name": "Autumn" } });
    let broken = json!([create("One"), create(""), change, { "operation_type": "Delete", "params": {} }]);
    let refused = ads.batch("campaigns", &broken).assert_status(400);
    let items = refused["operation_errors"].as_array().unwrap();
    assert_eq!(items[0], json!([]));
    assert_eq!(items[1][0]["code"], "MISSING_PARAMETER");
    assert_eq!(items[2], json!([]));
    assert_eq!(items[3][0]["parameter"], "campaign_id");
    assert_eq!(ids(&ads.get("/campaigns", &[])), [kept.as_str()]);
    assert_eq!(ads.get(&format!("/campaigns/{kept}"), &[])["data"]["name"], "Spring");
    let whole = json!([create("One"), change, { "operation_type": "Delete", "params": { "id": kept } }]);
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
fn filters_leave_what_a_look_at_everything_leaves() {
    let ads = Advertiser::new();
    let fund = ["ads", "account", "funding", &ads.account, "--amount", "50"];
    let other = shared_server().run_cli(&fund).json();
    let instruments = [ads.instrument.as_str(), other["id"].as_str().unwrap()];
    let items: Vec<Value> = (0..36)
        .map(|number| {
            json!({ "operation_type": "Create", "params": {
                "name": format!("{} {}", ["Ab", "aB", "Abc", "ö"][number % 4], number % 3),
                "funding_instrument_id": instruments[number / 2 % 2],
                "daily_budget_amount_local_micro": 10_000_000 + 10_000 * (number * 7 % 5),
                "entity_status": if number % 9 == 1 { "DRAFT" } else { "PAUSED" },
            } })
        })
        .collect();
    let made = ids(&ads.batch("campaigns", &items.into()).assert_status(200));
    let gone = made.iter().step_by(5).map(|id| json!({ "operation_type": "Delete", "params": { "campaign_id": id } }));
    let gone: Vec<Value> = gone.collect();
    ads.batch("campaigns", &gone.into()).assert_status(200);
    let walk = |params: &[(&str, &str)]| {
        let mut found: Vec<Value> = Vec::new();
        let mut cursor = None::<String>;
        loop {
            let mut params = params.to_vec();
            params.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = ads.get("/campaigns", &params);
            found.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return found,
            }
        }
    };
    let both = instruments.join(",");
    for levels in [
        vec![],
        vec![("with_draft", "true")],
        vec![("with_deleted", "true")],
        vec![("with_deleted", "true"), ("with_draft", "true")],
    ] {
        for sort in [
            "created_at-desc",
            "updated_at-asc,name-desc",
            "daily_budget_amount_local_micro-desc",
            "deleted-desc,name-asc",
        ] {
            let whole = walk(&[&levels[..], &[("sort_by", sort)]].concat());
            for (q, of) in [
                ("ab", ""),
                ("AB 1", &both),
                ("", &both),
                ("abc", instruments[1]),
                ("", instruments[0]),
                ("Ö", instruments[0]),
                ("x", &both),
            ] {
                let fits = |one: &&Value| {
                    let name = one["name"].as_str().unwrap().to_lowercase();
                    let paid = one["funding_instrument_id"].as_str().unwrap();
                    name.starts_with(&q.to_lowercase()) && (of.is_empty() || of.split(',').any(|one| one == paid))
                };
                let wanted: Vec<Value> = whole.iter().filter(fits).cloned().collect();
                let mut params = levels.clone();
                params.push(("sort_by", sort));
                params.extend([("q", q), ("funding_instrument_ids", of)]);
                params.retain(|(_, value)| !value.is_empty());
                assert_eq!(walk(&params), wanted, "{params:?}");
                let few = [&params[..], &[("count", "4")]].concat();
                assert_eq!(walk(&few), wanted, "{few:?}");
                let total = [&few[..], &[("with_total_count", "true")]].concat();
                let total = ads.get("/campaigns", &total);
                assert_eq!(total["total_count"], wanted.len(), "{few:?}");
            }
        }
    }
}

#[test]
fn active_campaigns_are_limited() {
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
fn roles_say_what_may_be_done() {
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
        let may = |answer: &TestResponse, may: bool| {
            if may {
                answer.assert_status(200);
            } else {
                is(answer, 403, "ACTION_NOT_ALLOWED", "");
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
fn a_tag_belongs_to_its_line_item() {
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

/// Sends these beside what is usual, unless they say otherwise.
fn beside<'a>(usual: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = usual.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    kept.chain(more).filter(|(_, value)| !value.is_empty()).copied().collect()
}

#[test]
fn budgets_are_set_at_one_level() {
    let ads = Advertiser::new();
    let (daily, total) = ("daily_budget_amount_local_micro", "total_budget_amount_local_micro");
    let (bid, level) = ("bid_amount_local_micro", "budget_optimization");
    let campaign = |more: &[(&str, &str)]| {
        let usual = [("funding_instrument_id", ads.instrument.as_str()), ("name", "N")];
        ads.send("POST", "/campaigns", &beside(&usual, more))
    };
    let id = |answer: &TestResponse| answer.assert_status(200)["data"]["id"].as_str().unwrap().to_owned();
    // Amounts are whole steps of the currency: a hundredth here.
    for (amount, code) in [
        ("10000", ""),
        ("20000", ""),
        ("9999", "INVALID_DENOMINATION"),
        ("10001", "INVALID_DENOMINATION"),
        ("0", "INVALID_PARAMETER"),
        ("-10000", "INVALID_PARAMETER"),
        ("9223372036854775808", "INVALID_PARAMETER"),
    ] {
        let answer = campaign(&[(daily, amount)]);
        match code {
            "" => drop(answer.assert_status(200)),
            code => is(&answer, 400, code, daily),
        }
    }
    // A daily budget is at most the total one.
    campaign(&[(daily, "4990000"), (total, "5000000")]).assert_status(200);
    campaign(&[(daily, "5000000"), (total, "5000000")]).assert_status(200);
    let above = campaign(&[(daily, "5010000"), (total, "5000000")]);
    is(&above, 400, "INVALID", daily);
    // What is paid for by the order needs none; whatever else pays does.
    campaign(&[]).assert_status(200);
    let fund = ["ads", "account", "funding", &ads.account, "--type", "CREDIT_CARD"];
    let card = shared_server().run_cli(&fund).json()["id"].as_str().unwrap().to_owned();
    let paid =
        |more: &[(&'static str, &'static str)]| campaign(&[&[("funding_instrument_id", card.as_str())], more].concat());
    is(&paid(&[]), 400, "MISSING_PARAMETER", daily);
    is(&paid(&[(total, "5000000")]), 400, "MISSING_PARAMETER", daily);
    paid(&[(daily, "5000000")]).assert_status(200);

    let shared_one = id(&campaign(&[(daily, "5000000"), (total, "9000000")]));
    let own_one = id(&campaign(&[(level, "LINE_ITEM"), (total, "9000000")]));
    for delivery in ["true", "false"] {
        let both = [(level, "LINE_ITEM"), ("standard_delivery", delivery)];
        is(&campaign(&both), 400, "INVALID", "standard_delivery");
        let one = [(daily, "5000000"), ("standard_delivery", delivery)];
        assert_eq!(campaign(&one).assert_status(200)["data"]["standard_delivery"], delivery == "true");
    }
    let path = format!("/campaigns/{own_one}");
    assert_eq!(ads.get(&path, &[])["data"]["standard_delivery"], Value::Null);
    let item = |campaign: &str, more: &[(&str, &str)]| {
        let usual = [
            ("campaign_id", campaign),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            (bid, "150000"),
        ];
        ads.send("POST", "/line_items", &beside(&usual, more))
    };
    // The campaign's, or the line items'.
    for name in [daily, total] {
        is(&item(&shared_one, &[(name, "1000000")]), 400, "INVALID", name);
        item(&own_one, &[(name, "1000000")]).assert_status(200);
        is(&item(&own_one, &[(name, "1000001")]), 400, "INVALID_DENOMINATION", name);
    }
    item(&own_one, &[(total, "8990000")]).assert_status(200);
    item(&own_one, &[(total, "9000000")]).assert_status(200);
    is(&item(&own_one, &[(total, "9010000")]), 400, "INVALID", total);
    // A bid is at most what there is for a day and altogether.
    item(&shared_one, &[(bid, "4990000")]).assert_status(200);
    item(&shared_one, &[(bid, "5000000")]).assert_status(200);
    is(&item(&shared_one, &[(bid, "5010000")]), 400, "INVALID", bid);
    is(&item(&own_one, &[(bid, "9010000")]), 400, "INVALID", bid);
    is(&item(&shared_one, &[(bid, "")]), 400, "MISSING_PARAMETER", bid);
    is(&item(&shared_one, &[(bid, "0")]), 400, "INVALID_PARAMETER", bid);
    let auto = item(&shared_one, &[("bid_strategy", "AUTO")]).assert_status(200);
    assert_eq!(auto["data"][bid], Value::Null);
    // And between what the currency allows.
    let rules = send(&ads.person, "GET", "/12/bidding_rules", &[("currency", "USD")]).assert_status(200);
    let rule = |name: &str| rules["data"][0][name].as_i64().unwrap();
    let (least, most) = (rule("minimum_cpe_bid_local_micro"), rule("maximum_cpe_bid_local_micro"));
    let step = rule("minimum_denomination");
    let rich = id(&campaign(&[(level, "LINE_ITEM")]));
    for (amount, fits) in [
        (least, true),
        (least + step, true),
        (most - step, true),
        (most, true),
        (most + step, false),
        (least - step, false),
    ] {
        let answer = item(&rich, &[(bid, &amount.to_string())]);
        assert_eq!(answer.status == 200, fits, "{amount}: {}", answer.text());
    }
}

#[test]
fn a_line_item_suits_its_objective() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| {
        let campaign = ads.campaign();
        let usual = [
            ("campaign_id", campaign.as_str()),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
        ];
        ads.send("POST", "/line_items", &beside(&usual, more))
    };
    let (goal, pay, strategy) = ("goal", "pay_by", "bid_strategy");
    // What an objective has when nothing is said, what else it may have, and what it may not.
    for (objective, more, defaults, may, may_not) in [
        (
            "ENGAGEMENTS",
            &[][..],
            ["ENGAGEMENT", "ENGAGEMENT", "MAX"],
            &[(strategy, "AUTO"), (strategy, "TARGET")][..],
            &[(goal, "LINK_CLICKS"), (pay, "IMPRESSION")][..],
        ),
        (
            "FOLLOWERS",
            &[("product_type", "PROMOTED_ACCOUNT")],
            ["FOLLOWERS", "FOLLOW", "AUTO"],
            &[(strategy, "TARGET")],
            &[(strategy, "MAX"), (pay, "ENGAGEMENT")],
        ),
        (
            "REACH",
            &[],
            ["MAX_REACH", "IMPRESSION", "AUTO"],
            &[(goal, "REACH_WITH_ENGAGEMENT"), (strategy, "TARGET")],
            &[(strategy, "MAX"), (goal, "ENGAGEMENT")],
        ),
        (
            "WEBSITE_CLICKS",
            &[],
            ["LINK_CLICKS", "IMPRESSION", "AUTO"],
            &[(goal, "SITE_VISITS"), (pay, "LINK_CLICK"), (strategy, "MAX")],
            &[(pay, "VIEW"), (strategy, "TARGET"), (goal, "WEBSITE_CONVERSIONS")],
        ),
        (
            "VIDEO_VIEWS",
            &[],
            ["VIDEO_VIEW", "VIEW", "AUTO"],
            &[(goal, "VIEW_3S_100PCT"), (goal, "VIEW_6S"), (goal, "VIEW_15S"), (strategy, "MAX")],
            &[(strategy, "TARGET"), (pay, "IMPRESSION")],
        ),
        (
            "PREROLL_VIEWS",
            &[("product_type", "MEDIA"), ("categories", "IAB7")],
            ["PREROLL", "VIEW", "MAX"],
            &[(goal, "PREROLL_STARTS"), (strategy, "AUTO")],
            &[("product_type", "PROMOTED_TWEETS"), ("categories", ""), ("categories", "IAB99")],
        ),
        (
            "APP_INSTALLS",
            &[("ios_app_store_identifier", "1")],
            ["APP_INSTALLS", "IMPRESSION", "AUTO"],
            &[(goal, "APP_CLICKS"), (goal, "APP_PURCHASES"), (pay, "APP_CLICK")],
            &[("ios_app_store_identifier", ""), (pay, "LINK_CLICK")],
        ),
        (
            "APP_ENGAGEMENTS",
            &[("android_app_store_identifier", "a.b")],
            ["APP_CLICKS", "APP_CLICK", "AUTO"],
            &[(goal, "APP_INSTALLS"), (strategy, "TARGET")],
            &[("android_app_store_identifier", ""), (pay, "IMPRESSION")],
        ),
    ] {
        let usual = [&[("objective", objective)][..], more].concat();
        let made = line(&usual).assert_status(200);
        let data = &made["data"];
        assert_eq!([&data[goal], &data[pay], &data[strategy]], defaults, "{objective}");
        for one in may {
            line(&beside(&usual, &[*one])).assert_status(200);
        }
        for (name, value) in may_not {
            let mut params = usual.clone();
            params.retain(|(other, _)| other != name);
            if !value.is_empty() {
                params.push((name, value));
            }
            let answer = line(&params);
            assert_eq!(answer.status, 400, "{objective} {name}={value}: {}", answer.text());
        }
    }
    // Where, when, and how often.
    let placement = "INVALID_PLACEMENT_TYPE";
    for (more, code, at) in [
        (&[("placements", "TWITTER_PROFILE")][..], placement, "placements"),
        (&[("placements", "TWITTER_SEARCH"), ("objective", "REACH")], placement, "placements"),
        (&[("placements", "MOON")], "INVALID_PARAMETER", "placements"),
        (&[("placements", "PUBLISHER_NETWORK")], "INCLUSIVE_PARAMETERS", "advertiser_domain"),
        (
            &[("placements", "PUBLISHER_NETWORK"), ("advertiser_domain", "bikes.example")],
            "INCLUSIVE_PARAMETERS",
            "categories",
        ),
        (&[("start_time", "2026-02-01"), ("end_time", "2026-02-01")], "INVALID", "end_time"),
        (&[("frequency_cap", "1")], "INCLUSIVE_PARAMETERS", "duration_in_days"),
        (&[("frequency_cap", "1"), ("duration_in_days", "8")], "INVALID_PARAMETER", "duration_in_days"),
        (
            &[("objective", "WEBSITE_CLICKS"), ("frequency_cap", "1"), ("duration_in_days", "7")],
            "INVALID",
            "frequency_cap",
        ),
    ] {
        is(&line(more), 400, code, at);
    }
    for more in [
        &[("placements", "TWITTER_PROFILE,TWITTER_TIMELINE")][..],
        &[("placements", "TWITTER_TIMELINE"), ("objective", "REACH")],
        &[("start_time", "2026-02-01"), ("end_time", "2026-02-01T00:00:01Z")],
        &[("frequency_cap", "1"), ("duration_in_days", "1")],
        &[("frequency_cap", "1"), ("duration_in_days", "30")],
    ] {
        line(more).assert_status(200);
    }
    // Whose it is: somebody whom the account may promote.
    let stranger = shared_server().new_user("stranger");
    for user in [stranger.id.as_str(), "1"] {
        let answer = line(&[("advertiser_user_id", user)]);
        is(&answer, 400, "INVALID_USER_ID", "advertiser_user_id");
    }
    let own = line(&[("advertiser_user_id", &ads.person.id)]).assert_status(200);
    assert_eq!(own["data"]["advertiser_user_id"], ads.person.id.as_str());
    // Line items of a campaign are of one kind; what they pay by stays, but for installs.
    let campaign = ads.campaign();
    let first = ads.line_item(&campaign);
    let other = [("campaign_id", campaign.as_str()), ("objective", "REACH")];
    is(&line(&other), 400, "INVALID", "objective");
    let other = [("campaign_id", campaign.as_str()), ("product_type", "PROMOTED_ACCOUNT")];
    is(&line(&other), 400, "INVALID", "product_type");
    let change = |id: &str, value| ads.send("PUT", &format!("/line_items/{id}"), &[(pay, value)]);
    is(&change(&first, "IMPRESSION"), 400, "INVALID", pay);
    let installs = [("objective", "APP_INSTALLS"), ("ios_app_store_identifier", "1")];
    let installs = line(&installs).assert_status(200)["data"]["id"].clone();
    change(installs.as_str().unwrap(), "APP_CLICK").assert_status(200);
    let path = format!("/line_items/{first}");
    ads.send("DELETE", &path, &[]).assert_status(200);
    is(&ads.send("DELETE", &path, &[]), 404, "LINE_ITEM_NOT_FOUND", "line_item_id");
}

#[test]
fn accounts_are_promoted_by_line_items_that_hold_them() {
    let (ads, stranger) = (Advertiser::new(), shared_server().new_user("stranger"));
    let posts = ads.line_item(&ads.campaign());
    let campaign = ads.campaign();
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "FOLLOWERS"),
        ("product_type", "PROMOTED_ACCOUNT"),
        ("placements", "ALL_ON_TWITTER"),
    ];
    let people = ads.make("/line_items", &params);
    let promote = |item: &str, user: &str| {
        let params = [("line_item_id", item), ("user_id", user)];
        ads.send("POST", "/promoted_accounts", &params)
    };
    let incompatible = "INCOMPATIBLE_LINE_ITEM";
    is(&promote(&posts, &ads.person.id), 400, incompatible, "line_item_id");
    is(&promote(&people, &stranger.id), 400, "INVALID_USER_ID", "user_id");
    is(&promote(&people, "1"), 400, "INVALID_USER_ID", "user_id");
    let list = |items: &str| ads.send("GET", "/promoted_accounts", &[("line_item_ids", items)]);
    assert_eq!(list(&people).assert_status(200)["data"], json!([]), "nobody is promoted");
    let made = promote(&people, &ads.person.id).assert_status(200);
    // Once more is no more.
    assert_eq!(promote(&people, &ads.person.id).assert_status(200)["data"]["id"], made["data"]["id"]);
    assert_eq!(ids(&list(&people).assert_status(200)).len(), 1);
    assert_eq!(ids(&list(&format!("{posts},{people}")).assert_status(200)).len(), 1);
    is(&list(&posts), 400, incompatible, "line_item_ids");
    let path = format!("/promoted_accounts/{}", made["data"]["id"].as_str().unwrap());
    is(&ads.send("PUT", &path, &[]), 405, "METHOD_NOT_ALLOWED", "");
}

/// The world `ads` has campaigns in every state, down to what is shown.
#[test]
fn a_world_with_campaigns_begins_with_a_whole_tree() {
    let server = TestServer::start(&["--world", "ads"]);
    let ask = |path: &str| {
        let path = format!("/12/accounts{path}");
        let asked = TestRequest::get(path).bearer(server.env_value("USER_TOKEN"));
        server.send(asked).assert_status(200)["data"].take()
    };
    let account = ask("")[0]["id"].as_str().unwrap().to_owned();
    let all = |path: &str| ask(&format!("/{account}/{path}")).as_array().cloned().unwrap();
    let mut states: Vec<(String, String)> = all("campaigns?with_draft=true")
        .iter()
        .map(|one| ["name", "effective_status"].map(|name| one[name].as_str().unwrap().to_owned()))
        .map(|[name, state]| (name, state))
        .collect();
    states.sort();
    let states: Vec<(&str, &str)> = states.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let expected = [
        ("Autumn on the water", "RUNNING"),
        ("Ideas", "DRAFT"),
        ("More followers", "RUNNING"),
        ("Next summer", "SCHEDULED"),
        ("Nothing in it yet", "UNKNOWN"),
        ("Summer", "EXPIRED"),
        ("The shop", "RUNNING"),
        ("Winter offers", "PAUSED"),
    ];
    assert_eq!(states, expected);
    for (path, count) in [
        ("line_items", 6),
        ("promoted_posts", 6),
        ("promoted_accounts", 1),
        ("scheduled_posts", 1),
        ("scheduled_promoted_posts", 1),
        ("draft_posts", 1),
        ("tracking_tags", 1),
        ("custom_audiences", 1),
        ("cards", 1),
        ("cards/poll", 1),
        ("media_library", 1),
        ("funding_instruments", 1),
    ] {
        assert_eq!(all(path).len(), count, "{path}");
    }
    let access = ask(&format!("/{account}/authenticated_user_access"));
    assert_eq!(access["permissions"], json!(["ACCOUNT_ADMIN", "POST_COMPOSER"]));
    let picture = all("media_library")[0]["media_url"].as_str().unwrap().to_owned();
    let path = picture.strip_prefix(&server.url).unwrap();
    assert_eq!(server.send(TestRequest::get(path)).status, 200);
    let seen = server.run_cli(&["ads", "simulate", &account, "--hours", "24"]);
    assert!(seen.json()["events"].as_i64() > Some(0), "{seen:?}");
}
