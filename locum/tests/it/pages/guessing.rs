//! Guessing passwords: across a crash, and many at once.

use std::time::Duration;

use super::browser::{Browser, hidden, posted, someone};
use crate::harness::{TestRequest, TestServer};

#[test]
fn crash_keeps_failed_sign_in_attempts() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let name = someone(&server);
    let cookies = {
        let mut browser = Browser::new(&server);
        for _ in 0..3 {
            assert_eq!(browser.sign_in(&name, "not it", "/").status, 400);
        }
        assert_eq!(browser.sign_in(&name, "not it", "/").status, 429);
        browser.cookies
    };
    server.crash_and_restart();
    let mut browser = Browser::new(&server);
    browser.cookies = cookies;
    let response = browser.sign_in(&name, "a long secret", "/");
    assert_eq!(response.status, 429, "not even with the right password");
    assert!(response.header_number("retry-after") > 0);
}

#[test]
fn browser_of_the_owner_signs_in_while_others_are_throttled() {
    let server = TestServer::start(&["--world", "empty"]);
    let name = someone(&server);
    let mut owner = Browser::new(&server);
    assert_eq!(owner.sign_in(&name, "a long secret", "/").status, 303);
    let page = owner.get("/logout");
    owner.submit(&page, "/logout", &[]);
    assert!(owner.cookies.contains_key("locum-device") && !owner.cookies.contains_key("locum"));
    let mut stranger = Browser::new(&server);
    while stranger.sign_in(&name, "not it", "/").status != 429 {}
    let mut forger = Browser::new(&server);
    forger.cookies.insert("locum-device".to_owned(), owner.cookies["locum-device"].replace('.', ".x"));
    assert_eq!(forger.sign_in(&name, "a long secret", "/").status, 429);
    assert_eq!(owner.sign_in(&name, "a long secret", "/").status, 303);
    // Whoever knew an earlier password guesses as strangers do.
    server.run_cli(&["user", "password", &name, "--password", "another secret"]).assert_success();
    owner.cookies.remove("locum");
    assert_eq!(owner.sign_in(&name, "another secret", "/").status, 429);
}

#[test]
fn guesses_in_another_session_do_not_keep_the_owner_from_changing_password_and_email() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut owner, name) = Browser::of_someone(&server);
    let mut thief = Browser::new(&server);
    assert_eq!(thief.sign_in(&name, "a long secret", "/").status, 303);
    let change = |browser: &mut Browser<'_>, form: &str, fields: &[(&str, &str)]| {
        let page = browser.get("/settings/account");
        browser.submit(&page, &format!("/settings/account/{form}"), fields).status
    };
    let password = |current| [("current", current), ("password", "tr4ms stop here")];
    let email = |current| [("email", "new@mail.example"), ("email_password", current)];
    while change(&mut thief, "password", &password("not it")) != 429 {}
    assert_eq!(change(&mut thief, "email", &email("a long secret")), 429);
    assert_eq!(change(&mut owner, "email", &email("a long secret")), 200);
    assert_eq!(change(&mut owner, "password", &password("a long secret")), 303);
}

/// Sign-in forms, filled in, each as from another address.
fn attempts(server: &TestServer, count: usize) -> Vec<TestRequest> {
    let name = someone(server);
    let mut browser = Browser::new(server);
    let page = browser.get("/login");
    let mut fields = hidden(&page.text(), "/login");
    fields.insert("login".to_owned(), name);
    fields.insert("password".to_owned(), "not it".to_owned());
    let pairs = browser.cookies.iter();
    let cookies: Vec<_> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    let cookies = cookies.join("; ");
    let request = |at: usize| {
        let address = format!("198.51.{}.{}", at / 250, at % 250 + 1);
        posted("/login", &fields).header("cookie", &cookies).header("x-forwarded-for", address)
    };
    (0..count).map(request).collect()
}

/// How long each of some reads takes, in order.
fn reads(server: &TestServer, count: usize, request: &TestRequest) -> Vec<Duration> {
    let mut took: Vec<_> = (0..count)
        .map(|_| {
            let start = base::clock::monotonic_now();
            server.send(request.clone()).assert_status(200);
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    took
}

/// While passwords are hashed, reads go on: none waits for the queue of those who sign in. With 200 sign-ins, on an idle
/// machine, they take at most three times as long as without.
#[test]
fn reads_are_not_delayed_by_sign_ins() {
    let sign_ins = std::env::var("LOCUM_SIGN_INS").map_or(20, |text| text.parse().unwrap());
    let is_measured = sign_ins >= 200;
    let count = if is_measured { 2000 } else { 20 };
    let server = TestServer::start(&["--set", "listen.trusted_proxies=127.0.0.1"]);
    let user = server.new_user("reader");
    let id = user.publish_text("Still here");
    let request = TestRequest::get(format!("/2/posts?ids={id}")).bearer(&user.token);
    let attempts = attempts(&server, sign_ins);
    let p99 = |took: &[Duration]| took[took.len() * 99 / 100];
    let before = p99(&reads(&server, count, &request));
    std::thread::scope(|scope| {
        let start = base::clock::monotonic_now();
        let all: Vec<_> = attempts.into_iter().map(|attempt| scope.spawn(|| server.send(attempt).status)).collect();
        let took = reads(&server, count, &request);
        let at_once = start.elapsed();
        for one in all {
            assert!(matches!(one.join().unwrap(), 400 | 429));
        }
        let queue = start.elapsed();
        let during = p99(&took);
        eprintln!("{sign_ins} sign-ins: p99 of a read {before:?}, meanwhile {during:?}");
        if is_measured {
            assert!(during < before * 3, "{before:?} {during:?}");
        } else {
            // Behind the queue, twenty reads would take twenty times as long as it.
            assert!(at_once < queue * 3, "{took:?} beside {queue:?}");
        }
    });
}
