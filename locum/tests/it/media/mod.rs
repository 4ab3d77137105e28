//! Media: uploaded in every way, looked at, posted, served, forgotten.

mod analytics;
mod contents;
mod files;
mod nodes;
pub(crate) mod samples;
mod subtitles;
mod transcoding;
mod uploads;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, TestUser, person, shared_server, wait_until};

/// A body of parts; a file is the one without a text.
fn parts(texts: &[(&str, &str)], name: &str, file: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, text) in texts {
        let head = format!("--XX\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        body.extend(head.into_bytes());
    }
    if !name.is_empty() {
        let head = format!(
            "--XX\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"a.bin\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        );
        body.extend(head.into_bytes());
        body.extend(file);
        body.extend(b"\r\n");
    }
    body.extend(b"--XX--\r\n");
    body
}

const MULTIPART: &str = "multipart/form-data; boundary=XX";

pub(crate) fn multipart(target: &str, texts: &[(&str, &str)], name: &str, file: &[u8]) -> TestRequest {
    TestRequest::post(target).body(MULTIPART, parts(texts, name, file))
}

/// A whole file in one request of the newer interface.
pub(crate) fn at_once(user: &TestUser<'_>, category: &str, file: &[u8]) -> TestResponse {
    user.send(upload_request(category, file))
}

pub(crate) fn upload_request(category: &str, file: &[u8]) -> TestRequest {
    multipart("/2/media/upload", &[("media_category", category)], "media", file)
}

/// Uploads a picture; its id.
fn picture(user: &TestUser<'_>, file: &[u8]) -> String {
    let created = at_once(user, "tweet_image", file).assert_status(200);
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// Uploads in segments of this order; what the end of it answered.
fn in_segments(user: &TestUser<'_>, begin: &Value, file: &[u8], order: &[usize]) -> Value {
    let begun = user.post("/2/media/upload/initialize", begin).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap().to_owned();
    append(user, &id, file, order);
    let target = format!("/2/media/upload/{id}/finalize");
    user.send(TestRequest::post(target)).assert_status(200)["data"].clone()
}

fn append(user: &TestUser<'_>, id: &str, file: &[u8], order: &[usize]) {
    let each = file.len().div_ceil(order.len());
    let pieces: Vec<&[u8]> = file.chunks(each).collect();
    let target = format!("/2/media/upload/{id}/append");
    for place in order {
        let index = [("segment_index", place.to_string())];
        let index: Vec<_> = index.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let response = user.send(multipart(&target, &index, "media", pieces[*place]));
        assert!(response.assert_status(200)["data"]["expires_at"].as_i64().unwrap() > 1_700_000_000);
    }
}

/// Waits until the processing of an upload has ended.
pub(crate) fn processed(user: &TestUser<'_>, id: &str) -> Value {
    let mut last = json!(null);
    wait_until("the upload is looked at", || {
        let target = format!("/2/media/upload?command=STATUS&media_id={id}");
        last = user.get(target).assert_status(200);
        let state = last["data"]["processing_info"]["state"].as_str();
        !matches!(state, Some("pending" | "in_progress"))
    });
    last
}

/// A media as somebody sees it, with all of its fields.
fn seen(user: &TestUser<'_>, key: &str) -> Value {
    let fields = "alt_text,duration_ms,height,media_key,preview_image_url,public_metrics,type,url,\
                  variants,width";
    let target = format!("/2/media/{key}?media.fields={fields}");
    user.get(target).assert_status(200)["data"].clone()
}

/// The path of an address of the server.
pub(crate) fn path_of(address: &Value) -> String {
    let address = address.as_str().unwrap();
    let path = address.strip_prefix(&shared_server().url);
    path.unwrap_or_else(|| panic!("{address} is elsewhere")).to_owned()
}
