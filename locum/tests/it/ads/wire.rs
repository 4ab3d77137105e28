//! Names and vocabularies of parameters and answers, versions, content types and texts.

use serde_json::{Value, json};

use super::{Advertiser, is, refused, send};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, run_command, shared_server};

#[test]
fn request_params_echo_the_names_that_were_received() {
    let ads = Advertiser::new();
    let (campaign, post) = (ads.campaign(), ads.person.publish_text("Look"));
    let item = ads.line_item(&campaign);
    let numbers = json!([post.parse::<i64>().unwrap()]);
    for (path, name, other) in
        [("/promoted_posts", "tweet_ids", "post_ids"), ("/promoted_tweets", "post_ids", "tweet_ids")]
    {
        let params = [("line_item_id", item.as_str()), (name, post.as_str())];
        let echo = ads.send("POST", path, &params).assert_status(200)["request"]["params"].clone();
        assert_eq!((&echo[name], echo.get(other)), (&numbers, None), "{path}");
    }
    let listed = ads.get("/cards", &[("card_ids", "1")]);
    assert_eq!(listed["request"]["params"]["card_ids"], json!(["1"]));
    let wrong = ads.send("GET", "/cards", &[("card_ids", "a")]);
    assert_eq!(refused(&wrong, 404).1, "card_ids");
    let update = json!([{ "operation_type": "Update", "params": { "id": campaign, "name": "New" } }]);
    let echo = ads.batch("campaigns", &update).assert_status(200)["request"][0]["params"].clone();
    assert_eq!((&echo["id"], echo.get("campaign_id")), (&json!(campaign), None), "{echo}");
}

#[test]
fn answers_use_the_older_vocabulary_for_its_version_and_parameters() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let path = |version: &str| format!("/{version}/accounts/{}/line_items/{item}", ads.account);
    let product = |version: &str| {
        send(&ads.person, "GET", &path(version), &[]).assert_status(200)["data"]["product_type"].clone()
    };
    assert_eq!((product("11"), product("12")), (json!("PROMOTED_TWEETS"), json!("PROMOTED_POSTS")));
    let campaign = ads.campaign();
    let created = |product: &str| {
        let params = [
            ("campaign_id", campaign.as_str()),
            ("objective", "ENGAGEMENTS"),
            ("product_type", product),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
        ];
        let body = ads.send("POST", "/line_items", &params).assert_status(200);
        (body["data"]["product_type"].clone(), body["request"]["params"]["product_type"].clone())
    };
    for product in ["PROMOTED_TWEETS", "PROMOTED_POSTS"] {
        assert_eq!(created(product), (json!(product), json!(product)));
    }
    let post = ads.person.publish_text("Look");
    let preview = |name: &str, kind: &str| {
        let path = format!("/12/accounts/{}/posts", ads.account);
        let params = [(name, post.as_str()), (kind, "PUBLISHED"), ("timeline_type", "ALL")];
        send(&ads.person, "GET", &path, &params).assert_status(200)
    };
    // The path has a word of the newer vocabulary.
    assert!(preview("tweet_ids", "tweet_type")["data"][0].get("post_type").is_some());
    let batch = json!([{ "operation_type": "Create", "params": {
        "campaign_id": campaign, "objective": "ENGAGEMENTS", "product_type": "PROMOTED_TWEETS",
        "placements": ["ALL_ON_TWITTER"], "bid_amount_local_micro": 150_000,
    } }]);
    assert_eq!(ads.batch("line_items", &batch).assert_status(200)["data"][0]["product_type"], "PROMOTED_TWEETS");
}

#[test]
fn unknown_version_is_a_missing_route_that_names_the_current_one() {
    let ads = Advertiser::new();
    for path in ["/13/accounts", "/7/accounts", "/0/bidding_rules", "/99/line_items/placements", "/10/stats/accounts/1"]
    {
        let response = send(&ads.person, "GET", path, &[]);
        is(&response, 404, "ROUTE_NOT_FOUND", "");
        assert!(response.text().contains("12"), "{}", response.text());
    }
}

