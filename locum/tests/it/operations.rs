//! What an operator does: start, stop, look, copy, move.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Ask, Engine, Ran, Server, engine, run, shared};

/// Every file of a data folder and its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(
                contents(&path)
                    .into_iter()
                    .map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)),
            );
        } else if path.is_file() {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Tries to start a server on a folder that it must refuse.
fn try_start(server: &Server) -> Ran {
    let mut args: Vec<String> = ["dev", "--port", "0", "--control-port", "0"]
        .map(str::to_owned)
        .to_vec();
    args.extend(server.place());
    run(&server.beside(""), &args)
}

/// A start that is refused changes nothing.
fn is_refused(server: &Server, code: i32, words: &[&str]) {
    let before = contents(&server.data());
    let ran = try_start(server);
    assert_eq!(ran.code, code, "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{word:?} is not in {}", ran.err);
    }
    let after = contents(&server.data());
    let changed: Vec<&String> = before
        .keys()
        .chain(after.keys())
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    assert!(changed.is_empty(), "touched: {changed:?}");
}

#[test]
fn a_second_process_on_the_same_folder_is_refused() {
    let server = Server::start(&["--world", "empty"]);
    let person = server.person("first");
    let ran = try_start(&server);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("another process"), "{ran:?}");
    person.get("/2/users/me").is(200);
    server.cli(&["user", "list"]).well();
}

#[test]
fn a_wrong_master_key_is_refused_and_touches_nothing() {
    let mut server = Server::start(&[]);
    server.stop();
    let key = server.data().join("master.key");
    let own = std::fs::read(&key).unwrap();
    let other = std::fs::read(shared().data().join("master.key")).unwrap();
    assert_ne!(own, other);
    std::fs::write(&key, other).unwrap();
    is_refused(&server, 1, &["master key"]);
    std::fs::write(&key, own).unwrap();
    server.start_again();
    server
        .send(Ask::get("/2/users/me").bearer(server.env("USER_TOKEN")))
        .is(200);
}

#[test]
fn a_newer_schema_is_refused_and_touches_nothing() {
    let mut server = Server::start(&["--world", "empty"]);
    server.stop();
    let add = "INSERT INTO migration (version, name, checksum, applied_at) VALUES (9999, 'later', 'x', 0)";
    let remove = "DELETE FROM migration WHERE version = 9999";
    server.sql(add);
    is_refused(&server, 1, &["newer"]);
    server.sql(remove);
    server.start_again();
}

#[test]
fn a_half_written_database_is_refused_and_not_replaced() {
    if engine() == Engine::Postgres {
        return;
    }
    let mut server = Server::start(&["--world", "empty"]);
    server.person("someone");
    server.stop();
    let path = server.data().join("locum.db");
    let whole = std::fs::read(&path).unwrap();
    for broken in [&whole[..4_000], &[0x5a; 8_192][..]] {
        std::fs::write(&path, broken).unwrap();
        let ran = try_start(&server);
        assert_ne!(ran.code, 0, "{} bytes of it were served", broken.len());
        assert_eq!(std::fs::read(&path).unwrap(), broken);
    }
    std::fs::write(&path, whole).unwrap();
    server.start_again();
}

#[test]
fn a_lost_master_key_is_not_replaced() {
    let mut server = Server::start(&["--world", "empty"]);
    server.stop();
    let key = server.data().join("master.key");
    let own = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    assert_ne!(try_start(&server).code, 0);
    assert!(!key.exists());
    std::fs::write(&key, own).unwrap();
    server.start_again();
}

