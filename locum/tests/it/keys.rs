//! Changing the master key of a server that is in use.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::harness::{
    DatabaseEngine, OAuth1Credentials, TestRequest, TestServer, TestUser, run_command, suite_engine, wait_until,
};

/// The files of old keys.
fn put_aside(server: &TestServer) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(server.data_dir()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.filter(|path| name(path).starts_with("master.key.")).collect()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no {name}: {value}"))
}

fn calls(user: &TestUser<'_>) {
    user.send_signed(TestRequest::get("/2/users/me")).assert_status(200);
    let bearer = TestRequest::get(format!("/2/users/{}", user.id)).bearer(&user.app.bearer);
    user.server.send(bearer).assert_status(200);
}

#[test]
fn master_key_is_rotated_while_the_server_runs() {
    let mut server = TestServer::start(&[]);
    {
        let user = server.new_user("before");
        calls(&user);
        let first = server.run_cli(&["keys", "show"]).json();
        let before = number(&first, "sealed_with_current");
        assert!(before > 10, "{first}");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut rounds = 0;
                while !done.load(Ordering::SeqCst) || rounds < 5 {
                    calls(&user);
                    rounds += 1;
                }
            });
            scope.spawn(|| {
                for _ in 0..5 {
                    calls(&server.new_user("meanwhile"));
                }
            });
            let turned = server.run_cli(&["keys", "rotate", "--rewrap"]).json();
            assert_ne!(turned["current"], first["current"]);
            assert_eq!(turned["old"][0], first["current"]);
            assert!(number(&turned, "sealed_anew") >= before, "{turned}");
            done.store(true, Ordering::SeqCst);
        });
        let later = server.new_user("after");
        calls(&later);
    }
    let last = server.run_cli(&["keys", "rewrap"]).json();
    let shown = server.run_cli(&["keys", "show"]).json();
    assert_eq!(last["sealed_with_current"], shown["sealed_with_current"]);
    let token = server.env_value("USER_TOKEN").to_owned();

    // With the old key beside the new one, and without it.
    let me = TestRequest::get("/2/users/me").bearer(&token);
    server.stop();
    server.restart();
    server.send(me.clone()).assert_status(200);
    server.stop();
    let old = put_aside(&server);
    assert_eq!(old.len(), 1);
    for path in old {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may read an old key");
        std::fs::remove_file(path).unwrap();
    }
    server.restart();
    server.send(me).assert_status(200);
    calls(&server.new_user("last"));
}

/// What was sealed before is read with the old key until all of it is sealed anew, however often
/// that is broken off.
#[test]
fn re_encryption_resumes_after_a_crash() {
    let mut server = TestServer::start(&[]);
    let app = server.default_app().clone();
    let (token, secret) = {
        let user = server.new_user("kept");
        user.oauth1_token();
        (user.oauth1_token().0.to_owned(), user.oauth1_token().1.to_owned())
    };
    let signed = |server: &TestServer| {
        let key = OAuth1Credentials {
            consumer: app.consumer_credentials(),
            token: (&token, &secret),
            ..OAuth1Credentials::default()
        };
        let me = TestRequest::get("/2/users/me");
        let header = me.oauth1_header(&key, &server.url);
        server.send(me.authorization(header)).assert_status(200);
    };
    let first = server.run_cli(&["keys", "rotate"]).json();
    assert_eq!(number(&first, "sealed_with_current"), 1, "only what checks the key at a start");
    signed(&server);
    server.crash_and_restart();
    signed(&server);
    // A second change before the first is through: three keys are in use.
    wait_until("the lease before the crash ended", || server.run_cli(&["keys", "rotate"]).code == 0);
    server.crash_and_restart();
    signed(&server);
    assert_eq!(put_aside(&server).len(), 2);
    let before = number(&server.run_cli(&["keys", "show"]).json(), "sealed_with_current");
    let place = server.location_args();
    let mut sealing = {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_locum"));
        command.args(["keys", "rewrap", "--json"]).args(&place);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    std::thread::sleep(std::time::Duration::from_millis(15));
    server.kill();
    let _ended = sealing.wait();
    server.restart();
    signed(&server);
    let done = server.run_cli(&["keys", "rewrap"]).json();
    assert!(number(&done, "sealed_with_current") > before, "{done}");
    server.stop();
    for path in put_aside(&server) {
        std::fs::remove_file(path).unwrap();
    }
    server.restart();
    signed(&server);
}

#[test]
fn missing_old_key_stops_startup_and_changes_nothing() {
    let mut server = TestServer::start(&["--world", "empty"]);
    server.new_user("someone");
    server.run_cli(&["keys", "rotate"]).assert_success();
    server.stop();
    let old = put_aside(&server).remove(0);
    let hidden = server.sibling_path("hidden.key");
    std::fs::rename(&old, &hidden).unwrap();
    let mut args: Vec<String> = ["dev", "--port", "0", "--control-port", "0"].map(str::to_owned).to_vec();
    args.extend(server.location_args());
    let ran = run_command(&server.sibling_path(""), &args);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("master key"), "{ran:?}");
    // Named in the configuration instead.
    let named = format!("secrets.old_master_key_files={}", hidden.display());
    let done = server.run_cli(&["keys", "rewrap", "--set", &named]).json();
    assert!(number(&done, "sealed_anew") > 0, "{done}");
    server.restart();
}

