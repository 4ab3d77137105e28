//! The short texts of an entry and the headers of its two messages.

use http::HeaderMap;

use super::entry::truncate_text;
use super::masking;

/// Of a client's text.
const MAX_PATH_BYTES: usize = 8 * 1024;
/// Of one message.
const MAX_HEADER_BYTES: usize = 32 * 1024;
/// About what one line of a header takes.
const HEADER_LINE_BYTES: usize = 48;

const ID: usize = 0;
const METHOD: usize = 1;
const ORIGIN: usize = 2;
const PATH: usize = 3;
const QUERY: usize = 4;
const APP_NAME: usize = 5;
const REQUEST_HEADERS: usize = 6;
const RESPONSE_HEADERS: usize = 7;
const PARTS: usize = 8;

/// One text after another in one allocation: of a full journal, each allocation is far from the processor's cache when it
/// is made and when it is freed.
#[derive(Debug)]
pub(super) struct EntryTexts {
    buffer: Box<str>,
    /// The end of each part, in bytes.
    ends: [usize; PARTS],
}

pub(super) struct EntryTextSources<'r> {
    pub id: &'r str,
    pub method: &'r str,
    pub scheme: &'r str,
    pub host: &'r str,
    /// With its secrets masked, as the query.
    pub path: &'r str,
    pub query: &'r str,
    pub app_name: &'r str,
    pub request_headers: &'r HeaderMap,
    pub response_headers: &'r HeaderMap,
}

/// One `name: value` a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLines<'e>(&'e str);

impl EntryTexts {
    /// Masks the headers.
    pub(super) fn record(sources: &EntryTextSources<'_>) -> Self {
        let header_count = sources.request_headers.len().saturating_add(sources.response_headers.len());
        let mut texts = TextBuffer::with_capacity(header_count.saturating_mul(HEADER_LINE_BYTES).saturating_add(160));
        texts.push_part(ID, &[sources.id]);
        texts.push_part(METHOD, &[truncate_text(sources.method, 32)]);
        texts.push_part(ORIGIN, &[sources.scheme, "://", truncate_text(sources.host, 300)]);
        texts.push_part(PATH, &[truncate_text(sources.path, MAX_PATH_BYTES)]);
        texts.push_part(QUERY, &[truncate_text(sources.query, MAX_PATH_BYTES)]);
        texts.push_part(APP_NAME, &[sources.app_name]);
        texts.push_headers(REQUEST_HEADERS, sources.request_headers);
        texts.push_headers(RESPONSE_HEADERS, sources.response_headers);
        Self { buffer: texts.buffer.into(), ends: texts.ends }
    }

    pub(super) fn id(&self) -> &str {
        self.part(ID)
    }

    pub(super) fn method(&self) -> &str {
        self.part(METHOD)
    }

    pub(super) fn origin(&self) -> &str {
        self.part(ORIGIN)
    }

    pub(super) fn path(&self) -> &str {
        self.part(PATH)
    }

    pub(super) fn query(&self) -> &str {
        self.part(QUERY)
    }

    pub(super) fn app_name(&self) -> &str {
        self.part(APP_NAME)
    }

    pub(super) fn request_headers(&self) -> HeaderLines<'_> {
        HeaderLines(self.part(REQUEST_HEADERS))
    }

    pub(super) fn response_headers(&self) -> HeaderLines<'_> {
        HeaderLines(self.part(RESPONSE_HEADERS))
    }

    /// In bytes.
    pub(super) const fn size(&self) -> usize {
        self.buffer.len()
    }

    fn part(&self, index: usize) -> &str {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.buffer.get(start..end).unwrap_or_default()
    }
}

struct TextBuffer {
    buffer: String,
    ends: [usize; PARTS],
}

impl TextBuffer {
    fn with_capacity(bytes: usize) -> Self {
        Self { buffer: String::with_capacity(bytes), ends: [0; PARTS] }
    }

    fn push_part(&mut self, index: usize, pieces: &[&str]) {
        for piece in pieces {
            self.buffer.push_str(piece);
        }
        self.end_part(index);
    }

    fn push_headers(&mut self, index: usize, headers: &HeaderMap) {
        let start = self.buffer.len();
        masking::mask_headers(headers, &mut self.buffer);
        let lines = self.buffer.get(start..).unwrap_or_default();
        let length = truncate_text(lines, MAX_HEADER_BYTES).len();
        self.buffer.truncate(start.saturating_add(length));
        self.end_part(index);
    }

    fn end_part(&mut self, index: usize) {
        if let Some(end) = self.ends.get_mut(index) {
            *end = self.buffer.len();
        }
    }
}

impl<'e> HeaderLines<'e> {
    pub fn iter(self) -> impl Iterator<Item = (&'e str, &'e str)> {
        self.0.lines().filter_map(|line| line.split_once(": "))
    }

    /// `name` in lower case.
    pub fn get(self, name: &str) -> Option<&'e str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
