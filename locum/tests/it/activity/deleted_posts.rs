//! Events of posts that are deleted before anybody could have read of them.

use serde_json::json;

use super::event_types::Scene;
use super::webhook::{hook, join};
use crate::harness::{WebhookReceiver, wait_until};

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