#[test]
fn world_that_needs_a_removed_key_is_refused_with_the_keys_id() {
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    server.run_cli(&["world", "create", "other"]).assert_success();
    let old = server.run_cli(&["keys", "show"]).json()["current"].as_str().unwrap().to_owned();
    server.run_cli(&["keys", "rotate", "--rewrap"]).assert_success();
    std::fs::remove_file(put_aside(&server).remove(0)).unwrap();
    for command in [&["reset"][..], &["world", "create", "third"], &["reset", "--world", "other"]] {
        let refused = server.run_cli(command);
        assert!(refused.code == 1 && refused.stderr.contains(&old), "{command:?}: {refused:?}");
    }
    server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
}

/// A node without the new key could not read what the others encrypt.
#[test]
fn master_key_is_rotated_only_while_one_node_runs() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let one = TestServer::start_network(&[]);
    let mut two = one.start_another_node(0);
    let refused = one.run_cli(&["keys", "rotate"]);
    assert!(refused.code == 1 && refused.stderr.contains("node 1 ("), "{refused:?}");
    assert!(put_aside(&one).is_empty(), "nothing was replaced");
    two.stop();
    one.run_cli(&["keys", "rotate"]).assert_success();

    let mut args = vec!["serve".to_owned()];
    args.extend(two.location_args());
    let ran = run_command(&two.sibling_path(""), &args);
    assert!(ran.code != 0 && ran.stderr.contains("`locum keys rotate`"), "{ran:?}");
    for path in put_aside(&one).into_iter().chain([one.data_dir().join("master.key")]) {
        std::fs::copy(&path, two.data_dir().join(path.file_name().unwrap())).unwrap();
    }
    two.restart_as_node();
    let user = one.new_user("later");
    let key = OAuth1Credentials {
        consumer: user.app.consumer_credentials(),
        token: user.oauth1_token(),
        ..OAuth1Credentials::default()
    };
    let me = TestRequest::get("/2/users/me");
    let header = me.oauth1_header(&key, &one.url);
    two.send(me.authorization(header)).assert_status(200);
}

#[test]
fn rotation_without_re_encryption_says_what_to_do_next() {
    let server = TestServer::start(&["--world", "empty"]);
    let old = server.run_cli(&["keys", "show"]).json()["current"].as_str().unwrap().to_owned();
    let place = server.location_args();
    let rotate = |more: &[&str]| {
        let args: Vec<&str> =
            ["keys", "rotate"].iter().chain(more).copied().chain(place.iter().map(String::as_str)).collect();
        run_command(std::path::Path::new("/"), &args).assert_success().stderr.clone()
    };
    let hint = rotate(&[]);
    assert!(hint.contains(&old) && hint.contains("Next: run `locum keys rewrap`."), "{hint}");
    for silent in ["--rewrap", "--json", "--quiet"] {
        assert_eq!(rotate(&[silent]), "", "{silent}");
    }
}
