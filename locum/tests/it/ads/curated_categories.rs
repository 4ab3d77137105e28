//! Publishers, curated categories, and line items that are shown with them.

use serde_json::{Value, json};

use super::{Advertiser, batch_problem, is, send};
use crate::harness::{TestResponse, TestServer, TestUser, keep_for_test, shared_server};
use crate::media::samples::{Film, mp4};
use crate::media::{at_once, processed};

/// Shows a video to everyone.
fn shows_a_video(user: &TestUser<'_>) {
    let film = at_once(user, "tweet_video", &mp4(Film::default())).assert_status(200);
    let id = film["data"]["id"].as_str().unwrap().to_owned();
    processed(user, &id);
    let post = json!({ "media": { "media_ids": [id] } });
    user.create_post(&post).assert_status(201);
}

fn publisher(user: &TestUser<'_>, more: &[&str]) -> Value {
    let add = ["ads", "publisher", "add", &user.username];
    let defaults = ["--category", "se", "--country", "PT"];
    user.server.run_cli(&[&add[..], &defaults, more].concat()).json()
}

fn curated(name: &str, countries: &[&str], members: &[&TestUser<'_>]) -> String {
    let mut add = vec!["ads", "curated-category", "add", name];
    add.extend(countries.iter().flat_map(|code| ["--country", *code]));
    let names = members.iter().map(|member| member.username.as_str());
    add.extend(names.flat_map(|name| ["--publisher", name]));
    let created = members[0].server.run_cli(&add).json();
    created["id"].as_str().unwrap().to_owned()
}

/// The row of a list whose member has a value.
fn row<'a>(list: &'a Value, member: &str, value: &str) -> &'a Value {
    let rows = list["data"].as_array().unwrap();
    let found = rows.iter().find(|row| row[member] == value);
    found.unwrap_or(&Value::Null)
}

fn place(name: &str, code: &str) -> String {
    let add = ["place", "add", name, "--type", "country", "--country-code"];
    let created = shared_server().run_cli(&[&add[..], &[code]].concat()).json();
    created["id"].as_str().unwrap().to_owned()
}

#[test]
fn publishers_are_counted_by_the_videos_that_may_be_monetized() {
    // A network that has shown little yet may count what was posted.
    let young = ["--set", "ads.count_videos=posts"];
    let server: &'static TestServer = keep_for_test(TestServer::start(&young));
    let ads = Advertiser::on(server);
    let (club, rider) = (server.new_user("club"), server.new_user("rider"));
    let added = publisher(&club, &["--promoted-in", "pt", "--promoted-in", "ES"]);
    assert_eq!(added["username"], club.username.as_str());
    publisher(&rider, &["--restricted"]);
    let all = || send(&ads.person, "GET", "/12/publishers", &[]).assert_status(200);
    let list = all();
    assert_eq!(list["next_cursor"], Value::Null);
    let shown = json!({
        "user_id": club.id,
        "username": club.username,
        "content_category_ids": ["se"],
        "monetizable_country_codes": ["PT"],
        "promotion_eligible_country_codes": ["PT", "ES"],
        "monetization_restricted": false,
    });
    assert_eq!(*row(&list, "user_id", &club.id), shown);
    assert_eq!(row(&list, "user_id", &rider.id)["monetization_restricted"], true);
    let id = curated("City cycling", &["PT", "es"], &[&club, &rider]);
    let one = format!("/curated_categories/{id}");
    let videos = || ads.get(&one, &[])["data"]["videos_monetized_in_last_thirty_days"].clone();
    let sports = || {
        let list = send(&ads.person, "GET", "/12/content_categories", &[]).assert_status(200);
        row(&list, "id", "se").clone()
    };
    assert_eq!(videos(), 0);
    let before = sports();
    let count = |row: &Value, name: &str| row[name].as_i64().unwrap();
    club.publish_text("Without a video");
    shows_a_video(&club);
    shows_a_video(&club);
    // A restricted publisher's videos are shown without advertisements.
    shows_a_video(&rider);
    assert_eq!(videos(), 2);
    let after = sports();
    let (publishers, shown) = ("publishers_in_last_thirty_days", "videos_monetized_in_last_thirty_days");
    assert_eq!(count(&after, publishers), count(&before, publishers) + 1);
    assert_eq!(count(&after, shown), count(&before, shown) + 2);
    // What the operator says again holds instead.
    publisher(&rider, &[]);
    assert_eq!(videos(), 3);
    server.run_cli(&["ads", "publisher", "remove", &club.username]).assert_success();
    assert_eq!(*row(&all(), "user_id", &club.id), Value::Null);
    let left = ads.get(&one, &[]);
    assert_eq!(left["data"]["publisher_user_ids"], json!([rider.id]));
    assert_eq!(videos(), 1);
}

