//! How files are served, and when they go.

use std::path::Path;

use serde_json::{Value, json};

use super::samples::{jpeg, png};
use super::{at_once, path_of, person, picture, seen};
use crate::harness::{TestRequest, TestServer, TestUser, shared_server};

fn address(user: &TestUser<'_>, id: &str) -> String {
    path_of(&seen(user, &format!("3_{id}"))["url"])
}

#[test]
fn media_file_is_served_whole_and_by_range() {
    let author = person("author");
    let file = jpeg(200, 100);
    let path = address(&author, &picture(&author, &file));
    let get = |request: TestRequest| shared_server().send(request);
    let whole = get(TestRequest::get(&*path));
    assert_eq!((whole.status, &whole.body), (200, &file));
    for (name, value) in [
        ("content-type", "image/jpeg"),
        ("content-length", &*file.len().to_string()),
        ("content-disposition", "inline"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
        ("accept-ranges", "bytes"),
        ("cache-control", "public, max-age=3600"),
    ] {
        assert_eq!(whole.header(name), value, "{name}");
    }
    let (tag, date) = (whole.header("etag"), whole.header("last-modified"));
    assert!(tag.starts_with('"') && date.ends_with(" GMT"), "{tag} {date}");
    let part = |range: &str| get(TestRequest::get(&*path).header("range", range));
    let length = file.len();
    for (range, from, to) in [
        ("bytes=0-9", 0, 10),
        ("bytes=10-", 10, length),
        ("bytes=-5", length - 5, length),
        ("bytes=5-99999999", 5, length),
    ] {
        let answer = part(range);
        assert_eq!((answer.status, &answer.body[..]), (206, &file[from..to]), "{range}");
        let response = format!("bytes {from}-{}/{length}", to - 1);
        assert_eq!(answer.header("content-range"), response);
    }
    let beyond = part("bytes=99999999-");
    assert_eq!(beyond.status, 416);
    assert_eq!(beyond.header("content-range"), format!("bytes */{length}"));
    assert_eq!(part("bytes=0-1,4-5").status, 200);
    assert_eq!(part("lines=1-2").status, 200);
    let changed = TestRequest::get(&*path).header("range", "bytes=0-1").header("if-range", "\"x\"");
    assert_eq!(get(changed).status, 200);
    for (name, value) in [("if-none-match", tag), ("if-modified-since", date)] {
        let known = get(TestRequest::get(&*path).header(name, value));
        assert_eq!((known.status, known.body.len()), (304, 0), "{name}");
    }
    let head = get(TestRequest::new("HEAD", &*path).header("range", "bytes=0-0"));
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), file.len().to_string());
}

#[test]
fn media_file_names_are_unguessable() {
    let author = person("author");
    let id = picture(&author, &png(20, 20));
    let path = address(&author, &id);
    let (key, _) = path.split_once('.').unwrap();
    for guess in [
        format!("{key}.png"),
        format!("{key}.0123456789abcdef.png"),
        key.to_owned(),
        path.replace(".png", ".svg"),
        "/media/..%2F..%2Flocum.db".to_owned(),
        "/media/uploads%2Fincoming".to_owned(),
        "/media/3_1.png".to_owned(),
    ] {
        assert_eq!(shared_server().send(TestRequest::get(&*guess)).status, 404, "{guess}");
    }
    assert_eq!(shared_server().send(TestRequest::get(format!("{path}?x=y"))).status, 400);
}

#[test]
fn large_photo_is_served_in_smaller_sizes() {
    let author = person("author");
    let path = address(&author, &picture(&author, &png(1500, 300)));
    let small = shared_server().send(TestRequest::get(format!("{path}?format=png&name=small")));
    assert_eq!((small.status, small.header("content-type")), (200, "image/jpeg"));
    let small = image::load_from_memory(&small.body).unwrap();
    assert_eq!((small.width(), small.height()), (680, 136));
    let medium = shared_server().send(TestRequest::get(format!("{path}?name=medium")));
    assert_eq!(image::load_from_memory(&medium.body).unwrap().width(), 1200);
    let large = shared_server().send(TestRequest::get(format!("{path}?name=large")));
    assert_eq!(large.header("content-type"), "image/png", "it is not larger than that");
}

