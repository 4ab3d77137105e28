//! Advertising, as clients and operators see it.

mod ab_tests;
mod audiences;
mod campaigns;
mod card_links;
mod cards;
pub(crate) mod collection;
mod conform;
mod criteria;
mod curated_categories;
mod gates;
mod insights;
mod isolation;
mod ledger;
mod legacy_cards;
pub(crate) mod limits;
mod manager;
mod mcp;
mod posts;
mod product_catalogs;
mod product_feeds;
mod promoting;
mod rate_limits;
mod recommendations;
mod reports;
mod sandbox;
mod scheduled_posts;
mod servability;
mod settings;
mod wire;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, percent_encode, shared_server, unique_number};

/// Someone with an advertising account, and something to pay with.
pub(crate) struct Advertiser {
    pub(crate) person: TestUser<'static>,
    pub(crate) account: String,
    pub(crate) instrument: String,
}

impl Advertiser {
    pub(crate) fn new() -> Self {
        Self::on(shared_server())
    }

    /// On another server than usual.
    pub(crate) fn on(server: &'static TestServer) -> Self {
        let person = server.new_user("advertiser");
        let name = format!("Account of {}", person.username);
        let create = ["ads", "account", "create", &name, "--user", &person.username];
        let account = server.run_cli(&create).json();
        let account = account["id"].as_str().unwrap().to_owned();
        let fund = ["ads", "account", "funding", &account, "--amount", "5000"];
        let fund = [&fund[..], &["--start", "2020-01-01T00:00:00Z"]].concat();
        let instrument = server.run_cli(&fund).json();
        let instrument = instrument["id"].as_str().unwrap().to_owned();
        Self { person, account, instrument }
    }

    /// Sends a signed request below the account.
    pub(crate) fn send(&self, method: &'static str, path: &str, params: &[(&str, &str)]) -> TestResponse {
        let path = format!("/12/accounts/{}{path}", self.account);
        send(&self.person, method, &path, params)
    }

    pub(crate) fn get(&self, path: &str, params: &[(&str, &str)]) -> Value {
        self.send("GET", path, params).assert_status(200)
    }

    /// Makes something; its id.
    #[track_caller]
    pub(crate) fn make(&self, path: &str, params: &[(&str, &str)]) -> String {
        let created = self.send("POST", path, params).assert_status(200);
        created["data"]["id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    pub(crate) fn campaign(&self) -> String {
        let params = [
            ("funding_instrument_id", self.instrument.as_str()),
            ("name", "Spring"),
            ("daily_budget_amount_local_micro", "20000000"),
        ];
        self.make("/campaigns", &params)
    }

    pub(crate) fn line_item(&self, campaign: &str) -> String {
        let params = [
            ("campaign_id", campaign),
            ("objective", "ENGAGEMENTS"),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
            ("start_time", "2026-01-01T00:00:00Z"),
        ];
        self.make("/line_items", &params)
    }

    /// Publishes a post and promotes it in a line item; the post's id.
    #[track_caller]
    pub(crate) fn promote_new_post(&self, line_item: &str) -> String {
        let post = self.person.publish_text(&format!("Promoted {}", unique_number()));
        let params = [("line_item_id", line_item), ("post_ids", post.as_str())];
        self.send("POST", "/promoted_posts", &params).assert_status(200);
        post
    }

    pub(crate) fn batch(&self, what: &str, items: &Value) -> TestResponse {
        let path = format!("/12/batch/accounts/{}/{what}", self.account);
        self.person.send_signed(TestRequest::post(path).json(items))
    }
}

/// The usual parameters, with some replaced or added.
pub(crate) fn with_overrides<'a>(
    defaults: &[(&'a str, &'a str)],
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let unchanged = defaults.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    unchanged.chain(more).copied().collect()
}

/// The first problem of an item of a refused batch: its code, and the parameter or attribute that it is at.
pub(crate) fn batch_problem(body: &Value, item: usize) -> (&str, &str) {
    let problem = &body["operation_errors"][item][0];
    let at = problem["parameter"].as_str().or(problem["attribute"].as_str());
    (problem["code"].as_str().unwrap_or_default(), at.unwrap_or_default())
}

/// Sends a signed request with parameters in the query.
pub(crate) fn send(user: &TestUser<'_>, method: &'static str, path: &str, params: &[(&str, &str)]) -> TestResponse {
    let query: Vec<String> =
        params.iter().map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value))).collect();
    let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) };
    user.send_signed(TestRequest::new(method, target))
}

/// The refusal's first code, and the parameter or attribute that it is at.
#[track_caller]
pub(crate) fn refused(response: &TestResponse, status: u16) -> (String, String) {
    let body = response.assert_status(status);
    let first = &body["errors"][0];
    let at = first["parameter"].as_str().or(first["attribute"].as_str());
    let code = first["code"].as_str().unwrap_or_else(|| panic!("{body}"));
    (code.to_owned(), at.unwrap_or_default().to_owned())
}

