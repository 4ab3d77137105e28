//! `locum fsck` compares the index with the database; a server heals what it can and says so.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{found, total};
use crate::harness::{TestServer, wait_until};

/// A stopped server with posts, and their ids.
fn stopped_server() -> (TestServer, Vec<String>) {
    let mut server = TestServer::start(&["--world", "empty"]);
    let writer = server.new_user("writer");
    let ids = (0..4).map(|number| writer.publish_text(&format!("lasting word {number}"))).collect();
    assert_eq!(total(&server, "lasting"), 4);
    server.stop();
    (server, ids)
}

fn index_folder(server: &TestServer) -> PathBuf {
    server.data_dir().join("search")
}

/// The subfolder of the index in use.
fn version_folder(server: &TestServer) -> PathBuf {
    let entries = fs::read_dir(index_folder(server)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).max().unwrap()
}

fn fsck(server: &TestServer, args: &[&str], is_sound: bool) -> Value {
    let output = server.run_cli(&[&["fsck"], args].concat());
    output.assert_exit_code(i32::from(!is_sound));
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["sound"], is_sound, "{report}");
    report["index"].clone()
}

#[test]
fn fsck_finds_and_repairs_what_the_index_has_wrong() {
    let (mut server, ids) = stopped_server();
    assert_eq!(fsck(&server, &[], true)["posts"], 4);
    // The log tells the index nothing of this.
    server.run_sql(&format!(
        "UPDATE post SET state = 1 WHERE id = {}; UPDATE post SET limited = 1 WHERE id = {};
         UPDATE users SET post_count = post_count - 1 WHERE post_count = 4",
        ids[0], ids[1]
    ));
    let report = fsck(&server, &[], false);
    assert_eq!(report["surplus"], json!([ids[0], ids[1]]), "{report}");
    assert_eq!((&report["missing"], &report["repaired"]), (&json!([]), &Value::Null));
    assert_eq!((&report["days"][0]["stored"], &report["days"][0]["indexed"]), (&json!(2), &json!(4)));
    assert!(fsck(&server, &["--repair"], true)["repaired"].is_string());
    assert_eq!(fsck(&server, &[], true)["posts"], 2);
    server.run_sql(&format!("UPDATE post SET limited = 0 WHERE id = {}", ids[1]));
    server.restart();
    assert_eq!(total(&server, "lasting"), 2);
    assert_eq!(fsck(&server, &[], false)["missing"], json!([ids[1]]));
    fsck(&server, &["--repair"], true);
    assert_eq!(total(&server, "lasting"), 3);
    fsck(&server, &[], true);
}

#[test]
fn fsck_finds_damaged_files_of_the_index_and_rebuilds_it() {
    let (server, _) = stopped_server();
    let files = fs::read_dir(version_folder(&server)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let words = files.filter(|file| file.extension().is_some_and(|end| end == "pos"));
    let words = words.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
    let mut bytes = fs::read(&words).unwrap();
    bytes[0] ^= 1;
    fs::write(&words, bytes).unwrap();
    let name = words.file_name().unwrap().to_str().unwrap();
    assert_eq!(fsck(&server, &[], false)["damaged_files"], json!([name]));
    assert_eq!(fsck(&server, &["--repair"], true)["repaired"], "rebuilt the index");
    fsck(&server, &[], true);
}

/// Restarts a server, which finds all posts and logs one warning, and stops it again.
fn restart_with_warning(server: &mut TestServer, posts: usize, reason: &str) {
    server.restart();
    let reader = server.new_user("reader");
    wait_until("the index is built", || super::ask(&reader, "lasting", "").status == 200);
    assert_eq!(found(&reader, "lasting").len(), posts);
    drop(reader);
    server.stop();
    let log = server.stderr();
    let warnings = log.lines().filter(|line| line.contains("WARN") && line.contains(reason)).count();
    assert_eq!(warnings, 1, "{reason}: {log}");
}

#[test]
fn unusable_index_is_replaced_with_a_warning_that_gives_the_reason() {
    let (mut server, ids) = stopped_server();
    let folder = index_folder(&server);
    fs::write(version_folder(&server).join("meta.json"), "{}").unwrap();
    restart_with_warning(&mut server, ids.len(), "the search index cannot be used; rebuilding it");
    fs::write(folder.join("network_id"), "another").unwrap();
    restart_with_warning(&mut server, ids.len(), "it belongs to another network");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "no index").unwrap();
    restart_with_warning(&mut server, ids.len(), "it is not a folder");
}

#[test]
fn index_of_another_network_is_not_served() {
    let mut server = TestServer::start_network(&[]);
    server.stop();
    let owner = index_folder(&server).join("network_id");
    fs::write(&owner, "another").unwrap();
    server.spawn();
    wait_until("it is refused", || server.stderr().contains("move the index away"));
    server.kill();
    assert_eq!(fs::read_to_string(&owner).unwrap(), "another");
    fs::remove_dir_all(index_folder(&server)).unwrap();
    server.restart();
}
