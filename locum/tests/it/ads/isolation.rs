//! Who may do what to whose account: every declared operation by everyone who may not.

use std::collections::BTreeMap;

use ads_engine::{AdsRole, Kind, Parameter, ParameterLocation, RequiredRole, Resource};
use base::Scope;
use serde_json::{Value, json};

use super::limits::Field;
use super::{Advertiser, send};
use crate::harness::{OAuth1Credentials, TestApp, TestRequest, TestResponse, TestUser, shared_server, unique_number};

/// The operations that name an account.
fn operations() -> impl Iterator<Item = &'static ads_engine::AdsOperation> {
    let all = ads_delivery::operations().iter();
    all.filter(|operation| operation.path.contains("{account_id}"))
}

/// A request of an operation; whether it is a good one is looked at after who asks.
fn ask(operation: &ads_engine::AdsOperation, account: &str, before: &str) -> TestRequest {
    let mut path = operation.path.replace("<posts>", "posts").replace("<post>", "post");
    path = path.replace("{account_id}", account);
    while let Some((head, rest)) = path.split_once('{') {
        let (_, tail) = rest.split_once('}').unwrap();
        path = format!("{head}1{tail}");
    }
    let request = TestRequest::new(operation.method, format!("{before}{path}"));
    if operation.takes_json() { request.json(&json!({})) } else { request }
}

fn code(response: &TestResponse) -> String {
    let body = response.json();
    let code = body["errors"][0]["code"].as_str();
    format!("{} {}", response.status, code.unwrap_or_default())
}

/// What is wrong, over all operations that `concerns`.
fn wrong(
    user: &TestUser<'_>,
    account: &str,
    before: &str,
    concerns: impl Fn(&ads_engine::AdsOperation) -> bool,
    holds: impl Fn(&str) -> bool,
) -> Vec<String> {
    let all = operations().filter(|operation| concerns(operation));
    all.filter_map(|operation| {
        let answered = code(&user.send_signed(ask(operation, account, before)));
        let line = || format!("{} {}: {answered}", operation.method, operation.path);
        (!holds(&answered)).then(line)
    })
    .collect()
}

const NO_ACCOUNT: &str = "403 ACCOUNT_NOT_FOUND";

#[test]
fn account_without_a_role_is_not_found() {
    let (ads, stranger) = (Advertiser::new(), shared_server().new_user("stranger"));
    let nothing = Vec::<String>::new();
    let here = |operation: &ads_engine::AdsOperation| !operation.sandbox_only;
    let is_unknown = |code: &str| code == NO_ACCOUNT;
    assert!(operations().count() > 60);
    assert_eq!(wrong(&stranger, &ads.account, "", here, is_unknown), nothing);
    // An account of production is not in the sandbox, and the other way round.
    let sandbox = "/ads-sandbox";
    let all = |_: &ads_engine::AdsOperation| true;
    assert_eq!(wrong(&ads.person, &ads.account, sandbox, all, is_unknown), nothing);
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let inside = created["data"][0]["id"].as_str().unwrap();
    assert_eq!(wrong(&ads.person, inside, "", here, is_unknown), nothing);
    assert_eq!(wrong(&stranger, inside, sandbox, all, is_unknown), nothing);
    let only = |operation: &ads_engine::AdsOperation| operation.sandbox_only;
    let is_elsewhere = |code: &str| code == "405 METHOD_NOT_ALLOWED";
    assert_eq!(wrong(&ads.person, &ads.account, "", only, is_elsewhere), nothing);
    // Whoever deletes an account has none.
    let path = format!("{sandbox}/12/accounts/{inside}");
    send(&ads.person, "DELETE", &path, &[]).assert_status(200);
    assert_eq!(wrong(&ads.person, inside, sandbox, all, is_unknown), nothing);
}

#[test]
fn role_permits_exactly_its_operations() {
    let (ads, colleague) = (Advertiser::new(), shared_server().new_user("colleague"));
    for role in AdsRole::ALL {
        let grant = ["ads", "account", "role", &ads.account, &colleague.username];
        shared_server().run_cli(&[&grant[..], &[role.name()]].concat()).assert_success();
        let forbidden = |operation: &ads_engine::AdsOperation| {
            !operation.sandbox_only && !operation.required_role.allows_role(role)
        };
        let refused = |code: &str| code == "403 ACTION_NOT_ALLOWED";
        let nothing = Vec::<String>::new();
        assert_eq!(wrong(&colleague, &ads.account, "", forbidden, refused), nothing, "{role:?}");
        let allowed =
            |operation: &ads_engine::AdsOperation| !operation.sandbox_only && operation.required_role.allows_role(role);
        let served = |code: &str| !code.starts_with('5') && code != NO_ACCOUNT;
        assert_eq!(wrong(&colleague, &ads.account, "", allowed, served), nothing, "{role:?}");
    }
}

