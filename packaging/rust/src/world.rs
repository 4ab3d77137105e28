//! A world and its testing tools.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control::encode;
use crate::{ControlClient, Error, FaultRule};

const EXPECT_INTERVAL: Duration = Duration::from_millis(20);
const EXPECT_ATTEMPTS: u32 = 250;

/// An isolated world with keys and testing tools of its own. All but the main world are removed when they are dropped.
#[derive(Debug)]
pub struct World {
    control: ControlClient,
    name: String,
    variables: BTreeMap<String, String>,
    is_removed_at_end: bool,
}

impl World {
    pub(crate) fn new(
        control: ControlClient,
        name: &str,
        variables: BTreeMap<String, String>,
        is_removed_at_end: bool,
    ) -> Self {
        Self { control, name: name.to_owned(), variables, is_removed_at_end }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn url(&self) -> &str {
        self.variable("LOCUM_BASE_URL")
    }

    pub fn ads_url(&self) -> &str {
        self.variable("LOCUM_ADS_URL")
    }

    pub fn ads_sandbox_url(&self) -> &str {
        self.variable("LOCUM_ADS_SANDBOX_URL")
    }

    /// The addresses and keys: the lines of `dev.env`.
    pub const fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Empty if there is none of this name.
    pub fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    /// For operations of the control API that have no method here.
    pub const fn control(&self) -> &ControlClient {
        &self.control
    }

    pub const fn clock(&self) -> Clock<'_> {
        Clock(&self.control)
    }

    pub const fn faults(&self) -> Faults<'_> {
        Faults(&self.control)
    }

    pub const fn journal(&self) -> Journal<'_> {
        Journal(&self.control)
    }

    pub const fn limits(&self) -> Limits<'_> {
        Limits(&self.control)
    }

    pub const fn snapshots(&self) -> Snapshots<'_> {
        Snapshots(&self.control)
    }

    /// Returns to the seed: the same ids, keys and tokens as after the creation.
    ///
    /// # Errors
    /// If the server does not answer, or refuses; this holds for all methods below.
    pub fn reset(&self) -> Result<(), Error> {
        self.control.request("POST", "/reset", Some(&json!({}))).map(drop)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.is_removed_at_end {
            // The worlds of a server that has ended are gone.
            let _ = self.control.request("DELETE", &format!("/worlds/{}", encode(&self.name)), None);
        }
    }
}

/// The world's clock. Methods that move it return a report of what happened on the way.
#[derive(Clone, Debug)]
pub struct Clock<'w>(&'w ControlClient);

impl Clock<'_> {
    pub fn show(&self) -> Result<Value, Error> {
        self.0.request("GET", "/clock", None)
    }

    pub fn freeze(&self) -> Result<Value, Error> {
        self.order("freeze", &json!({}))
    }

    /// Moves forward to a time (RFC 3339).
    pub fn set(&self, time: &str) -> Result<Value, Error> {
        self.order("set", &json!({"time": time}))
    }

    pub fn advance(&self, span: Duration) -> Result<Value, Error> {
        self.order("advance", &json!({"by": format!("{}ms", span.as_millis())}))
    }

    pub fn scale(&self, factor: f64) -> Result<Value, Error> {
        self.order("scale", &json!({"factor": factor}))
    }

    pub fn live(&self) -> Result<Value, Error> {
        self.order("live", &json!({}))
    }

    fn order(&self, order: &str, body: &Value) -> Result<Value, Error> {
        let state = self.0.request("POST", &format!("/clock/{order}"), Some(body))?;
        Ok(state.get("report").cloned().unwrap_or_default())
    }
}

/// Rules that make requests, streams and webhook deliveries fail.
#[derive(Clone, Debug)]
pub struct Faults<'w>(&'w ControlClient);

impl Faults<'_> {
    /// The rule's id.
    pub fn add(&self, rule: FaultRule) -> Result<String, Error> {
        let added = self.0.request("POST", "/faults", Some(&json!({"rules": [rule.to_json()]})))?;
        let id = added.pointer("/ids/0").and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| Error::Connection(format!("no id in {added}")))
    }

    /// In the order in which they are compared, with how often each `matched` and was `applied`.
    pub fn list(&self) -> Result<Vec<Value>, Error> {
        self.0.request("GET", "/faults", None).map(into_list)
    }

    pub fn remove(&self, id: &str) -> Result<(), Error> {
        self.0.request("DELETE", &format!("/faults/{}", encode(id)), None).map(drop)
    }

    pub fn clear(&self) -> Result<(), Error> {
        self.0.request("DELETE", "/faults", None).map(drop)
    }
}

