//! What reaches receivers: one request, one answer of which not much is read, no redirects.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{Fault, clock};
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connect::{Connector, NotAllowed};
use super::{Authorities, Settings};

/// How much of an answer is read; what is longer ends the connection.
const READ: usize = 16 * 1024;
/// How much of an answer is kept.
const KEPT: usize = 1024;
/// The longest head of an answer.
const HEAD: usize = 16 * 1024;
/// Connections to one host that are kept while nothing is sent: many webhooks may be at one.
const IDLE: usize = 128;
const IDLE_FOR: Duration = Duration::from_mins(1);

/// What a receiver answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// The status; 0 where there was no answer.
    pub(crate) status: u16,
    /// The body, if it was short enough to be read whole.
    pub(crate) body: Option<Bytes>,
    /// How it began.
    pub(crate) start: String,
    /// How long the receiver asked to be left alone, in milliseconds.
    pub(crate) retry_after_ms: Option<i64>,
    /// Why there was no answer.
    pub(crate) problem: Option<Unheard>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unheard {
    /// It took too long.
    TimedOut,
    /// The host has no address that may be connected to.
    NotAllowed,
    /// The receiver could not prove who it is.
    Untrusted(String),
    /// It could not be reached, or broke off.
    Broken(String),
}

impl fmt::Display for Unheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time"),
            Self::NotAllowed => write!(f, "{NotAllowed}"),
            Self::Untrusted(text) | Self::Broken(text) => f.write_str(text),
        }
    }
}

type Http = Client<HttpsConnector<Connector>, Full<Bytes>>;

/// Sends requests to receivers.
#[derive(Clone)]
pub struct Courier(Arc<Inner>);

struct Inner {
    connector: Connector,
    authorities: Authorities,
    timeout: Duration,
    /// Made when first needed: reading the system's certificates takes a while.
    client: OnceLock<Http>,
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Courier({:?})", self.0.connector)
    }
}

impl Courier {
    /// What reaches receivers where settings say that they may be.
    pub fn new(settings: &Settings) -> Self {
        Self(Arc::new(Inner {
            connector: Connector::new(settings.targets.clone(), settings.names.clone()),
            authorities: settings.authorities.clone(),
            timeout: settings.timeout,
            client: OnceLock::new(),
        }))
    }

    fn client(&self) -> Result<Http, Fault> {
        if let Some(client) = self.0.client.get() {
            return Ok(client.clone());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = self.0.authorities.with_those_of_the_system();
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Fault::context("setting up TLS"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(self.0.connector.clone());
        let made = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_max_idle_per_host(IDLE)
            .http1_max_buf_size(HEAD)
            .build(connector);
        Ok(self.0.client.get_or_init(|| made).clone())
    }

    /// How many seconds a receiver may take to answer.
    pub(crate) fn patience(&self) -> u64 {
        self.0.timeout.as_secs()
    }

    /// Sends a request and reads the answer, all of it in time.
    pub(crate) async fn ask(&self, request: Request<Full<Bytes>>) -> Heard {
        let began = clock::monotonic_now();
        let asked = tokio::time::timeout(self.0.timeout, self.ask_at_leisure(request)).await;
        let mut heard = match asked {
            Ok(Ok(heard)) => heard,
            Ok(Err(problem)) => Heard::none(problem),
            Err(_) => Heard::none(Unheard::TimedOut),
        };
        heard.took = began.elapsed();
        heard
    }

    async fn ask_at_leisure(&self, request: Request<Full<Bytes>>) -> Result<Heard, Unheard> {
        let client = self.client();
        let client = client.map_err(|fault| Unheard::Broken(fault.to_string()))?;
        let answer = client.request(request).await;
        Ok(read(answer.map_err(|error| why(&error))?).await)
    }
}

impl Heard {
    /// A request that could not be made.
    pub(crate) fn unsendable(error: &http::Error) -> Self {
        Self::none(Unheard::Broken(error.to_string()))
    }

    fn none(problem: Unheard) -> Self {
        Self {
            problem: Some(problem),
            ..Self::default()
        }
    }
}

async fn read(answer: Response<Incoming>) -> Heard {
    let (head, mut body) = answer.into_parts();
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
        let room = READ.saturating_sub(bytes.len());
        bytes.extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
        if data.len() > room {
            whole = false;
            break;
        }
    }
    let asked = head
        .headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let asked = asked.and_then(|seconds| seconds.trim().parse::<i64>().ok());
    let start = bytes.get(..KEPT.min(bytes.len())).unwrap_or_default();
    Heard {
        status: head.status.as_u16(),
        start: printable(start),
        body: whole.then(|| Bytes::from(bytes)),
        retry_after_ms: asked.map(|seconds| seconds.max(0).saturating_mul(1000)),
        ..Heard::default()
    }
}

/// What a receiver wrote, as a database on a server can keep it.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

fn why(error: &hyper_util::client::legacy::Error) -> Unheard {
    let mut text = String::new();
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<NotAllowed>() {
            return Unheard::NotAllowed;
        }
        if error.is::<rustls::Error>() {
            return Unheard::Untrusted(error.to_string());
        }
        text = error.to_string();
        cause = within(error);
    }
    Unheard::Broken(text.replace('\0', ""))
}

/// What caused an error. One of input and output holds another without calling it its source.
fn within<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>() {
        Some(io) => {
            let inner: &(dyn Error + 'static) = io.get_ref()?;
            Some(inner)
        }
        None => error.source(),
    }
}
