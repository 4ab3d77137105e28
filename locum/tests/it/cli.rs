//! The command line: exit codes, JSON, and what people are told.

use std::path::Path;

use serde_json::Value;

use crate::harness::{Ran, Server, run, shared};

fn locum(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), args)
}

fn said(ran: &Ran) -> Value {
    serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn misuse_ends_with_2() {
    for args in [
        &["nonsense"][..],
        &[],
        &["dev", "--nonsense"],
        &["user", "create"],
        &["dev", "--port", "x"],
    ] {
        locum(args).ends(2);
    }
    locum(&["--help"]).well();
    locum(&["help", "dev"]).well();
}

#[test]
fn a_server_that_is_not_there_is_told_by_3() {
    let ran = locum(&["--json", "user", "list", "--data-dir", "./nothing"]);
    ran.ends(3);
    assert_eq!(said(&ran)["error"]["exit"], 3);
    locum(&["health", "--data-dir", "./nothing"]).ends(3);
    locum(&["health", "--url", "http://127.0.0.1:9"]).ends(3);
    locum(&["user", "list", "--url", "http://127.0.0.1:9"]).ends(3);
}

#[test]
fn what_the_mode_forbids_ends_with_4() {
    let mut server = Server::start(&["--world", "empty"]);
    server.stop();
    let data = server.data().display().to_string();
    let serve = [
        "serve",
        "--base-url",
        "https://social.example",
        "--port",
        "0",
        "--data-dir",
        &data,
    ];
    run(&server.beside(""), &serve).ends(4);
}

#[test]
fn a_key_that_is_not_known_is_named_with_its_place_and_a_neighbour() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        std::fs::write(folder.path().join("locum.toml"), text).unwrap();
        run(folder.path(), &["conf", "check"])
    };
    let ran = file("[core]\nvocabulary = \"posts\"\nvocabularry = \"posts\"\n");
    ran.ends(2);
    for word in ["locum.toml", ":3", "vocabularry", "core.vocabulary"] {
        assert!(ran.err.contains(word), "{word}: {}", ran.err);
    }
    file("[core]\nvocabulary = \"words\"\n").ends(2);
    file("[core\n").ends(2);
    file("[core]\nvocabulary = \"tweets\"\n").well();
    let ran = locum(&["conf", "check", "--set", "core.nonsense=1"]);
    ran.ends(2);
    assert!(ran.err.contains("core.nonsense"));
    locum(&["dev", "--rate-limits", "some", "--port", "0"]).ends(2);
}

#[test]
fn the_configuration_shows_where_each_value_came_from() {
    let ran = locum(&[
        "--json",
        "conf",
        "show",
        "--origin",
        "--set",
        "core.vocabulary=tweets",
    ]);
    let rows = ran.json();
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "core.vocabulary")
        .unwrap();
    assert_eq!(row["value"], "tweets");
    assert!(!row["origin"].as_str().unwrap().is_empty());
    let ran = locum(&[
        "conf",
        "show",
        "--set",
        "secrets.master_key=canary-of-a-key",
    ]);
    assert!(!(ran.out + &ran.err).contains("canary-of-a-key"));
    let ran = locum(&["conf", "show", "--db", "postgres://me:canary@host/db"]);
    assert!(!(ran.out + &ran.err).contains("canary"));
}

#[test]
fn people_apps_and_tokens_are_managed_with_and_without_a_server() {
    let mut server = Server::start(&["--world", "empty"]);
    for name in ["with_server", "without_server"] {
        if name == "without_server" {
            server.stop();
        }
        manage_a_person(&server, name);
        let app = server.cli(&["app", "create", name, "--owner", name]).json();
        manage_an_app(&server, name, &app);
        let id = app["id"].as_str().unwrap();
        manage_tokens(&server, name, id);
        server.cli(&["app", "delete", id]).well();
        server.cli(&["app", "keys", id]).ends(1);
        server.cli(&["user", "delete", name]).well();
        server.cli(&["user", "show", name]).ends(1);
    }
}

fn manage_a_person(server: &Server, name: &str) {
    let user = |args: &[&str]| server.cli(&[&["user"], args].concat());
    let made = user(&["create", name, "--name", "A Person"]).json();
    assert_eq!(
        (&made["username"], &made["name"]),
        (&Value::from(name), &Value::from("A Person"))
    );
    assert!(
        made["password"].as_str().unwrap().len() >= 16,
        "made up and shown once"
    );
    assert!(user(&["show", name]).json().get("password").is_none());
    for taken_or_bad in [name, "not a handle", "sixteen_letters_", ""] {
        user(&["create", taken_or_bad]).ends(1);
    }
    assert_eq!(user(&["verify", name]).json()["verified_type"], "blue");
    assert_eq!(user(&["suspend", name]).json()["state"], "suspended");
    assert_eq!(
        user(&["restore", &format!("@{name}")]).json()["state"],
        "active"
    );
    let names = user(&["list"]).json().to_string();
    assert!(names.contains(name), "{names}");
}

