//! Lists: kept, read, followed, pinned, and hidden where they are private.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, person, shared_server};

/// Makes a list; its id.
#[track_caller]
fn list_of(owner: &TestUser<'_>, name: &str, private: bool) -> String {
    let body = json!({ "name": name, "private": private });
    let created = owner.post("/2/lists", &body).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn add(owner: &TestUser<'_>, list: &str, user: &TestUser<'_>) {
    let path = format!("/2/lists/{list}/members");
    let added = owner.post(path, &json!({ "user_id": user.id })).assert_status(200);
    assert_eq!(added, json!({ "data": { "is_member": true } }));
}

fn put(user: &TestUser<'_>, list: &str, body: &Value) -> TestResponse {
    user.send(TestRequest::new("PUT", format!("/2/lists/{list}")).json(body))
}

#[track_caller]
fn follow(user: &TestUser<'_>, list: &str) -> TestResponse {
    let path = format!("/2/users/{}/followed_lists", user.id);
    user.post(path, &json!({ "list_id": list }))
}

fn pin(user: &TestUser<'_>, list: &str) -> TestResponse {
    let path = format!("/2/users/{}/pinned_lists", user.id);
    user.post(path, &json!({ "list_id": list }))
}

fn texts(body: &Value, name: &str) -> Vec<String> {
    let data = body["data"].as_array().cloned().unwrap_or_default();
    data.iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
}

/// The ids on a page.
#[track_caller]
fn ids(user: &TestUser<'_>, path: impl Into<String>) -> Vec<String> {
    texts(&user.get(path).assert_status(200), "id")
}

/// All that stands on the pages of a collection, in the order of the pages.
#[track_caller]
fn walk(user: &TestUser<'_>, path: &str, name: &str) -> Vec<String> {
    let (mut all, mut token) = (Vec::new(), String::new());
    for _ in 0..100 {
        let page = user.get(format!("{path}{token}")).assert_status(200);
        all.extend(texts(&page, name));
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("&pagination_token={next}"),
            None => return all,
        }
    }
    panic!("{path} does not end");
}

#[track_caller]
fn listed(user: &TestUser<'_>) -> i64 {
    let me = user.get("/2/users/me?user.fields=public_metrics").assert_status(200);
    me["data"]["public_metrics"]["listed_count"].as_i64().unwrap()
}

#[track_caller]
fn is_missing(response: &TestResponse, id: &str) {
    let body = response.assert_status(200);
    assert!(body.get("data").is_none(), "{body}");
    let error = &body["errors"][0];
    assert_eq!(error["detail"], format!("Could not find list with id: [{id}]."), "{body}");
    assert!(error["type"].as_str().unwrap().ends_with("/resource-not-found"));
    assert_eq!(error["resource_type"], "list");
}

fn described_list(owner: &TestUser<'_>) -> Value {
    let new = json!({ "name": "Cats & <dogs>", "description": "All of them", "private": false });
    owner.post("/2/lists", &new).assert_status(201)
}

