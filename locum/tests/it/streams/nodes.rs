//! Streams of several nodes on one database: where a client is connected makes no difference.

use serde_json::{Value, json};

use super::{RULES, STREAM, add_rules, word};
use crate::harness::{StreamClient, TestApp, TestRequest, TestServer, start_two_nodes, wait_until};

fn listed(node: &TestServer, app: &TestApp) -> Vec<Value> {
    let request = TestRequest::get("/2/connections").bearer(&app.bearer);
    let body = node.send(request).assert_status(200);
    body["data"].as_array().cloned().unwrap_or_default()
}

#[test]
fn streams_share_posts_rules_and_limits_across_nodes() {
    let Some((one, two)) = start_two_nodes() else { return };
    let app = one.new_app("enterprise");
    let author = one.new_user("author");
    let [first, second] = [word(), word()];
    let ids = add_rules(&one, &app, &[(&first, "one")]);
    let mut here = StreamClient::open(&one, STREAM, &app.bearer);
    let mut there = StreamClient::open(&two, STREAM, &app.bearer);
    author.publish_text(&format!("{first} for both"));
    for stream in [&mut here, &mut there] {
        let message = stream.next_message();
        assert_eq!(message["data"]["text"], format!("{first} for both"));
        assert_eq!(message["matching_rules"], json!([{ "id": ids[0], "tag": "one" }]));
    }
    // What is added and removed on one node holds on the other, for what is posted on either.
    add_rules(&one, &app, &[(&second, "two")]);
    let body = json!({ "delete": { "ids": ids } });
    let removed = two.send(TestRequest::post(RULES).bearer(&app.bearer).json(&body));
    assert_eq!(removed.assert_status(200)["meta"]["summary"]["deleted"], 1);
    author.publish_text(&format!("{first} for nobody"));
    let text = json!({ "text": format!("{second} from there") });
    two.send(TestRequest::post("/2/posts").bearer(&author.token).json(&text)).assert_status(201);
    for stream in [&mut here, &mut there] {
        assert_eq!(stream.next_texts(1), [format!("{second} from there")]);
    }
    // Slots are counted together, and free at once wherever one is left.
    for node in [&one, &two] {
        let more = node.send(TestRequest::get(STREAM).bearer(&app.bearer));
        more.assert_problem(429, "streaming-connection");
        assert_eq!(listed(node, &app).len(), 2);
    }
    drop(there);
    wait_until("the slot is free", || listed(&one, &app).len() == 1);
    let mut again = StreamClient::open(&one, STREAM, &app.bearer);
    let full = two.send(TestRequest::get(STREAM).bearer(&app.bearer));
    full.assert_problem(429, "streaming-connection");
    // Ended by name from the other node, and by the end of what both began with.
    let newest = listed(&two, &app)[0]["id"].clone();
    let request = TestRequest::delete("/2/connections").bearer(&app.bearer);
    let killed = two.send(request.json(&json!({ "uuids": [newest] }))).assert_status(200);
    assert_eq!(killed["data"]["successful_kills"], 1);
    assert_eq!(again.disconnect_type(), "ForceDisconnect");
    let mut there = StreamClient::open(&two, STREAM, &app.bearer);
    one.run_cli(&["app", "rotate", &app.id, "bearer"]).assert_success();
    for stream in [&mut here, &mut there] {
        assert_eq!(stream.disconnect_type(), "ClientApplicationStateDegraded");
    }
}
