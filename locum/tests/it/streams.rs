//! Streams of posts as their clients meet them: what comes, when, and how they end.

mod connections;
mod likes;
mod nodes;

use std::io::{Read as _, Write as _};
use std::time::Duration;

use base::clock::monotonic_now;
use serde_json::{Value, json};

use crate::harness::{
    StreamClient, TestApp, TestRequest, TestResponse, TestServer, TestUser, shared_server, unique_number, wait_until,
};

const STREAM: &str = "/2/posts/search/stream";
const RULES: &str = "/2/posts/search/stream/rules";

/// A word that no other test writes.
pub(crate) fn word() -> String {
    format!("word{}x{}", std::process::id(), unique_number())
}

#[track_caller]
pub(crate) fn add_rules(server: &TestServer, app: &TestApp, rules: &[(&str, &str)]) -> Vec<String> {
    let rules = rules.iter().map(|(value, tag)| json!({ "value": value, "tag": tag }));
    let body = json!({ "add": rules.collect::<Value>() });
    let created = server.send(TestRequest::post(RULES).bearer(&app.bearer).json(&body));
    let created = created.assert_status(201);
    let created = created["data"].as_array().unwrap().iter();
    created.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn connect(app: &TestApp, query: &str) -> StreamClient {
    StreamClient::open(shared_server(), &format!("{STREAM}{query}"), &app.bearer)
}

/// An app with a contract, a rule for a word of its own, and the word.
fn watcher(level: &str) -> (TestApp, String) {
    let (app, word) = (shared_server().new_app(level), word());
    add_rules(shared_server(), &app, &[(&word, "")]);
    (app, word)
}

fn connections(app: &TestApp, query: &str) -> Vec<Value> {
    let request = TestRequest::get(format!("/2/connections{query}")).bearer(&app.bearer);
    let body = shared_server().send(request).assert_status(200);
    body["data"].as_array().cloned().unwrap_or_default()
}

#[test]
fn matching_post_is_streamed_with_its_rules_fields_and_expansions() {
    let (app, word) = (shared_server().new_app("self-serve"), word());
    let author = shared_server().new_user("author");
    let from = format!("from:{} {word}", author.username);
    let ids = add_rules(shared_server(), &app, &[(&word, "by word"), (&from, "")]);
    let query = "?post.fields=created_at,public_metrics&expansions=author_id&user.fields=verified";
    let mut stream = connect(&app, query);
    assert!(stream.head.to_lowercase().contains("content-type: application/json"), "{}", stream.head);
    author.publish_text("nothing that anybody waits for");
    let start = monotonic_now();
    let id = author.publish_text(&format!("Here is {word}, <at last>\nin two lines"));
    let message = stream.next_message();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let mut members: Vec<&String> = message.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["data", "includes", "matching_rules"]);
    let mut rules = message["matching_rules"].clone();
    rules.as_array_mut().unwrap().sort_by_key(|rule| rule["id"].to_string());
    let mut expected = json!([{ "id": ids[0], "tag": "by word" }, { "id": ids[1], "tag": "" }]);
    expected.as_array_mut().unwrap().sort_by_key(|rule| rule["id"].to_string());
    assert_eq!(rules, expected);
    // The same object as a look-up shows.
    let seen =
        shared_server().send(TestRequest::get(format!("/2/posts/{id}{query}")).bearer(&app.bearer)).assert_status(200);
    assert_eq!(message["data"], seen["data"]);
    assert_eq!(message["includes"], seen["includes"]);
    assert_eq!(message["includes"]["users"][0]["username"], author.username.as_str());
    // By another author, under one rule; in the order in which they are written.
    let other = shared_server().new_user("other");
    for number in 0..5 {
        other.publish_text(&format!("{word} {number}"));
    }
    for number in 0..5 {
        let message = stream.next_message();
        assert_eq!(message["data"]["text"], format!("{word} {number}"));
        assert_eq!(message["matching_rules"], json!([{ "id": ids[0], "tag": "by word" }]));
    }
    stream.assert_silent();
}

