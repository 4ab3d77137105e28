//! One line per answered request. Never a query, a header, a body or a secret.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::{AppId, Fault, Rng, UserId};
use http::HeaderMap;
use http::header::HeaderValue;

/// Longer names than this from outside are not taken over.
const MAX_REQUEST_ID_LENGTH: usize = 64;

/// A request's own name, in its answer, in the log and in reports of failures.
#[derive(Clone, Debug)]
pub struct RequestId {
    value: HeaderValue,
    /// Whether the client chose it.
    pub client_chosen: bool,
}

impl RequestId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        self.value.to_str().unwrap_or_default()
    }

    /// The name as a header has it.
    pub fn header_value(&self) -> HeaderValue {
        self.value.clone()
    }
}

/// The source of request names.
#[derive(Debug)]
pub struct RequestIdGenerator {
    next: AtomicU64,
}

impl RequestIdGenerator {
    /// Names that begin at a random place.
    pub fn new(chance: &Rng) -> Result<Self, Fault> {
        let start = u64::from_be_bytes(chance.random_bytes()?);
        Ok(Self {
            next: AtomicU64::new(start),
        })
    }

    /// The name that the client gave in `x-request-id`, if it is a plain one; else a new one.
    pub fn assign_id(&self, headers: &HeaderMap) -> RequestId {
        let given = headers
            .get("x-request-id")
            .filter(|value| is_plain_id(value.as_bytes()));
        let value = given.cloned().unwrap_or_else(|| self.generate_id());
        RequestId {
            value,
            client_chosen: given.is_some(),
        }
    }

    fn generate_id(&self) -> HeaderValue {
        // Golden-ratio steps, then SplitMix64's finish: distinct, and without a visible order.
        let mut mixed = self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        HeaderValue::from_str(&format!("{mixed:016x}")).unwrap_or(HeaderValue::from_static("0000000000000000"))
    }
}

fn is_plain_id(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=MAX_REQUEST_ID_LENGTH).contains(&name.len()) && name.iter().all(plain)
}

/// What is logged of a request.
#[derive(Debug)]
pub struct AccessLogEntry<'l> {
    /// The method.
    pub method: &'l str,
    /// The operation's path with its names; empty where there is no operation.
    pub route: &'static str,
    /// The status.
    pub status: u16,
    /// Bytes of the answer's body, as far as they are at hand.
    pub bytes: usize,
    /// From the head to the answer.
    pub took: Duration,
    /// The calling app.
    pub app: Option<AppId>,
    /// The calling user.
    pub user: Option<UserId>,
    /// The request's name.
    pub id: &'l RequestId,
    /// Whether something of ours failed.
    pub fault: bool,
}

macro_rules! line {
    ($level:ident, $line:expr) => {{
        let line = $line;
        tracing::$level!(
            target: "request",
            method = line.method,
            route = line.route,
            status = line.status,
            bytes = line.bytes,
            ms = ms(line.took),
            app = line.app.map(AppId::get),
            user = line.user.map(UserId::get),
            request_id = line.id.as_str(),
            fault = line.fault,
            "answered"
        );
    }};
}

impl AccessLogEntry<'_> {
    /// Writes the line: failures of ours as errors, refusals as warnings.
    pub fn write(&self) {
        match self.status {
            _ if self.fault => line!(error, self),
            400.. => line!(warn, self),
            _ => line!(info, self),
        }
    }
}

/// Milliseconds, with three places.
fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

/// Logs a failure of ours, once, with its chain.
pub fn log_fault(fault: &Fault, id: &RequestId, route: &'static str) {
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
        let names: std::collections::HashSet<_> = (0..10_000)
            .map(|_| ids.assign_id(&headers).as_str().to_owned())
            .collect();
        assert_eq!(names.len(), 10_000);
    }
}
