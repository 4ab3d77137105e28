//! What moderators and owners do, and what everyone else sees of it.

mod accounts;
mod actions;
mod first_owner;
mod pages;
mod queue;
mod registrations;
mod roles;
mod site_name;
mod site_settings;
mod terms;
mod terms_elsewhere;
mod undecided;

use serde_json::Value;

use crate::harness::{TestServer, TestUser, percent_encode, person, shared_server, unique_number};

/// A word that no other test writes.
fn word() -> String {
    format!("mod{}x{}", std::process::id(), unique_number())
}

/// Runs `locum mod` on the shared server.
#[track_caller]
fn moderate(args: &[&str]) -> Value {
    moderate_on(shared_server(), args)
}

#[track_caller]
fn moderate_on(server: &TestServer, args: &[&str]) -> Value {
    server.run_cli(&[&["mod"], args].concat()).json()
}

/// How many posts the reader finds.
#[track_caller]
fn found(reader: &TestUser<'_>, query: &str) -> usize {
    let page = reader.get(format!("/2/posts/search/recent?query={}", percent_encode(query))).assert_status(200);
    page["data"].as_array().map_or(0, Vec::len)
}

/// Newest first.
fn actions_about(user: &TestUser<'_>) -> Vec<Value> {
    moderate(&["actions", "--user", &user.id]).as_array().unwrap().clone()
}
