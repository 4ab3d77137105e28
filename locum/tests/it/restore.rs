//! Restores into places that are not empty, on other file systems, or another user's, and what is not in a backup.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use serde_json::json;

use crate::backup::{backup, passphrase_file, publish_picture, text};
use crate::harness::{DatabaseEngine, TestRequest, TestServer, TestUser, suite_engine, wait_until};
use crate::media::{multipart, samples};

/// Starts another server on a backup of this one.
fn start_on_backup(server: &TestServer, target: &Path) -> TestServer {
    let mut restored = TestServer::prepare(&[]);
    let passphrase = passphrase_file(server);
    restored.run_cli(&["restore", text(target), "--key-passphrase-file", text(&passphrase)]).assert_success();
    restored.restart();
    restored
}

#[test]
fn write_ahead_log_of_a_lost_database_is_moved_aside_by_a_restore() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    server.new_user("later");
    server.kill();
    let file = server.data_dir().join("locum.db");
    assert!(fs::metadata(file.with_extension("db-wal")).unwrap().len() > 0);
    fs::remove_file(&file).unwrap();
    let restored = server.run_cli(&["restore", text(&target)]).json();
    assert!(!file.with_extension("db-wal").exists());
    assert!(Path::new(&format!("{}-wal", restored["aside"].as_str().unwrap())).exists(), "{restored}");
    server.restart();
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn database_on_another_file_system_is_restored_and_replaced() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(&server.data_dir()) {
        return;
    }
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    server.stop();
    let database = elsewhere.path().join("locum.db");
    let place = format!("db.url={}", text(&database));
    for more in [&[][..], &["--replace"]] {
        let restored = server.run_cli(&[&["restore", text(&target), "--set", &place], more].concat()).json();
        assert!(restored["restored"] == true && database.exists(), "{restored}");
        assert_eq!(restored["aside"].is_string(), !more.is_empty(), "{restored}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 2);
}

#[test]
fn root_does_not_restore_into_the_data_directory_of_another_user() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    let restored = TestServer::prepare(&[]);
    fs::create_dir(restored.data_dir()).unwrap();
    if chown(restored.data_dir(), Some(12_345), None).is_err() {
        return; // only root can give files away
    }
    let passphrase = passphrase_file(&server);
    let ran = restored.run_cli(&["restore", text(&target), "--key-passphrase-file", text(&passphrase)]);
    ran.assert_exit_code(1);
    assert!(ran.stderr.contains("belongs to the user with the id 12345: run this command as that user"), "{ran:?}");
    assert_eq!(fs::read_dir(restored.data_dir()).unwrap().count(), 0);
}

#[test]
fn backups_made_while_the_clock_stands_still_are_all_kept() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let folder = server.sibling_path("backups/");
    server.run_cli(&["clock", "freeze"]).assert_success();
    let first = backup(&server, text(&folder));
    server.new_user("later");
    let second = backup(&server, text(&folder));
    assert_ne!(first["backup"], second["backup"]);
    for made in [first, second] {
        let id = made["backup"].as_str().unwrap();
        let verified = server.run_cli(&["restore", text(&folder), "--verify", "--backup", id]).json();
        assert_eq!(verified["verified"], true, "{verified}");
    }
}

#[test]
fn media_are_restored_on_postgresql_from_a_folder_that_has_a_sqlite_backup_too() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    let folder = server.sibling_path("backups/");
    backup(&server, text(&folder));
    server.stop();
    server.use_empty_database();
    server.run_cli(&["migrate", "from-sqlite"]).assert_success();
    server.restart();
    publish_picture(&server);
    let newest = server.run_cli(&["backup", text(&folder), "--media-only"]).json();
    server.stop();
    fs::remove_dir_all(server.data_dir().join("media")).unwrap();
    let restored = server.run_cli(&["restore", text(&folder)]).json();
    assert_eq!((&restored["restored"], &restored["backup"]), (&json!(true), &newest["backup"]), "{restored}");
    assert_eq!(restored["media"]["files"], newest["media_files"]);
}

/// Begins an upload and sends its only segment.
fn open_upload(user: &TestUser<'_>, media_type: &str, file: &[u8]) -> String {
    let begin = json!({ "media_type": media_type, "total_bytes": file.len() });
    let begun = user.post("/2/media/upload/initialize", &begin).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    let target = format!("/2/media/upload/{id}/append");
    user.send(multipart(&target, &[("segment_index", "0")], "media", file)).assert_status(200);
    id.to_owned()
}

#[test]
fn upload_that_was_open_at_the_backup_fails_after_the_restore() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let user = server.new_user("author");
    let photo = open_upload(&user, "image/png", &samples::png(8, 8));
    let video = open_upload(&user, "video/mp4", &samples::mp4(samples::Film::default()));
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    let restored = start_on_backup(&server, &target);
    let send = |request: TestRequest| restored.send(request.bearer(&user.token));
    let finalize = |id: &str| send(TestRequest::post(format!("/2/media/upload/{id}/finalize")));
    finalize(&photo).assert_error(400, "A part of the file is missing: upload it again.");
    finalize(&video).assert_status(200);
    for id in [photo, video] {
        wait_until("the upload fails", || {
            let status = send(TestRequest::get(format!("/2/media/upload?media_id={id}"))).assert_status(200);
            status["data"]["processing_info"]["state"] == "failed"
        });
    }
}

#[test]
fn reset_of_a_restored_development_server_is_refused_with_the_reason() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    let ran = start_on_backup(&server, &target).run_cli(&["reset"]);
    ran.assert_exit_code(1);
    assert!(ran.stderr.contains("a backup does not contain it"), "{ran:?}");
}
