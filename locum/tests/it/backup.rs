//! Backups: made while the server writes, checked, and restored elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    DatabaseEngine, OAuth1Credentials, TestRequest, TestRng, TestServer, locum_command, metric, run_command,
    suite_engine, suite_setting, wait_until, without_impressions,
};
use crate::media::{at_once, samples};

const PASSPHRASE: &str = "correct horse battery staple";

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file with the passphrase of the master key.
pub(crate) fn passphrase_file(server: &TestServer) -> PathBuf {
    let path = server.sibling_path("passphrase");
    fs::write(&path, PASSPHRASE).unwrap();
    path
}

/// Backs up everything including the master key.
pub(crate) fn backup(server: &TestServer, target: &str) -> Value {
    let passphrase = passphrase_file(server);
    server.run_cli(&["backup", target, "--key-passphrase-file", text(&passphrase)]).json()
}

/// A user whose post has a picture.
pub(crate) fn publish_picture(server: &TestServer) -> String {
    let user = server.new_user("painter");
    let uploaded = at_once(&user, "tweet_image", &samples::png(40, 30)).assert_status(200);
    let media = json!({ "media_ids": [uploaded["data"]["id"]] });
    let created = user.create_post(&json!({ "text": "A picture", "media": media })).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// Answers of every part of the API, as the first sample user gets them, without the server's own address.
fn tour(server: &TestServer, post: &str) -> BTreeMap<String, String> {
    let me = server.env_value("USER_ID");
    let fields = "post.fields=attachments,created_at,entities,public_metrics,conversation_id&\
                  expansions=attachments.media_keys&media.fields=url,width,height,alt_text";
    let paths = [
        "/2/users/me?user.fields=created_at,description,public_metrics,profile_image_url".to_owned(),
        format!("/2/users/{me}/timelines/reverse_chronological?max_results=100&{fields}"),
        format!("/2/users/{me}/posts?max_results=100&{fields}"),
        format!("/2/users/{me}/following?max_results=100"),
        format!("/2/users/{me}/followers?max_results=100"),
        format!("/2/users/{me}/bookmarks"),
        format!("/2/users/{me}/liked_posts"),
        format!("/2/users/{me}/owned_lists"),
        format!("/2/posts/{post}?{fields}"),
        "/2/dm_events".to_owned(),
    ];
    let token = server.env_value("USER_TOKEN");
    let mut answers = BTreeMap::new();
    for path in paths {
        let answer = server.send(TestRequest::get(path.clone()).bearer(token)).assert_status(200);
        for picture in pictures(&answer) {
            let path = picture.strip_prefix(&server.url).unwrap_or(&picture).to_owned();
            let bytes = server.send(TestRequest::get(path.clone()));
            answers.insert(path, format!("{} {:?}", bytes.status, bytes.body));
        }
        let answer = without_impressions(answer);
        let host = server.url.trim_start_matches("http://");
        answers.insert(path, answer.to_string().replace(&server.url, "").replace(host, ""));
    }
    answers.insert("sign-in".to_owned(), app_sign_in(server));
    answers.extend(ads_answers(server));
    answers
}

fn pictures(answer: &Value) -> Vec<String> {
    let media = answer["includes"]["media"].as_array().cloned().unwrap_or_default();
    media.iter().filter_map(|one| Some(one["url"].as_str()?.to_owned())).collect()
}

/// Whether the sample app's key and secret still give its bearer token.
fn app_sign_in(server: &TestServer) -> String {
    let request = TestRequest::post("/oauth2/token").form("grant_type=client_credentials");
    let request = request.basic(server.env_value("API_KEY"), server.env_value("API_SECRET"));
    let token = server.send(request).assert_status(200)["access_token"].as_str().unwrap().to_owned();
    let read = server.send(TestRequest::get("/2/users/by/username/ada").bearer(&token));
    format!("{token} {}", read.text())
}

fn ads_answers(server: &TestServer) -> BTreeMap<String, String> {
    let get = |path: &str| {
        let credentials = OAuth1Credentials {
            consumer: (server.env_value("API_KEY"), server.env_value("API_SECRET")),
            token: (server.env_value("ACCESS_TOKEN"), server.env_value("ACCESS_TOKEN_SECRET")),
            ..OAuth1Credentials::default()
        };
        let request = TestRequest::get(path);
        let header = request.oauth1_header(&credentials, &server.url);
        server.send(request.authorization(header)).assert_status(200)
    };
    let accounts = get("/12/accounts");
    let account = accounts["data"][0]["id"].as_str().unwrap().to_owned();
    let parts = ["campaigns", "line_items", "funding_instruments", "promoted_tweets"];
    let answer = |part: &str| get(&format!("/12/accounts/{account}/{part}")).to_string();
    let mut answers: BTreeMap<String, String> = parts.map(|part| (part.to_owned(), answer(part))).into();
    answers.insert("accounts".to_owned(), accounts.to_string());
    answers
}

/// Replaces a database with what `pg_dump` writes of it.
const DUMP_AND_RESTORE: &str = "set -e; PATH=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH
    pg_dump --file=\"$2\" \"$1\"
    psql -q -v ON_ERROR_STOP=1 -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public' -f \"$2\" \"$1\"";

#[test]
fn database_restored_from_a_dump_has_its_partitions_and_gets_further_ones() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start_network(&[]);
    let posts = ["before", "after"].map(|name| {
        let post = server.new_user(name).publish_text(name);
        server.stop();
        let count = "SELECT COUNT(*) FROM pg_inherits WHERE inhparent = 'delivery'::regclass";
        assert_eq!(server.database().query_number(count), if name == "before" { 2 } else { 5 });
        let dump = server.sibling_path("dump.sql");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", DUMP_AND_RESTORE, "sh", &server.database().url, text(&dump)]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        // As if the days to come had gone by.
        server.database().run_sql(
            "ALTER TABLE delivery DETACH PARTITION delivery_initial;
             ALTER TABLE delivery ATTACH PARTITION delivery_initial FOR VALUES FROM (MINVALUE) TO (1)",
        );
        server.restart();
        wait_until("partitions are created", || server.database().query_number(count) == 5);
        assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
        post
    });
    let reader = server.new_user("reader");
    for post in posts {
        server.send(TestRequest::get(format!("/2/posts/{post}")).bearer(&reader.token)).assert_status(200);
    }
}