#[test]
fn stream_sends_replies_quotes_reposts_and_edits_but_no_hidden_posts() {
    let (app, word) = watcher("self-serve");
    let author = shared_server().new_user_with("author", &["--subscription-type", "Premium"]);
    let other = shared_server().new_user("other");
    let locked = shared_server().new_user_with("locked", &["--protected"]);
    let mut stream = connect(&app, "?tweet.fields=referenced_tweets");
    locked.publish_text(&format!("{word} for followers"));
    let id = author.publish_text(&format!("{word} first"));
    let first = stream.next_message();
    assert_eq!(first["data"]["id"], id.as_str(), "not the protected one: {first}");
    assert_eq!(first["data"]["edit_history_tweet_ids"], json!([id]));
    // What is quoted counts; what is reposted is shown with its own text.
    other.create_post(&json!({ "text": "look at this", "quote_tweet_id": id })).assert_status(201);
    let quote = stream.next_message();
    assert_eq!(quote["data"]["referenced_tweets"][0]["type"], "quoted", "{quote}");
    let repost = format!("/2/users/{}/reposts", other.id);
    other.post(repost, &json!({ "post_id": id })).assert_status(200);
    let reposted = stream.next_message();
    assert_eq!(reposted["data"]["text"], format!("RT @{}: {word} first", author.username));
    // Each version is an item of its own.
    let edited = author
        .create_post(&json!({
            "text": format!("{word} second"), "edit_options": { "previous_post_id": id },
        }))
        .assert_status(201)["data"]["id"]
        .clone();
    let message = stream.next_message();
    assert_eq!(message["data"]["id"], edited);
    assert_eq!(message["data"]["edit_history_tweet_ids"], json!([id, edited]));
    // A deletion is not announced, and what was deleted is not sent later.
    author.delete(format!("/2/posts/{}", edited.as_str().unwrap())).assert_status(200);
    stream.assert_silent();
}

#[test]
fn rule_changes_take_effect_on_an_open_stream() {
    let (app, word) = (shared_server().new_app("self-serve"), word());
    let [one, two] = [format!("{word}one"), format!("{word}two")];
    let first = add_rules(shared_server(), &app, &[(&one, "")]);
    let author = shared_server().new_user("author");
    let mut stream = connect(&app, "");
    author.publish_text(&format!("{one} a"));
    author.publish_text(&format!("{two} b"));
    add_rules(shared_server(), &app, &[(&two, "new")]);
    author.publish_text(&format!("{two} c"));
    assert_eq!(stream.next_texts(2), [format!("{one} a"), format!("{two} c")]);
    let body = json!({ "delete": { "ids": first } });
    shared_server().send(TestRequest::post(RULES).bearer(&app.bearer).json(&body)).assert_status(200);
    author.publish_text(&format!("{one} d"));
    author.publish_text(&format!("{two} e"));
    assert_eq!(stream.next_texts(1), [format!("{two} e")]);
    stream.assert_silent();
}

#[test]
fn backfill_sends_each_missed_post_once() {
    let (app, word) = watcher("enterprise");
    let author = shared_server().new_user("author");
    let mut stream = connect(&app, "");
    author.publish_text(&format!("{word} before"));
    assert_eq!(stream.next_texts(1), [format!("{word} before")]);
    drop(stream);
    for number in 0..3 {
        author.publish_text(&format!("{word} gap {number}"));
    }
    author.publish_text("something else");
    // Posts go on while the past is read.
    let writer = std::thread::spawn({
        let (author, word) = (author.clone(), word.clone());
        move || {
            for number in 0..20 {
                author.publish_text(&format!("{word} live {number}"));
            }
        }
    });
    let mut stream = connect(&app, "?backfill_minutes=5");
    let texts = stream.next_texts(24);
    writer.join().unwrap();
    let gap = ["before", "gap 0", "gap 1", "gap 2"].map(str::to_owned);
    let live = (0..20).map(|number| format!("live {number}"));
    let expected: Vec<String> = gap.into_iter().chain(live).map(|text| format!("{word} {text}")).collect();
    assert_eq!(texts, expected);
    author.publish_text(&format!("{word} after"));
    assert_eq!(stream.next_texts(1), [format!("{word} after")]);
    stream.assert_silent();
}

