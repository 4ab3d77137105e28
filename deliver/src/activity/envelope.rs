//! An event to be delivered.

use base::secret::digest;
use base::{AppId, PostId, Time, UserId};
use serde_json::{Map, Value, json};
use store::activity::ActivitySubscription;
use view::EventPayload;

/// An event for one subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventEnvelope {
    pub app: AppId,
    pub webhook: Option<i64>,
    /// None for the activity of an account.
    pub subscription_id: Option<i64>,
    /// The log entry's number.
    pub seq: i64,
    /// Identifies the event, so that receivers can discard duplicates.
    pub id: i64,
    /// Events with the same key are delivered in order.
    pub order_key: i64,
    /// The post in the body.
    pub post_id: Option<PostId>,
    /// The user whose authorization the event depends on.
    pub consenting_user: Option<UserId>,
    pub at: Time,
    pub body: String,
}

/// The event id for a subscription or account webhook; deterministic.
pub(super) fn event_id(seq: i64, kind: &str, to: i64, user: i64) -> i64 {
    let digest = digest(&format!("{seq} {kind} {to} {user}"));
    let number = digest.first_chunk().copied().map_or(0, i64::from_be_bytes);
    (number & i64::MAX).max(1)
}

/// The body for a subscription (contract core §10.6).
pub(super) fn event_body(subscription: &ActivitySubscription, id: i64, told: &EventPayload) -> String {
    let mut filter = Map::new();
    let user = subscription.user_id.map(|user| user.to_string());
    let members = [
        ("user_id", user.unwrap_or_default()),
        ("keyword", subscription.keyword.clone()),
        ("direction", subscription.direction_name.clone()),
    ];
    for (name, text) in members.into_iter().filter(|(_, text)| !text.is_empty()) {
        filter.insert(name.to_owned(), Value::String(text));
    }
    let mut text = format!(
        "{{\"data\":{{\"event_uuid\":\"{id}\",\"event_type\":{},\"filter\":{}",
        json!(subscription.event_type),
        Value::Object(filter)
    );
    if !subscription.tag.is_empty() {
        text.push_str(",\"tag\":");
        text.push_str(&json!(subscription.tag).to_string());
    }
    text.push_str(",\"payload\":");
    text.push_str(&told.payload);
    if !told.includes.is_empty() {
        text.push_str(",\"includes\":");
        text.push_str(&told.includes);
    }
    text.push_str("}}");
    text
}

#[cfg(test)]
mod tests {
    use super::event_id;

    #[test]
    fn ids_are_stable_positive_and_apart() {
        assert_eq!(event_id(7, "like.create", 3, 9), event_id(7, "like.create", 3, 9));
        let others = [event_id(8, "like.create", 3, 9), event_id(7, "x", 3, 9), event_id(7, "like.create", 4, 9)];
        assert!(others.iter().all(|other| *other > 0));
        assert!(!others.contains(&event_id(7, "like.create", 3, 9)));
    }
}
