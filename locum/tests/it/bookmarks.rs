//! Bookmarks and their folders.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, ids, person, shared_server};

fn bookmarks(who: &TestUser<'_>) -> String {
    format!("/2/users/{}/bookmarks", who.id)
}

#[track_caller]
fn marks(who: &TestUser<'_>, body: &Value) {
    let created = who.post(bookmarks(who), body).assert_status(200);
    assert_eq!(created, json!({ "data": { "bookmarked": true } }));
}

#[track_caller]
fn counts(reader: &TestUser<'_>, post: &str, expected: u64) {
    let post = reader.fetch_post(post, "public_metrics");
    assert_eq!(post["public_metrics"]["bookmark_count"], expected, "{post}");
}

#[test]
fn bookmarks_are_paged_for_their_owner_and_counted_for_all() {
    let (author, owner) = (person("author"), person("owner"));
    let (first, second) = (author.publish_text("First"), author.publish_text("Second"));
    marks(&owner, &json!({ "tweet_id": first }));
    marks(&owner, &json!({ "post_id": second }));
    marks(&owner, &json!({ "tweet_id": first }));
    marks(&author, &json!({ "tweet_id": first }));
    counts(&author, &first, 2);
    let path = bookmarks(&owner);
    let page = owner.get(format!("{path}?max_results=1")).assert_status(200);
    assert_eq!(ids(&page), [&second], "newest bookmark first");
    let token = page["meta"]["next_token"].as_str().unwrap();
    let page = owner.get(format!("{path}?max_results=1&pagination_token={token}"));
    assert_eq!(ids(&page.assert_status(200)), [&first]);
    let undone = owner.delete(format!("{path}{first}")).assert_status(200);
    assert_eq!(undone, json!({ "data": { "bookmarked": false } }));
    owner.delete(format!("{path}/{first}")).assert_status(200);
    owner.delete(format!("{path}/{second}")).assert_status(200);
    counts(&author, &first, 1);
    assert!(ids(&owner.get(&path).assert_status(200)).is_empty());
}

#[test]
fn bookmarks_are_read_and_changed_by_the_paths_of_posts() {
    let (author, owner) = (person("author"), person("owner"));
    let (first, second) = (author.publish_text("First"), author.publish_text("Second"));
    let path = bookmarks(&owner);
    for id in [&first, &second] {
        marks(&owner, &json!({ "tweet_id": id }));
    }
    let own = owner.get(format!("/2/posts/{}/bookmarks", owner.id)).assert_status(200);
    assert_eq!(ids(&own), [&second, &first]);
    let one = owner.get(format!("/2/posts/{first}/bookmarks")).assert_status(200);
    assert_eq!(ids(&one), [&first]);
    let none = author.get(format!("/2/posts/{second}/bookmarks")).assert_status(200);
    assert_eq!(none, json!({ "meta": { "result_count": 0 } }));
    for id in [&first, &second] {
        owner.delete(format!("{path}/{id}")).assert_status(200);
    }
    let by_post = format!("/2/posts/{second}/bookmarks");
    owner.send(TestRequest::post(&by_post)).assert_status(200);
    let by_own = format!("/2/posts/{}/bookmarks", owner.id);
    owner.post(&by_own, &json!({ "tweet_id": first })).assert_status(200);
    owner.post(&by_own, &json!({})).assert_problem(400, "invalid-request");
    owner.post(&by_post, &json!({ "tweet_id": first })).assert_status(400);
    assert_eq!(ids(&owner.get(&path).assert_status(200)), [&first, &second]);

    author.delete(format!("/2/posts/{second}")).assert_status(200);
    assert_eq!(ids(&owner.get(&path).assert_status(200)), [&first]);
}

