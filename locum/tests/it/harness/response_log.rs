//! What was answered is written down under `LOCUM_RECORD`, to be held against the public OpenAPI
//! documents (`clients/contract/check.py`).

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use std::sync::Mutex;
use ureq::http::HeaderMap;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(super) fn record_response(method: &str, target: &str, status: u16, headers: &HeaderMap, body: &[u8]) {
    let Some(folder) = std::env::var_os("LOCUM_RECORD") else {
        return;
    };
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return; // a page, a stream or nothing
    };
    let kind = headers
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    let line = json!({
        "method": method, "target": target, "status": status, "type": kind, "body": body,
    });
    let path = Path::new(&folder).join(format!("{}.jsonl", std::process::id()));
    let _one = ONE_AT_A_TIME.lock();
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}
