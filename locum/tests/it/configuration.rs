//! Wrong configurations are refused with the place of each mistake, and production has no settings of development.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{CommandOutput, TestRequest, TestServer, locum_command, run_command};

const BASE_URL: &str = "[core]\nbase_url = \"https://social.example\"\n";
/// Types that contain every text.
const ANY_TEXT: &[&str] =
    &["text", "path", "paths", "secret", "`sqlite`, a path, or `postgres://…`", "`auto`, `off` or a path"];

fn declared_keys(folder: &Path) -> Vec<(String, String)> {
    let keys = run_command(folder, &["conf", "keys", "--json"]).json();
    let text = |key: &Value, name: &str| key[name].as_str().unwrap().to_owned();
    keys.as_array().unwrap().iter().map(|key| (text(key, "name"), text(key, "takes"))).collect()
}

/// Names that the table of keys shows as unavailable in `serve`, with a value that `dev` accepts.
fn development_keys(folder: &Path) -> Vec<(String, String)> {
    let table = run_command(folder, &["conf", "keys"]).assert_success().stdout.clone();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let name = cells[0].strip_prefix("| `")?.strip_suffix('`')?;
        (cells[3] == "unavailable").then(|| (name.to_owned(), cells[2].trim_matches('`').to_owned()))
    });
    rows.collect()
}

fn serve_with_file(folder: &Path, text: &str) -> CommandOutput {
    std::fs::write(folder.join("locum.toml"), text).unwrap();
    run_command(folder, &["serve", "--data-dir", "data"])
}

#[track_caller]
fn assert_refused_untouched(folder: &Path, ran: &CommandOutput, code: i32, words: &str) {
    assert_eq!(ran.code, code, "{words:?}: {ran:?}");
    assert!(ran.stderr.contains(words), "{words:?} is not in {}", ran.stderr);
    assert!(!folder.join("data").exists(), "{words:?}: a refused start leaves a data directory");
}

#[test]
fn invalid_value_of_every_key_is_refused_with_its_line() {
    let folder = TempDir::new().unwrap();
    let keys = declared_keys(folder.path());
    let typed: Vec<_> = keys.iter().filter(|(_, takes)| !ANY_TEXT.contains(&takes.as_str())).collect();
    assert!(typed.len() > 30, "{typed:?}");
    let lines: Vec<String> = typed.iter().map(|(name, _)| format!("{name} = \"?\"\n")).collect();
    let ran = serve_with_file(folder.path(), &lines.concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    let development: BTreeSet<String> = development_keys(folder.path()).into_iter().map(|(name, _)| name).collect();
    for (index, (name, _)) in typed.iter().enumerate() {
        let place = format!("locum.toml:{}: {name} ", index + 1);
        // Which keys exist is decided before their values are read.
        assert_eq!(ran.stderr.contains(&place), !development.contains(name), "{place}: {}", ran.stderr);
    }
    assert!(!folder.path().join("data").exists());
}

#[test]
fn wrong_configuration_is_refused_with_file_and_line() {
    let folder = TempDir::new().unwrap();
    let lines = [
        ("[listen]\nadr = \"127.0.0.1:1\"", "locum.toml:4: unknown key listen.adr; did you mean listen.addr?"),
        ("[listn]\naddr = \"127.0.0.1:1\"", "locum.toml:4: unknown key listn.addr"),
        ("node = \"first\"", "locum.toml:3: core.node [first] is invalid; expected 0–1022"),
        ("node = 1023", "locum.toml:3: core.node [1023] is invalid; expected 0–1022"),
        ("node = 1.5", "locum.toml:3: core.node must be"),
        ("base_url = \"https://again.example\"", "locum.toml:3: "),
        ("[listen", "locum.toml:3: "),
        ("[observe]\nlog_level = \"loud\"", "locum.toml:4: observe.log_level [loud]"),
        ("[db]\nurl_file = \"missing\"", "locum.toml:4: db.url_file [missing]: "),
        ("[secrets]\nmaster_key_file = \".\"", "locum.toml:4: secrets.master_key_file [.]: "),
        ("[mail]\nsmtp_url_file = \"binary\"", "locum.toml:4: mail.smtp_url_file [binary]: "),
    ];
    std::fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
    for (text, words) in lines {
        let ran = serve_with_file(folder.path(), &format!("{BASE_URL}{text}\n"));
        assert_refused_untouched(folder.path(), &ran, 2, words);
    }
    let ran = serve_with_file(folder.path(), &format!("{BASE_URL}node = \"a\"\nvocabulary = \"b\"\n"));
    assert_refused_untouched(folder.path(), &ran, 2, "locum.toml:3: core.node [a]");
    assert!(ran.stderr.contains("locum.toml:4: core.vocabulary [b]"), "all mistakes at once: {}", ran.stderr);
}

#[test]
fn development_keys_are_refused_in_production_from_every_source() {
    let folder = TempDir::new().unwrap();
    let keys = development_keys(folder.path());
    assert!(keys.len() >= 3, "{keys:?}");
    for (name, value) in keys {
        let (section, short) = name.split_once('.').unwrap();
        let words = format!("{name} is not available in serve mode");
        let text = format!("{BASE_URL}{}{short} = \"{value}\"\n", if section == "core" { "" } else { "[x]\n" });
        let ran = serve_with_file(folder.path(), &text.replace("[x]", &format!("[{section}]")));
        assert_refused_untouched(folder.path(), &ran, 4, &words);
        std::fs::write(folder.path().join("locum.toml"), BASE_URL).unwrap();
        let ran = run_command(folder.path(), &["serve", "--data-dir", "data", "--set", &format!("{name}={value}")]);
        assert_refused_untouched(folder.path(), &ran, 4, &words);
        let variable = format!("LOCUM_{}", name.to_uppercase().replace('.', "__"));
        let mut command = locum_command(folder.path());
        let output = command.args(["serve", "--data-dir", "data"]).env(&variable, &value).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(4) && stderr.contains(&words), "{variable}: {stderr}");
    }
}

