//! Counters that many users change at once, over several nodes.

use serde_json::json;

use crate::harness::{TestRequest, TestServer, TestUser, start_two_nodes, wait_until};

const FANS: usize = 12;

fn followers(node: &TestServer, reader: &TestUser<'_>, star: &TestUser<'_>) -> i64 {
    let path = format!("/2/users/{}?user.fields=public_metrics", star.id);
    let user = node.send(TestRequest::get(path).bearer(&reader.token)).assert_status(200);
    user["data"]["public_metrics"]["followers_count"].as_i64().unwrap()
}

#[test]
fn follows_on_two_nodes_are_counted_at_once_and_then_in_the_row() {
    let Some((first, second)) = start_two_nodes() else { return };
    let star = first.new_user("star");
    let fans: Vec<TestUser<'_>> = (0..FANS).map(|number| first.new_user(&format!("fan{number}"))).collect();
    std::thread::scope(|scope| {
        for (number, fan) in fans.iter().enumerate() {
            let node = if number % 2 == 0 { &first } else { &second };
            let body = json!({ "target_user_id": star.id });
            let follow = TestRequest::post(format!("/2/users/{}/following", fan.id)).json(&body).bearer(&fan.token);
            scope.spawn(move || node.send(follow).assert_status(200));
        }
    });
    let expected = i64::try_from(FANS).unwrap();
    for node in [&first, &second] {
        assert_eq!(followers(node, &star, &star), expected);
    }
    wait_until("the changes are in the row", || first.database().query_number("SELECT COUNT(*) FROM count_delta") == 0);
    let stored = format!("SELECT followers_count FROM users WHERE id = {}", star.id);
    assert_eq!(first.database().query_number(&stored), expected);
    assert_eq!(followers(&second, &star, &star), expected);
    assert_eq!(first.run_cli(&["fsck"]).json()["sound"], true);
}
