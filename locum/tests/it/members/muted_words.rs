//! Muted words: what they hide on the home timeline and the notifications page, and what they do not.

use super::{press, signed_in};
use crate::harness::{TestServer, shared_server, wait_until};
use crate::pages::browser::Browser;

const WORDS: &str = "/settings/muted_words";

fn mute(browser: &mut Browser<'_>, word: &str, duration: &str) -> u16 {
    let page = browser.get(WORDS);
    browser.submit(&page, WORDS, &[("word", word), ("duration", duration)]).status
}

#[test]
fn posts_with_muted_words_are_not_on_the_home_timeline() {
    let server = shared_server();
    let author = server.new_user("spoiling");
    let third = server.new_user("repeating");
    let (reader, mut browser) = signed_in(server, "waiting");
    for other in [&author, &third] {
        assert_eq!(press(&mut browser, &format!("/{}", other.username), &format!("follow {}", other.id)), 303);
    }
    author.publish_text("The FINALE was great");
    let tagged = author.publish_text("All of it #finale");
    author.publish_text("The finalest of all");
    author.publish_text("She won  the cup");
    let body = serde_json::json!({ "tweet_id": tagged });
    third.post(format!("/2/users/{}/retweets", third.id), &body).assert_status(200);
    let page = browser.get("/home");
    assert_eq!(browser.submit(&page, "/compose", &[("text", "My own finale")]).status, 303);
    assert!(browser.get("/home").assert_page(200).contains("The FINALE was great"));
    assert!(browser.get(WORDS).assert_page(200).contains("You have not muted any words"));
    assert_eq!(mute(&mut browser, "Finale", "day"), 303);
    assert_eq!(mute(&mut browser, "won the cup", ""), 303);
    for wrong in [" ", "!?", &*"x".repeat(141)] {
        assert_eq!(mute(&mut browser, wrong, ""), 400, "{wrong}");
    }
    let home = browser.get("/home").assert_page(200);
    for (text, is_shown) in [
        ("The FINALE was great", false),
        ("All of it", false),
        ("The finalest of all", true),
        ("the cup", false),
        ("My own finale", true),
    ] {
        assert_eq!(home.contains(text), is_shown, "{text}");
    }
    let profile = browser.get(format!("/{}", author.username)).assert_page(200);
    assert!(profile.contains("The FINALE was great"), "profiles show all posts");
    let timeline = reader.get(format!("/2/users/{}/timelines/reverse_chronological", reader.id)).assert_status(200);
    assert!(timeline.to_string().contains("The FINALE was great"), "the API shows all posts");
    let page = browser.get(WORDS);
    let shown = page.text();
    assert!(shown.contains("finale") && shown.contains("For good") && shown.contains("Until "), "{shown}");
    let ids = shown.split("name=\"remove\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    for id in ids.collect::<Vec<_>>() {
        assert_eq!(browser.submit(&page, WORDS, &[("remove", &id)]).status, 303);
    }
    assert!(browser.get("/home").assert_page(200).contains("The FINALE was great"));
}

#[test]
fn page_that_loses_many_posts_is_filled_with_older_ones() {
    let server = shared_server();
    let author = server.new_user("flooding");
    let (_, mut browser) = signed_in(server, "reading");
    assert_eq!(press(&mut browser, &format!("/{}", author.username), &format!("follow {}", author.id)), 303);
    for number in 0..20 {
        author.publish_text(&format!("Older {number}."));
    }
    for number in 0..45 {
        author.publish_text(&format!("Noise {number}"));
    }
    assert_eq!(mute(&mut browser, "noise", "week"), 303);
    let home = browser.get("/home").assert_page(200);
    assert_eq!(home.matches("Older ").count(), 20, "{home}");
    assert!(!home.contains("Noise"));
}

#[test]
fn posts_with_muted_words_are_not_notified_until_the_time_is_over() {
    let server = TestServer::start(&[]);
    let (reader, mut browser) = signed_in(&server, "notified");
    let author = server.new_user("mentioning");
    author.publish_text(&format!("@{} the finale, at last", reader.username));
    author.publish_text(&format!("@{} good morning", reader.username));
    wait_until("both are notified", || {
        let page = browser.get("/notifications").text();
        page.contains("at last") && page.contains("good morning")
    });
    assert_eq!(mute(&mut browser, "finale", "day"), 303);
    for path in ["/notifications", "/notifications?tab=mentions"] {
        let page = browser.get(path).assert_page(200);
        assert!(!page.contains("at last") && page.contains("good morning"), "{path}");
    }
    server.run_cli(&["clock", "advance", "25h"]).assert_success();
    assert!(browser.get("/notifications").assert_page(200).contains("at last"));
    assert!(browser.get(WORDS).assert_page(200).contains("You have not muted any words"));
}

#[test]
fn posts_with_muted_words_are_not_counted_as_unread() {
    let server = shared_server();
    let (reader, mut browser) = signed_in(server, "counting");
    let author = server.new_user("countedby");
    for text in ["good morning", "the finale, at last", "good night"] {
        author.publish_text(&format!("@{} {text}", reader.username));
    }
    let badge = |count: usize| format!(r#"<span class="count">{count}<span class="unseen"> unread</span></span>"#);
    wait_until("all are counted", || browser.get("/home").text().contains(&badge(3)));
    assert_eq!(mute(&mut browser, "finale", "day"), 303);
    assert!(browser.get("/home").assert_page(200).contains(&badge(2)));
}
