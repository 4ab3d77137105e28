//! Worlds beside the main one.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{DatabaseEngine, OAuth1Credentials, TestRequest, TestServer, locum_command};
use crate::launcher::output_of;
use crate::media::{self, samples};

fn start() -> TestServer {
    TestServer::start_on_engine(DatabaseEngine::Sqlite, &[])
}

type Keys = BTreeMap<String, String>;

fn create(server: &TestServer, name: &str, from: &str) -> Keys {
    let created = server.run_cli(&["world", "create", name, "--from", from]).json();
    let variables = created["variables"].as_object().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    variables.iter().map(|(key, value)| (key.trim_start_matches("LOCUM_").to_owned(), text(value))).collect()
}

fn publish(server: &TestServer, token: &str, text: &str) -> String {
    let request = TestRequest::post("/2/tweets").json(&json!({ "text": text })).bearer(token);
    server.send(request).assert_status(201)["data"]["id"].as_str().unwrap().to_owned()
}

fn sees(server: &TestServer, bearer: &str, id: &str) -> bool {
    let found = server.send(TestRequest::get(format!("/2/tweets/{id}")).bearer(bearer));
    found.json()["data"]["id"] == id
}

#[test]
fn credentials_select_the_world_and_worlds_do_not_see_each_other() {
    let server = start();
    let (one, two) = (create(&server, "one", "demo"), create(&server, "two", "demo"));
    assert!(one["API_KEY"] != two["API_KEY"] && one["USER_TOKEN"] != server.env_value("USER_TOKEN"));
    let in_one = publish(&server, &one["USER_TOKEN"], "in one");
    let in_main = publish(&server, server.env_value("USER_TOKEN"), "in main");
    assert!(sees(&server, &one["BEARER_TOKEN"], &in_one));
    for (bearer, post) in [
        (&two["BEARER_TOKEN"], &in_one),
        (&one["BEARER_TOKEN"], &in_main),
        (&server.env_value("BEARER_TOKEN").to_owned(), &in_one),
    ] {
        assert!(!sees(&server, bearer, post));
    }
    let by_host = TestRequest::get(format!("/2/tweets/{in_one}")).bearer(server.env_value("BEARER_TOKEN"));
    assert_eq!(server.send(by_host.header("host", "one.localhost")).status, 401, "the main world's token");
    let page = server.send(TestRequest::get(format!("/ada/status/{in_one}")).header("host", "one.localhost"));
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(server.send(TestRequest::get(format!("/ada/status/{in_one}"))).status, 404);
}

#[test]
fn files_and_short_links_of_a_world_are_fetched_without_credentials() {
    let server = start();
    let keys = create(&server, "one", "demo");
    let token = &keys["USER_TOKEN"];
    let photo =
        server.send(media::upload_request("tweet_image", &samples::png(20, 10)).bearer(token)).assert_status(200);
    let body = json!({
        "text": "Look https://example.com/far",
        "media": { "media_ids": [photo["data"]["id"]] },
    });
    let post = server.send(TestRequest::post("/2/tweets").json(&body).bearer(token)).assert_status(201);
    let fields = "expansions=attachments.media_keys&media.fields=url&tweet.fields=entities";
    let path = format!("/2/tweets/{}?{fields}", post["data"]["id"].as_str().unwrap());
    let host = server.url.trim_start_matches("http://").to_owned();
    for host in [host.as_str(), "api.x.com"] {
        let read = server.send(TestRequest::get(&path).bearer(token).header("host", host)).assert_status(200);
        let picture = read["includes"]["media"][0]["url"].as_str().unwrap();
        let link = read["data"]["entities"]["urls"][0]["url"].as_str().unwrap();
        for (url, status) in [(picture, 200), (link, 301)] {
            let (shown_host, path) = url.split_once("//").unwrap().1.split_once('/').unwrap();
            assert_eq!(shown_host, host, "{url}");
            let fetch = |path: &str| server.send(TestRequest::get(path).header("host", host)).status;
            assert_eq!(fetch(&format!("/{path}")), status, "{url}");
            let in_main = path.strip_prefix("i/worlds/one").unwrap();
            assert_eq!(fetch(in_main), 404, "{url}");
        }
    }
    assert_eq!(server.send(TestRequest::get("/i/worlds/two/media/1.png")).status, 404);
}

