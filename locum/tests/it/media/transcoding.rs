//! What ffmpeg makes of uploads, and what it cannot do.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::samples::{Film, gif, mp4};
use super::{at_once, in_segments, person, processed};
use crate::harness::{
    DatabaseEngine, TestRequest, TestResponse, TestServer, TestUser, shared_server, suite_engine, wait_until,
};

/// None if it is not installed.
fn ffmpeg() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join("ffmpeg")).find(|file| file.exists());
    assert!(found.is_some() || std::env::var_os("LOCUM_FULL_TESTS").is_none(), "ffmpeg is not installed");
    found
}

fn server_with(ffmpeg: &Path, more: &[&str]) -> TestServer {
    let setting = format!("media.ffmpeg={}", ffmpeg.display());
    TestServer::start(&[&["--set", &setting], more].concat())
}

/// A film of test pictures.
fn real_film(ffmpeg: &Path, server: &TestServer, size: &str, seconds: u32) -> Vec<u8> {
    let path = server.sibling_path(&format!("film-{size}.mp4"));
    let output = Command::new(ffmpeg)
        .args(["-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i"])
        .arg(format!("testsrc=size={size}:rate=10:duration={seconds}"))
        .args(["-f", "lavfi", "-i", &format!("sine=frequency=440:duration={seconds}")])
        .args(["-c:v", "libx264", "-preset", "ultrafast", "-crf", "10", "-pix_fmt", "yuv420p", "-c:a", "aac"])
        .arg(&path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    std::fs::read(path).unwrap()
}

/// A program in the place of ffmpeg.
fn script(server: &TestServer, lines: &str) -> PathBuf {
    let path = server.sibling_path("fake-ffmpeg");
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn upload_film(author: &TestUser<'_>, category: &str, file: &[u8]) -> (String, Value) {
    let begin = json!({ "media_category": category, "total_bytes": file.len() });
    let ended = in_segments(author, &begin, file, &[0]);
    (ended["id"].as_str().unwrap().to_owned(), ended)
}

fn media(author: &TestUser<'_>, key: &str) -> Value {
    let target = format!("/2/media/{key}?media.fields=variants,preview_image_url,type,width,height");
    author.get(target).assert_status(200)["data"].clone()
}

fn fetch(server: &TestServer, url: &Value) -> TestResponse {
    let url = url.as_str().unwrap_or_else(|| panic!("{url}"));
    server.send(TestRequest::get(url.strip_prefix(&server.url).unwrap()))
}

/// Whether a process exists that is not only waiting to be reaped.
fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// All files below the media folder.
fn stored_files(server: &TestServer) -> Vec<PathBuf> {
    let mut folders = vec![server.data_dir().join("media")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

fn files_of(server: &TestServer, id: &str) -> usize {
    stored_files(server).iter().filter(|path| path.to_string_lossy().contains(id)).count()
}

#[test]
fn animated_gif_gets_a_video() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let server = server_with(&ffmpeg, &[]);
    let author = server.new_user("author");
    let (id, ended) = upload_film(&author, "tweet_gif", &gif(5));
    assert_eq!(ended["processing_info"]["check_after_secs"], 1);
    let status = processed(&author, &id);
    assert_eq!(status["data"]["processing_info"], json!({ "state": "succeeded", "progress_percent": 100 }));
    let check = |key: &str| {
        let media = media(&author, key);
        assert_eq!(media["type"], "animated_gif");
        let variants = media["variants"].as_array().unwrap();
        assert_eq!(variants.len(), 1, "{media}");
        assert_eq!((&variants[0]["bit_rate"], &variants[0]["content_type"]), (&json!(0), &json!("video/mp4")));
        let video = fetch(&server, &variants[0]["url"]);
        assert_eq!((video.status, video.header("content-type"), &video.body[4..8]), (200, "video/mp4", &b"ftyp"[..]));
        let still = fetch(&server, &media["preview_image_url"]);
        let still = image::load_from_memory(&still.body).unwrap();
        assert_eq!((still.width(), still.height()), (40, 30));
    };
    check(&format!("16_{id}"));
    // In one request, the GIF is usable at once and the video follows.
    let created = at_once(&author, "tweet_gif", &gif(4)).assert_status(200)["data"].clone();
    assert_eq!(created["image"], json!({ "image_type": "image/gif", "w": 40, "h": 30 }));
    let key = created["media_key"].as_str().unwrap();
    wait_until("the video is made", || media(&author, key)["variants"][0]["content_type"] == "video/mp4");
    check(key);
}

#[test]
fn film_gets_smaller_versions_and_a_real_still_which_are_deleted_with_it() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let mut server = server_with(&ffmpeg, &[]);
    let (id, token) = {
        let author = server.new_user("author");
        let film = real_film(&ffmpeg, &server, "1280x720", 2);
        let (id, _) = upload_film(&author, "tweet_video", &film);
        assert_eq!(processed(&author, &id)["data"]["processing_info"]["state"], "succeeded");
        let media = media(&author, &format!("7_{id}"));
        let variants = media["variants"].as_array().unwrap();
        assert_eq!(variants.len(), 3, "{media}");
        let rates: Vec<i64> = variants.iter().map(|variant| variant["bit_rate"].as_i64().unwrap()).collect();
        assert!(rates.is_sorted() && rates[0] > 0, "{rates:?}");
        for (variant, side) in variants.iter().zip([320, 720, 720]) {
            assert_eq!(variant["content_type"], "video/mp4");
            let served = fetch(&server, &variant["url"]);
            let size = u64::try_from(served.body.len()).unwrap();
            let measured = ::media::measure_video(std::io::Cursor::new(&served.body[..]), size).unwrap();
            assert_eq!((measured.height, measured.duration_ms / 1000), (side, 2));
        }
        assert_eq!(fetch(&server, &variants[2]["url"]).body, film);
        let still = fetch(&server, &media["preview_image_url"]);
        assert_eq!(still.header("content-type"), "image/jpeg");
        let still = image::load_from_memory(&still.body).unwrap().into_rgb8();
        assert_eq!(still.dimensions(), (680, 383));
        // The bars of the test picture; a card is grey.
        assert!(still.pixels().any(|pixel| pixel[0] > 200 && pixel[1] < 60), "no red");
        let wrong = variants[0]["url"].as_str().unwrap().replace("320p", "240p");
        assert_eq!(fetch(&server, &json!(wrong)).status, 404);
        let post = json!({ "text": "look", "media": { "media_ids": [id] } });
        author.create_post(&post).assert_status(201);
        // A played version counts as the film does.
        let target = format!("/2/media/7_{id}?media.fields=non_public_metrics");
        wait_until("the playback is counted", || {
            author.get(&*target).assert_status(200)["data"]["non_public_metrics"]["playback_100_count"] == 1
        });
        assert_eq!(files_of(&server, &id), 4);
        (id, author.token.clone())
    };
    server.kill();
    server.run_sql(&format!("UPDATE media SET uses = 0, expires_at = 1 WHERE id = {id}"));
    server.restart();
    wait_until("the film is swept away", || files_of(&server, &id) == 0);
    // Its record goes after its files.
    wait_until("it is not found any more", || {
        let read = server.send(TestRequest::get(format!("/2/media/7_{id}")).bearer(&token));
        read.assert_status(200)["data"] == Value::Null
    });
}

#[test]
fn film_without_ffmpeg_has_a_drawn_still() {
    let author = person("author");
    let (id, _) = upload_film(&author, "tweet_video", &mp4(Film::default()));
    processed(&author, &id);
    let media = media(&author, &format!("7_{id}"));
    assert_eq!(media["variants"].as_array().unwrap().len(), 1);
    let still = fetch(shared_server(), &media["preview_image_url"]);
    assert_eq!((still.status, still.header("content-type")), (200, "image/jpeg"));
    let still = image::load_from_memory(&still.body).unwrap();
    assert_eq!((still.width(), still.height()), (64, 48));
}

/// Stored as it was uploaded, with a drawn still.
fn assert_only_original(server: &TestServer, author: &TestUser<'_>, id: &str, film: &[u8]) {
    let media = media(author, &format!("7_{id}"));
    let variants = media["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 1, "{media}");
    assert_eq!(fetch(server, &variants[0]["url"]).body, film);
    assert_eq!(fetch(server, &media["preview_image_url"]).header("content-type"), "image/jpeg");
    let post = json!({ "text": "look", "media": { "media_ids": [id] } });
    author.create_post(&post).assert_status(201);
}

#[test]
fn hostile_file_stays_what_it_is_and_reaches_nothing() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let server = server_with(&ffmpeg, &[]);
    let author = server.new_user("author");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let playlist = format!(
        "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nhttp://{address}/x.ts\n#EXTINF:10.0,\nfile:///etc/passwd\n\
         #EXT-X-ENDLIST\n"
    );
    let (id, _) = upload_film(&author, "tweet_video", playlist.as_bytes());
    assert_eq!(processed(&author, &id)["data"]["processing_info"]["state"], "failed");
    // Frames that are no frames, and the playlist as such.
    let noise = mp4(Film { bytes: 5_000, ..Film::default() });
    let mut hidden = noise.clone();
    let place = hidden.windows(4).position(|word| word == b"mdat").unwrap() + 4;
    hidden[place..place + playlist.len()].copy_from_slice(playlist.as_bytes());
    // Small according to the tables, enormous according to the frames.
    let mut enormous = real_film(&ffmpeg, &server, "4096x2304", 1);
    for (name, offset) in [(&b"avc1"[..], 28), (b"tkhd", 80)] {
        let place = enormous.windows(4).rposition(|word| word == name).unwrap();
        let place = if name == b"tkhd" { enormous.windows(4).position(|word| word == name).unwrap() } else { place };
        let sides: &[u8] = if name == b"tkhd" { &[2, 128, 0, 0, 1, 104, 0, 0] } else { &[2, 128, 1, 104] };
        enormous[place + offset..place + offset + sides.len()].copy_from_slice(sides);
    }
    for film in [noise, hidden, enormous] {
        let (id, _) = upload_film(&author, "tweet_video", &film);
        assert_eq!(processed(&author, &id)["data"]["processing_info"]["state"], "succeeded");
        let media = media(&author, &format!("7_{id}"));
        assert_eq!(media["variants"].as_array().unwrap().len(), 1, "{media}");
        assert_eq!(fetch(&server, &media["variants"][0]["url"]).body, film);
    }
    assert!(listener.accept().is_err(), "somebody connected");
    assert!(server.stderr().contains("failed to transcode"));
}

#[test]
fn transcoding_that_takes_too_long_is_ended_with_all_its_processes() {
    let server = TestServer::prepare(&[]);
    let fake = script(&server, &format!("sleep 600 & echo $! $$ > {0}\nwait", server.sibling_path("pids").display()));
    let mut server = server;
    server.add_argument("--set");
    server.add_argument(&format!("media.ffmpeg={}", fake.display()));
    server.add_argument("--set");
    server.add_argument("media.ffmpeg_timeout=1s");
    server.restart();
    let author = server.new_user("author");
    let film = mp4(Film::default());
    let (id, _) = upload_film(&author, "tweet_video", &film);
    assert_eq!(processed(&author, &id)["data"]["processing_info"]["state"], "succeeded");
    assert_only_original(&server, &author, &id, &film);
    let pids = std::fs::read_to_string(server.sibling_path("pids")).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2);
    wait_until("no process is left", || !pids.split_whitespace().any(is_alive));
    assert!(server.stderr().contains("did not end in time"));
}

#[test]
fn transcoding_is_resumed_after_the_server_was_killed() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let mut server = TestServer::prepare(&[]);
    let (pid, hold) = (server.sibling_path("pid"), server.sibling_path("hold"));
    std::fs::write(&hold, "").unwrap();
    let lines = format!(
        "echo $$ > {}\nwhile [ -e {} ]; do sleep 0.1; done\nexec {} \"$@\"",
        pid.display(),
        hold.display(),
        ffmpeg.display()
    );
    let fake = script(&server, &lines);
    server.add_argument("--set");
    server.add_argument(&format!("media.ffmpeg={}", fake.display()));
    server.restart();
    let film = real_film(&ffmpeg, &server, "640x360", 1);
    let (id, token, gif_key) = {
        let author = server.new_user("author");
        let (id, _) = upload_film(&author, "amplify_video", &film);
        let target = format!("/2/media/upload?command=STATUS&media_id={id}");
        wait_until("ffmpeg runs", || pid.exists());
        let info = author.get(&*target).assert_status(200)["data"]["processing_info"].clone();
        assert_eq!(info["state"], "in_progress", "{info}");
        let post = json!({ "media": { "media_ids": [id] } });
        author.create_post(&post).assert_error(400, "Your media IDs are invalid.");
        let created = at_once(&author, "tweet_gif", &gif(4)).assert_status(200);
        (id, author.token.clone(), created["data"]["media_key"].as_str().unwrap().to_owned())
    };
    let first = std::fs::read_to_string(&pid).unwrap();
    server.kill();
    wait_until("ffmpeg ends with the server", || !is_alive(&first));
    std::fs::remove_file(&hold).unwrap();
    // On PostgreSQL, another node might hold them, so that they expire only after a minute.
    server.run_sql("UPDATE upload SET leased_until = 0; UPDATE variant_task SET leased_until = 0;");
    server.restart();
    let get = |target: &str| server.send(TestRequest::get(target).bearer(&token)).assert_status(200)["data"].clone();
    wait_until("the film is finished", || {
        let info = get(&format!("/2/media/upload?command=STATUS&media_id={id}"));
        info["processing_info"]["state"] == "succeeded"
    });
    let media = get(&format!("/2/media/13_{id}?media.fields=variants"));
    assert_eq!(media["variants"].as_array().unwrap().len(), 2, "{media}");
    wait_until("so is the GIF", || {
        let media = get(&format!("/2/media/{gif_key}?media.fields=variants"));
        media["variants"][0]["content_type"] == "video/mp4"
    });
    let in_scratch = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "scratch");
    // On PostgreSQL, other nodes may use the folder: what a killed process left is removed by its age.
    if suite_engine() == DatabaseEngine::Sqlite {
        wait_until("nothing is left behind", || !stored_files(&server).iter().any(in_scratch));
    }
}