/// The parameters of all problems that a request was refused for.
#[track_caller]
pub(crate) fn problem_parameters(response: &TestResponse) -> Vec<String> {
    let body = response.assert_status(400);
    let all = body["errors"].as_array().unwrap().iter();
    all.map(|problem| problem["parameter"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()).collect()
}

fn is(response: &TestResponse, status: u16, code: &str, at: &str) {
    assert_eq!(refused(response, status), (code.to_owned(), at.to_owned()), "{}", response.text());
}

#[test]
fn account_is_read_and_changed_by_users_with_a_role() {
    let ads = Advertiser::new();
    let list = send(&ads.person, "GET", "/12/accounts", &[]).assert_status(200);
    assert_eq!(list["data"][0]["id"], ads.account.as_str());
    assert_eq!(list["next_cursor"], Value::Null);
    assert_eq!(list["request"]["params"]["count"], 200);
    let one = ads.get("", &[]);
    assert_eq!(one["data"]["approval_status"], "ACCEPTED");
    assert_eq!(one["data"]["timezone"], "America/Los_Angeles");
    assert_eq!(one["request"]["params"], json!({ "account_id": ads.account, "with_deleted": false }));
    let access = ads.get("/authenticated_user_access", &[]);
    let own = json!({ "user_id": ads.person.id, "permissions": ["ACCOUNT_ADMIN", "POST_COMPOSER"] });
    assert_eq!(access["data"], own);
    let other = shared_server().new_user("stranger");
    let path = format!("/12/accounts/{}", ads.account);
    is(&send(&other, "GET", &path, &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
    is(&send(&other, "GET", "/12/accounts/zzz", &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
    let renamed = ads.send("PUT", "", &[("name", "New"), ("industry_type", "RETAIL")]).assert_status(200);
    assert_eq!(renamed["data"]["name"], "New");
    is(&ads.send("PUT", "", &[("industry_type", "x")]), 400, "INVALID_PARAMETER", "industry_type");
    is(&ads.send("DELETE", "", &[]), 405, "METHOD_NOT_ALLOWED", "");
}

#[test]
fn version_eleven_is_served_and_other_versions_are_not_found() {
    let ads = Advertiser::new();
    let path = |version: &str| format!("/{version}/accounts/{}", ads.account);
    let response = send(&ads.person, "GET", &path("11"), &[]);
    response.assert_status(200);
    assert_eq!(response.header("x-current-api-version"), "12");
    assert!(!response.header("x-api-warn").is_empty());
    assert_eq!(response.header("content-type"), "application/json;charset=utf-8");
    let unknown = send(&ads.person, "GET", &path("5"), &[]);
    is(&unknown, 404, "ROUTE_NOT_FOUND", "");
    assert_eq!(unknown.header("content-type"), "application/json;charset=utf-8");
    is(&send(&ads.person, "GET", &path("12").replace("accounts", "nothing"), &[]), 404, "ROUTE_NOT_FOUND", "");
    let unsigned = shared_server().send(TestRequest::get(path("12")));
    is(&unsigned, 401, "UNAUTHORIZED_ACCESS", "");
    let bearer = shared_server().send(TestRequest::get(path("12")).bearer(&ads.person.app.bearer));
    is(&bearer, 403, "UNAUTHORIZED_CLIENT_APPLICATION", "");
}

#[test]
fn ads_api_needs_the_entitlement_and_takes_repeated_parameters_as_a_list() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let user = TestUser::app_owner(server, &app);
    send(&user, "GET", "/12/accounts", &[]).assert_status(200);
    server.run_cli(&["app", "access", &app.id, "--refuse", "ads"]).assert_success();
    let refused = send(&user, "GET", "/12/accounts", &[]);
    is(&refused, 403, "UNAUTHORIZED_CLIENT_APPLICATION", "");
    // A name that comes several times is a list.
    let ads = Advertiser::new();
    let (one, other) = (ads.campaign(), ads.campaign());
    let both = [("campaign_ids", one.as_str()), ("campaign_ids", &other)];
    assert_eq!(ads.get("/campaigns", &both)["data"].as_array().unwrap().len(), 2);
}

#[test]
fn sandbox_accounts_are_separate_from_live_ones() {
    let ads = Advertiser::new();
    is(&send(&ads.person, "POST", "/12/accounts", &[]), 405, "METHOD_NOT_ALLOWED", "");
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let id = created["data"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(created["data"][0]["name"], "Sandbox account");
    let path = format!("/12/accounts/{id}");
    is(&send(&ads.person, "GET", &path, &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
    let inside = |method, more: &str, params: &[(&str, &str)]| {
        send(&ads.person, method, &format!("/ads-sandbox{path}{more}"), params)
    };
    inside("GET", "", &[]).assert_status(200);
    let own = format!("/ads-sandbox/12/accounts/{}", ads.account);
    is(&send(&ads.person, "GET", &own, &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
    let all = inside("POST", "/features", &[("feature_keys", "AGE_TARGETING,DR_TAP")]).assert_status(200);
    assert_eq!(all["data"].as_array().unwrap().len(), 8, "{all}");
    let all = inside("DELETE", "/features", &[("feature_keys", "AGE_TARGETING")]).assert_status(200);
    assert_eq!(all["data"].as_array().unwrap().len(), 7);
    let some = inside("GET", "/features", &[("feature_keys", "DR_TAP,AGE_TARGETING")]).assert_status(200);
    assert_eq!(some["data"], json!(["DR_TAP"]));
    let funding = [("currency", "EUR"), ("type", "CREDIT_LINE"), ("start_time", "2026-01-01")];
    let funded = inside("POST", "/funding_instruments", &funding).assert_status(200);
    assert_eq!(funded["data"]["able_to_fund"], true);
    let one = format!("/funding_instruments/{}", funded["data"]["id"].as_str().unwrap());
    let deleted = inside("DELETE", &one, &[]).assert_status(200);
    assert_eq!(deleted["data"]["reasons_not_able_to_fund"], json!(["DELETED"]));
    inside("DELETE", "", &[]).assert_status(200);
    is(&inside("GET", "", &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
    let seen = inside("GET", "", &[("with_deleted", "true")]).assert_status(200);
    assert_eq!(seen["data"]["deleted"], true);
}
