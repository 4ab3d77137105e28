//! Search over posts: what is found, when, by whom, and how often.

mod changes;
mod counts;
mod crash_recovery;
mod fsck;
mod invalid_queries;
mod pages;
mod queries;
mod snapshots;

use serde_json::Value;

use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, percent_encode};

/// A search as this person, with further parameters.
fn ask(reader: &TestUser<'_>, query: &str, more: &str) -> TestResponse {
    reader.get(format!("/2/posts/search/recent?query={}{more}", percent_encode(query)))
}

fn ids(page: &Value) -> Vec<String> {
    let found = page["data"].as_array().map(Vec::as_slice);
    let found = found.unwrap_or_default().iter();
    found.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// What a search finds on its first page of a hundred, newest first.
#[track_caller]
fn found(reader: &TestUser<'_>, query: &str) -> Vec<String> {
    ids(&ask(reader, query, "&max_results=100").assert_status(200))
}

/// How often a query is counted over a week.
#[track_caller]
fn total(server: &TestServer, query: &str) -> i64 {
    let path = format!("/2/tweets/counts/recent?query={}", percent_encode(query));
    let counts = server.send(TestRequest::get(path).bearer(&server.default_app().bearer)).assert_status(200);
    counts["meta"]["total_tweet_count"].as_i64().unwrap()
}