#[test]
fn bookmark_changes_need_oauth2_and_a_visible_post() {
    let (author, owner) = (person("author"), person("owner"));
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let (id, secret) = (author.publish_text("Open"), shy.publish_text("Secret"));
    let path = bookmarks(&owner);
    let body = json!({ "tweet_id": id });
    let signed = owner.send_signed(TestRequest::post(&path).json(&body));
    signed.assert_problem(403, "unsupported-authentication");
    let signed = owner.send_signed(TestRequest::delete(format!("{path}/{id}")));
    signed.assert_problem(403, "unsupported-authentication");
    owner.send_signed(TestRequest::get(&path)).assert_status(200);
    owner.post(&path, &json!({ "tweet_id": secret })).assert_problem(403, "not-authorized-for-resource");
    owner.post(&path, &json!({ "tweet_id": "1" })).assert_problem(404, "resource-not-found");
    owner.import_follows(&[&shy]);
    marks(&owner, &json!({ "tweet_id": secret }));
    marks(&owner, &body);

    let token = owner.new_token(&["--scopes", "tweet.read users.read bookmark.write"]);
    let unread = shared_server().send(TestRequest::get(&path).bearer(&token));
    assert_eq!(unread.status, 403, "{}", unread.text());
    // What its author hides later is not shown, but stays bookmarked.
    shared_server().run_cli(&["user", "delete", &shy.username]).assert_success();
    assert_eq!(ids(&owner.get(&path).assert_status(200)), [&id]);
    for wrong in ["?max_results=0", "?max_results=101", "?pagination_token=zzz", "?x=1"] {
        owner.get(format!("{path}{wrong}")).assert_problem(400, "invalid-request");
    }
}

fn new_folder(owner: &TestUser<'_>, name: &str) -> String {
    let created = owner.post(format!("{}/folders", bookmarks(owner)), &json!({ "name": name })).assert_status(201);
    assert_eq!(created["data"]["name"], name, "{created}");
    created["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn bookmark_folders_are_named_and_paged() {
    let owner = person("owner");
    let folders = format!("{}/folders", bookmarks(&owner));
    let none = owner.get(&folders).assert_status(200);
    assert_eq!(none, json!({ "meta": { "result_count": 0 } }));
    let (reading, recipes) = (new_folder(&owner, "Reading"), new_folder(&owner, "Rezepte für später"));
    for name in ["", "   ", &"x".repeat(26)] {
        let refused = owner.post(&folders, &json!({ "name": name }));
        refused.assert_problem(400, "invalid-request");
    }
    let page = owner.get(format!("{folders}?max_results=1")).assert_status(200);
    assert_eq!(page["data"], json!([{ "id": recipes, "name": "Rezepte für später" }]));
    let token = page["meta"]["next_token"].as_str().unwrap();
    let page = owner.get(format!("{folders}?max_results=1&pagination_token={token}"));
    assert_eq!(ids(&page.assert_status(200)), [&reading]);
}

#[test]
fn bookmark_folder_contains_bookmarks_of_its_owner_only() {
    let (author, owner) = (person("author"), person("owner"));
    let folders = format!("{}/folders", bookmarks(&owner));
    let (reading, recipes) = (new_folder(&owner, "Reading"), new_folder(&owner, "Recipes"));
    let (first, second) = (author.publish_text("First"), author.publish_text("Second"));
    marks(&owner, &json!({ "tweet_id": first, "folder_id": reading }));
    marks(&owner, &json!({ "tweet_id": second, "folder_id": reading }));
    marks(&owner, &json!({ "tweet_id": first, "folder_id": recipes }));
    let held = |folder: &str| owner.get(format!("{folders}/{folder}")).assert_status(200);
    assert_eq!(held(&reading)["data"], json!([{ "id": second }, { "id": first }]));
    assert_eq!(ids(&held(&recipes)), [&first]);
    assert_eq!(ids(&owner.get(bookmarks(&owner)).assert_status(200)), [&second, &first]);
    owner.delete(format!("{}/{first}", bookmarks(&owner))).assert_status(200);
    assert_eq!(ids(&held(&reading)), [&second]);
    assert!(ids(&held(&recipes)).is_empty());

    // Another's folder is as good as none, and nothing is stored half.
    let body = json!({ "tweet_id": second, "folder_id": reading });
    author.post(bookmarks(&author), &body).assert_problem(404, "resource-not-found");
    assert!(ids(&author.get(bookmarks(&author)).assert_status(200)).is_empty());
    let response = author.get(format!("{}/folders/{reading}", bookmarks(&author)));
    assert_eq!(response.assert_status(200)["errors"][0]["title"], "Not Found Error");
}
