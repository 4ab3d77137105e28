//! A network whose database is lost, or whose media folder is another one's.

use std::fs;

use crate::harness::{DatabaseEngine, TestServer, suite_engine, wait_until};

/// Starts the server, which ends with an error; what it said.
fn refused_start(server: &mut TestServer) -> String {
    server.spawn();
    wait_until("the server ends", || !server.is_running());
    server.stderr() + &server.stdout()
}

fn lose_database(server: &TestServer) {
    match suite_engine() {
        DatabaseEngine::Postgres => server.run_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public"),
        DatabaseEngine::Sqlite => fs::remove_file(server.data_dir().join("locum.db")).unwrap(),
    }
}

#[test]
fn network_that_lost_its_database_starts_empty_on_request_only() {
    let mut server = TestServer::start_network(&[]);
    server.run_cli(&["user", "create", "somebody", "--password", "a long password"]).assert_success();
    server.stop();
    lose_database(&server);
    let refusal = refused_start(&mut server);
    assert!(refusal.contains("--init") && refusal.contains("restore"), "{refusal}");
    server.add_argument("--init");
    let refusal = refused_start(&mut server);
    assert!(refusal.contains("media files of network"), "{refusal}");
    fs::rename(server.data_dir().join("media"), server.sibling_path("old-media")).unwrap();
    server.restart();
    server.run_cli(&["user", "show", "somebody"]).assert_exit_code(1);
}

#[test]
fn empty_database_is_not_served_with_existing_media_files() {
    let mut server = TestServer::start_network(&[]);
    server.stop();
    lose_database(&server);
    fs::remove_file(server.data_dir().join("world.json")).unwrap();
    let refusal = refused_start(&mut server);
    assert!(refusal.contains("the database is empty"), "{refusal}");
    fs::remove_file(server.data_dir().join("media/locum-network")).unwrap();
    fs::write(server.data_dir().join("media/picture.png"), "old").unwrap();
    let refusal = refused_start(&mut server);
    assert!(refusal.contains("--init"), "{refusal}");
    server.add_argument("--init");
    server.restart();
}

#[test]
fn lost_data_directory_is_not_replaced_by_an_empty_network_where_there_are_backups() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start_network(&[]);
    let backups = server.sibling_path("backups");
    server.run_cli(&["backup", &format!("{}/", backups.display())]).assert_success();
    server.stop();
    fs::remove_dir_all(server.data_dir()).unwrap();
    server.add_network_argument("--set");
    server.add_network_argument(&format!("backup.to={}", backups.display()));
    let refusal = refused_start(&mut server);
    assert!(refusal.contains("contains backups of a network") && refusal.contains("locum restore"), "{refusal}");
    assert!(!server.data_dir().join("world.json").exists());
    server.add_argument("--init");
    server.restart();
}

#[test]
fn media_folder_and_database_of_another_network_are_refused() {
    let (mut one, mut other) = (TestServer::start_network(&[]), TestServer::start_network(&[]));
    one.stop();
    other.stop();
    let mark = |server: &TestServer| server.data_dir().join("media/locum-network");
    let own = fs::read_to_string(mark(&one)).unwrap();
    fs::copy(mark(&other), mark(&one)).unwrap();
    let refusal = refused_start(&mut one);
    assert!(refusal.contains("media files of network") && refusal.contains("media.dir"), "{refusal}");
    fs::write(mark(&one), own).unwrap();
    let manifest = |server: &TestServer| server.data_dir().join("world.json");
    let kept = fs::read_to_string(manifest(&one)).unwrap();
    fs::copy(manifest(&other), manifest(&one)).unwrap();
    let refusal = refused_start(&mut one);
    assert!(refusal.contains("world.json"), "{refusal}");
    fs::write(manifest(&one), kept).unwrap();
    one.restart();
}
