//! Communities: found, joined, posted to, and who sees what is posted there.

use serde_json::{Value, json};

use crate::harness::{TestUser, percent_encode, person, shared_server, unique_number};
use crate::media::{at_once, multipart, samples};

/// Makes a community; its id.
#[track_caller]
fn community(owner: &TestUser<'_>, name: &str, more: &[&str]) -> String {
    let make = ["community", "create", name, "--owner", &owner.id];
    let created = shared_server().run_cli(&[&make[..], more].concat()).json();
    created["id"].as_str().unwrap().to_owned()
}

fn join(community: &str, user: &TestUser<'_>) {
    shared_server().run_cli(&["community", "join", community, &user.id]).assert_success();
}

fn to(community: &str, text: &str) -> Value {
    json!({ "text": text, "community_id": community })
}

fn texts(page: &Value) -> Vec<&str> {
    let posts = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    posts.iter().map(|post| post["text"].as_str().unwrap()).collect()
}

const NOT_ALLOWED: &str = "You are not allowed to post to this community";

#[test]
fn members_post_and_followers_see_shared_posts() {
    let server = shared_server();
    let [owner, member, follower] = ["owner", "member", "follower"].map(person);
    let id = community(&owner, "Gardeners", &[]);
    follower.import_follows(&[&member]);
    member.create_post(&to(&id, "Too early")).assert_error(403, NOT_ALLOWED);
    member.create_post(&to("1", "Nowhere")).assert_error(403, NOT_ALLOWED);
    join(&id, &member);
    let inside = member.create_post(&to(&id, "Inside")).assert_status(201);
    let inside = inside["data"]["id"].as_str().unwrap();
    let mut shared_one = to(&id, "Shared");
    shared_one["share_with_followers"] = json!(true);
    member.create_post(&shared_one).assert_status(201);
    assert_eq!(follower.fetch_post(inside, "community_id")["community_id"], id);
    let home = |reader: &TestUser<'_>| {
        let path = format!("/2/users/{}/timelines/reverse_chronological", reader.id);
        reader.get(path).assert_status(200)
    };
    assert_eq!(texts(&home(&follower)), ["Shared"]);
    assert_eq!(texts(&home(&member)), ["Shared", "Inside"]);
    let path = format!("/2/users/{}/posts", member.id);
    assert_eq!(texts(&follower.get(path).assert_status(200)), ["Shared", "Inside"]);
    assert_eq!(member.fetch_post(inside, "edit_controls")["edit_controls"]["is_edit_eligible"], false);
    let alone = json!({ "text": "x", "share_with_followers": true });
    member.create_post(&alone).assert_problem(400, "invalid-request");
    server.run_cli(&["community", "leave", &id, &member.id]).assert_success();
    member.create_post(&to(&id, "Too late")).assert_error(403, NOT_ALLOWED);
    server.run_cli(&["community", "leave", &id, &owner.id]).assert_exit_code(1);
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn community_is_returned_with_its_fields() {
    let (owner, reader) = (person("owner"), person("reader"));
    let more = ["--description", "All about soil", "--join-policy", "RestrictedJoinRequestsDisabled"];
    let id = community(&owner, "Soil", &more);
    let plain = reader.get(format!("/2/communities/{id}")).assert_status(200);
    assert_eq!(plain, json!({ "data": { "id": id, "name": "Soil" } }));
    let refused = shared_server().run_cli(&["community", "join", &id, &reader.id]);
    assert!(refused.assert_exit_code(1).stderr.contains("approved"), "{refused:?}");
    shared_server().run_cli(&["community", "join", &id, &reader.id, "--approved"]).assert_success();
    join_twice(&id, &reader);
    let fields = "access,created_at,description,join_policy,member_count";
    let path = format!("/2/communities/{id}?community.fields={fields}");
    let read = reader.get(path).assert_status(200)["data"].clone();
    assert_eq!(read["access"], "Public");
    assert_eq!(read["description"], "All about soil");
    assert_eq!(read["join_policy"], "RestrictedJoinRequestsDisabled");
    assert_eq!(read["member_count"], 2);
    assert!(read["created_at"].as_str().unwrap().ends_with('Z'));
    let deleted = reader.get("/2/communities/1").assert_status(200);
    assert!(deleted.get("data").is_none());
    assert_eq!(deleted["errors"][0]["detail"], "Could not find community with id: [1].");
    reader.get("/2/communities/x").assert_problem(400, "invalid-request");
    reader.get(format!("/2/communities/{id}?community.fields=owner")).assert_problem(400, "invalid-request");
    for wrong in [["--access", "Secret"], ["--join-policy", "Nobody"]] {
        let make = ["community", "create", "Wrong", "--owner", &owner.id];
        shared_server().run_cli(&[&make[..], &wrong[..]].concat()).assert_refused();
    }
    let make = ["community", "create", " ", "--owner", &owner.id];
    shared_server().run_cli(&make).assert_refused();
}

