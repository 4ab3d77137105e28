//! What commands tell of campaigns, and results by the goal of line items.

use serde_json::{Value, json};

use super::Advertiser;
use crate::harness::{run_command, shared_server, unique_number};

/// A campaign for clicks that are paid by impressions, with simulated events of the last day.
fn clicked_campaign(ads: &Advertiser) -> (String, String) {
    let campaign = ads.campaign();
    let params = [
        ("campaign_id", campaign.as_str()),
        ("name", "Riders"),
        ("objective", "WEBSITE_CLICKS"),
        ("pay_by", "IMPRESSION"),
        ("product_type", "PROMOTED_POSTS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_strategy", "MAX"),
        ("bid_amount_local_micro", "5000000"),
        ("start_time", "2026-01-01T00:00:00Z"),
    ];
    let item = ads.make("/line_items", &params);
    let post = ads.person.publish_text(&format!("Ride {} https://example.com/", unique_number()));
    let promote = [("line_item_id", item.as_str()), ("post_ids", post.as_str())];
    ads.send("POST", "/promoted_posts", &promote).assert_status(200);
    shared_server().run_cli(&["ads", "simulate", &ads.account, "--hours", "24"]).assert_success();
    (campaign, item)
}

#[test]
fn report_counts_results_by_the_goal_of_the_line_item() {
    let ads = Advertiser::new();
    let (campaign, item) = clicked_campaign(&ads);
    let report = |more: &[&str]| {
        let args = [&["ads", "report", ads.account.as_str()][..], more].concat();
        shared_server().run_cli(&args).json()
    };
    let rows = report(&[]);
    let row = &rows[0];
    assert_eq!(row["simulated"], true);
    assert_eq!((&row["id"], &row["name"], &row["currency"]), (&json!(campaign), &json!("Spring"), &json!("USD")));
    let count = |row: &Value, name: &str| row[name].as_i64().unwrap_or_else(|| panic!("{name} of {row}"));
    assert!(count(row, "url_clicks") > 0 && count(row, "impressions") > count(row, "url_clicks"), "{row}");
    assert_eq!(row["results"], row["url_clicks"]);
    let micros = |amount: &Value| {
        let (units, part) = amount.as_str().unwrap().split_once('.').unwrap();
        units.parse::<i64>().unwrap() * 1_000_000 + format!("{part:0<6}").parse::<i64>().unwrap()
    };
    assert_eq!(micros(&row["cost_per_result"]), micros(&row["spend"]) / count(row, "results"));
    let by_item = report(&["--by", "line-item"]);
    assert_eq!((&by_item[0]["id"], &by_item[0]["campaign"]), (&json!(item), &json!("Spring")));
    let total = |rows: &Value, name: &str| rows.as_array().unwrap().iter().map(|row| count(row, name)).sum::<i64>();
    let days = report(&["--by", "day"]);
    assert_eq!(days.as_array().unwrap().len(), 7);
    for rows in [&by_item, &days, &report(&["--breakdown", "placement"]), &report(&["--breakdown", "platform"])] {
        for name in ["impressions", "url_clicks", "results"] {
            assert_eq!(total(rows, name), count(row, name), "{name} of {rows}");
        }
    }
    let none = report(&["--from", "2026-01-01", "--to", "2026-01-03"]);
    assert_eq!(none, json!([]));
    for (wrong, name) in [
        (&["--from", "2026-13-01"][..], "from"),
        (&["--from", "2026-01-01", "--to", "2025-12-01"], "to"),
        (&["--from", "2020-01-01"], "from"),
        (&["--by", "day", "--breakdown", "age"], "breakdown"),
        (&["--campaign", "zzzzz"], "campaign"),
    ] {
        let args = [&["ads", "report", ads.account.as_str()][..], wrong].concat();
        let output = shared_server().run_cli(&args);
        assert_ne!(output.code, 0, "{output:?}");
        assert!(output.stderr.contains(name) || output.stdout.contains(name), "{output:?}");
    }
}

