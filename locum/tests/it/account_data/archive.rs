//! Downloading one's own data as an archive.

use std::io::{Cursor, Read};

use serde_json::{Value, json};

use super::{DATA_PATH, PASSWORD, signed_in};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server};
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
    let community = ["community", "create", "Behind doors", "--owner", &user.id, "--access", "Closed"];
    let community = server.run_cli(&community).json()["id"].clone();
    user.create_post(&json!({ "text": "Among us", "community_id": community })).assert_status(201);
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
    assert!(!posts.to_string().contains("Among us"), "{posts}");
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

/// The elements of a data file.
fn read_elements(archive: &[u8], name: &str) -> Value {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut text = String::new();
    archive.by_name(&format!("data/{name}.js")).unwrap().read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once(" = ").unwrap().1).unwrap()
}

fn find_element<'e>(posts: &'e Value, beginning: &str) -> &'e Value {
    let mut posts = posts.as_array().unwrap().iter().map(|element| &element["tweet"]);
    posts.find(|post| post["full_text"].as_str().unwrap().starts_with(beginning)).unwrap()
}

#[test]
fn archive_has_bookmarks_muted_words_and_drafts() {
    let server = shared_server();
    let (user, mut browser) = signed_in(server, "saver");
    let ids = ["Kept & <read>", "Filed"].map(|text| server.new_user("author").publish_text(text));
    let bookmarks = format!("/2/users/{}/bookmarks", user.id);
    let folder = user.post(format!("{bookmarks}/folders"), &json!({ "name": "Later & more" })).assert_status(201);
    let folder = folder["data"]["id"].as_str().unwrap();
    user.post(&bookmarks, &json!({ "tweet_id": ids[0] })).assert_status(200);
    user.post(&bookmarks, &json!({ "tweet_id": ids[1], "folder_id": folder })).assert_status(200);
    let page = browser.get("/settings/muted_words");
    assert_eq!(browser.submit(&page, "/settings/muted_words", &[("word", "noise")]).status, 303);
    let page = browser.get("/compose");
    assert_eq!(browser.submit(&page, "/compose", &[("text", "Not <yet>"), ("act", "draft")]).status, 303);

    let archive = download(&mut browser, PASSWORD).body;
    let link = |id: &str| format!("{}/i/web/status/{id}", server.url);
    let bookmark = |id: &str, text: &str, folders: &[&str]| json!({"bookmark": {"tweetId": id, "fullText": text, "expandedUrl": link(id), "folders": folders}});
    let expected =
        [bookmark(&ids[1], "Filed", &["Later &amp; more"]), bookmark(&ids[0], "Kept &amp; &lt;read&gt;", &[])];
    assert_eq!(read_elements(&archive, "bookmark"), json!(expected));
    let muted = json!([{"mutedWord": {"phrase": "noise", "expiresAt": null}}]);
    assert_eq!(read_elements(&archive, "muted-words"), muted);
    let draft = &read_elements(&archive, "drafts")[0]["draft"];
    assert_eq!((&draft["text"], &draft["scheduledAt"]), (&json!("Not &lt;yet&gt;"), &Value::Null), "{draft}");
}

#[test]
fn poll_in_an_archive_has_its_votes_and_is_imported_with_its_options_and_end() {
    let server = TestServer::start(&["--world", "empty"]);
    let (user, mut browser) = signed_in(&server, "asker");
    let options = ["Tea", "<Water>"];
    let asked = json!({ "text": "Which?", "poll": { "options": options, "duration_minutes": 1440 } });
    let post = user.create_post(&asked).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    server.run_cli(&["poll", "vote", &post, "2", "--as", &server.new_user("voter").username]).assert_success();
    let fields = "expansions=attachments.poll_ids&poll.fields=voting_status,end_datetime,duration_minutes";
    let find_poll = |reader: &TestUser<'_>| {
        reader.get(format!("/2/posts/{post}?{fields}")).assert_status(200)["includes"]["polls"][0].clone()
    };
    let poll = find_poll(&user);
    let archive = download(&mut browser, PASSWORD).body;
    let posts = read_elements(&archive, "tweets");
    assert_eq!(find_element(&posts, "Which?")["entities"]["polls"], json!([poll]));
    assert_eq!(poll["options"][1], json!({ "position": 2, "label": "<Water>", "votes": 1 }));

    let zip = server.sibling_path("polls.zip");
    std::fs::write(&zip, &archive).unwrap();
    let other = TestServer::start(&["--world", "empty"]);
    let report = other.run_cli(&["import", "archive", zip.to_str().unwrap()]).assert_success().json();
    assert_eq!(report["taken"]["poll"], 1, "{report}");
    let skipped = report["skipped"].as_array().unwrap();
    assert!(skipped.iter().any(|skipped| skipped["kind"] == "poll_vote"), "{report}");
    let reader = other.new_user("reader");
    let imported = find_poll(&reader);
    for same in ["end_datetime", "duration_minutes", "voting_status"] {
        assert_eq!(imported[same], poll[same], "{imported}");
    }
    let without_votes = json!([
        { "position": 1, "label": "Tea", "votes": 0 },
        { "position": 2, "label": "<Water>", "votes": 0 },
    ]);
    assert_eq!(imported["options"], without_votes);
    other.run_cli(&["poll", "vote", &post, "1", "--as", &reader.username]).assert_success();
    assert_eq!(other.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn entities_in_an_archive_are_where_the_text_has_them() {
    let server = shared_server();
    let (user, mut browser) = signed_in(server, "tagger");
    let friend = server.new_user("friend");
    let text = format!("Fish & #chips with @{} at https://example.com/a $FISH", friend.username);
    user.publish_text(&text);
    let theirs = friend.publish_text("A & #b");
    user.post(format!("/2/users/{}/retweets", user.id), &json!({ "tweet_id": theirs })).assert_status(200);
    let posts = read_elements(&download(&mut browser, PASSWORD).body, "tweets");
    let (own, repost) = (find_element(&posts, "Fish"), find_element(&posts, "RT "));
    let found = [
        (own, "hashtags", "text", "#chips".to_owned()),
        (own, "symbols", "text", "$FISH".to_owned()),
        (own, "user_mentions", "screen_name", format!("@{}", friend.username)),
        (own, "urls", "expanded_url", "https://example.com/a".to_owned()),
        (repost, "hashtags", "text", "#b".to_owned()),
        (repost, "user_mentions", "screen_name", format!("@{}", friend.username)),
    ];
    for (post, kind, member, want) in found {
        let entity = &post["entities"][kind][0];
        let place = |at: usize| entity["indices"][at].as_str().unwrap().parse::<usize>().unwrap();
        let letters = post["full_text"].as_str().unwrap().chars();
        let named: String = letters.skip(place(0)).take(place(1) - place(0)).collect();
        assert_eq!(named, want, "{post}");
        assert!(want.ends_with(entity[member].as_str().unwrap()), "{entity}");
    }
    assert_eq!(own["entities"]["user_mentions"][0]["id_str"], friend.id);
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
