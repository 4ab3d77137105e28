//! The command line: exit codes, JSON, and what people are told.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{
    CommandOutput, DatabaseEngine, TestServer, locum_command, run_command, shared_server, suite_engine, unique_number,
    wait_until,
};

fn locum(args: &[&str]) -> CommandOutput {
    let folder = tempfile::tempdir().unwrap();
    run_command(folder.path(), args)
}

fn said(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.stderr).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn misuse_exits_with_2() {
    for args in [&["nonsense"][..], &[], &["dev", "--nonsense"], &["user", "create"], &["dev", "--port", "x"]] {
        locum(args).assert_exit_code(2);
    }
    locum(&["--help"]).assert_success();
    locum(&["help", "dev"]).assert_success();
}

#[test]
fn unreachable_server_exits_with_3() {
    let ran = locum(&["--json", "user", "list", "--data-dir", "./nothing"]);
    ran.assert_exit_code(3);
    assert_eq!(said(&ran)["error"]["exit"], 3);
    locum(&["health", "--data-dir", "./nothing"]).assert_exit_code(3);
    locum(&["health", "--url", "http://127.0.0.1:9"]).assert_exit_code(3);
    locum(&["user", "list", "--url", "http://127.0.0.1:9"]).assert_exit_code(3);
}

/// 2 for a value that is never accepted, 1 for what does not exist or is in the way.
#[test]
fn refused_arguments_exit_as_documented() {
    let server = shared_server();
    let cases = [
        (2, "user create bad!name"),
        (2, "user create exit_codes --email nonsense"),
        (2, "user create exit_codes --website ftp://example.com"),
        (2, "user edit ada --website example.com"),
        (2, "user verify ada purple"),
        (2, "user premium ada Gold"),
        (2, "user withhold ada none"),
        (2, "user list --limit 0"),
        (2, "token mint --app demo --user ada --ttl soon"),
        (2, "token mint --app demo --user ada --scopes everything"),
        (2, "mod suspend ada --for soon"),
        (2, "mod ban ada"),
        (2, "space create ada --start yesterday"),
        (2, "clock advance soon"),
        (2, "trigger nonsense"),
        (2, "role grant ada emperor"),
        (2, "user affiliate ada bob --badge-url nope"),
        (2, "user affiliate ada bob --website nope"),
        (2, "ads account create  --user ada"),
        (2, "ads account create Shop --user ada --industry foo"),
        (2, "backup "),
        (1, "user edit ada --username bob"),
        (1, "restore /nonexist"),
        (1, "restore /dev/null"),
        (1, "link import /nonexist"),
        (1, "site set rules --file /nonexist"),
        (1, "user show nobody_here"),
        (1, "user create ada"),
        (1, "post withhold 17 DE"),
        (1, "app keys nothing"),
        (1, "follow approve ada nobody_here"),
        (1, "community show 17"),
        (1, "world env nowhere"),
        (1, "snapshot load nothing"),
    ];
    for (code, line) in cases {
        let ran = server.run_cli(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, code, "{line}: {ran:?}");
    }
    server.run_cli(&["user", "withhold", "ada", "DE"]).assert_success();
    server.run_cli(&["user", "withhold", "ada"]).assert_success();
}

#[test]
fn wrong_argument_is_named_with_what_is_expected() {
    for (line, expected) in [
        ("mod lift abc", "'<ACTION>': expected a whole number\n"),
        ("user list --limit x", "'--limit <LIMIT>': expected a whole number\n"),
        ("mod lift 99999999999999999999", "expected a smaller whole number"),
        ("place add Porto --bbox west,1,2,3", "'--bbox <WEST,SOUTH,EAST,NORTH>': expected a number\n"),
        ("mod suspend ada --for soon", "'--for <DURATION>': expected a duration such as 30m, 12h or 7d"),
        ("user verify ada purple", "[possible values: none, blue, business, government]"),
        ("site set motto x", "[possible values: name, registrations, indexing, about"),
        ("site set name", "<VALUE|--file <FILE>>"),
        ("mod limit", "<USER|--post <POST>>"),
    ] {
        let ran = locum(&line.split(' ').collect::<Vec<_>>());
        assert!(ran.assert_exit_code(2).stderr.contains(expected), "{line}: {}", ran.stderr);
    }
}

#[test]
fn message_about_an_argument_has_no_words_of_the_api() {
    let refused = shared_server().run_cli(&["user", "create", "bad!name"]);
    assert!(refused.stderr.contains("The `username` value [bad!name]"), "{}", refused.stderr);
    let missing = shared_server().run_cli(&["post", "withhold", "17", "DE"]);
    assert!(missing.stderr.contains("no post with the ID 17"), "{}", missing.stderr);
}