#[test]
fn network_moved_from_sqlite_to_postgresql_answers_alike_and_goes_on() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &["--world", "ads"]);
    let post = publish_picture(&server);
    let before = tour(&server, &post);
    let newest_audit_entry = |server: &TestServer| {
        let audit = server.run_cli(&["audit", "list", "--limit", "1"]).json();
        audit[0]["seq"].as_i64().unwrap()
    };
    let audited = newest_audit_entry(&server);
    server.stop();
    let file = server.data_dir().join("locum.db");

    server.use_empty_database();
    let moved = server.run_cli(&["migrate", "from-sqlite"]).json();
    assert!(moved["tables"].as_i64() > Some(100) && moved["rows"].as_i64() > Some(5_000), "{moved}");
    let again = server.run_cli(&["migrate", "from-sqlite", text(&file)]);
    assert!(again.code == 1 && again.stderr.contains("contains a network already"), "{again:?}");
    fs::rename(&file, server.sibling_path("locum.db")).unwrap();

    server.restart();
    let after = tour(&server, &post);
    for (path, answer) in &before {
        assert_eq!(&after[path], answer, "{path}");
    }
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
    let token = server.env_value("USER_TOKEN");
    let created = TestRequest::post("/2/posts").bearer(token).json(&json!({ "text": "After relocation" }));
    let written = server.send(created).assert_status(201)["data"]["id"].clone();
    wait_until("the post is indexed", || {
        let search = TestRequest::get("/2/posts/search/recent?query=relocation").bearer(token);
        server.send(search).json()["data"][0]["id"] == written
    });
    server.run_cli(&["user", "create", "newcomer"]).assert_success();
    assert!(newest_audit_entry(&server) > audited);
}

