//! Backups, exports and archives.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{
    DatabaseEngine, TestRequest, TestServer, TestUser, run_command, suite_engine, without_impressions,
    without_short_links, written_text,
};

#[test]
fn postgres_database_is_left_to_its_own_tools() {
    let server = TestServer::start(&[]);
    let (copy, folder) = (server.sibling_path("copy.tar"), server.sibling_path("media-backups/"));
    let ran = server.run_cli(&["backup", copy.to_str().unwrap()]);
    if suite_engine() == DatabaseEngine::Postgres {
        assert!(ran.code == 1 && ran.stderr.contains("pg_dump"), "{ran:?}");
    }
    server.run_cli(&["backup", folder.to_str().unwrap(), "--media-only"]).assert_success();
    let verified = server.run_cli(&["restore", folder.to_str().unwrap(), "--verify"]).json();
    assert!(verified["verified"] == true && verified["check"].is_null(), "{verified}");
}

#[test]
fn invalid_backup_file_is_not_restored() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    server.stop();
    let fake = server.sibling_path("fake");
    for bytes in [&b""[..], b"SQLite format 3\0 and then nothing", &[7; 10_000]] {
        std::fs::write(&fake, bytes).unwrap();
        let ran = server.run_cli(&["restore", fake.to_str().unwrap(), "--replace"]);
        assert_ne!(ran.code, 0, "{ran:?}");
    }
    server.restart();
    server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
}

