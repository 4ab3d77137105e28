//! The pages of members: what they show to whom, and what their forms do.

mod bookmarks;
mod communities;
mod drafts;
mod lists;
mod live;
mod message_files;
mod messages;
mod muted_words;
mod notifications;
mod open_web;
mod profile;
mod time_zones;
mod timelines;
mod visibility;
mod writing;

use crate::harness::{TestResponse, TestServer, TestUser};
use crate::pages::browser::{Browser, hidden, posted};

/// A new person and a browser in which they are signed in.
pub(crate) fn signed_in<'s>(server: &'s TestServer, name: &str) -> (TestUser<'s>, Browser<'s>) {
    let user = server.new_user(name);
    let mut browser = Browser::new(server);
    let reply = browser.sign_in(&user.username, "a long secret", "/home");
    assert_eq!((reply.status, reply.header("location")), (303, "/home"));
    (user, browser)
}

/// Presses a button of a post or an account on a page.
fn press(browser: &mut Browser<'_>, path: &str, act: &str) -> u16 {
    let page = browser.get(path);
    browser.submit(&page, "/i/actions", &[("act", act)]).status
}

/// Sends a form to a page that this person may not have, with a token of another one.
fn submit_to(browser: &mut Browser<'_>, action: &str, fields: &[(&str, &str)]) -> TestResponse {
    let page = browser.get("/messages/new").text();
    let mut all = hidden(&page, "/messages/new");
    all.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    browser.send(posted(action, &all))
}
