//! Hidden replies.

use serde_json::{Value, json};

use crate::harness::{Ask, Person, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

#[track_caller]
fn replies(who: &Person<'_>, to: &str) -> String {
    let body = json!({
        "text": format!("To {to} from {}", who.id),
        "reply": { "in_reply_to_tweet_id": to },
    });
    let made = who.publish(&body).is(201);
    made["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn only_who_began_a_conversation_hides_replies_in_it() {
    let (root, guest, third) = (person("root"), person("guest"), person("third"));
    let id = root.says("Let us talk");
    let (reply, deeper);
    reply = replies(&guest, &id);
    deeper = replies(&third, &reply);
    let hide = |who: &Person<'_>, post: &str, body: &Value| {
        who.send(Ask::new("PUT", format!("/2/tweets/{post}/hidden")).json(body))
    };
    let (yes, no) = (json!({ "hidden": true }), json!({ "hidden": false }));
    for (post, state) in [
        (&reply, &yes),
        (&reply, &yes),
        (&deeper, &yes),
        (&reply, &no),
        (&reply, &no),
    ] {
        assert_eq!(hide(&root, post, state).is(200), json!({ "data": state }));
    }
    // It stays reachable and counted.
    assert_eq!(guest.sees(&deeper, "text")["id"], deeper);
    let metrics = guest.sees(&id, "public_metrics");
    assert_eq!(metrics["public_metrics"]["reply_count"], 1);
    let sentence = "You are not permitted to perform this action.";
    for (who, post) in [(&guest, &reply), (&third, &deeper), (&root, &id)] {
        hide(who, post, &yes).says(403, sentence);
    }
    hide(&root, "1", &yes).is_problem(404, "resource-not-found");
    for body in [
        json!({}),
        json!({ "hidden": 3 }),
        json!({ "hidden": true, "x": 1 }),
    ] {
        hide(&root, &reply, &body).is_problem(400, "invalid-request");
    }
    hide(&root, "x", &yes).is_problem(400, "invalid-request");
    root.delete(format!("/2/posts/{id}")).is(200);
    hide(&root, &reply, &yes).says(403, sentence);
}
