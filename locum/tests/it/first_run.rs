//! `locum dev` for the first time, and again.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{
    DatabaseEngine, TestRequest, TestServer, run_command, shared_server, suite_engine, without_short_links,
};

const NAMES: &[&str] = &[
    "BASE_URL",
    "ADS_URL",
    "ADS_SANDBOX_URL",
    "API_KEY",
    "API_SECRET",
    "BEARER_TOKEN",
    "USER_ID",
    "USERNAME",
    "PASSWORD",
    "ACCESS_TOKEN",
    "ACCESS_TOKEN_SECRET",
    "USER_TOKEN",
    "USER_ID_2",
    "USERNAME_2",
    "PASSWORD_2",
    "ACCESS_TOKEN_2",
    "ACCESS_TOKEN_SECRET_2",
    "USER_TOKEN_2",
    "CLIENT_ID",
    "CLIENT_SECRET",
    "PUBLIC_CLIENT_ID",
    "CALLBACK_URL",
    "API_KEY_2",
    "API_SECRET_2",
    "BEARER_TOKEN_2",
    "ADS_ACCOUNT_ID",
    "ADS_FUNDING_INSTRUMENT_ID",
];

/// Lines that depend on the port.
const PLACES: &[&str] = &["BASE_URL", "ADS_URL", "ADS_SANDBOX_URL"];

#[test]
fn first_run_prints_and_stores_all_keys() {
    let server = shared_server();
    for name in NAMES {
        assert!(!server.env_value(name).is_empty(), "{name} is empty");
    }
    assert_eq!(server.env_value("BASE_URL"), server.url);
    assert_eq!(server.env_value("CALLBACK_URL"), "http://127.0.0.1:8765/callback");
    let (id, token) = (server.env_value("USER_ID"), server.env_value("ACCESS_TOKEN"));
    assert!(token.starts_with(&format!("{id}-")), "{token}");
    let text = std::fs::read_to_string(server.data_dir().join("dev.env")).unwrap();
    assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("LOCUM_")), "{text}");
}

