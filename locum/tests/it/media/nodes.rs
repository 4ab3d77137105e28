//! Media files of several nodes, and in a bucket.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::samples::{Film, jpeg, mp4};
use super::{MULTIPART, parts};
use crate::harness::{
    BucketServer, DatabaseEngine, TcpProxy, TestRequest, TestServer, TestUser, suite_engine, wait_until,
};

/// A request to one of the nodes; the response's data.
fn send(node: &TestServer, author: &TestUser<'_>, request: TestRequest) -> Value {
    node.send(request.bearer(&author.token)).assert_status(200)["data"].clone()
}

fn initialize(node: &TestServer, author: &TestUser<'_>) -> String {
    let request = TestRequest::post("/2/media/upload/initialize").json(&json!({ "media_category": "tweet_video" }));
    send(node, author, request)["id"].as_str().unwrap().to_owned()
}

fn append(node: &TestServer, author: &TestUser<'_>, id: &str, index: usize, bytes: &[u8]) {
    let body = parts(&[("segment_index", &index.to_string())], "media", bytes);
    send(node, author, TestRequest::post(format!("/2/media/upload/{id}/append")).body(MULTIPART, body));
}

/// Begins an upload on the first node, continues it on others, of which one is killed, and reads the file from all.
fn check_upload_over_nodes(first: &TestServer, second: &mut TestServer, third: &TestServer, author: &TestUser<'_>) {
    let photo = super::at_once(author, "tweet_image", &jpeg(60, 40)).assert_status(200);
    let photo = format!("3_{}", photo["data"]["id"].as_str().unwrap());
    let film = mp4(Film { bytes: 89_000, ..Film::default() });
    let id = initialize(first, author);
    let pieces: Vec<&[u8]> = film.chunks(30_000).collect();
    append(second, author, &id, 2, pieces[2]);
    append(second, author, &id, 0, pieces[0]);
    // What was acknowledged is there, whatever becomes of the node.
    second.kill();
    append(first, author, &id, 1, pieces[1]);
    send(third, author, TestRequest::post(format!("/2/media/upload/{id}/finalize")));
    wait_until("the film is processed", || {
        let status = TestRequest::get(format!("/2/media/upload?command=STATUS&media_id={id}"));
        let state = send(first, author, status)["processing_info"]["state"].clone();
        assert_ne!(state, "failed");
        state == "succeeded"
    });
    second.restart_as_node();
    for node in [first, second, third] {
        let served = |path: &Value| {
            let path = path.as_str().unwrap().strip_prefix(&first.url).unwrap().to_owned();
            let response = node.send(TestRequest::get(path));
            assert_eq!(response.status, 200, "{}", node.url);
            response.body
        };
        let read = send(node, author, TestRequest::get(format!("/2/media/{photo}?media.fields=url")));
        served(&read["url"]);
        let read = send(node, author, TestRequest::get(format!("/2/media/7_{id}?media.fields=variants")));
        assert_eq!(served(&read["variants"][0]["url"]), film);
    }
}

#[test]
fn upload_begun_on_one_node_is_continued_by_others_and_served_by_all() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let first = TestServer::start_network(&[]);
    let (mut second, third) = (first.start_another_node(1), first.start_another_node(2));
    check_upload_over_nodes(&first, &mut second, &third, &first.new_user("author"));
    let uploads = first.data_dir().join("media/uploads");
    wait_until("no segment is left", || std::fs::read_dir(&uploads).is_ok_and(|mut left| left.next().is_none()));
}

#[test]
fn segments_of_an_upload_are_in_the_bucket() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(bucket) = BucketServer::start(folder.path()) else { return };
    let keys = BucketServer::settings(folder.path(), &bucket.url);
    let args: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
    let first = TestServer::start_network(&args);
    let mut others = [1, 2].map(|number| {
        let folder = format!("media.dir={}", folder.path().join(format!("media-{number}")).display());
        first.start_another_node_with(number, &[&folder])
    });
    let author = first.new_user("author");
    let id = initialize(&first, &author);
    append(&others[0], &author, &id, 0, b"some bytes");
    assert!(bucket.list_objects().contains(&format!("here/uploads/{id}/0<")), "{}", bucket.list_objects());
    first.run_sql("UPDATE upload SET expires_at = 1");
    let [second, third] = &mut others;
    check_upload_over_nodes(&first, second, third, &author);
    // The second node has removed at its start what had expired.
    wait_until("no segment is left", || !bucket.list_objects().contains("here/uploads/"));
}

#[test]
fn node_without_the_media_files_of_the_others_does_not_start() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let first = TestServer::start_network(&[]);
    let own_folder = format!("media.dir={}", first.sibling_path("other-media").display());
    let mut second = first.prepare_another_node(1, &[&own_folder]);
    second.spawn();
    wait_until("it has ended", || !second.is_running());
    let (code, _) = second.wait_for_exit();
    assert_eq!(code, Some(1), "{}", second.stderr());
    let advice = "set media.s3_url on all nodes to one bucket, or media.dir to one directory that they share";
    assert!(second.stderr().contains("node 0 (") && second.stderr().contains(advice), "{}", second.stderr());
    assert_eq!(first.send(TestRequest::get("/readyz")).status, 200);
    // Whether the first one ends in order or not, its place is free within the time of a lease.
    first.signal(Signal::KILL);
    second.restart_as_node();
}

/// As when all nodes were stopped to move the files.
#[test]
fn nodes_started_at_once_on_a_new_folder_share_it() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let first = TestServer::start_network(&[]);
    let others = [1, 2].map(|number| first.prepare_another_node(number, &[]));
    let mut nodes: Vec<TestServer> = std::iter::once(first).chain(others).collect();
    nodes[0].stop();
    std::fs::remove_dir_all(nodes[0].data_dir().join("media")).unwrap();
    nodes.iter_mut().for_each(TestServer::spawn);
    nodes.iter_mut().for_each(TestServer::await_ready_as_node);
}

#[test]
fn file_in_a_bucket_that_does_not_answer_is_refused_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let Some(bucket) = BucketServer::start(folder.path()) else { return };
    let proxy = TcpProxy::start(bucket.url.strip_prefix("http://").unwrap().parse().unwrap());
    let keys = BucketServer::settings(folder.path(), &format!("http://{}", proxy.address));
    let args: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
    let server = TestServer::start_network(&args);
    let author = server.new_user("author");
    let id = super::picture(&author, &jpeg(60, 40));
    let read = author.get(format!("/2/media/3_{id}?media.fields=url")).assert_status(200);
    let path = read["data"]["url"].as_str().unwrap().strip_prefix(&server.url).unwrap().to_owned();
    assert_eq!(server.send(TestRequest::get(&path)).status, 200);
    proxy.set_cut(true);
    let started = base::clock::monotonic_now();
    let refused = server.send(TestRequest::get(&path).header("x-request-id", "slow-file"));
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    let is_logged = |line: &str| line.contains("slow-file") && line.contains("the file store took too long");
    wait_until("the failure is logged with the request", || server.stderr().lines().any(is_logged));
    proxy.set_cut(false);
    wait_until("the file is served again", || server.send(TestRequest::get(&path)).status == 200);
}