#[test]
fn production_has_no_flags_of_the_development_server() {
    let folder = TempDir::new().unwrap();
    let flags = |verb: &str| -> BTreeSet<String> {
        let help = run_command(folder.path(), &[verb, "--help"]).assert_success().stdout.clone();
        let words = help.split_whitespace().filter(|word| word.starts_with("--"));
        words.map(|word| word.trim_end_matches(',').to_owned()).collect()
    };
    let only_in_development: Vec<String> = flags("dev").difference(&flags("serve")).cloned().collect();
    assert_eq!(
        only_in_development,
        ["--clock", "--expose", "--fresh", "--remove-data", "--seed", "--until-eof", "--world-date"]
    );
    for flag in only_in_development.iter().map(String::as_str).chain(["--world"]) {
        let ran = run_command(folder.path(), &["serve", "--data-dir", "data", flag, "1"]);
        assert_refused_untouched(folder.path(), &ran, 2, flag);
    }
}

#[test]
fn production_has_no_endpoints_commands_or_headers_of_the_development_server() {
    let (serve, dev) = (TestServer::start_network(&[]), crate::harness::shared_server());
    for (method, path) in [("GET", "/developer/explain"), ("POST", "/developer/explain")] {
        let request = || TestRequest::new(method, path);
        assert_ne!(dev.send(request()).status, 404, "{path}");
        assert_eq!(serve.send(request()).status, 404, "{path}");
    }
    assert_eq!(serve.send(TestRequest::post("/_control/command")).status, 404);
    serve.run_cli(&["trigger", "post.create"]).assert_exit_code(4);
    serve.run_cli(&["metrics", "add", "1", "--impressions", "1"]).assert_exit_code(4);
    let plain = serve.send(TestRequest::get("/2/users/me")).text();
    for name in ["x-locum-world", "x-locum-seed", "x-locum-user", "x-locum-clock", "x-locum-fault"] {
        let response = serve.send(TestRequest::get("/2/users/me").header(name, "1"));
        assert_eq!((response.status, response.text()), (401, plain.clone()), "{name}");
    }
}

#[test]
fn root_is_refused_in_the_data_directory_of_another_user() {
    let mut server = TestServer::start(&["--world", "empty"]);
    server.kill();
    let manifest = server.data_dir().join("world.json");
    if std::os::unix::fs::chown(&manifest, Some(12_345), None).is_err() {
        return; // only root can give files away
    }
    let ran = server.run_cli(&["user", "list"]);
    ran.assert_exit_code(1);
    assert!(ran.stderr.contains("belongs to the user with the id 12345: run this command as that user"), "{ran:?}");
}

#[test]
fn configuration_with_which_no_server_starts_is_not_valid() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cert.pem"), "garbage").unwrap();
    let (base, key) = ("core.base_url=https://s.example", "secrets.danger_key_in_data_dir=true");
    let check = |sets: &[&str]| {
        let sets = [base, key].into_iter().chain(sets.iter().copied()).flat_map(|set| ["--set", set]);
        let args: Vec<&str> = ["conf", "check", "--data-dir", "data"].into_iter().chain(sets).collect();
        run_command(folder.path(), &args)
    };
    check(&["tls.acme=true", "core.short_link_host=t.example"]).assert_success();
    for (sets, words) in [
        (&["tls.acme=true", "core.short_link_host=S.example"][..], "core.short_link_host"),
        (&["tls.acme=true", "secrets.master_key=foo"], "secrets.master_key"),
        (&["tls.acme=true", "secrets.old_master_key_files=/nope"], "/nope"),
        (&["tls.acme=true", "backup.to=s3://b"], "media.s3_access_key"),
        (&["tls.acme=true", "media.ffmpeg=/nope"], "media.ffmpeg"),
        (&["tls.acme=true", "limits.body_max=0"], "limits.body_max"),
        (&["tls.acme=true", "mail.from=nobody"], "mail.from"),
        (&["tls.cert=cert.pem", "tls.key=cert.pem"], "tls.cert"),
    ] {
        let ran = check(sets);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{sets:?}: {ran:?}");
    }
}

#[test]
fn duration_of_zero_is_refused_where_it_would_stop_or_spin_the_server() {
    let folder = tempfile::tempdir().unwrap();
    for key in [
        "listen.header_timeout",
        "listen.body_timeout",
        "listen.idle_timeout",
        "db.query_timeout",
        "db.transaction_timeout",
        "auth.session_ttl",
        "auth.oauth1_timestamp_skew",
        "auth.oauth2_access_ttl",
        "limits.stream_keep_alive",
        "webhooks.timeout",
        "webhooks.crc_interval",
        "media.ffmpeg_timeout",
    ] {
        let check = |value: &str| run_command(folder.path(), &["conf", "check", "--set", &format!("{key}={value}")]);
        let ran = check("0s");
        ran.assert_exit_code(2);
        assert!(ran.stderr.contains(key) && ran.stderr.contains("duration above 0"), "{ran:?}");
        check("1ms").assert_success();
    }
    for key in ["listen.shutdown_grace", "auth.refresh_grace", "search.snapshot_interval"] {
        run_command(folder.path(), &["conf", "check", "--set", &format!("{key}=0s")]).assert_success();
    }
}
