//! The pages of members: what they show to whom, and what their forms do.

mod timelines;
mod visibility;
mod writing;

use crate::harness::{TestServer, TestUser};
use crate::pages::browser::Browser;

/// A new person and a browser in which they are signed in.
fn signed_in<'s>(server: &'s TestServer, name: &str) -> (TestUser<'s>, Browser<'s>) {
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
