//! Estimates of audiences, what is written with keywords, and what can be targeted.

use serde_json::{Value, json};

use super::{Advertiser, is, refused, send};
use crate::harness::{TestRequest, TestResponse, TestUser, shared_server, unique_number, wait_until};

impl Advertiser {
    fn ask(&self, body: &Value) -> TestResponse {
        let path = format!("/12/accounts/{}/audience_estimate", self.account);
        self.person.send_signed(TestRequest::post(path).json(body))
    }

    /// The exact number that some criteria come to, once it is this.
    #[track_caller]
    fn reaches(&self, count: i64, criteria: &Value) {
        let body = json!({ "targeting_criteria": criteria });
        let expected = json!({ "min": count, "max": count });
        wait_until(&format!("{criteria} reach {count}"), || {
            self.ask(&body).assert_status(200)["data"]["audience_size"] == expected
        });
    }

    fn exact(&self) {
        let set = ["ads", "account", "set", &self.account, "--estimate", "exact"];
        shared_server().run_cli(&set).assert_success();
    }
}

fn one(kind: &str, value: &str) -> Value {
    json!({ "targeting_type": kind, "targeting_value": value })
}

/// A word that nobody else writes.
fn word(name: &str) -> String {
    format!("{name}{}x{}", std::process::id(), unique_number())
}

fn edit(user: &TestUser<'_>, location: &str) {
    let edit = ["user", "edit", &user.username, "--location", location];
    shared_server().run_cli(&edit).assert_success();
}

#[test]
fn estimate_counts_users_by_follower_location_and_keyword() {
    let ads = Advertiser::new();
    let others: Vec<TestUser<'_>> = (0..4).map(|_| shared_server().new_user("viewer")).collect();
    for other in &others[..3] {
        other.import_follows(&[&ads.person]);
    }
    let followers = one("FOLLOWERS_OF_USER", &ads.person.id);
    // A twentieth to each side, rounded outwards.
    wait_until("three followers are counted", || {
        let answer = ads.ask(&json!({ "targeting_criteria": [followers] }));
        answer.assert_status(200)["data"] == json!({ "audience_size": { "min": 2, "max": 4 } })
    });
    ads.exact();
    ads.reaches(3, &json!([followers]));
    let response = ads.ask(&json!([followers])).assert_status(200);
    assert_eq!(response["data"]["audience_size"], json!({ "min": 3, "max": 3 }));
    let echo = json!({ "account_id": ads.account, "targeting_criteria": null });
    assert_eq!(response["request"]["params"], echo);

    let (here, there) = ("3c65374ea675483e", "96683cc9126741d1");
    edit(&others[0], "Lisboa, Portugal");
    edit(&others[1], "Porto");
    edit(&others[2], "New York");
    ads.reaches(2, &json!([followers, one("LOCATION", here)]));
    ads.reaches(3, &json!([followers, one("LOCATION", here), one("LOCATION", there)]));
    let outside = json!({
        "targeting_type": "LOCATION", "targeting_value": here, "operator_type": "NE"
    });
    ads.reaches(1, &json!([followers, outside]));

    // Who wrote, liked, reposted or answered.
    let term = word("velo");
    let post = others[3].publish_text(&format!("a {term} for sale"));
    let like = json!({ "tweet_id": post });
    others[0].post(format!("/2/users/{}/likes", others[0].id), &like).assert_status(200);
    ads.reaches(2, &json!([one("PHRASE_KEYWORD", &format!("{term} for"))]));
    ads.reaches(0, &json!([one("EXACT_KEYWORD", &term)]));
    ads.reaches(4, &json!([followers, one("BROAD_KEYWORD", &term)]));
    let without = json!({
        "targeting_type": "UNORDERED_KEYWORD",
        "targeting_value": format!("sale {term}"),
        "operator_type": "NE",
    });
    ads.reaches(2, &json!([followers, without]));

    // What nothing is known of says nothing, and is named.
    let answer = ads.ask(&json!([followers, one("AGE", "AGE_OVER_18"), one("GENDER", "1")]));
    assert_eq!(answer.assert_status(200)["data"]["audience_size"]["min"], 3);
    assert_eq!(answer.header("x-estimate-ignored"), "AGE,GENDER");
}