#[test]
fn signed_requests_and_token_requests_reach_the_world_of_their_app() {
    let server = start();
    let keys = create(&server, "signed", "demo");
    let post = publish(&server, &keys["USER_TOKEN"], "signed");
    let credentials = OAuth1Credentials {
        consumer: (&keys["API_KEY"], &keys["API_SECRET"]),
        token: (&keys["ACCESS_TOKEN"], &keys["ACCESS_TOKEN_SECRET"]),
        skew: 0,
        nonce: None,
    };
    let request = TestRequest::get(format!("/2/tweets/{post}"));
    let header = request.oauth1_header(&credentials, &server.url);
    let found = server.send(request.authorization(header)).assert_status(200);
    assert_eq!(found["data"]["id"], post, "{found}");
    let token = TestRequest::post("/oauth2/token").basic(&keys["API_KEY"], &keys["API_SECRET"]);
    let issued = server.send(token.form("grant_type=client_credentials")).assert_status(200);
    assert_eq!(issued["access_token"], keys["BEARER_TOKEN"].as_str(), "{issued}");
    // A public client names itself in the form only.
    let form = format!("grant_type=refresh_token&refresh_token=x&client_id={}", keys["PUBLIC_CLIENT_ID"]);
    let refused = server.send(TestRequest::post("/2/oauth2/token").form(form));
    assert!(
        refused.text().contains("invalid_grant") || refused.text().contains("invalid_request"),
        "{}",
        refused.text()
    );
}

