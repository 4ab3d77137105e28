//! Several nodes on one database server: each has a number of its own, for as long as it can hold its lease.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{DatabaseEngine, TestRequest, TestServer, TestUser, suite_engine, wait_until};

/// The number of the node that issued the new post's id; none if the node refuses writes for now.
fn publish(node: &TestServer, author: &TestUser<'_>, text: &str) -> Option<i64> {
    let request = TestRequest::post("/2/posts").bearer(&author.token).json(&json!({ "text": text }));
    let response = node.send(request);
    if response.status == 503 {
        assert!(!response.header("retry-after").is_empty());
        return None;
    }
    assert_eq!(response.status, 201, "{}", response.text());
    let id: i64 = response.json()["data"]["id"].as_str().unwrap().parse().unwrap();
    Some(id >> 12 & 0x3ff)
}

/// The nodes by number: their states and incarnations.
fn listed(node: &TestServer) -> Vec<(i64, String, String)> {
    let found = node.run_cli(&["node", "list"]).json();
    let text = |node: &Value, name: &str| node[name].as_str().unwrap().to_owned();
    let nodes = found.as_array().unwrap().iter();
    nodes.map(|node| (node["number"].as_i64().unwrap(), text(node, "state"), text(node, "incarnation"))).collect()
}

fn state_of(node: &TestServer, number: i64) -> String {
    listed(node).into_iter().find(|(other, ..)| *other == number).map(|(_, state, _)| state).unwrap_or_default()
}

fn readiness(node: &TestServer) -> (u16, String) {
    let response = node.send(TestRequest::get("/readyz"));
    (response.status, response.text().trim().to_owned())
}

#[test]
fn node_serves_while_missing_indexes_of_advertising_records_are_built() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut node = TestServer::start_network(&[]);
    node.stop();
    let built = "SELECT COUNT(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
                 WHERE relname = 'ads_campaign_names' AND indisvalid";
    assert_eq!(node.database().query_number(built), 1);
    node.run_sql("DROP INDEX ads_campaign_names");
    node.run_sql("INSERT INTO ads_record VALUES ('campaign', 1, 8, 0, 0, '', 1, 2, '{\"name\":\"A\"}')");
    // A build waits for those who write.
    let mut writer = node.database().connect();
    writer.batch_execute("BEGIN; UPDATE ads_record SET level = 0").unwrap();
    node.restart();
    assert_eq!(node.database().query_number(built), 0);
    writer.batch_execute("COMMIT").unwrap();
    wait_until("the index is built", || node.database().query_number(built) == 1);
}

#[test]
fn frozen_node_loses_its_number_and_goes_on_with_another() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let one = TestServer::start_network(&[]);
    let two = one.start_another_node(0);
    let author = one.new_user("author");
    assert_eq!([publish(&one, &author, "a"), publish(&two, &author, "b")], [Some(0), Some(1)]);
    let before = listed(&one);
    two.signal(Signal::STOP);
    wait_until("the lease of the frozen node ended", || state_of(&one, 1) == "lost");
    let three = one.start_another_node(1);
    assert_eq!(publish(&three, &author, "c"), Some(1));
    two.signal(Signal::CONT);
    let mut tries = 0;
    wait_until("the frozen node has another number", || {
        tries += 1;
        publish(&two, &author, &format!("d{tries}")).is_some_and(|number| number == 2)
    });
    wait_until("it is ready", || readiness(&two).0 == 200);
    let after = listed(&one);
    assert_eq!(after.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [0, 1, 2]);
    let incarnations: BTreeSet<&String> = before.iter().chain(&after).map(|(_, _, incarnation)| incarnation).collect();
    assert_eq!(incarnations.len(), 4, "only the first node kept its incarnation");
}

#[test]
fn nodes_whose_connections_were_terminated_keep_different_numbers() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let one = TestServer::start_network(&[]);
    let author = one.new_user("author");
    one.database().set_closed(true);
    assert_eq!(publish(&one, &author, "refused"), None);
    one.database().set_closed(false);
    let two = one.start_another_node(0);
    for round in 0..20 {
        let numbers = [&one, &two].map(|node| publish(node, &author, &format!("{round} by {}", node.url)));
        assert!(numbers[0] != numbers[1] || numbers[0].is_none(), "{numbers:?}");
    }
    wait_until("both are ready", || readiness(&one).0 == 200 && readiness(&two).0 == 200);
    assert_eq!(listed(&one).len(), 2);
}

#[test]
fn nodes_started_at_once_on_an_empty_database_form_one_network() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let first = TestServer::prepare_network(&[]);
    first.create_master_key();
    let [second, third] = [1, 2].map(|number| first.prepare_another_node(number, &[]));
    let mut nodes = [first, second, third];
    nodes.iter_mut().for_each(TestServer::spawn);
    nodes.iter_mut().for_each(TestServer::await_ready_as_node);
    for node in &mut nodes {
        assert_eq!(node.stop().0, Some(0));
    }
    // Each has recorded the id of the network, and finds the same one in the database.
    nodes.iter_mut().for_each(TestServer::spawn);
    nodes.iter_mut().for_each(TestServer::await_ready_as_node);
}

#[test]
fn drained_node_is_not_ready_and_still_answers() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let one = TestServer::start_network(&[]);
    let two = one.start_another_node(0);
    let author = one.new_user("author");
    one.run_cli(&["node", "drain", "1"]).assert_success();
    wait_until("it is drained", || readiness(&two) == (404, "draining".to_owned()));
    assert_eq!(state_of(&one, 1), "draining");
    assert_eq!(publish(&two, &author, "still here"), Some(1));
    assert_eq!(readiness(&one).0, 200);
    let unknown = one.run_cli(&["node", "drain", "9"]);
    assert!(unknown.stderr.contains("no node with the ID 9"), "{}", unknown.stderr);
}