#[test]
fn report_has_what_deleted_entities_spent() {
    let ads = Advertiser::new();
    let (campaign, item) = clicked_campaign(&ads);
    let report = |by: &str| {
        let args = ["ads", "report", ads.account.as_str(), "--by", by];
        shared_server().run_cli(&args).json()
    };
    let before = ["campaign", "line-item", "day"].map(report);
    assert_ne!((&before[0][0]["spend"], &before[0]), (&json!("0.00"), &json!([])));
    ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    assert_eq!(report("campaign"), before[0]);
    ads.send("DELETE", &format!("/campaigns/{campaign}"), &[]).assert_status(200);
    let mut expected = before;
    for rows in &mut expected[..2] {
        rows[0]["status"] = json!("DELETED");
    }
    assert_eq!(["campaign", "line-item", "day"].map(report), expected);
}

#[test]
fn report_is_printed_as_csv() {
    let ads = Advertiser::new();
    let (campaign, _) = clicked_campaign(&ads);
    let args = ["ads", "report", ads.account.as_str(), "--csv"].map(str::to_owned);
    let args: Vec<String> = args.into_iter().chain(shared_server().location_args()).collect();
    let output = run_command(&shared_server().sibling_path(""), &args);
    let mut lines = output.assert_success().stdout.lines();
    assert_eq!(
        lines.next(),
        Some(
            "id,name,status,currency,spend,impressions,engagements,clicks,url_clicks,follows,video_views,results,\
             cost_per_result,simulated"
        )
    );
    let row = lines.next().unwrap();
    assert!(row.starts_with(&format!("{campaign},Spring,ACTIVE,USD,")), "{row}");
    assert_eq!(lines.next(), None);
}

#[test]
fn tree_shows_campaigns_with_line_items_creatives_and_criteria() {
    let ads = Advertiser::new();
    let (campaign, item) = clicked_campaign(&ads);
    ads.targets_all(&item, &[("BROAD_KEYWORD", "bike", "EQ"), ("LOCATION", "3c65374ea675483e", "EQ")])
        .assert_status(200);
    let empty = ads.campaign();
    let tree = shared_server().run_cli(&["ads", "tree", &ads.account]).json();
    let rows: Vec<(&str, i64, Option<&str>)> = tree
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["type"].as_str().unwrap(), row["level"].as_i64().unwrap(), row["id"].as_str()))
        .collect();
    let promoted = ads.get("/promoted_posts", &[])["data"][0]["id"].clone();
    assert_eq!(
        rows,
        [
            ("campaign", 0, Some(empty.as_str())),
            ("campaign", 0, Some(campaign.as_str())),
            ("line item", 1, Some(item.as_str())),
            ("promoted post", 2, promoted.as_str()),
            ("targeting criteria", 2, None),
            ("targeting criteria", 2, None),
        ]
    );
    assert_eq!((&tree[0]["status"], &tree[0]["reasons"]), (&json!("UNKNOWN"), &json!(["INCOMPLETE"])));
    assert_eq!(tree[0]["spend"], "0.00 USD");
    assert_eq!((&tree[1]["status"], &tree[1]["spend"]), (&json!("RUNNING"), &tree[2]["spend"]));
    assert_eq!(tree[2]["spend"], tree[3]["spend"]);
    assert_eq!(tree[2]["simulated"], true);
    assert_eq!(tree[5]["name"], "LOCATION: Portugal");
    let one = shared_server().run_cli(&["ads", "tree", &ads.account, "--campaign", &empty]).json();
    assert_eq!(one.as_array().unwrap().len(), 1);
    let args = ["ads", "tree", ads.account.as_str()].map(str::to_owned);
    let args: Vec<String> = args.into_iter().chain(shared_server().location_args()).collect();
    let text = run_command(&shared_server().sibling_path(""), &args).assert_success().stdout.clone();
    assert!(text.contains("  Riders"), "{text}");
}

#[test]
fn audience_is_shown_with_what_targets_it() {
    let ads = Advertiser::new();
    let audience = ads.make("/custom_audiences", &[("name", "Newsletter")]);
    let shown = shared_server().run_cli(&["ads", "audience", "show", &audience]).json();
    assert_eq!((&shown["name"], &shown["owner_account_id"]), (&json!("Newsletter"), &json!(ads.account)));
    assert_eq!(shown["reasons_not_targetable"], json!(["PROCESSING", "TOO_SMALL"]));
    assert_eq!((&shown["shared_with"], &shown["targeted_by"]), (&json!([]), &json!([])));
    assert_ne!(shared_server().run_cli(&["ads", "audience", "show", "zzz"]).code, 0);
}
