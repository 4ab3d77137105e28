//! The access log: one line per response, without query, headers, body or secrets.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::id::mix_bits;
use base::{AppId, Fault, Rng, UserId};
use edge::find_rare_header;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::health::HEALTH_ROUTES;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ids of clients are replaced.
const MAX_REQUEST_ID_LENGTH: usize = 64;

/// Identifies a request in its response, the access log and reports of failures.
#[derive(Clone, Debug)]
pub struct RequestId {
    value: HeaderValue,
    pub client_chosen: bool,
}

impl RequestId {
    pub fn as_str(&self) -> &str {
        self.value.to_str().unwrap_or_default()
    }

    pub fn header_value(&self) -> HeaderValue {
        self.value.clone()
    }
}

#[derive(Debug)]
pub struct RequestIdGenerator {
    next: AtomicU64,
}

impl RequestIdGenerator {
    /// Starts at a random id.
    pub fn new(rng: &Rng) -> Result<Self, Fault> {
        let start = u64::from_be_bytes(rng.random_bytes()?);
        Ok(Self { next: AtomicU64::new(start) })
    }

    /// The client's `x-request-id` if it is a plain one, else a new id.
    pub fn assign_id(&self, headers: &HeaderMap) -> RequestId {
        let client_id = find_rare_header(headers, &X_REQUEST_ID).filter(|value| is_plain_id(value.as_bytes()));
        let value = client_id.cloned().unwrap_or_else(|| self.generate_id());
        RequestId { value, client_chosen: client_id.is_some() }
    }

    fn generate_id(&self) -> HeaderValue {
        // Golden-ratio steps and SplitMix64's finalizer: distinct ids without a visible order.
        let mixed = mix_bits(self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
        HeaderValue::from_str(&format!("{mixed:016x}")).unwrap_or(HeaderValue::from_static("0000000000000000"))
    }
}

fn is_plain_id(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=MAX_REQUEST_ID_LENGTH).contains(&name.len()) && name.iter().all(plain)
}

#[derive(Debug)]
pub struct AccessLogEntry<'l> {
    pub method: &'l str,
    /// The path template; empty if no operation matched.
    pub route: &'static str,
    pub status: u16,
    /// Bytes of the response body; 0 if it is streamed.
    pub bytes: usize,
    /// From reading the head to the response.
    pub duration: Duration,
    pub app: Option<AppId>,
    pub user: Option<UserId>,
    pub id: &'l RequestId,
    pub fault: bool,
    /// Where the refusal of the credentials is explained.
    pub explanation_url: Option<&'l str>,
}

macro_rules! log_entry {
    ($level:ident, $log_entry:expr) => {{
        let log_entry = $log_entry;
        tracing::$level!(
            target: "request",
            method = log_entry.method,
            route = log_entry.route,
            status = log_entry.status,
            bytes = log_entry.bytes,
            ms = ms(log_entry.duration),
            app = log_entry.app.map(AppId::get),
            user = log_entry.user.map(UserId::get),
            request_id = log_entry.id.as_str(),
            fault = log_entry.fault,
            explain = log_entry.explanation_url,
            "request completed"
        );
    }};
}

impl AccessLogEntry<'_> {
    /// Logs internal errors at `error` and other failures of the server at `warn`. What a client does wrong is no
    /// warning to the operator. Health checks, and what asks for new entries of the journal, come every second or more often
    /// and are logged at `debug`.
    pub fn write(&self) {
        match self.status {
            _ if self.fault => log_entry!(error, self),
            500.. => log_entry!(warn, self),
            _ if HEALTH_ROUTES.contains(&self.route) => log_entry!(debug, self),
            _ if (self.method, self.route) == ("GET", "/control/v1/requests") => log_entry!(debug, self),
            _ => log_entry!(info, self),
        }
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Logs an internal error once, with its chain.
pub fn log_fault(fault: &impl fmt::Display, id: &RequestId, route: &'static str) {
    tracing::error!(target: "fault", request_id = id.as_str(), route, "{fault}");
}

#[cfg(test)]
mod tests {
    use base::Rng;
    use http::{HeaderMap, HeaderValue};

    use super::RequestIdGenerator;

    fn given(name: &[u8]) -> super::RequestId {
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", HeaderValue::from_bytes(name).unwrap());
        RequestIdGenerator::new(&Rng::from_seed(1)).unwrap().assign_id(&headers)
    }

    #[test]
    fn a_plain_name_is_taken_over() {
        assert_eq!(given(b"a-B_c.9").as_str(), "a-B_c.9");
        let long = "x".repeat(65);
        for bad in [&b""[..], b"a b", b"a\"b", "é".as_bytes(), long.as_bytes()] {
            let id = given(bad);
            assert!(!id.client_chosen && id.as_str().len() == 16, "{bad:?}");
        }
    }

    #[test]
    fn new_names_are_distinct() {
        let ids = RequestIdGenerator::new(&Rng::Os).unwrap();
        let headers = HeaderMap::new();
        let names: std::collections::HashSet<_> =
            (0..10_000).map(|_| ids.assign_id(&headers).as_str().to_owned()).collect();
        assert_eq!(names.len(), 10_000);
    }
}