#[test]
fn a_signal_drains_and_ends_well() {
    let mut server = Server::start(&["--world", "empty", "--set", "listen.shutdown_grace=2s"]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(1), "at rest: {took:?}");
    server.start_again();
    assert_ne!(server.url.trim_start_matches("http://"), "", "{address}");

    let mut slow = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = "POST /2/tweets HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 10\r\n\r\nab";
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let (code, took) = server.stop();
    assert_eq!(code, Some(0), "cut off after the grace");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Server::start(&["--world", "empty", "--set", "listen.shutdown_grace=60s"]);
    let mut slow = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = "POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 10\r\n\r\nab";
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    let (_, took) = server.stop();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn health_tells_life_from_readiness() {
    let server = shared();
    for path in ["/livez", "/readyz"] {
        for answer in [
            server.send(Ask::get(path)),
            server.administer(Ask::get(path)),
        ] {
            assert_eq!(
                (answer.status, answer.text().as_str()),
                (200, "ok\n"),
                "{path}"
            );
        }
    }
    server.cli(&["health"]).well();
    server.cli(&["health", "--ready"]).well();
}

#[test]
fn metrics_count_by_route_and_stand_on_the_control_address_only() {
    let server = Server::start(&["--world", "empty"]);
    let person = server.person("counted");
    for number in 0..5 {
        person.get(format!("/2/tweets/{}", 1_000 + number)).is(200);
        person.get(format!("/2/nothing/{number}")).is(404);
    }
    assert_eq!(server.send(Ask::get("/metrics")).status, 404);
    let answer = server.administer(Ask::get("/metrics"));
    assert_eq!(answer.status, 200);
    let text = answer.text();
    let line = r#"locum_requests_total{route="/2/posts/{id}",method="GET",status="2xx"} 5"#;
    assert!(text.contains(line), "{text}");
    assert!(
        !text.contains("1000") || !text.contains("/2/tweets/1000"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"));
    let rebound = server.administer(Ask::get("/metrics").header("host", "evil.example"));
    assert_eq!(rebound.status, 403);
}

#[test]
fn the_control_interface_wants_its_token() {
    let server = shared();
    let command =
        Ask::post("/_control/command").json(&json!({ "user": { "list": { "limit": 1 } } }));
    assert_eq!(server.administer(command.clone()).status, 401);
    assert_eq!(
        server.administer(command.clone().bearer("wrong")).status,
        401
    );
    let path = server.data().join("control.token");
    let token = std::fs::read_to_string(path).unwrap();
    let known = command.bearer(token.trim());
    let foreign = server.administer(known.clone().header("origin", "https://evil.example"));
    assert_eq!(foreign.status, 403);
    assert_eq!(
        server
            .administer(known.header("host", "evil.example"))
            .status,
        403
    );
    assert_eq!(
        server.send(Ask::post("/_control/command")).status,
        404,
        "not on the public address"
    );
}

#[test]
fn the_coverage_lists_every_published_operation() {
    let list = include_str!("../../../web/src/operations/endpoints.tsv");
    let listed = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[3].to_owned(), cells[4].to_owned())
    };
    let listed: Vec<_> = list.lines().skip(1).map(listed).collect();
    let rows = shared().cli(&["routes", "--coverage"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shown = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (text(&row["method"]), text(&row["path"])));
    assert_eq!(shown.collect::<Vec<_>>(), listed);
    for row in rows.as_array().unwrap() {
        assert!(
            ["built", "planned"].contains(&row["status"].as_str().unwrap()),
            "{row}"
        );
    }
    let built = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["status"] == "built")
        .count();
    assert!(built >= 14, "{built}");
}

#[test]
fn the_log_is_one_object_a_line_and_names_requests_without_secrets() {
    let server = Server::start(&["--log-format", "json"]);
    let person = server.person("logged");
    person.says("Not in the log, I hope");
    person.signed(Ask::get("/2/users/me")).is(200);
    server.send(Ask::get("/2/users/me?access_token=canary1").bearer("canary2"));
    let answer = person.send(Ask::get("/2/users/me").header("x-request-id", "my-own-name"));
    assert_eq!(answer.header("x-request-id"), "my-own-name");
    assert!(!answer.header("x-transaction-id").is_empty());
    let logged = server.logged();
    let lines: Vec<Value> = logged
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line.to_string().contains("my-own-name")),
        "{logged}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.to_string().contains("/2/users/me")),
        "{logged}"
    );
    let written = logged + &server.said();
    let mut secrets: Vec<&str> = [
        "API_SECRET",
        "BEARER_TOKEN",
        "ACCESS_TOKEN_SECRET",
        "USER_TOKEN",
        "CLIENT_SECRET",
    ]
    .map(|name| server.env(name))
    .to_vec();
    let control = std::fs::read_to_string(server.data().join("control.token")).unwrap();
    secrets.extend([
        &person.token,
        person.oauth1().1,
        &person.app.secret,
        control.trim(),
    ]);
    secrets.extend(["canary1", "canary2", "Not in the log"]);
    for secret in secrets {
        assert!(!written.contains(secret), "{secret} was written");
    }
}

