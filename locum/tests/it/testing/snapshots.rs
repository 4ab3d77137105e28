//! Resets and snapshots of a served world.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::backup::files_under;
use crate::harness::{DatabaseEngine, StreamClient, TestRequest, TestServer, wait_until};
use crate::media::{samples, upload_request};

const RULES: &str = "/2/tweets/search/stream/rules";

fn start() -> TestServer {
    TestServer::start_on_engine(DatabaseEngine::Sqlite, &[])
}

fn first_answers(server: &TestServer) -> Vec<Vec<u8>> {
    let bearer = server.env_value("BEARER_TOKEN");
    let user = server.env_value("USER_TOKEN");
    let id = server.env_value("USER_ID");
    let targets = [
        (bearer, "/2/users/by/username/ada?user.fields=public_metrics,created_at".to_owned()),
        (bearer, format!("/2/users/{id}/tweets?max_results=20&tweet.fields=created_at,entities")),
        (user, format!("/2/users/{id}/timelines/reverse_chronological?max_results=20")),
        (bearer, "/2/tweets/search/recent?query=from:ada&max_results=10".to_owned()),
        (user, "/2/users/me".to_owned()),
    ];
    let answers = targets.into_iter().map(|(token, target)| {
        let response = server.send(TestRequest::get(target).bearer(token));
        response.assert_status(200);
        response.body
    });
    answers.collect()
}

fn publish(server: &TestServer, text: &str) -> String {
    let request = TestRequest::post("/2/tweets").json(&json!({ "text": text })).bearer(server.env_value("USER_TOKEN"));
    let created = server.send(request).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

fn status_of(server: &TestServer, id: &str) -> Value {
    let request = TestRequest::get(format!("/2/tweets/{id}")).bearer(server.env_value("BEARER_TOKEN"));
    server.send(request).json()
}

fn exists(server: &TestServer, id: &str) -> bool {
    status_of(server, id)["data"]["id"] == id
}

#[test]
fn reset_returns_to_the_first_answers_and_keys() {
    let server = start();
    let before = first_answers(&server);
    let post = publish(&server, "soon forgotten");
    assert!(exists(&server, &post));
    server.run_cli(&["user", "create", "temporary", "--password", "a long secret"]).assert_success();
    let replaced = server.run_cli(&["reset"]).json();
    assert!(replaced["milliseconds"].as_f64().unwrap() > 0.0, "{replaced}");
    assert!(!exists(&server, &post));
    let after = first_answers(&server);
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    }
    let again = publish(&server, "after the reset");
    assert!(exists(&server, &again));
}

#[test]
fn resets_without_a_pause_and_at_the_same_time_leave_the_seed() {
    let server = start();
    let reset = || drop(server.call_control(TestRequest::post("/control/v1/reset")).assert_status(200));
    let assert_has_seed = || {
        let ada = TestRequest::get("/2/users/by/username/ada").bearer(server.env_value("BEARER_TOKEN"));
        assert_eq!(server.send(ada).assert_status(200)["data"]["username"], "ada");
    };
    for _ in 0..10 {
        reset();
        reset();
        assert_has_seed();
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..3).for_each(|_| reset()));
        }
    });
    assert_has_seed();
    wait_until("the replaced files are removed", || {
        ["staged", "replaced", "removed"].iter().all(|name| {
            let mut left = std::fs::read_dir(server.data_dir().join(name)).into_iter().flatten();
            left.next().is_none()
        })
    });
}

#[test]
fn world_with_media_on_another_file_system_is_reset_and_loaded() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let media = elsewhere.path().join("media");
    let setting = format!("media.dir={}", media.display());
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &["--set", &setting]);
    server.run_cli(&["reset"]).assert_success();
    let seed = files_under(&media);
    server.run_cli(&["snapshot", "save", "seed"]).assert_success();
    for command in [&["reset"][..], &["snapshot", "load", "seed"]] {
        let upload = upload_request("tweet_image", &samples::png(40, 30));
        server.send(upload.bearer(server.env_value("USER_TOKEN"))).assert_status(200);
        assert!(files_under(&media).len() > seed.len());
        server.run_cli(command).assert_success();
        assert_eq!(files_under(&media), seed, "{command:?}");
    }
    wait_until("no copies are left", || {
        let copies = ["staged", "replaced", "removed"].map(|name| media.with_extension(format!("locum-{name}")));
        copies.iter().all(|copy| std::fs::read_dir(copy).into_iter().flatten().next().is_none())
    });
}