/// One of each of some kinds, by the path that they are at.
fn tree(ads: &Advertiser) -> BTreeMap<&'static str, String> {
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let of_item = |path, more: &[(&str, &str)]| ads.make(path, &[&[("line_item_id", item.as_str())], more].concat());
    let tag = [("tracking_tag_type", "IMPRESSION_TAG"), ("tracking_tag_url", "https://partner.example")];
    let keyword = [("targeting_type", "BROAD_KEYWORD"), ("targeting_value", "bike")];
    let post = ads.person.publish_text("Promoted");
    let promote = [("line_item_id", item.as_str()), ("post_ids", post.as_str())];
    let promoted = ads.send("POST", "/promoted_posts", &promote).assert_status(200);
    BTreeMap::from([
        ("custom_audiences", ads.make("/custom_audiences", &[("name", "Readers")])),
        ("tracking_tags", of_item("/tracking_tags", &tag)),
        ("targeting_criteria", of_item("/targeting_criteria", &keyword)),
        ("promoted_posts", promoted["data"][0]["id"].as_str().unwrap().to_owned()),
        ("funding_instruments", ads.instrument.clone()),
        ("line_items", item.clone()),
        ("campaigns", campaign),
    ])
}

#[test]
fn record_of_one_account_is_not_found_in_another() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let ids = tree(&ads);
    for (kind, id) in &ids {
        let one = format!("/{kind}/{id}");
        ads.get(&one, &[]);
        for operation in operations().filter(|operation| !operation.sandbox_only) {
            let path = operation.path.replace("<posts>", "posts").replace("<post>", "post");
            let is_one = path.split('/').nth_back(1) == Some(*kind) && path.ends_with('}');
            if !is_one || path.contains("/batch/") {
                continue;
            }
            // Whatever else is wrong: that it is not there comes first, or nothing is done.
            let response = other.send(operation.method, &one, &[("with_deleted", "true")]);
            assert!([400, 404].contains(&response.status), "{} {}", response.status, response.text());
        }
        assert_eq!(other.send("GET", &one, &[]).status, 404);
        assert_eq!(ads.get(&one, &[])["data"]["deleted"], false, "{kind}");
    }
    let lists = ["campaigns", "line_items", "promoted_posts", "tracking_tags"];
    for list in lists {
        for filter in ["campaign_ids", "line_item_ids", "funding_instrument_ids"] {
            let kind = filter.replace("_ids", "s");
            let found = other.get(&format!("/{list}"), &[(filter, &ids[kind.as_str()])]);
            let own: Vec<&Value> = found["data"].as_array().unwrap().iter().collect();
            assert!(own.is_empty(), "{list} {filter}: {found}");
        }
    }
}

/// An account that nobody has.
const UNKNOWN: &str = "18ce53uzzzz";

/// What an answer tells: all of it, but for the account that was asked for.
fn told(response: &TestResponse, account: &str) -> String {
    let text = response.text().replace(account, "@");
    let mut headers: Vec<String> = response.headers.iter().map(|(name, _)| name.to_string()).collect();
    headers.sort();
    format!("{} {} {text}", response.status, headers.join(" "))
}