#[test]
fn export_is_imported_elsewhere_and_importing_twice_changes_nothing() {
    let server = TestServer::start(&[]);
    let user = server.new_user("moving");
    let friend = server.new_user("friend");
    user.import_follows(&[&friend]);
    let root = user.publish_text("A root with #tag & <b> https://example.com/x");
    let reply = json!({ "text": "A reply", "reply": { "in_reply_to_post_id": root } });
    let reply = friend.create_post(&reply).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let act = |kind: &str| {
        let path = format!("/2/users/{}/{kind}", friend.id);
        friend.post(path, &json!({ "tweet_id": root })).assert_status(200)["data"].clone()
    };
    act("likes");
    let repost = act("retweets")["id"].as_str().unwrap().to_owned();
    let file = server.sibling_path("all.jsonl");
    server.run_cli(&["export", "--jsonl", file.to_str().unwrap()]).assert_success();

    let other = TestServer::start(&["--world", "empty"]);
    for _ in 0..2 {
        other.run_cli(&["import", "jsonl", file.to_str().unwrap()]).assert_success();
    }
    let reader = other.new_user("reader");
    let fields = "created_at,entities,conversation_id,referenced_posts,in_reply_to_user_id,lang,text,public_metrics";
    for id in [&root, &reply, &repost] {
        let shown = |viewer: &TestUser<'_>| without_impressions(without_short_links(viewer.fetch_post(id, fields)));
        assert_eq!(shown(&reader), shown(&friend));
    }
    let following = reader.get(format!("/2/users/{}/following", user.id)).assert_status(200);
    assert_eq!(following["data"][0]["id"], friend.id);
    let posts = |reader: &TestUser<'_>| {
        let path = format!("/2/users/{}/posts?max_results=100&post.fields=entities", server.env_value("USER_ID"));
        let page = reader.get(path).assert_status(200);
        page["data"].as_array().unwrap().iter().cloned().map(without_short_links).collect::<Vec<Value>>()
    };
    assert_eq!(posts(&reader), posts(&friend));
    assert_eq!(other.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn account_archive_is_imported_and_read_through_the_api() {
    let server = TestServer::start(&["--world", "empty"]);
    let folder = server.sibling_path("archive");
    write_archive(&folder);
    let path = folder.to_str().unwrap();
    let report = server.run_cli(&["import", "archive", path]).json();
    let again = server.run_cli(&["import", "archive", path]).json();
    let reader = server.new_user("reader");
    let me = reader.get("/2/users/by/username/archivist?user.fields=description").assert_status(200);
    assert_eq!(me["data"]["id"], "2244994945", "{report}");
    assert_eq!(me["data"]["description"], "Keeps things");
    let timeline =
        reader.get("/2/users/2244994945/posts?max_results=100&post.fields=created_at,entities").assert_status(200);
    assert_eq!(timeline["meta"]["result_count"], 30, "{again}");
    let first = timeline["data"].as_array().unwrap().last().unwrap();
    assert_eq!(first["text"], "Post 0 &amp; more #kept");
    assert_eq!(first["entities"]["hashtags"][0]["tag"], "kept");
    let following = reader.get("/2/users/2244994945/following").assert_status(200);
    assert_eq!(following["meta"]["result_count"], 1, "{following}");
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn import_of_an_archive_says_how_its_owner_can_sign_in() {
    let server = TestServer::start(&["--world", "empty"]);
    let folder = server.sibling_path("archive");
    write_archive(&folder);
    let place = server.location_args();
    let import = || {
        let args = ["import", "archive", folder.to_str().unwrap()];
        let args: Vec<&str> = args.into_iter().chain(place.iter().map(String::as_str)).collect();
        run_command(Path::new("/"), &args).assert_success().stderr.clone()
    };
    let hint = import();
    assert!(hint.contains("`locum user password archivist`"), "{hint}");
    server.run_cli(&["user", "password", "archivist"]).assert_success();
    assert_eq!(import(), "");
}

/// The smallest archive that is one (the official form, a folder).
fn write_archive(folder: &Path) {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let file = |name: &str, value: Value| {
        let variable = name.replace('-', "_");
        let text = format!("window.YTD.{variable}.part0 = {value}");
        std::fs::write(data.join(format!("{name}.js")), text).unwrap();
    };
    let account = json!({
        "accountId": "2244994945", "username": "archivist", "accountDisplayName": "The Archivist",
        "email": "a@example.com", "createdAt": "2013-12-14T04:35:55.036Z", "createdVia": "web",
    });
    file("account", json!([{ "account": account }]));
    let description = json!({ "bio": "Keeps things", "website": "", "location": "" });
    file("profile", json!([{ "profile": { "description": description, "avatarMediaUrl": "" } }]));
    let post = |number: u64| {
        json!({ "tweet": {
            "id_str": (1_500_000_000_000_000_000 + number).to_string(),
            "id": (1_500_000_000_000_000_000 + number).to_string(),
            "created_at": "Sat Mar 05 06:02:11 +0000 2022",
            "full_text": format!("Post {number} &amp; more #kept"),
            "lang": "en", "favorite_count": "0", "retweet_count": "0", "truncated": false,
            "entities": { "hashtags": [], "symbols": [], "user_mentions": [], "urls": [] },
        } })
    };
    file("tweets", (0..30).map(post).collect());
    let link = "https://twitter.com/intent/user?user_id=12";
    file("following", json!([{ "following": { "accountId": "12", "userLink": link } }]));
    let kinds = ["account", "profile", "tweets", "following"];
    let mut types = serde_json::Map::new();
    for kind in kinds {
        let mut name = String::new();
        let _infallible = write!(name, "YTD.{kind}.part0");
        let files = json!([{ "fileName": format!("data/{kind}.js"), "globalName": name, "count": "1" }]);
        types.insert(kind.to_owned(), json!({ "files": files }));
    }
    let manifest = json!({
        "userInfo": { "accountId": "2244994945", "userName": "archivist", "displayName": "The Archivist" },
        "archiveInfo": { "sizeBytes": "1", "generationDate": "2026-01-01T00:00:00.000Z", "isPartialArchive": false },
        "readmeInfo": {}, "dataTypes": types,
    });
    std::fs::write(data.join("manifest.js"), format!("window.__THAR_CONFIG = {manifest}")).unwrap();
}

#[test]
fn unreadable_import_line_is_reported_and_skipped() {
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("target");
    let lines = [
        json!(17),
        json!({ "kind": "nonsense" }),
        json!({ "kind": "post", "id": "x" }),
        json!({ "kind": "follow", "from": user.id }),
    ];
    let ran = server.import_lines(&lines);
    ran.assert_exit_code(1);
    assert!(ran.stderr.contains("no line was imported") && ran.stderr.contains(".jsonl:1: "), "{ran:?}");
    let usable = json!({ "kind": "user", "id": "7", "handle": "readable", "name": "Readable" });
    let report = server.import_lines(&[json!(17), usable]).json();
    assert_eq!(report["taken"]["user"], 1, "{report}");
    assert_eq!(server.import_lines(&[]).assert_success().json()["records"], 0);
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
    user.get("/2/users/me").assert_status(200);
    server.run_cli(&["import", "jsonl", "/nowhere/at/all"]).assert_exit_code(1);
    server.run_cli(&["import", "archive", "/nowhere/at/all"]).assert_exit_code(1);
}

#[test]
fn real_posts_are_imported_and_paged() {
    let Some(file) = std::env::var_os("LOCUM_VADER_FILE") else {
        eprintln!("skipped: LOCUM_VADER_FILE is not set (scripts/fetch-test-data prints it)");
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let texts: Vec<&str> = text.lines().filter_map(|line| line.splitn(3, '\t').nth(2)).collect();
    assert!(texts.len() > 3_000, "{}", texts.len());
    let server = TestServer::start(&["--world", "empty"]);
    let (author, began) = ("7", 1_600_000_000_000_u64);
    let user =
        json!({ "kind": "user", "id": author, "handle": "realist", "name": "A Realist", "created_at_ms": began });
    let post = |(number, text): (u64, &&str)| {
        let at = began + number * 60_000;
        let id = ((at - 1_288_834_974_657) << 22).to_string();
        json!({ "kind": "post", "id": id, "author": author, "created_at_ms": at, "text": text })
    };
    let posts = (0..).zip(&texts).map(post);
    let lines: Vec<Value> = std::iter::once(user).chain(posts).collect();
    server.import_lines(&lines).assert_success();
    server.import_lines(&lines).assert_success();
    let reader = server.new_user("reader");
    let path = format!("/2/users/{author}/posts?max_results=100&post.fields=created_at,entities,note_post");
    let (mut token, mut read) = (String::new(), Vec::new());
    loop {
        let page = reader.get(format!("{path}{token}")).assert_status(200);
        for post in page["data"].as_array().unwrap() {
            let whole = if post["note_post"].is_object() { &post["note_post"] } else { post };
            read.push(written_text(&whole["text"], &whole["entities"]).replace("http://", ""));
        }
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("&pagination_token={next}"),
            None => break,
        }
    }
    // The newest 3,200 are within reach.
    let newest: Vec<String> =
        texts.iter().rev().take(read.len()).map(|text| shown(text).replace("http://", "")).collect();
    assert_eq!(read.len(), 3_200);
    for (read, expected) in read.iter().zip(&newest) {
        assert_eq!(read, expected);
    }
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}

/// A text as the interface shows it.
fn shown(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