#[test]
fn list_is_returned_with_its_fields() {
    let (owner, member) = (person("owner"), person("member"));
    let created = described_list(&owner);
    let id = created["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(created, json!({ "data": { "id": id, "name": "Cats & <dogs>" } }));
    assert_eq!(owner.get(format!("/2/lists/{id}")).assert_status(200), created);
    add(&owner, &id, &member);
    let fields = "created_at,description,follower_count,id,member_count,name,owner_id,private";
    let path = format!("/2/lists/{id}?list.fields={fields}&expansions=owner_id");
    let seen = member.get(path.as_str()).assert_status(200);
    let data = &seen["data"];
    assert_eq!(data["owner_id"], owner.id);
    assert_eq!(data["description"], "All of them");
    assert_eq!((&data["member_count"], &data["follower_count"]), (&json!(1), &json!(0)));
    assert_eq!(data["private"], false);
    assert!(data["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(seen["includes"]["users"][0]["username"], owner.username);
    // An expansion shows what it goes through.
    let expanded = owner.get(format!("/2/lists/{id}?expansions=owner_id"));
    assert_eq!(expanded.assert_status(200)["data"]["owner_id"], owner.id);
}

#[test]
fn list_is_changed_field_by_field() {
    let owner = person("owner");
    let id = described_list(&owner)["data"]["id"].as_str().unwrap().to_owned();
    let path = format!("/2/lists/{id}?list.fields=description,name");
    assert_eq!(put(&owner, &id, &json!({ "name": "Cats" })).assert_status(200), json!({ "data": { "updated": true } }));
    let seen = owner.get(path.as_str()).assert_status(200);
    assert_eq!((&seen["data"]["name"], &seen["data"]["description"]), (&json!("Cats"), &json!("All of them")));
    put(&owner, &id, &json!({ "description": "" })).assert_status(200);
    let seen = owner.get(path.as_str()).assert_status(200);
    assert!(seen["data"].get("description").is_none(), "{seen}");
}

#[test]
fn deleted_list_disappears_from_its_members_and_followers() {
    let (owner, member) = (person("owner"), person("member"));
    let id = list_of(&owner, "Cats", false);
    let path = format!("/2/lists/{id}");
    add(&owner, &id, &member);
    follow(&member, &id).assert_status(200);
    pin(&member, &id).assert_status(200);
    assert_eq!(listed(&member), 1);
    let deleted = owner.delete(format!("/2/lists/{id}")).assert_status(200);
    assert_eq!(deleted, json!({ "data": { "deleted": true } }));
    is_missing(&owner.get(path), &id);
    is_missing(&owner.get(format!("/2/lists/{id}/posts")), &id);
    assert_eq!(listed(&member), 0);
    for path in ["followed_lists", "pinned_lists", "list_memberships"] {
        let body = member.get(format!("/2/users/{}/{path}", member.id)).assert_status(200);
        assert_eq!(body, json!({ "meta": { "result_count": 0 } }), "{path}");
    }
    assert!(ids(&owner, format!("/2/users/{}/owned_lists", owner.id)).is_empty());
    put(&owner, &id, &json!({ "name": "x" })).assert_problem(404, "resource-not-found");
    owner.delete(format!("/2/lists/{id}")).assert_problem(404, "resource-not-found");
}

fn count(reader: &TestUser<'_>, id: &str, name: &str) -> i64 {
    let body = reader.get(format!("/2/lists/{id}?list.fields={name}")).assert_status(200);
    body["data"][name].as_i64().unwrap()
}

#[test]
fn members_of_a_list_are_paged_while_others_are_added() {
    let [owner, one, two, three] = ["owner", "one", "two", "three"].map(person);
    let id = list_of(&owner, "People", false);
    for member in [&one, &two, &three] {
        add(&owner, &id, member);
    }
    add(&owner, &id, &one);
    assert_eq!((count(&one, &id, "member_count"), listed(&one)), (3, 1));
    let path = format!("/2/lists/{id}/members?max_results=2");
    let newest_first = [three.id.as_str(), &two.id, &one.id];
    assert_eq!(walk(&one, &path, "id"), newest_first);
    let first = one.get(path.as_str()).assert_status(200);
    // Who comes in between does not disturb the walk.
    add(&owner, &id, &owner);
    let next = first["meta"]["next_token"].as_str().unwrap();
    let second = one.get(format!("{path}&pagination_token={next}")).assert_status(200);
    assert_eq!(texts(&second, "id"), [one.id.as_str()]);
    let back = second["meta"]["previous_token"].as_str().unwrap();
    let back = one.get(format!("{path}&pagination_token={back}")).assert_status(200);
    assert_eq!(texts(&back, "id"), [three.id.as_str(), &two.id]);
    // A token serves the walk that gave it.
    let other = list_of(&owner, "Others", false);
    one.get(format!("/2/lists/{other}/members?max_results=2&pagination_token={next}"))
        .assert_problem(400, "invalid-request");
}

#[test]
fn memberships_and_followers_of_lists_are_listed_and_counted() {
    let server = TestServer::start(&["--world", "empty"]);
    let [owner, one, two, three] = ["owner", "one", "two", "three"].map(|name| server.new_user(name));
    let (id, other) = (list_of(&owner, "People", false), list_of(&owner, "Others", false));
    for member in [&owner, &one, &two, &three] {
        add(&owner, &id, member);
    }
    let memberships = format!("/2/users/{}/list_memberships", one.id);
    add(&owner, &other, &one);
    assert_eq!(ids(&two, memberships.as_str()), [other.as_str(), &id]);
    let paged = format!("{memberships}?max_results=1");
    assert_eq!(walk(&two, &paged, "id"), [other.as_str(), &id]);
    let removed = owner.delete(format!("/2/lists/{id}/members/{}", one.id));
    assert_eq!(removed.assert_status(200), json!({ "data": { "is_member": false } }));
    owner.delete(format!("/2/lists/{id}/members/{}", one.id)).assert_status(200);
    assert_eq!(ids(&two, memberships), [other.as_str()]);
    assert_eq!((count(&one, &id, "member_count"), listed(&one)), (3, 1));

    for reader in [&one, &two, &two] {
        let followed = follow(reader, &id).assert_status(200);
        assert_eq!(followed, json!({ "data": { "following": true } }));
    }
    follow(&one, &other).assert_status(200);
    assert_eq!(count(&one, &id, "follower_count"), 2);
    let followers = format!("/2/lists/{id}/followers?max_results=1");
    assert_eq!(walk(&one, &followers, "id"), [two.id.as_str(), &one.id]);
    let followed = format!("/2/users/{}/followed_lists", one.id);
    assert_eq!(ids(&three, followed.as_str()), [other.as_str(), &id]);
    for _ in 0..2 {
        let ended = one.delete(format!("{followed}/{id}")).assert_status(200);
        assert_eq!(ended, json!({ "data": { "following": false } }));
    }
    assert_eq!(ids(&three, followed), [other.as_str()]);
    assert_eq!(count(&one, &id, "follower_count"), 1);
    let sound = server.run_cli(&["fsck"]).json();
    assert_eq!(sound["differences"], json!([]));
}

#[test]
fn private_list_is_visible_to_its_owner_only() {
    let [owner, member, reader] = ["owner", "member", "reader"].map(person);
    let id = list_of(&owner, "Secret", true);
    let open = list_of(&owner, "Open", false);
    add(&owner, &id, &member);
    add(&owner, &open, &member);
    let list = format!("/2/lists/{id}");
    let looks = ["", "/posts", "/members", "/followers"].map(|more| format!("{list}{more}"));
    for path in &looks {
        is_missing(&member.get(path.as_str()), &id);
        is_missing(&reader.get(path.as_str()), &id);
        let app = TestRequest::get(path.as_str()).bearer(&owner.app.bearer);
        is_missing(&shared_server().send(app), &id);
        assert!(owner.get(path.as_str()).assert_status(200).get("errors").is_none(), "{path}");
    }
    let narrow = owner.new_token(&["--scopes", "tweet.read users.read"]);
    let posts = |list: &str| shared_server().send(TestRequest::get(format!("/2/lists/{list}/posts")).bearer(&narrow));
    posts(&open).assert_status(200);
    assert_eq!(posts(&id).status, 403);
    let memberships = format!("/2/users/{}/list_memberships", member.id);
    let theirs = format!("/2/users/{}/owned_lists", owner.id);
    for viewer in [&member, &reader] {
        assert_eq!(ids(viewer, memberships.as_str()), [open.as_str()]);
        assert_eq!(ids(viewer, theirs.as_str()), [open.as_str()]);
    }
    assert_eq!(ids(&owner, memberships.as_str()), [open.as_str(), &id]);
    let paged = format!("{memberships}?max_results=1");
    assert_eq!(walk(&owner, &paged, "id"), [open.as_str(), &id]);
    assert_eq!(ids(&owner, theirs.as_str()), [open.as_str(), &id]);
    assert_eq!(listed(&member), 1);
    let acts = [
        follow(&reader, &id),
        pin(&reader, &id),
        put(&reader, &id, &json!({ "private": false })),
        reader.delete(list.as_str()),
        reader.post(format!("{list}/members"), &json!({ "user_id": reader.id })),
        reader.delete(format!("{list}/members/{}", member.id)),
    ];
    for response in acts {
        let problem = response.assert_problem(404, "resource-not-found");
        assert_eq!(problem["resource_id"], id, "{problem}");
    }
    assert_eq!(follow(&owner, &id).assert_problem(403, "about:blank")["title"], "Forbidden");
    pin(&owner, &id).assert_status(200);
}

#[test]
fn list_made_private_is_hidden_until_it_is_public_again() {
    let [owner, member, reader] = ["owner", "member", "reader"].map(person);
    let open = list_of(&owner, "Open", false);
    add(&owner, &open, &member);
    let memberships = format!("/2/users/{}/list_memberships", member.id);
    follow(&reader, &open).assert_status(200);
    pin(&reader, &open).assert_status(200);
    put(&owner, &open, &json!({ "private": true })).assert_status(200);
    assert_eq!(listed(&member), 0);
    assert!(ids(&reader, memberships.as_str()).is_empty());
    let mine = |name: &str| ids(&reader, format!("/2/users/{}/{name}", reader.id));
    assert!(mine("followed_lists").is_empty() && mine("pinned_lists").is_empty());
    let fields = format!("/2/lists/{open}?list.fields=follower_count,member_count,private");
    let seen = owner.get(fields.as_str()).assert_status(200);
    assert_eq!(seen["data"]["follower_count"], 0);
    assert_eq!(seen["data"]["member_count"], 1);
    is_missing(&reader.get(fields), &open);
    put(&owner, &open, &json!({ "private": false })).assert_status(200);
    assert_eq!(listed(&member), 1);
    assert_eq!(ids(&reader, memberships), [open.as_str()]);
}

#[test]
fn list_is_changed_by_its_owner_and_unavailable_users_are_not_added() {
    let [owner, other, shy] = ["owner", "other", "shy"].map(person);
    let id = list_of(&owner, "Mine", false);
    let members = format!("/2/lists/{id}/members");
    let acts = [
        (put(&other, &id, &json!({ "name": "Yours" })), "update"),
        (other.delete(format!("/2/lists/{id}")), "delete"),
        (other.post(members.as_str(), &json!({ "user_id": other.id })), "add members to"),
        (other.delete(format!("{members}/{}", owner.id)), "delete members from"),
    ];
    for (response, action) in acts {
        let problem = response.assert_problem(403, "about:blank");
        assert_eq!(problem["detail"], format!("You are not allowed to {action} this List."));
    }
    shared_server().import_lines(&[json!({ "kind": "block", "from": shy.id, "to": owner.id })]).assert_success();
    owner.post(members.as_str(), &json!({ "user_id": shy.id })).assert_legacy_code(403, 136);
    let unknown = owner.post(members.as_str(), &json!({ "user_id": "17" }));
    let problem = unknown.assert_problem(404, "resource-not-found");
    assert_eq!(problem["detail"], "Could not find user with user_id: [17].");
    // Members need not agree, and are on it for all others.
    add(&owner, &id, &other);
    assert_eq!(ids(&shy, members.as_str()), [other.id.as_str()]);
    // Somebody who is suspended is not shown, and their lists are not there.
    shared_server().run_cli(&["user", "suspend", &other.id]).assert_success();
    assert!(ids(&shy, members.as_str()).is_empty());
    owner.post(members.as_str(), &json!({ "user_id": other.id })).assert_status(403);
    shared_server().run_cli(&["user", "restore", &other.id]).assert_success();
    shared_server().run_cli(&["user", "suspend", &owner.id]).assert_success();
    is_missing(&shy.get(format!("/2/lists/{id}")), &id);
    let memberships = format!("/2/users/{}/list_memberships", other.id);
    assert!(ids(&shy, memberships.as_str()).is_empty());
    shared_server().run_cli(&["user", "restore", &owner.id]).assert_success();
    assert_eq!(ids(&shy, memberships), [id.as_str()]);
}

#[test]
fn invalid_list_is_refused_and_not_stored() {
    let owner = person("owner");
    // As many characters in the composed form, in which texts are stored.
    let at_most = json!({ "name": "e\u{301}".repeat(25), "description": "d".repeat(100) });
    owner.post("/2/lists", &at_most).assert_status(201);
    let wrong = [
        json!({}),
        json!({ "name": "" }),
        json!({ "name": "   " }),
        json!({ "name": "n".repeat(26) }),
        json!({ "name": 7 }),
        json!({ "name": null }),
        json!({ "name": "n", "description": "d".repeat(101) }),
        json!({ "name": "n", "description": false }),
        json!({ "name": "n", "private": "yes" }),
        json!({ "name": "n", "members": [] }),
        json!(["n"]),
    ];
    for body in &wrong {
        owner.post("/2/lists", body).assert_problem(400, "invalid-request");
    }
    let theirs = format!("/2/users/{}/owned_lists", owner.id);
    let id = ids(&owner, theirs.as_str());
    assert_eq!(id.len(), 1, "nothing partial is stored");
    let list = &id[0];
    for body in wrong.iter().skip(1).chain([&json!({})]) {
        put(&owner, list, body).assert_problem(400, "invalid-request");
    }
    for body in [json!({}), json!({ "user_id": "x" }), json!({ "user_id": 1 })] {
        owner.post(format!("/2/lists/{list}/members"), &body).assert_problem(400, "invalid-request");
    }
    owner.get("/2/lists/abc").assert_error(400, "The `id` query parameter value [abc] is not valid");
    owner.get(format!("/2/lists/{list}?list.fields=age")).assert_problem(400, "invalid-request");
    owner.get(format!("/2/lists/{list}/members?max_results=101")).assert_problem(400, "invalid-request");
    is_missing(&owner.get("/2/lists/9223372036854775807"), "9223372036854775807");
}

#[test]
fn following_or_pinning_an_unknown_list_is_refused() {
    let owner = person("owner");
    for (path, key) in [("followed_lists", "following"), ("pinned_lists", "pinned")] {
        let mine = format!("/2/users/{}/{path}", owner.id);
        owner
            .post(mine.as_str(), &json!({ "list_id": "9223372036854775807" }))
            .assert_problem(404, "resource-not-found");
        let absent = owner.delete(format!("{mine}/9223372036854775807"));
        assert_eq!(absent.assert_status(200)["data"][key], false);
    }
    let unknown = owner.get("/2/users/17/owned_lists").assert_status(200);
    assert_eq!(unknown["errors"][0]["detail"], "Could not find user with id: [17].");
}

#[test]
fn pinned_lists_are_limited_to_five() {
    let (owner, reader) = (person("owner"), person("reader"));
    let lists: Vec<String> = (0..6).map(|number| list_of(&owner, &format!("List {number}"), false)).collect();
    for list in &lists[..5] {
        let pinned = pin(&reader, list).assert_status(200);
        assert_eq!(pinned, json!({ "data": { "pinned": true } }));
    }
    pin(&reader, &lists[0]).assert_status(200);
    pin(&reader, &lists[5]).assert_problem(403, "about:blank");
    let path = format!("/2/users/{}/pinned_lists", reader.id);
    let unpinned = reader.delete(format!("{path}/{}", lists[1])).assert_status(200);
    assert_eq!(unpinned, json!({ "data": { "pinned": false } }));
    pin(&reader, &lists[5]).assert_status(200);
    let body = reader.get(format!("{path}?list.fields=owner_id&expansions=owner_id")).assert_status(200);
    assert_eq!(texts(&body, "id"), [5, 4, 3, 2, 0].map(|number: usize| lists[number].clone()));
    assert_eq!(body["meta"]["result_count"], 5);
    assert_eq!(body["includes"]["users"].as_array().unwrap().len(), 1);
    owner.get(path).assert_problem(400, "invalid-request");
}

#[test]
fn list_timeline_shows_posts_of_its_members() {
    let [owner, one, two, reader] = ["owner", "one", "two", "reader"].map(person);
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let id = list_of(&owner, "Timeline", false);
    let path = format!("/2/lists/{id}/posts");
    let message = |viewer: &TestUser<'_>| texts(&viewer.get(path.as_str()).assert_status(200), "text");
    let empty = reader.get(path.as_str()).assert_status(200);
    assert_eq!(empty, json!({ "meta": { "result_count": 0 } }));
    let before = one.publish_text("Before");
    for member in [&one, &two, &shy] {
        add(&owner, &id, member);
    }
    assert_eq!(message(&reader), ["Before"]);
    let reply = json!({ "text": "Answer", "reply": { "in_reply_to_post_id": before } });
    two.create_post(&reply).assert_status(201);
    let deleted = one.publish_text("Gone soon");
    reader.publish_text("Not on the list");
    shy.publish_text("Among friends");
    owner.import_follows(&[&shy]);
    assert_eq!(message(&reader), ["Gone soon", "Answer", "Before"]);
    assert_eq!(message(&owner), ["Among friends", "Gone soon", "Answer", "Before"]);
    one.delete(format!("/2/posts/{deleted}")).assert_status(200);
    // Muting is no reason to leave out what one has on a list; being blocked is.
    shared_server()
        .import_lines(&[
            json!({ "kind": "mute", "from": reader.id, "to": one.id }),
            json!({ "kind": "block", "from": two.id, "to": reader.id }),
        ])
        .assert_success();
    assert_eq!(message(&reader), ["Before"]);
    let full = format!("{path}?expansions=author_id&post.fields=created_at&user.fields=verified");
    let full = owner.get(full).assert_status(200);
    assert_eq!(full["includes"]["users"].as_array().unwrap().len(), 3);
    assert_eq!(full["data"][0]["author_id"], shy.id);
    owner.delete(format!("/2/lists/{id}/members/{}", one.id)).assert_status(200);
    assert!(message(&reader).is_empty());
    add(&owner, &id, &one);
    assert_eq!(message(&reader), ["Before"]);
    shared_server().run_cli(&["user", "suspend", &one.id]).assert_success();
    assert!(message(&reader).is_empty());
    shared_server().run_cli(&["user", "restore", &one.id]).assert_success();
    assert_eq!(message(&reader), ["Before"]);
}

#[test]
fn list_timeline_is_paged_without_repeat_or_gap_during_writes() {
    let [owner, one, two] = ["owner", "one", "two"].map(person);
    let id = list_of(&owner, "Timeline", false);
    add(&owner, &id, &one);
    add(&owner, &id, &two);
    let mut there = Vec::new();
    for number in 0..6 {
        there.insert(0, one.publish_text(&format!("One {number}")));
        there.insert(0, two.publish_text(&format!("Two {number}")));
    }
    let path = format!("/2/lists/{id}/tweets?max_results=5");
    let (mut walked, mut token, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = owner.get(format!("{path}{token}")).assert_status(200);
        walked.extend(texts(&page, "id"));
        pages += 1;
        assert_eq!(page["meta"].get("previous_token").is_some(), pages > 1);
        two.publish_text(&format!("Meanwhile {pages}"));
        match page["meta"]["next_token"].as_str() {
            Some(next) => token = format!("&pagination_token={next}"),
            None => break,
        }
    }
    assert_eq!((walked, pages), (there, 3));
}

#[test]
fn imported_posts_appear_at_their_time_in_list_timelines() {
    let (owner, one) = (person("owner"), person("one"));
    let id = list_of(&owner, "Timeline", false);
    add(&owner, &id, &one);
    one.publish_text("Now");
    let path = format!("/2/lists/{id}/posts");
    let message = || texts(&owner.get(path.as_str()).assert_status(200), "text");
    assert_eq!(message(), ["Now"]);
    let at = 1_500_000_000_000_i64;
    let old = ((at - 1_288_834_974_657) << 22).to_string();
    let line = json!({
        "kind": "post", "id": old, "author": one.id, "text": "Long ago",
        "created_at_ms": at, "lang": "en",
    });
    shared_server().import_lines(&[line]).assert_success();
    assert_eq!(message(), ["Now", "Long ago"]);
}
