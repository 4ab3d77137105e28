//! The index of a killed process agrees with the database when the next one serves.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{ids, total};
use crate::harness::{TestRequest, TestResponse, TestRng, TestServer, suite_setting, unique_number, wait_until};

/// A user and the posts whose fate was acknowledged.
struct Writer {
    token: String,
    rng: TestRng,
    live: Vec<String>,
    gone: HashSet<String>,
}

impl Writer {
    fn new(server: &TestServer, seed: u64) -> Self {
        let user = server.new_user_with("writer", &["--subscription-type", "Premium"]);
        Self { token: user.token, rng: TestRng(seed), live: Vec::new(), gone: HashSet::new() }
    }

    /// Creates, edits, deletes and searches until the server is gone.
    fn run(&mut self, server: &TestServer, count: &AtomicUsize) {
        while self.take_step(server).is_some() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// None if the server did not answer; what a lost request did is not known.
    fn take_step(&mut self, server: &TestServer) -> Option<()> {
        // Mostly the newest, which are in the segments of the last commits.
        let range = if self.rng.below(4) == 0 { self.live.len() } else { self.live.len().min(3) };
        let chosen = self.live.len().saturating_sub(1 + self.rng.below(range.max(1)));
        match self.rng.below(10) {
            0 | 1 => drop(self.send(server, TestRequest::get("/2/posts/search/recent?query=lasting"), 200)?),
            2..=4 if chosen < self.live.len() => {
                let id = self.live.swap_remove(chosen);
                self.send(server, TestRequest::delete(format!("/2/posts/{id}")), 200)?;
                self.gone.insert(id);
            }
            5 if chosen < self.live.len() => {
                let id = self.live.swap_remove(chosen);
                let edited = self.create(server, &json!({ "edit_options": { "previous_post_id": id } }))?;
                self.gone.insert(id);
                self.live.push(edited);
            }
            _ => {
                let created = self.create(server, &json!({}))?;
                self.live.push(created);
            }
        }
        Some(())
    }

    fn create(&self, server: &TestServer, options: &Value) -> Option<String> {
        let mut post = options.clone();
        post["text"] = format!("lasting word {}", unique_number()).into();
        let created = self.send(server, TestRequest::post("/2/posts").json(&post), 201)?;
        Some(created.json()["data"]["id"].as_str().unwrap().to_owned())
    }

    fn send(&self, server: &TestServer, request: TestRequest, status: u16) -> Option<TestResponse> {
        let response = server.try_send(request.bearer(&self.token))?;
        assert_eq!(response.status, status, "{response:?}");
        Some(response)
    }
}

/// None if the index is not open yet.
fn search_all(server: &TestServer, token: &str) -> Option<HashSet<String>> {
    let (mut all, mut after) = (HashSet::new(), String::new());
    loop {
        let path = format!("/2/posts/search/recent?query=lasting&max_results=100{after}");
        let response = server.send(TestRequest::get(path).bearer(token));
        if response.status == 503 {
            return None;
        }
        let page = response.assert_status(200);
        all.extend(ids(&page));
        let Some(next) = page["meta"]["next_token"].as_str() else {
            return Some(all);
        };
        after = format!("&next_token={next}");
    }
}

fn write_until_killed(server: &TestServer, writers: &mut [Writer], delay: Duration) {
    let count = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in writers {
            let count = &count;
            scope.spawn(move || writer.run(server, count));
        }
        // On a busy machine the first posts take a while.
        wait_until("something is written", || count.load(Ordering::Relaxed) > 9);
        std::thread::sleep(delay);
        server.signal(Signal::KILL);
    });
}

#[test]
fn index_agrees_with_the_database_after_crashes_under_random_writes() {
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 5);
    let seed = suite_setting("LOCUM_KILL_SEED", 7);
    let mut rng = TestRng(seed);
    let mut server = TestServer::start(&["--world", "empty"]);
    let mut writers: Vec<Writer> = (1..=3).map(|number| Writer::new(&server, seed + number)).collect();
    server.default_app();
    for round in 0..rounds {
        let delay = Duration::from_millis(rng.below(600).try_into().unwrap());
        write_until_killed(&server, &mut writers, delay);
        server.crash_and_restart();
        // A search waits for the index, but not for ever: on a busy machine it is still behind.
        let mut found = HashSet::new();
        wait_until("what was acknowledged is found, and what was deleted is not", || {
            found = search_all(&server, &writers[0].token).unwrap_or_default();
            writers.iter().all(|writer| writer.live.iter().all(|id| found.contains(id)))
                && writers.iter().all(|writer| writer.gone.is_disjoint(&found))
        });
        let counted = usize::try_from(total(&server, "lasting")).unwrap();
        assert_eq!(counted, found.len(), "after {round} kills");
    }
    let report = server.run_cli(&["fsck"]).json();
    assert_eq!(report["sound"], true, "{report}");
    let posts: usize = writers.iter().map(|writer| writer.live.len() + writer.gone.len()).sum();
    assert!(posts > 20, "{posts} posts");
}