#[test]
fn data_directory_is_readable_by_its_owner_only() {
    let server = shared_server();
    for name in ["dev.env", "master.key"] {
        let mode = std::fs::metadata(server.data_dir().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn every_key_of_the_first_run_is_accepted() {
    let server = shared_server();
    let bearers = [("BEARER_TOKEN", "USERNAME"), ("BEARER_TOKEN_2", "USERNAME_2")];
    for (bearer, username) in bearers {
        let path = format!("/2/users/by/username/{}", server.env_value(username));
        server.send(TestRequest::get(path).bearer(server.env_value(bearer))).assert_status(200);
    }
    for (token, id) in [("USER_TOKEN", "USER_ID"), ("USER_TOKEN_2", "USER_ID_2")] {
        let me = server.send(TestRequest::get("/2/users/me").bearer(server.env_value(token))).assert_status(200);
        assert_eq!(me["data"]["id"], server.env_value(id));
    }
    for suffix in ["", "_2"] {
        let key = crate::harness::OAuth1Credentials {
            consumer: (server.env_value("API_KEY"), server.env_value("API_SECRET")),
            token: (
                server.env_value(&format!("ACCESS_TOKEN{suffix}")),
                server.env_value(&format!("ACCESS_TOKEN_SECRET{suffix}")),
            ),
            ..Default::default()
        };
        let request = TestRequest::get("/2/users/me");
        let header = request.oauth1_header(&key, &server.url);
        let me = server.send(request.authorization(header)).assert_status(200);
        assert_eq!(me["data"]["id"], server.env_value(&format!("USER_ID{suffix}")));
    }
}

#[test]
fn seed_determines_the_world() {
    let [one, same] = [0, 1].map(|_| TestServer::start(&["--seed", "42"]));
    let other = TestServer::start(&["--seed", "43"]);
    assert_eq!(lasting(&one.env), lasting(&same.env));
    for secret in ["API_SECRET", "BEARER_TOKEN", "ACCESS_TOKEN_SECRET", "USER_TOKEN", "CLIENT_SECRET"] {
        assert_ne!(one.env_value(secret), other.env_value(secret), "{secret}");
    }
    let posts = |server: &TestServer| {
        let fields = "post.fields=created_at,entities,public_metrics,referenced_posts&expansions=author_id";
        let path = format!("/2/users/{}/posts?max_results=100&{fields}", server.env_value("USER_ID"));
        let page = server.send(TestRequest::get(path).bearer(server.env_value("BEARER_TOKEN"))).assert_status(200);
        page["data"].as_array().unwrap().iter().cloned().map(without_short_links).collect::<Vec<_>>()
    };
    assert_eq!(posts(&one), posts(&same));
    assert!(!posts(&one).is_empty());
}

#[test]
fn options_of_another_world_are_refused_for_a_directory_that_has_one() {
    let server = shared_server();
    for (option, value) in [("--world", "empty"), ("--world", "missing.toml"), ("--seed", "4711")] {
        let ran = server.run_cli(&["dev", "--port", "0", option, value]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(&format!("{option} {value} applies to a new data directory only")), "{ran:?}");
    }
}

#[test]
fn options_of_a_new_world_without_effect_are_warned_of() {
    let mut server = TestServer::prepare(&[]);
    server.set_variable("LOCUM_CORE__WORLD_DATE", "2020-02-29");
    for _start in 0..2 {
        server.restart();
        assert!(!server.stderr().contains("has no effect"), "{}", server.stderr());
        server.stop();
    }
    for argument in ["--clock", "frozen", "--world-date", "2020-03-01"] {
        server.add_argument(argument);
    }
    server.restart();
    let warned = server.stderr();
    assert!(warned.contains("warning: --clock has no effect on an existing world, whose clock is live"), "{warned}");
    assert!(
        warned.contains("--world-date has no effect on an existing world, whose last day is 2020-02-29"),
        "{warned}"
    );
}

#[test]
fn server_whose_port_is_taken_creates_no_world() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, folder) = (taken.local_addr().unwrap().port().to_string(), tempfile::tempdir().unwrap());
    let ran = run_command(folder.path(), &["dev", "--data-dir", "new", "--port", &port]);
    assert!(ran.code == 1 && ran.stderr.contains("choose one with --port"), "{ran:?}");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn server_that_removes_its_data_says_so() {
    let mut server = TestServer::prepare(&["--world", "empty", "--remove-data"]);
    server.restart();
    let banner = server.stdout();
    assert!(banner.contains("removes the data directory") && !banner.contains("Data is kept"), "{banner}");
    server.stop();
    assert!(!server.data_dir().exists());
}

#[test]
fn own_posts_of_a_new_world_are_found_by_recent_search() {
    let server = shared_server();
    let path = "/2/posts/search/recent?query=from:ada%20OR%20from:bob%20OR%20from:zoe&max_results=100";
    let found = server.send(TestRequest::get(path).bearer(server.env_value("BEARER_TOKEN"))).assert_status(200);
    assert!(found["meta"]["result_count"].as_i64() >= Some(10), "{found:?}");
}

#[test]
fn world_date_determines_the_ids_on_any_day() {
    let args = ["--world-date", "2020-02-29"];
    let [one, same] = [0, 1].map(|_| TestServer::start(&args));
    assert_eq!(lasting(&one.env), lasting(&same.env));
    let path = format!("/2/users/{}/posts", one.env_value("USER_ID"));
    let path = format!("{path}?post.fields=created_at");
    let posts = one.send(TestRequest::get(path).bearer(one.env_value("BEARER_TOKEN"))).assert_status(200);
    let newest = posts["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|post| post["created_at"].as_str().is_some_and(|created| created.starts_with("2020-02-2")));
    assert!(newest.is_some(), "{posts:?}");
    for date in ["2013-12-31", "2999-01-01", "yesterday", "2020-02-30"] {
        let ran = run_command(&one.data_dir(), &["dev", "--data-dir", "other", "--world-date", date]);
        assert!(ran.code != 0 && ran.stderr.contains("world"), "{date}: {ran:?}");
    }
}

#[test]
fn an_old_world_says_so_and_a_fresh_start_renews_it() {
    if suite_engine() != DatabaseEngine::Sqlite {
        return;
    }
    let mut server = TestServer::prepare(&[]);
    server.set_variable("LOCUM_CORE__WORLD_DATE", "2020-02-29");
    server.restart();
    let kept = server.new_user("keeper").publish_text("Gone after a fresh start");
    let is_old = |server: &TestServer| server.stdout().contains("recent search reaches back 7 days");
    assert!(is_old(&server), "{}", server.stdout());
    let ca = std::fs::read(server.data_dir().join("ca/ca.pem")).unwrap();
    server.run_cli(&["dev", "--fresh", "--port", "0"]).assert_exit_code(3);
    server.stop();
    let old = server.env_value("API_SECRET").to_owned();
    server.add_argument("--fresh");
    server.set_variable("LOCUM_CORE__WORLD_DATE", "today");
    server.restart();
    assert!(!is_old(&server), "{}", server.stdout());
    assert_eq!(server.env_value("API_SECRET"), old, "the same seed");
    let token = server.env_value("USER_TOKEN").to_owned();
    let gone = server.send(TestRequest::get(format!("/2/posts/{kept}")).bearer(&token)).assert_status(200);
    assert!(gone.get("data").is_none(), "{gone}");
    assert_eq!(std::fs::read(server.data_dir().join("ca/ca.pem")).unwrap(), ca);
}

fn lasting(env: &BTreeMap<String, String>) -> BTreeMap<&String, &String> {
    env.iter().filter(|(name, _)| !PLACES.contains(&name.as_str())).collect()
}

#[test]
fn restart_keeps_keys_and_data() {
    let mut server = TestServer::start(&[]);
    let before = server.env.clone();
    let id = server.new_user("keeper").publish_text("Still here after the restart");
    let (code, _) = server.stop();
    assert_eq!(code, Some(0));
    server.restart();
    assert_eq!(lasting(&server.env), lasting(&before));
    let token = server.env_value("USER_TOKEN").to_owned();
    let read = |server: &TestServer| {
        server.send(TestRequest::get(format!("/2/posts/{id}")).bearer(&token)).assert_status(200)["data"]["text"]
            .clone()
    };
    assert_eq!(read(&server), "Still here after the restart");
    server.crash_and_restart();
    assert_eq!(lasting(&server.env), lasting(&before));
    assert_eq!(read(&server), "Still here after the restart");
}

#[test]
fn demo_world_returns_every_kind_of_post() {
    let server = shared_server();
    let get =
        |path: String| server.send(TestRequest::get(path).bearer(server.env_value("USER_TOKEN"))).assert_status(200);
    let id = server.env_value("USER_ID");
    let fields = "post.fields=referenced_posts,entities,edit_history_post_ids";
    let home = get(format!("/2/users/{id}/timelines/reverse_chronological?{fields}"));
    let posts = home["data"].as_array().unwrap();
    let kinds: Vec<&str> = posts
        .iter()
        .flat_map(|post| post["referenced_posts"].as_array().into_iter().flatten())
        .filter_map(|reference| reference["type"].as_str())
        .collect();
    for kind in ["replied_to", "quoted"] {
        assert!(kinds.contains(&kind), "no post of the home timeline is {kind}");
    }
    for entity in ["urls", "hashtags", "mentions", "cashtags"] {
        assert!(posts.iter().any(|post| post["entities"].get(entity).is_some()), "no {entity}");
    }
    let mentions = get(format!("/2/users/{id}/mentions"));
    assert!(mentions["meta"]["result_count"].as_u64().unwrap() > 0);
}

#[test]
fn demo_world_has_objects_of_every_kind() {
    let server = TestServer::start(&[]);
    let (id, token) = (server.env_value("USER_ID"), server.env_value("USER_TOKEN"));
    let get = |path: &str| server.send(TestRequest::get(path.replace("{id}", id)).bearer(token)).assert_status(200);
    for path in [
        "/2/users/{id}/owned_lists",
        "/2/users/{id}/pinned_lists",
        "/2/users/{id}/followed_lists",
        "/2/users/{id}/list_memberships",
        "/2/users/{id}/bookmarks",
        "/2/users/{id}/bookmarks/folders",
        "/2/users/{id}/liked_posts",
        "/2/dm_events",
        "/2/spaces/search?query=editing&state=live",
        "/2/spaces/search?query=acme&state=scheduled",
        "/2/communities/search?query=crab",
    ] {
        let found = get(path);
        assert!(found["data"].as_array().is_some_and(|data| !data.is_empty()), "{path}: {found}");
    }
    let events = get("/2/dm_events?dm_event.fields=dm_conversation_id");
    let talks: std::collections::BTreeSet<&str> =
        events["data"].as_array().unwrap().iter().filter_map(|event| event["dm_conversation_id"].as_str()).collect();
    assert_eq!(talks.len(), 2, "one of two, one of a group: {events}");
    let user = |name: &str| get(&format!("/2/users/by/username/{name}"))["data"]["id"].as_str().unwrap().to_owned();
    let posts = |name: &str| {
        let requested = "post.fields=geo,attachments,public_metrics&expansions=attachments.poll_ids,\
                     attachments.media_keys,geo.place_id&poll.fields=options,voting_status&\
                     media.fields=alt_text,url&place.fields=full_name";
        get(&format!("/2/users/{}/posts?max_results=100&{requested}", user(name)))
    };
    let zoe = posts("zoe");
    let picture = &zoe["includes"]["media"][0];
    assert!(picture["alt_text"].as_str().unwrap().contains("boat"), "{zoe}");
    let path = picture["url"].as_str().unwrap().replace(&server.url, "");
    let file = server.send(TestRequest::get(path));
    assert_eq!((file.status, file.header("content-type")), (200, "image/png"));
    assert_eq!(zoe["includes"]["places"][0]["full_name"], "Lyon, France");
    let polls = posts("acme")["includes"]["polls"].clone();
    let polls = polls.as_array().unwrap();
    assert!(polls.iter().any(|poll| poll["voting_status"] == "open"), "{polls:?}");
    let hello = get("/2/users/{id}/posts?max_results=100&post.fields=public_metrics");
    let metrics = hello["data"].as_array().unwrap().iter().map(|post| &post["public_metrics"]);
    assert!(metrics.clone().any(|all| all["like_count"] == 5 && all["repost_count"] == 2));

    // Someone waits for the protected account's approval.
    let bob = server
        .send(
            TestRequest::get(format!("/2/users/{}?user.fields=connection_status", user("carol")))
                .bearer(server.env_value("USER_TOKEN_2")),
        )
        .assert_status(200);
    assert_eq!(bob["data"]["connection_status"], serde_json::json!(["follow_request_sent"]), "{bob}");
}

#[test]
fn recent_posts_of_the_demo_world_are_trends_and_news() {
    let server = TestServer::start(&[]);
    server.run_cli(&["news", "refresh"]).assert_success();
    let app =
        |path: &str| server.send(TestRequest::get(path).bearer(server.env_value("BEARER_TOKEN"))).assert_status(200);
    let trends = app("/2/trends/by/woeid/1");
    assert_eq!(trends["data"][0]["trend_name"], "#HarbourFest", "{trends}");
    let news = app("/2/news/search?query=harbourfest");
    assert!(news["meta"]["result_count"].as_i64() >= Some(1), "{news}");
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}

#[test]
fn empty_world_has_no_posts_and_working_keys() {
    let server = TestServer::start(&["--world", "empty"]);
    let id = server.new_user("first").id;
    let token = server.default_app().bearer.clone();
    let posts = server.send(TestRequest::get(format!("/2/users/{id}/posts")).bearer(&token)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 0);
}

#[test]
fn configured_vocabulary_is_used_where_the_request_names_none() {
    let server = TestServer::start(&["--vocabulary", "tweets"]);
    let user = server.new_user("speaker");
    user.publish_text("Which words?");
    let home = format!("/2/users/{}/timelines/reverse_chronological", user.id);
    let first = |path: &str| user.get(path).assert_status(200)["data"][0].clone();
    assert!(first(&home).get("edit_history_tweet_ids").is_some(), "{}", first(&home));
    let requested = first(&format!("{home}?post.fields=created_at"));
    assert!(requested.get("edit_history_post_ids").is_some(), "{requested}");

    let default = shared_server().new_user("speaker");
    default.publish_text("Which words?");
    let home = format!("/2/users/{}/timelines/reverse_chronological", default.id);
    let post = default.get(home).assert_status(200)["data"][0].clone();
    assert!(post.get("edit_history_post_ids").is_some(), "{post}");
}

#[test]
fn development_server_listens_on_loopback_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let args = ["dev", "--listen", "0.0.0.0:0", "--data-dir", data.to_str().unwrap()];
    run_command(folder.path(), &args).assert_exit_code(4);
    assert!(!data.exists(), "something was made");
}

#[test]
fn env_command_prints_shell_variables() {
    let server = shared_server();
    let shell = server.run_cli(&["env", "--shell", "json"]).json();
    assert_eq!(shell["LOCUM_USER_TOKEN"], server.env_value("USER_TOKEN"));
}
