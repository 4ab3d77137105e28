//! What an app is entitled to, and who the caller is in the older form.

use serde_json::{Value, json};
use web::endpoint::{Endpoint, ErrorFormat};

use crate::harness::{TestApp, TestRequest, TestResponse, TestServer, TestUser, shared_server};

fn needing() -> impl Iterator<Item = (&'static Endpoint, &'static str)> {
    // Advertising speaks of it in its own words, and is tested there.
    let all = api::ENDPOINTS.iter().copied().flatten();
    let all = all.filter(|endpoint| endpoint.error_format != ErrorFormat::Ads);
    all.filter_map(|endpoint| Some((endpoint, endpoint.required_entitlement?.name())))
}

fn ask(endpoint: &Endpoint, user: &TestUser<'_>) -> TestRequest {
    let path = endpoint.path.replace("<posts>", "posts").replace("<post>", "post");
    let path = path.replace("{id}", &user.id);
    let path = path.replace("{source_user_id}", &user.id);
    let path = path.replace("{target_user_id}", "20");
    let path = path.replace("{post_id}", "20");
    assert!(!path.contains(['{', '<']), "{path}");
    TestRequest::new(endpoint.method, path)
}

/// As whoever may call the operation.
fn call(endpoint: &Endpoint, user: &TestUser<'_>, app: &TestApp) -> TestResponse {
    let token = if endpoint.permit.oauth2 { &user.token } else { &app.bearer };
    user.server.send(ask(endpoint, user).bearer(token))
}

fn is_closed(response: &TestResponse) -> bool {
    response.status == 403 && response.json()["type"].as_str().is_some_and(|kind| kind.ends_with("/client-forbidden"))
}

fn access(app: &TestApp, more: &[&str]) -> Value {
    let command = ["app", "access", &app.id];
    shared_server().run_cli(&[&command[..], more].concat()).json()
}

#[test]
fn app_calls_only_operations_it_is_entitled_to() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let user = TestUser::app_owner(server, &app);
    assert!(needing().count() >= 8);
    for (endpoint, name) in needing() {
        access(&app, &["--refuse", name]);
        let problem = call(endpoint, &user, &app).assert_problem(403, "client-forbidden");
        assert_eq!(problem["title"], "Client Forbidden");
        assert_eq!(problem["reason"], "client-not-enrolled");
        assert_eq!(problem["required_enrollment"], name);
        assert_eq!(problem["client_id"], app.id.as_str());
        assert!(problem["registration_url"].is_string(), "{problem}");
        // Who calls, and with which scope, comes first.
        let nobody = server.send(ask(endpoint, &user));
        assert_eq!(nobody.status, 401, "{}", endpoint.id);
        if endpoint.permit.oauth2 {
            let bare = user.new_token(&["--scopes", "offline.access"]);
            let response = server.send(ask(endpoint, &user).bearer(&bare));
            assert_eq!(response.assert_status(403)["detail"], "Forbidden", "{}", endpoint.id);
        }
        if endpoint.permit.oauth1 {
            assert!(is_closed(&user.send_signed(ask(endpoint, &user))));
        }
        // The next call is judged by what was decided just now.
        access(&app, &["--allow", name]);
        let response = call(endpoint, &user, &app);
        assert!(!is_closed(&response), "{}: {}", endpoint.id, response.text());
    }
}