#[test]
fn estimate_excludes_suspended_users_and_those_who_block_the_advertiser() {
    let ads = Advertiser::new();
    let others: Vec<TestUser<'_>> = (0..4).map(|_| shared_server().new_user("viewer")).collect();
    for other in &others[..3] {
        other.import_follows(&[&ads.person]);
    }
    let followers = one("FOLLOWERS_OF_USER", &ads.person.id);
    ads.exact();
    ads.reaches(3, &json!([followers]));
    // Suspended users, and those who block the advertiser.
    let suspend = ["user", "suspend", &others[1].username];
    shared_server().run_cli(&suspend).assert_success();
    ads.reaches(2, &json!([followers]));
    let block = json!({ "target_user_id": ads.person.id });
    let path = format!("/2/users/{}/blocking", others[3].id);
    others[3].post(path, &block);
    let path = format!("/12/accounts/{}/audience_summary", ads.account);
    let older = ads.person.send_signed(TestRequest::post(path).json(&json!([followers])));
    assert_eq!(older.assert_status(200)["data"]["audience_size"]["max"], 2);
}

#[test]
fn invalid_estimate_is_refused_with_its_errors() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let followers = one("FOLLOWERS_OF_USER", &ads.person.id);
    for (body, code, at) in [
        (json!({}), "MISSING_PARAMETER", "targeting_criteria"),
        (json!([]), "MISSING_PARAMETER", "targeting_criteria"),
        (json!({ "targeting_criteria": "x" }), "INVALID_PARAMETER", "targeting_criteria"),
        (json!([one("LOCATION", "3c65374ea675483e")]), "MISSING_PARAMETER", "targeting_criteria"),
        (json!([{}]), "MISSING_PARAMETER", "targeting_type"),
        (json!([5]), "MISSING_PARAMETER", "targeting_type"),
        (json!([{ "targeting_type": "PHRASE_KEYWORD" }]), "MISSING_PARAMETER", "targeting_value"),
        (json!([one("MOOD", "1")]), "INVALID_PARAMETER", "targeting_type"),
        (json!([followers, one("AGE", "OLD")]), "INVALID_PARAMETER", "targeting_value"),
        (
            json!([{
                "targeting_type": "PHRASE_KEYWORD",
                "targeting_value": "x",
                "operator_type": "GTE",
            }]),
            "INVALID_PARAMETER",
            "operator_type",
        ),
        (json!([one("FOLLOWERS_OF_USER", &other.person.id)]), "INVALID_USER_ID", "targeting_value"),
        (Value::from(vec![followers.clone(); 1_001]), "REQUEST_TOO_COMPLEX", ""),
    ] {
        is(&ads.ask(&body), 400, code, at);
    }
    let path = format!("/12/accounts/{}/audience_estimate", ads.account);
    let plain = ads.person.send_signed(TestRequest::post(path.clone()));
    is(&plain, 400, "INVALID_PARAMETER", "");
    // How values are meant that say nothing of it may stand in the query.
    let denied = TestRequest::post(format!("{path}?operator_type=NE")).json(&json!([followers]));
    let denied = ads.person.send_signed(denied);
    is(&denied, 400, "MISSING_PARAMETER", "targeting_criteria");
    let theirs = other.person.send_signed(TestRequest::post(path).json(&json!([followers])));
    is(&theirs, 403, "ACCOUNT_NOT_FOUND", "account_id");
}

fn moment(hours_ago: i64) -> String {
    before(base::clock::wall_time(), hours_ago)
}

fn before(now: base::Time, hours_ago: i64) -> String {
    ads_engine::field_kind::format_time(now.plus_ms(-hours_ago * 3_600_000))
}

fn keywords(user: &TestUser<'_>, params: &[(&str, &str)]) -> TestResponse {
    send(user, "GET", "/12/insights/keywords/search", params)
}

