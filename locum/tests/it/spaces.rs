//! Spaces: made and led from the platform's side, read through the interface.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, TestUser, person, shared_server};

/// Does something to a space from the platform's side.
#[track_caller]
fn space(args: &[&str]) -> Value {
    shared_server().run_cli(&[&["space"], args].concat()).json()
}

#[track_caller]
fn refused(args: &[&str], word: &str) {
    let ran = shared_server().run_cli(&[&["space"], args].concat());
    ran.assert_refused();
    assert!(ran.stderr.contains(word), "{word:?}: {ran:?}");
}

/// Makes a space; its id.
#[track_caller]
fn made(creator: &TestUser<'_>, more: &[&str]) -> String {
    let args = [&["create", creator.id.as_str()], more].concat();
    space(&args)["id"].as_str().unwrap().to_owned()
}

const FIELDS: &str = "created_at,creator_id,ended_at,host_ids,id,invited_user_ids,is_ticketed,lang,\
                      participant_count,scheduled_start,speaker_ids,started_at,state,\
                      subscriber_count,title,topic_ids,updated_at";

#[track_caller]
fn seen(viewer: &TestUser<'_>, id: &str) -> Value {
    let body = viewer.get(format!("/2/spaces/{id}?space.fields={FIELDS}"));
    body.assert_status(200)["data"].clone()
}