#[test]
fn command_with_a_world_acts_on_it_alone() {
    let server = start();
    let keys = create(&server, "acted", "demo");
    server.run_cli(&["--world", "acted", "user", "create", "newcomer", "--password", "a long secret"]).assert_success();
    let find = |bearer: &str| {
        let found = server.send(TestRequest::get("/2/users/by/username/newcomer").bearer(bearer));
        found.json()["data"]["username"] == "newcomer"
    };
    assert!(find(&keys["BEARER_TOKEN"]) && !find(server.env_value("BEARER_TOKEN")));
    server.run_cli(&["--world", "acted", "reset"]).assert_success();
    assert!(!find(&keys["BEARER_TOKEN"]));
    let again = server.run_cli(&["world", "env", "acted"]).json();
    assert_eq!(again["variables"]["LOCUM_API_KEY"], keys["API_KEY"].as_str());
    let own = server.run_cli(&["--world", "acted", "env"]).json();
    assert_eq!(own["LOCUM_API_KEY"], keys["API_KEY"].as_str());
    // A program that was given the keys of the world keeps them.
    let data_dir = server.data_dir();
    let mut command = locum_command(&data_dir);
    command.env("LOCUM_WORLD", "acted");
    command.args(["run", "--mode", "proxy", "--label", "in-acted", "--data-dir"]).arg(&data_dir);
    command.args(["sh", "-c", "echo $LOCUM_API_KEY; cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = command.spawn().unwrap();
    let mut printed = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut printed).unwrap();
    assert_eq!(printed.trim(), keys["API_KEY"]);
    server.send(TestRequest::get("/2/users/me").bearer(&keys["USER_TOKEN"])).assert_status(200);
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    let labelled = server.run_cli(&["--world", "acted", "log", "--label", "in-acted"]).json();
    assert_eq!(labelled.as_array().unwrap().len(), 1, "{labelled}");
    let mut command = locum_command(&data_dir);
    command.env("LOCUM_WORLD", "nowhere").args(["run", "--mode", "proxy", "--data-dir"]).arg(&data_dir).arg("true");
    let refused = output_of(command);
    refused.assert_exit_code(1);
    assert!(refused.stderr.contains("LOCUM_WORLD: no world has the name nowhere"), "{}", refused.stderr);
    let unknown = server.run_cli(&["--world", "nowhere", "reset"]);
    unknown.assert_exit_code(1);
    assert!(unknown.stderr.contains("no world has this name"), "{}", unknown.stderr);
}

#[test]
fn reset_reads_the_world_file_again() {
    let server = start();
    let path = server.sibling_path("again.jsonl");
    let write = |name: &str| std::fs::write(&path, format!("{{\"user\": {{\"username\": \"{name}\"}}}}")).unwrap();
    let show = |name: &str| server.run_cli(&["--world", "again", "user", "show", name]).code;
    write("ruth");
    create(&server, "again", path.to_str().unwrap());
    assert_eq!((show("ruth"), show("olga")), (0, 1));
    write("olga");
    server.run_cli(&["--world", "again", "reset"]).assert_success();
    assert_eq!((show("ruth"), show("olga")), (1, 0));
}

#[test]
fn world_that_loaded_a_snapshot_of_another_is_reset_to_its_own_beginning() {
    let server = start();
    create(&server, "own", "empty");
    let post = publish(&server, server.env_value("USER_TOKEN"), "of main");
    server.run_cli(&["snapshot", "save", "of-main"]).assert_success();
    server.run_cli(&["--world", "own", "snapshot", "load", "of-main"]).assert_success();
    let loaded = server.run_cli(&["world", "env", "own"]).json()["variables"]["LOCUM_BEARER_TOKEN"].clone();
    assert!(sees(&server, loaded.as_str().unwrap(), &post));
    server.run_cli(&["--world", "own", "reset"]).assert_success();
    assert_eq!(server.run_cli(&["--world", "own", "user", "list"]).json(), json!([]));
    assert_eq!(server.run_cli(&["world", "env", "own"]).json()["variables"]["LOCUM_BEARER_TOKEN"], Value::Null);
}

#[test]
fn world_is_made_of_a_snapshot_and_stays_after_a_restart() {
    let mut server = start();
    let post = publish(&server, server.env_value("USER_TOKEN"), "saved");
    server.run_cli(&["snapshot", "save", "base"]).assert_success();
    let keys = create(&server, "copy", "base");
    assert!(sees(&server, &keys["BEARER_TOKEN"], &post));
    let own = publish(&server, &keys["USER_TOKEN"], "own");
    server.run_cli(&["--world", "copy", "snapshot", "save", "of-copy"]).assert_success();
    let refused = server.run_cli(&["snapshot", "load", "of-copy"]);
    refused.assert_exit_code(1);
    assert!(refused.stderr.contains("locum world create"), "{}", refused.stderr);
    server.crash_and_restart();
    assert!(sees(&server, &keys["BEARER_TOKEN"], &own));
    let lost = publish(&server, &keys["USER_TOKEN"], "lost");
    server.run_cli(&["--world", "copy", "snapshot", "load", "of-copy"]).assert_success();
    assert!(sees(&server, &keys["BEARER_TOKEN"], &own) && !sees(&server, &keys["BEARER_TOKEN"], &lost));
    server.run_cli(&["world", "rm", "copy"]).assert_success();
    let gone = server.send(TestRequest::get("/2/users/me").bearer(&keys["USER_TOKEN"]));
    assert_eq!(gone.status, 401);
}

#[test]
fn wrong_world_orders_are_refused() {
    let server = start();
    create(&server, "taken", "empty");
    let refused = |code: i32, args: &[&str], words: &str| {
        let output = server.run_cli(args);
        output.assert_exit_code(code);
        assert!(output.stderr.contains(words), "{args:?}: {}", output.stderr);
    };
    refused(1, &["world", "create", "taken"], "already a world named [taken]");
    refused(2, &["world", "create", "Upper"], "lowercase letters");
    refused(2, &["world", "create", "main"], "reserved");
    refused(1, &["world", "create", "new", "--from", "nothing"], "no snapshot named [nothing]");
    refused(2, &["world", "rm", "main"], "cannot be removed");
    refused(1, &["world", "rm", "other"], "no world named [other]");
    let again = json!({"name": "taken", "from": "empty"});
    server.call_control(TestRequest::post("/control/v1/worlds").json(&again)).assert_refused(409, "already a world");
    let unknown = TestRequest::get("/control/v1/worlds/other/keys");
    server.call_control(unknown).assert_refused(404, "no world named [other]");
    let listed = server.run_cli(&["world", "list"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert!(!server.data_dir().join("worlds/new").exists());
}

#[test]
fn postgres_has_no_snapshots_or_worlds() {
    if crate::harness::suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&[]);
    for args in [&["reset"][..], &["snapshot", "save", "one"], &["world", "create", "one"]] {
        let output = server.run_cli(args);
        output.assert_exit_code(1);
        assert!(output.stderr.contains("need a SQLite database"), "{}", output.stderr);
    }
}

#[test]
fn more_worlds_than_may_be_open_all_answer() {
    let server = start();
    let worlds: Vec<Keys> = (0..30).map(|number| create(&server, &format!("w{number}"), "demo")).collect();
    server.run_cli(&["--world", "w0", "limits", "scale", "10"]).assert_success();
    for keys in worlds.iter().chain(&worlds) {
        let me = server.send(TestRequest::get("/2/users/me").bearer(&keys["USER_TOKEN"])).assert_status(200);
        assert_eq!(me["data"]["username"], "ada");
    }
    let limits = server.run_cli(&["--world", "w0", "limits", "show"]).json();
    assert_eq!(limits["mode"], "scale", "the world was closed meanwhile: {limits}");
}

#[test]
fn world_keeps_its_rate_limit_mode_when_it_is_replaced() {
    let server = start();
    server.run_cli(&["snapshot", "save", "start"]).assert_success();
    server.run_cli(&["limits", "scale", "10"]).assert_success();
    for replacement in [&["reset"][..], &["snapshot", "load", "start"]] {
        server.run_cli(replacement).assert_success();
        assert_eq!(server.run_cli(&["limits", "show"]).json()["mode"], "scale", "{replacement:?}");
    }
}

#[test]
fn world_of_another_kind_starts_with_the_frozen_clock_of_the_main_world() {
    let server =
        TestServer::start_on_engine(DatabaseEngine::Sqlite, &["--world", "empty", "--clock", "2031-05-06T07:08:09Z"]);
    create(&server, "other", "demo");
    let clock = server.run_cli(&["--world", "other", "clock", "show"]).json();
    assert_eq!((&clock["mode"], &clock["now"]), (&json!("frozen"), &json!("2031-05-06T07:08:09.000Z")));
}

const WORLD_LINES: &str = r#"{"user": {"username": "eve", "name": "Eve"}}
{"user": {"username": "finn", "joined": "-30d"}}
{"follow": {"from": "finn", "to": "eve"}}
{"app": {"name": "bot", "owner": "eve", "tokens": ["eve", "finn"]}}
{"post": {"author": "eve", "text": "The first one", "at": "-2h", "tag": "first"}}
{"post": {"author": "finn", "text": "An answer", "at": "-90m", "reply_to": "first"}}
"#;
const WORLD_TOML: &str = r#"
[[user]]
username = "eve"
[[app]]
name = "bot"
owner = "eve"
tokens = ["eve"]
[[post]]
author = "eve"
text = "From a table"
at = "-2h"
"#;

#[test]
fn world_file_fills_the_main_world_and_others() {
    let mut server = TestServer::prepare(&[]);
    let (lines, table) = (server.sibling_path("world.jsonl"), server.sibling_path("world.toml"));
    std::fs::write(&lines, WORLD_LINES).unwrap();
    std::fs::write(&table, WORLD_TOML).unwrap();
    server.add_argument("--world");
    server.add_argument(lines.to_str().unwrap());
    server.restart();
    let bearer = server.env_value("BEARER_TOKEN").to_owned();
    let finn = server.send(TestRequest::get("/2/users/by/username/finn?user.fields=public_metrics").bearer(&bearer));
    assert_eq!(finn.assert_status(200)["data"]["public_metrics"]["following_count"], 1);
    let eve = server.env_value("USER_ID").to_owned();
    let posts = server.send(TestRequest::get(format!("/2/users/{eve}/tweets?tweet.fields=created_at")).bearer(&bearer));
    let posts = posts.assert_status(200);
    assert_eq!(posts["data"][0]["text"], "The first one", "{posts}");
    if server.data_dir().join("locum.db").exists() {
        publish(&server, server.env_value("USER_TOKEN"), "soon gone");
        server.run_cli(&["reset"]).assert_success();
        let again = server.send(TestRequest::get(format!("/2/users/{eve}/tweets")).bearer(&bearer)).assert_status(200);
        assert_eq!(again["meta"]["result_count"], 1, "{again}");
        let keys = create(&server, "tabled", table.to_str().unwrap());
        let me = server.send(TestRequest::get("/2/users/me").bearer(&keys["USER_TOKEN"])).assert_status(200);
        assert_eq!(me["data"]["username"], "eve");
    }
}

const ADS_LINES: &str = r#"{"user": {"username": "eve"}}
{"app": {"name": "bot", "owner": "eve", "tokens": ["eve"]}}
{"post": {"author": "eve", "text": "Boats for a day", "tag": "boats"}}
{"ads_account": {"tag": "shop", "owner": "eve", "name": "The shop"}}
{"ads": {"account": "shop", "create": "campaigns", "tag": "spring", "params": {"name": "Spring", "funding_instrument_id": "$shop.funding_instrument", "daily_budget_amount_local_micro": 50000000}}}
{"ads": {"account": "shop", "create": "line_items", "tag": "readers", "params": {"campaign_id": "$spring", "name": "Readers", "objective": "ENGAGEMENTS", "product_type": "PROMOTED_POSTS", "placements": ["ALL_ON_TWITTER"], "bid_amount_local_micro": 250000, "start_time": "-10d", "end_time": "+30d"}}}
{"ads": {"account": "shop", "create": "promoted_tweets", "params": {"line_item_id": "$readers", "tweet_ids": ["$boats"]}}}
"#;

#[test]
fn world_file_has_ads_accounts_with_campaigns() {
    let mut server = TestServer::prepare(&[]);
    let path = server.sibling_path("ads.jsonl");
    std::fs::write(&path, ADS_LINES).unwrap();
    server.add_argument("--world");
    server.add_argument(path.to_str().unwrap());
    server.restart();
    let account = format!("/12/accounts/{}", server.env_value("ADS_ACCOUNT_ID"));
    let get = |path: &str| {
        let request = TestRequest::get(format!("{account}{path}"));
        let credentials = OAuth1Credentials {
            consumer: (server.env_value("API_KEY"), server.env_value("API_SECRET")),
            token: (server.env_value("ACCESS_TOKEN"), server.env_value("ACCESS_TOKEN_SECRET")),
            skew: 0,
            nonce: None,
        };
        let header = request.oauth1_header(&credentials, &server.url);
        server.send(request.authorization(header)).assert_status(200)["data"].clone()
    };
    assert_eq!(get("")["name"], "The shop");
    let item = &get("/line_items")[0];
    assert_eq!((&item["name"], &item["campaign_id"]), (&json!("Readers"), &get("/campaigns")[0]["id"]));
    let promoted = &get("/promoted_tweets")[0];
    assert_eq!(promoted["line_item_id"], item["id"], "{promoted}");
    server.run_cli(&["ads", "simulate", server.env_value("ADS_ACCOUNT_ID"), "--hours", "24"]).assert_success();
}

#[test]
fn wrong_world_files_name_the_line_and_create_nothing() {
    let server = TestServer::prepare(&[]);
    for (name, text, line, words) in [
        (
            "a.jsonl",
            "{\"user\": {\"username\": \"eve\"}}\n{\"post\": {\"autor\": \"eve\"}}",
            2,
            "unknown field `autor`",
        ),
        (
            "b.jsonl",
            "{\"user\": {\"username\": \"eve\"}}\n\n{\"follow\": {\"from\": \"eve\", \"to\": \"x\"}}",
            3,
            "no user [x]",
        ),
        ("c.toml", "[[user]]\nusername = \"eve\"\n[[post]]\nauthor = \"eve\"\ntext = \"x\"\nat = \"2h\"\n", 3, "`at`"),
        ("d.jsonl", "{\"user\": {\"username\": \"not a name\"}}", 1, "username"),
        ("e.jsonl", &ADS_LINES.replace("$spring", "$autumn"), 6, "nothing with the tag [autumn]"),
        ("f.jsonl", &ADS_LINES.replace("promoted_tweets", "campaign"), 7, "no operation"),
        ("g.jsonl", &ADS_LINES.replace("250000", "-1"), 6, "bid_amount_local_micro"),
    ] {
        let path = server.sibling_path(name);
        std::fs::write(&path, text).unwrap();
        let output = server.run_cli(&["dev", "--port", "0", "--control-port", "0", "--world", path.to_str().unwrap()]);
        assert_ne!(output.code, 0);
        let place = format!("{}:{line}: ", path.display());
        assert!(output.stderr.contains(&place) && output.stderr.contains(words), "{}", output.stderr);
        assert!(!server.data_dir().join("world.json").exists());
    }
}