#[test]
fn keyword_insights_count_by_hour_and_day() {
    let (ana, ben) = (shared_server().new_user("ana"), shared_server().new_user("ben"));
    let (term, other) = (word("fixie"), word("tandem"));
    ana.publish_text(&format!("my {term} and my {other}"));
    ben.publish_text(&format!("{term}, helmet #urban"));
    ben.publish_text(&format!("a {other} is for two"));
    let start = moment(2);
    let both = format!("{term},{other}");
    let request = |more: &[(&str, &str)]| {
        let start = [("start_time", start.as_str())];
        keywords(&ana, &[&start[..], more].concat()).assert_status(200)
    };
    let sum = |response: &Value| {
        let volume = response["data"]["post_volume"].as_array().unwrap();
        volume.iter().filter_map(Value::as_i64).sum::<i64>()
    };
    // On a database server others' transactions may keep back what was written.
    wait_until("three posts are found", || sum(&request(&[("granularity", "HOUR"), ("keywords", &both)])) == 3);
    let hours = request(&[("granularity", "HOUR"), ("keywords", &both)]);
    assert_eq!(sum(&hours), 3, "{hours}");
    assert_eq!(hours["data"]["post_volume"], hours["data"]["tweet_volume"]);
    assert!(hours["data"]["post_volume"].as_array().unwrap().len() <= 3);
    assert_eq!(
        hours["request"]["params"],
        json!({ "granularity": "HOUR", "keywords": [term, other], "start_time": start })
    );
    let day = request(&[("granularity", "day"), ("keywords", &both)]);
    assert_eq!(day["data"]["post_volume"], json!([3]));
    let without = [("granularity", "DAY"), ("keywords", both.as_str()), ("negative_keywords", "helmet")];
    assert_eq!(request(&without)["data"]["post_volume"], json!([2]));
    let related = request(&[("granularity", "DAY"), ("keywords", &term)]);
    let related = related["data"]["related_keywords"].as_array().unwrap();
    assert!(related.len() <= 30);
    let has = |text: &str| related.iter().any(|one| one == text);
    assert!(has("helmet") && has(&other) && !has(&term), "{related:?}");

    // A country, by whoever writes.
    let here = [("granularity", "DAY"), ("keywords", both.as_str()), ("location", "3c65374ea675483e")];
    assert_eq!(request(&here)["data"]["post_volume"], json!([0]));
    edit(&ben, "Coimbra, Portugal");
    wait_until("ben's posts are from Portugal", || request(&here)["data"]["post_volume"] == json!([2]));

    // Not of those whose posts are not for everyone.
    shared_server().run_cli(&["user", "suspend", &ben.username]).assert_success();
    wait_until("ben's posts do not count", || {
        request(&[("granularity", "DAY"), ("keywords", &both)])["data"]["post_volume"] == json!([1])
    });
}

