//! People: found, followed, hidden.

use serde_json::json;

use crate::harness::{TestRequest, person, shared_server};

#[test]
fn protected_posts_are_read_by_followers_only() {
    let author = shared_server().new_user_with("shy", &["--protected"]);
    let (friend, stranger) = (person("friend"), person("stranger"));
    friend.import_follows(&[&author]);
    let id = author.publish_text("Among friends");
    assert_eq!(friend.fetch_post(&id, "text")["text"], "Among friends");
    assert_eq!(author.fetch_post(&id, "text")["text"], "Among friends");
    for response in [
        stranger.get(format!("/2/posts/{id}")),
        shared_server().send(TestRequest::get(format!("/2/posts/{id}")).bearer(&author.app.bearer)),
        stranger.get(format!("/2/users/{}/posts", author.id)),
    ] {
        let body = response.assert_status(200);
        assert!(body.get("data").is_none(), "{body}");
        let kind = body["errors"][0]["type"].as_str().unwrap().to_owned();
        assert!(kind.ends_with("/not-authorized-for-resource"), "{body}");
    }
}

#[test]
fn posts_of_a_suspended_author_are_hidden() {
    let (author, reader) = (person("author"), person("reader"));
    let id = author.publish_text("Before it happened");
    shared_server().run_cli(&["user", "suspend", &author.id]).assert_success();
    let body = reader.get(format!("/2/posts/{id}")).assert_status(200);
    assert!(body.get("data").is_none() && body.get("errors").is_some(), "{body}");
    let body = reader.get(format!("/2/users/{}", author.id)).assert_status(200);
    assert_eq!(body["errors"][0]["title"], "Forbidden");
    assert_eq!(body["errors"][0]["detail"], format!("User has been suspended: [{}].", author.id));
    shared_server().run_cli(&["user", "restore", &author.id]).assert_success();
    assert_eq!(reader.fetch_post(&id, "text")["text"], "Before it happened");
}

#[test]
fn users_are_looked_up_by_id_and_username() {
    let (one, two) = (person("One"), person("two"));
    let get = |path: String| one.get(path).assert_status(200);
    let me = get("/2/users/me".to_owned());
    assert_eq!(me["data"], json!({ "id": one.id, "name": "One", "username": one.username }));
    assert_eq!(get(format!("/2/users/{}", one.id)), me);
    assert_eq!(get(format!("/2/users/by/username/{}", one.username.to_uppercase())), me);
    let both = get(format!("/2/users?ids={},1,{}", two.id, one.id));
    assert_eq!((&both["data"][0]["id"], &both["data"][1]["id"]), (&json!(two.id), &json!(one.id)));
    assert_eq!(both["errors"][0]["detail"], "Could not find user with ids: [1].");
    let both = get(format!("/2/users/by?usernames={},nobody_at_all,{}", one.username, two.username));
    assert_eq!(both["data"].as_array().unwrap().len(), 2);
    assert_eq!(both["errors"][0]["detail"], "Could not find user with usernames: [nobody_at_all].");
    one.publish_text("Most recent");
    let metrics = get("/2/users/me?user.fields=public_metrics".to_owned())["data"]["public_metrics"].clone();
    for count in ["post_count", "tweet_count"] {
        assert_eq!(metrics[count], 1, "both names, where nothing decides: {metrics}");
    }
    let fields = "user.fields=created_at,description,location,protected,public_metrics,verified,verified_type,\
                  most_recent_post_id,profile_image_url,url&expansions=most_recent_post_id";
    let all = get(format!("/2/users/me?{fields}"));
    assert_eq!(all["data"]["public_metrics"]["followers_count"], 0, "{all}");
    assert_eq!(all["includes"]["posts"][0]["text"], "Most recent");
}

#[test]
fn followers_and_following_are_listed() {
    let [star, one, two] = ["star", "one", "two"].map(person);
    one.import_follows(&[&star]);
    two.import_follows(&[&star, &one]);
    let ids = |path: String| {
        let body = star.get(path).assert_status(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        users.iter().map(|user| user["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(format!("/2/users/{}/followers", star.id)), [two.id.as_str(), &one.id]);
    assert_eq!(ids(format!("/2/users/{}/following", two.id)), [one.id.as_str(), &star.id]);
    assert!(ids(format!("/2/users/{}/following", star.id)).is_empty());
    let me = star.get("/2/users/me?user.fields=public_metrics").assert_status(200);
    assert_eq!(me["data"]["public_metrics"]["followers_count"], 2);
}
