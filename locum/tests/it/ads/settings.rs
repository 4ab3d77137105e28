//! What accounts and users set, what becomes known of an account, and what was changed.

use base::Time;
use base::clock::wall_time;
use serde_json::{Value, json};

use super::{Advertiser, is, problem_parameters, send, with_overrides};
use crate::harness::{TestResponse, shared_server};

/// A whole hour, so many away.
pub(super) fn hour(away: i64) -> String {
    let now = wall_time().ms();
    let at = Time::from_ms(now - now.rem_euclid(3_600_000) + away * 3_600_000);
    format!("{}Z", at.to_string().split('.').next().unwrap())
}

#[test]
fn user_settings_are_changed_by_the_user_only() {
    let ads = Advertiser::new();
    let colleague = shared_server().new_user("colleague");
    let role = ["ads", "account", "role", &ads.account, &colleague.username, "ANALYST"];
    shared_server().run_cli(&role).assert_success();
    let own = format!("/user_settings/{}", ads.person.id);
    let empty = json!({
        "user_id": ads.person.id,
        "notification_email": "",
        "contact_phone": "",
        "contact_phone_extension": "",
        "subscribed_email_types": [],
    });
    assert_eq!(ads.get(&own, &[])["data"], empty);
    let params = [
        ("notification_email", "ads@bikes.example"),
        ("contact_phone", "+351 200 000 000"),
        ("contact_phone_extension", "12"),
        ("subscribe_email_types", "ACCOUNT_PERFORMANCE"),
    ];
    let set = ads.send("PUT", &own, &params).assert_status(200);
    assert_eq!(set["data"]["notification_email"], "ads@bikes.example");
    let response = &set["data"]["subscribed_email_types"];
    assert_eq!(*response, json!(["ACCOUNT_PERFORMANCE"]));
    assert_eq!(ads.get(&own, &[])["data"], set["data"]);
    // What is sent changes, the rest stays; what is empty is unset.
    let cleared = ads.send("PUT", &own, &[("contact_phone", "")]).assert_status(200);
    assert_eq!(cleared["data"]["contact_phone"], "");
    assert_eq!(cleared["data"]["contact_phone_extension"], "12");
    for (name, value) in [
        ("notification_email", "nobody"),
        ("contact_phone", "call me"),
        ("contact_phone_extension", "x"),
        ("subscribe_email_types", "EVERYTHING"),
    ] {
        let answer = ads.send("PUT", &own, &[(name, value)]);
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!(answer.json()["errors"][0]["code"], "INVALID_PARAMETER");
    }
    let wrong = [("notification_email", "nobody"), ("contact_phone", "call me"), ("contact_phone_extension", "x")];
    assert_eq!(problem_parameters(&ads.send("PUT", &own, &wrong)), wrong.map(|(name, _)| name));
    // An administrator looks at a colleague's, and no more; a colleague at nobody else's.
    let theirs = format!("/user_settings/{}", colleague.id);
    assert_eq!(ads.get(&theirs, &[])["data"]["user_id"], colleague.id.as_str());
    let meddled = ads.send("PUT", &theirs, &[("contact_phone", "123456")]);
    is(&meddled, 403, "ACTION_NOT_ALLOWED", "");
    let path = format!("/12/accounts/{}{own}", ads.account);
    is(&send(&colleague, "GET", &path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    let stranger = shared_server().new_user("stranger");
    let nobody = format!("/user_settings/{}", stranger.id);
    is(&ads.send("GET", &nobody, &[]), 403, "USER_NOT_FOUND", "user_id");
    let path = format!("/12/accounts/{}{theirs}", ads.account);
    send(&colleague, "PUT", &path, &[("contact_phone", "654321")]).assert_status(200);
    assert_eq!(ads.get(&theirs, &[])["data"]["contact_phone"], "654321");
}

#[test]
fn tax_settings_of_an_account_are_read_and_changed() {
    let ads = Advertiser::new();
    let fresh = ads.get("/tax_settings", &[]);
    assert_eq!(fresh["data"]["bill_to"], "NOT_SET");
    assert_eq!(fresh["data"]["business_relationship"], "SELF");
    assert_eq!(fresh["data"]["invoice_jurisdiction"], "NOT_SET");
    assert_eq!(fresh["data"]["tax_id"], Value::Null);
    let put = |params: &[(&str, &str)]| ads.send("PUT", "/tax_settings", params);
    is(&put(&[("tax_category", "BUSINESS_WITH_VAT")]), 400, "INCLUSIVE_PARAMETERS", "tax_id");
    is(&put(&[("client_address_city", "Porto")]), 400, "INVALID", "client_address_city");
    is(&put(&[("invoice_jurisdiction", "MOON")]), 400, "INVALID_PARAMETER", "invoice_jurisdiction");
    assert_eq!(ads.get("/tax_settings", &[])["data"], fresh["data"]);
    let params = [
        ("address_name", "Harbour Bikes Lda"),
        ("address_country", "PT"),
        ("tax_category", "BUSINESS_WITH_VAT"),
        ("tax_id", "PT500000000"),
        ("invoice_jurisdiction", "NONE"),
    ];
    let set = put(&params).assert_status(200);
    assert_eq!(set["data"]["address_company"], "Harbour Bikes Lda");
    assert!(set["data"].get("client_address_city").is_none(), "{set}");
    let agency =
        [("business_relationship", "AGENCY"), ("client_address_city", "Porto"), ("client_address_street1", "Rua B 2")];
    let agency = put(&agency).assert_status(200);
    assert_eq!(agency["data"]["client_address_city"], "Porto");
    assert_eq!(agency["data"]["tax_id"], "PT500000000");
    assert_eq!(agency["data"]["invoice_jurisdiction"], "NONE");
    assert_eq!(ads.get("/tax_settings", &[])["data"], agency["data"]);
    is(&put(&[("tax_id", "")]), 400, "INCLUSIVE_PARAMETERS", "tax_id");
    let unset = put(&[("bill_to", ""), ("business_relationship", ""), ("invoice_jurisdiction", "")]).assert_status(200);
    assert_eq!(unset["data"]["bill_to"], "NOT_SET");
    assert_eq!(unset["data"]["business_relationship"], "SELF");
    assert_eq!(unset["data"]["invoice_jurisdiction"], "NOT_SET");
}

/// A campaign that was changed once and deleted, and a line item of it.
fn changed_campaign() -> (Advertiser, String, String) {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let path = format!("/campaigns/{campaign}");
    let change = [("name", "Summer"), ("entity_status", "PAUSED")];
    // The second request changes nothing.
    ads.send("PUT", &path, &change).assert_status(200);
    ads.send("PUT", &path, &change).assert_status(200);
    ads.send("DELETE", &path, &[]).assert_status(200);
    (ads, campaign, item)
}

/// The history of a record around now.
fn history(ads: &Advertiser, entity: &str, id: &str, more: &[(&str, &str)]) -> TestResponse {
    let (from, to) = (hour(-1), hour(1));
    let defaults =
        [("entity_type", entity), ("entity_id", id), ("start_time", from.as_str()), ("end_time", to.as_str())];
    ads.send("GET", "/account_history", &with_overrides(&defaults, more))
}

#[test]
fn promotion_that_is_made_again_is_created_without_changes() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let post = ads.person.publish_text("Twice promoted");
    let promote = || {
        let params = [("line_item_id", item.as_str()), ("post_ids", &post)];
        let created = ads.send("POST", "/promoted_posts", &params).assert_status(200);
        created["data"][0]["id"].as_str().unwrap().to_owned()
    };
    let promoted = promote();
    ads.send("DELETE", &format!("/promoted_posts/{promoted}"), &[]).assert_status(200);
    assert_eq!(promote(), promoted);
    let all = history(&ads, "PROMOTED_TWEET", &promoted, &[]).assert_status(200);
    let rows = all["data"].as_array().unwrap().iter();
    let created: Vec<&Value> = rows.filter(|row| row["change_type"] == "CREATE").map(|row| &row["changes"]).collect();
    assert_eq!(created, [&json!({}), &json!({})], "{all}");
}

#[test]
fn history_of_a_record_lists_its_changes_and_who_made_them() {
    let (ads, campaign, item) = changed_campaign();
    let criterion = [("line_item_id", item.as_str()), ("targeting_type", "BROAD_KEYWORD"), ("targeting_value", "bike")];
    ads.send("POST", "/targeting_criteria", &criterion);
    let request = |entity: &str, id: &str, more: &[(&str, &str)]| history(&ads, entity, id, more);
    let all = request("CAMPAIGN", &campaign, &[]).assert_status(200);
    let rows = all["data"].as_array().unwrap();
    let kinds: Vec<&str> = rows.iter().map(|row| row["change_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["DELETE", "UPDATE", "CREATE"]);
    let by = json!({ "user_id": ads.person.id, "platform": "API_OTHER" });
    assert!(rows.iter().all(|row| row["change_by"] == by), "{all}");
    let update = &rows[1];
    assert_eq!(
        update["changes"],
        json!({
            "name": { "old": "Spring", "new": "Summer" },
            "entity_status": { "old": "ACTIVE", "new": "PAUSED" },
        })
    );
    assert_eq!(update["entity_data"]["name"], "Summer");
    assert_eq!(update["entity_id"], campaign.as_str());
    assert_eq!(rows[2]["changes"], json!({}));
    assert_eq!(rows[0]["entity_data"]["deleted"], true);
    // Page by page.
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = request("CAMPAIGN", &campaign, &[("count", "1"), ("cursor", &cursor)]).assert_status(200);
        walked.extend(page["data"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(&walked, rows);
}

#[test]
fn history_is_filtered_by_user_and_time() {
    let (ads, campaign, item) = changed_campaign();
    let request = |entity: &str, id: &str, more: &[(&str, &str)]| history(&ads, entity, id, more);
    let items = request("LINE_ITEM", &item, &[]).assert_status(200);
    assert_eq!(items["data"].as_array().unwrap().len(), 1);
    let other = shared_server().new_user("other");
    let none = request("CAMPAIGN", &campaign, &[("user_id", &other.id)]).assert_status(200);
    assert_eq!(none["data"], json!([]));
    let earlier = [("start_time", hour(-3)), ("end_time", hour(-2))];
    let earlier = earlier.each_ref().map(|(name, time)| (*name, time.as_str()));
    assert_eq!(request("CAMPAIGN", &campaign, &earlier).assert_status(200)["data"], json!([]));
}

#[test]
fn history_of_a_user_has_full_pages() {
    let ads = Advertiser::new();
    let colleague = shared_server().new_user("colleague");
    let role = ["ads", "account", "role", &ads.account, &colleague.username, "AD_MANAGER"];
    shared_server().run_cli(&role).assert_success();
    let campaign = ads.campaign();
    let path = format!("/12/accounts/{}/campaigns/{campaign}", ads.account);
    for (who, name) in [(&colleague, "Summer"), (&ads.person, "Autumn"), (&ads.person, "Winter")] {
        send(who, "PUT", &path, &[("name", name)]).assert_status(200);
    }
    let page = history(&ads, "CAMPAIGN", &campaign, &[("user_id", &colleague.id), ("count", "1")]).assert_status(200);
    assert_eq!(page["data"][0]["entity_data"]["name"], "Summer", "{page}");
    assert_eq!(page["next_cursor"], Value::Null, "{page}");
}

#[test]
fn history_reads_a_date_as_midnight_in_the_time_zone_of_the_account() {
    let ads = Advertiser::new();
    let window = [("start_time", "2026-03-01"), ("end_time", "2026-03-02T00:00:00Z")];
    let echo = history(&ads, "CAMPAIGN", "1", &window).assert_status(200)["request"]["params"].clone();
    assert_eq!(
        (&echo["start_time"], &echo["end_time"]),
        (&json!("2026-03-01T08:00:00Z"), &json!("2026-03-02T00:00:00Z"))
    );
    let create = ["ads", "account", "create", "Abroad", "--user", &ads.person.username, "--timezone", "Asia/Kathmandu"];
    let abroad = shared_server().run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let ads = Advertiser { account: abroad, ..ads };
    let window = [("start_time", "2026-03-01"), ("end_time", "2026-03-02")];
    let echo = history(&ads, "CAMPAIGN", "1", &window).assert_status(200)["request"]["params"].clone();
    assert_eq!(
        (&echo["start_time"], &echo["end_time"]),
        (&json!("2026-02-28T18:15:00Z"), &json!("2026-03-01T18:15:00Z"))
    );
}

#[test]
fn invalid_or_disabled_history_is_refused() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let request = |entity: &str, id: &str, more: &[(&str, &str)]| history(&ads, entity, id, more);
    for (name, value, code) in [
        ("start_time", "2026-01-01T00:30:00Z", "INVALID_TIME_WINDOW"),
        ("start_time", "2099-01-01T00:00:00Z", "INVALID_TIME_WINDOW"),
        ("start_time", "", "MISSING_PARAMETER"),
        ("entity_type", "CARD", "INVALID_PARAMETER"),
        ("count", "1001", "INVALID_PARAMETER"),
    ] {
        let response = request("CAMPAIGN", &campaign, &[(name, value)]);
        assert_eq!(response.assert_status(400)["errors"][0]["code"], code, "{name} {value}");
    }
    let wrong = [("start_time", "soon"), ("end_time", "later")];
    assert_eq!(problem_parameters(&request("CAMPAIGN", &campaign, &wrong)), wrong.map(|(name, _)| name));
    let close = ["ads", "account", "set", &ads.account, "--refuse", "ACCOUNT_HISTORY"];
    shared_server().run_cli(&close).assert_success();
    is(&request("CAMPAIGN", &campaign, &[]), 400, "FEATURE_NOT_AVAILABLE", "");
}

#[test]
fn account_apps_are_those_the_account_advertised() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "APP_INSTALLS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("android_app_store_identifier", "org.example.bikes"),
    ];
    let item = ads.make("/line_items", &params);
    let ios = [("ios_app_store_identifier", "1234")];
    ads.send("PUT", &format!("/line_items/{item}"), &ios).assert_status(200);
    ads.make("/line_items", &params);
    let apps = ads.get("/account_apps", &[("sort_by", "created_at-asc")]);
    let apps = apps["data"].as_array().unwrap();
    let known: Vec<(&str, &str)> = apps
        .iter()
        .map(|app| {
            let text = |name: &str| app[name].as_str().unwrap();
            (text("os_type"), text("app_store_identifier"))
        })
        .collect();
    assert_eq!(known, [("Android", "org.example.bikes"), ("iOS", "1234")]);
    assert_eq!(apps[0]["conversion_tracking_enabled"], false);
}

#[test]
fn media_creative_needs_a_line_item_that_takes_it() {
    let ads = Advertiser::new();
    let (clip, banner) = (ads.clip(), ads.media("tweet_image", &crate::media::samples::png(320, 50)));
    for key in [&clip, &banner] {
        ads.send("POST", "/media_library", &[("media_key", key)]).assert_status(200);
    }
    let media = |kind: &str| {
        let page = ads.get("/account_media", &[("creative_types", kind)]);
        page["data"][0]["id"].as_str().unwrap().to_owned()
    };
    let (film, picture) = (media("PREROLL"), media("BANNER"));
    let item = |objective, product, placement, more: &[(&str, &str)]| {
        let campaign = ads.campaign();
        let params = [
            ("campaign_id", campaign.as_str()),
            ("objective", objective),
            ("product_type", product),
            ("placements", placement),
            ("categories", "IAB7"),
            ("bid_amount_local_micro", "150000"),
        ];
        ads.make("/line_items", &[&params[..], more].concat())
    };
    let before = item("PREROLL_VIEWS", "MEDIA", "ALL_ON_TWITTER", &[]);
    let domain = [("advertiser_domain", "bikes.example")];
    let outside = item("WEBSITE_CLICKS", "PROMOTED_TWEETS", "PUBLISHER_NETWORK", &domain);
    let timeline = ads.line_item(&ads.campaign());
    let put = |item: &str, media: &str, more: &[(&str, &str)]| {
        let params = [("line_item_id", item), ("account_media_id", media)];
        ads.send("POST", "/media_creatives", &[&params[..], more].concat())
    };
    let created = put(&before, &film, &[]).assert_status(200)["data"].clone();
    assert_eq!((&created["creative_type"], &created["approval_status"]), (&json!("PREROLL"), &json!("ACCEPTED")));
    // The same again is the same; what was deleted comes back.
    let id = &created["id"];
    assert_eq!(&put(&before, &film, &[]).assert_status(200)["data"]["id"], id);
    let path = format!("/media_creatives/{}", id.as_str().unwrap());
    ads.send("DELETE", &path, &[]).assert_status(200);
    let revived = put(&before, &film, &[]).assert_status(200);
    assert_eq!((&revived["data"]["id"], &revived["data"]["deleted"]), (id, &json!(false)));
    is(&put(&before, &picture, &[]), 400, "INCOMPATIBLE_LINE_ITEM", "line_item_id");
    is(&put(&timeline, &film, &[]), 400, "INCOMPATIBLE_LINE_ITEM", "line_item_id");
    is(&put(&outside, &picture, &[]), 400, "MISSING_PARAMETER", "landing_url");
    let landing = [("landing_url", "https://bikes.example/")];
    put(&outside, &picture, &landing).assert_status(200);
    // One call to action before a film.
    let call = |item: &str| {
        let params = [
            ("line_item_id", item),
            ("call_to_action", "VISIT_SITE"),
            ("call_to_action_url", "https://bikes.example/"),
        ];
        ads.send("POST", "/preroll_call_to_actions", &params)
    };
    is(&call(&timeline), 400, "INCOMPATIBLE_LINE_ITEM", "line_item_id");
    let first = call(&before).assert_status(200);
    is(&call(&before), 400, "INVALID", "line_item_id");
    let path = format!("/preroll_call_to_action/{}", first["data"]["id"].as_str().unwrap());
    ads.send("DELETE", &path, &[]).assert_status(200);
    call(&before).assert_status(200);
    let deleted = ads.send("DELETE", &format!("/account_media/{film}"), &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    is(&put(&before, &film, &[]), 404, "ACCOUNT_MEDIA_NOT_FOUND", "account_media_id");
}
