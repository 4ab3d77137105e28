//! Direct messages: sent, read, removed, and kept from everyone else.

mod groups;

use serde_json::{Value, json};

use crate::harness::{
    TestRequest, TestResponse, TestServer, TestUser, percent_encode, person, shared_server, written_text,
};
use crate::media::{at_once, path_of, samples};

fn people<const N: usize>(names: [&str; N]) -> [TestUser<'static>; N] {
    names.map(person)
}

fn to(other: &TestUser<'_>) -> String {
    format!("/2/dm_conversations/with/{}/messages", other.id)
}

fn in_(conversation: &str) -> String {
    format!("/2/dm_conversations/{conversation}/messages")
}

/// Sends a text; the conversation and the event.
#[track_caller]
fn write(from: &TestUser<'_>, path: &str, text: &str) -> (String, String) {
    sent(&from.post(path, &json!({ "text": text })))
}

#[track_caller]
fn sent(response: &TestResponse) -> (String, String) {
    let data = response.assert_status(201)["data"].clone();
    assert_eq!(data.as_object().unwrap().len(), 2, "{data}");
    let text = |name: &str| data[name].as_str().unwrap().to_owned();
    (text("dm_conversation_id"), text("dm_event_id"))
}

/// The ids that a list holds, each page asked for by the token before.
#[track_caller]
fn listed(viewer: &TestUser<'_>, path: &str) -> Vec<String> {
    let body = viewer.get(path).assert_status(200);
    let data = body["data"].as_array().cloned().unwrap_or_default();
    assert_eq!(body["meta"]["result_count"], data.len(), "{body}");
    let ids = data.iter().map(|one| one["id"].as_str().unwrap().to_owned());
    ids.collect()
}

fn pair(one: &TestUser<'_>, other: &TestUser<'_>) -> String {
    let mut ids = [&one.id, &other.id].map(|id| id.parse::<i64>().unwrap());
    ids.sort_unstable();
    format!("{}-{}", ids[0], ids[1])
}

#[track_caller]
fn message(args: &[&str]) -> Value {
    shared_server().run_cli(&[&["message"], args].concat()).json()
}

#[track_caller]
fn refused(args: &[&str], word: &str) {
    let ran = shared_server().run_cli(&[&["message"], args].concat());
    ran.assert_refused();
    assert!(ran.stderr.contains(word), "{word:?}: {ran:?}");
}

#[track_caller]
fn begin(from: &TestUser<'_>, others: &[&TestUser<'_>], text: &str) -> (String, String) {
    let ids: Vec<&str> = others.iter().map(|other| other.id.as_str()).collect();
    sent(&from.post("/2/dm_conversations", &group_of(&ids, text)))
}

fn group_of(ids: &[&str], text: &str) -> Value {
    json!({ "conversation_type": "Group", "participant_ids": ids, "message": { "text": text } })
}

const ALL: &str = "/2/dm_events";

#[test]
fn both_participants_list_the_same_messages() {
    let [ada, bob] = people(["ada", "bob"]);
    let text = "Hello";
    let (conversation, first) = write(&ada, &to(&bob), text);
    assert_eq!(conversation, pair(&ada, &bob));
    let (again, second) = write(&bob, &in_(&conversation), "Thanks");
    assert_eq!(again, conversation);
    for viewer in [&ada, &bob] {
        let other = if viewer.id == ada.id { &bob } else { &ada };
        let newest_first = vec![second.clone(), first.clone()];
        assert_eq!(listed(viewer, ALL), newest_first);
        let by_name = format!("/2/dm_conversations/{conversation}/dm_events");
        assert_eq!(listed(viewer, &by_name), newest_first);
        let with = format!("/2/dm_conversations/with/{}/dm_events", other.id);
        assert_eq!(listed(viewer, &with), newest_first);
    }
    let plain = bob.get(format!("/2/dm_events/{second}")).assert_status(200);
    assert_eq!(plain, json!({ "data": { "id": second, "event_type": "MessageCreate", "text": "Thanks" } }));
}