#[test]
fn body_of_another_type_or_too_large_is_refused_with_400() {
    let ads = Advertiser::new();
    let items = json!([{ "operation_type": "Create", "params": {
        "name": "N", "funding_instrument_id": ads.instrument, "daily_budget_amount_local_micro": 10_000_000,
    } }]);
    let path = format!("/12/batch/accounts/{}/campaigns", ads.account);
    let send = |kind: &'static str| ads.person.send_signed(TestRequest::post(&path).body(kind, items.to_string()));
    is(&send("text/plain"), 400, "INVALID_PARAMETER", "");
    let broken = TestRequest::post(&path).body("application/json", "[{\"a\": 1, \"a\": 1}]");
    let refused = ads.person.send_signed(broken);
    is(&refused, 400, "INVALID_PARAMETER", "");
    assert!(refused.text().contains("not valid JSON"), "{}", refused.text());
    let campaign = format!("/12/accounts/{}/campaigns/{}", ads.account, ads.campaign());
    for (kind, body) in [
        ("application/json", &b"{\"entity_status\": \"PAUSED\"}"[..]),
        ("text/plain", b"entity_status=PAUSED"),
        ("application/x-www-form-urlencoded", b"entity_status=PAUSED&name=caf\xe9"),
    ] {
        let request = TestRequest::new("PUT", &campaign).body(kind, body).bearer(&ads.person.token);
        is(&shared_server().send(request), 400, "INVALID_PARAMETER", "");
    }
    for body in ["", "{}"] {
        let empty = TestRequest::new("PUT", format!("{campaign}?name=Renamed")).body("application/json", body);
        ads.person.send_signed(empty).assert_status(200);
    }
    send("application/json; charset=utf-8").assert_status(200);
    let large = TestRequest::post(&path).body("application/json", " ".repeat(2 * 1024 * 1024));
    let header = large.oauth1_header(&ads.person.oauth1_credentials(), &shared_server().url);
    // The answer may come before all of it is sent.
    if let Some(answer) = shared_server().try_send(large.authorization(header)) {
        is(&answer, 400, "REQUEST_TOO_COMPLEX", "");
    }
}

#[test]
fn blank_name_is_refused() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let update = |path: &str| ads.send("PUT", path, &[("name", "  ")]);
    is(&update(&format!("/campaigns/{campaign}")), 400, "INVALID_PARAMETER", "name");
    is(&update(&format!("/line_items/{}", ads.line_item(&campaign))), 400, "INVALID_PARAMETER", "name");
    is(&update(""), 400, "INVALID_PARAMETER", "name");
    let params = [("name", "\u{a0}"), ("funding_instrument_id", ads.instrument.as_str())];
    is(&ads.send("POST", "/campaigns", &params), 400, "INVALID_PARAMETER", "name");
    is(&ads.send("POST", "/custom_audiences", &[("name", " ")]), 400, "INVALID_PARAMETER", "name");
}

#[test]
fn tracking_tags_use_tls_and_country_codes_exist() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let tag = |url: &str| {
        let params =
            [("line_item_id", item.as_str()), ("tracking_tag_type", "IMPRESSION_TAG"), ("tracking_tag_url", url)];
        ads.send("POST", "/tracking_tags", &params)
    };
    is(&tag("http://partner.example/"), 400, "INVALID_PARAMETER", "tracking_tag_url");
    tag("https://partner.example/").assert_status(200);
    let locations = |code: &str| {
        send(&ads.person, "GET", "/12/targeting_criteria/locations", &[("country_code", code), ("count", "1")])
    };
    is(&locations("ZZ"), 400, "INVALID_PARAMETER", "country_code");
    locations("pt").assert_status(200);
    let curated = |codes: &str| ads.send("GET", "/curated_categories", &[("country_codes", codes)]);
    is(&curated("PT,ZZ"), 400, "INVALID_PARAMETER", "country_codes");
    curated("PT,US").assert_status(200);
    is(&ads.send("PUT", "/tax_settings", &[("address_country", "ZZ")]), 400, "INVALID_PARAMETER", "address_country");
}

#[test]
fn behaviors_are_empty_lists() {
    let person = shared_server().new_user("advertiser");
    for path in ["behaviors", "behavior_taxonomies"] {
        let path = format!("/12/targeting_criteria/{path}");
        let page = send(&person, "GET", &path, &[("with_total_count", "true")]).assert_status(200);
        assert_eq!((&page["data"], &page["next_cursor"], &page["total_count"]), (&json!([]), &Value::Null, &json!(0)));
    }
}