#[test]
fn the_database_holds_no_secret_in_the_clear() {
    if engine() == Engine::Postgres {
        return;
    }
    let server = Server::start(&[]);
    let person = server.person("sealed");
    let mut secrets: Vec<String> = [
        "API_SECRET",
        "BEARER_TOKEN",
        "ACCESS_TOKEN_SECRET",
        "USER_TOKEN",
        "CLIENT_SECRET",
    ]
    .map(|name| server.env(name).to_owned())
    .to_vec();
    secrets.extend([
        person.token.clone(),
        person.oauth1().1.to_owned(),
        person.app.secret.clone(),
    ]);
    for (name, bytes) in contents(&server.data()) {
        if name == "dev.env" {
            continue;
        }
        for secret in &secrets {
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "{name} holds {secret}");
        }
    }
}

#[test]
fn a_copy_taken_while_others_write_is_restored_and_sound() {
    let mut server = Server::start(&[]);
    let copy = server.beside("copy");
    let (before, after) = {
        let person = server.person("copied");
        let before: Vec<String> = (0..20)
            .map(|number| person.says(&format!("Before {number}")))
            .collect();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                for number in 0..40 {
                    person.says(&format!("During {number}"));
                }
            });
            server.cli(&["backup", copy.to_str().unwrap()]).well();
            writing.join().unwrap();
        });
        server.cli(&["backup", copy.to_str().unwrap()]).ends(1);
        (before, person.says("After"))
    };
    let path = copy.to_str().unwrap();
    if engine() == Engine::Postgres {
        server.stop();
        server.cli(&["restore", path, "--verify"]).ends(2);
        return;
    }
    server.stop();
    let restored = server.cli(&["restore", path, "--verify", "--replace"]);
    assert_eq!(restored.json()["restored"], true, "{restored:?}");
    assert_eq!(server.cli(&["fsck"]).json()["sound"], true);
    server.start_again();
    let token = server.env("USER_TOKEN").to_owned();
    let read = |ids: &str| {
        server
            .send(Ask::get(format!("/2/posts?ids={ids}")).bearer(&token))
            .is(200)
    };
    assert_eq!(
        read(&before.join(","))["data"].as_array().unwrap().len(),
        before.len()
    );
    assert!(read(&after).get("data").is_none(), "written after the copy");
    let person = server.person("later");
    let next: u64 = person.says("Later still").parse().unwrap();
    assert!(
        next > after.parse().unwrap(),
        "ids do not go back with the copy"
    );
}

#[test]
fn a_file_that_is_no_copy_is_not_restored() {
    if engine() == Engine::Postgres {
        return;
    }
    let mut server = Server::start(&[]);
    server.stop();
    let fake = server.beside("fake");
    for bytes in [
        &b""[..],
        b"SQLite format 3\0 and then nothing",
        &[7; 10_000],
    ] {
        std::fs::write(&fake, bytes).unwrap();
        let ran = server.cli(&["restore", fake.to_str().unwrap(), "--verify", "--replace"]);
        assert_ne!(ran.code, 0, "{ran:?}");
    }
    server.start_again();
    server
        .send(Ask::get("/2/users/me").bearer(server.env("USER_TOKEN")))
        .is(200);
}