/// The second time changes nothing.
fn join_twice(id: &str, user: &TestUser<'_>) {
    let join = ["community", "join", id, &user.id, "--approved"];
    assert_eq!(shared_server().run_cli(&join).json()["members"], 2);
}

#[test]
fn community_search_is_paged() {
    let (owner, reader) = (person("owner"), person("reader"));
    // A word that no other test has.
    let word = format!("Zumba{}", unique_number());
    let mut created: Vec<String> =
        (0..12).map(|number| community(&owner, &format!("{word} number {number}"), &[])).collect();
    created.reverse();
    let ids = |page: &Value| -> Vec<String> {
        let found = page["data"].as_array().cloned().unwrap_or_default();
        let ids = found.iter().map(|one| one["id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let path = format!("/2/communities/search?query={}", word.to_lowercase());
    let first = reader.get(&path).assert_status(200);
    assert_eq!(ids(&first), created[..10]);
    let token = first["meta"]["next_token"].as_str().unwrap();
    for name in ["next_token", "pagination_token"] {
        let second = reader.get(format!("{path}&{name}={token}")).assert_status(200);
        assert_eq!(ids(&second), created[10..]);
        assert!(second.get("meta").is_none(), "{second}");
    }
    let whole = reader.get(format!("{path}&max_results=100")).assert_status(200);
    assert_eq!(ids(&whole).len(), 12);
    let one = format!("{} 7", &word[..word.len() - 1]);
    let one = reader.get(format!("/2/communities/search?query={}", percent_encode(&one))).assert_status(200);
    assert_eq!(ids(&one), [created[4].clone()], "beginnings of words, all of them");
    let nothing = reader.get("/2/communities/search?query=%2B%2B").assert_status(200);
    assert_eq!(nothing, json!({}));
    for wrong in ["", "?query=", "?query=x&max_results=9", "?query=x&max_results=101", "?query=x&next_token=nonsense"] {
        reader.get(format!("/2/communities/search{wrong}")).assert_problem(400, "invalid-request");
    }
}

#[test]
fn post_in_a_closed_community_is_visible_to_members_only() {
    let [owner, member, stranger] = ["owner", "member", "stranger"].map(person);
    let id = community(&owner, "Behind doors", &["--access", "Closed"]);
    join(&id, &member);
    let message = owner.create_post(&to(&id, "Between us")).assert_status(201)["data"]["id"].clone();
    let message = message.as_str().unwrap();
    assert_eq!(member.fetch_post(message, "text")["text"], "Between us");
    let hidden = |id: &str| {
        let read = stranger.get(format!("/2/posts/{id}")).assert_status(200);
        assert!(read.get("data").is_none(), "{read}");
        assert_eq!(read["errors"][0]["title"], "Authorization Error");
    };
    hidden(message);
    let reply = json!({ "text": "Indeed", "reply": { "in_reply_to_post_id": message } });
    stranger.create_post(&reply).assert_legacy_code(403, 385);
    let reply = member.create_post(&reply).assert_status(201)["data"]["id"].clone();
    hidden(reply.as_str().unwrap());
    let open = community(&member, "For all", &[]);
    let moved = json!({ "text": "Elsewhere", "community_id": open, "reply": { "in_reply_to_post_id": message } });
    let moved = member.create_post(&moved).assert_status(201)["data"]["id"].clone();
    hidden(moved.as_str().unwrap());
    let quote = member.create_post(&json!({ "text": "Quoted", "quote_tweet_id": message })).assert_status(201);
    let quote = quote["data"]["id"].as_str().unwrap();
    let quotes = format!("/2/posts/{message}/quote_posts");
    assert_eq!(texts(&member.get(&quotes).assert_status(200)), ["Quoted"]);
    assert!(stranger.get(&quotes).assert_status(200).get("data").is_none());
    let read = stranger.get(format!("/2/posts/{quote}?expansions=referenced_posts")).assert_status(200);
    assert!(read.get("includes").is_none(), "{read}");
    assert_eq!(read["errors"][0]["section"], "includes");
    let timeline = stranger.get(format!("/2/users/{}/posts", owner.id)).assert_status(200);
    assert_eq!(texts(&timeline), [""; 0]);
    let app =
        crate::harness::TestRequest::get(format!("/2/posts/{message}")).bearer(&shared_server().default_app().bearer);
    assert!(shared_server().send(app).assert_status(200).get("data").is_none());
}

#[test]
fn media_of_a_post_in_a_closed_community_are_looked_up_by_members_only() {
    let [owner, member, stranger] = ["owner", "member", "stranger"].map(person);
    let id = community(&owner, "Behind doors", &["--access", "Closed"]);
    join(&id, &member);
    let uploaded = at_once(&owner, "tweet_image", &samples::png(60, 40)).assert_status(200);
    let media = uploaded["data"]["id"].as_str().unwrap();
    let post = |mut post: Value| {
        post["media"] = json!({ "media_ids": [media] });
        owner.create_post(&post).assert_status(201);
    };
    let found = |user: &TestUser<'_>| {
        let read = user.get(format!("/2/media?media_keys=3_{media}&media.fields=url")).assert_status(200);
        (read.get("data").is_some(), read["errors"][0]["title"].clone())
    };
    post(to(&id, "Between us"));
    assert_eq!(found(&stranger), (false, json!("Authorization Error")));
    assert_eq!([&owner, &member].map(found), [(); 2].map(|()| (true, Value::Null)));
    post(json!({ "text": "For all" }));
    assert_eq!(found(&stranger), (true, Value::Null));
}

#[test]
fn media_are_looked_up_by_those_who_may_see_a_post_with_them() {
    let server = shared_server();
    let (owner, reader) = (person("owner"), person("reader"));
    let protected = server.new_user_with("shy", &["--protected"]);
    let editor = server.new_user_with("editor", &["--subscription-type", "Premium"]);
    let is_shown = |media: &str| {
        let read = reader.get(format!("/2/media/3_{media}?media.fields=url")).assert_status(200);
        read.get("data").is_some()
    };
    let share = |from: &TestUser<'_>, to: &TestUser<'_>| {
        let texts = [("media_category", "tweet_image"), ("additional_owners", &*to.id)];
        let request = multipart("/2/media/upload", &texts, "media", &samples::png(60, 40));
        let media = from.send(request).assert_status(200)["data"]["id"].as_str().unwrap().to_owned();
        to.create_post(&json!({ "text": "Ours", "media": { "media_ids": [media] } })).assert_status(201);
        media
    };
    assert!(!is_shown(&share(&owner, &protected)), "posted by a protected user");
    assert!(is_shown(&share(&protected, &owner)), "posted by a public user");
    let [first, second] = [(); 2].map(|()| {
        let uploaded = at_once(&editor, "tweet_image", &samples::png(60, 40)).assert_status(200);
        uploaded["data"]["id"].as_str().unwrap().to_owned()
    });
    let post = |media: &str, edited: Option<&str>| {
        let mut body = json!({
            "text": "For subscribers", "for_super_followers_only": true, "media": { "media_ids": [media] },
        });
        if let Some(edited) = edited {
            body["edit_options"] = json!({ "previous_post_id": edited });
        }
        editor.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned()
    };
    let before = post(&first, None);
    post(&second, Some(&before));
    assert!(!is_shown(&first) && !is_shown(&second), "in an earlier version, and in the newest");
    let gone = share(&owner, &person("gone"));
    server.run_cli(&["user", "delete", &owner.id]).assert_success();
    assert!(is_shown(&gone), "posted by another");
    server.run_cli(&["user", "delete", &editor.id]).assert_success();
    let deleted = reader.get(format!("/2/media/3_{first}")).assert_status(200);
    assert_eq!(deleted["errors"][0]["title"], "Not Found Error");
}
