//! The short texts of an entry and the headers of its two messages.

use http::HeaderMap;

use super::entry::{ObservedRequest, truncate_text};
use super::masking;

/// Of a client's text.
const MAX_PATH_BYTES: usize = 8 * 1024;
/// Of one message.
const MAX_HEADER_BYTES: usize = 32 * 1024;
/// About what one line of a header takes.
const HEADER_LINE_BYTES: usize = 48;

pub(super) const ID: usize = 0;
pub(super) const METHOD: usize = 1;
pub(super) const ORIGIN: usize = 2;
pub(super) const PATH: usize = 3;
pub(super) const QUERY: usize = 4;
pub(super) const APP_NAME: usize = 5;
pub(super) const REQUEST_HEADERS: usize = 6;
pub(super) const RESPONSE_HEADERS: usize = 7;
const PARTS: usize = 8;

/// One text after another in one allocation: of a full journal, each allocation is far from the processor's cache when it
/// is made and when it is freed.
#[derive(Debug)]
pub(super) struct EntryTexts {
    buffer: Box<str>,
    /// The end of each part, in bytes.
    ends: [usize; PARTS],
}

/// One `name: value` a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLines<'e>(pub(super) &'e str);

impl EntryTexts {
    /// Masks what is secret.
    pub(super) fn record(observed: &ObservedRequest<'_>) -> Self {
        let header_count = observed.request_headers.len().saturating_add(observed.response_headers.len());
        let mut texts = TextBuffer::with_capacity(header_count.saturating_mul(HEADER_LINE_BYTES).saturating_add(160));
        texts.push_part(ID, &[observed.id]);
        texts.push_part(METHOD, &[truncate_text(observed.method, 32)]);
        texts.push_part(ORIGIN, &[observed.scheme, "://", truncate_text(observed.host, 300)]);
        texts.push_part(PATH, &[truncate_text(&masking::mask_path(observed.route, observed.path), MAX_PATH_BYTES)]);
        texts.push_part(QUERY, &[truncate_text(&masking::mask_form(observed.query), MAX_PATH_BYTES)]);
        texts.push_part(APP_NAME, &[observed.app_name]);
        texts.push_headers(REQUEST_HEADERS, observed.request_headers);
        texts.push_headers(RESPONSE_HEADERS, observed.response_headers);
        Self { buffer: texts.buffer.into(), ends: texts.ends }
    }

    /// In bytes.
    pub(super) const fn size(&self) -> usize {
        self.buffer.len()
    }

    pub(super) fn part(&self, index: usize) -> &str {
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