#[test]
fn what_is_exported_is_imported_elsewhere_and_twice_is_once() {
    let server = Server::start(&[]);
    let person = server.person("moving");
    let friend = server.person("friend");
    person.follows(&[&friend]);
    let root = person.says("A root with #tag & <b> https://example.com/x");
    let reply = json!({ "text": "A reply", "reply": { "in_reply_to_post_id": root } });
    let reply = friend.publish(&reply).is(201)["data"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let file = server.beside("all.jsonl");
    server
        .cli(&["export", "--jsonl", file.to_str().unwrap()])
        .well();

    let other = Server::start(&["--world", "empty"]);
    for _ in 0..2 {
        other
            .cli(&["import", "jsonl", file.to_str().unwrap()])
            .well();
    }
    let reader = other.person("reader");
    let fields = "created_at,entities,conversation_id,referenced_posts,in_reply_to_user_id,lang,public_metrics";
    for id in [&root, &reply] {
        assert_eq!(reader.sees(id, fields), friend.sees(id, fields));
    }
    let following = reader
        .get(format!("/2/users/{}/following", person.id))
        .is(200);
    assert_eq!(following["data"][0]["id"], friend.id);
    let posts = |reader: &crate::harness::Person<'_>| {
        let path = format!("/2/users/{}/posts?max_results=100", server.env("USER_ID"));
        reader.get(path).is(200)["data"].clone()
    };
    assert_eq!(posts(&reader), posts(&friend));
    assert_eq!(other.cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn an_archive_is_imported_and_read_through_the_interface() {
    let server = Server::start(&["--world", "empty"]);
    let folder = server.beside("archive");
    write_archive(&folder);
    let path = folder.to_str().unwrap();
    let report = server.cli(&["import", "archive", path]).json();
    let again = server.cli(&["import", "archive", path]).json();
    let reader = server.person("reader");
    let me = reader
        .get("/2/users/by/username/archivist?user.fields=description")
        .is(200);
    assert_eq!(me["data"]["id"], "2244994945", "{report}");
    assert_eq!(me["data"]["description"], "Keeps things");
    let timeline = reader
        .get("/2/users/2244994945/posts?max_results=100&post.fields=created_at,entities")
        .is(200);
    assert_eq!(timeline["meta"]["result_count"], 30, "{again}");
    let first = timeline["data"].as_array().unwrap().last().unwrap();
    assert_eq!(first["text"], "Post 0 &amp; more #kept");
    assert_eq!(first["entities"]["hashtags"][0]["tag"], "kept");
    let following = reader.get("/2/users/2244994945/following").is(200);
    assert_eq!(following["meta"]["result_count"], 1, "{following}");
    assert_eq!(server.cli(&["fsck"]).json()["sound"], true);
}

/// The smallest archive that is one (the official form, a folder).
fn write_archive(folder: &Path) {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let file = |name: &str, value: Value| {
        let variable = name.replace('-', "_");
        let text = format!("window.YTD.{variable}.part0 = {value}");
        std::fs::write(data.join(format!("{name}.js")), text).unwrap();
    };
    let account = json!({
        "accountId": "2244994945", "username": "archivist", "accountDisplayName": "The Archivist",
        "email": "a@example.com", "createdAt": "2013-12-14T04:35:55.036Z", "createdVia": "web",
    });
    file("account", json!([{ "account": account }]));
    let description = json!({ "bio": "Keeps things", "website": "", "location": "" });
    file(
        "profile",
        json!([{ "profile": { "description": description, "avatarMediaUrl": "" } }]),
    );
    let post = |number: u64| {
        json!({ "tweet": {
            "id_str": (1_500_000_000_000_000_000 + number).to_string(),
            "id": (1_500_000_000_000_000_000 + number).to_string(),
            "created_at": "Sat Mar 05 06:02:11 +0000 2022",
            "full_text": format!("Post {number} &amp; more #kept"),
            "lang": "en", "favorite_count": "0", "retweet_count": "0", "truncated": false,
            "entities": { "hashtags": [], "symbols": [], "user_mentions": [], "urls": [] },
        } })
    };
    file("tweets", (0..30).map(post).collect());
    let link = "https://twitter.com/intent/user?user_id=12";
    file(
        "following",
        json!([{ "following": { "accountId": "12", "userLink": link } }]),
    );
    let kinds = ["account", "profile", "tweets", "following"];
    let mut types = serde_json::Map::new();
    for kind in kinds {
        let mut name = String::new();
        let _infallible = write!(name, "YTD.{kind}.part0");
        let files =
            json!([{ "fileName": format!("data/{kind}.js"), "globalName": name, "count": "1" }]);
        types.insert(kind.to_owned(), json!({ "files": files }));
    }
    let manifest = json!({
        "userInfo": { "accountId": "2244994945", "userName": "archivist", "displayName": "The Archivist" },
        "archiveInfo": { "sizeBytes": "1", "generationDate": "2026-01-01T00:00:00.000Z", "isPartialArchive": false },
        "readmeInfo": {}, "dataTypes": types,
    });
    std::fs::write(
        data.join("manifest.js"),
        format!("window.__THAR_CONFIG = {manifest}"),
    )
    .unwrap();
}

#[test]
fn lines_that_cannot_be_read_are_reported_and_harm_nothing() {
    let server = Server::start(&["--world", "empty"]);
    let person = server.person("target");
    let lines = [
        json!({ "kind": "nonsense" }),
        json!(17),
        json!({ "kind": "post", "id": "x" }),
        json!({ "kind": "follow", "from": person.id }),
    ];
    let ran = server.import(&lines);
    assert!([0, 1].contains(&ran.code), "{ran:?}");
    assert_eq!(server.cli(&["fsck"]).json()["sound"], true);
    person.get("/2/users/me").is(200);
    server.cli(&["import", "jsonl", "/nowhere/at/all"]).ends(1);
    server
        .cli(&["import", "archive", "/nowhere/at/all"])
        .ends(1);
}

#[test]
fn real_posts_are_imported_and_read_page_by_page() {
    let Some(file) = std::env::var_os("LOCUM_VADER_FILE") else {
        eprintln!("skipped: LOCUM_VADER_FILE is not set (scripts/fetch-test-data prints it)");
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let texts: Vec<&str> = text
        .lines()
        .filter_map(|line| line.splitn(3, '\t').nth(2))
        .collect();
    assert!(texts.len() > 3_000, "{}", texts.len());
    let server = Server::start(&["--world", "empty"]);
    let (author, began) = ("7", 1_600_000_000_000_u64);
    let person = json!({ "kind": "user", "id": author, "handle": "realist", "name": "A Realist", "created_at_ms": began });
    let post = |(number, text): (u64, &&str)| {
        let at = began + number * 60_000;
        let id = ((at - 1_288_834_974_657) << 22).to_string();
        json!({ "kind": "post", "id": id, "author": author, "created_at_ms": at, "text": text })
    };
    let posts = (0..).zip(&texts).map(post);
    let lines: Vec<Value> = std::iter::once(person).chain(posts).collect();
    server.import(&lines).well();
    server.import(&lines).well();
    let reader = server.person("reader");
    let path = format!(
        "/2/users/{author}/posts?max_results=100&post.fields=created_at,entities,note_post"
    );
    let (mut token, mut read) = (String::new(), Vec::new());
    loop {
        let page = reader.get(format!("{path}{token}")).is(200);
        for post in page["data"].as_array().unwrap() {
            let whole = post["note_post"]["text"].as_str().or(post["text"].as_str());
            read.push(whole.unwrap().to_owned());
        }
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("&pagination_token={next}"),
            None => break,
        }
    }
    // The newest 3,200 are within reach.
    let newest: Vec<String> = texts
        .iter()
        .rev()
        .take(read.len())
        .map(|text| shown(text))
        .collect();
    assert!(read.len() >= 3_200, "{}", read.len());
    for (read, wanted) in read.iter().zip(&newest) {
        assert_eq!(read, wanted);
    }
    assert_eq!(server.cli(&["fsck"]).json()["sound"], true);
}

/// A text as the interface shows it.
fn shown(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
