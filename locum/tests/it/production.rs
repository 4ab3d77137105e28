//! What separates a production server from a development server, and when it is ready.

use std::path::Path;

use crate::harness::{TestRequest, TestServer, run_command, wait_until};

/// Lines of `dev.env` whose values are secrets.
const SECRET_NAMES: &[&str] = &[
    "API_KEY",
    "API_SECRET",
    "BEARER_TOKEN",
    "ACCESS_TOKEN",
    "ACCESS_TOKEN_SECRET",
    "USER_TOKEN",
    "CLIENT_ID",
    "CLIENT_SECRET",
];

fn files_with(folder: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, secret));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn data_directory_of_the_development_server_is_not_served() {
    let mut dev = TestServer::start(&["--world", "empty"]);
    dev.stop();
    let mut args = vec!["serve", "--set", "core.base_url=https://social.example"];
    let location = dev.location_args();
    args.extend(location.iter().map(String::as_str));
    let ran = run_command(&dev.sibling_path(""), &args);
    ran.assert_exit_code(4);
    assert!(ran.stderr.contains("created by `locum dev`"), "{ran:?}");
    dev.restart();
}

#[test]
fn data_of_a_development_server_moves_to_production_without_its_credentials() {
    let dev = TestServer::start(&[]);
    let file = dev.sibling_path("world.jsonl");
    dev.run_cli(&["export", file.to_str().unwrap()]).assert_success();
    let mut serve = TestServer::start_network(&[]);
    serve.run_cli(&["import", "jsonl", file.to_str().unwrap()]).assert_success();
    let user = serve.new_user("reader");
    let ada = user.get("/2/users/by/username/ada").assert_status(200);
    assert_eq!(ada["data"]["username"], "ada", "people came along: {ada}");
    for name in ["USER_TOKEN", "BEARER_TOKEN"] {
        let request = TestRequest::get("/2/tweets/20").bearer(dev.env_value(name));
        let response = serve.send(request);
        assert_eq!((response.status, response.header("x-locum-explain")), (401, ""), "{name}");
    }
    let (key, secret) = (dev.env_value("API_KEY"), dev.env_value("API_SECRET"));
    let request = TestRequest::post("/oauth2/token").basic(key, secret).form("grant_type=client_credentials");
    assert_ne!(serve.send(request).status, 200);
    serve.stop();
    for name in SECRET_NAMES {
        let found = files_with(&serve.data_dir(), dev.env_value(name));
        assert!(found.is_empty(), "{name} of the development server is in {found:?}");
    }
}

#[test]
fn server_with_pending_migrations_is_not_ready() {
    let mut server = TestServer::prepare_network(&["--set", "db.migrate_on_start=false"]);
    server.use_empty_database();
    server.spawn();
    let refused = || server.stderr().contains("locum migrate up");
    wait_until("it says what to do", refused);
    assert!(!server.data_dir().join("server.json").exists(), "it listens without its tables");
    server.kill();

    let mut server = TestServer::prepare_network(&[]);
    server.use_empty_database();
    server.restart();
    let applied = server.run_cli(&["migrate", "status"]).json();
    let applied = applied.as_array().unwrap();
    assert!(applied.iter().all(|one| one["applied_at"].is_string()), "ready before all is applied: {applied:?}");
}
