//! Calls of the control API.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde_json::{Map, Value};
use ureq::Agent;
use ureq::http::Request;

use crate::Error;

/// Moving the clock takes up to a minute, and waits for receivers.
const TIMEOUT: Duration = Duration::from_mins(2);
const MAX_RESPONSE_BYTES: u64 = 256 * 1024 * 1024;

/// The control API for one world.
#[derive(Clone, Debug)]
pub struct ControlClient {
    agent: Agent,
    /// `http://127.0.0.1:8090/control/v1`
    base_url: String,
    token: String,
    world: String,
}

impl ControlClient {
    pub(crate) fn new(address: &str, token: &str, world: &str) -> Self {
        let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).proxy(None);
        Self {
            agent: config.build().into(),
            base_url: format!("http://{address}/control/v1"),
            token: token.to_owned(),
            world: world.to_owned(),
        }
    }

    pub(crate) fn for_world(&self, world: &str) -> Self {
        Self { world: world.to_owned(), ..self.clone() }
    }

    /// The response's `data`, or the whole response if it has none. `path` is below `/control/v1`, with its query.
    ///
    /// # Errors
    /// If the server does not answer, or refuses.
    pub fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base_url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("x-locum-world", &self.world);
        let failed = |error: ureq::Error| Error::Connection(format!("{method} {path}: {error}"));
        let sent = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json").body(body.to_string());
                self.agent.run(request.map_err(|error| failed(error.into()))?)
            }
            None => self.agent.run(request.body(()).map_err(|error| failed(error.into()))?),
        };
        let mut response = sent.map_err(failed)?;
        let text = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_string().map_err(failed)?;
        let status = response.status().as_u16();
        if status >= 400 {
            let message = serde_json::from_str(&text).map_or(text, |answer| error_message(&answer));
            return Err(Error::Refused { status, message: format!("{method} {path}: {message}") });
        }
        let answer = if text.is_empty() { Value::Object(Map::new()) } else { parse_answer(&text)? };
        match answer {
            Value::Object(mut members) if members.contains_key("data") => {
                Ok(members.remove("data").unwrap_or_default())
            }
            other => Ok(other),
        }
    }
}

fn parse_answer(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|_| Error::Connection(format!("the server answered no JSON: {text}")))
}

fn error_message(answer: &Value) -> String {
    let errors = answer.get("errors").and_then(Value::as_array).into_iter().flatten();
    let messages: Vec<&str> = errors.filter_map(|error| error.get("message")?.as_str()).collect();
    if messages.is_empty() {
        answer.get("detail").and_then(Value::as_str).unwrap_or("refused").to_owned()
    } else {
        messages.join("; ")
    }
}

/// A segment of a path or a value of a query.
pub(crate) fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}