#[test]
fn reference_lists_are_not_limited_by_the_limits_of_development() {
    let request = |user: &TestUser<'_>| send(user, "GET", "/12/bidding_rules", &[("currency", "EUR")]);
    let relaxed = TestServer::start(&["--world", "empty", "--rate-limits", "relaxed"]);
    let user = relaxed.new_user("advertiser");
    for _ in 0..7 {
        let response = request(&user);
        response.assert_status(200);
        assert_eq!(response.header_number("x-rate-limit-limit"), 5);
    }
    // They are those of a development server.
    let keys = run_command(&relaxed.sibling_path(""), &["conf", "keys"]).assert_success().stdout.clone();
    let row = keys.lines().find(|line| line.contains("`limits.rate_limits`")).unwrap();
    assert!(row.contains("| `relaxed` | `table` |"), "{row}");
}

#[test]
fn answers_have_the_members_that_older_ones_had() {
    let ads = Advertiser::new();
    let events = send(&ads.person, "GET", "/12/targeting_criteria/events", &[("event_types", "SPORTS")]);
    assert_eq!(events.assert_status(200)["data_type"], "events");
    let item = ads.line_item(&ads.campaign());
    let criterion = json!({ "line_item_id": item, "targeting_type": "BROAD_KEYWORD", "targeting_value": "bike" });
    let created = ads.batch("targeting_criteria", &json!([{ "operation_type": "Create", "params": criterion }]));
    assert_eq!(created.assert_status(200)["data_type"], "targeting_criterion");
    let suggestions = [("suggestion_type", "KEYWORD"), ("targeting_values", "bike")];
    let post = ads.person.publish_text("Look");
    let previews = [("post_ids", post.as_str()), ("post_type", "PUBLISHED")];
    for (path, params) in [("/targeting_suggestions", suggestions), ("/post_previews", previews)] {
        let page = ads.get(path, &params);
        assert!(page.as_object().unwrap().contains_key("next_cursor"), "{page}");
    }
}

#[test]
fn refusal_names_the_id_that_was_sent() {
    let ads = Advertiser::new();
    let long = "zzzzzzzzzzzzzzzzzzzz";
    let message = |response: &TestResponse| response.json()["errors"][0].clone();
    for method in ["GET", "PUT", "DELETE"] {
        let response = ads.send(method, &format!("/campaigns/{long}"), &[]);
        is(&response, 404, "CAMPAIGN_NOT_FOUND", "campaign_id");
        assert_eq!(message(&response)["value"], long);
        assert_eq!(message(&response)["message"], format!("The campaign {long} was not found"));
        is(&ads.send(method, "/campaigns/a-b", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "campaign_id");
    }
    let item = [
        ("campaign_id", long),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "150000"),
    ];
    assert_eq!(message(&ads.send("POST", "/line_items", &item))["value"], long);
    let batch = ads.batch("campaigns", &json!([{ "operation_type": "Delete", "params": { "campaign_id": long } }]));
    assert_eq!(batch.assert_status(400)["operation_errors"][0][0]["value"], long);
    let path = |id: &str| format!("/12/accounts/{id}");
    is(&send(&ads.person, "GET", &path("a-b"), &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "account_id");
    let unknown = send(&ads.person, "GET", &path(long), &[]);
    is(&unknown, 403, "ACCOUNT_NOT_FOUND", "account_id");
    assert_eq!(message(&unknown)["value"], long);
}

#[test]
fn batch_names_the_operations_that_it_takes() {
    let ads = Advertiser::new();
    for (kind, verb, expected) in [
        ("custom_audiences", "Update", "Create"),
        ("targeting_criteria", "Update", "Create or Delete"),
        ("campaigns", "Destroy", "Create, Update or Delete"),
    ] {
        let refused = ads.batch(kind, &json!([{ "operation_type": verb, "params": {} }])).assert_status(400);
        let message = format!("Expected {expected}, got \"{verb}\" for operation_type");
        assert_eq!(refused["operation_errors"][0][0]["message"], message, "{refused}");
    }
}
