//! What is stored of a request.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base::{AppId, Credential, Time, UserId};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING};
use parking_lot::Mutex;
use store::AppendedEvent;

use super::entry_texts::{self, EntryTexts, HeaderLines};
use super::masking;

/// What an entry takes besides its texts, in bytes.
const ENTRY_OVERHEAD: usize = 640;
/// What is stored of a body.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
/// What is stored of a response without an end.
const MAX_STREAM_BYTES: usize = 16 * 1024;
/// Events that one request is shown to have caused.
const MAX_EVENTS: usize = 200;

/// A request as the pipeline saw it, with its secrets.
pub struct ObservedRequest<'r> {
    pub id: &'r str,
    /// By the clock of the world.
    pub at: Time,
    pub received_at: Time,
    pub duration: Duration,
    pub operation: &'static str,
    /// The path template; empty if no operation matched.
    pub route: &'static str,
    pub method: &'r str,
    pub scheme: &'r str,
    /// With the port that the client named.
    pub host: &'r str,
    pub path: &'r str,
    pub query: &'r str,
    pub client: Option<IpAddr>,
    pub app: Option<AppId>,
    pub app_name: &'r str,
    pub user: Option<UserId>,
    pub credential: Option<Credential>,
    /// Whether the user owns the app.
    pub is_app_owner: bool,
    pub request_headers: &'r HeaderMap,
    pub request_body: Option<&'r [u8]>,
    pub status: u16,
    pub response_headers: &'r HeaderMap,
    pub response_body: ObservedBody<'r>,
    pub injected_fault: Option<&'r str>,
    /// Whether an explanation of the refused credentials exists.
    pub has_explanation: bool,
    pub events: Vec<AppendedEvent>,
}

pub enum ObservedBody<'r> {
    Full(&'r [u8]),
    Stream(StreamStart),
    Unknown,
}

#[derive(Debug)]
pub struct JournalEntry {
    /// Increases by one with each entry.
    pub seq: u64,
    pub at: Time,
    pub received_at: Time,
    pub duration: Duration,
    pub operation: &'static str,
    pub route: &'static str,
    pub client: Option<IpAddr>,
    pub app: Option<AppId>,
    pub user: Option<UserId>,
    pub credential: Option<Credential>,
    texts: EntryTexts,
    pub request_body: RecordedBody,
    pub status: u16,
    pub response_body: RecordedBody,
    pub injected_fault: Option<Box<str>>,
    pub has_explanation: bool,
    pub label: Option<Box<str>>,
    pub events: Vec<AppendedEvent>,
    /// By the public price list, in millionths of a US dollar.
    pub cost_micros: u64,
}

#[derive(Clone, Debug)]
pub enum RecordedBody {
    None,
    Text {
        text: Box<str>,
        /// In bytes, of the whole body.
        size: usize,
    },
    /// The start of a response without an end.
    Stream(StreamStart),
    Omitted {
        /// In bytes.
        size: usize,
        reason: &'static str,
    },
}

/// Filled while the client reads.
#[derive(Clone, Debug, Default)]
pub struct StreamStart(Arc<Mutex<String>>);

impl StreamStart {
    pub fn push(&self, chunk: &[u8]) {
        let mut text = self.0.lock();
        let room = MAX_STREAM_BYTES.saturating_sub(text.len()).min(chunk.len());
        if room > 0 {
            let part = String::from_utf8_lossy(chunk.get(..room).unwrap_or_default());
            text.push_str(&masking::mask_json(&part));
        }
    }

    pub fn text(&self) -> String {
        self.0.lock().clone()
    }
}

impl RecordedBody {
    /// `stores_bodies` is the setting `journal.bodies`.
    pub fn record(headers: &HeaderMap, bytes: &[u8], stores_bodies: bool) -> Self {
        if bytes.is_empty() {
            return Self::None;
        }
        let size = bytes.len();
        if !stores_bodies {
            return Self::Omitted { size, reason: "journal.bodies is off" };
        }
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        if kind.starts_with("multipart/") || kind.starts_with("image/") || kind.starts_with("video/") {
            return Self::Omitted { size, reason: "media" };
        }
        let prefix = bytes.get(..MAX_BODY_BYTES).unwrap_or(bytes);
        let text = match std::str::from_utf8(prefix) {
            Ok(text) => text.into(),
            // The limit may divide a character.
            Err(error) if prefix.len().saturating_sub(error.valid_up_to()) < 4 => String::from_utf8_lossy(prefix),
            Err(_) => return Self::Omitted { size, reason: "not text" },
        };
        Self::record_text(&kind, &text, size)
    }

    /// Uploads are read by their operations while they arrive, and bodies of refused requests may not be read.
    fn of_unread_request(headers: &HeaderMap) -> Self {
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        match length {
            Some(0) => Self::None,
            None if !headers.contains_key(TRANSFER_ENCODING) => Self::None,
            size => Self::Omitted { size: size.unwrap_or(0), reason: "streamed or not read" },
        }
    }

