//! What members do with their account as a whole: deleting, restoring and renaming it.

mod archive;
mod deletion;
mod erasure;
mod usernames;

use crate::harness::{TestServer, TestUser};
use crate::pages::browser::Browser;

const PASSWORD: &str = "a long secret";
const DATA_PATH: &str = "/settings/data";
const DELETE_PATH: &str = "/settings/data/delete";

/// A new person and a browser in which they are signed in.
fn signed_in<'s>(server: &'s TestServer, name: &str) -> (TestUser<'s>, Browser<'s>) {
    let user = server.new_user(name);
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in(&user.username, PASSWORD, "/home").status, 303);
    (user, browser)
}

fn delete_own_account(browser: &mut Browser<'_>) {
    let page = browser.get(DATA_PATH);
    let reply = browser.submit(&page, DELETE_PATH, &[("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("location")), (303, "/login?done=deleted"), "{}", reply.text());
}

/// The ids that a search finds.
fn find_posts(reader: &TestUser<'_>, query: &str) -> Vec<String> {
    let page = reader.get(format!("/2/tweets/search/recent?query={query}")).assert_status(200);
    let found = page["data"].as_array().cloned().unwrap_or_default();
    found.iter().map(|post| post["id"].as_str().unwrap().to_owned()).collect()
}

fn is_shown(reader: &TestUser<'_>, path: &str) -> bool {
    let reply = reader.get(path);
    reply.status == 200 && reply.json()["data"].is_object()
}
