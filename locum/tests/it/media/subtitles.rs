//! Subtitles in the video players of pages.

use serde_json::json;

use super::samples::{Film, mp4};
use super::{at_once, processed};
use crate::harness::{TestRequest, TestUser, shared_server};
use crate::pages::browser::Browser;

const SUBRIP: &[u8] = b"1\r\n00:00:00,000 --> 00:00:01,000\r\nBoats, noise\r\n";

/// The id of a video with subtitles in two languages.
fn subtitled_video(user: &TestUser<'_>, category: &str) -> String {
    let upload = |category: &str, file: &[u8]| {
        let created = at_once(user, category, file).assert_status(200);
        created["data"]["id"].as_str().unwrap().to_owned()
    };
    let video = upload(category, &mp4(Film::default()));
    processed(user, &video);
    for (language, name, file) in [("EN", "English \"all\"", SUBRIP), ("DE", "", &b"WEBVTT\n\n00:00 --> never"[..])] {
        let subtitles = json!({ "id": upload("subtitles", file), "language_code": language, "display_name": name });
        let body = json!({ "id": video, "media_category": "TweetVideo", "subtitles": subtitles });
        user.post("/2/media/subtitles", &body).assert_status(200);
    }
    video
}

/// The addresses, languages and names of the subtitles on a page.
fn tracks(page: &str) -> Vec<[String; 3]> {
    let tracks = page.split("<track kind=\"subtitles\" ").skip(1).map(|track| track.split('>').next().unwrap());
    let value = |track: &str, name: &str| {
        let value = track.split(&format!("{name}=\"")).nth(1).unwrap();
        value.split('"').next().unwrap().to_owned()
    };
    tracks.map(|track| ["src", "srclang", "label"].map(|name| value(track, name))).collect()
}

#[test]
fn subtitles_of_a_posted_video_are_shown_until_the_post_is_deleted() {
    let server = shared_server();
    let author = server.new_user("sbauthor");
    let media = json!({ "media_ids": [subtitled_video(&author, "tweet_video")] });
    let created = author.create_post(&json!({ "text": "Boats", "media": media })).assert_status(201);
    let post = created["data"]["id"].as_str().unwrap();
    let mut visitor = Browser::new(server);
    let page = visitor.get(format!("/{}/status/{post}", author.username)).assert_page(200);
    let shown = tracks(&page);
    let names: Vec<_> = shown.iter().map(|[_, language, name]| (language.as_str(), name.as_str())).collect();
    assert_eq!(names, [("de", "DE"), ("en", "English &#34;all&#34;")], "{page}");
    let english = visitor.get(&*shown[1][0]);
    assert_eq!(english.header("content-type"), "text/vtt; charset=utf-8");
    assert_eq!(english.text(), "WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.000\nBoats, noise\n");
    let again = TestRequest::get(&*shown[1][0]).header("if-none-match", english.header("etag"));
    assert_eq!(visitor.send(again).status, 304);
    assert_eq!(visitor.get(&*shown[0][0]).text(), "WEBVTT\n\n00:00 --> never", "browsers skip what is malformed");
    let (video, _) = shown[0][0].split_once('?').unwrap();
    assert_eq!(visitor.get(format!("{video}?subtitles=FR")).status, 404);
    author.delete(format!("/2/posts/{post}")).assert_status(200);
    assert_eq!(visitor.get(&*shown[1][0]).status, 404);
}

#[test]
fn subtitles_of_a_message_are_for_its_readers() {
    let server = shared_server();
    let sender = server.new_user("sbsender");
    let (reader, mut inside) = crate::members::signed_in(server, "sbreader");
    let (_, mut outside) = crate::members::signed_in(server, "sbother");
    let attached = json!({ "attachments": [{ "media_id": subtitled_video(&sender, "dm_video") }] });
    let sent = sender.post(format!("/2/dm_conversations/with/{}/messages", reader.id), &attached).assert_status(201);
    let conversation = sent["data"]["dm_conversation_id"].as_str().unwrap();
    let page = inside.get(format!("/messages/{conversation}")).assert_page(200);
    let [path, ..] = &tracks(&page)[1];
    assert!(path.starts_with("/messages/files/") && inside.get(path).text().starts_with("WEBVTT"), "{path}");
    let public = format!("/media/{}", path.rsplit('/').next().unwrap());
    for path in [path, &public] {
        assert_eq!((outside.get(path).status, Browser::new(server).get(path).status), (404, 404), "{path}");
    }
}
