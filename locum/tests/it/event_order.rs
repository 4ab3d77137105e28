//! The order of events where many processes write to one PostgreSQL: nobody waits for the transactions of others.

use std::ops::Range;
use std::thread::sleep;
use std::time::Duration;

use base::clock::monotonic_now;
use postgres::{Client, NoTls};
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{
    DatabaseEngine, PostgresServer, StreamClient, TestRequest, TestResponse, TestServer, TestUser, WebhookReceiver,
    percent_encode, start_two_nodes, suite_engine, wait_until,
};
use crate::streams::{add_rules, word};
use crate::webhooks;

const STREAM: &str = "/2/posts/search/stream";
/// What an event may take on a busy machine while nothing holds it up.
const MAX_DELAY: Duration = Duration::from_secs(5);

fn search(server: &TestServer, reader: &TestUser<'_>, word: &str) -> TestResponse {
    let path = format!("/2/posts/search/recent?query={}", percent_encode(word));
    server.send(TestRequest::get(path).bearer(&reader.token))
}

#[track_caller]
fn assert_found(server: &TestServer, reader: &TestUser<'_>, word: &str, count: usize) {
    let page = search(server, reader, word).assert_status(200);
    assert_eq!(page["data"].as_array().map_or(0, Vec::len), count, "{page}");
}

fn next_text(stream: &mut StreamClient) -> Option<String> {
    let message = stream.next_within(MAX_DELAY)?;
    message["data"]["text"].as_str().map(str::to_owned)
}

#[test]
fn open_transactions_of_others_delay_neither_streams_nor_searches_nor_webhooks() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let server = webhooks::server(&[]);
    let (app, word) = (server.new_app("enterprise"), word());
    add_rules(&server, &app, &[(&word, "")]);
    let receiver = WebhookReceiver::open(&app.secret);
    let hook = webhooks::hook(&server, &app, &receiver);
    let link = TestRequest::post(format!("/2/posts/search/webhooks/{hook}")).bearer(&app.bearer);
    server.send(link).assert_status(200);
    let mut stream = StreamClient::open(&server, STREAM, &app.bearer);
    let author = server.new_user("author");
    for (number, elsewhere) in [true, false].into_iter().enumerate() {
        let transaction = server.database().open_transaction(elsewhere);
        let text = format!("{word} {number}");
        let started = monotonic_now();
        author.publish_text(&text);
        assert_found(&server, &author, &word, number + 1);
        assert_eq!(next_text(&mut stream), Some(text));
        wait_until("the webhook is sent to", || receiver.received_requests().len() > number);
        let elapsed = started.elapsed();
        assert!(elapsed < MAX_DELAY, "{elapsed:?}");
        drop(transaction);
    }
}

#[test]
fn search_that_cannot_see_earlier_writes_is_unavailable() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&["--world", "empty"]);
    let (author, word) = (server.new_user("author"), word());
    author.publish_text(&format!("{word} before"));
    assert_found(&server, &author, &word, 1);
    let held = server.database().lock_rows("event_sequencer");
    author.publish_text(&format!("{word} meanwhile"));
    let refused = search(&server, &author, &word);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{}", refused.text());
    assert_eq!(refused.json()["status"], 503);
    drop(held);
    wait_until("searches are answered again", || search(&server, &author, &word).status == 200);
    assert_found(&server, &author, &word, 2);
}

