//! Revocation on the nodes that did not make it.

use std::time::Duration;

use base::clock::monotonic_now;

use crate::harness::{TestRequest, TestServer, assert_one_is_faster, start_two_nodes};

fn status_of(node: &TestServer, token: &str) -> u16 {
    node.send(TestRequest::get("/2/users/me").bearer(token)).status
}

/// Uses tokens until a node has cached them and has read what was changed before.
fn use_tokens(node: &TestServer, tokens: &[&str]) {
    let start = monotonic_now();
    while start.elapsed() < Duration::from_millis(500) {
        for token in tokens {
            assert_eq!(status_of(node, token), 200);
        }
    }
}

/// The time until a node answers so to a token that it has accepted.
#[track_caller]
fn time_until_status(node: &TestServer, token: &str, status: u16) -> Duration {
    let start = monotonic_now();
    while status_of(node, token) != status {
        assert!(start.elapsed() < Duration::from_secs(20), "the token is still accepted");
    }
    start.elapsed()
}

#[test]
fn token_is_refused_within_half_a_second_during_a_burst_of_events() {
    let Some((first, second)) = start_two_nodes() else { return };
    let other = first.new_user("unaffected");
    assert_one_is_faster(Duration::from_millis(500), || {
        let user = first.new_user("revoked");
        use_tokens(&second, &[&user.token, &other.token]);
        first.database().run_sql(
            "INSERT INTO pending_event (at, kind, actor_id, subject_id) \
             SELECT 1, 'user.update', 1, 1 FROM generate_series(1, 60000)",
        );
        first.run_cli(&["token", "revoke", &user.token]).assert_success();
        time_until_status(&second, &user.token, 401)
    });
    assert_eq!(status_of(&second, &other.token), 200);
}

#[test]
fn token_is_refused_within_a_second_despite_a_foreign_open_transaction() {
    let Some((first, second)) = start_two_nodes() else { return };
    let transaction = first.database().open_transaction(false);
    let limit = Duration::from_secs(1);
    assert_one_is_faster(limit, || {
        let user = first.new_user("revoked");
        use_tokens(&second, &[&user.token]);
        first.run_cli(&["token", "revoke", &user.token]).assert_success();
        time_until_status(&second, &user.token, 401)
    });
    assert_one_is_faster(limit, || {
        let user = first.new_user("suspended");
        use_tokens(&second, &[&user.token]);
        first.run_cli(&["user", "suspend", &user.id]).assert_success();
        time_until_status(&second, &user.token, 403)
    });
    drop(transaction);
}