#[test]
fn restored_network_answers_like_the_one_that_was_backed_up() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let args = ["--world", "ads"];
    let server = TestServer::start(&args);
    let post = publish_picture(&server);
    let before = tour(&server, &post);
    for target in ["backup.tar", "backups/"] {
        let target = server.sibling_path(target);
        let made = backup(&server, text(&target));
        assert!(made["media_files"].as_i64().unwrap() > 1 && made["absent_files"] == 0, "{made}");
        let mut restored = TestServer::prepare(&args);
        let passphrase = passphrase_file(&server);
        let key = ["--key-passphrase-file", text(&passphrase)];
        let answer = restored.run_cli(&[&["restore", text(&target)], &key[..]].concat()).json();
        assert_eq!(answer["restored"], true, "{answer}");
        restored.restart();
        let after = tour(&restored, &post);
        assert_eq!(after.len(), before.len());
        for (path, answer) in &before {
            assert_eq!(&after[path], answer, "{path}");
        }
        assert_eq!(restored.run_cli(&["fsck"]).json()["sound"], true);
    }
}

#[test]
fn backup_under_load_is_restored_to_a_moment_between_its_start_and_end() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("writer");
    let target = server.sibling_path("backup.tar");
    let first: Vec<String> = (0..20).map(|number| user.publish_text(&format!("Before {number}"))).collect();
    let (during, acknowledged) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let written =
                (0..60).map(|number| (user.publish_text(&format!("During {number}")), base::clock::monotonic_now()));
            written.collect::<Vec<_>>()
        });
        backup(&server, text(&target));
        (base::clock::monotonic_now(), writing.join().unwrap())
    });
    let mut restored = TestServer::prepare(&["--world", "empty"]);
    let passphrase = passphrase_file(&server);
    restored.run_cli(&["restore", text(&target), "--key-passphrase-file", text(&passphrase)]).assert_success();
    restored.restart();
    let exists = |id: &str| {
        let path = format!("/2/posts/{id}");
        restored.send(TestRequest::get(path).bearer(&user.token)).json().get("data").is_some()
    };
    assert!(first.iter().all(|id| exists(id)), "written before the backup");
    let found: Vec<bool> = acknowledged.iter().map(|(id, _)| exists(id)).collect();
    let count = found.iter().take_while(|found| **found).count();
    assert!(found.iter().skip(count).all(|found| !found), "a moment: {found:?}");
    let after = acknowledged.iter().filter(|(_, at)| *at > during).count();
    assert!(count <= acknowledged.len() - after, "written after the backup: {count} of {found:?}, {after} after it");
}