fn ids(body: &Value) -> Vec<String> {
    let data = body["data"].as_array().cloned().unwrap_or_default();
    data.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn is_missing(response: &TestResponse, parameter: &str, id: &str) {
    let body = response.assert_status(200);
    let error = &body["errors"][0];
    assert_eq!(error["detail"], format!("Could not find space with {parameter}: [{id}]."), "{body}");
    assert_eq!(error["resource_type"], "space");
}

/// A scheduled space: its host, the second host, a guest who is invited, and its id.
fn scheduled_space() -> ([TestUser<'static>; 3], String) {
    let [host, second, guest] = ["host", "second", "guest"].map(person);
    let options = [
        "--title",
        "About the weather",
        "--start",
        "2h",
        "--lang",
        "en",
        "--host",
        &second.id,
        "--invite",
        &guest.id,
        "--topic",
        "Weather",
        "--topic",
        "Science",
    ];
    let id = made(&host, &options);
    ([host, second, guest], id)
}

#[test]
fn scheduled_space_is_returned_with_its_fields() {
    let ([host, second, guest], id) = scheduled_space();
    let reader = person("reader");
    assert!((1..=13).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let body = reader.get(format!("/2/spaces/{id}")).assert_status(200);
    assert_eq!(body, json!({ "data": { "id": id, "state": "scheduled" } }));
    let data = seen(&reader, &id);
    assert_eq!(data["title"], "About the weather");
    assert_eq!((&data["lang"], &data["is_ticketed"]), (&json!("en"), &json!(false)));
    assert_eq!(data["creator_id"], host.id);
    assert_eq!(data["host_ids"], json!([host.id, second.id]));
    assert_eq!(data["invited_user_ids"], json!([guest.id]));
    assert_eq!(data["topic_ids"].as_array().unwrap().len(), 2);
    assert_eq!((&data["participant_count"], &data["subscriber_count"]), (&json!(0), &json!(0)));
    assert!(data.get("started_at").is_none() && data.get("speaker_ids").is_none(), "{data}");
    for changed in [true, false] {
        assert_eq!(space(&["subscribe", &id, &reader.id])["changed"], changed);
    }
    assert_eq!(seen(&reader, &id)["subscriber_count"], 1);
    refused(&["join", &id, &reader.id], "is scheduled");
    refused(&["close", &id], "is scheduled");
}

#[test]
fn open_space_lists_its_speakers_and_counts_its_participants() {
    let ([host, _, guest], id) = scheduled_space();
    let reader = person("reader");
    space(&["open", &id]);
    refused(&["open", &id], "is live");
    refused(&["cancel", &id], "is live");
    space(&["join", &id, &reader.id]);
    space(&["speak", &id, &guest.id]);
    let data = seen(&reader, &id);
    assert_eq!(data["state"], "live");
    assert_eq!(data["speaker_ids"], json!([guest.id]));
    assert_eq!(data["participant_count"], 4, "hosts are counted");
    assert!(data["started_at"].as_str().unwrap() >= data["created_at"].as_str().unwrap());
    space(&["leave", &id, &reader.id]);
    refused(&["leave", &id, &host.id], "creator");
    assert_eq!(seen(&reader, &id)["participant_count"], 3);
    let speakers: Vec<_> = (0..10).map(|_| person("speaker")).collect();
    for speaker in &speakers[..9] {
        space(&["speak", &id, &speaker.id]);
    }
    refused(&["speak", &id, &speakers[9].id], "at most 10 speakers");
    space(&["leave", &id, &speakers[0].id]);
    space(&["speak", &id, &speakers[9].id]);
    for speaker in &speakers[1..] {
        space(&["leave", &id, &speaker.id]);
    }
    let spoken = seen(&reader, &id)["speaker_ids"].as_array().unwrap().len();
    assert_eq!(spoken, 11, "those who have left stay listed");
    let expanded = reader.get(format!(
        "/2/spaces/{id}?expansions=creator_id,host_ids,invited_user_ids,speaker_ids,topic_ids\
         &user.fields=verified&topic.fields=id,name,description"
    ));
    let expanded = expanded.assert_status(200);
    assert_eq!(expanded["data"]["speaker_ids"][0], json!(guest.id));
    let users = expanded["includes"]["users"].as_array().unwrap();
    assert_eq!(users.len(), 13, "each once");
    assert_eq!(expanded["includes"]["topics"][0]["name"], "Weather");
}

#[test]
fn closed_space_keeps_its_participants_and_admits_no_more() {
    let ([_, _, guest], id) = scheduled_space();
    let reader = person("reader");
    space(&["open", &id]);
    space(&["speak", &id, &guest.id]);
    space(&["close", &id]);
    let data = seen(&reader, &id);
    assert_eq!(data["state"], "ended");
    assert!(data["ended_at"].is_string());
    assert_eq!(data["participant_count"], 3);
    refused(&["join", &id, &reader.id], "is ended");
    refused(&["open", &id], "is ended");
}

#[test]
fn cancelled_space_is_not_found() {
    let (host, reader) = (person("host"), person("reader"));
    let id = made(&host, &["--title", "Never mind", "--start", "1d"]);
    let other = made(&host, &["--start", "14d"]);
    space(&["cancel", &id]);
    is_missing(&reader.get(format!("/2/spaces/{id}")), "id", &id);
    is_missing(&reader.get(format!("/2/spaces/{id}/posts")), "id", &id);
    let both = reader.get(format!("/2/spaces?ids={id},{other},zzz,0abc,{other},{id}"));
    is_missing(&both, "ids", &id);
    let body = both.assert_status(200);
    assert_eq!(ids(&body), [other.as_str()]);
    assert_eq!(body["errors"].as_array().unwrap().len(), 3, "each once");
    let by = reader.get(format!("/2/spaces/by/creator_ids?user_ids={}", host.id));
    assert_eq!(ids(&by.assert_status(200)), [other.as_str()]);
    refused(&["open", &id], "is canceled");
    // Neither is one whose creator is not.
    shared_server().run_cli(&["user", "suspend", &host.id]).assert_success();
    is_missing(&reader.get(format!("/2/spaces/{other}")), "id", &other);
    shared_server().run_cli(&["user", "restore", &host.id]).assert_success();
    assert_eq!(seen(&reader, &other)["state"], "scheduled");
}

#[test]
fn spaces_are_found_by_creator_and_title() {
    let [host, other, reader] = ["host", "other", "reader"].map(person);
    // Words that no other test's titles have.
    let word = format!("Zq{}", host.id);
    let live = made(&host, &["--title", &format!("{word} Tea, coffee & ÄPFEL")]);
    let later = made(&other, &["--title", &format!("tea {word}"), "--start", "1h"]);
    let over = made(&other, &["--title", &format!("tea {word}")]);
    space(&["close", &over]);
    let find = |query: &str, more: &str| {
        let query = crate::harness::percent_encode(query);
        ids(&reader.get(format!("/2/spaces/search?query={query}{more}")).assert_status(200))
    };
    let lower = word.to_lowercase();
    assert_eq!(find(&lower, ""), [later.as_str(), &live]);
    assert_eq!(find(&format!("TEA {word}"), "&state=all"), [later.as_str(), &live]);
    assert_eq!(find(&format!("äpfel {lower}"), ""), [live.as_str()]);
    assert_eq!(find(&word, "&state=live"), [live.as_str()]);
    assert_eq!(find(&word, "&state=scheduled"), [later.as_str()]);
    assert_eq!(find(&word, "&max_results=1"), [later.as_str()]);
    assert!(find(&format!("{word} milk"), "").is_empty());
    assert!(find("...", "").is_empty());
    let body = reader
        .get(format!("/2/spaces/search?query={lower}&space.fields=title&expansions=creator_id"))
        .assert_status(200);
    assert_eq!(body["meta"], json!({ "result_count": 2 }));
    assert_eq!(body["includes"]["users"].as_array().unwrap().len(), 2);
    space(&["open", &later]);
    assert_eq!(find(&word, "&state=live"), [later.as_str(), &live]);
    let by = format!("/2/spaces/by/creator_ids?user_ids={},17,{}", host.id, other.id);
    let by = reader.get(by).assert_status(200);
    assert_eq!(ids(&by), [later.as_str(), &live]);
    assert_eq!(by["meta"]["result_count"], 2);
    space(&["close", &live]);
    assert!(!find(&word, "").contains(&live));
}

#[test]
fn buyers_of_tickets_are_shown_to_the_creator_only() {
    let [host, buyer, other] = ["host", "buyer", "other"].map(person);
    let id = made(&host, &["--ticketed", "--start", "1h"]);
    let free = made(&host, &["--start", "1h"]);
    for changed in [true, false] {
        assert_eq!(space(&["buy", &id, &buyer.id])["changed"], changed);
    }
    space(&["buy", &id, &other.id]);
    refused(&["buy", &free, &buyer.id], "takes no tickets");
    let path = format!("/2/spaces/{id}/buyers?max_results=1");
    let first = host.get(path.as_str()).assert_status(200);
    assert_eq!(ids(&first), [other.id.as_str()]);
    let next = first["meta"]["next_token"].as_str().unwrap();
    let second = host.get(format!("{path}&pagination_token={next}")).assert_status(200);
    assert_eq!(ids(&second), [buyer.id.as_str()]);
    assert!(second["meta"].get("next_token").is_none());
    buyer.get(path.as_str()).assert_problem(403, "about:blank");
    buyer.get(format!("/2/spaces/{free}/buyers")).assert_problem(403, "about:blank");
    host.get(format!("/2/spaces/{free}/buyers")).assert_problem(400, "invalid-request");
    is_missing(&host.get("/2/spaces/zzz/buyers"), "id", "zzz");
    let app = TestRequest::get(path.as_str()).bearer(&host.app.bearer);
    shared_server().send(app).assert_problem(403, "unsupported-authentication");
    assert_eq!(seen(&other, &id)["is_ticketed"], true);
    space(&["open", &id]);
    space(&["join", &id, &buyer.id]);
    let stranger = person("stranger");
    refused(&["join", &id, &stranger.id], "takes a ticket");
    refused(&["speak", &id, &stranger.id], "takes a ticket");
}

#[test]
fn posts_shared_in_a_space_are_listed() {
    let [host, guest, reader] = ["host", "guest", "reader"].map(person);
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let id = made(&host, &["--title", "Sharing"]);
    let (first, second) = (guest.publish_text("First"), guest.publish_text("Second"));
    let hidden = shy.publish_text("Hidden");
    refused(&["share", &id, &guest.id, &first], "is not in space");
    space(&["join", &id, &guest.id]);
    space(&["share", &id, &guest.id, &second]);
    for changed in [true, false] {
        assert_eq!(space(&["share", &id, &host.id, &first])["changed"], changed);
    }
    refused(&["share", &id, &guest.id, &hidden], "no post");
    refused(&["share", &id, &guest.id, "17"], "no post");
    let path = format!("/2/spaces/{id}/posts");
    let body = reader.get(format!("{path}?expansions=author_id")).assert_status(200);
    assert_eq!(ids(&body), [first.as_str(), &second], "latest share first");
    assert_eq!(body["includes"]["users"].as_array().unwrap().len(), 1);
    let page = reader.get(format!("/2/spaces/{id}/tweets?max_results=1")).assert_status(200);
    assert!(page["data"][0]["edit_history_tweet_ids"].is_array());
    let next = page["meta"]["next_token"].as_str().unwrap();
    let page = reader.get(format!("{path}?max_results=1&pagination_token={next}"));
    assert_eq!(ids(&page.assert_status(200)), [second.as_str()]);
    guest.delete(format!("/2/posts/{second}")).assert_status(200);
    space(&["close", &id]);
    assert_eq!(ids(&reader.get(path).assert_status(200)), [first.as_str()]);
    refused(&["share", &id, &host.id, &first], "is ended");
}

#[test]
fn space_limits_are_enforced() {
    let host = person("host");
    for start in ["14d1h", "15d", "0s", "yesterday", "2001-01-01T00:00:00Z"] {
        let ran = shared_server().run_cli(&["space", "create", &host.id, "--start", start]);
        assert_eq!(ran.code, 2, "{start}: {ran:?}");
    }
    refused(&["create", &host.id, "--title", &"t".repeat(141)], "140");
    refused(&["create", &host.id, "--lang", "x!"], "language");
    refused(&["create", "17"], "no user");
    refused(&["show", "zzz"], "no space");
    let (one, two, three) = (person("one"), person("two"), person("three"));
    let three_more = [&one.id, &two.id, &three.id].map(|id| ["--host", id]);
    let args = [&["create", host.id.as_str()], three_more.as_flattened()].concat();
    refused(&args, "at most 2 hosts");
    let reader = person("reader");
    let by = format!("/2/spaces/by/creator_ids?user_ids={}", host.id);
    assert!(ids(&reader.get(by).assert_status(200)).is_empty(), "nothing partial is stored");
    let id = made(&host, &["--title", "Full"]);
    for number in 0..10 {
        let speaker = person(&format!("speaker{number}"));
        space(&["speak", &id, &speaker.id]);
    }
    refused(&["speak", &id, &reader.id], "at most 10 speakers");
    let data = seen(&reader, &id);
    assert_eq!(data["speaker_ids"].as_array().unwrap().len(), 10);
    assert_eq!(data["participant_count"], 11, "who may not speak did not come in either");
    assert_eq!(space(&["speak", &id, &host.id])["changed"], false);
}

#[test]
fn invalid_space_request_is_refused() {
    let reader = person("reader");
    for path in [
        "/2/spaces/not-an-id",
        "/2/spaces/12345678901234",
        "/2/spaces",
        "/2/spaces?ids=a,b-c",
        "/2/spaces/by/creator_ids",
        "/2/spaces/by/creator_ids?user_ids=x",
        "/2/spaces/search",
        "/2/spaces/search?query=",
        "/2/spaces/search?query=a&state=ended",
        "/2/spaces/search?query=a&max_results=101",
        "/2/spaces/1?space.fields=age",
        "/2/spaces/1?expansions=owner_id",
    ] {
        reader.get(path).assert_problem(400, "invalid-request");
    }
    is_missing(&reader.get("/2/spaces/1"), "id", "1");
    // Without the scope nothing is told.
    let token = reader.new_token(&["--scopes", "tweet.read,users.read"]);
    shared_server().send(TestRequest::get("/2/spaces/1").bearer(&token)).assert_status(403);
    let signed = reader.send_signed(TestRequest::get("/2/spaces/1"));
    signed.assert_problem(403, "unsupported-authentication");
    let app = TestRequest::get("/2/spaces/1").bearer(&reader.app.bearer);
    shared_server().send(app).assert_status(200);
}