#[test]
fn account_of_others_is_indistinguishable_from_an_unknown_one() {
    let (ads, stranger) = (Advertiser::new(), shared_server().new_user("stranger"));
    ads.line_item(&ads.campaign());
    let (mut cases, mut wrong) = (0, Vec::new());
    for operation in operations() {
        for before in ["", "/ads-sandbox"] {
            cases += 1;
            let [known, unknown] = [ads.account.as_str(), UNKNOWN].map(|account| {
                let response = stranger.send_signed(ask(operation, account, before));
                told(&response, account)
            });
            if known != unknown {
                wrong.push(format!("{} {}: {known}, {unknown}", operation.method, operation.path));
            }
        }
    }
    println!("figure: {}", json!({ "cases": cases, "leaks": wrong.len() }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An account administrator who is suspended.
fn suspended_admin(account: &str) -> TestUser<'static> {
    let server = shared_server();
    let suspended = server.new_user("suspended");
    suspended.oauth1_token();
    let role = ["ads", "account", "role", account, &suspended.username, "ACCOUNT_ADMIN"];
    server.run_cli(&role).assert_success();
    server.run_cli(&["user", "suspend", &suspended.id]).assert_success();
    suspended
}

/// An app that may only read.
fn read_only_app() -> TestApp {
    let server = shared_server();
    let owner = format!("reader{}", unique_number());
    server.run_cli(&["user", "create", &owner, "--password", "a long secret"]).assert_success();
    let create = ["app", "create", "Reader", "--owner", &owner, "--permission", "read"];
    let create = [&create[..], &["--access-level", "enterprise"]].concat();
    TestApp::from_command_output(&owner, &server.run_cli(&create).json())
}

fn new_oauth1_token(user: &TestUser<'_>, app: &TestApp, more: &[&str]) -> (String, String) {
    let mint = ["token", "mint", "--app", &app.id, "--user", &user.id, "--oauth1"];
    let created = user.server.run_cli(&[&mint[..], more].concat()).json();
    let text = |name: &str| created[name].as_str().unwrap().to_owned();
    (text("access_token"), text("access_token_secret"))
}

fn send_signed(request: TestRequest, app: &TestApp, (token, secret): &(String, String)) -> TestResponse {
    let server = shared_server();
    let consumer = app.consumer_credentials();
    let key = OAuth1Credentials { consumer, token: (token, secret), ..OAuth1Credentials::default() };
    let header = request.oauth1_header(&key, &server.url);
    server.send(request.authorization(header))
}

#[test]
fn operation_is_refused_without_a_token_that_permits_it() {
    let ads = Advertiser::new();
    let server = shared_server();
    let user = &ads.person;
    let suspended = suspended_admin(&ads.account);
    let app = read_only_app();
    let own = new_oauth1_token(user, &user.app, &["--permission", "read"]);
    let of_app = new_oauth1_token(user, &app, &[]);
    let closed = server.new_app("self-serve");
    server.run_cli(&["app", "access", &closed.id, "--refuse", "ads"]).assert_success();
    let of_closed = new_oauth1_token(user, &closed, &[]);
    let scopes = |scopes: &str| user.new_token(&["--scopes", scopes]);
    let (reads, writes) = (scopes("ads.read"), scopes("ads.write"));
    let bare = scopes("tweet.read users.read");

    let nobody = "401 UNAUTHORIZED_ACCESS";
    let no_client = "403 UNAUTHORIZED_CLIENT_APPLICATION";
    let reader = "403 READONLY_CLIENT_APPLICATION";
    let (mut cases, mut wrong) = (0, Vec::new());
    for operation in ads_delivery::operations() {
        let request = || ask(operation, &ads.account, if operation.sandbox_only { "/ads-sandbox" } else { "" });
        let mut note = |case: &str, response: &TestResponse, expected: Option<&str>| {
            cases += 1;
            let got = code(response);
            let refusals = [nobody, no_client, reader, "403 CURRENT_USER_SUSPENDED"];
            let holds = match expected {
                Some(expected) => got == expected,
                None => !refusals.contains(&got.as_str()) && response.status < 500,
            };
            let leaks = expected.is_some() && response.text().contains("Account of");
            if !holds || leaks {
                wrong.push(format!("{} {} [{case}]: {got}", operation.method, operation.path));
            }
        };
        note("no token", &server.send(request()), Some(nobody));
        note("a wrong token", &server.send(request().bearer("x")), Some(nobody));
        let app_only = server.send(request().bearer(&user.app.bearer));
        note("the app alone", &app_only, Some(no_client));
        note("no such scope", &server.send(request().bearer(&bare)), Some(no_client));
        note("an app without access", &send_signed(request(), &closed, &of_closed), Some(no_client));
        let deleted = suspended.send_signed(request());
        note("a suspended user", &deleted, Some("403 CURRENT_USER_SUSPENDED"));
        for (case, app, token) in [("a token that reads", &user.app, &own), ("an app that reads", &app, &of_app)] {
            let response = send_signed(request(), app, token);
            note(case, &response, (operation.method != "GET").then_some(reader));
        }
        let is_read = operation.required_scope() == Scope::AdsRead;
        let by_reading = server.send(request().bearer(&reads));
        note("ads.read", &by_reading, (!is_read).then_some(no_client));
        let by_writing = server.send(request().bearer(&writes));
        note("ads.write", &by_writing, is_read.then_some(no_client));
    }
    println!("figure: {}", json!({ "cases": cases, "leaks": wrong.len() }));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whoever could not do it, did nothing.
    assert_eq!(ads.get("", &[])["data"]["deleted"], false);
}

#[test]
fn removed_role_ends_with_the_next_request() {
    let (ads, colleague) = (Advertiser::new(), shared_server().new_user("colleague"));
    let path = format!("/12/accounts/{}/campaigns", ads.account);
    let role = |role: &[&str]| {
        let grant = ["ads", "account", "role", &ads.account, &colleague.username];
        shared_server().run_cli(&[&grant[..], role].concat()).assert_success();
    };
    let list = || code(&send(&colleague, "GET", &path, &[]));
    assert_eq!(list(), NO_ACCOUNT);
    role(&["CAMPAIGN_ANALYST"]);
    assert_eq!(list(), "200 ");
    role(&["ANALYST"]);
    assert_eq!(list(), "403 ACTION_NOT_ALLOWED");
    role(&[]);
    assert_eq!(list(), NO_ACCOUNT);
    let accounts = send(&colleague, "GET", "/12/accounts", &[]).assert_status(200);
    assert_eq!(accounts["data"], json!([]));
}

#[test]
fn account_under_review_cannot_write_campaigns() {
    let ads = Advertiser::new();
    let campaign = format!("/campaigns/{}", ads.campaign());
    for approval in ["UNDER_REVIEW", "REJECTED"] {
        let set = ["ads", "account", "set", &ads.account, "--approval", approval];
        shared_server().run_cli(&set).assert_success();
        let writes = |operation: &ads_engine::AdsOperation| {
            operation.is_write && operation.required_role == RequiredRole::CampaignWriter && !operation.sandbox_only
        };
        let waits = |code: &str| code == "403 INVALID_ACCOUNT_SERVICE_LEVEL";
        let all = wrong(&ads.person, &ads.account, "", writes, waits);
        assert_eq!(all, Vec::<String>::new(), "{approval}");
        // All else is there as before.
        let one = ads.get(&campaign, &[]);
        assert_eq!(one["data"]["servable"], false);
        ads.make("/custom_audiences", &[("name", approval)]);
    }
    let set = ["ads", "account", "set", &ads.account, "--approval", "ACCEPTED"];
    shared_server().run_cli(&set).assert_success();
    ads.send("PUT", &campaign, &[("name", "Summer")]).assert_status(200);
}

/// What an answer says beside the ids that were asked for.
fn outcome(response: &TestResponse) -> Value {
    let body = response.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let errors: Vec<Value> =
        errors.iter().map(|error| json!([error["code"], error["parameter"], error["attribute"]])).collect();
    json!([response.status, errors, body["data"], body["next_cursor"], body["total_count"]])
}

/// What an operation answers to an id in one of its parameters.
fn reference_outcome(other: &Advertiser, operation: &ads_engine::AdsOperation, param: &Parameter, id: &str) -> Value {
    let mut path = operation.path.replace("<posts>", "posts").replace("<post>", "post");
    path = path.replace("{account_id}", &other.account);
    path = path.replace(&format!("{{{}}}", param.name.post), id);
    while let Some((head, rest)) = path.split_once('{') {
        let (_, tail) = rest.split_once('}').unwrap();
        path = format!("{head}1{tail}");
    }
    let sent = [(param.name.post, id)];
    let params = if param.location == ParameterLocation::Path { &[][..] } else { &sent };
    if operation.takes_json() {
        let body = params.iter().map(|(name, id)| ((*name).to_owned(), Value::from(*id)));
        let body = Value::Object(body.collect());
        return outcome(&other.person.send_signed(TestRequest::new(operation.method, path).json(&body)));
    }
    outcome(&send(&other.person, operation.method, &path, params))
}

#[test]
fn record_of_another_account_is_indistinguishable_from_an_unknown_one() {
    let field = Field::new();
    let owner = &field.world.ads;
    let other = Advertiser::new();
    let known = |name: &str| field.world.values[name].clone();
    let mut ids: BTreeMap<&str, String> = field.ids.clone();
    ids.insert("funding_instrument", owner.instrument.clone());
    ids.insert("custom_audience", known("tailored_audience_id"));
    ids.insert("account_media", known("account_media_id"));
    let user = owner.get("/promotable_users", &[])["data"][0]["id"].clone();
    ids.insert("promotable_user", user.as_str().unwrap().to_owned());
    let of = |kind: Kind| kind.downcast::<Resource>().filter(|of| of.name != "account");
    let (mut seen, mut wrong) = (Vec::new(), Vec::new());
    for operation in operations().filter(|operation| !operation.sandbox_only) {
        for param in operation.params {
            let Some(of) = of(param.kind) else { continue };
            let Some(id) = ids.get(of.name) else { continue };
            let nobody = of.id_format.format(9_999_999_999);
            let [foreign, unknown] = [id, &nobody].map(|id| reference_outcome(&other, operation, param, id));
            seen.push(of.name);
            if foreign != unknown {
                let (method, path, name) = (operation.method, operation.path, param.name.post);
                wrong.push(format!("{method} {path} {name}: {foreign}, not {unknown}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 90, "{}", seen.len());
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 15, "{seen:?}");
    // And nothing of it was changed.
    for (kind, id) in &field.ids {
        let of = ads::resources::RESOURCES.iter().find(|of| of.name == *kind).unwrap();
        if of.supports(ads_engine::ResourceVerb::Get) {
            let path = format!("/{}/{id}", of.path.replace("<posts>", "posts").replace("<post>", "post"));
            let one = owner.get(&path, &[]);
            assert_ne!(one["data"]["deleted"], true, "{kind}: {one}");
        }
    }
}
