//! An HTTP client for receivers: bounded responses, no redirects.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{Fault, clock};
use bytes::Bytes;
use emulator::faults::FaultRules;
use http::header::RETRY_AFTER;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::{AddressNotAllowed, TargetConnector};
use super::{CertificateAuthorities, WebhookSettings};

/// A longer response closes the connection.
const MAX_BODY_BYTES: usize = 16 * 1024;
/// How much of a response is stored.
const MAX_RECORDED_BYTES: usize = 1024;
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Idle connections per host; many webhooks may share a host.
const MAX_IDLE_CONNECTIONS: usize = 128;
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookResponse {
    /// 0 if there was no response.
    pub(crate) status: u16,
    /// The body, if it was short enough to be read completely.
    pub(crate) body: Option<Bytes>,
    /// The beginning of the body.
    pub(crate) body_start: String,
    /// The `Retry-After` of the response, in milliseconds.
    pub(crate) retry_after_ms: Option<i64>,
    pub(crate) problem: Option<RequestFailure>,
    pub(crate) elapsed: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    TimedOut,
    /// The host has no allowed address.
    NotAllowed,
    /// The certificate is not trusted.
    Untrusted(String),
    /// The connection failed or broke off.
    Broken(String),
}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time"),
            Self::NotAllowed => write!(f, "{AddressNotAllowed}"),
            Self::Untrusted(text) | Self::Broken(text) => f.write_str(text),
        }
    }
}

type HttpClient = Client<HttpsConnector<TargetConnector>, Full<Bytes>>;

#[derive(Clone)]
pub struct WebhookClient(Arc<WebhookClientInner>);

struct WebhookClientInner {
    connector: TargetConnector,
    authorities: CertificateAuthorities,
    timeout: Duration,
    faults: Option<Arc<FaultRules>>,
    /// Created on first use, since loading the system's certificates takes a while.
    client: OnceLock<HttpClient>,
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookClient({:?})", self.0.connector)
    }
}

impl WebhookClient {
    pub fn new(settings: &WebhookSettings) -> Self {
        Self(Arc::new(WebhookClientInner {
            connector: TargetConnector::new(settings.targets.clone(), settings.resolver.clone(), settings.timeout),
            authorities: settings.authorities.clone(),
            timeout: settings.timeout,
            faults: settings.faults.clone(),
            client: OnceLock::new(),
        }))
    }

    fn http_client(&self) -> Result<HttpClient, Fault> {
        if let Some(client) = self.0.client.get() {
            return Ok(client.clone());
        }
        let connector = self.0.connector.with_tls(&self.0.authorities)?;
        let made = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .build(connector);
        Ok(self.0.client.get_or_init(|| made).clone())
    }

    pub(super) fn faults(&self) -> Option<&FaultRules> {
        self.0.faults.as_deref().filter(|rules| !rules.is_empty())
    }

    pub(crate) fn timeout_secs(&self) -> u64 {
        self.0.timeout.as_secs()
    }

    /// Sends a request and reads the response within the timeout.
    pub(crate) async fn send_request(&self, request: Request<Full<Bytes>>) -> WebhookResponse {
        let began = clock::monotonic_now();
        let retry_after = tokio::time::timeout(self.0.timeout, self.send_without_timeout(request)).await;
        let mut heard = match retry_after {
            Ok(Ok(heard)) => heard,
            Ok(Err(problem)) => WebhookResponse::from_failure(problem),
            Err(_) => WebhookResponse::from_failure(RequestFailure::TimedOut),
        };
        heard.elapsed = began.elapsed();
        heard
    }

    async fn send_without_timeout(&self, request: Request<Full<Bytes>>) -> Result<WebhookResponse, RequestFailure> {
        let client = self.http_client();
        let client = client.map_err(|fault| RequestFailure::Broken(fault.to_string()))?;
        let result = client.request(request).await;
        Ok(read_response(result.map_err(|error| classify_error(&error))?).await)
    }
}

impl WebhookResponse {
    /// The result for a request that could not be built.
    pub(crate) fn invalid_request(error: &http::Error) -> Self {
        Self::from_failure(RequestFailure::Broken(error.to_string()))
    }

    fn from_failure(problem: RequestFailure) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }
}

async fn read_response(response: Response<Incoming>) -> WebhookResponse {
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    let mut whole = true;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            whole = false;
            break;
        };
        let Some(data) = frame.data_ref() else {
            continue;
        };
        let room = MAX_BODY_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
        if data.len() > room {
            whole = false;
            break;
        }
    }
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|seconds| seconds.trim().parse::<i64>().ok());
    let start = bytes.get(..MAX_RECORDED_BYTES.min(bytes.len())).unwrap_or_default();
    WebhookResponse {
        status: head.status.as_u16(),
        body_start: printable_text(start),
        body: whole.then(|| Bytes::from(bytes)),
        retry_after_ms: retry_after.map(|seconds| seconds.max(0).saturating_mul(1000)),
        ..WebhookResponse::default()
    }
}

/// The text of a response without characters that database servers reject.
fn printable_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

fn classify_error(error: &hyper_util::client::legacy::Error) -> RequestFailure {
    let mut text = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<AddressNotAllowed>() {
            return RequestFailure::NotAllowed;
        }
        if error.is::<rustls::Error>() {
            return RequestFailure::Untrusted(error.to_string());
        }
        text = error.to_string();
        cause = inner_cause(error);
    }
    RequestFailure::Broken(text.replace('\0', ""))
}

/// The cause of an error. `io::Error` can wrap an error without returning it as its source.
fn inner_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>() {
        Some(io) => {
            let inner: &(dyn Error + 'static) = io.get_ref()?;
            Some(inner)
        }
        None => error.source(),
    }
}