#[test]
fn snapshot_load_undoes_writes_and_disconnects_streams() {
    let server = start();
    let kept = publish(&server, "kept");
    server.run_cli(&["snapshot", "save", "before"]).assert_success();
    let lost = publish(&server, "lost");
    let bearer = server.env_value("BEARER_TOKEN");
    let rule = json!({ "add": [{ "value": "anything" }] });
    server.send(TestRequest::post(RULES).json(&rule).bearer(bearer)).assert_status(201);
    let mut stream = StreamClient::open(&server, "/2/tweets/search/stream", bearer);
    server.run_cli(&["snapshot", "load", "before"]).assert_success();
    assert_eq!(stream.disconnect_type(), "OperationalDisconnect");
    assert!(exists(&server, &kept) && !exists(&server, &lost));
    let next = publish(&server, "next");
    assert!(next.parse::<i64>().unwrap() > lost.parse::<i64>().unwrap(), "{next} {lost}");
    let query = "/2/tweets/search/recent?query=from:ada&max_results=10";
    wait_until("the new post is found, and the lost one is not", || {
        let found = server.send(TestRequest::get(query).bearer(bearer)).text();
        found.contains(&next) && found.contains(&kept) && !found.contains(&lost)
    });
}

#[test]
fn load_during_writes_answers_each_request_from_one_side_of_it() {
    let server = start();
    server.run_cli(&["snapshot", "save", "base"]).assert_success();
    let stop = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (server, stop) = (&server, &stop);
                scope.spawn(move || {
                    let mut written = Vec::new();
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        number += 1;
                        let body = json!({ "text": format!("{writer} {number}") });
                        let token = server.env_value("USER_TOKEN");
                        let response = server.send(TestRequest::post("/2/tweets").json(&body).bearer(token));
                        let created = response.assert_status(201);
                        written.push(created["data"]["id"].as_str().unwrap().to_owned());
                    }
                    written
                })
            })
            .collect();
        wait_until("posts are written", || server.send(TestRequest::get("/readyz")).status == 200);
        for _ in 0..3 {
            server.run_cli(&["snapshot", "load", "base"]).assert_success();
        }
        stop.store(true, Ordering::Relaxed);
        let written: Vec<Vec<String>> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        written
    });
    for of_writer in &written {
        // Those before the last load are gone, all others are there.
        let present: Vec<bool> = of_writer.iter().map(|id| exists(&server, id)).collect();
        let first = present.iter().position(|there| *there).unwrap_or(present.len());
        assert!(present.iter().skip(first).all(|there| *there), "{present:?}");
    }
    let mut ids: Vec<&String> = written.iter().flatten().collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "no id was issued twice");
}

#[test]
fn comparison_names_the_rows_that_changed() {
    let server = start();
    server.run_cli(&["snapshot", "save", "one"]).assert_success();
    let post = publish(&server, "a difference");
    let found = server.run_cli(&["snapshot", "diff", "one"]).json();
    let tables = found["tables"].as_array().unwrap();
    let posts = tables.iter().find(|table| table["table"] == "post").unwrap();
    assert_eq!(posts["added"], 1, "{posts}");
    assert!(posts.to_string().contains(&post), "{posts}");
    server.run_cli(&["snapshot", "save", "two"]).assert_success();
    let between = server.run_cli(&["snapshot", "diff", "one", "two"]).json();
    assert!(between.to_string().contains(&post), "{between}");
}

#[test]
fn snapshots_that_cannot_be_used_are_refused_and_change_nothing() {
    let server = start();
    server.run_cli(&["snapshot", "save", "one"]).assert_success();
    let post = publish(&server, "stays");
    let refused_with = |code: i32, args: &[&str], words: &str| {
        let output = server.run_cli(args);
        output.assert_exit_code(code);
        assert!(output.stderr.contains(words), "{args:?}: {}", output.stderr);
    };
    let refused = |args: &[&str], words: &str| refused_with(1, args, words);
    refused(&["snapshot", "save", "one"], "already a snapshot named [one]");
    refused_with(2, &["snapshot", "save", "a/b"], "letters, digits");
    refused_with(2, &["snapshot", "save", "demo"], "built-in");
    refused(&["snapshot", "load", "two"], "there are: one");
    refused(&["snapshot", "diff", "two"], "no snapshot named [two]");
    refused(&["snapshot", "rm", "two"], "no snapshot named [two]");
    let manifest = server.data_dir().join("snapshots/one/snapshot.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut changed: Value = serde_json::from_str(&text).unwrap();
    changed["schema"] = 1.into();
    std::fs::write(&manifest, changed.to_string()).unwrap();
    refused(&["snapshot", "load", "one"], "schema 1");
    std::fs::write(&manifest, "{").unwrap();
    refused(&["snapshot", "load", "one"], "damaged");
    std::fs::write(&manifest, text).unwrap();
    std::fs::write(server.data_dir().join("snapshots/one/locum.db"), "not a database").unwrap();
    server.run_cli(&["snapshot", "load", "one"]).assert_exit_code(1);
    assert!(exists(&server, &post));
    server.run_cli(&["snapshot", "rm", "one"]).assert_success();
    let listed = server.run_cli(&["snapshot", "list"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn loaded_world_survives_a_restart() {
    let mut server = start();
    let kept = publish(&server, "kept");
    server.run_cli(&["snapshot", "save", "one"]).assert_success();
    let lost = publish(&server, "lost");
    server.run_cli(&["snapshot", "load", "one"]).assert_success();
    server.crash_and_restart();
    assert!(exists(&server, &kept) && !exists(&server, &lost));
    server.run_cli(&["reset"]).assert_success();
    assert!(!exists(&server, &kept));
}