#[test]
fn url_of_a_server_is_used_or_refused() {
    for args in
        [&["migrate", "status"][..], &["doctor"], &["conf", "check"], &["restore", "x"], &["env", "--intercept"]]
    {
        let ran = locum(&[args, &["--url", "http://127.0.0.1:9"]].concat());
        assert!(ran.code == 2 && ran.stderr.contains("--url"), "{args:?}: {ran:?}");
    }
    locum(&["env", "--url", "http://127.0.0.1:9"]).assert_exit_code(3);

    let server = shared_server();
    let control = server.control_url();
    let token = server.data_dir().join("control.token").display().to_string();
    let ran = locum(&["env", "--shell", "dotenv", "--url", &control, "--token-file", &token]);
    ran.assert_success();
    let expected = format!("LOCUM_API_KEY={}", server.env_value("API_KEY"));
    assert!(ran.stdout.lines().any(|line| line == expected), "{ran:?}");
}

#[test]
fn new_account_is_checked_as_an_edited_one() {
    let long = "x".repeat(151);
    for args in [["--email", "nonsense"], ["--website", "ftp://example.com"], ["--location", &long]] {
        let ran = shared_server().run_cli(&[&["user", "create", "unchecked"], &args[..]].concat());
        assert!(ran.code != 0 && !ran.stderr.is_empty(), "{args:?}: {ran:?}");
    }
}

#[test]
fn data_directory_that_another_process_has_open_exits_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let locked = std::fs::File::create(folder.path().join("locum.lock")).unwrap();
    locked.lock().unwrap();
    let place = folder.path().display().to_string();
    let ran = locum(&["dev", "--port", "0", "--control-port", "0", "--data-dir", &place]);
    ran.assert_exit_code(3);
    assert!(ran.stderr.contains(&format!("another process has {place} open")), "{ran:?}");
}

#[test]
fn output_that_cannot_be_written_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["version"][..], &["--version"], &["--help"], &["--json", "conf", "show"], &["completions", "bash"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = locum_command(folder.path()).args(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains("the output could not be written: No space left on device"), "{args:?}: {stderr}");
    }
}

