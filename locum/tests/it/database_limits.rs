//! A database that is slow, locked or out of reach delays no request beyond the limit, and nothing that was refused is
//! stored later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use base::clock::monotonic_now;
use postgres::Client;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{DatabaseEngine, TestRequest, TestResponse, TestServer, TestUser, suite_engine, wait_until};

fn send_post(user: &TestUser<'_>, text: &str) -> TestResponse {
    user.server.send(TestRequest::post("/2/posts").json(&json!({ "text": text })).bearer(&user.token))
}

fn read_me(user: &TestUser<'_>) -> TestResponse {
    user.server.send(TestRequest::get("/2/users/me?user.fields=public_metrics,most_recent_post_id").bearer(&user.token))
}

fn assert_refused_for_now(response: &TestResponse) {
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("retry-after"), "1");
}

fn post_count(client: &mut Client, pattern: &str) -> i64 {
    client.query_one("SELECT COUNT(*) FROM post WHERE text LIKE $1", &[&pattern]).unwrap().get(0)
}

#[test]
fn locked_user_row_delays_only_writes_of_that_user() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&["--world", "empty"]);
    let (locked, other) = (server.new_user("locked"), server.new_user("other"));
    for user in [&locked, &other] {
        assert_eq!(send_post(user, "Before").status, 201);
        assert_eq!(read_me(user).status, 200);
    }
    let mut lock = server.database().connect();
    lock.batch_execute(&format!("BEGIN; SELECT 1 FROM users WHERE id = {} FOR UPDATE", locked.id)).unwrap();
    let started = monotonic_now();
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        let send = |number: usize| {
            let response = send_post(&locked, &format!("Blocked {number}"));
            answered.fetch_add(1, Ordering::SeqCst);
            (response, started.elapsed())
        };
        let blocked: Vec<_> = (0..20).map(|number| scope.spawn(move || send(number))).collect();
        wait_until("a write waits for the row", || server.database().count_waiting_for_locks() > 0);
        for number in 0..5 {
            assert_eq!(send_post(&other, &format!("Meanwhile {number}")).status, 201);
            assert_eq!(read_me(&other).status, 200);
            assert_eq!(read_me(&locked).status, 200);
        }
        assert_eq!(answered.load(Ordering::SeqCst), 0, "the others waited, too: {:?}", started.elapsed());
        for response in blocked {
            let (response, time) = response.join().unwrap();
            assert_refused_for_now(&response);
            assert!(time < Duration::from_secs(6), "{time:?}");
        }
    });
    lock.batch_execute("ROLLBACK").unwrap();
    assert_eq!(send_post(&locked, "After").status, 201);
    assert_eq!(post_count(&mut lock, "Blocked %"), 0);
}

#[test]
fn requests_are_answered_while_the_database_is_cut_off_and_nothing_is_stored_later() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let (server, proxy) = TestServer::start_behind_proxy(&["--world", "empty"]);
    let user = server.new_user("cut_off");
    assert_eq!(send_post(&user, "Before").status, 201);
    assert_eq!(read_me(&user).status, 200);
    proxy.set_cut(true);
    let started = monotonic_now();
    thread::scope(|scope| {
        let user = &user;
        let posts = (0..6).map(|number| scope.spawn(move || send_post(user, &format!("Cut off {number}"))));
        let reads = (0..6).map(|_| scope.spawn(move || read_me(user)));
        let all: Vec<_> = posts.chain(reads).collect();
        for response in all {
            assert_refused_for_now(&response.join().unwrap());
        }
    });
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    proxy.set_cut(false);
    wait_until("writes are taken again", || send_post(&user, "After").status == 201);
    wait_until("abandoned transactions are over", || server.database().count_open_transactions() == 0);
    assert_eq!(post_count(&mut server.database().connect(), "Cut off %"), 0);
}

#[test]
fn frozen_node_frees_its_locks_within_seconds() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("frozen");
    assert_eq!(send_post(&user, "Before").status, 201);
    let mut other = server.database().connect();
    // The post's transaction has locked the user by then.
    other.batch_execute("BEGIN; LOCK TABLE post IN SHARE MODE").unwrap();
    let status = thread::scope(|scope| {
        let posting = scope.spawn(|| send_post(&user, "Frozen").status);
        wait_until("the write waits", || server.database().count_waiting_for_locks() > 0);
        server.signal(Signal::STOP);
        other.batch_execute("ROLLBACK; SET statement_timeout = '8s'").unwrap();
        let started = monotonic_now();
        let locked = other.batch_execute(&format!("SELECT 1 FROM users WHERE id = {} FOR UPDATE", user.id));
        let time = started.elapsed();
        server.signal(Signal::CONT);
        locked.unwrap();
        assert!(time < Duration::from_secs(6), "{time:?}");
        posting.join().unwrap()
    });
    // It may have been run again before its deadline.
    assert!(matches!(status, 201 | 503), "{status}");
    assert_eq!(post_count(&mut other, "Frozen"), i64::from(status == 201));
    assert_eq!(send_post(&user, "After").status, 201);
}