/// Every file under a folder.
pub(crate) fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_under(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn flip_byte(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_damaged_or_missing_file_of_a_backup_is_found() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    publish_picture(&server);
    server.stop();
    let (folder, archive) = (server.sibling_path("backups"), server.sibling_path("backup.tar"));
    backup(&server, &format!("{}/", text(&folder)));
    backup(&server, text(&archive));
    let all = files_under(&server.data_dir());
    let verify = |path: &Path| server.run_cli(&["restore", text(path), "--verify"]).code;
    assert_eq!((verify(&folder), verify(&archive)), (0, 0));
    let listed = files_under(&folder);
    let part = |name: &str| listed.iter().find(|path| text(path).contains(name)).unwrap();
    for damaged in [part("/media/"), part("/database/"), part("/manifests/")] {
        let size = fs::read(damaged).unwrap().len();
        flip_byte(damaged, size / 2);
        assert_eq!(verify(&folder), 1, "{damaged:?} changed");
        flip_byte(damaged, size / 2);
        let aside = folder.join("aside");
        fs::rename(damaged, &aside).unwrap();
        assert_eq!(verify(&folder), 1, "{damaged:?} missing");
        fs::rename(&aside, damaged).unwrap();
    }
    assert_eq!(verify(&folder), 0);
    fs::rename(part("/media/"), folder.join("aside")).unwrap();
    let mut restored = TestServer::prepare(&[]);
    let passphrase = passphrase_file(&server);
    let restore = ["restore", text(&folder), "--key-passphrase-file", text(&passphrase)];
    restored.run_cli(&restore).assert_exit_code(1);
    assert!(!restored.data_dir().join("locum.db").exists());
    restored.run_cli(&[&restore[..], &["--allow-missing-media"]].concat()).assert_success();
    restored.restart();
    fs::rename(folder.join("aside"), part("/media/")).unwrap();
    let (size, mut rng) = (fs::read(&archive).unwrap().len(), TestRng(7));
    for _ in 0..suite_setting("LOCUM_BACKUP_FLIPS", 5) {
        // Padding between the files and the end of the archive carry nothing.
        let at = rng.below(size);
        let was_zero = fs::read(&archive).unwrap()[at] == 0;
        flip_byte(&archive, at);
        assert!(was_zero || verify(&archive) == 1, "byte {at} of {size}");
        flip_byte(&archive, at);
    }
    let cut = fs::File::options().write(true).open(&archive).unwrap();
    cut.set_len(u64::try_from(size / 2).unwrap()).unwrap();
    assert_eq!(verify(&archive), 1);
    assert_eq!(files_under(&server.data_dir()), all, "nothing is left behind");
}

#[test]
fn existing_network_is_not_overwritten_by_a_restore() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    let target = server.sibling_path("backup.tar");
    backup(&server, text(&target));
    server.run_cli(&["backup", text(&target)]).assert_exit_code(1);
    let among_media = server.data_dir().join("media/backups/");
    server.run_cli(&["backup", text(&among_media)]).assert_exit_code(2);
    // Its media would be those of the network.
    let around_media = format!("{}/", text(&server.data_dir()));
    server.run_cli(&["backup", &around_media]).assert_exit_code(2);
    server.stop();
    server.run_cli(&["restore", text(&target)]).assert_exit_code(1);
    let mut other = TestServer::start_other_network(&[]);
    other.stop();
    let before = fs::read(other.data_dir().join("locum.db")).unwrap();
    for more in [&[][..], &["--replace"]] {
        let ran = other.run_cli(&[&["restore", text(&target)], more].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
        assert_eq!(fs::read(other.data_dir().join("locum.db")).unwrap(), before);
    }
    let folder = other.sibling_path("backups/");
    backup(&other, text(&folder));
    server.run_cli(&["backup", text(&folder)]).assert_exit_code(1);
    let restored = server.run_cli(&["restore", text(&target), "--replace"]).json();
    assert!(Path::new(restored["aside"].as_str().unwrap()).exists());
    server.restart();
    server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
}

#[test]
fn master_key_is_restored_with_its_passphrase_only() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let (with_key, without) = (server.sibling_path("with.tar"), server.sibling_path("without.tar"));
    backup(&server, text(&with_key));
    server.run_cli(&["backup", text(&without)]).assert_success();
    let key = fs::read_to_string(server.data_dir().join("master.key")).unwrap();
    let secret = key.trim().rsplit(' ').next().unwrap();
    let stored = fs::read(&with_key).unwrap();
    assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "the key is encrypted");
    let empty = TestServer::prepare(&[]);
    let wrong = server.sibling_path("wrong");
    fs::write(&wrong, "not the passphrase").unwrap();
    let ran = empty.run_cli(&["restore", text(&with_key), "--key-passphrase-file", text(&wrong)]);
    assert!(ran.code == 1 && ran.stderr.contains("passphrase is wrong"), "{ran:?}");
    let ran = empty.run_cli(&["restore", text(&without)]);
    assert!(ran.code == 1 && ran.stderr.contains("master.key"), "{ran:?}");
    let file = empty.sibling_path("keys/restored.key");
    fs::create_dir(empty.sibling_path("keys")).unwrap();
    let passphrase = passphrase_file(&server);
    let flags = ["--key-passphrase-file", text(&passphrase), "--master-key", text(&file)];
    let damaged = server.sibling_path("damaged.tar");
    fs::write(&damaged, &stored).unwrap();
    let database = stored.windows(15).position(|bytes| bytes == b"SQLite format 3").unwrap();
    flip_byte(&damaged, database + 5_000);
    for flags in [&flags[..2], &flags] {
        let ran = empty.run_cli(&[&["restore", text(&damaged)], flags].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(!file.exists() && !empty.data_dir().join("master.key").exists(), "a key of a damaged backup is left");
    }
    // The configuration names the key file, which is still missing.
    let named = format!("secrets.master_key_file={}", text(&file));
    empty.run_cli(&[&["restore", text(&with_key), "--set", &named], &flags[..]].concat()).assert_success();
    assert_eq!(fs::read_to_string(&file).unwrap(), key);
    // A key file with another key is in the way.
    let other = TestServer::prepare(&[]);
    let (other_key, file) = (key.replace(secret, &secret.chars().rev().collect::<String>()), text(&file));
    fs::write(other.sibling_path("own.key"), other_key).unwrap();
    let own = text(&other.sibling_path("own.key")).to_owned();
    let ran = other.run_cli(&[&["restore", text(&with_key)], &flags[..2], &["--master-key", &own]].concat());
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!other.data_dir().join("locum.db").exists());
    let flags = [&flags[..2], &["--master-key", file]].concat();
    other.run_cli(&[&["restore", text(&with_key)], &flags[..]].concat()).assert_success();
}