#[test]
fn reader_that_closes_the_output_early_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = locum_command(folder.path());
    let mut child = command.args(["routes"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn following_command_ends_when_its_reader_leaves() {
    let server = shared_server();
    let folder = tempfile::tempdir().unwrap();
    for args in [&["log", "--follow"][..], &["stream", "tail", "sample", "--follow"]] {
        let mut command = locum_command(folder.path());
        let mut child = command.args(args).args(server.location_args()).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        wait_until("the command ends", || child.try_wait().unwrap().is_some());
        assert!(child.wait().unwrap().success(), "{args:?}");
    }
}

#[test]
fn argument_that_the_server_refuses_as_invalid_exits_with_2() {
    let server = shared_server();
    for args in [
        &["log", "--assert", "bogus=2"][..],
        &["log", "--status", "nonsense"],
        &["log", "--status", "nonsense", "--har", "never-written.har"],
        &["clock", "advance", "soon"],
        &["fault", "add", "--effect", "nonsense"],
        &["fault", "add", "--status", "503", "--route", "nonsense"],
        &["limits", "scale", "0"],
    ] {
        server.run_cli(args).assert_exit_code(2);
    }
    server.run_cli(&["log", "--assert", "label=nobody count=1"]).assert_exit_code(1);
    server.run_cli(&["fault", "rm", "nobody"]).assert_exit_code(1);
}

#[test]
fn command_forbidden_by_the_mode_exits_with_4() {
    let mut server = TestServer::start(&["--world", "empty"]);
    server.stop();
    let data = server.data_dir().display().to_string();
    let serve = ["serve", "--base-url", "https://social.example", "--port", "0", "--data-dir", &data];
    run_command(&server.sibling_path(""), &serve).assert_exit_code(4);
}

/// A command for a world of a development server must not reach production.
#[test]
fn production_refuses_to_act_on_a_world() {
    let mut network = TestServer::start_network(&["--set", "listen.control_addr=127.0.0.1:0"]);
    network.run_cli(&["user", "create", "zed"]).assert_success();
    let delete = ["user", "delete", "zed", "--now", "--world", "t1"];
    let url = network.control_url();
    let by_url = [&delete[..], &["--url", &url, "--token-file"]].concat();
    let token = network.data_dir().join("control.token").display().to_string();
    locum(&[&by_url[..], &[&token]].concat()).assert_exit_code(4);
    network.run_cli(&delete).assert_exit_code(4);
    network.run_cli(&["user", "show", "zed"]).assert_success();
    network.run_cli(&["env"]).assert_exit_code(4);
    network.run_cli(&["webhook", "listen"]).assert_exit_code(4);
    network.stop();
    let refused = network.run_cli(&delete);
    assert!(refused.code == 4 && !refused.stderr.contains("locum dev"), "{refused:?}");
}

#[test]
fn guessable_password_is_refused_in_production() {
    let server = TestServer::start_network(&[]);
    for (password, message) in [("letmein123", "guessed at once"), ("x grace_hopper x", "must not contain")] {
        let ran = server.run_cli(&["user", "create", "grace_hopper", "--password", password]);
        assert!(!ran.stderr.is_empty() && ran.stderr.contains(message), "{password}: {}", ran.stderr);
    }
    server.run_cli(&["user", "create", "grace_hopper", "--password", "a long secret"]).assert_success();
    let ran = server.run_cli(&["user", "password", "grace_hopper", "--password", "letmein123"]);
    assert!(ran.stderr.contains("guessed at once"), "{}", ran.stderr);
    server.run_cli(&["user", "password", "grace_hopper"]).assert_success();
    // Nobody guesses at a development server.
    shared_server()
        .run_cli(&["user", "create", &format!("u{}", unique_number()), "--password", "dev"])
        .assert_success();
}

#[test]
fn unknown_configuration_key_is_named_with_position_and_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        std::fs::write(folder.path().join("locum.toml"), text).unwrap();
        run_command(folder.path(), &["conf", "check"])
    };
    let ran = file("[core]\nvocabulary = \"posts\"\nvocabularry = \"posts\"\n");
    ran.assert_exit_code(2);
    for word in ["locum.toml", ":3", "vocabularry", "core.vocabulary"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    file("[core]\nvocabulary = \"words\"\n").assert_exit_code(2);
    file("[core\n").assert_exit_code(2);
    file("[core]\nvocabulary = \"tweets\"\n").assert_success();
    // Of a production server that was not started yet.
    let tls = "[tls]\ncert = \"/etc/cert.pem\"\nkey = \"/etc/key.pem\"\n";
    let ran = file(&format!("[core]\nbase_url = \"https://social.example\"\ndata_dir = \"data\"\n{tls}"));
    assert!(ran.code == 2 && ran.stderr.contains("no master key"), "{ran:?}");
    file(&format!("[core]\ndata_dir = \"data\"\n{tls}")).assert_exit_code(2);
    let ran = locum(&["conf", "check", "--set", "core.nonsense=1"]);
    ran.assert_exit_code(2);
    assert!(ran.stderr.contains("core.nonsense"));
    locum(&["dev", "--rate-limits", "some", "--port", "0"]).assert_exit_code(2);
}

#[test]
fn configuration_shows_the_source_of_each_value() {
    let ran = locum(&["--json", "conf", "show", "--origin", "--set", "core.vocabulary=tweets"]);
    let rows = ran.json();
    let row = rows.as_array().unwrap().iter().find(|row| row["key"] == "core.vocabulary").unwrap();
    assert_eq!(row["value"], "tweets");
    assert!(!row["origin"].as_str().unwrap().is_empty());
    let ran = locum(&["conf", "show", "--set", "secrets.master_key=canary-of-a-key"]);
    assert!(!(ran.stdout + &ran.stderr).contains("canary-of-a-key"));
    let ran = locum(&["conf", "show", "--db", "postgres://me:canary@host/db"]);
    assert!(!(ran.stdout + &ran.stderr).contains("canary"));
}

#[test]
fn users_apps_and_tokens_are_managed_with_and_without_a_server() {
    let mut server = TestServer::start(&["--world", "empty"]);
    for name in ["with_server", "without_server"] {
        if name == "without_server" {
            server.stop();
        }
        manage_a_person(&server, name);
        let app = server.run_cli(&["app", "create", name, "--owner", name]).json();
        manage_an_app(&server, name, &app);
        let id = app["id"].as_str().unwrap();
        manage_tokens(&server, name, id);
        server.run_cli(&["app", "delete", id]).assert_success();
        server.run_cli(&["app", "keys", id]).assert_exit_code(1);
        server.run_cli(&["user", "delete", name]).assert_success();
        server.run_cli(&["user", "show", name]).assert_exit_code(1);
    }
}

fn manage_a_person(server: &TestServer, name: &str) {
    let user = |args: &[&str]| server.run_cli(&[&["user"], args].concat());
    let created = user(&["create", name, "--name", "A Person"]).json();
    assert_eq!((&created["username"], &created["name"]), (&Value::from(name), &Value::from("A Person")));
    assert!(created["password"].as_str().unwrap().len() >= 16, "made up and shown once");
    assert!(user(&["show", name]).json().get("password").is_none());
    user(&["create", name]).assert_exit_code(1);
    for bad in ["not a handle", "sixteen_letters_", ""] {
        user(&["create", bad]).assert_exit_code(2);
    }
    assert_eq!(user(&["verify", name]).json()["verified_type"], "blue");
    assert_eq!(user(&["suspend", name]).json()["state"], "suspended");
    assert_eq!(user(&["restore", &format!("@{name}")]).json()["state"], "active");
    let names = user(&["list"]).json().to_string();
    assert!(names.contains(name), "{names}");
}

fn manage_an_app(server: &TestServer, name: &str, created: &Value) {
    let id = created["id"].as_str().unwrap();
    let app = |args: &[&str]| server.run_cli(&[&["app"], args].concat());
    let keys = app(&["keys", id]).json();
    for secret in ["api_secret", "bearer_token", "client_secret"] {
        assert!(created[secret].as_str().is_some_and(|text| text.len() >= 20), "{created}");
        assert!(keys.get(secret).is_none(), "shown once: {keys}");
    }
    let rotated = app(&["rotate", name, "bearer"]).json();
    assert_ne!(rotated["bearer_token"], created["bearer_token"]);
    app(&["callbacks", id, "https://a.example/cb"]).assert_success();
    app(&["callbacks", id, "javascript:alert(1)"]).assert_exit_code(2);
    let urls: Vec<String> = (0..11).map(|number| format!("https://a.example/{number}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    app(&[&["callbacks", id], &urls[..]].concat()).assert_exit_code(2);
    assert_eq!(app(&["type", id, "native"]).json()["has_client_secret"], false);
}

fn manage_tokens(server: &TestServer, name: &str, app: &str) {
    let mint = |args: &[&str]| server.run_cli(&[&["token", "mint", "--app", app], args].concat());
    let minted = mint(&["--user", name]).json();
    let token = minted["token"].as_str().unwrap();
    let is_valid = || server.run_cli(&["token", "inspect", token]).json()["valid"].clone();
    assert_eq!(is_valid(), true);
    server.run_cli(&["token", "revoke", token]).assert_success();
    assert_eq!(is_valid(), false);
    server.run_cli(&["token", "inspect", "unknown"]).assert_exit_code(1);
    mint(&["--user", "nobody"]).assert_exit_code(1);
    mint(&["--user", name, "--scopes", "nonsense"]).assert_exit_code(2);
}

#[test]
fn database_is_inspected_without_a_server() {
    let mut server = TestServer::start(&["--world", "empty"]);
    server.stop();
    let migrations = server.run_cli(&["migrate", "status"]).json();
    assert!(migrations.as_array().unwrap().iter().all(|one| one["applied_at"].is_string()), "{migrations}");
    assert_eq!(server.run_cli(&["migrate", "up"]).json()["applied"].as_array().map(Vec::len), Some(0));
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
    // Whatever else runs on this machine may have the usual port.
    let anywhere = ["doctor", "--set", "listen.addr=127.0.0.1:0"];
    let doctor = server.run_cli(&anywhere).json();
    assert!(doctor.as_array().unwrap().iter().all(|row| row["state"] != "bad"), "{doctor}");
}

#[test]
fn unreachable_postgres_is_named_without_its_password() {
    let url = "postgres://me:canary@127.0.0.1:9/people";
    let ran = locum(&["migrate", "status", "--db", url]);
    ran.assert_exit_code(1);
    assert!(ran.stderr.contains("connecting to PostgreSQL at 127.0.0.1:9 (database people)"), "{ran:?}");
    assert!(!ran.stderr.contains("canary"), "{ran:?}");
}

#[test]
fn fsck_finds_a_wrong_counter() {
    let mut server = TestServer::start(&[]);
    let id = server.env_value("USER_ID").to_owned();
    server.stop();
    server.run_sql(&format!("UPDATE users SET post_count = post_count + 1 WHERE id = {id}"));
    let ran = server.run_cli(&["fsck"]);
    ran.assert_exit_code(1);
    assert!(ran.stdout.contains(&id), "{ran:?}");
}

/// Runs a command for people.
fn run_for_people(server: &TestServer, args: &[&str]) -> CommandOutput {
    let place = server.location_args();
    run_command(Path::new("/"), &args.iter().copied().chain(place.iter().map(String::as_str)).collect::<Vec<_>>())
}

#[test]
fn reports_of_checks_and_transfers_are_sentences_and_tables() {
    let server = TestServer::start(&[]);
    let sound = run_for_people(&server, &["fsck"]).assert_success().stdout.clone();
    assert!(sound.contains("All compared counters are right.\n"), "{sound}");
    assert!(sound.contains("The search index agrees with the database: "), "{sound}");
    assert!(sound.ends_with("No problems were found.\n"), "{sound}");
    let file = server.sibling_path("all.jsonl");
    let exported = run_for_people(&server, &["export", file.to_str().unwrap()]).assert_success().stdout.clone();
    assert!(exported.contains("KIND") && exported.contains("EXPORTED  LEFT OUT"), "{exported}");
    assert!(exported.lines().any(|line| line.starts_with("poll option  ")), "{exported}");
    assert!(!exported.contains("note writer  0"), "{exported}");
    let imported =
        run_for_people(&server, &["import", "jsonl", file.to_str().unwrap()]).assert_success().stdout.clone();
    assert!(imported.contains("IMPORTED  WERE THERE"), "{imported}");
}

#[test]
fn wrong_counter_is_a_row_of_a_table_for_people() {
    let mut server = TestServer::start(&[]);
    let id = server.env_value("USER_ID").to_owned();
    server.stop();
    server.run_sql(&format!("UPDATE users SET post_count = post_count + 1 WHERE id = {id}"));
    let found = run_for_people(&server, &["fsck"]).assert_exit_code(1).stdout.clone();
    assert!(found.contains("1 counter is wrong:"), "{found}");
    assert!(found.lines().any(|line| line.contains(&id)), "{found}");
    assert!(found.ends_with("Problems were found.\n"), "{found}");
}

#[test]
fn fsck_names_the_table_of_a_damaged_page() {
    if suite_engine() != DatabaseEngine::Sqlite {
        return;
    }
    let mut server = TestServer::start(&["--world", "empty"]);
    server.stop();
    let path = server.data_dir().join("locum.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    let number = |sql: &str| usize::try_from(file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap();
    let size = number("PRAGMA page_size");
    let root = number("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'bookmark'");
    drop(file);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(root - 1) * size..root * size].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let ran = server.run_cli(&["fsck"]);
    ran.assert_exit_code(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let damage = &report["damage"];
    let lines = damage.as_array().unwrap();
    assert!(lines.iter().any(|line| line.as_str().unwrap().starts_with("table bookmark: ")), "{damage}");
}

#[test]
fn version_and_completions_are_printed() {
    assert_eq!(locum(&["--json", "version"]).json()["version"], env!("CARGO_PKG_VERSION"));
    assert!(locum(&["version"]).assert_success().stdout.contains(env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        assert!(locum(&["completions", shell]).assert_success().stdout.contains("locum"));
    }
}

#[test]
fn init_prints_a_valid_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("master.key");
    let args = ["init", "--base-url", "https://social.example", "--master-key", key.to_str().unwrap()];
    let text = run_command(folder.path(), &args).assert_success().stdout.clone();
    std::fs::write(folder.path().join("locum.toml"), text).unwrap();
    let data = folder.path().join("data");
    let shown = run_command(folder.path(), &["--json", "conf", "show", "--data-dir", data.to_str().unwrap()]).json();
    let base = shown.as_array().unwrap().iter().find(|row| row["key"] == "core.base_url").unwrap();
    assert_eq!(base["value"], "https://social.example");
    run_command(folder.path(), &["conf", "check", "--data-dir", data.to_str().unwrap()]).assert_success();
    run_command(folder.path(), &["init", "--base-url", "nonsense"]).assert_exit_code(2);
}

#[test]
fn output_is_a_table_and_quiet_prints_nothing() {
    let server = shared_server();
    let place = server.location_args();
    let mut args: Vec<&str> = vec!["user", "list", "--limit", "3"];
    args.extend(place.iter().map(String::as_str));
    let table = run_command(Path::new("/"), &args).assert_success().stdout.clone();
    assert!(table.lines().next().unwrap().contains("USERNAME"), "{table}");
    args.push("--quiet");
    assert_eq!(run_command(Path::new("/"), &args).assert_success().stdout, "");
}