#[test]
fn backfill_needs_a_contract_and_valid_bounds() {
    let (app, _) = watcher("self-serve");
    let (enterprise, _) = watcher("enterprise");
    let refused = |app: &TestApp, query: &str| {
        let request = TestRequest::get(format!("{STREAM}?{query}")).bearer(&app.bearer);
        shared_server().send(request).assert_problem(400, "invalid-request");
    };
    let at = |seconds: i64| base::clock::wall_time().plus_ms(seconds * 1000).to_string();
    refused(&app, "backfill_minutes=1");
    refused(&app, &format!("start_time={}&end_time={}", at(-60), at(-20)));
    for query in [
        "backfill_minutes=6".to_owned(),
        "backfill_minutes=-1".to_owned(),
        "backfill_minutes=x".to_owned(),
        format!("start_time={}", at(-60)),
        format!("end_time={}", at(-60)),
        format!("start_time={}&end_time={}", at(-60), at(-2)),
        format!("start_time={}&end_time={}", at(-60), at(-61)),
        format!("start_time={}&end_time={}", at(-90_000), at(-20)),
        format!("start_time={}&end_time={}&backfill_minutes=1", at(-60), at(-20)),
        "start_time=yesterday&end_time=today".to_owned(),
        "post.fields=nothing".to_owned(),
        "color=red".to_owned(),
    ] {
        refused(&enterprise, &query);
    }
    assert!(connections(&enterprise, "?status=all").is_empty());
    let body = shared_server()
        .send(TestRequest::get("/2/posts/firehose/stream?partition=1").bearer(&app.bearer))
        .assert_problem(403, "client-forbidden");
    assert_eq!(body["reason"], "client-not-enrolled");
    let user = shared_server().new_user("person");
    user.get(STREAM).assert_problem(403, "unsupported-authentication");
    assert_eq!(shared_server().send(TestRequest::get(STREAM)).status, 401);
}

#[test]
fn compliance_streams_send_events_by_partition() {
    let app = shared_server().new_app("enterprise");
    let open = |target: &str| StreamClient::open(shared_server(), target, &app.bearer);
    let (mut of_posts, mut of_users) = (compliance_partitions(&app, "posts"), compliance_partitions(&app, "users"));
    let mut of_likes = open("/2/likes/compliance/stream");
    let mut labels = open("/2/tweets/label/stream");
    let author = shared_server().new_user_with("author", &["--subscription-type", "Premium"]);
    let locked = shared_server().new_user_with("locked", &["--protected"]);
    let first = author.publish_text("what will become of it");
    let quoted = author.publish_text("to be quoted");
    let quote = author
        .create_post(&json!({ "text": "to be deleted", "quote_tweet_id": quoted }))
        .assert_status(201)["data"]["id"]
        .clone();
    let edit = json!({ "text": "edited", "edit_options": { "previous_post_id": first } });
    let second = author.create_post(&edit).assert_status(201)["data"]["id"].clone();
    author.delete(format!("/2/posts/{}", quote.as_str().unwrap())).assert_status(200);
    let hidden = locked.publish_text("of no concern");
    locked.delete(format!("/2/posts/{hidden}")).assert_status(200);
    let likes = format!("/2/users/{}/likes", author.id);
    author.post(&likes, &json!({ "post_id": quoted })).assert_status(200);
    author.delete(format!("{likes}/{quoted}")).assert_status(200);
    shared_server().run_cli(&["user", "suspend", &author.username]).assert_success();
    shared_server().run_cli(&["user", "restore", &author.username]).assert_success();
    shared_server().run_cli(&["user", "withhold", &author.username, "DE"]).assert_success();
    shared_server().run_cli(&["user", "withhold", &author.username]).assert_success();

    let mut response = collected(&mut of_posts, 2, &[&author.id, &locked.id]);
    let at = |response: &mut Value, name: &str| {
        let time = response[name]["event_at"].take();
        assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
        response[name].clone()
    };
    response.sort_by_key(|one| one.get("delete").is_some());
    let tweet = json!({ "id": second, "author_id": author.id });
    let edited = json!({
        "tweet": tweet, "event_at": null,
        "initial_tweet_id": first, "edit_tweet_ids": [first, second],
    });
    assert_eq!(at(&mut response[0], "tweet_edit"), edited);
    let tweet = json!({ "id": quote, "author_id": author.id });
    let deleted = json!({ "tweet": tweet, "event_at": null, "quote_tweet_id": quoted });
    assert_eq!(at(&mut response[1], "delete"), deleted);
    let mut response = collected(&mut of_users, 4, &[&author.id]);
    for (event, name) in response.iter_mut().zip(["user_suspend", "user_unsuspend"]) {
        assert_eq!(at(event, name), json!({ "user": { "id": author.id }, "event_at": null }));
    }
    for (event, countries) in response[2..].iter_mut().zip([json!(["DE"]), json!([])]) {
        let user = json!({ "id": author.id });
        let expected = json!({ "user": user, "event_at": null, "withheld_in_countries": countries });
        assert_eq!(at(event, "user_withheld"), expected);
    }
    let unlike = next_unlike(&mut of_likes, &author.id);
    assert_eq!(unlike, json!({ "id": quoted, "user_id": author.id }));
    labels.assert_silent();
}

