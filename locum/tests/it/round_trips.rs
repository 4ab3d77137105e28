//! How often requests wait for a database server: the figures may only fall.

use serde_json::json;

use crate::harness::{DatabaseEngine, TestRequest, TestResponse, TestServer, TestUser, suite_engine};

/// Enough for each connection to prepare the statements.
const WARM_UP: usize = 8;

/// Of all requests of a route so far.
fn total(server: &TestServer, route: &str) -> u64 {
    let metrics = server.send_control(TestRequest::get("/metrics")).text();
    let prefix = format!("locum_database_round_trips_total{{route=\"{route}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&prefix)).map_or(0, |count| count.parse().unwrap())
}

/// The least of several: others may wait for a statement to be prepared.
fn least(server: &TestServer, route: &str, mut send: impl FnMut(usize) -> TestResponse) -> u64 {
    let mut run = |number: usize| {
        let before = total(server, route);
        let response = send(number);
        assert!(response.status < 300, "{route}: {}", response.text());
        total(server, route) - before
    };
    for number in 0..WARM_UP {
        run(number);
    }
    (WARM_UP..WARM_UP + 4).map(run).min().unwrap()
}

#[test]
fn common_requests_wait_for_the_database_no_more_often_than_stated() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&["--world", "empty", "--set", "db.connections=1"]);
    let (user, other) = (server.new_user("one"), server.new_user("two"));
    let post = other.publish_text("A post that is read");
    let send = |request: TestRequest, by: &TestUser<'_>| server.send(request.bearer(&by.token));
    let get = |path: String| send(TestRequest::get(path), &user);
    let home = format!("/2/users/{}/timelines/reverse_chronological", user.id);
    let targets: Vec<_> = (0..WARM_UP + 4).map(|number| server.new_user(&format!("target{number}"))).collect();
    let posts: Vec<_> = (0..WARM_UP + 4).map(|number| other.publish_text(&format!("Liked {number}"))).collect();
    let text = |number: usize| json!({ "text": format!("Post number {number}") });
    let likes = format!("/2/users/{}/likes", user.id);
    let follows = format!("/2/users/{}/following", user.id);
    let body = json!({ "target_user_id": other.id });
    assert_eq!(send(TestRequest::post(follows.as_str()).json(&body), &user).status, 200);
    let found = [
        ("lookup", least(&server, "/2/posts/{id}", |_| get(format!("/2/posts/{post}")))),
        ("home", least(&server, "/2/users/{id}/timelines/reverse_chronological", |_| get(home.clone()))),
        ("search", least(&server, "/2/posts/search/recent", |_| get("/2/posts/search/recent?query=read".to_owned()))),
        ("post", least(&server, "/2/posts", |number| send(TestRequest::post("/2/posts").json(&text(number)), &user))),
        (
            "like",
            least(&server, "/2/users/{id}/likes", |number| {
                send(TestRequest::post(likes.as_str()).json(&json!({ "tweet_id": posts[number] })), &user)
            }),
        ),
        (
            "follow",
            least(&server, "/2/users/{id}/following", |number| {
                let body = json!({ "target_user_id": targets[number].id });
                send(TestRequest::post(follows.as_str()).json(&body), &user)
            }),
        ),
    ];
    println!("{found:?}");
    let limits = [("lookup", 1), ("home", 3), ("search", 4), ("post", 4), ("like", 5), ("follow", 5)];
    for ((name, found), (of, limit)) in found.into_iter().zip(limits) {
        assert_eq!(name, of);
        assert!((1..=limit).contains(&found), "{name}: {found} round trips, at most {limit} expected");
    }
}