    fn record_text(kind: &str, text: &str, size: usize) -> Self {
        let start = text.trim_start();
        let masked = if kind.contains("json") || start.starts_with(['{', '[']) {
            masking::mask_json(text)
        } else if start.starts_with('<') {
            return Self::Omitted { size, reason: "a page" };
        } else if kind.contains("urlencoded") || kind.starts_with("text/html") || !kind.starts_with("text/") {
            masking::mask_form(text)
        } else {
            masking::mask_json(text)
        };
        Self::Text { text: masked.into(), size }
    }

    /// None if there is none, or it is not stored.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text { text, .. } => Some(text.to_string()),
            Self::Stream(start) => Some(start.text()),
            Self::None | Self::Omitted { .. } => None,
        }
    }

    /// In bytes; none of a stream.
    pub const fn size(&self) -> Option<usize> {
        match self {
            Self::None => Some(0),
            Self::Text { size, .. } | Self::Omitted { size, .. } => Some(*size),
            Self::Stream(_) => None,
        }
    }

    pub const fn is_truncated(&self) -> bool {
        matches!(self, Self::Text { size, .. } if *size > MAX_BODY_BYTES)
    }

    /// Why it is not stored.
    pub const fn omission(&self) -> Option<&'static str> {
        match self {
            Self::Omitted { reason, .. } => Some(reason),
            _ => None,
        }
    }

    const fn stored_bytes(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::Stream(_) => MAX_STREAM_BYTES,
            Self::None | Self::Omitted { .. } => 0,
        }
    }
}

impl JournalEntry {
    /// Masks what is secret.
    pub fn from_observed(observed: ObservedRequest<'_>, stores_bodies: bool) -> Self {
        let texts = EntryTexts::record(&observed);
        let response_body = match observed.response_body {
            ObservedBody::Full(bytes) => RecordedBody::record(observed.response_headers, bytes, stores_bodies),
            ObservedBody::Stream(start) => RecordedBody::Stream(start),
            ObservedBody::Unknown => RecordedBody::Omitted { size: 0, reason: "a file" },
        };
        let request_body = match observed.request_body {
            Some(body) => RecordedBody::record(observed.request_headers, body, stores_bodies),
            None => RecordedBody::of_unread_request(observed.request_headers),
        };
        let mut events = observed.events;
        events.truncate(MAX_EVENTS);
        Self {
            seq: 0,
            at: observed.at,
            received_at: observed.received_at,
            duration: observed.duration,
            operation: observed.operation,
            route: observed.route,
            client: observed.client,
            app: observed.app,
            user: observed.user,
            credential: observed.credential,
            texts,
            request_body,
            status: observed.status,
            response_body,
            injected_fault: observed.injected_fault.map(Into::into),
            has_explanation: observed.has_explanation,
            label: None,
            events,
            cost_micros: 0,
        }
    }

    /// In bytes, about.
    pub fn memory_size(&self) -> usize {
        let texts = [
            self.texts.size(),
            self.request_body.stored_bytes(),
            self.response_body.stored_bytes(),
            self.events.len().saturating_mul(80),
        ];
        texts.into_iter().fold(ENTRY_OVERHEAD, usize::saturating_add)
    }

    /// As in the response header `x-transaction-id`.
    pub fn id(&self) -> &str {
        self.texts.part(entry_texts::ID)
    }

    pub fn method(&self) -> &str {
        self.texts.part(entry_texts::METHOD)
    }

    pub fn path(&self) -> &str {
        self.texts.part(entry_texts::PATH)
    }

    pub fn query(&self) -> &str {
        self.texts.part(entry_texts::QUERY)
    }

    pub fn app_name(&self) -> &str {
        self.texts.part(entry_texts::APP_NAME)
    }

    pub fn request_headers(&self) -> HeaderLines<'_> {
        HeaderLines(self.texts.part(entry_texts::REQUEST_HEADERS))
    }

    pub fn response_headers(&self) -> HeaderLines<'_> {
        HeaderLines(self.texts.part(entry_texts::RESPONSE_HEADERS))
    }

    /// The path with the query.
    pub fn target(&self) -> String {
        if self.query().is_empty() { self.path().to_owned() } else { format!("{}?{}", self.path(), self.query()) }
    }

    /// Without the port.
    pub fn host(&self) -> &str {
        let origin = self.texts.part(entry_texts::ORIGIN);
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        host.rsplit_once(':').map_or(host, |(name, _)| name)
    }

    pub fn url(&self) -> String {
        format!("{}{}", self.texts.part(entry_texts::ORIGIN), self.target())
    }

    /// `(name, value)`, decoded, those of the path first.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let path = self.path().strip_prefix("/ads-sandbox").unwrap_or(self.path());
        let declared = self.route.split('/').zip(path.split('/'));
        let of_path = declared.filter_map(|(name, value)| {
            let name = name.strip_prefix('{')?.strip_suffix('}')?;
            Some((name.to_owned(), decode(value)))
        });
        let of_query = self.query().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
        });
        of_path.chain(of_query).collect()
    }

    pub fn credential_name(&self) -> &'static str {
        match self.credential {
            Some(Credential::OAuth1) => "oauth1",
            Some(Credential::App) => "bearer",
            Some(Credential::OAuth2) => "oauth2",
            None => "none",
        }
    }
}

fn decode(text: &str) -> String {
    base::percent::decode(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

/// At a character's boundary.
pub(super) fn truncate_text(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}
