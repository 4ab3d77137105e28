//! Rate limits: what is used, and what a tester changes.

use crate::harness::{OAuth1Credentials, TestRequest, TestServer, shared_server};
use crate::pages::browser::Browser;
use base::clock::wall_time;
use serde_json::json;

const ME: &str = "GET /2/users/me";

fn limited_server() -> TestServer {
    TestServer::start(&["--rate-limits", "table"])
}

#[test]
fn exhausted_window_is_refused_with_real_headers_until_it_is_reset() {
    let server = limited_server();
    let (ada, bob) = (server.env_value("USER_TOKEN").to_owned(), server.env_value("USER_TOKEN_2").to_owned());
    let me = |token: &str| server.send(TestRequest::get("/2/users/me").bearer(token));
    let before = me(&ada);
    assert_eq!((before.status, before.header_number("x-rate-limit-remaining")), (200, 74));
    let exhausted = server.run_cli(&["limits", "exhaust", ME, "--app", "demo", "--user", "@ada"]).json();
    assert_eq!(exhausted["windows"][0]["remaining"], 0, "{exhausted}");
    let refused = me(&ada);
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header_number("x-rate-limit-remaining"), 0);
    assert_eq!(refused.header_number("x-rate-limit-limit"), 75);
    let reset = refused.header_number("x-rate-limit-reset");
    assert_eq!(exhausted["windows"][0]["reset"], reset);
    let left = reset - wall_time().seconds();
    // Rounded up to the next second.
    assert!((1..=901).contains(&left), "{left}");
    assert_eq!(me(&bob).status, 200);
    let shown = server.run_cli(&["limits", "show", ME]).json();
    let windows = shown["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 2, "{shown}");
    assert_eq!((&windows[0]["user"], &windows[0]["app"]), (&json!("@ada"), &json!("demo")));
    let reset = server.run_cli(&["limits", "reset", ME, "--user", "ada"]).json();
    assert_eq!(reset["reset"], 1);
    assert_eq!(me(&ada).status, 200);
}

#[test]
fn window_of_everyone_is_exhausted_before_anyone_called() {
    let server = limited_server();
    let exhausted = server.run_cli(&["limits", "exhaust", "GET /2/tweets/search/recent"]).json();
    let windows = exhausted["windows"].as_array().unwrap();
    let is_app_only = |window: &&serde_json::Value| window["user"].is_null();
    assert_eq!(windows.iter().filter(is_app_only).count(), 2, "{exhausted}");
    for token in ["BEARER_TOKEN", "USER_TOKEN_2"] {
        let search = TestRequest::get("/2/posts/search/recent?query=tea").bearer(server.env_value(token));
        assert_eq!(server.send(search).status, 429, "{token}");
    }
    let other = TestRequest::get("/2/users/by/username/ada").bearer(server.env_value("BEARER_TOKEN"));
    assert_eq!(server.send(other).status, 200);
    // Users have no window of an operation that issues tokens to apps.
    let exhausted = server.run_cli(&["limits", "exhaust", "POST /oauth2/token"]).json();
    let windows = exhausted["windows"].as_array().unwrap();
    assert!(windows.len() == 2 && windows.iter().all(|window| is_app_only(&window)), "{exhausted}");
}

#[test]
fn exhausted_window_of_a_public_client_is_refused() {
    let server = limited_server();
    let app = server.run_cli(&["app", "create", "Native", "--owner", "@ada", "--kind", "native"]).json();
    let client = app["client_id"].as_str().unwrap();
    let refresh = || {
        let form = format!("grant_type=refresh_token&refresh_token=x&client_id={client}");
        server.send(TestRequest::post("/2/oauth2/token").form(form)).status
    };
    assert_eq!(refresh(), 400);
    server.run_cli(&["limits", "exhaust", "POST /2/oauth2/token", "--app", "Native"]).assert_success();
    assert_eq!(refresh(), 429);
}

