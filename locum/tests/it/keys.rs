//! Changing the master key of a server that is in use.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::harness::{Ask, Person, Server};

/// The files of old keys.
fn put_aside(server: &Server) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(server.data()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths
        .filter(|path| name(path).starts_with("master.key."))
        .collect()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name}: {value}"))
}

fn calls(person: &Person<'_>) {
    person.signed(Ask::get("/2/users/me")).is(200);
    let bearer = Ask::get(format!("/2/users/{}", person.id)).bearer(&person.app.bearer);
    person.server.send(bearer).is(200);
}

#[test]
fn a_new_master_key_is_taken_while_the_server_is_in_use() {
    let mut server = Server::start(&[]);
    {
        let person = server.person("before");
        calls(&person);
        let first = server.cli(&["keys", "show"]).json();
        let before = number(&first, "sealed_with_current");
        assert!(before > 10, "{first}");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut rounds = 0;
                while !done.load(Ordering::SeqCst) || rounds < 5 {
                    calls(&person);
                    rounds += 1;
                }
            });
            scope.spawn(|| {
                for _ in 0..5 {
                    calls(&server.person("meanwhile"));
                }
            });
            let turned = server.cli(&["keys", "rotate", "--rewrap"]).json();
            assert_ne!(turned["current"], first["current"]);
            assert_eq!(turned["old"][0], first["current"]);
            assert!(number(&turned, "sealed_anew") >= before, "{turned}");
            done.store(true, Ordering::SeqCst);
        });
        let later = server.person("after");
        calls(&later);
    }
    let last = server.cli(&["keys", "rewrap"]).json();
    let shown = server.cli(&["keys", "show"]).json();
    assert_eq!(last["sealed_with_current"], shown["sealed_with_current"]);
    let token = server.env("USER_TOKEN").to_owned();

    // With the old key beside the new one, and without it.
    let me = Ask::get("/2/users/me").bearer(&token);
    server.stop();
    server.start_again();
    server.send(me.clone()).is(200);
    server.stop();
    let old = put_aside(&server);
    assert_eq!(old.len(), 1);
    for path in old {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may read an old key");
        std::fs::remove_file(path).unwrap();
    }
    server.start_again();
    server.send(me).is(200);
    calls(&server.person("last"));
}

/// What was sealed before is read with the old key until all of it is sealed anew, however often
/// that is broken off.
#[test]
fn sealing_anew_goes_on_after_a_crash() {
    let mut server = Server::start(&[]);
    let app = server.app().clone();
    let (token, secret) = {
        let person = server.person("kept");
        person.oauth1();
        (person.oauth1().0.to_owned(), person.oauth1().1.to_owned())
    };
    let signed = |server: &Server| {
        let key = crate::harness::Key {
            consumer: app.consumer(),
            token: (&token, &secret),
            ..crate::harness::Key::default()
        };
        let me = Ask::get("/2/users/me");
        let header = me.signature(&key, &server.url);
        server.send(me.authorized(header)).is(200);
    };
    let first = server.cli(&["keys", "rotate"]).json();
    assert_eq!(number(&first, "sealed_with_current"), 0);
    signed(&server);
    server.crash();
    signed(&server);
    // A second change before the first is through: three keys are in use.
    server.cli(&["keys", "rotate"]).well();
    server.crash();
    signed(&server);
    assert_eq!(put_aside(&server).len(), 2);
    let before = number(&server.cli(&["keys", "show"]).json(), "sealed_with_current");
    let place = server.place();
    let mut sealing = {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_locum"));
        command.args(["keys", "rewrap", "--json"]).args(&place);
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    std::thread::sleep(std::time::Duration::from_millis(15));
    server.kill();
    let _ended = sealing.wait();
    server.start_again();
    signed(&server);
    let done = server.cli(&["keys", "rewrap"]).json();
    assert!(number(&done, "sealed_with_current") > before, "{done}");
    server.stop();
    for path in put_aside(&server) {
        std::fs::remove_file(path).unwrap();
    }
    server.start_again();
    signed(&server);
}

#[test]
fn a_key_that_is_still_needed_is_missed_and_nothing_is_touched() {
    let mut server = Server::start(&["--world", "empty"]);
    server.person("someone");
    server.cli(&["keys", "rotate"]).well();
    server.stop();
    let old = put_aside(&server).remove(0);
    let hidden = server.beside("hidden.key");
    std::fs::rename(&old, &hidden).unwrap();
    let mut args: Vec<String> = ["dev", "--port", "0", "--control-port", "0"]
        .map(str::to_owned)
        .to_vec();
    args.extend(server.place());
    let ran = crate::harness::run(&server.beside(""), &args);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("master key"), "{ran:?}");
    // Named in the configuration instead.
    let named = format!("secrets.old_master_key_files={}", hidden.display());
    let done = server.cli(&["keys", "rewrap", "--set", &named]).json();
    assert!(number(&done, "sealed_anew") > 0, "{done}");
    server.start_again();
}