#[test]
fn unknown_publisher_category_or_country_is_refused() {
    let server = shared_server();
    let club = server.new_user("club");
    for wrong in [
        &["publisher", "add", "nobody-at-all"][..],
        &["publisher", "remove", &club.username],
        &["curated-category", "remove", "zzzz"],
    ] {
        let more: &[&str] = match wrong[1] {
            "add" => &["--category", "se", "--country", "PT"],
            _ => &[],
        };
        server.run_cli(&[&["ads"], wrong, more].concat()).assert_refused();
    }
    let add = ["ads", "publisher", "add", &club.username, "--category"];
    for wrong in [["zz", "--country", "PT"], ["se", "--country", "Portugal"]] {
        server.run_cli(&[&add[..], &wrong].concat()).assert_refused();
    }
}

#[test]
fn curated_categories_are_filtered_by_country() {
    let ads = Advertiser::new();
    let member = shared_server().new_user("member");
    publisher(&member, &[]);
    let (near, far) = (curated("Near", &["PT", "ES"], &[&member]), curated("Far", &["JP"], &[&member]));
    assert_eq!(near.len(), 12);
    let list = |codes: &str| ads.get("/curated_categories", &[("country_codes", codes)]);
    let found = list("es,FR");
    assert!(found["total_count"].as_i64().unwrap() >= 1);
    assert_eq!(row(&found, "id", &far), &Value::Null);
    let one = row(&found, "id", &near);
    assert_eq!(one["name"], "Near");
    assert_eq!(one["country_codes"], json!(["PT", "ES"]));
    assert_eq!(one["publisher_user_ids"], json!([member.id]));
    assert_eq!(one["deleted"], Value::Null);
    assert_eq!(list("AQ")["total_count"], 0);
    let shown = ads.get(&format!("/curated_categories/{near}"), &[]);
    assert_eq!(shown["data"], *one);
    assert_eq!(shown["request"]["params"]["id"], near.as_str());
    let at = "country_codes";
    let list = |params: &[(&str, &str)]| ads.send("GET", "/curated_categories", params);
    is(&list(&[]), 400, "MISSING_PARAMETER", at);
    is(&list(&[(at, "P1")]), 400, "INVALID_PARAMETER", at);
    is(&list(&[(at, "Portugal")]), 400, "INVALID_PARAMETER", at);
    let many = vec!["PT"; 201].join(",");
    is(&list(&[(at, &many)]), 400, "INVALID_PARAMETER", at);
    let deleted = ["ads", "curated-category", "remove", &far];
    shared_server().run_cli(&deleted).assert_success();
    let response = ads.send("GET", &format!("/curated_categories/{far}"), &[]);
    is(&response, 404, "NOT_FOUND", "id");
    let response = ads.send("GET", "/curated_categories/a%20b", &[]);
    is(&response, 404, "INVALID_ID_ILLEGAL_CHARACTERS", "id");
}

#[track_caller]
fn assert_targeting_refused(response: &TestResponse) {
    let body = response.assert_status(400);
    assert_eq!(batch_problem(&body, 0), ("INVALID", "targeting_type"), "{body}");
}

