//! Entries as the control API returns them.

use serde_json::{Map, Value, json};

use super::{HeaderLines, JournalEntry, RecordedBody};
use crate::costs::dollars;

/// One line of a list.
pub fn entry_summary_json(entry: &JournalEntry) -> Value {
    json!({
        "id": entry.id(),
        "number": entry.seq,
        "at": entry.at.to_string(),
        "received_at": entry.received_at.to_string(),
        "method": entry.method(),
        "path": entry.target(),
        "status": entry.status,
        "duration_ms": duration_ms(entry),
        "operation": entry.operation,
        "app": entry.app.map(|app| json!({"id": app.to_string(), "name": entry.app_name()})),
        "user_id": entry.user.map(|user| user.to_string()),
        "credential": entry.credential_name(),
        "label": entry.label.as_deref(),
        "injected_fault": entry.injected_fault.as_deref(),
        "event_count": entry.events.len(),
        "cost_usd": dollars(entry.cost_micros),
    })
}

/// With headers and bodies.
pub fn entry_json(entry: &JournalEntry) -> Value {
    let mut value = entry_summary_json(entry);
    if let Some(members) = value.as_object_mut() {
        let parameters = entry.parameters().into_iter().map(|(name, text)| json!({"name": name, "value": text}));
        members.insert("route".to_owned(), entry.route.into());
        members.insert("url".to_owned(), entry.url().into());
        members.insert("client".to_owned(), json!(entry.client.map(|client| client.to_string())));
        members.insert("parameters".to_owned(), parameters.collect());
        members.insert("request".to_owned(), message_json(entry.request_headers(), &entry.request_body));
        members.insert("response".to_owned(), message_json(entry.response_headers(), &entry.response_body));
        let events = entry.events.iter().map(|event| {
            json!({
                "seq": event.seq,
                "at": event.at.to_string(),
                "kind": event.kind,
                "actor_id": event.actor_id.to_string(),
                "subject_id": event.subject_id.to_string(),
            })
        });
        members.insert("events".to_owned(), events.collect());
    }
    value
}

fn message_json(headers: HeaderLines<'_>, body: &RecordedBody) -> Value {
    let headers = headers.iter().map(|(name, value)| json!({"name": name, "value": value}));
    let mut members = Map::new();
    members.insert("headers".to_owned(), headers.collect());
    let text = body.text();
    // JSON as JSON, so that paths of tests can be read off.
    let parsed = text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    members.insert("body".to_owned(), parsed.or_else(|| text.map(Value::String)).unwrap_or_default());
    members.insert("body_size".to_owned(), json!(body.size()));
    if body.is_truncated() {
        members.insert("body_is_truncated".to_owned(), true.into());
    }
    if let Some(reason) = body.omission() {
        members.insert("body_not_stored".to_owned(), reason.into());
    }
    Value::Object(members)
}

fn duration_ms(entry: &JournalEntry) -> f64 {
    let micros = u32::try_from(entry.duration.as_micros()).unwrap_or(u32::MAX);
    f64::from(micros) / 1_000.0
}
