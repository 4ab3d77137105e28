//! How many posts an app was given.

use base::clock::wall_time;
use base::time::DAY_MS;
use serde_json::{Value, json};

use crate::harness::{TestApp, TestRequest, TestServer, shared_server};

fn usage(server: &TestServer, app: &TestApp, more: &str) -> Value {
    let request = TestRequest::get(format!("/2/usage/posts{more}")).bearer(&app.bearer);
    server.send(request).assert_status(200)["data"].clone()
}

#[test]
fn post_read_several_times_counts_once_a_day_for_an_app() {
    let server = TestServer::start(&["--world", "empty"]);
    let author = server.new_user("author");
    let app = author.app.clone();
    let one = author.publish_text("One");
    author.publish_text("Two");
    let before = usage(&server, &app, "");
    assert_eq!(before["project_usage"], "0", "writing is not reading");
    assert_eq!(before["project_cap"], "3000000");
    assert_eq!(before["project_id"], app.id);
    let resets_in = |days: &i64| wall_time().plus_ms(days * DAY_MS).to_date_string().ends_with("-01");
    assert_eq!(before["cap_reset_day"], json!((1..=31).find(resets_in)), "days until the next month begins");
    for _ in 0..3 {
        author.get(format!("/2/posts/{one}")).assert_status(200);
    }
    author.get("/2/posts/17").assert_status(200);
    author.get("/2/posts/x").assert_status(400);
    assert_eq!(usage(&server, &app, "")["project_usage"], "1");
    author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
    let after = usage(&server, &app, "?days=3");
    assert_eq!(after["project_usage"], "2");
    let days = after["daily_project_usage"]["usage"].as_array().unwrap();
    assert_eq!(days.len(), 3);
    assert_eq!(days[2]["usage"], "2");
    assert_eq!(days[0]["usage"], "0");
    assert!(days[2]["date"].as_str().unwrap().ends_with("T00:00:00.000Z"));
    let apps = after["daily_client_app_usage"].as_array().unwrap();
    assert_eq!(apps.len(), 1);
    assert_eq!(apps[0]["client_app_id"], app.id);
    assert_eq!(apps[0]["usage_result_count"], 3);
    assert_eq!(apps[0]["usage"], json!(days));
    assert_eq!(usage(&server, &app, "")["daily_project_usage"]["usage"].as_array().unwrap().len(), 7);
}

#[test]
fn usage_is_kept_over_a_restart_and_under_the_older_path() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let (app, url) = {
        let author = server.new_user("author");
        let two = author.publish_text("Two");
        author.publish_text("One");
        author.get(format!("/2/users/{}/posts", author.id)).assert_status(200);
        (author.app.clone(), format!("/2/posts/{two}"))
    };
    assert_eq!(usage(&server, &app, "")["project_usage"], "2");
    server.kill();
    server.restart();
    let request = TestRequest::get("/2/usage/tweets?days=1").bearer(&app.bearer);
    let older = server.send(request.clone()).assert_status(200);
    assert_eq!(older["data"]["project_usage"], 2, "an integer in the older document");
    assert_eq!(older["data"]["daily_project_usage"]["usage"][0]["usage"], 2);
    let sdk = server.send(request.header("user-agent", "xdk-python/0.10.6")).assert_status(200);
    assert_eq!(sdk["data"]["project_usage"], "2", "its models are those of the newer document");
    server.send(TestRequest::get(url).bearer(&app.bearer)).assert_status(200);
    assert_eq!(usage(&server, &app, "")["project_usage"], "2", "the app had it");
}

#[test]
fn invalid_usage_request_is_refused() {
    let reader = shared_server().new_user("reader");
    let request = |path: &str| shared_server().send(TestRequest::get(path).bearer(&reader.app.bearer));
    for path in [
        "/2/usage/posts?days=0",
        "/2/usage/posts?days=91",
        "/2/usage/posts?days=x",
        "/2/usage/posts?usage.fields=color",
    ] {
        request(path).assert_problem(400, "invalid-request");
    }
    let one = request("/2/usage/posts?days=90&usage.fields=project_cap").assert_status(200);
    assert!(one["data"]["project_cap"].is_string());
    let user = reader.get("/2/usage/posts");
    user.assert_problem(403, "unsupported-authentication");
}