#[test]
fn access_level_grants_its_entitlements() {
    let app = shared_server().new_app("self-serve");
    let defaults = json!(["blocks", "follows_and_likes", "ads"]);
    let all = json!(["full_archive", "blocks", "follows_and_likes", "ads"]);
    assert_eq!(access(&app, &[])["entitlements"], defaults);
    let changed = access(&app, &["--level", "enterprise"]);
    assert_eq!(changed["access_level"], "enterprise");
    assert_eq!(changed["entitlements"], all);
    let less = access(&app, &["--refuse", "blocks", "--refuse", "full_archive"]);
    assert_eq!(less["entitlements"], json!(["follows_and_likes", "ads"]));
    let changed = access(&app, &["--level", "self-serve", "--allow", "full_archive", "--refuse", "blocks"]);
    assert_eq!(changed["entitlements"], json!(["full_archive", "follows_and_likes", "ads"]));
    for wrong in [["--allow", "everything"], ["--level", "royal"]] {
        let command = ["app", "access", &app.id];
        let ran = shared_server().run_cli(&[&command[..], &wrong[..]].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(access(&app, &[]), changed);
}

#[test]
fn verify_credentials_returns_the_caller_in_the_older_format() {
    let server = shared_server();
    let email = ["--email", "verified@example.org"];
    let person = server.new_user_with("verified", &email);
    let me = || TestRequest::get("/1.1/account/verify_credentials.json");
    let user = person.send_signed(me()).assert_status(200);
    assert_eq!(user["id"].to_string(), person.id);
    assert_eq!(user["id_str"], person.id.as_str());
    assert_eq!(user["screen_name"], person.username.as_str());
    assert_eq!(user["name"], "verified");
    assert_eq!(user["statuses_count"], 0);
    assert!(user.get("email").is_none() && user.get("profile_image_url_https").is_some());
    person.publish_text("One more");
    assert_eq!(person.send_signed(me()).assert_status(200)["statuses_count"], 1);

    // The address only where app, question and person all say so.
    let response = |person: &TestUser<'_>, query: &str| {
        let request = TestRequest::get(format!("/1.1/account/verify_credentials.json?{query}"));
        person.send_signed(request).assert_status(200).get("email").cloned()
    };
    let expected = "include_email=true&skip_status=True&include_entities=false&tweet_mode=extended";
    assert_eq!(response(&person, expected), None, "the app may not ask for it");
    let owner = &server.default_app().owner;
    let created = ["app", "create", "Mail", "--owner", owner, "--request-email"];
    let created = server.run_cli(&created).json();
    let app = TestApp::from_command_output(owner, &created);
    let asking = TestUser::with_new_token(server, &app, &person.id, &person.username);
    let address = json!("verified@example.org");
    assert_eq!(response(&asking, expected), Some(address.clone()));
    for (flag, expected) in [("TRUE", Some(&address)), ("True", Some(&address)), ("T", Some(&address)), ("F", None)] {
        assert_eq!(response(&asking, &format!("include_email={flag}")).as_ref(), expected, "{flag}");
    }
    let unclear = TestRequest::get("/1.1/account/verify_credentials.json?include_email=yes");
    asking.send_signed(unclear).assert_legacy_code(400, 44);
    let nowhere = server.new_user("nowhere");
    let nowhere = TestUser::with_new_token(server, &app, &nowhere.id, &nowhere.username);
    assert_eq!(response(&nowhere, expected), Some(Value::Null));

    let refused = |answer: TestResponse, status, code| answer.assert_legacy_code(status, code);
    refused(server.send(me()), 400, 215);
    refused(server.send(me().bearer("nothing")), 401, 89);
    refused(person.send(me()), 403, 220);
    let mut key = person.oauth1_credentials();
    key.consumer.1 = "wrong";
    let header = me().oauth1_header(&key, &server.url);
    refused(server.send(me().authorization(header)), 401, 32);
    person.send_signed(TestRequest::post("/1.1/oauth/invalidate_token")).assert_status(200);
    refused(person.send_signed(me()), 401, 89);
}

#[test]
fn user_lookup_accepts_the_parameters_of_older_clients() {
    let server = shared_server();
    let (person, other) = (server.new_user("looker"), server.new_user("lookedup"));
    let show = |query: String| person.send_signed(TestRequest::get(format!("/1.1/users/show.json?{query}")));
    let loud = other.username.to_uppercase();
    for query in [format!("screen_name={loud}"), format!("user_id={}&screen_name=nobody", other.id)] {
        let user = show(query).assert_status(200);
        assert_eq!(user["id_str"], other.id.as_str());
        assert_eq!(user["screen_name"], other.username.as_str());
        assert!(user.get("email").is_none(), "{user}");
    }
    show(String::new()).assert_legacy_code(403, 38);
    show("screen_name=nobody_at_all".to_owned()).assert_legacy_code(404, 50);
    show("user_id=7".to_owned()).assert_legacy_code(404, 50);
    show("user_id=x".to_owned()).assert_legacy_code(400, 44);
    show(format!("user_id={}&skip_status=true&include_ext_alt_text=true", other.id)).assert_status(200);
    server.run_cli(&["user", "suspend", &other.id]).json();
    show(format!("user_id={}", other.id)).assert_legacy_code(403, 63);
}

#[test]
fn users_are_looked_up_as_by_older_clients() {
    let server = shared_server();
    let (person, other) = (server.new_user("looker"), server.new_user("lookedup"));
    let app = server.default_app();
    let both = format!("screen_name={},nobody_at_all&user_id={},7", other.username.to_uppercase(), person.id);
    let path = "/1.1/users/lookup.json";
    let names = |users: &Value| -> Vec<String> {
        users.as_array().unwrap().iter().map(|user| user["id_str"].as_str().unwrap().to_owned()).collect()
    };
    let expected = [person.id.clone(), other.id.clone()];
    let found = person.send_signed(TestRequest::get(format!("{path}?{both}"))).assert_status(200);
    assert_eq!(names(&found), expected);
    let posted = TestRequest::post(path).form(both).bearer(&app.bearer);
    assert_eq!(names(&server.send(posted).assert_status(200)), expected);
    let look = |query: &str| person.send_signed(TestRequest::get(format!("{path}{query}")));
    look("").assert_legacy_code(403, 25);
    look("?screen_name=nobody_at_all").assert_legacy_code(404, 17);
    let ids: Vec<String> = (1..=101).map(|id: u32| id.to_string()).collect();
    look(&format!("?user_id={}", ids.join(","))).assert_legacy_code(403, 18);
    server.run_cli(&["user", "suspend", &other.id]).json();
    look(&format!("?user_id={}", other.id)).assert_legacy_code(404, 17);
}

#[test]
fn rate_limits_are_listed_as_for_older_clients() {
    let server = TestServer::start(&["--rate-limits", "table", "--world", "empty"]);
    let person = server.new_user("limited");
    let list = |query: &str| {
        let path = format!("/1.1/application/rate_limit_status.json{query}");
        person.send_signed(TestRequest::get(path)).assert_status(200)
    };
    let all = list("");
    assert_eq!(all["rate_limit_context"]["access_token"], person.oauth1_token().0);
    assert_eq!(all["resources"]["users"]["/users/show"]["remaining"], 900, "{all}");
    assert_eq!(all["resources"]["users"]["/users/:id"]["limit"], all["resources"]["users"]["/users/:id"]["remaining"]);
    assert!(all["resources"]["tweets"]["/tweets&POST"]["reset"].as_i64() > Some(1_700_000_000), "{all}");
    person.send_signed(TestRequest::get(format!("/1.1/users/show.json?user_id={}", person.id))).assert_status(200);
    let some = list("?resources=users,application");
    assert_eq!(some["resources"]["users"]["/users/show"]["remaining"], 899);
    assert_eq!(some["resources"]["application"]["/application/rate_limit_status"]["remaining"], 178);
    assert_eq!(some["resources"].as_object().unwrap().len(), 2);
    let app = person.app.bearer.clone();
    let alone =
        server.send(TestRequest::get("/1.1/application/rate_limit_status.json").bearer(&app)).assert_status(200);
    assert_eq!(alone["rate_limit_context"]["application"], person.app.key.as_str());
    let tweets = &alone["resources"]["tweets"];
    assert_eq!(tweets["/tweets/:id"]["limit"], 450);
    assert_eq!(tweets["/tweets&POST"], Value::Null, "the app alone cannot post");
    server.run_cli(&["limits", "exhaust", "POST /2/tweets", "--window", "10800"]).assert_success();
    let post = &list("?resources=tweets")["resources"]["tweets"]["/tweets&POST"];
    assert_eq!((&post["limit"], &post["remaining"]), (&json!(300), &json!(0)), "shared with reposts");
}