/// The last requests of the world's clients.
#[derive(Clone, Debug)]
pub struct Journal<'w>(&'w ControlClient);

impl Journal<'_> {
    /// The newest requests that match, at most 1,000, oldest first, without headers and bodies. Filters are those of
    /// `locum log`, such as `("route", "GET /2/users/me")` or `("status", "429")`.
    pub fn requests(&self, filters: &[(&str, &str)]) -> Result<Vec<Value>, Error> {
        let filters: Vec<_> =
            filters.iter().map(|(name, value)| format!("&{}={}", encode(name), encode(value))).collect();
        let mut entries =
            self.0.request("GET", &format!("/requests?limit=1000{}", filters.concat()), None).map(into_list)?;
        entries.reverse();
        Ok(entries)
    }

    /// A request with headers, bodies and what it caused.
    pub fn request(&self, id: &str) -> Result<Value, Error> {
        self.0.request("GET", &format!("/requests/{}", encode(id)), None)
    }

    /// Waits 5 seconds at most until all checks hold, such as `POST /2/tweets status=201 count=3`; else
    /// [`Error::Unmet`].
    pub fn expect(&self, checks: &[&str]) -> Result<(), Error> {
        let mut outcome = Value::Null;
        for _ in 0..EXPECT_ATTEMPTS {
            outcome = self.0.request("POST", "/assert", Some(&json!({"checks": checks})))?;
            if outcome.get("passed").and_then(Value::as_bool) == Some(true) {
                return Ok(());
            }
            std::thread::sleep(EXPECT_INTERVAL);
        }
        Err(Error::Unmet(describe_unmet(&outcome)))
    }

    pub fn clear(&self) -> Result<(), Error> {
        self.0.request("DELETE", "/requests", None).map(drop)
    }
}

/// Rate limits.
#[derive(Clone, Debug)]
pub struct Limits<'w>(&'w ControlClient);

impl Limits<'_> {
    /// `table`, `relaxed` or `off`.
    pub fn set_mode(&self, mode: &str) -> Result<(), Error> {
        self.0.request("POST", "/limits/mode", Some(&json!({"mode": mode}))).map(drop)
    }

    /// Uses up the window of an endpoint such as `GET /2/users/me`, so that the next call is refused with 429.
    pub fn exhaust(&self, endpoint: &str) -> Result<(), Error> {
        self.0.request("POST", "/limits/exhaust", Some(&json!({"endpoint": endpoint}))).map(drop)
    }

    pub fn reset(&self) -> Result<(), Error> {
        self.0.request("POST", "/limits/reset", Some(&json!({}))).map(drop)
    }
}

/// States of the world. All worlds of a server share the names.
#[derive(Clone, Debug)]
pub struct Snapshots<'w>(&'w ControlClient);

impl Snapshots<'_> {
    pub fn list(&self) -> Result<Vec<Value>, Error> {
        self.0.request("GET", "/snapshots", None).map(into_list)
    }

    pub fn save(&self, name: &str) -> Result<(), Error> {
        self.0.request("POST", "/snapshots", Some(&json!({"name": name}))).map(drop)
    }

    pub fn load(&self, name: &str) -> Result<(), Error> {
        self.0.request("POST", &format!("/snapshots/{}/load", encode(name)), Some(&json!({}))).map(drop)
    }

    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.0.request("DELETE", &format!("/snapshots/{}", encode(name)), None).map(drop)
    }
}

fn into_list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

fn describe_unmet(outcome: &Value) -> String {
    let results = outcome.get("results").and_then(Value::as_array).into_iter().flatten();
    let unmet = results.filter(|result| result.get("passed").and_then(Value::as_bool) == Some(false));
    let text = |result: &Value, name: &str| result.get(name).map(Value::to_string).unwrap_or_default();
    let lines = unmet.map(|result| {
        let check = result.get("check").and_then(Value::as_str).unwrap_or_default();
        format!("{check}: {} requests match; near misses: {}", text(result, "count"), text(result, "near_misses"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
