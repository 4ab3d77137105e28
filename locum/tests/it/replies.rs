//! Hidden replies.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, person, shared_server};

#[track_caller]
fn replies(who: &TestUser<'_>, to: &str) -> String {
    let body = json!({
        "text": format!("To {to} from {}", who.id),
        "reply": { "in_reply_to_tweet_id": to },
    });
    let created = who.create_post(&body).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn replies_are_hidden_by_the_root_author_only() {
    let (root, guest, third) = (person("root"), person("guest"), person("third"));
    let id = root.publish_text("Let us talk");
    let (reply, deeper);
    reply = replies(&guest, &id);
    deeper = replies(&third, &reply);
    let hide = |who: &TestUser<'_>, post: &str, body: &Value| {
        who.send(TestRequest::new("PUT", format!("/2/tweets/{post}/hidden")).json(body))
    };
    let (yes, no) = (json!({ "hidden": true }), json!({ "hidden": false }));
    for (post, state) in [(&reply, &yes), (&reply, &yes), (&deeper, &yes), (&reply, &no), (&reply, &no)] {
        assert_eq!(hide(&root, post, state).assert_status(200), json!({ "data": state }));
    }
    // It stays reachable and counted.
    assert_eq!(guest.fetch_post(&deeper, "text")["id"], deeper);
    let metrics = guest.fetch_post(&id, "public_metrics");
    assert_eq!(metrics["public_metrics"]["reply_count"], 1);
    let sentence = "You are not permitted to perform this action.";
    for (who, post) in [(&guest, &reply), (&third, &deeper), (&root, &id)] {
        hide(who, post, &yes).assert_error(403, sentence);
    }
    hide(&root, "1", &yes).assert_problem(404, "resource-not-found");
    for body in [json!({}), json!({ "hidden": 3 }), json!({ "hidden": true, "x": 1 })] {
        hide(&root, &reply, &body).assert_problem(400, "invalid-request");
    }
    hide(&root, "x", &yes).assert_problem(400, "invalid-request");
    root.delete(format!("/2/posts/{id}")).assert_status(200);
    hide(&root, &reply, &yes).assert_error(403, sentence);
}

#[test]
fn reply_that_was_hidden_stays_hidden_when_its_author_edits_it() {
    let server = shared_server();
    let (root, guest) = (person("root"), server.new_user_with("guest", &["--subscription-type", "Premium"]));
    let reply = replies(&guest, &root.publish_text("Let us talk"));
    let deeper = replies(&guest, &reply);
    let body = json!({ "hidden": true });
    root.send(TestRequest::new("PUT", format!("/2/tweets/{deeper}/hidden")).json(&body)).assert_status(200);
    let edit = json!({ "text": "Louder now", "edit_options": { "previous_post_id": deeper } });
    guest.create_post(&edit).assert_status(201);
    let path = format!("/{}/status/{reply}", guest.username);
    let page = server.send(TestRequest::get(path.as_str())).assert_page(200);
    let (shown, hidden) = page.split_once("Replies hidden by the author").expect(&page);
    assert!(!shown.contains("Louder now") && hidden.contains("Louder now"), "{page}");
    // The id of the version before stands for the newest one.
    let body = json!({ "hidden": false });
    root.send(TestRequest::new("PUT", format!("/2/tweets/{deeper}/hidden")).json(&body)).assert_status(200);
    let page = server.send(TestRequest::get(path.as_str())).assert_page(200);
    assert!(page.contains("Louder now") && !page.contains("Replies hidden by the author"), "{page}");
}