#[test]
fn imported_media_files_are_served() {
    let server = TestServer::start(&[]);
    let author = server.new_user("author");
    let folder = server.data_dir().join("media/99");
    std::fs::create_dir_all(&folder).unwrap();
    let file = png(12, 12);
    std::fs::write(folder.join("3_99.jpg"), &file).unwrap();
    std::fs::write(folder.join("7_199.mp4"), b"no film").unwrap();
    let media = |id: u64, kind: &str, name: &str| json!({ "kind": "media", "id": id.to_string(), "owner": author.id, "type": kind, "files": [name] });
    let ran = server.import_lines(&[media(99, "photo", "3_99.jpg"), media(199, "video", "7_199.mp4")]);
    ran.assert_success();
    let read = author.get("/2/media/3_99?media.fields=url").assert_status(200);
    let url = format!("{}/media/3_99.jpg", server.url);
    assert_eq!(read["data"]["url"], url, "{read}");
    let served = server.send(TestRequest::get("/media/3_99.jpg"));
    assert_eq!((served.status, &served.body), (200, &file));
    assert_eq!(served.header("content-type"), "image/png", "whatever it is called");
    let odd = server.send(TestRequest::get("/media/7_199.mp4"));
    assert_eq!(
        (odd.header("content-type"), odd.header("content-disposition")),
        ("application/octet-stream", "attachment")
    );
}

#[test]
fn unused_upload_is_deleted_with_its_file() {
    let mut server = TestServer::start(&[]);
    let (ids, open, paths, token) = {
        let author = server.new_user("author");
        let files = [png(20, 20), png(1500, 30), png(22, 22)];
        let ids: Vec<String> = files.iter().map(|file| picture(&author, file)).collect();
        let begun = author.post("/2/media/upload/initialize", &json!({})).assert_status(200);
        let open = begun["data"]["id"].as_str().unwrap().to_owned();
        super::append(&author, &open, b"some bytes", &[0]);
        let stored = json!({ "text": "kept", "media": { "media_ids": [ids[0]] } });
        author.create_post(&stored).assert_status(201);
        let deleted = json!({ "text": "gone", "media": { "media_ids": [ids[2]] } });
        let deleted = author.create_post(&deleted).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
        let paths: Vec<String> = ids
            .iter()
            .map(|id| {
                let key = format!("/2/media/3_{id}?media.fields=url");
                let url = author.get(key).assert_status(200)["data"]["url"].clone();
                url.as_str().unwrap().strip_prefix(&server.url).unwrap().to_owned()
            })
            .collect();
        author.delete(format!("/2/posts/{deleted}")).assert_status(200);
        (ids, open, paths, author.token.clone())
    };
    assert!(server.data_dir().join(format!("media/uploads/{open}")).exists());
    server.kill();
    server.run_sql("UPDATE media SET expires_at = 1 WHERE expires_at IS NOT NULL; UPDATE upload SET expires_at = 1;");
    server.restart();
    crate::harness::wait_until("the unfinished goes too", || {
        !server.data_dir().join(format!("media/uploads/{open}")).exists()
    });
    let status = |path: &String| server.send(TestRequest::get(&**path)).status;
    assert_eq!((status(&paths[0]), status(&paths[1]), status(&paths[2])), (200, 404, 404));
    let has_entries = |path: &Path| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    crate::harness::wait_until("their files are deleted", || {
        let left = std::fs::read_dir(server.data_dir().join("media")).unwrap();
        // One of them is of the demo world.
        left.filter(|entry| has_entries(&entry.as_ref().unwrap().path())).count() <= 3
    });
    let read = |id: &str| server.send(TestRequest::get(format!("/2/media/3_{id}")).bearer(&token)).assert_status(200);
    assert_eq!(read(&ids[0])["data"]["type"], "photo");
    assert_eq!(read(&ids[1])["data"], Value::Null);
}

#[test]
fn media_of_a_protected_account_is_hidden_from_strangers() {
    let hidden = shared_server().new_user_with("hidden", &["--protected"]);
    let id = at_once(&hidden, "tweet_image", &png(20, 20)).assert_status(200)["data"]["id"].clone();
    let id = id.as_str().unwrap();
    hidden.create_post(&json!({ "text": "x", "media": { "media_ids": [id] } })).assert_status(201);
    let seen = person("stranger").get(format!("/2/media/3_{id}")).assert_status(200);
    assert_eq!(seen["data"], Value::Null);
    let kind = seen["errors"][0]["type"].as_str().unwrap();
    assert!(kind.ends_with("/not-authorized-for-resource"), "{kind}");
}
