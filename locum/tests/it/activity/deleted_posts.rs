//! Events of posts that are deleted before anybody could have read of them.

use serde_json::json;

use super::SUBSCRIPTIONS;
use super::event_types::Scene;
use super::webhook::{hook, join};
use crate::harness::{TestRequest, WebhookReceiver, wait_until};

#[test]
fn post_or_repost_that_is_deleted_at_once_has_been_reported() {
    let scene = Scene::new();
    let receiver = WebhookReceiver::open(&scene.stage.app.secret);
    let hook = hook(&scene.stage, &receiver);
    join(&scene.ada, &hook).assert_status(200);
    let original = scene.ada.publish_text("Stays");
    for number in 0..5 {
        let id = scene.ada.publish_text(&format!("Goes {number}"));
        scene.ada.delete(format!("/2/posts/{id}")).assert_status(200);
        scene
            .bob
            .post(format!("/2/users/{}/reposts", scene.bob.id), &json!({ "post_id": original }))
            .assert_status(200);
        scene.bob.delete(format!("/2/users/{}/reposts/{original}", scene.bob.id)).assert_status(200);
    }
    let count = |key: &str| receiver.received_requests().iter().filter(|one| one.json()[key].is_array()).count();
    wait_until("all are reported", || count("tweet_delete_events") == 5 && count("tweet_create_events") == 11);
}

#[test]
fn deletion_of_a_post_in_a_closed_community_is_reported_to_nobody() {
    let scene = Scene::new();
    let (stage, ada) = (&scene.stage, &scene.ada);
    let receiver = WebhookReceiver::open(&stage.app.secret);
    let hook = hook(stage, &receiver);
    let new = json!({ "event_type": "post.delete", "filter": { "user_id": ada.id }, "webhook_id": hook });
    stage.send(TestRequest::post(SUBSCRIPTIONS).json(&new)).assert_status(200);
    let community = ["community", "create", "Behind doors", "--owner", &ada.id, "--access", "Closed"];
    let community = stage.server.run_cli(&community).json()["id"].clone();
    let hidden = json!({ "text": "Between us", "community_id": community });
    let hidden = ada.create_post(&hidden).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let open = ada.publish_text("For all");
    for post in [&hidden, &open] {
        ada.delete(format!("/2/posts/{post}")).assert_status(200);
    }
    wait_until("a deletion came", || !receiver.received_requests().is_empty());
    let received = receiver.received_requests();
    let told: Vec<_> = received.iter().map(|one| one.json()["data"]["payload"]["id"].clone()).collect();
    assert_eq!(told, [open]);
}
