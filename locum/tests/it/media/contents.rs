//! What is taken: bytes decide, and hostile ones cost nothing.

use serde_json::{Value, json};

use super::samples::{Film, bomb, gif, jpeg, mp4, png, webp};
use super::{at_once, in_segments, person, picture, processed, seen};
use crate::harness::{TestRequest, TestServer};

#[test]
fn image_type_is_detected_from_its_bytes() {
    let author = person("author");
    let cases = [
        (png(33, 44), "image/png", "photo"),
        (jpeg(33, 44), "image/jpeg", "photo"),
        (webp(33, 44), "image/webp", "photo"),
        (gif(1), "image/gif", "photo"),
        (gif(4), "image/gif", "animated_gif"),
    ];
    for (file, label, kind) in cases {
        let created = at_once(&author, "tweet_image", &file).assert_status(200)["data"].clone();
        assert_eq!(created["image"]["image_type"], label);
        let media = seen(&author, created["media_key"].as_str().unwrap());
        assert_eq!(media["type"], kind, "{label}");
        let size = if label == "image/gif" { (40, 30) } else { (33, 44) };
        assert_eq!((&media["width"], &media["height"]), (&json!(size.0), &json!(size.1)));
    }
}

#[test]
fn broken_or_ambiguous_file_is_refused() {
    let author = person("author");
    let zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    for whole in [png(50, 50), jpeg(50, 50), webp(50, 50), gif(3)] {
        let half = &whole[..whole.len() * 2 / 3];
        at_once(&author, "tweet_image", half).assert_status(400);
        let both = [whole.clone(), zip.clone()].concat();
        let response = at_once(&author, "tweet_image", &both);
        // What phones put behind a JPEG is cut off.
        response.assert_status(if whole.starts_with(b"\xff\xd8") { 200 } else { 400 });
    }
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let page = b"<!doctype html><script>alert(1)</script>";
    for other in [&svg[..], page, &zip, b"GIF89a<script>", b"x"] {
        at_once(&author, "tweet_image", other).assert_status(400);
    }
    at_once(&author, "tweet_video", &png(5, 5)).assert_error(400, "The file is not of the announced `media_category`.");
    at_once(&author, "tweet_image", &mp4(Film::default())).assert_status(400);
    // A photo was announced, and its key with it.
    let file = gif(3);
    let begin = json!({ "media_category": "tweet_image", "total_bytes": file.len() });
    let begun = author.post("/2/media/upload/initialize", &begin).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    super::append(&author, id, &file, &[0]);
    author.send(TestRequest::post(format!("/2/media/upload/{id}/finalize"))).assert_status(400);
    let large = [jpeg(10, 10), vec![0; 5 * 1024 * 1024]].concat();
    at_once(&author, "tweet_image", &large).assert_status(400);
}

#[test]
fn photo_is_served_without_its_location() {
    let author = person("author");
    let plain = jpeg(40, 20);
    // Lying on its side, at 51°28′ north, and with the phone's name.
    let exif = [
        &b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x02"[..],
        b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0",
        b"\x88\x25\0\x04\0\0\0\x01\0\0\0\x26",
        b"\0\0\0\0",
        b"\0\x02\0\x01\0\x02\0\0\0\x02N\0\0\0",
        b"\0\x02\0\x05\0\0\0\x03\0\0\0\x44\0\0\0\0",
        b"\0\0\0\x33\0\0\0\x01\0\0\0\x1c\0\0\0\x01\0\0\0\0\0\0\0\x01",
        b"Phone of Ada",
    ]
    .concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let (head, rest) = plain.split_at(20);
    let photo = [head, b"\xff\xe1", &length, &exif, rest].concat();
    let sent = [&photo[..], b"\0\0\0\x18ftypmp42 a film of the same moment"].concat();

    let created = at_once(&author, "tweet_image", &sent).assert_status(200)["data"].clone();
    let media = seen(&author, created["media_key"].as_str().unwrap());
    assert_eq!((&media["width"], &media["height"]), (&json!(20), &json!(40)));
    let path = super::path_of(&media["url"]);
    let stored = author.server.send(TestRequest::get(path));
    assert_eq!(stored.status, 200);
    let stored = &stored.body[..];
    let holds = |what: &[u8]| stored.windows(what.len()).any(|part| part == what);
    for deleted in [&b"Ada"[..], b"\x88\x25\0\x04", b"ftyp", &exif] {
        assert!(!holds(deleted), "{}", deleted.escape_ascii());
    }
    // The picture is the same, bit for bit, and the same side is up.
    assert!(holds(&plain[20..]) && stored.ends_with(&plain[20..]));
    assert!(holds(b"\x01\x12\0\x03\0\0\0\x01\0\x06"));
    assert_eq!(created["size"], json!(stored.len()));
}

