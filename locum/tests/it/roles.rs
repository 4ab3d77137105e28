//! Nodes that share the work: some serve the API, and others have the search index.

use std::time::Duration;

use base::clock::monotonic_now;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{
    DatabaseEngine, TestRequest, TestResponse, TestServer, TestUser, percent_encode, suite_engine, wait_until,
};

/// No answer takes longer: three seconds of asking, and some for a busy machine.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);
const SEARCH_NODE: &[&str] = &["cluster.roles=search", "cluster.listen=127.0.0.1:0"];

/// A node that only serves the API; none on SQLite, where a file has one node.
fn start_api_node() -> Option<TestServer> {
    let roles = ["--set", "cluster.roles=api", "--set", "listen.control_addr=127.0.0.1:0"];
    (suite_engine() == DatabaseEngine::Postgres).then(|| TestServer::start_network(&roles))
}

fn readiness(node: &TestServer, query: &str) -> (u16, String) {
    let response = node.send(TestRequest::get(format!("/readyz{query}")));
    (response.status, response.text().trim().to_owned())
}

fn search(node: &TestServer, query: &str) -> TestResponse {
    let path = format!("/2/tweets/search/recent?query={}", percent_encode(query));
    let start = monotonic_now();
    let response = node.send(TestRequest::get(path).bearer(&node.default_app().bearer));
    assert!(start.elapsed() < LONGEST_ANSWER, "{:?}", start.elapsed());
    response
}

/// Publishes a post, and searches for it at once.
#[track_caller]
fn publish_and_find(author: &TestUser<'_>, text: &str) {
    let post = TestRequest::post("/2/posts").bearer(&author.token).json(&json!({ "text": text }));
    let post = author.server.send(post).assert_status(201);
    let found = search(author.server, text).assert_status(200);
    assert_eq!(found["data"][0]["id"], post["data"]["id"], "{text}: {found}");
}

#[test]
fn searches_go_on_while_one_of_two_search_nodes_is_left_and_are_refused_without_any() {
    let Some(api) = start_api_node() else { return };
    let mut nodes = [1, 2].map(|number| api.start_another_node_with(number, SEARCH_NODE));
    for node in &nodes {
        wait_until("the index is built", || readiness(node, "?role=search").0 == 200);
    }
    wait_until("the search nodes are known", || search(&api, "anything").status == 200);
    let author = api.new_user("author");
    (0..10).for_each(|number| publish_and_find(&author, &format!("lantern{number}")));
    nodes[0].signal(Signal::STOP);
    (0..3).for_each(|number| publish_and_find(&author, &format!("frozen{number}")));
    nodes[0].kill();
    (0..10).for_each(|number| publish_and_find(&author, &format!("killed{number}")));
    let counts = "/2/tweets/counts/recent?query=killed7";
    let counts = api.send(TestRequest::get(counts).bearer(&api.default_app().bearer)).assert_status(200);
    assert_eq!(counts["meta"]["total_tweet_count"], 1);
    nodes[1].kill();
    let refused = search(&api, "lantern1");
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.header_number("retry-after") > 0);
    assert_eq!(author.get("/2/users/me").status, 200);
}

#[test]
fn node_does_and_serves_only_what_belongs_to_its_roles() {
    let Some(api) = start_api_node() else { return };
    assert!(!api.data_dir().join("search").exists());
    let metrics = api.send_control(TestRequest::get("/metrics")).text();
    for task in ["search_index", "webhook_deliveries", "retention", "post_streams", "trends"] {
        assert!(!metrics.contains(&format!("task=\"{task}\"")), "{task}");
    }
    assert!(metrics.contains("task=\"uploads\""));
    assert!(
        metrics.contains("locum_node_role{role=\"api\"} 1") && metrics.contains("locum_node_role{role=\"search\"} 0")
    );
    let missing = |node: &TestServer| node.run_cli(&["node", "list"]).stderr;
    for role in ["stream", "search", "deliver"] {
        let warning = format!("no live node has the role {role}");
        assert!(missing(&api).contains(&warning), "{role}");
    }
    let stream = api.start_another_node_with(1, &["cluster.roles=stream,deliver"]);
    let bearer = &api.default_app().bearer;
    let open = |node: &TestServer| node.send(TestRequest::get("/2/tweets/search/stream").bearer(bearer));
    let refused = open(&api);
    assert_eq!((refused.status, refused.header("retry-after").is_empty()), (503, false), "{}", refused.text());
    // The stream is served there, and refused without rules.
    assert_eq!(open(&stream).status, 409);
    let refused = stream.send(TestRequest::get("/2/users/me").bearer(bearer));
    assert_eq!((refused.status, refused.header("retry-after").is_empty()), (503, false), "{}", refused.text());
    assert_eq!(readiness(&api, ""), (200, "ok".to_owned()));
    assert_eq!(readiness(&api, "?role=api").0, 200);
    assert_eq!(readiness(&api, "?role=stream"), (503, "this node does not have the role stream".to_owned()));
    assert_eq!(readiness(&stream, "?role=stream&role=deliver").0, 200);
    assert_eq!(readiness(&stream, "?role=stream&role=api").0, 503);
    assert_eq!(readiness(&api, "?role=other").0, 400);
    let missing = missing(&api);
    assert!(!missing.contains("the role stream") && missing.contains("no live node has the role search"), "{missing}");
}

#[test]
fn index_is_not_searched_without_the_key_of_the_nodes() {
    let Some(api) = start_api_node() else { return };
    let node = api.start_another_node_with(1, SEARCH_NODE);
    let address = || {
        let list = api.run_cli(&["node", "list"]).json();
        let node = list.as_array().unwrap().iter().find(|node| node["number"] == 1);
        node.map(|node| node["address"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    wait_until("its address is known", || !address().is_empty());
    let url = format!("http://{}", address());
    let question = json!({ "position": 0, "question": "Readiness" });
    let ask = || TestRequest::post("/_cluster/search").json(&question);
    let zeros = "00".repeat(32);
    let forged = format!("Locum-Node {}:{zeros}:{zeros}", base::clock::wall_time().ms());
    let token = format!("Bearer {}", api.default_app().bearer);
    for request in [ask(), ask().authorization(&forged), ask().authorization(&token), TestRequest::get("/metrics")] {
        assert_eq!(node.send_to(&url, request).status, 401);
    }
}

#[test]
fn server_without_other_nodes_has_all_roles() {
    let (development, network) = (TestServer::prepare(&[]), TestServer::prepare_network(&[]));
    let refused_by = |server: &TestServer, args: &[&str], message: &str| {
        let refused = server.run_cli(args);
        assert_eq!(refused.code, 2, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(message), "{args:?}: {}", refused.stderr);
    };
    let alone = "only nodes of `locum serve` on PostgreSQL";
    refused_by(&development, &["dev", "--set", "cluster.roles=api"], alone);
    refused_by(&network, &["serve", "--roles", ""], "cluster.roles");
    refused_by(&network, &["serve", "--roles", "api,database"], "cluster.roles");
    if suite_engine() == DatabaseEngine::Sqlite {
        refused_by(&network, &["serve", "--roles", "api"], alone);
        refused_by(&network, &["serve", "--set", "cluster.listen=127.0.0.1:0"], alone);
    } else {
        refused_by(&network, &["serve", "--roles", "search"], "cluster.listen is not set");
        let unspecified = ["serve", "--set", "cluster.listen=0.0.0.0:0"];
        refused_by(&network, &unspecified, "cluster.advertise is not set");
    }
}
