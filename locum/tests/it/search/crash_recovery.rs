//! The index of a killed process is complete when the next one serves.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{found, total};
use crate::harness::{TestRequest, TestRng, TestServer, TestUser, suite_setting, unique_number, wait_until};

/// Writes and deletes until the server is gone; what was acknowledged: there, and gone.
fn write(server: &TestServer, token: &str, number: usize, count: &AtomicUsize) -> (Vec<String>, Vec<String>) {
    let (mut there, mut deleted) = (Vec::new(), Vec::new());
    for place in 0.. {
        let text = json!({ "text": format!("lasting word {} {number} {place}", unique_number()) });
        let request = TestRequest::post("/2/posts").json(&text).bearer(token);
        let Some(created) = server.try_send(request).filter(|created| created.status == 201) else {
            break;
        };
        let id = created.json()["data"]["id"].as_str().unwrap().to_owned();
        count.fetch_add(1, Ordering::Relaxed);
        if place % 3 == 0 {
            let request = TestRequest::delete(format!("/2/posts/{id}")).bearer(token);
            match server.try_send(request) {
                Some(answer) if answer.status == 200 => deleted.push(id),
                // It may be there or not.
                _ => break,
            }
        } else {
            there.push(id);
        }
        if place % 5 == 0 {
            let request = TestRequest::get("/2/posts/search/recent?query=lasting").bearer(token);
            let _maybe = server.try_send(request);
        }
    }
    (there, deleted)
}

fn every(reader: &TestUser<'_>) -> HashSet<String> {
    let (mut all, mut after) = (HashSet::new(), String::new());
    loop {
        let path = format!("/2/posts/search/recent?query=lasting&max_results=100{after}");
        let page: Value = reader.get(path).assert_status(200);
        all.extend(super::ids(&page));
        let Some(next) = page["meta"]["next_token"].as_str() else {
            return all;
        };
        after = format!("&next_token={next}");
    }
}

#[test]
fn acknowledged_posts_are_indexed_after_a_crash() {
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 5);
    let mut rng = TestRng(suite_setting("LOCUM_KILL_SEED", 7));
    let mut server = TestServer::start(&["--world", "empty"]);
    let writers: Vec<String> = (0..3).map(|_| server.new_user("writer").token).collect();
    let (mut there, mut deleted) = (HashSet::new(), HashSet::new());
    for _ in 0..rounds {
        let (response, count) = (Mutex::default(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for (number, token) in writers.iter().enumerate() {
                let (server, response, count) = (&server, &response, &count);
                scope.spawn(move || {
                    let (new, lost) = write(server, token, number, count);
                    let mut response: MutexGuard<'_, (Vec<String>, Vec<String>)> = response.lock().unwrap();
                    response.0.extend(new);
                    response.1.extend(lost);
                });
            }
            // On a busy machine the first posts take a while.
            wait_until("something is written", || count.load(Ordering::Relaxed) > 9);
            let more = u64::try_from(rng.below(600)).unwrap();
            std::thread::sleep(Duration::from_millis(more));
            server.signal(Signal::KILL);
        });
        let (new, lost) = response.into_inner().unwrap();
        there.extend(new);
        deleted.extend(lost);
        server.crash_and_restart();
        let reader = server.new_user("reader");
        // A search waits for the index, but not for ever: on a busy machine it is still behind.
        let mut found_now = HashSet::new();
        wait_until("what was acknowledged is found, and what was deleted is not", || {
            found_now = every(&reader);
            there.is_subset(&found_now) && deleted.is_disjoint(&found_now)
        });
        let counted = usize::try_from(total(&server, "lasting")).unwrap();
        assert_eq!(counted, found_now.len());
        assert!(found(&reader, "\"lasting word\"").len() <= 100);
    }
    assert!(there.len() > 20, "{} posts", there.len());
}