#[test]
fn windows_that_operations_share_and_those_of_ads_accounts_are_exhausted() {
    let server = limited_server();
    let post = || {
        let request = TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN"));
        server.send(request.json(&json!({"text": "Limited"})))
    };
    assert_eq!(post().status, 201);
    let exhausted = server.run_cli(&["limits", "exhaust", "POST /2/tweets", "--window", "10800"]).json();
    assert!(exhausted["windows"].as_array().unwrap().iter().any(|one| one["operation"] == "posts and reposts"));
    assert_eq!(post().status, 429);
    let repost = json!({"tweet_id": "20"});
    let path = format!("/2/users/{}/retweets", server.env_value("USER_ID"));
    let repost = TestRequest::post(path).bearer(server.env_value("USER_TOKEN")).json(&repost);
    assert_eq!(server.send(repost).status, 429, "the window counts both");

    let endpoint = "POST /12/accounts/{account_id}/custom_audiences/{custom_audience_id}/users";
    let exhausted = server.run_cli(&["limits", "exhaust", endpoint, "--user", "ada"]).json();
    assert!(exhausted["windows"][0]["subject"].as_str().unwrap().starts_with("ads account"), "{exhausted}");
    let account = server.env_value("ADS_ACCOUNT_ID");
    let change = TestRequest::post(format!("/12/accounts/{account}/custom_audiences/1/users"));
    let credentials = OAuth1Credentials {
        consumer: (server.env_value("API_KEY"), server.env_value("API_SECRET")),
        token: (server.env_value("ACCESS_TOKEN"), server.env_value("ACCESS_TOKEN_SECRET")),
        skew: 0,
        nonce: None,
    };
    let header = change.oauth1_header(&credentials, &server.url);
    assert_eq!(server.send(change.authorization(header)).status, 429);
}

#[test]
fn mode_changes_while_the_server_runs() {
    let server = limited_server();
    let token = server.env_value("USER_TOKEN").to_owned();
    let me = || server.send(TestRequest::get("/2/users/me").bearer(&token));
    server.run_cli(&["limits", "exhaust", ME]).assert_success();
    assert_eq!(me().status, 429);
    assert_eq!(server.run_cli(&["limits", "off"]).json()["mode"], "off");
    assert_eq!(me().status, 200);
    let refused = server.run_cli(&["limits", "exhaust", ME]);
    refused.assert_exit_code(1);
    assert!(refused.stderr.contains("locum limits table"), "{refused:?}");
    let scaled = server.run_cli(&["limits", "scale", "10"]).json();
    assert_eq!((&scaled["mode"], &scaled["factor"]), (&json!("scale"), &json!(10)));
    assert_eq!(me().header_number("x-rate-limit-limit"), 750);
    assert_eq!(server.run_cli(&["limits", "table"]).json()["mode"], "table");
    assert_eq!(me().status, 429);
}

#[test]
fn wrong_limit_commands_name_what_would_be_accepted() {
    let server = shared_server();
    let cases = [
        (&["limits", "exhaust", "GET /2/user/me"][..], 2, "did you mean [GET /2/users/me]"),
        (&["limits", "show", "tea"], 2, "`locum routes` lists all"),
        (&["limits", "show", "--app", "nothing"], 1, "no app matches \\\"nothing"),
        (&["limits", "reset", "--user", "@nobody_here"], 1, "no user matches \\\"@nobody_here"),
        (&["limits", "scale", "0"], 2, "must have a minimum value of 1"),
    ];
    for (command, code, words) in cases {
        let refused = server.run_cli(command);
        refused.assert_exit_code(code);
        assert!(refused.stderr.contains(words), "{command:?}: {refused:?}");
    }
    let limited = limited_server();
    let refused = limited.run_cli(&["limits", "exhaust", ME, "--window", "60"]);
    assert!(refused.stderr.contains("windows in seconds: 900"), "{refused:?}");
    let user = ["--user", "@ada", "--window", "60"];
    let refused = limited.run_cli(&[&["limits", "exhaust", "POST /2/tweets"], &user[..]].concat());
    assert!(refused.stderr.contains("windows in seconds: 900, 10800\""), "not those of apps: {refused:?}");
    let wrong = TestRequest::post("/control/v1/limits/mode").json(&json!({"mode": "sometimes"}));
    let wrong = server.call_control(wrong);
    assert!(wrong.text().contains("table, relaxed, off, scale"), "{}", wrong.text());
}

#[test]
fn limits_page_shows_windows_and_exhausts_them() {
    let server = limited_server();
    let token = server.env_value("USER_TOKEN").to_owned();
    let mut browser = Browser::new(&server);
    let page = browser.get("/console/limits");
    assert!(page.assert_page(200).contains("No requests in the current windows"));
    let fields = [("act", "exhaust"), ("endpoint", ME), ("app", "demo"), ("user", "ada")];
    let done = browser.submit(&page, "/console/limits", &fields);
    assert_eq!((done.status, done.header("location")), (303, "/console/limits?exhausted"));
    assert_eq!(server.send(TestRequest::get("/2/users/me").bearer(&token)).status, 429);
    let page = browser.get("/console/limits");
    assert!(page.assert_page(200).contains("Limit reached"), "{}", page.text());
    let wrong = [("act", "exhaust"), ("endpoint", "GET /2/user/me"), ("app", ""), ("user", "")];
    let refused = browser.submit(&page, "/console/limits", &wrong);
    assert!(refused.assert_page(400).contains("did you mean"), "{}", refused.text());
    let forged = TestRequest::post("/console/limits").form("csrf=x&act=mode&mode=off");
    assert_eq!(browser.send(forged).status, 403);
}
