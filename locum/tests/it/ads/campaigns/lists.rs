//! Lists of campaigns: filters, order and pages.

use serde_json::{Value, json};

use super::{create_line_item, ids};
use crate::ads::{Advertiser, is};
use crate::harness::shared_server;

/// All pages of a list.
fn all_pages(ads: &Advertiser, params: &[(&str, &str)]) -> Vec<Value> {
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
}

fn all_ids(ads: &Advertiser, params: &[(&str, &str)]) -> Vec<String> {
    all_pages(ads, params).iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// Creates 25 campaigns with five different budgets, of which one is a draft.
fn create_campaigns(ads: &Advertiser) -> Value {
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
    ads.batch("campaigns", &items.into()).assert_status(200)
}

#[test]
fn campaigns_have_the_same_order_for_every_page_size() {
    let ads = Advertiser::new();
    let created = create_campaigns(&ads);
    let all = ids(&created);
    assert_eq!(all.len(), 25);
    assert_eq!(created["request"][3]["operation_type"], "Create");
    assert_eq!(created["request"][3]["params"]["name"], "odd 03");
    let walk = |params: &[(&str, &str)]| all_ids(&ads, params);
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
    let mut expected: Vec<usize> = (0..25).filter(|number| *number != 7).collect();
    let name = |number: usize| (number % 2 == 1, number);
    expected.sort_by_key(|number| (std::cmp::Reverse(number % 5), name(*number)));
    let expected: Vec<&str> = expected.iter().map(|number| all[*number].as_str()).collect();
    let sort = [("sort_by", "daily_budget_amount_local_micro-desc,name-asc")];
    assert_eq!(walk(&sort), expected);
    let some = [sort[0], ("campaign_ids", &all.join(",")), ("count", "9")];
    assert_eq!(walk(&some), expected, "those that are asked for alike");
}

#[test]
fn line_items_are_sorted_by_their_delivery() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let by_item = [("budget_optimization", "LINE_ITEM"), ("standard_delivery", "")];
    ads.send("PUT", &format!("/campaigns/{campaign}"), &by_item).assert_status(200);
    let all = ["true", "false", "true"].map(|delivery| {
        let more = [("standard_delivery", delivery), ("daily_budget_amount_local_micro", "5000000")];
        let created = create_line_item(&ads, &campaign, &more).assert_status(200);
        created["data"]["id"].as_str().unwrap().to_owned()
    });
    let listed = ads.get("/line_items", &[("sort_by", "standard_delivery-asc,created_at-asc")]);
    assert_eq!(ids(&listed), [&all[1], &all[0], &all[2]].map(String::clone));
}

#[test]
fn campaigns_are_filtered_by_name_id_instrument_and_draft() {
    let ads = Advertiser::new();
    let all = ids(&create_campaigns(&ads));
    let walk = |params: &[(&str, &str)]| all_ids(&ads, params);
    assert_eq!(walk(&[("with_draft", "true")]).len(), 25);
    assert_eq!(walk(&[("q", "eVeN")]).len(), 13);
    assert!(walk(&[("q", "ven")]).is_empty());
    let some = all[..3].join(",");
    assert_eq!(walk(&[("campaign_ids", &some), ("count", "2")]).len(), 3);
    assert_eq!(walk(&[("funding_instrument_ids", &ads.instrument), ("count", "5")]).len(), 24);
    let total = ads.get("/campaigns", &[("with_total_count", "true"), ("count", "1")]);
    assert_eq!(total["total_count"], 24);
}

#[test]
fn invalid_list_parameter_is_refused() {
    let ads = Advertiser::new();
    (0..2).for_each(|_| drop(ads.campaign()));
    let with = |params: &[(&str, &str)]| ads.send("GET", "/campaigns", params);
    let first = with(&[("with_total_count", "true"), ("count", "1")]).assert_status(200);
    let cursor = first["next_cursor"].as_str().unwrap();
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

/// Creates 36 campaigns with similar names, two instruments, drafts and deleted ones.
fn create_similar_campaigns(ads: &Advertiser, instruments: [&str; 2]) {
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
    let created = ids(&ads.batch("campaigns", &items.into()).assert_status(200));
    let deleted =
        created.iter().step_by(5).map(|id| json!({ "operation_type": "Delete", "params": { "campaign_id": id } }));
    let deleted: Vec<Value> = deleted.collect();
    ads.batch("campaigns", &deleted.into()).assert_status(200);
}

/// What of a complete list has a prefix in its name and one of the instruments.
fn filtered(whole: &[Value], q: &str, instruments: &str) -> Vec<Value> {
    let fits = |one: &&Value| {
        let name = one["name"].as_str().unwrap().to_lowercase();
        let paid = one["funding_instrument_id"].as_str().unwrap();
        name.starts_with(&q.to_lowercase()) && (instruments.is_empty() || instruments.split(',').any(|one| one == paid))
    };
    whole.iter().filter(fits).cloned().collect()
}

#[test]
fn filters_and_pages_agree_with_the_complete_list() {
    let ads = Advertiser::new();
    let fund = ["ads", "account", "funding", &ads.account, "--amount", "50"];
    let other = shared_server().run_cli(&fund).json();
    let instruments = [ads.instrument.as_str(), other["id"].as_str().unwrap()];
    create_similar_campaigns(&ads, instruments);
    let walk = |params: &[(&str, &str)]| all_pages(&ads, params);
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
                let expected = filtered(&whole, q, of);
                let mut params = levels.clone();
                params.push(("sort_by", sort));
                params.extend([("q", q), ("funding_instrument_ids", of)]);
                params.retain(|(_, value)| !value.is_empty());
                assert_eq!(walk(&params), expected, "{params:?}");
                let few = [&params[..], &[("count", "4")]].concat();
                assert_eq!(walk(&few), expected, "{few:?}");
                let total = [&few[..], &[("with_total_count", "true")]].concat();
                let total = ads.get("/campaigns", &total);
                assert_eq!(total["total_count"], expected.len(), "{few:?}");
            }
        }
    }
}

#[test]
fn pages_sorted_by_the_longest_names_follow_each_other() {
    let ads = Advertiser::new();
    for letter in ["あ", "い"] {
        let name = letter.repeat(255);
        ads.make("/campaigns", &[("funding_instrument_id", ads.instrument.as_str()), ("name", &name)]);
    }
    let found = all_pages(&ads, &[("sort_by", "name-desc,created_at-asc"), ("count", "1")]);
    let first_letters: Vec<char> =
        found.iter().map(|one| one["name"].as_str().unwrap().chars().next().unwrap()).collect();
    assert_eq!(first_letters, ['い', 'あ']);
}
