//! Streams of several nodes on one database: where a client is connected makes no difference.

use serde_json::{Value, json};

use super::{RULES, STREAM, add_rules, word};
use crate::harness::{App, Ask, Engine, Listener, Server, engine, until};

fn listed(node: &Server, app: &App) -> Vec<Value> {
    let ask = Ask::get("/2/connections").bearer(&app.bearer);
    let body = node.send(ask).is(200);
    body["data"].as_array().cloned().unwrap_or_default()
}

#[test]
fn posts_rules_slots_and_ends_reach_every_node() {
    // A file has one node.
    if engine() != Engine::Postgres {
        return;
    }
    let one = Server::serve(&[]);
    let two = one.beside_it(1);
    let app = one.new_app("enterprise");
    let author = one.person("author");
    let [first, second] = [word(), word()];
    let ids = add_rules(&one, &app, &[(&first, "one")]);
    let mut here = Listener::open(&one, STREAM, &app.bearer);
    let mut there = Listener::open(&two, STREAM, &app.bearer);
    author.says(&format!("{first} for both"));
    for stream in [&mut here, &mut there] {
        let message = stream.next();
        assert_eq!(message["data"]["text"], format!("{first} for both"));
        assert_eq!(
            message["matching_rules"],
            json!([{ "id": ids[0], "tag": "one" }])
        );
    }
    // What is added and removed on one node holds on the other, for what is posted on either.
    add_rules(&one, &app, &[(&second, "two")]);
    let body = json!({ "delete": { "ids": ids } });
    let removed = two.send(Ask::post(RULES).bearer(&app.bearer).json(&body));
    assert_eq!(removed.is(200)["meta"]["summary"]["deleted"], 1);
    author.says(&format!("{first} for nobody"));
    let text = json!({ "text": format!("{second} from there") });
    two.send(Ask::post("/2/posts").bearer(&author.token).json(&text))
        .is(201);
    for stream in [&mut here, &mut there] {
        assert_eq!(stream.texts(1), [format!("{second} from there")]);
    }
    // Slots are counted together, and free at once wherever one is left.
    for node in [&one, &two] {
        let more = node.send(Ask::get(STREAM).bearer(&app.bearer));
        more.is_problem(429, "streaming-connection");
        assert_eq!(listed(node, &app).len(), 2);
    }
    drop(there);
    until("the slot is free", || listed(&one, &app).len() == 1);
    let mut again = Listener::open(&one, STREAM, &app.bearer);
    let full = two.send(Ask::get(STREAM).bearer(&app.bearer));
    full.is_problem(429, "streaming-connection");
    // Ended by name from the other node, and by the end of what both began with.
    let newest = listed(&two, &app)[0]["id"].clone();
    let ask = Ask::delete("/2/connections").bearer(&app.bearer);
    let killed = two.send(ask.json(&json!({ "uuids": [newest] }))).is(200);
    assert_eq!(killed["data"]["successful_kills"], 1);
    assert_eq!(again.farewell(), "ForceDisconnect");
    let mut there = Listener::open(&two, STREAM, &app.bearer);
    one.cli(&["app", "rotate", &app.id, "bearer"]).well();
    for stream in [&mut here, &mut there] {
        assert_eq!(stream.farewell(), "ClientApplicationStateDegraded");
    }
}
