//! Open streams: their limit, listing and end.

use super::*;

#[test]
fn connection_limit_is_enforced_and_freed_at_once() {
    let (app, _) = watcher("self-serve");
    let without = shared_server().new_app("self-serve");
    let body = shared_server()
        .send(TestRequest::get(STREAM).bearer(&without.bearer))
        .assert_problem(409, "streaming-connection");
    assert_eq!(body["connection_issue"], "RuleConfigurationIssue");
    let stream = connect(&app, "");
    let again = || shared_server().send(TestRequest::get("/2/tweets/search/stream").bearer(&app.bearer));
    let body = again().assert_problem(429, "streaming-connection");
    assert_eq!(body["title"], "ConnectionException");
    assert_eq!(body["connection_issue"], "TooManyConnections");
    let listed = connections(&app, "");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["endpoint_name"], "filtered_stream");
    assert_eq!(listed[0]["client_ip"], "127.0.0.1");
    assert!(listed[0].get("disconnected_at").is_none());
    drop(stream);
    wait_until("the slot is free", || connections(&app, "").is_empty());
    // A storm of reconnections leaves nothing behind.
    for _ in 0..20 {
        let stream = connect(&app, "");
        drop(stream);
        wait_until("the slot is free", || connections(&app, "").is_empty());
    }
    let past = connections(&app, "?status=inactive&max_results=100");
    assert_eq!(past.len(), 21);
    assert!(past.iter().all(|one| one["disconnect_reason"] == "client_disconnect"));
    // With a contract there are two of the filtered stream, one of the sample.
    let (enterprise, _) = watcher("enterprise");
    let _one = connect(&enterprise, "");
    let _two = connect(&enterprise, "");
    let third = shared_server().send(TestRequest::get(STREAM).bearer(&enterprise.bearer));
    third.assert_problem(429, "streaming-connection");
    let _sample = StreamClient::open(shared_server(), "/2/posts/sample/stream", &enterprise.bearer);
    assert_eq!(connections(&enterprise, "").len(), 3);
    assert_eq!(connections(&enterprise, "?endpoints=sample_stream").len(), 1);
    assert_eq!(connections(&app, "").len(), 0, "an app's own only");
}

fn delete_connections(app: &TestApp, path: &str, body: Option<Value>) -> TestResponse {
    let request = TestRequest::delete(format!("/2/connections{path}")).bearer(&app.bearer);
    shared_server().send(match body {
        Some(body) => request.json(&body),
        None => request,
    })
}

#[test]
fn connections_are_closed_by_id_by_stream_or_all() {
    let (app, _) = watcher("enterprise");
    let (other, _) = watcher("enterprise");

    let mut one = connect(&app, "");
    let mut two = connect(&app, "");
    let mut sample = StreamClient::open(shared_server(), "/2/posts/sample/stream", &app.bearer);
    let mut others = connect(&other, "");
    let id = connections(&app, "?endpoints=filtered_stream")[1]["id"].clone();
    let named = json!({ "uuids": [id, "no-such-connection"] });
    // Another app ends nothing of it.
    let response = delete_connections(&other, "", Some(named.clone())).assert_status(200)["data"].clone();
    assert_eq!((&response["successful_kills"], &response["failed_kills"]), (&json!(0), &json!(2)));
    let response = delete_connections(&app, "", Some(named.clone())).assert_status(200)["data"].clone();
    assert_eq!((&response["successful_kills"], &response["failed_kills"]), (&json!(1), &json!(1)));
    let results = response["results"].as_array().unwrap();
    let killed = results.iter().find(|one| one["uuid"] == id).unwrap();
    assert_eq!(*killed, json!({ "uuid": id, "success": true }));
    assert_eq!(one.disconnect_type(), "ForceDisconnect", "the older of the two");
    let again = delete_connections(&app, "", Some(named)).assert_status(200)["data"].clone();
    assert_eq!(again["successful_kills"], 0, "it is over");
    let response = delete_connections(&app, "/sample_stream", None).assert_status(200)["data"].clone();
    assert_eq!(response["successful_kills"], 1);
    assert_eq!(sample.disconnect_type(), "ForceDisconnect");
    let response = delete_connections(&app, "/all", None).assert_status(200)["data"].clone();
    assert_eq!(response["successful_kills"], 1);
    assert_eq!(two.disconnect_type(), "ForceDisconnect");
    assert!(connections(&app, "").is_empty());
    let past = connections(&app, "?status=inactive");
    assert_eq!(past.len(), 3);
    assert!(past.iter().all(|one| one["disconnect_reason"] == "killed"), "{past:?}");
    others.assert_silent();
    assert_eq!(connections(&other, "").len(), 1);
    assert_eq!(connections(&app, "?status=all&max_results=2").len(), 2);
}

#[test]
fn invalid_request_for_connections_is_refused() {
    let (app, _) = watcher("enterprise");
    let delete = delete_connections;
    delete(&app, "/no_stream", None).assert_problem(400, "invalid-request");
    delete(&app, "", Some(json!({}))).assert_problem(400, "invalid-request");
    delete(&app, "", Some(json!({ "uuids": [] }))).assert_problem(400, "invalid-request");
    for query in ["?status=open", "?endpoints=no_stream", "?max_results=101"] {
        let request = TestRequest::get(format!("/2/connections{query}")).bearer(&app.bearer);
        shared_server().send(request).assert_problem(400, "invalid-request");
    }
}

#[test]
fn stream_ends_with_its_token_and_app() {
    let (app, word) = watcher("self-serve");
    let author = shared_server().new_user("author");
    let mut stream = connect(&app, "");
    let owner = TestUser::app_owner(shared_server(), &app);
    let request = TestRequest::post("/oauth2/invalidate_token")
        .form(format!("access_token={}", crate::harness::percent_encode(&app.bearer)));
    owner.send_signed(request).assert_status(200);
    assert_eq!(stream.disconnect_type(), "ClientApplicationStateDegraded");
    author.publish_text(&format!("{word} too late"));
    assert_eq!(shared_server().send(TestRequest::get(STREAM).bearer(&app.bearer)).status, 401);

    let (app, _) = watcher("self-serve");
    let mut stream = connect(&app, "");
    // Where people come back to is none of its business, another token is.
    shared_server().run_cli(&["app", "callbacks", &app.id, "https://app.example/back"]).assert_success();
    stream.assert_silent();
    assert_eq!(connections(&app, "").len(), 1);
    shared_server().run_cli(&["app", "rotate", &app.id, "bearer"]).assert_success();
    assert_eq!(stream.disconnect_type(), "ClientApplicationStateDegraded");

    let (app, _) = watcher("self-serve");
    let mut stream = connect(&app, "");
    shared_server().run_cli(&["token", "revoke", &app.bearer]).assert_success();
    assert_eq!(stream.disconnect_type(), "ClientApplicationStateDegraded");

    let (app, _) = watcher("self-serve");
    let mut stream = connect(&app, "");
    shared_server().run_cli(&["app", "delete", &app.id]).assert_success();
    assert_eq!(stream.disconnect_type(), "ClientApplicationStateDegraded");
}
