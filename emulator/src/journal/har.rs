//! Requests as an HTTP archive (HAR 1.2), which browsers and API tools open.

use serde_json::{Value, json};

use super::{HeaderLines, JournalEntry, RecordedBody};

pub fn har_document<'e>(entries: impl Iterator<Item = &'e JournalEntry>, version: &str) -> Value {
    let entries: Vec<Value> = entries.map(har_entry).collect();
    json!({
        "log": {
            "version": "1.2",
            "creator": {"name": "locum", "version": version},
            "entries": entries,
        }
    })
}

fn har_entry(entry: &JournalEntry) -> Value {
    let ms = entry.duration.as_secs_f64() * 1_000.0;
    json!({
        "startedDateTime": entry.received_at.to_string(),
        "time": ms,
        "request": har_request(entry),
        "response": har_response(entry),
        "cache": {},
        "timings": {"send": 0, "wait": ms, "receive": 0},
        "_id": entry.id(),
        "_operation": entry.operation,
        "_label": entry.label.as_deref(),
        "_injected_fault": entry.injected_fault.as_deref(),
    })
}

fn har_request(entry: &JournalEntry) -> Value {
    let query = base::percent::parse_form(entry.query()).unwrap_or_default();
    let mut request = json!({
        "method": entry.method(),
        "url": entry.url(),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": har_headers(entry.request_headers()),
        "queryString": name_values(query.iter().map(|(name, value)| (name.as_str(), value.as_str()))),
        "headersSize": -1,
        "bodySize": body_size(&entry.request_body),
    });
    if let (Some(text), Some(members)) = (entry.request_body.text(), request.as_object_mut()) {
        let kind = entry.request_headers().get("content-type").unwrap_or_default();
        members.insert("postData".to_owned(), json!({"mimeType": kind, "text": text}));
    }
    request
}

fn har_response(entry: &JournalEntry) -> Value {
    let status = http::StatusCode::from_u16(entry.status).ok();
    let mut content = json!({
        "size": entry.response_body.size().unwrap_or(0),
        "mimeType": entry.response_headers().get("content-type").unwrap_or("application/octet-stream"),
    });
    if let (Some(text), Some(members)) = (entry.response_body.text(), content.as_object_mut()) {
        members.insert("text".to_owned(), text.into());
    }
    if let (Some(reason), Some(members)) = (entry.response_body.omission(), content.as_object_mut()) {
        members.insert("comment".to_owned(), format!("not stored: {reason}").into());
    }
    json!({
        "status": entry.status,
        "statusText": status.and_then(|status| status.canonical_reason()).unwrap_or_default(),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": har_headers(entry.response_headers()),
        "content": content,
        "redirectURL": entry.response_headers().get("location").unwrap_or_default(),
        "headersSize": -1,
        "bodySize": body_size(&entry.response_body),
    })
}

fn har_headers(headers: HeaderLines<'_>) -> Value {
    name_values(headers.iter())
}

fn name_values<'v>(pairs: impl Iterator<Item = (&'v str, &'v str)>) -> Value {
    Value::Array(pairs.map(|(name, value)| json!({"name": name, "value": value})).collect())
}

/// -1 if unknown.
fn body_size(body: &RecordedBody) -> Value {
    body.size().map_or_else(|| json!(-1), |size| json!(size))
}