#[test]
fn later_backup_in_the_same_folder_copies_new_media_only_and_old_ones_are_removed() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let folder = server.sibling_path("backups");
    let target = format!("{}/", text(&folder));
    let first = backup(&server, &target);
    assert_eq!(first["copied_files"], first["media_files"]);
    publish_picture(&server);
    let second = backup(&server, &target);
    let added = second["media_files"].as_i64().unwrap() - first["media_files"].as_i64().unwrap();
    assert!(added > 0 && second["copied_files"] == added, "{second}");
    // A copy that is gone is made again.
    let listed = files_under(&folder.join("media"));
    fs::remove_file(&listed[0]).unwrap();
    let third = server.run_cli(&["backup", &target, "--keep", "2"]).json();
    assert!(third["copied_files"] == 1 && third["removed_backups"] == 1, "{third}");
    assert_eq!(files_under(&folder.join("database")).len(), 2);
    let verify = |more: &[&str]| server.run_cli(&[&["restore", &target, "--verify"], more].concat());
    assert_eq!(verify(&[]).json()["verified"], true);
    assert_eq!(verify(&["--backup", second["backup"].as_str().unwrap()]).json()["verified"], true);
    verify(&["--backup", first["backup"].as_str().unwrap()]).assert_exit_code(1);
    // A preview that is replaced, as of a video, leaves that of earlier backups.
    let changed = server.data_dir().join("media").join(listed[0].strip_prefix(folder.join("media")).unwrap());
    fs::write(changed, "another one").unwrap();
    let fourth = backup(&server, &target);
    assert_eq!(fourth["copied_files"], 1);
    for made in [&third, &fourth] {
        assert_eq!(verify(&["--backup", made["backup"].as_str().unwrap()]).json()["verified"], true, "{made}");
    }
    // One without a database takes nobody's place.
    server.run_cli(&["backup", &target, "--media-only", "--keep", "1"]).assert_success();
    assert_eq!(files_under(&folder.join("database")).len(), 3);
    assert_eq!(verify(&[]).json()["backup"], fourth["backup"]);
}

#[test]
fn killed_backup_leaves_no_file_that_looks_complete() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    server.stop();
    fs::write(server.data_dir().join("media/large.bin"), vec![7; 20 << 20]).unwrap();
    let (target, mut killed) = (server.sibling_path("backup.tar"), 0);
    for round in 0..suite_setting("LOCUM_KILL_ROUNDS", 5) {
        let mut child = locum_command(server.sibling_path("").as_path())
            .args(["backup", text(&target)])
            .args(server.location_args())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let scratch = server.data_dir().join("backup-scratch");
        wait_until("the backup begins", || scratch.exists() || child.try_wait().unwrap().is_some());
        std::thread::sleep(Duration::from_millis(round * 30));
        child.kill().unwrap();
        child.wait().unwrap();
        if target.exists() {
            assert_eq!(server.run_cli(&["restore", text(&target), "--verify"]).code, 0);
            fs::remove_file(&target).unwrap();
        } else {
            killed += 1;
        }
    }
    assert!(killed > 0, "no backup was killed in the middle");
    server.run_cli(&["backup", text(&target)]).assert_success();
    assert!(!server.data_dir().join("backup-scratch").exists());
}

