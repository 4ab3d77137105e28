//! A store that takes nothing for a while: what is refused then has not happened, and the service
//! goes on by itself when the store does.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::harness::{DatabaseEngine, TestRequest, TestServer, TestUser, suite_engine, wait_until};

/// A small file system in memory, gone with the test.
struct Small<'p>(&'p Path);

impl<'p> Small<'p> {
    /// None where this machine lets nobody make one.
    fn make(place: &'p Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(place).unwrap();
        let options = format!("size={size}");
        let args = ["-t", "tmpfs", "-o", &options, "tmpfs"];
        let created = Command::new("mount").args(args).arg(place).output().ok()?;
        created.status.success().then_some(Self(place))
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.0.join("ballast")
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let block = vec![0; 64 << 10];
        let mut ballast = std::fs::File::create(self.ballast()).unwrap();
        while std::io::Write::write_all(&mut ballast, &block).is_ok() {}
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(self.0).output());
    }
}

/// Says something; its id, or none where the store takes nothing.
fn says(server: &TestServer, user: &TestUser<'_>, text: &str) -> Option<String> {
    let request = TestRequest::post("/2/posts").json(&json!({ "text": text }));
    let response = server.send(request.bearer(&user.token));
    if response.status == 201 {
        return Some(response.json()["data"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("retry-after"), "1");
    assert_eq!(response.json()["status"], 503);
    None
}

/// What they said, newest first, as their timeline tells.
fn said(server: &TestServer, user: &TestUser<'_>) -> Vec<String> {
    let path = format!("/2/users/{}/posts?max_results=100", user.id);
    let mut page = server.send(TestRequest::get(path.as_str()).bearer(&user.token)).assert_status(200);
    let mut all = Vec::new();
    loop {
        let posts = page["data"].as_array().cloned().unwrap_or_default();
        all.extend(posts.iter().map(|post| post["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["meta"]["next_token"].as_str() else {
            return all;
        };
        let next = format!("{path}&pagination_token={next}");
        page = server.send(TestRequest::get(next).bearer(&user.token)).assert_status(200);
    }
}

/// Runs a test with a server whose data directory is on a small file system; not on PostgreSQL, and only where a test
/// may mount one.
fn with_small_disk(test: impl FnOnce(&mut TestServer, &Small<'_>)) {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::prepare(&["--world", "empty"]);
    let place = server.data_dir();
    let Some(small) = Small::make(&place, "48m") else {
        println!("this machine lets no test mount a file system");
        return;
    };
    server.restart();
    test(&mut server, &small);
    server.kill();
}

#[test]
fn full_disk_refuses_writes_and_serves_reads() {
    with_small_disk(|server, small| {
        let stored = fill_and_free(server, small);
        assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
        // The same after a crash.
        server.kill();
        server.restart();
        let asker = server.new_user("reader");
        for ids in stored.chunks(100) {
            let request = TestRequest::get(format!("/2/posts?ids={}", ids.join(","))).bearer(&asker.token);
            let found = server.send(request).assert_status(200);
            assert_eq!(found["data"].as_array().unwrap().len(), ids.len());
        }
    });
}

#[test]
fn signed_reads_are_answered_and_replays_refused_on_a_full_disk() {
    with_small_disk(|server, small| {
        let headers = read_signed_on_full_disk(server, small);
        server.crash_and_restart();
        for header in headers {
            let replay = server.send(TestRequest::get("/2/users/me").authorization(header));
            assert_eq!(replay.status, 401, "{}", replay.text());
        }
    });
}

/// Returns the headers of requests that were accepted while there was no room, and are written since.
fn read_signed_on_full_disk(server: &TestServer, small: &Small<'_>) -> Vec<String> {
    let user = server.new_user("signer");
    let me = || TestRequest::get("/2/users/me");
    let sign = || me().oauth1_header(&user.oauth1_credentials(), &server.url);
    let send = |header: &String| server.send(me().authorization(header)).status;
    assert_eq!(send(&sign()), 200);
    small.fill();
    // More than fit into the block that the journal has.
    let headers: Vec<String> = (0..200).map(|_| sign()).collect();
    for header in &headers {
        assert_eq!(send(header), 200);
    }
    assert_eq!(headers.iter().map(send).filter(|status| *status == 401).count(), headers.len());
    let readiness = server.send(TestRequest::get("/readyz"));
    assert_eq!((readiness.status, readiness.text().as_str()), (503, "the disk is full\n"));
    assert_eq!(server.send(TestRequest::get("/livez")).status, 200);

    std::fs::remove_file(small.ballast()).unwrap();
    assert_eq!(server.send(TestRequest::get("/readyz")).status, 200);
    assert_eq!(send(&sign()), 200);
    headers
}

/// Writes until there is no room, frees some and writes again; all that was acknowledged.
fn fill_and_free(server: &TestServer, small: &Small<'_>) -> Vec<String> {
    let user = server.new_user("writer");
    let mut stored: Vec<String> =
        (0..20).filter_map(|number| says(server, &user, &format!("Entry {number}"))).collect();
    assert_eq!(stored.len(), 20);
    small.fill();
    let long = "room ".repeat(50);
    let refused = (0..20_000).find(|number| {
        let some = says(server, &user, &format!("{number} {long}"));
        let none = some.is_none();
        stored.extend(some);
        none
    });
    assert!(refused.is_some(), "the disk was never full");
    stored.reverse();
    assert_eq!(said(server, &user), stored, "what was acknowledged and nothing else");
    std::fs::remove_file(small.ballast()).unwrap();
    wait_until("writes are taken again", || {
        let some = says(server, &user, "There is room");
        let taken = some.is_some();
        stored.splice(0..0, some);
        taken
    });
    assert_eq!(said(server, &user), stored);
    stored
}

#[test]
fn server_recovers_when_the_database_is_reachable_again() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("writer");
    let before = says(&server, &user, "Before").unwrap();
    server.database().set_closed(true);
    wait_until("writes are refused", || says(&server, &user, "Meanwhile").is_none());
    server.database().set_closed(false);
    wait_until("writes are taken again", || says(&server, &user, "After").is_some());
    let message = said(&server, &user);
    assert!(message.contains(&before), "{message:?}");
}
