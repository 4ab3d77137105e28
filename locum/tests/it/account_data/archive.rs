//! Downloading one's own data as an archive.

use std::io::{Cursor, Read};

use serde_json::json;

use super::{DATA_PATH, PASSWORD, signed_in};
use crate::harness::{TestRequest, TestResponse, TestServer, shared_server};
use crate::media::{at_once, samples};
use crate::pages::browser::{Browser, hidden, posted};

const ARCHIVE_PATH: &str = "/settings/data/archive";

fn download(browser: &mut Browser<'_>, password: &str) -> TestResponse {
    let page = browser.get(DATA_PATH);
    browser.submit(&page, ARCHIVE_PATH, &[("archive_password", password)])
}

#[test]
fn archive_of_one_server_is_imported_into_another() {
    let server = TestServer::start(&["--world", "empty"]);
    let (user, mut browser) = signed_in(&server, "mover");
    let friend = server.new_user("friend");
    let profile = ["--description", "Boats & <bread>", "--location", "Lagos", "--website", "https://sea.example/"];
    server.run_cli(&[&["user", "edit", &user.id][..], &profile].concat()).assert_success();
    let file = samples::jpeg(60, 40);
    let media = at_once(&user, "tweet_image", &file).assert_status(200);
    let media = media["data"]["id"].as_str().unwrap();
    let picture = json!({ "text": "Fish & <chips>", "media": { "media_ids": [media] } });
    user.create_post(&picture).assert_status(201);
    let theirs = friend.publish_text("Liked & shared");
    let reply = json!({ "text": "An answer", "reply": { "in_reply_to_post_id": theirs } });
    user.create_post(&reply).assert_status(201);
    for act in ["likes", "retweets"] {
        user.post(format!("/2/users/{}/{act}", user.id), &json!({ "tweet_id": theirs })).assert_status(200);
    }
    user.import_follows(&[&friend]);
    friend.import_follows(&[&user]);
    user.post("/2/lists", &json!({ "name": "Friends" })).assert_status(201);
    let path = format!("/2/dm_conversations/with/{}/messages", friend.id);
    user.post(path, &json!({ "text": "Hello & bye" })).assert_status(201);
    let (map, path) = (samples::png(50, 30), format!("/2/dm_conversations/with/{}/messages", user.id));
    let sent = at_once(&friend, "dm_image", &map).assert_status(200)["data"]["id"].clone();
    friend.post(path, &json!({ "attachments": [{ "media_id": sent }] })).assert_status(201);

    assert!(download(&mut browser, "not my secret").assert_page(400).contains("The password is wrong"));
    let archive = download(&mut browser, PASSWORD);
    assert_eq!((archive.status, archive.header("content-type")), (200, "application/zip"));
    let name = format!("attachment; filename=\"archive-{}.zip\"", user.username);
    assert_eq!((archive.header("content-disposition"), archive.header("cache-control")), (name.as_str(), "no-store"));
    let zip = server.sibling_path("archive.zip");
    std::fs::write(&zip, &archive.body).unwrap();
    assert_eq!(message_files(&archive.body), [map]);

    let other = TestServer::start(&["--world", "empty"]);
    let report = other.run_cli(&["import", "archive", zip.to_str().unwrap(), "--messages"]).assert_success().json();
    let reader = other.new_user("reader");
    let fields = "user.fields=description,location,url";
    let shown = reader.get(format!("/2/users/by/username/{}?{fields}", user.username)).assert_status(200);
    let shown = &shown["data"];
    assert_eq!((&shown["id"], &shown["location"]), (&json!(user.id), &json!("Lagos")), "{report}");
    assert_eq!(shown["description"], "Boats & <bread>");
    let path = format!("/2/users/{}/posts?max_results=100&expansions=attachments.media_keys&media.fields=url", user.id);
    let posts = reader.get(path).assert_status(200);
    let texts: Vec<&str> = posts["data"].as_array().unwrap().iter().filter_map(|post| post["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("Fish &amp; &lt;chips&gt;")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("An answer")), "{texts:?}");
    let url = posts["includes"]["media"][0]["url"].as_str().unwrap();
    assert_eq!(other.send(TestRequest::get(url.strip_prefix(&other.url).unwrap())).body, file);
    let taken = &report["taken"];
    assert_eq!((&taken["like"], &taken["follow"]), (&json!(1), &json!(2)), "{report}");
    assert_eq!((&taken["message"], &taken["list"]), (&json!(2), &json!(1)), "{report}");
    assert_eq!(other.run_cli(&["fsck"]).json()["sound"], true);
}

/// The files of messages in an archive.
fn message_files(archive: &[u8]) -> Vec<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let names = names.into_iter().filter(|name| name.starts_with("data/direct_messages_media/"));
    let read = names.map(|name| {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    });
    read.collect()
}

#[test]
fn liked_post_that_its_owner_may_no_longer_see_is_in_the_archive_without_its_text() {
    let server = shared_server();
    let (user, mut browser) = signed_in(server, "reader");
    let (open, closed) = (server.new_user("open"), server.new_user("closed"));
    for (author, text) in [(&open, "For everyone"), (&closed, "For followers only")] {
        let post = author.publish_text(text);
        let body = json!({ "tweet_id": post });
        user.post(format!("/2/users/{}/likes", user.id), &body).assert_status(200);
    }
    server.run_cli(&["user", "protect", &closed.username]).assert_success();
    let bytes = download(&mut browser, PASSWORD).body;
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut likes = String::new();
    archive.by_name("data/like.js").unwrap().read_to_string(&mut likes).unwrap();
    assert!(likes.contains("For everyone") && !likes.contains("For followers only"), "{likes}");
    assert_eq!(likes.matches("tweetId").count(), 2, "{likes}");
}

#[test]
fn archive_is_sent_to_its_owner_only_and_three_times() {
    let server = shared_server();
    let (_, mut browser) = signed_in(server, "owner");
    let (_, stranger) = signed_in(server, "stranger");
    let fields = hidden(&browser.get(DATA_PATH).text(), ARCHIVE_PATH);
    for mut visitor in [Browser::new(server), stranger] {
        let mut all = fields.clone();
        all.insert("archive_password".to_owned(), PASSWORD.to_owned());
        let reply = visitor.send(posted(ARCHIVE_PATH, &all));
        assert_ne!((reply.status, reply.header("content-type")), (200, "application/zip"));
    }
    assert!(browser.get(ARCHIVE_PATH).status >= 400);
    for _ in 0..3 {
        assert_eq!(download(&mut browser, PASSWORD).status, 200);
    }
    assert!(download(&mut browser, PASSWORD).assert_page(429).contains("Too many attempts"));
}