#[test]
fn keyword_insights_limit_keywords_and_time_span() {
    let ana = shared_server().new_user("ana");
    let now = base::clock::wall_time();
    let before = |hours| before(now, hours);
    let (start, week, long) = (before(1), before(7 * 24), before(7 * 24 + 1));
    let ten: Vec<String> = (0..10).map(|number| format!("k{number}")).collect();
    let ten = ten.join(",");
    let eleven = format!("{ten},more");
    let future = before(-48);
    let request = |more: &[(&'static str, &str)]| {
        let mut all = vec![("granularity", "DAY"), ("keywords", "bike"), ("start_time", start.as_str())];
        all.retain(|(name, _)| !more.iter().any(|(other, _)| name == other));
        all.extend_from_slice(more);
        all.retain(|(_, value)| !value.is_empty());
        keywords(&ana, &all)
    };
    request(&[("keywords", &ten)]).assert_status(200);
    request(&[("start_time", &week), ("end_time", &before(0))]).assert_status(200);
    let ahead = request(&[("end_time", &future)]).assert_status(200);
    assert_eq!(ahead["data"]["post_volume"].as_array().unwrap().len(), 1);
    assert_eq!(ahead["request"]["params"]["end_time"], future.as_str());
    for (more, code, at) in [
        (("granularity", ""), "MISSING_PARAMETER", "granularity"),
        (("granularity", "TOTAL"), "INVALID_PARAMETER", "granularity"),
        (("keywords", ""), "MISSING_PARAMETER", "keywords"),
        (("keywords", "!!"), "INVALID_PARAMETER", "keywords"),
        (("keywords", eleven.as_str()), "INVALID_PARAMETER", "keywords"),
        (("negative_keywords", ten.as_str()), "INVALID_PARAMETER", "keywords"),
        (("negative_keywords", "\"\""), "INVALID_PARAMETER", "negative_keywords"),
        (("start_time", ""), "MISSING_PARAMETER", "start_time"),
        (("start_time", "soon"), "INVALID_PARAMETER", "start_time"),
        (("start_time", long.as_str()), "INVALID_TIME_WINDOW", "start_time"),
        (("start_time", future.as_str()), "INVALID_TIME_WINDOW", "start_time"),
        (("end_time", week.as_str()), "INVALID_TIME_WINDOW", "start_time"),
        (("location", "nowhere"), "INVALID_PARAMETER", "location"),
        (("location", "3b77caf94bfc81fe"), "INVALID_PARAMETER", "location"),
    ] {
        let response = request(&[more]);
        assert_eq!(refused(&response, 400), (code.to_owned(), at.to_owned()), "{more:?}: {}", response.text());
    }
}

fn list_options(ads: &Advertiser, name: &str, params: &[(&str, &str)]) -> TestResponse {
    send(&ads.person, "GET", &format!("/12/targeting_criteria/{name}"), params)
}

#[test]
fn targeting_options_are_listed_filtered_and_paged() {
    let ads = Advertiser::new();
    let list = |name: &str, params: &[(&str, &str)]| list_options(&ads, name, params);
    let portugal = list("locations", &[("q", "PORTU"), ("location_type", "COUNTRIES")]).assert_status(200);
    // Places that other tests made may have its name too.
    let country = json!({
        "name": "Portugal", "country_code": "PT", "location_type": "COUNTRIES",
        "targeting_type": "LOCATION", "targeting_value": "3c65374ea675483e",
    });
    assert!(portugal["data"].as_array().unwrap().contains(&country));
    let cities = [("country_code", "pt"), ("location_type", "CITY"), ("count", "2")];
    let first = list("locations", &cities).assert_status(200);
    assert_eq!(first["data"].as_array().unwrap().len(), 2);
    assert_eq!(first["data"][0]["name"], "Lisbon, Portugal");
    let cursor = first["next_cursor"].as_str().unwrap();
    let next = list("locations", &[&cities[..], &[("cursor", cursor)]].concat()).assert_status(200);
    assert_ne!(next["data"][0], first["data"][0]);
    is(&list("locations", &[("cursor", cursor)]), 400, "INVALID_PARAMETER", "cursor");
    let language = list("languages", &[("q", "portug")]).assert_status(200);
    let expected = json!([{ "name": "Portuguese", "targeting_type": "LANGUAGE", "targeting_value": "pt" }]);
    assert_eq!(language["data"], expected);
    let platform = list("platforms", &[("q", "android")]).assert_status(200);
    assert_eq!(platform["data"][0]["targeting_value"], "1");
    assert_eq!(list("tv_markets", &[]).assert_status(200)["data"].as_array().unwrap().len(), 17);
    is(&list("tv_shows", &[]), 400, "MISSING_PARAMETER", "locale");
    is(&list("events", &[]), 400, "MISSING_PARAMETER", "event_types");
    is(&list("locations", &[("count", "0")]), 400, "INVALID_PARAMETER", "count");
}

#[test]
fn interest_added_by_an_operator_is_listed_and_reaches_its_users() {
    let ads = Advertiser::new();
    let list = |name: &str, params: &[(&str, &str)]| list_options(&ads, name, params);
    let (fan, term) = (shared_server().new_user("fan"), word("alley"));
    fan.import_follows(&[&ads.person]);
    let name = format!("Sports/{term}");
    let follow = format!("@{}", ads.person.username);
    let add = ["ads", "option", "add", "interest", &name, "--keyword", &term, "--follow", &follow];
    let added = shared_server().run_cli(&add).json();
    let value = added["value"].as_str().unwrap();
    let found = list("interests", &[("q", &term)]).assert_status(200);
    let expected = json!([{ "name": name, "targeting_type": "INTEREST", "targeting_value": value }]);
    assert_eq!(found["data"], expected);
    ads.exact();
    ads.reaches(1, &json!([one("INTEREST", value)]));
    let listed = shared_server().run_cli(&["ads", "option", "list", "INTEREST"]).json();
    assert!(listed.as_array().unwrap().iter().any(|one| one["name"] == name.as_str()));
    shared_server().run_cli(&["ads", "option", "remove", "INTEREST", value]).assert_success();
    let deleted = list("interests", &[("q", &term)]).assert_status(200);
    assert_eq!(deleted["data"], json!([]));
}

#[test]
fn event_added_by_an_operator_is_listed_with_its_type() {
    let ads = Advertiser::new();
    let term = word("alley");
    let list = |name: &str, params: &[(&str, &str)]| list_options(&ads, name, params);
    let event = ["ads", "option", "add", "EVENT", &term, "--about", "SPORTS", "--keyword", &term];
    let event = [&event[..], &["--end", "2099-01-01"]].concat();
    let event = shared_server().run_cli(&event).json();
    let found = list("events", &[("event_types", "SPORTS,POLITICS")]).assert_status(200);
    let all = found["data"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == term.as_str()).unwrap();
    assert_eq!(found["targeting_value"], event["value"]);
    assert_eq!(found["reach"], json!({ "total_reach": 0 }));
    let others = list("events", &[("event_types", "POLITICS")]).assert_status(200);
    assert!(!others.to_string().contains(&term));
    let refused = ["ads", "option", "add", "EVENT", "x", "--about", "MOOD"];
    assert_ne!(shared_server().run_cli(&refused).code, 0);
}

#[test]
fn criterion_is_named_by_its_targeting_option() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let params =
        [("line_item_id", item.as_str()), ("targeting_type", "LOCATION"), ("targeting_value", "3c65374ea675483e")];
    let created = ads.send("POST", "/targeting_criteria", &params).assert_status(200);
    assert_eq!(created["data"]["name"], "Portugal");
    assert_eq!(created["data"]["location_type"], "COUNTRIES");
}