fn manage_an_app(server: &Server, name: &str, made: &Value) {
    let id = made["id"].as_str().unwrap();
    let app = |args: &[&str]| server.cli(&[&["app"], args].concat());
    let keys = app(&["keys", id]).json();
    for secret in ["api_secret", "bearer_token", "client_secret"] {
        assert!(
            made[secret].as_str().is_some_and(|text| text.len() >= 20),
            "{made}"
        );
        assert!(keys.get(secret).is_none(), "shown once: {keys}");
    }
    let rotated = app(&["rotate", name, "bearer"]).json();
    assert_ne!(rotated["bearer_token"], made["bearer_token"]);
    app(&["callbacks", id, "https://a.example/cb"]).well();
    app(&["callbacks", id, "javascript:alert(1)"]).ends(1);
    let urls: Vec<String> = (0..11)
        .map(|number| format!("https://a.example/{number}"))
        .collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    app(&[&["callbacks", id], &urls[..]].concat()).ends(1);
    assert_eq!(
        app(&["type", id, "native"]).json()["has_client_secret"],
        false
    );
}

fn manage_tokens(server: &Server, name: &str, app: &str) {
    let mint = |args: &[&str]| server.cli(&[&["token", "mint", "--app", app], args].concat());
    let minted = mint(&["--user", name]).json();
    let token = minted["token"].as_str().unwrap();
    let holds = || server.cli(&["token", "inspect", token]).json()["holds"].clone();
    assert_eq!(holds(), true);
    server.cli(&["token", "revoke", token]).well();
    assert_eq!(holds(), false);
    server.cli(&["token", "inspect", "unknown"]).ends(1);
    mint(&["--user", "nobody"]).ends(1);
    mint(&["--user", name, "--scopes", "nonsense"]).ends(1);
}

#[test]
fn the_database_is_looked_at_without_a_server() {
    let mut server = Server::start(&["--world", "empty"]);
    server.stop();
    let migrations = server.cli(&["migrate", "status"]).json();
    assert!(
        migrations
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["applied_at"].is_string()),
        "{migrations}"
    );
    assert_eq!(
        server.cli(&["migrate", "up"]).json()["applied"]
            .as_array()
            .map(Vec::len),
        Some(0)
    );
    assert_eq!(server.cli(&["fsck"]).json()["sound"], true);
    // Whatever else runs on this machine may have the usual port.
    let anywhere = ["doctor", "--set", "listen.addr=127.0.0.1:0"];
    let doctor = server.cli(&anywhere).json();
    assert!(
        doctor
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["state"] != "bad"),
        "{doctor}"
    );
}

#[test]
fn a_count_that_is_wrong_is_found() {
    let mut server = Server::start(&[]);
    let id = server.env("USER_ID").to_owned();
    server.stop();
    server.sql(&format!(
        "UPDATE users SET post_count = post_count + 1 WHERE id = {id}"
    ));
    let ran = server.cli(&["fsck"]);
    ran.ends(1);
    assert!(ran.out.contains(&id), "{ran:?}");
}

#[test]
fn the_version_and_the_completions_are_printed() {
    assert_eq!(
        locum(&["--json", "version"]).json()["version"],
        env!("CARGO_PKG_VERSION")
    );
    assert!(
        locum(&["version"])
            .well()
            .out
            .contains(env!("CARGO_PKG_VERSION"))
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(locum(&["completions", shell]).well().out.contains("locum"));
    }
}

#[test]
fn init_prints_a_configuration_that_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("master.key");
    let args = [
        "init",
        "--base-url",
        "https://social.example",
        "--master-key",
        key.to_str().unwrap(),
    ];
    let text = run(folder.path(), &args).well().out.clone();
    std::fs::write(folder.path().join("locum.toml"), text).unwrap();
    let data = folder.path().join("data");
    let shown = run(
        folder.path(),
        &[
            "--json",
            "conf",
            "show",
            "--data-dir",
            data.to_str().unwrap(),
        ],
    )
    .json();
    let base = shown
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "core.base_url")
        .unwrap();
    assert_eq!(base["value"], "https://social.example");
    run(folder.path(), &["init", "--base-url", "nonsense"]).ends(2);
}

#[test]
fn a_person_reads_a_table_and_quiet_says_nothing() {
    let server = shared();
    let place = server.place();
    let mut args: Vec<&str> = vec!["user", "list", "--limit", "3"];
    args.extend(place.iter().map(String::as_str));
    let table = run(Path::new("/"), &args).well().out.clone();
    assert!(
        table.lines().next().unwrap().contains("USERNAME"),
        "{table}"
    );
    args.push("--quiet");
    assert_eq!(run(Path::new("/"), &args).well().out, "");
}