fn compliance_partitions(app: &TestApp, kind: &str) -> Vec<StreamClient> {
    let open = |part| {
        let target = format!("/2/{kind}/compliance/stream?partition={part}");
        StreamClient::open(shared_server(), &target, &app.bearer)
    };
    (1..=4).map(open).collect()
}

/// Skips likes that other tests take back at the same time.
fn next_unlike(stream: &mut StreamClient, user_id: &str) -> Value {
    loop {
        let favorite = stream.next_message()["data"]["delete"]["favorite"].take();
        if favorite["user_id"] == user_id {
            return favorite;
        }
    }
}

/// What streams tell of some users, until there is so much of it and no more.
fn collected(streams: &mut [StreamClient], count: usize, of: &[&String]) -> Vec<Value> {
    let mut found = Vec::new();
    wait_until("all is told", || {
        for stream in &mut *streams {
            while let Some(message) = stream.next_within(Duration::from_millis(20)) {
                let text = message["data"].to_string();
                if of.iter().any(|id| text.contains(id.as_str())) {
                    found.push(message["data"].clone());
                }
            }
        }
        found.len() >= count
    });
    for stream in streams {
        while let Some(message) = stream.next_within(Duration::from_millis(20)) {
            let text = message["data"].to_string();
            assert!(!of.iter().any(|id| text.contains(id.as_str())), "{text}");
        }
    }
    found
}

#[test]
fn sample_is_a_stable_hundredth_and_partitions_are_disjoint() {
    let app = shared_server().new_app("enterprise");
    let open = |target: &str| StreamClient::open(shared_server(), target, &app.bearer);
    let mut sample = open("/2/posts/sample/stream");
    let mut tenths = [1, 2].map(|part| open(&format!("/2/posts/sample10/stream?partition={part}")));
    let mut all: Vec<StreamClient> =
        (1..=20).map(|part| open(&format!("/2/posts/firehose/stream?partition={part}"))).collect();
    let word = word();
    let author = shared_server().new_user("author");
    let ids: Vec<String> = (0..60).map(|number| author.publish_text(&format!("{word} {number}"))).collect();
    let (mut parts, mut came) = (vec![Vec::new(); 20], 0);
    wait_until("every post has come", || {
        for (part, stream) in parts.iter_mut().zip(&mut all) {
            let found = ours(stream, &ids);
            came += found.len();
            part.extend(found);
        }
        came >= ids.len()
    });
    let mut found = parts.concat();
    found.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(found, expected, "each in one part");
    assert!(parts.iter().filter(|part| !part.is_empty()).count() > 10);
    let tenth: Vec<String> = tenths.iter_mut().flat_map(|one| ours(one, &ids)).collect();
    assert!(tenth.len() < 20 && tenth.iter().all(|id| ids.contains(id)), "{tenth:?}");
    let hundredth = ours(&mut sample, &ids);
    assert!(hundredth.iter().all(|id| tenth.contains(id)), "{hundredth:?}");
}

/// Letters of so many characters, none twice.
fn long(word: &str, number: usize) -> String {
    let filler = format!(" letters{number}").repeat(3_000);
    let text: String = filler.chars().take(24_900 - word.len()).collect();
    format!("{word}{text}")
}

#[test]
fn slow_client_is_disconnected_without_affecting_others() {
    let (app, word) = watcher("enterprise");
    let author = shared_server().new_user_with("author", &["--subscription-type", "Premium"]);
    let target = format!("{STREAM}?post.fields=note_post");
    let (_unread, head) = StreamClient::connect_raw(shared_server(), &target, &app.bearer);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut stream = connect(&app, "?post.fields=note_post");
    let mut sent = 0;
    while connections(&app, "").len() == 2 {
        assert!(sent < 2_000, "it is never let go");
        for _ in 0..20 {
            let text = long(&word, sent);
            author.publish_text(&text);
            assert_eq!(stream.next_message()["data"]["note_post"]["text"], text);
            sent += 1;
        }
    }
    let past = connections(&app, "?status=inactive");
    assert_eq!(past[0]["disconnect_reason"], "slow_reader");
    // Its slot is free although it still holds its socket.
    let mut again = connect(&app, "");
    author.publish_text(&format!("{word} last"));
    assert_eq!(stream.next_texts(1), [format!("{word} last")]);
    assert_eq!(again.next_texts(1), [format!("{word} last")]);
}

