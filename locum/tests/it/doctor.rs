//! What `locum doctor` finds.

use serde_json::Value;

use crate::harness::{DatabaseEngine, RedisServer, TestServer, shared_server, suite_engine};

/// The state and the message of a check.
fn finding(server: &TestServer, name: &str, args: &[&str]) -> (String, String) {
    let ran = server.run_cli(&[&["doctor", "--set", "listen.addr=127.0.0.1:0"], args].concat());
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    assert_eq!(ran.code == 0, rows.as_array().unwrap().iter().all(|row| row["state"] != "bad"), "{ran:?}");
    (text("state"), text("says"))
}

#[test]
fn doctor_finds_a_master_key_of_another_network() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let key = server.data_dir().join("master.key");
    let own = ("good".to_owned(), "readable, and decrypts what is stored".to_owned());
    assert_eq!(finding(&server, "master key", &[]), own);
    server.stop();
    assert_eq!(finding(&server, "master key", &[]), own);
    let other = server.sibling_path("other.key");
    let args = ["init", "--base-url", "https://social.example", "--master-key", other.to_str().unwrap()];
    server.run_cli(&args).assert_success();
    std::fs::copy(other, &key).unwrap();
    let (state, message) = finding(&server, "master key", &[]);
    assert!(state == "bad" && message.contains("is not the one that this database was created with"), "{message}");
}

#[test]
fn doctor_finds_a_database_that_refuses_writes() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&["--world", "empty"]);
    assert_eq!(finding(&server, "database", &[]), ("good".to_owned(), "PostgreSQL responds".to_owned()));
    server.stop();
    let read_only = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', \
                     current_database()); END $$";
    server.run_sql(read_only);
    let (state, message) = finding(&server, "database", &[]);
    assert!(state == "bad" && message.starts_with("PostgreSQL refuses writes"), "{message}");
}

#[test]
fn doctor_connects_to_the_server_of_rate_limits() {
    let server = shared_server();
    let (state, message) = finding(server, "rate limits", &[]);
    let place = if suite_engine() == DatabaseEngine::Postgres { "PostgreSQL" } else { "this server" };
    assert_eq!((state, message), ("good".to_owned(), format!("counted in {place}")));
    let nobody = "limits.url=redis://:canary@127.0.0.1:9/0";
    let (state, message) = finding(server, "rate limits", &["--set", nobody]);
    assert!(state == "bad" && message.starts_with("connecting to limits.url: "), "{message}");
    assert!(!message.contains("canary"), "{message}");
    let Some(redis) = RedisServer::start() else { return };
    let url = format!("limits.url={}", redis.url());
    assert_eq!(finding(server, "rate limits", &["--set", &url]).0, "good");
    let wrong = format!("limits.url=redis://:wrong@{}", redis.url().split_once('@').unwrap().1);
    assert_eq!(finding(server, "rate limits", &["--set", &wrong]).0, "bad");
}

#[test]
fn doctor_finds_a_backup_folder_that_cannot_be_created() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = shared_server();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let to = |path: &std::path::Path| format!("backup.to={}", path.join("backups").display());
    let (state, message) = finding(server, "backups", &["--set", &to(&file)]);
    assert!(state == "bad" && message.contains("cannot be written"), "{state}: {message}");
    let (state, message) = finding(server, "backups", &["--set", &to(&folder.path().join("new"))]);
    assert!(state == "doubtful" && message.contains("none yet in"), "{state}: {message}");
    assert!(!folder.path().join("new").exists(), "nothing is created");
}