#[test]
fn curated_category_is_linked_to_a_line_item_that_targets_its_country() {
    let ads = Advertiser::new();
    let member = shared_server().new_user("member");
    publisher(&member, &[]);
    let (near, far) = (curated("Near", &["PT"], &[&member]), curated("Far", &["JP"], &[&member]));
    let item = ads.line_item(&ads.campaign());
    let path = "/line_item_curated_categories";
    let link = |item: &str, category: &str| {
        let params = [("line_item_id", item), ("curated_category_id", category)];
        ads.send("POST", path, &params)
    };
    let at = "curated_category_id";
    is(&link(&item, &near), 400, "INVALID", at);
    let target = |kind: &str, value: &str, operator: &str| {
        let params = [
            ("line_item_id", item.as_str()),
            ("targeting_type", kind),
            ("targeting_value", value),
            ("operator_type", operator),
        ];
        ads.send("POST", "/targeting_criteria", &params)
    };
    // What goes together comes in a batch.
    let together = |kind: &str, value: &str, operator: &str| {
        let params = json!({ "line_item_id": item, "targeting_type": kind,
            "targeting_value": value, "operator_type": operator });
        let items = json!([{ "operation_type": "Create", "params": params }]);
        ads.batch("targeting_criteria", &items)
    };
    target("LOCATION", &place("Portugal", "PT"), "EQ").assert_status(200);
    is(&link(&item, &far), 400, "INVALID", at);
    is(&link(&item, "zzz"), 404, "NOT_FOUND", at);
    is(&link("zzz", &near), 404, "LINE_ITEM_NOT_FOUND", "line_item_id");
    let created = link(&item, &near).assert_status(200);
    assert_eq!(created["data"]["curated_category_id"], near.as_str());
    assert_eq!(created["data"]["line_item_id"], item.as_str());
    let id = created["data"]["id"].as_str().unwrap();
    is(&link(&item, &near), 400, "INVALID", "line_item_id");
    // Categories of content, and more than a few left out, do not go with it.
    assert_targeting_refused(&together("IAB_CATEGORY", "IAB17", "EQ"));
    for number in 0..5 {
        let other = shared_server().new_user(&format!("left{number}"));
        together("CONTENT_PUBLISHER_USER", &other.id, "NE").assert_status(200);
    }
    assert_targeting_refused(&together("CONTENT_PUBLISHER_USER", &member.id, "NE"));
    let one = format!("{path}/{id}");
    is(&ads.send("PUT", &one, &[(at, &far)]), 400, "INVALID", at);
    let same = ads.send("PUT", &one, &[(at, &near)]).assert_status(200);
    assert_eq!(same["data"]["curated_category_id"], near.as_str());
    let filter = [("line_item_ids", item.as_str())];
    assert_eq!(ads.get(path, &filter)["data"][0]["id"], id);
    let deleted = ads.send("DELETE", &one, &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    is(&ads.send("GET", &one, &[]), 404, "NOT_FOUND", "line_item_curated_category_id");
    assert_eq!(ads.get(path, &filter)["data"], json!([]));
    together("IAB_CATEGORY", "IAB17", "EQ").assert_status(200);
    is(&link(&item, &near), 400, "INVALID", at);
}

#[test]
fn line_item_with_a_curated_category_keeps_a_location_in_its_countries() {
    let ads = Advertiser::new();
    let member = shared_server().new_user("member");
    publisher(&member, &[]);
    let category = curated("Near", &["PT"], &[&member]);
    let item = ads.line_item(&ads.campaign());
    let (near, far) = (place("Portugal", "PT"), place("United States", "US"));
    let created = ads.targets(&item, ("LOCATION", &near, "EQ")).assert_status(200);
    let location = created["data"]["id"].as_str().unwrap();
    let params = [("line_item_id", item.as_str()), ("curated_category_id", category.as_str())];
    let link = ads.make("/line_item_curated_categories", &params);
    let remove = || ads.send("DELETE", &format!("/targeting_criteria/{location}"), &[]);
    is(&remove(), 400, "INVALID", "targeting_value");
    let replace_with = |place: &str| {
        let params = json!({ "line_item_id": item, "targeting_type": "LOCATION", "targeting_value": place });
        let items = json!([
            { "operation_type": "Delete", "params": { "targeting_criterion_id": location } },
            { "operation_type": "Create", "params": params },
        ]);
        ads.batch("targeting_criteria", &items)
    };
    let body = replace_with(&far).assert_status(400);
    for number in [0, 1] {
        assert_eq!(batch_problem(&body, number), ("INVALID", "targeting_value"), "{body}");
    }
    // A further location is no problem, nor is another one of the same country.
    ads.targets(&item, ("LOCATION", &far, "EQ")).assert_status(200);
    replace_with(&place("Lisbon", "PT")).assert_status(200);
    ads.send("DELETE", &format!("/line_item_curated_categories/{link}"), &[]).assert_status(200);
    for row in ads.get("/targeting_criteria", &[("line_item_ids", &item)])["data"].as_array().unwrap() {
        let path = format!("/targeting_criteria/{}", row["id"].as_str().unwrap());
        ads.send("DELETE", &path, &[]).assert_status(200);
    }
}

#[test]
fn curated_category_that_the_operator_removed_requires_no_location() {
    let ads = Advertiser::new();
    let member = shared_server().new_user("member");
    publisher(&member, &[]);
    let category = curated("Gone", &["PT"], &[&member]);
    let item = ads.line_item(&ads.campaign());
    let created = ads.targets(&item, ("LOCATION", &place("Portugal", "PT"), "EQ")).assert_status(200);
    let location = created["data"]["id"].as_str().unwrap();
    let params = [("line_item_id", item.as_str()), ("curated_category_id", category.as_str())];
    ads.make("/line_item_curated_categories", &params);
    shared_server().run_cli(&["ads", "curated-category", "remove", &category]).assert_success();
    ads.send("DELETE", &format!("/targeting_criteria/{location}"), &[]).assert_status(200);
}
