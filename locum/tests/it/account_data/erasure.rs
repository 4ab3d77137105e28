//! What is left of an account whose time to be restored is over.

use std::time::Duration;

use serde_json::{Value, json};

use super::{delete_own_account, is_shown, signed_in};
use crate::harness::{StreamClient, TestRequest, TestServer, TestUser, shared_server, wait_until};
use crate::pages::browser::Browser;
use crate::passkeys::{SoftwarePasskey, add_passkey, use_host_name};
use crate::two_factor::Authenticator;

const ERASED_ROWS: &[(&str, &str)] = &[
    ("post_like", "user_id"),
    ("bookmark", "user_id"),
    ("follow", "source_id"),
    ("follow", "target_id"),
    ("list_member", "user_id"),
    ("dm_inbox", "user_id"),
    ("session", "user_id"),
    ("two_factor", "user_id"),
    ("recovery_code", "user_id"),
    ("passkey", "user_id"),
    ("unpublished_post", "user_id"),
    ("unpublished_community_post", "user_id"),
    ("muted_word", "user_id"),
    ("notification_setting", "user_id"),
    ("oauth2_token", "user_id"),
    ("app_grant", "user_id"),
    ("interaction", "actor_id"),
    ("product_catalog", "user_id"),
];

/// The number of rows that a query counts in the database of a server that is stopped.
fn count_rows(server: &TestServer, sql: &str) -> i64 {
    let file = server.data_dir().join("locum.db");
    if !file.exists() {
        return server.database().query_number(sql);
    }
    let database = rusqlite::Connection::open(file).unwrap();
    database.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Of the command `user list`.
fn listed(server: &TestServer, id: &str) -> Value {
    let after = (id.parse::<i64>().unwrap() - 1).to_string();
    server.run_cli(&["user", "list", "--after", &after, "--limit", "1"]).json()[0].clone()
}

fn is_erased(server: &TestServer, id: &str) -> bool {
    let entries = server.run_cli(&["audit", "list", "--limit", "100"]).assert_success().stdout.clone();
    entries.contains("user.erase") && entries.contains(id)
}

/// Two accounts with posts, likes, follows, lists, bookmarks and messages of each other.
fn connect(user: &TestUser<'_>, other: &TestUser<'_>) -> (String, String) {
    let (own, theirs) = (user.publish_text("To be erased"), other.publish_text("To stay"));
    for (one, id, target) in [(user, &theirs, other), (other, &own, user)] {
        let body = json!({ "tweet_id": id });
        one.post(format!("/2/users/{}/likes", one.id), &body).assert_status(200);
        one.post(format!("/2/users/{}/bookmarks", one.id), &body).assert_status(200);
        one.post(format!("/2/users/{}/retweets", one.id), &body).assert_status(200);
        one.import_follows(&[target]);
        let list = one.post("/2/lists", &json!({ "name": "Friends" })).assert_status(201);
        let path = format!("/2/lists/{}/members", list["data"]["id"].as_str().unwrap());
        one.post(path, &json!({ "user_id": target.id })).assert_status(200);
    }
    user.send_signed(TestRequest::post("/12/product_catalogs?name=Shop")).assert_status(200);
    let path = format!("/2/dm_conversations/with/{}/messages", other.id);
    user.post(path, &json!({ "text": "A last word" })).assert_status(201);
    (own, theirs)
}

/// What nobody but the member ever sees.
fn keep_secrets(browser: &mut Browser<'_>, community: &str) {
    add_passkey(browser, SoftwarePasskey::es256(browser.server), "");
    Authenticator::enrol(browser, super::PASSWORD);
    for path in ["/compose".to_owned(), format!("/compose?community={community}")] {
        let page = browser.get(path);
        let fields = [("text", "Not finished"), ("act", "draft")];
        assert_eq!(browser.submit(&page, "/compose", &fields).status, 303);
    }
    let page = browser.get("/settings/muted_words");
    assert_eq!(browser.submit(&page, "/settings/muted_words", &[("word", "fog horn")]).status, 303);
    let page = browser.get("/settings/notifications");
    let kinds = ["mention", "reply", "quote", "repost", "like", "follow", "follow_request"];
    let fields = kinds.map(|kind| (kind, "nobody"));
    assert_eq!(browser.submit(&page, "/settings/notifications", &fields).status, 303);
}

#[test]
fn data_is_erased_when_the_time_to_restore_is_over() {
    let mut server = TestServer::start(&[]);
    use_host_name(&mut server);
    let running = &server;
    let (user, mut browser) = signed_in(running, "leaver");
    let other = running.new_user("stays");
    let (own, theirs) = connect(&user, &other);
    let community = running.run_cli(&["community", "create", "Net menders", "--owner", &other.id]).json();
    keep_secrets(&mut browser, community["id"].as_str().unwrap());
    running.run_cli(&["space", "create", &user.id, "--title", "Evening talk"]).assert_success();
    running.run_cli(&["space", "create", &user.id, "--title", "Morning talk", "--start", "2h"]).assert_success();
    delete_own_account(&mut browser);
    let moved = running.run_cli(&["clock", "advance", "29d"]).assert_success().json();
    assert!(moved["report"]["jobs"]["account_deletions"].is_null(), "{moved}");
    assert_eq!(listed(running, &user.id)["posts"], 2);
    let moved = running.run_cli(&["clock", "advance", "2d"]).assert_success().json();
    assert!(moved["report"]["jobs"]["account_deletions"].as_i64().unwrap() > 5, "{moved}");

    let user_state = listed(running, &user.id);
    assert_eq!((&user_state["state"], &user_state["posts"]), (&json!("deleted"), &json!(0)));
    assert_eq!(user_state["followers"], 0);
    let refused = running.run_cli(&["user", "restore", &user.username]);
    assert!(refused.code == 1 && refused.stderr.contains("cannot be restored"), "{refused:?}");
    let mut browser = Browser::new(running);
    assert_eq!(browser.sign_in(&user.username, super::PASSWORD, "/home").status, 400);
    let reader = running.new_user("reader");
    assert!(!is_shown(&reader, &format!("/2/users/{}", user.id)));
    assert!(!is_shown(&reader, &format!("/2/tweets/{own}")));
    let left = reader.fetch_post(&theirs, "public_metrics");
    for count in ["like_count", "retweet_count", "bookmark_count"] {
        assert!(left["public_metrics"][count].as_i64().unwrap_or(0) == 0, "{count}: {left}");
    }
    let path = format!("/2/users/{}?user.fields=public_metrics", other.id);
    let metrics = reader.get(path).assert_status(200)["data"]["public_metrics"].clone();
    for count in ["followers_count", "following_count", "like_count", "listed_count"] {
        assert_eq!(metrics[count].as_i64().unwrap_or(0), 0, "{count}: {metrics}");
    }
    // The username is not given to anyone else.
    let taken = running.run_cli(&["user", "create", &user.username]);
    assert!(taken.code == 1 && taken.stderr.contains("taken"), "{taken:?}");
    assert!(is_erased(running, &user.id));
    assert_eq!(running.run_cli(&["fsck"]).json()["sound"], true);
    let (id, other) = (user.id.clone(), other.id.clone());
    server.stop();
    for (table, column) in ERASED_ROWS {
        assert_eq!(count_rows(&server, &format!("SELECT COUNT(*) FROM {table} WHERE {column} = {id}")), 0, "{table}");
    }
    let posts = format!("SELECT COUNT(*) FROM post WHERE author_id = {id} AND (state <> 2 OR text <> '')");
    assert_eq!(count_rows(&server, &posts), 0);
    let spaces = format!("SELECT COUNT(*) FROM space WHERE creator_id = {id} AND (title <> '' OR state < 2)");
    assert_eq!(count_rows(&server, &spaces), 0);
    let words = "SELECT COUNT(*) FROM space_word WHERE space_id IN (SELECT id FROM space WHERE creator_id =";
    assert_eq!(count_rows(&server, &format!("{words} {id})")), 0);
    let account = format!("SELECT COUNT(*) FROM users WHERE id = {id} AND password_hash = '' AND email = ''");
    assert_eq!(count_rows(&server, &account), 1);
    // The other one keeps the message.
    let kept = format!("SELECT COUNT(*) FROM dm_inbox WHERE user_id = {other}");
    assert_eq!(count_rows(&server, &kept), 1);
}

#[test]
fn erasure_goes_on_after_a_crash() {
    let mut server = TestServer::start(&[]);
    let id = {
        let user = server.new_user("writer");
        for number in 0..200 {
            user.publish_text(&format!("Post number {number}"));
        }
        user.id
    };
    let ordered = server.run_cli(&["user", "delete", &id, "--now"]);
    ordered.assert_success();
    server.crash_and_restart();
    wait_until("the account is erased", || is_erased(&server, &id));
    assert_eq!(listed(&server, &id)["posts"], 0);
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn compliance_streams_tell_of_the_account_and_of_each_post() {
    let server = shared_server();
    let app = server.new_app("enterprise");
    let open = |kind: &str, part: u32| {
        StreamClient::open(server, &format!("/2/{kind}/compliance/stream?partition={part}"), &app.bearer)
    };
    let mut streams: Vec<StreamClient> = (1..=4).flat_map(|part| [open("users", part), open("tweets", part)]).collect();
    let user = server.new_user("leaver");
    let post = user.publish_text("To be erased");
    server.run_cli(&["user", "delete", &user.id, "--now"]).assert_success();
    let mut names = Vec::new();
    wait_until("the streams are told", || {
        for stream in &mut streams {
            while let Some(message) = stream.next_within(Duration::from_millis(20)) {
                let data = message["data"].as_object().cloned().unwrap_or_default();
                let about = data
                    .iter()
                    .filter(|(_, event)| event["tweet"]["id"] == json!(post) || event["user"]["id"] == json!(user.id));
                names.extend(about.map(|(name, _)| name.clone()));
            }
        }
        names.len() >= 2
    });
    names.sort_unstable();
    assert_eq!(names, ["delete", "user_delete"]);
}
