//! Rate limits of the Ads API, and the tokens that it accepts.

use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server};

use super::{Advertiser, is, send};

/// What an answer says is left: for the user, and for the account.
fn left(response: &TestResponse) -> (i64, i64) {
    response.assert_status(200);
    (response.header_number("x-rate-limit-remaining"), response.header_number("x-account-rate-limit-remaining"))
}

#[test]
fn ads_rate_limit_counts_for_account_and_user() {
    let server = TestServer::start(&["--rate-limits", "table"]);
    let (owner, colleague) = (server.new_user("owner"), server.new_user("colleague"));
    let stranger = server.new_user("stranger");
    let create = ["ads", "account", "create", "Own", "--user", &owner.username];
    let account = server.run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let role = ["ads", "account", "role", &account, &colleague.username, "AD_MANAGER"];
    server.run_cli(&role).assert_success();
    let fund = ["ads", "account", "funding", &account, "--amount", "5000"];
    let fund = [&fund[..], &["--start", "2020-01-01T00:00:00Z"]].concat();
    let instrument = server.run_cli(&fund).json()["id"].as_str().unwrap().to_owned();
    let path = format!("/12/accounts/{account}/campaigns");
    let list = |user: &TestUser<'_>| send(user, "GET", &path, &[]);
    let first = list(&owner);
    assert_eq!(first.header_number("x-account-rate-limit-limit"), 10_000);
    assert!(first.header_number("x-account-rate-limit-reset") > 0);
    assert_eq!(left(&first), (9_999, 9_999));
    assert_eq!(left(&list(&colleague)), (9_999, 9_998));
    // Whoever has nothing to do with the account takes nothing from it.
    let foreign = list(&stranger);
    is(&foreign, 403, "ACCOUNT_NOT_FOUND", "account_id");
    assert_eq!(foreign.header("x-account-rate-limit-remaining"), "");
    assert_eq!(left(&list(&owner)), (9_998, 9_997));
    // What is refused for another reason is a call all the same.
    let wrong = send(&owner, "GET", &path, &[("count", "x")]);
    is(&wrong, 400, "INVALID_PARAMETER", "count");
    assert_eq!(left(&list(&colleague)), (9_998, 9_995));
    let other = format!("/12/accounts/{account}/promotable_users");
    let other = send(&owner, "GET", &other, &[]);
    assert_eq!(other.header_number("x-account-rate-limit-limit"), 2_000);
    assert_eq!(left(&other), (1_999, 1_999));

    // All changes of a user are counted together, and for no account.
    let params = [
        ("funding_instrument_id", instrument.as_str()),
        ("name", "Spring"),
        ("daily_budget_amount_local_micro", "1000000"),
    ];
    let created = send(&owner, "POST", &path, &params);
    let id = created.assert_status(200)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(created.header_number("x-rate-limit-limit"), 450);
    assert_eq!(created.header_number("x-rate-limit-remaining"), 449);
    assert_eq!(created.header("x-account-rate-limit-limit"), "");
    let deleted = send(&owner, "DELETE", &format!("{path}/{id}"), &[]);
    assert_eq!(deleted.header_number("x-rate-limit-remaining"), 448);
    let total = [("with_total_count", "true")];
    let total = send(&owner, "GET", &path, &total);
    assert_eq!(total.header_number("x-rate-limit-remaining"), 199);
}

#[test]
fn ads_operations_of_a_category_share_their_rate_limit() {
    let server = TestServer::start(&["--rate-limits", "table"]);
    let owner = server.new_user("owner");
    let remaining = |path: &str| send(&owner, "GET", path, &[]).header_number("x-rate-limit-remaining");
    assert_eq!(remaining("/12/targeting_criteria/interests"), 399);
    assert_eq!(remaining("/12/targeting_criteria/languages"), 398);
    assert_eq!(remaining("/12/targeting_criteria/tv_markets"), 1_999);
    assert_eq!(remaining("/12/targeting_criteria/interests"), 397);
    assert_eq!(remaining("/12/product_catalogs"), 999);
    let account = server.run_cli(&["ads", "account", "create", "Own", "--user", &owner.username]);
    let account = account.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(remaining(&format!("/12/stats/accounts/{account}")), 249);
    assert_eq!(remaining(&format!("/12/stats/accounts/{account}/active_entities")), 248);
}

#[test]
fn ads_scopes_permit_reading_or_writing() {
    let ads = Advertiser::new();
    let path = format!("/12/accounts/{}", ads.account);
    let with = |scopes: &str, method: &'static str| {
        let token = ads.person.new_token(&["--scopes", scopes]);
        let target = if method == "GET" { path.clone() } else { format!("{path}?name=Renamed") };
        shared_server().send(TestRequest::new(method, target).bearer(&token))
    };
    with("ads.read", "GET").assert_status(200);
    with("ads.write", "PUT").assert_status(200);
    with("ads.read ads.write", "PUT").assert_status(200);
    for (scopes, method) in [("ads.read", "PUT"), ("ads.write", "GET"), ("tweet.read users.read", "GET")] {
        let refused = with(scopes, method);
        is(&refused, 403, "UNAUTHORIZED_CLIENT_APPLICATION", "");
    }
    assert_eq!(ads.get("", &[])["data"]["name"], "Renamed");
}