#[test]
fn stream_sends_keep_alives_backfill_and_its_disconnect_reason() {
    let mut server = TestServer::start(&["--set", "limits.stream_keep_alive=200ms"]);
    let (app, word) = (server.new_app("enterprise"), word());
    add_rules(&server, &app, &[(&word, "kept")]);
    let author = server.new_user("author");
    let listen =
        |server: &TestServer, query: &str| StreamClient::open(server, &format!("{STREAM}{query}"), &app.bearer);
    let before = base::clock::wall_time();
    let mut stream = listen(&server, "");
    author.publish_text(&format!("{word} one"));
    author.publish_text(&format!("{word} two"));
    assert_eq!(stream.next_texts(2), [format!("{word} one"), format!("{word} two")]);
    let beaten = stream.keep_alives;
    assert!(stream.next_within(Duration::from_secs(11)).is_none());
    let beats = stream.keep_alives - beaten;
    // A busy machine is late with some, and with some of those before.
    assert!((10..75).contains(&beats), "{beats} in eleven seconds");
    author.publish_text(&format!("{word} three"));
    // A replay ends where it was asked to, beside the streams that are open.
    let at = |time: base::Time| time.to_string();
    let end = base::clock::wall_time().plus_ms(-10_000);
    let query = format!("?start_time={}&end_time={}", at(before.plus_ms(-1000)), at(end));
    let mut replay = listen(&server, &query);
    assert_eq!(replay.next_texts(2), [format!("{word} one"), format!("{word} two")]);
    let (ended, last) = replay.wait_for_end();
    assert!(ended && last.is_none(), "{last:?}");
    // The server goes: it says so, at once.
    assert_eq!(stream.next_texts(1), [format!("{word} three")]);
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(stream.disconnect_type(), "OperationalDisconnect");
    // Rules are kept, and what was sent to nobody is in the past.
    server.restart();
    let mut stream = listen(&server, "?backfill_minutes=5");
    assert_eq!(stream.next_texts(3).last().unwrap(), &format!("{word} three"));
    server.crash_and_restart();
    let list = |status: &str| {
        let request = TestRequest::get(format!("/2/connections?status={status}")).bearer(&app.bearer);
        server.send(request).assert_status(200)["data"].clone()
    };
    wait_until("what was open is in the past", || list("active").is_null());
    let reasons: Vec<Value> =
        list("inactive").as_array().unwrap().iter().map(|one| one["disconnect_reason"].clone()).collect();
    assert_eq!(reasons, ["server_shutdown", "finished", "server_shutdown"]);
}

#[test]
fn compressed_stream_is_readable_as_it_arrives() {
    let (app, word) = watcher("self-serve");
    let author = shared_server().new_user("author");
    let address = shared_server().url.strip_prefix("http://").unwrap();
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "GET {STREAM} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         accept-encoding: gzip\r\n\r\n",
        app.bearer
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut response = Vec::new();
    read_until(&mut socket, &mut response, b"\r\n\r\n");
    let head = String::from_utf8_lossy(&response).to_lowercase();
    assert!(head.contains("content-encoding: gzip"), "{head}");
    for number in 0..3 {
        author.publish_text(&format!("{word} {number}"));
        // A chunk, whole.
        response.clear();
        read_until(&mut socket, &mut response, b"\r\n");
        let size = std::str::from_utf8(&response).unwrap().trim();
        let size = usize::from_str_radix(size, 16).unwrap();
        let mut chunk = vec![0; size + 2];
        socket.read_exact(&mut chunk).unwrap();
        let first = chunk.starts_with(&[0x1f, 0x8b]);
        assert_eq!(first, number == 0, "one head, then blocks");
        assert!(chunk.ends_with(&[0, 0, 0xff, 0xff, b'\r', b'\n']), "a whole block");
    }
}

fn read_until(socket: &mut std::net::TcpStream, into: &mut Vec<u8>, end: &[u8]) {
    let mut byte = [0];
    while !into.ends_with(end) {
        socket.read_exact(&mut byte).unwrap();
        into.push(byte[0]);
    }
}

/// Those of some posts that have come on a stream.
fn ours(stream: &mut StreamClient, ids: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(message) = stream.next_within(Duration::from_millis(1)) {
        assert!(message.get("matching_rules").is_none());
        let id = message["data"]["id"].as_str().unwrap().to_owned();
        if ids.contains(&id) {
            found.push(id);
        }
    }
    found
}