#[test]
fn invalid_or_too_long_video_is_refused() {
    let author = person("author");
    let usual = Film::default();
    let whole = mp4(usual);
    let cases = [
        (whole[..whole.len() - 40].to_vec(), "The MP4 file is incomplete."),
        ([whole.clone(), b"PK\x05\x06zipzipzipzip".to_vec()].concat(), "The MP4 file is incomplete."),
        ([whole, b"\0\0\0\x08\x01\x02\x03\x04".to_vec()].concat(), "The MP4 file has bytes behind its end."),
        (mp4(Film { width: 16, ..usual }), "The video of 16x48 pixels is not between 32x32 and 1280x1024."),
        (
            mp4(Film { width: 1920, height: 1080, ..usual }),
            "The video of 1920x1080 pixels is not between 32x32 and 1280x1024.",
        ),
        (mp4(Film { duration_ms: 300, ..usual }), "The video of 300 ms is not between 500 ms and 140000 ms."),
        (mp4(Film { duration_ms: 150_000, ..usual }), "The video of 150000 ms is not between 500 ms and 140000 ms."),
        (mp4(Film { frames: 100, ..usual }), "The video has more than 60 frames a second."),
        (png(40, 40), "The file is not of the announced `media_category`."),
        (
            b"nothing of the kind".to_vec(),
            "The media type is not supported: a JPEG, PNG, WebP, GIF or MP4 file is expected.",
        ),
    ];
    for (file, why) in cases {
        let begin = json!({ "media_category": "tweet_video", "total_bytes": file.len() });
        let ended = in_segments(&author, &begin, &file, &[0]);
        let id = ended["id"].as_str().unwrap();
        let status = processed(&author, id);
        assert_eq!(status["data"]["processing_info"]["state"], "failed", "{why}");
        assert_eq!(status["errors"][0]["detail"], why);
        let post = json!({ "text": why, "media": { "media_ids": [id] } });
        author.create_post(&post).assert_error(400, "Your media IDs are invalid.");
    }
}

#[test]
fn post_carries_four_photos_or_one_video_or_gif() {
    let author = person("author");
    let photos: Vec<String> = (0..4_u32).map(|number| picture(&author, &png(30 + number, 30))).collect();
    let moving = picture(&author, &gif(2));
    let post = |ids: &[&String]| author.create_post(&json!({ "text": "x", "media": { "media_ids": ids } }));
    post(&[&photos[0], &moving]).assert_legacy_code(400, 323);
    let all: Vec<&String> = photos.iter().collect();
    let created = post(&all).assert_status(201);
    let id = created["data"]["id"].as_str().unwrap();
    let post_seen = author.fetch_post(id, "attachments,entities");
    assert_eq!(post_seen["attachments"]["media_keys"].as_array().unwrap().len(), 4);
    assert_eq!(post_seen["entities"]["urls"].as_array().unwrap().len(), 4);
    post(&[&moving]).assert_status(201);
}

#[test]
fn image_with_enormous_declared_size_is_refused_cheaply() {
    let server = TestServer::start(&[]);
    let author = server.new_user("author");
    at_once(&author, "tweet_image", &png(64, 64)).assert_status(200);
    let before = memory(&server);
    let (file, large) = (bomb(), png(8193, 1));
    for _ in 0..20 {
        let refused = at_once(&author, "tweet_image", &file);
        refused.assert_error(400, "The picture of 30000x30000 pixels has too many of them.");
        at_once(&author, "tweet_image", &large).assert_status(400);
    }
    let grown = memory(&server).saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB");
}

/// The most memory that the server ever took, in KiB.
fn memory(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn video_metrics_are_shown_to_the_owner_only() {
    let author = person("author");
    let film = at_once(&author, "tweet_video", &mp4(Film::default())).assert_status(200);
    let id = film["data"]["id"].as_str().unwrap().to_owned();
    processed(&author, &id);
    author.create_post(&json!({ "media": { "media_ids": [id] } })).assert_status(201);
    let fields = "media.fields=public_metrics,non_public_metrics,organic_metrics";
    let target = format!("/2/media/7_{id}?{fields}");
    let (own, foreign) = (author.get(&*target).assert_status(200), person("reader").get(&*target).assert_status(200));
    assert!(own["data"]["non_public_metrics"].is_object());
    assert_eq!(foreign["data"]["non_public_metrics"], Value::Null);
    assert_eq!(foreign["data"]["organic_metrics"], Value::Null);
    let two = author.get(format!("/2/media?media_keys=7_{id},3_1")).assert_status(200);
    assert_eq!(two["data"][0]["media_key"], format!("7_{id}"));
    assert_eq!(two["errors"][0]["detail"], "Could not find media with media_keys: [3_1].");
    author.get("/2/media?media_keys=nonsense").assert_status(400);
    author.get("/2/media").assert_status(400);
}
