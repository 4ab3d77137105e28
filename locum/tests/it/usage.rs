//! How many posts an app was given.

use serde_json::{Value, json};

use crate::harness::{App, Ask, Server, shared};

fn usage(server: &Server, app: &App, more: &str) -> Value {
    let ask = Ask::get(format!("/2/usage/posts{more}")).bearer(&app.bearer);
    server.send(ask).is(200)["data"].clone()
}

#[test]
fn posts_count_once_a_day_for_an_app() {
    let server = Server::start(&["--world", "empty"]);
    let author = server.person("author");
    let app = author.app.clone();
    let (one, two) = (author.says("One"), author.says("Two"));
    let before = usage(&server, &app, "");
    assert_eq!(before["project_usage"], "0", "writing is not reading");
    assert_eq!(before["project_cap"], "3000000");
    assert_eq!(before["project_id"], app.id);
    assert_eq!(before["cap_reset_day"], 1);
    for _ in 0..3 {
        author.get(format!("/2/posts/{one}")).is(200);
    }
    author.get("/2/posts/17").is(200);
    author.get("/2/posts/x").is(400);
    assert_eq!(usage(&server, &app, "")["project_usage"], "1");
    author.get(format!("/2/users/{}/posts", author.id)).is(200);
    let after = usage(&server, &app, "?days=3");
    assert_eq!(after["project_usage"], "2");
    let days = after["daily_project_usage"]["usage"].as_array().unwrap();
    assert_eq!(days.len(), 3);
    assert_eq!(days[2]["usage"], "2");
    assert_eq!(days[0]["usage"], "0");
    assert!(
        days[2]["date"]
            .as_str()
            .unwrap()
            .ends_with("T00:00:00.000Z")
    );
    let apps = after["daily_client_app_usage"].as_array().unwrap();
    assert_eq!(apps.len(), 1);
    assert_eq!(apps[0]["client_app_id"], app.id);
    assert_eq!(apps[0]["usage_result_count"], 3);
    assert_eq!(apps[0]["usage"], json!(days));
    assert_eq!(
        usage(&server, &app, "")["daily_project_usage"]["usage"]
            .as_array()
            .unwrap()
            .len(),
        7
    );
    // The same under the older path, and after a restart; another app has its own count.
    let mut server = server;
    let url = format!("/2/posts/{two}");
    server.kill();
    server.start_again();
    let ask = Ask::get("/2/usage/tweets?days=1").bearer(&app.bearer);
    assert_eq!(server.send(ask).is(200)["data"]["project_usage"], "2");
    server.send(Ask::get(url).bearer(&app.bearer)).is(200);
    assert_eq!(
        usage(&server, &app, "")["project_usage"],
        "2",
        "the app had it"
    );
}

#[test]
fn what_is_not_asked_rightly_is_refused() {
    let reader = shared().person("reader");
    let ask = |path: &str| shared().send(Ask::get(path).bearer(&reader.app.bearer));
    for path in [
        "/2/usage/posts?days=0",
        "/2/usage/posts?days=91",
        "/2/usage/posts?days=x",
        "/2/usage/posts?usage.fields=color",
    ] {
        ask(path).is_problem(400, "invalid-request");
    }
    let one = ask("/2/usage/posts?days=90&usage.fields=project_cap").is(200);
    assert!(one["data"]["project_cap"].is_string());
    let user = reader.get("/2/usage/posts");
    user.is_problem(403, "unsupported-authentication");
}