fn newest_at_home(node: &TestServer, reader: &TestUser<'_>) -> String {
    let path = format!("/2/users/{}/timelines/reverse_chronological?max_results=5", reader.id);
    let page = node.send(TestRequest::get(path).bearer(&reader.token)).assert_status(200);
    page["data"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn acknowledged_post_is_in_the_warm_home_timeline_of_another_node_before_it_is_numbered() {
    let Some((first, second)) = start_two_nodes() else { return };
    let (author, reader) = (first.new_user("author"), first.new_user("reader"));
    reader.import_follows(&[&author]);
    author.publish_text("before");
    assert_eq!(newest_at_home(&second, &reader), "before");
    let waiting = "SELECT COUNT(*) FROM pending_event WHERE kind = 'post.create'";
    let are_numbered = || first.database().query_number(waiting) == 0;
    wait_until("the post is numbered", are_numbered);
    let held = first.database().lock_rows("event_sequencer");
    for number in 0..10 {
        let text = format!("unnumbered {number}");
        author.publish_text(&text);
        assert_eq!(newest_at_home(&second, &reader), text);
    }
    assert_eq!(first.database().query_number(waiting), 10);
    drop(held);
    wait_until("the posts are numbered", are_numbered);
    assert_eq!(newest_at_home(&second, &reader), "unnumbered 9");
}

/// Posts before and after the sequencer is lost come once and in order, with a pause of at most five seconds.
fn check_takeover(signal: Signal) {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let first = TestServer::start_network(&[]);
    let has_sequencer = || first.database().query_number("SELECT token FROM event_sequencer") > 0;
    wait_until("the first node is the sequencer", has_sequencer);
    let second = first.start_another_node(1);
    let (app, word) = (first.new_app("enterprise"), word());
    let author = first.new_user("author");
    add_rules(&second, &app, &[(&word, "")]);
    let mut stream = StreamClient::open(&second, STREAM, &app.bearer);
    let publish = |node: &TestServer, number: usize| {
        let text = format!("{word} {number}");
        let request = TestRequest::post("/2/posts").bearer(&author.token).json(&json!({ "text": text }));
        node.send(request).assert_status(201);
        text
    };
    let publish_many = |range: Range<usize>| range.map(|number| publish(&second, number)).collect::<Vec<_>>();
    let mixed = (0..20).map(|number| publish(if number % 2 == 0 { &first } else { &second }, number));
    let before: Vec<String> = mixed.collect();
    assert_eq!(stream.next_texts(20), before);

    // A frozen transaction would hold the consumers' cursors.
    let behind = "SELECT COUNT(*) FROM follower, event_sequencer WHERE seq < last_seq";
    wait_until("the consumers are at the end", || first.database().query_number(behind) == 0);
    first.signal(signal);
    let lost_at = monotonic_now();
    let after = publish_many(20..40);
    let mut came = vec![next_text(&mut stream).expect("another node takes over")];
    let pause = lost_at.elapsed();
    came.extend(stream.next_texts(19));
    assert_eq!(came, after);
    assert!(pause <= MAX_DELAY, "{pause:?}");
    if signal == Signal::STOP {
        // What it does with the lease that it lost has no effect.
        first.signal(Signal::CONT);
        wait_until("it is there again", || first.try_send(TestRequest::get("/readyz")).is_some());
    }
    let last: Vec<String> = publish_many(40..50);
    assert_eq!(stream.next_texts(10), last);
    stream.assert_silent();
    let gaps = "SELECT MAX(seq) - MIN(seq) + 1 - COUNT(*) FROM event";
    assert_eq!(second.database().query_number(gaps), 0, "numbers are dense");
}

#[test]
fn another_node_takes_over_when_the_sequencer_is_killed() {
    check_takeover(Signal::KILL);
}

#[test]
fn another_node_takes_over_when_the_sequencer_freezes() {
    check_takeover(Signal::STOP);
}

#[test]
fn idle_node_sends_at_most_five_statements_a_second() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    // What the server does by itself would be counted too.
    let postgres = PostgresServer::start();
    let mut client = Client::connect(&postgres.url, NoTls).unwrap();
    client.batch_execute("ALTER SYSTEM SET autovacuum = off").unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    let server = TestServer::start_on_postgres(&postgres, &["--set", "core.world=empty"]);
    // A statement outside of a transaction counts as one. One a second renews the lease of the node, and one numbers
    // events.
    let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    let statements = || server.database().query_number(sql);
    // The pauses are longer after six seconds; on a busy machine, what a start leaves to do takes longer.
    sleep(Duration::from_secs(7));
    let mut counts = Vec::new();
    while counts.len() < 10 {
        let (before, started) = (statements(), monotonic_now());
        sleep(Duration::from_secs(6));
        let (count, elapsed) = (statements() - before, started.elapsed());
        counts.push(count);
        if count <= 5 * i64::try_from(elapsed.as_secs()).unwrap() {
            return;
        }
    }
    panic!("{counts:?} in six seconds each");
}
