//! Whom an account says that it does not want to reach.

use serde_json::{Value, json};

use super::super::{Advertiser, is, send};
use super::{hashed, ids, remove, update};
use crate::harness::{
    TestApp, TestRequest, TestResponse, TestServer, keep_for_test, shared_server, unique_number, wait_until,
};

impl Advertiser {
    fn avoid(&self, list: &str, operations: &Value) -> TestResponse {
        let account = &self.account;
        let path = format!("/12/batch/accounts/{account}/do_not_reach_lists/{list}/users");
        self.person.send_signed(TestRequest::post(path).json(operations))
    }
}

/// A network that serves what is promoted.
struct Network(&'static TestServer, TestApp);

impl Network {
    fn new(server: &'static TestServer) -> Self {
        let app = server.new_app("self-serve");
        let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
        server.run_cli(&allow).assert_success();
        Self(server, app)
    }

    /// Whether anything is shown to a user.
    fn shows(&self, user: &str) -> bool {
        let body = json!({ "viewer": { "user_id": user }, "placement": "TWITTER_TIMELINE" });
        let request = TestRequest::post("/ads-serve/1/request").json(&body);
        let shown = self.0.send(request.bearer(&self.1.bearer)).assert_status(200);
        !shown["data"].as_array().unwrap().is_empty()
    }
}

#[test]
fn user_on_a_do_not_reach_list_is_neither_estimated_nor_shown_ads() {
    let delay = ["--set", "ads.audience_delay=1s"];
    let server: &'static TestServer = keep_for_test(TestServer::start(&delay));
    let (ads, network) = (Advertiser::on(server), Network::new(server));
    let email = format!("Ana.Reis{}@bikes.example", unique_number());
    let ana = server.new_user_with("ana", &["--email", &email]);
    let ben = server.new_user("ben");
    ana.import_follows(&[&ads.person]);
    ben.import_follows(&[&ads.person]);
    let set = ["ads", "account", "set", &ads.account, "--estimate", "exact"];
    server.run_cli(&set).assert_success();
    let reached = || {
        let criterion = json!({
            "targeting_type": "FOLLOWERS_OF_USER", "targeting_value": ads.person.id
        });
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let request = TestRequest::post(path).json(&json!({ "targeting_criteria": [criterion] }));
        ads.person.send_signed(request).assert_status(200)["data"]["audience_size"]["max"].clone()
    };
    // One line item asks for nothing, the other for the account's followers.
    let item = ads.line_item(&ads.campaign());
    let other = ads.line_item(&ads.campaign());
    let followers = [
        ("line_item_id", other.as_str()),
        ("targeting_type", "FOLLOWERS_OF_USER"),
        ("targeting_value", ads.person.id.as_str()),
    ];
    ads.send("POST", "/targeting_criteria", &followers).assert_status(200);
    for item in [&item, &other] {
        ads.promote_new_post(item);
    }
    assert!(network.shows(&ana.id) && network.shows(&ben.id));
    wait_until("both are estimated", || reached() == 2);

    let created = ads.send("POST", "/do_not_reach_lists", &[("description", "Asked not to")]);
    let list = created.assert_status(200)["data"]["id"].as_str().unwrap().to_owned();
    let users = json!([{ "email": [hashed(&email.to_lowercase()).to_uppercase()] }]);
    ads.avoid(&list, &json!([update(&users)])).assert_status(200);
    wait_until("she is reached no more", || !network.shows(&ana.id) && reached() == 1);
    assert!(network.shows(&ben.id));
    let lists = ads.get("/do_not_reach_lists", &[]);
    assert_eq!(lists["data"][0]["list_size"], 1, "{lists}");
    assert_eq!(lists["data"][0]["targetable"], true);
    assert_eq!(lists["data"][0]["reasons_not_targetable"], json!([]));
    // Other advertisers reach her as before.
    let rival = Advertiser::on(server);
    let item = rival.line_item(&rival.campaign());
    rival.promote_new_post(&item);
    assert!(network.shows(&ana.id));
    rival.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    // Whoever is taken from the list is reached again, and all when there is none.
    ads.avoid(&list, &json!([remove(&users)])).assert_status(200);
    wait_until("she is reached again", || network.shows(&ana.id));
    ads.avoid(&list, &json!([update(&users)])).assert_status(200);
    wait_until("she is not", || !network.shows(&ana.id));
    ads.send("DELETE", &format!("/do_not_reach_lists/{list}"), &[]).assert_status(200);
    wait_until("without a list everyone is reached", || network.shows(&ana.id) && reached() == 2);
}

#[test]
fn account_has_one_do_not_reach_list_that_is_no_audience() {
    let ads = Advertiser::new();
    let created = ads.send("POST", "/do_not_reach_lists", &[("description", "Asked")]);
    let list = created.assert_status(200)["data"].clone();
    for (name, value) in [
        ("name", json!("Do Not Reach List")),
        ("description", json!("Asked")),
        ("list_size", Value::Null),
        ("targetable", json!(false)),
        ("reasons_not_targetable", json!(["PROCESSING", "TOO_SMALL"])),
        ("deleted", json!(false)),
    ] {
        assert_eq!(list[name], value, "{name}: {list}");
    }
    let id = list["id"].as_str().unwrap();
    is(&ads.send("POST", "/do_not_reach_lists", &[]), 400, "INVALID", "account_id");
    // It is no audience, and no audience is one.
    let audience = format!("/custom_audiences/{id}");
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    is(&ads.send("GET", &audience, &[]), 404, not_found, "custom_audience_id");
    let one = update(&json!([{ "email": [hashed("a@b.example")] }]));
    let elsewhere = ads.avoid(&ads.audience(), &json!([one]));
    is(&elsewhere, 404, "NOT_FOUND", "do_not_reach_list_id");
    let foreign = Advertiser::new().avoid(id, &json!([one]));
    is(&foreign, 404, "NOT_FOUND", "do_not_reach_list_id");
}

#[test]
fn do_not_reach_list_takes_hashed_addresses_and_phone_numbers_and_a_batch_is_all_or_nothing() {
    let ads = Advertiser::new();
    let id = &ads.make("/do_not_reach_lists", &[]);
    let one = update(&json!([{ "email": [hashed("a@b.example")] }]));
    let phone = json!([{ "phone_number": [hashed("+351200000000")] }]);
    let response = ads.avoid(id, &json!([one, update(&phone), remove(&phone)]));
    let body = response.assert_status(200);
    let counts = json!([{ "success_count": 3, "total_count": 3 }]);
    assert_eq!(body["data"], counts);
    let params = json!({ "account_id": ads.account, "do_not_reach_list_id": id });
    assert_eq!(body["request"], json!([{ "params": params }]));
    // All or nothing, and nothing of what audiences take besides.
    let timed = |name: &str, at: &str| {
        let users = json!([{ "email": [hashed("a@b.example")] }]);
        json!({ "operation_type": "Update", "params": { "users": users, name: at } })
    };
    for (bad, at) in [
        (update(&json!([{ "handle": [hashed("ana")] }])), "handle"),
        (update(&json!([{ "svc_id": [hashed("1")], "email": [hashed("x")] }])), "svc_id"),
        (update(&json!([{ "device_id": [hashed("1")] }])), "device_id"),
        (update(&json!([{ "partner_user_id": ["1"] }])), "partner_user_id"),
        (update(&json!([{ "email": ["a@b.example"] }])), "email"),
        (update(&json!([])), "users"),
        (timed("effective_at", "2030-01-01T00:00:00Z"), "effective_at"),
        (timed("expires_at", "2099-01-01T00:00:00Z"), "expires_at"),
        (timed("expires_at", "2020-01-01T00:00:00Z"), "expires_at"),
        (timed("expires_at", "soon"), "expires_at"),
    ] {
        let body = ads.avoid(id, &json!([one, bad])).assert_status(400);
        let wrong = &body["operation_errors"][1][0];
        assert_eq!(wrong["code"], "INVALID_PARAMETER", "{body}");
        assert_eq!(wrong["parameter"], at, "{body}");
        assert_eq!(body["operation_errors"][0], json!([]), "{body}");
    }
    for bad in [json!([]), json!({})] {
        is(&ads.avoid(id, &bad), 400, "INVALID_PARAMETER", "");
    }
}

#[test]
fn audience_partner_has_no_access_to_do_not_reach_lists() {
    let ads = Advertiser::new();
    let partner = shared_server().new_user("partner");
    let role = ["ads", "account", "role", &ads.account, &partner.username];
    let role = [&role[..], &["PARTNER_AUDIENCE_MANAGER"]].concat();
    shared_server().run_cli(&role).assert_success();
    let path = format!("/12/accounts/{}/do_not_reach_lists", ads.account);
    for method in ["GET", "POST"] {
        is(&send(&partner, method, &path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    }
}

#[test]
fn deleted_do_not_reach_list_can_be_replaced() {
    let ads = Advertiser::new();
    let id = &ads.make("/do_not_reach_lists", &[]);
    let one = update(&json!([{ "email": [hashed("a@b.example")] }]));
    let deleted = ads.send("DELETE", &format!("/do_not_reach_lists/{id}"), &[]);
    assert_eq!(deleted.assert_status(200)["data"]["deleted"], true);
    is(&ads.avoid(id, &json!([one])), 404, "NOT_FOUND", "do_not_reach_list_id");
    let next = ads.make("/do_not_reach_lists", &[]);
    assert_eq!(ids(&ads.get("/do_not_reach_lists", &[])), [next.as_str()]);
    let all = ads.get("/do_not_reach_lists", &[("with_deleted", "true")]);
    assert_eq!(ids(&all).len(), 2);
}

#[test]
fn do_not_reach_uploads_share_the_rate_limit_of_the_account() {
    let server: &'static TestServer = keep_for_test(TestServer::start(&["--rate-limits", "table"]));
    let (ads, other) = (Advertiser::on(server), Advertiser::on(server));
    let colleague = server.new_user("colleague");
    let role = ["ads", "account", "role", &ads.account, &colleague.username];
    server.run_cli(&[&role[..], &["AD_MANAGER"]].concat()).assert_success();
    let (audience, elsewhere) = (ads.audience(), other.audience());
    let one = json!([update(&json!([{ "email": [hashed("a@b.example")] }]))]);
    let path = format!("/12/accounts/{}/custom_audiences/{audience}/users", ads.account);
    let left = |response: &TestResponse| {
        let figures = ["x-rate-limit-limit", "x-rate-limit-remaining"];
        let account = ["x-account-rate-limit-limit", "x-account-rate-limit-remaining"];
        let [user, account] = [figures, account].map(|names| names.map(|name| response.header_number(name)));
        assert_eq!(user, account);
        assert_eq!(user[0], 1_500);
        user[1]
    };
    let mine = ads.users(&audience, &one);
    mine.assert_status(200);
    assert_eq!(left(&mine), 1_499);
    let theirs = colleague.send_signed(TestRequest::post(&path).json(&one));
    theirs.assert_status(200);
    assert_eq!(left(&theirs), 1_498);
    // Another account has its own, and a stranger takes nothing from this one.
    let apart = other.users(&elsewhere, &one);
    apart.assert_status(200);
    assert_eq!(left(&apart), 1_499);
    let foreign = other.person.send_signed(TestRequest::post(&path).json(&one));
    is(&foreign, 403, "ACCOUNT_NOT_FOUND", "account_id");
    assert_eq!(foreign.header_number("x-rate-limit-remaining"), 1_499);
    assert_eq!(foreign.header("x-account-rate-limit-remaining"), "");
    let foreign = other.person.send_signed(TestRequest::post(&path).json(&one));
    assert_eq!(foreign.header_number("x-rate-limit-remaining"), 1_498);
    assert_eq!(left(&ads.users(&audience, &one)), 1_497);
    // Lists of whom not to reach have the same of their own.
    let list = ads.make("/do_not_reach_lists", &[]);
    assert_eq!(left(&ads.avoid(&list, &one)), 1_499);
}