/// What `locum doctor` finds about backups.
fn diagnosis(server: &TestServer) -> String {
    let found = server.run_cli(&["doctor"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let backups = found.as_array().unwrap().iter().find(|check| check["name"] == "backups").unwrap();
    backups["state"].as_str().unwrap().to_owned()
}

#[test]
fn scheduled_backups_are_made_kept_and_reported() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let to = format!("backup.to={}", text(folder.path()));
    let args = ["--set", &to, "--set", "backup.every=1s", "--set", "backup.keep=2"];
    let server = TestServer::start(&args);
    wait_until("three backups are made", || metric(&server, "locum_backups_total") >= 3);
    let hour = ["--set", &to, "--set", "backup.every=1h"];
    let doctor = |sets: &[&str]| server.run_cli(&[&["doctor"], sets].concat());
    assert!(doctor(&hour).stdout.contains("was made at"), "{:?}", doctor(&hour));
    wait_until("only two are kept", || files_under(&folder.path().join("manifests")).len() == 2);
    assert_eq!(metric(&server, "locum_backup_failures_total"), 0);
    drop(server);
    let verified = TestServer::start_other_network(&[]);
    let ran = verified.run_cli(&["restore", text(folder.path()), "--verify"]);
    assert!(ran.code == 1 && ran.stderr.contains("master key"), "{ran:?}");
}

#[test]
fn failed_scheduled_backup_is_counted_and_leaves_the_server_ready() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = format!("backup.to={}/folder", text(file.path()));
    let server = TestServer::start(&["--set", &to]);
    wait_until("the backup fails", || metric(&server, "locum_backup_failures_total") == 1);
    assert_eq!(server.send(TestRequest::get("/readyz")).status, 200);
    assert!(server.stderr().contains("a backup failed"));
    let found = server.run_cli(&["doctor", "--set", &to]).stdout;
    assert!(found.contains("folder"), "{found}");
    assert_eq!(diagnosis(&server), "good", "without a schedule");
}

#[test]
fn results_of_scheduled_backups_are_fields_and_texts_in_the_json_log() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let to = format!("backup.to={}", text(folder.path()));
    let file = folder.path().join("file");
    let failing = format!("backup.to={}/folder", text(&file));
    let entry = |to: &str, words: &str| {
        let server = TestServer::start(&["--world", "empty", "--log-format", "json", "--set", to]);
        wait_until(words, || server.stderr().contains(words));
        let log = server.stderr();
        serde_json::from_str::<Value>(log.lines().find(|line| line.contains(words)).unwrap()).unwrap()
    };
    let made = entry(&to, "made a backup");
    assert!(made["backup"].is_string() && made["database_bytes"].as_u64() > Some(0), "{made}");
    fs::write(&file, "").unwrap();
    let failed = entry(&failing, "a backup failed");
    let error = failed["error"].as_str().unwrap();
    assert!(error.contains("Not a directory") && !error.contains('{'), "{failed}");
}

/// Without a unit, hours may have been meant.
#[test]
fn interval_of_zero_or_without_a_unit_between_backups_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for every in ["backup.every=0", "backup.every=0s", "backup.every=999ms", "backup.every=24"] {
        for command in [&["dev", "--port", "0", "--control-port", "0"][..], &["conf", "check"]] {
            let args = [command, &["--data-dir", "data", "--set", "backup.to=backups", "--set", every]].concat();
            let ran = run_command(folder.path(), &args);
            assert!(ran.code == 2 && ran.stderr.contains("duration of at least `1s`"), "{args:?}: {ran:?}");
        }
    }
}