#[test]
fn message_is_returned_with_its_fields_and_expansions() {
    let [ada, bob] = people(["ada", "bob"]);
    let post = bob.publish_text("Worth a link");
    let text = format!("Look & <see> @{} #tag https://example.org/b/status/{post}", bob.username);
    let (conversation, first) = write(&ada, &to(&bob), &text);
    let fields = "attachments,created_at,dm_conversation_id,entities,event_type,id,\
                  participant_ids,referenced_tweets,sender_id,text";
    let expansions = "sender_id,referenced_tweets.id,participant_ids,attachments.media_keys";
    let whole = bob
        .get(format!("/2/dm_events/{first}?dm_event.fields={fields}&expansions={expansions}&tweet.fields=author_id"));
    let whole = whole.assert_status(200);
    let data = &whole["data"];
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    assert_eq!(written_text(&data["text"], &data["entities"]), escaped);
    let link = data["entities"]["urls"][0]["url"].as_str().unwrap();
    assert_eq!(data["entities"]["urls"][0]["start"], json!(data["text"].as_str().unwrap().find(link)));
    let link = link.strip_prefix(&shared_server().url).unwrap();
    let redirect = shared_server().send(TestRequest::get(link));
    assert_eq!(redirect.header("location"), format!("https://example.org/b/status/{post}"));
    assert_eq!(data["sender_id"], ada.id);
    assert_eq!(data["dm_conversation_id"], conversation);
    assert!(data["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(data["entities"]["hashtags"][0]["tag"], "tag");
    assert_eq!(data["entities"]["mentions"][0]["id"], bob.id);
    assert_eq!(data["referenced_tweets"], json!([{ "id": post }]));
    assert!(data.get("participant_ids").is_none(), "{data}");
    assert!(data.get("attachments").is_none(), "{data}");
    assert_eq!(whole["includes"]["users"][0]["id"], ada.id);
    assert_eq!(whole["includes"]["tweets"][0]["author_id"], bob.id);
    let other = ada.get(format!("/2/dm_events/{first}?dm_event.fields=referenced_posts&expansions=referenced_posts"));
    let other = other.assert_status(200);
    assert_eq!(other["data"]["referenced_posts"], json!([{ "id": post }]));
    assert_eq!(other["includes"]["posts"][0]["id"], post);
    ada.send_signed(TestRequest::get(ALL)).assert_status(200);
}

/// What is not a caller's answers as what was never there, to the letter.
#[test]
fn conversation_of_others_is_indistinguishable_from_an_unknown_one() {
    let [ada, bob, eve, fay] = people(["ada", "bob", "eve", "fay"]);
    let (two, event) = write(&ada, &to(&bob), "For you only");
    let (group, message) = begin(&ada, &[&bob, &fay], "For us only");
    let unknown = "1234567890123456789";
    let nobody = format!("1-{}", ada.id);
    let same = |real: &str, false_: &str, request: &dyn Fn(&str) -> TestRequest| {
        let (real_answer, false_answer) = (eve.send(request(real)), eve.send(request(false_)));
        assert_eq!(real_answer.status, false_answer.status);
        let plain = |response: &TestResponse, id: &str| response.text().replace(id, "ID");
        assert_eq!(plain(&real_answer, real), plain(&false_answer, false_));
        assert!(real_answer.json().get("data").is_none());
    };
    for id in [&event, &message] {
        same(id, unknown, &|id| TestRequest::get(format!("/2/dm_events/{id}")));
        same(id, unknown, &|id| TestRequest::delete(format!("/2/dm_events/{id}")));
    }
    for (real, false_) in [(&two, nobody.as_str()), (&group, unknown)] {
        same(real, false_, &|name| TestRequest::get(format!("/2/dm_conversations/{name}/dm_events")));
        same(real, false_, &|name| TestRequest::post(in_(name)).json(&json!({ "text": "Me too" })));
    }
    eve.post(in_(&two), &json!({ "text": "x" })).assert_problem(404, "resource-not-found");
    eve.delete(format!("/2/dm_events/{event}")).assert_problem(404, "resource-not-found");
    assert!(listed(&eve, ALL).is_empty());
    // Their own with either is empty, not theirs.
    let with = format!("/2/dm_conversations/with/{}/dm_events", ada.id);
    assert!(listed(&eve, &with).is_empty());
    let own = format!("/2/dm_conversations/{}/dm_events", pair(&eve, &ada));
    assert!(listed(&eve, &own).is_empty());
    // The other way round it is no name of it.
    let (low, high) = two.split_once('-').unwrap();
    let turned = ada.get(format!("/2/dm_conversations/{high}-{low}/dm_events"));
    assert_eq!(turned.assert_status(200)["errors"][0]["resource_type"], "dm_conversation");
    let stranger = eve.get("/2/dm_conversations/with/1/dm_events").assert_status(200);
    assert_eq!(stranger["errors"][0]["resource_type"], "user");
    for app_only in [ALL, &format!("/2/dm_events/{event}")] {
        shared_server()
            .send(TestRequest::get(app_only).bearer(&ada.app.bearer))
            .assert_problem(403, "unsupported-authentication");
    }
    let narrow = ada.new_token(&["--scopes", "tweet.read users.read"]);
    shared_server().send(TestRequest::get(ALL).bearer(&narrow)).assert_status(403);
    assert_eq!(listed(&ada, ALL).len(), 3);
}

#[test]
fn profile_setting_decides_who_may_send_messages() {
    let [me, other] = people(["me", "other"]);
    let takes = |of: &TestUser<'_>, by: &TestUser<'_>| {
        let path = format!("/2/users/{}?user.fields=receives_your_dm", of.id);
        by.get(path).assert_status(200)["data"]["receives_your_dm"].clone()
    };
    let attempt = |from: &TestUser<'_>, at: &TestUser<'_>| from.post(to(at), &json!({ "text": "Hi" }));
    let closed = |from: &TestUser<'_>, at: &TestUser<'_>| {
        let response = attempt(from, at);
        response.assert_error(403, "You cannot send messages to this user.");
        response.assert_legacy_code(403, 349);
    };
    let act = |who: &TestUser<'_>, path: String| who.send(TestRequest::post(path)).assert_status(200);
    closed(&me, &me);
    act(&other, format!("/2/users/{}/dm/block", me.id));
    assert_eq!(takes(&other, &me), false);
    closed(&me, &other);
    attempt(&other, &me).assert_status(201);
    act(&other, format!("/2/users/{}/dm/unblock", me.id));
    attempt(&me, &other).assert_status(201);
    message(&["close", &other.id]);
    let [fan] = people(["fan"]);
    assert_eq!(takes(&other, &fan), false);
    closed(&fan, &other);
    assert_eq!(takes(&other, &me), true, "who was written to may answer");
    let own_copy = listed(&me, ALL).pop().unwrap();
    me.delete(format!("/2/dm_events/{own_copy}")).assert_status(200);
    assert_eq!(takes(&other, &me), true, "the sender has the message still");
    attempt(&me, &other).assert_status(201);
    let ids = [fan.id.as_str(), other.id.as_str()];
    me.post("/2/dm_conversations", &group_of(&ids, "Hi")).assert_legacy_code(403, 349);
    other.import_follows(&[&fan]);
    assert_eq!(takes(&other, &fan), true);
    attempt(&fan, &other).assert_status(201);
    message(&["open", &other.id]);
    let block = |who: &TestUser<'_>, whom: &TestUser<'_>| {
        let path = format!("/2/users/{}/blocking", who.id);
        who.post(path, &json!({ "target_user_id": whom.id })).assert_status(200);
    };
    block(&other, &me);
    assert_eq!(takes(&other, &me), false);
    assert_eq!(takes(&me, &other), false);
    closed(&me, &other);
    closed(&other, &me);
    assert_eq!(listed(&other, ALL).len(), 4, "what was sent stays");
    let [third, fourth] = people(["third", "fourth"]);
    // A group takes in nobody who takes no messages; in one, a block keeps a message from reaching.
    let ids = [third.id.as_str(), other.id.as_str()];
    me.post("/2/dm_conversations", &group_of(&ids, "Hi")).assert_legacy_code(403, 349);
    assert!(listed(&third, ALL).is_empty());
    let (group, _) = begin(&me, &[&third, &fourth], "Hi");
    block(&third, &me);
    let (_, unheard) = write(&me, &in_(&group), "Are you there?");
    assert_eq!(listed(&fourth, ALL)[0], unheard);
    assert!(!listed(&third, ALL).contains(&unheard));
    shared_server().run_cli(&["user", "suspend", &fourth.id]).assert_success();
    attempt(&me, &fourth).assert_legacy_code(403, 63);
    me.post("/2/dm_conversations/with/1/messages", &json!({ "text": "x" })).assert_problem(404, "resource-not-found");
}

#[test]
fn message_removed_by_one_participant_stays_for_the_others() {
    let [ada, bob] = people(["ada", "bob"]);
    let (_, first) = write(&ada, &to(&bob), "One");
    let (_, second) = write(&ada, &to(&bob), "Two");
    let target = format!("/2/dm_events/{first}");
    assert_eq!(ada.delete(&target).assert_status(200), json!({ "data": { "deleted": true } }));
    ada.delete(&target).assert_problem(404, "resource-not-found");
    assert!(ada.get(&target).assert_status(200).get("data").is_none());
    assert_eq!(listed(&ada, ALL), std::slice::from_ref(&second));
    assert_eq!(bob.get(&target).assert_status(200)["data"]["text"], "One");
    assert_eq!(listed(&bob, ALL), [second, first]);
    bob.delete(&target).assert_status(200);
    bob.delete(&target).assert_problem(404, "resource-not-found");
}

#[test]
fn message_events_are_paged_both_ways_and_filtered_by_type() {
    let [ada, bob, cid] = people(["ada", "bob", "cid"]);
    let (group, mut first) = begin(&ada, &[&bob, &cid], "0");
    let mut expected = vec![first];
    for number in 1..7 {
        let path = if number % 2 == 0 { in_(&group) } else { to(&bob) };
        first = write(&ada, &path, &number.to_string()).1;
        expected.insert(0, first);
    }
    let kinds = "event_types=MessageCreate";
    assert_eq!(listed(&bob, &format!("{ALL}?{kinds}")), expected);
    let page = |more: &str| bob.get(format!("{ALL}?{kinds}&max_results=3{more}")).assert_status(200);
    let ids = |body: &Value| -> Vec<String> {
        let data = body["data"].as_array().unwrap().iter();
        data.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let token = |body: &Value, name: &str| body["meta"][name].as_str().map(str::to_owned);
    let mut body = page("");
    assert!(token(&body, "previous_token").is_none());
    let mut walked = ids(&body);
    let mut pages = vec![walked.clone()];
    while let Some(next) = token(&body, "next_token") {
        body = page(&format!("&pagination_token={next}"));
        walked.extend(ids(&body));
        pages.push(ids(&body));
    }
    assert_eq!(walked, expected);
    for earlier in pages.iter().rev().skip(1) {
        let back = token(&body, "previous_token").unwrap();
        body = page(&format!("&pagination_token={back}"));
        assert_eq!(&ids(&body), earlier);
    }
    assert!(token(&body, "previous_token").is_none());
    // A token goes with its caller, its list and its filter.
    let next = token(&page(""), "next_token").unwrap();
    let foreign = format!("?{kinds}&max_results=3&pagination_token={next}");
    ada.get(format!("{ALL}{foreign}")).assert_problem(400, "invalid-request");
    bob.get(format!("/2/dm_conversations/{group}/dm_events{foreign}")).assert_problem(400, "invalid-request");
    bob.get(format!("{ALL}?pagination_token={next}")).assert_problem(400, "invalid-request");
}

#[test]
fn media_of_a_message_is_served_to_its_participants_only() {
    let [ada, bob, eve] = people(["ada", "bob", "eve"]);
    let file = samples::png(40, 30);
    let created = at_once(&ada, "dm_image", &file).assert_status(200)["data"].clone();
    let (id, key) = (created["id"].as_str().unwrap(), created["media_key"].as_str().unwrap());
    let attached = json!({ "attachments": [{ "media_id": id }] });
    bob.post(to(&ada), &attached).assert_error(400, "Your media IDs are invalid.");
    let own = ada.get(format!("/2/media/{key}?media.fields=url")).assert_status(200);
    let public = path_of(&own["data"]["url"]);
    let (_, event) = sent(&ada.post(to(&bob), &attached));
    let shown = bob.get(format!(
        "/2/dm_events/{event}?dm_event.fields=attachments&expansions=attachments.media_keys\
         &media.fields=url,width"
    ));
    let shown = shown.assert_status(200);
    assert_eq!(shown["data"]["attachments"]["media_keys"], json!([key]));
    assert_eq!(shown["data"]["text"], "");
    let media = &shown["includes"]["media"][0];
    assert_eq!(media["width"], 40);
    let path = path_of(&media["url"]);
    assert!(path.starts_with(&format!("/2/dm_conversations/media/{event}/{id}/")), "{path}");
    let own = ada.get(format!("/2/media/{key}?media.fields=url")).assert_status(200);
    assert_eq!(path_of(&own["data"]["url"]), path);
    for reader in [&ada, &bob] {
        let response = reader.get(&*path);
        assert_eq!((response.status, &response.body), (200, &file));
        assert_eq!(response.header("cache-control"), "private, max-age=3600");
    }
    eve.get(&*path).assert_problem(404, "resource-not-found");
    shared_server().send(TestRequest::get(&*path)).assert_status(401);
    assert_eq!(shared_server().send(TestRequest::get(&*public)).status, 404);
    let hidden = eve.get(format!("/2/media/{key}")).assert_status(200);
    assert!(hidden.get("data").is_none(), "{hidden}");
    bob.get(format!("/2/dm_conversations/media/{event}/1/x.png")).assert_problem(404, "resource-not-found");
    ada.delete(format!("/2/dm_events/{event}")).assert_status(200);
    ada.get(&*path).assert_problem(404, "resource-not-found");
    assert_eq!(bob.get(&*path).status, 200, "the other keeps it");
    bob.delete(format!("/2/dm_events/{event}")).assert_status(200);
    assert_eq!(shared_server().send(TestRequest::get(&*public)).status, 404, "until its file is deleted");
    let gone = ada.get(format!("/2/media/{key}")).assert_status(200);
    assert!(gone.get("data").is_none(), "{gone}");
}

#[test]
fn media_of_a_message_is_public_once_it_is_posted() {
    let [ada, bob] = people(["ada", "bob"]);
    let created = at_once(&ada, "dm_image", &samples::png(40, 30)).assert_status(200)["data"].clone();
    let (id, key) = (created["id"].as_str().unwrap(), created["media_key"].as_str().unwrap());
    let own = ada.get(format!("/2/media/{key}?media.fields=url")).assert_status(200);
    let public = path_of(&own["data"]["url"]);
    sent(&ada.post(to(&bob), &json!({ "attachments": [{ "media_id": id }] })));
    assert_eq!(shared_server().send(TestRequest::get(&*public)).status, 404);
    let post = json!({ "text": "Now for all", "media": { "media_ids": [id] } });
    ada.create_post(&post).assert_status(201);
    assert_eq!(shared_server().send(TestRequest::get(&*public)).status, 200);
}

#[test]
fn invalid_message_is_refused_and_not_stored() {
    let [ada, bob, cid] = people(["ada", "bob", "cid"]);
    let long = "ä".repeat(10_000);
    let (conversation, event) = write(&ada, &to(&bob), &long);
    let stored = bob.get(format!("/2/dm_events/{event}")).assert_status(200);
    assert_eq!(stored["data"]["text"], long);
    let over = ada.post(to(&bob), &json!({ "text": format!("{long}x") }));
    over.assert_error(403, "The text of your direct message is over the max character limit.");
    over.assert_legacy_code(403, 354);
    let two_media = json!({ "attachments": [{ "media_id": "1" }, { "media_id": "2" }] });
    for body in [
        json!({}),
        json!({ "text": "" }),
        json!({ "text": " \n" }),
        json!({ "text": 1 }),
        json!({ "text": null }),
        json!({ "text": "x", "media_id": "1" }),
        json!({ "text": "x", "attachments": {} }),
        json!({ "text": "x", "attachments": [] }),
        json!({ "text": "x", "attachments": [{}] }),
        json!({ "text": "x", "attachments": [{ "media_id": "x" }] }),
        json!({ "text": "x", "attachments": [{ "media_id": "1" }] }),
        two_media,
        json!([]),
        json!("x"),
    ] {
        for path in [to(&bob), in_(&conversation)] {
            ada.post(path, &body).assert_problem(400, "invalid-request");
        }
        let group = json!({ "conversation_type": "Group",
                            "participant_ids": [bob.id, cid.id], "message": body });
        ada.post("/2/dm_conversations", &group).assert_problem(400, "invalid-request");
    }
}

#[test]
fn invalid_request_for_messages_is_refused() {
    let [ada, bob, cid] = people(["ada", "bob", "cid"]);
    let (_, event) = write(&ada, &to(&bob), "Hi");
    for path in [
        "/2/dm_events/x".to_owned(),
        "/2/dm_events/9223372036854775808".to_owned(),
        format!("{ALL}?max_results=0"),
        format!("{ALL}?max_results=101"),
        format!("{ALL}?event_types=Message"),
        format!("{ALL}?event_types="),
        format!("{ALL}?dm_event.fields=x"),
        format!("{ALL}?expansions=author_id"),
        format!("{ALL}?pagination_token={}", percent_encode("0123456789abcdef")),
        format!("{ALL}?unknown=1"),
        "/2/dm_conversations/12/dm_events".to_owned(),
        "/2/dm_conversations/a-b/dm_events".to_owned(),
        "/2/dm_conversations/with/x/dm_events".to_owned(),
    ] {
        ada.get(path).assert_problem(400, "invalid-request");
    }
    assert_eq!(listed(&bob, ALL), [event]);
    assert!(listed(&cid, ALL).is_empty());
}

#[test]
fn read_position_and_typing_are_recorded_for_participants() {
    let [ada, bob, eve] = people(["ada", "bob", "eve"]);
    let (conversation, first) = write(&ada, &to(&bob), "One");
    let (_, second) = write(&ada, &to(&bob), "Two");
    let read = |more: &[&str]| message(&[&["read", &conversation, bob.id.as_str()], more].concat());
    let said = |id: &str, changed: bool| json!({ "last_read_event_id": id, "changed": changed });
    assert_eq!(read(&["--event", &first]), said(&first, true));
    assert_eq!(read(&[]), said(&second, true));
    assert_eq!(read(&[]), said(&second, false));
    assert_eq!(read(&["--event", &first]), said(&first, false));
    let shown = message(&["show", &conversation]);
    let of = |id: &str| {
        let all = shown["participants"].as_array().unwrap();
        all.iter().find(|one| one["user_id"] == id).unwrap()["last_read_event_id"].clone()
    };
    assert_eq!(of(&bob.id), second);
    assert_eq!(of(&ada.id), Value::Null);
    assert_eq!(message(&["typing", &conversation, &bob.id])["typing"], true);
    refused(&["typing", &conversation, &eve.id], "no dm conversation");
    refused(&["read", &conversation, &eve.id], "no dm conversation");
    refused(&["read", &conversation, &bob.id, "--event", "12"], "no dm event");
    refused(&["typing", "1-2", &bob.id], "no conversation matches");
    message(&["close", &bob.id]);
    refused(&["typing", &conversation, &ada.id], "cannot send messages");
}

#[test]
fn message_events_older_than_thirty_days_are_not_listed() {
    let mut server = TestServer::start(&[]);
    let (old, conversation, recent, token);
    {
        let (one, other) = (server.new_user("ada"), server.new_user("bob"));
        old = write(&one, &to(&other), "Old canary").1;
        recent = write(&one, &to(&other), "New").1;
        conversation = pair(&one, &other);
        token = one.token.clone();
    }
    assert!(!server.stderr().contains("canary") && !server.stdout().contains("canary"));
    server.stop();
    let id: i64 = old.parse().unwrap();
    let back = |days: i64| id - ((days * 24 * 3600 * 1000 + 5_000) << 22);
    let earlier = back(30);
    server.run_sql(&format!(
        "UPDATE dm_event SET id = {earlier} WHERE id = {id}; \
         UPDATE dm_inbox SET event_id = {earlier} WHERE event_id = {id};"
    ));
    server.restart();
    let get = |path: String| server.send(TestRequest::get(path).bearer(&token)).assert_status(200);
    let all = get(ALL.to_owned());
    assert_eq!(all["meta"]["result_count"], 1);
    assert_eq!(all["data"][0]["id"], recent);
    let one = get(format!("/2/dm_conversations/{conversation}/dm_events"));
    assert_eq!(one["meta"]["result_count"], 2);
    assert_eq!(one["data"][1]["id"], earlier.to_string());
    assert_eq!(get(format!("/2/dm_events/{earlier}"))["data"]["text"], "Old canary");
    assert_eq!(server.run_cli(&["fsck"]).json()["sound"], true);
}
