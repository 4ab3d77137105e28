//! Tracks the framing of HTTP/1 bytes as they pass, for what the parser does not report: whether a
//! head is half read, whether it is too long, and whether a finished head contradicts itself
//! (length and chunks at once, bare line feeds, folded lines).

use memchr::memchr;

/// Bytes kept of a line that arrives in pieces; longer framing headers are rejected.
const MAX_PARTIAL_LINE: usize = 256;
/// Method, version and spaces around the target.
const REQUEST_LINE_OVERHEAD: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramingState {
    RequestLine,
    Fields,
    FixedBody(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    Trailers,
    /// Not HTTP/1, or broken in a way that the parser also detects.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadTooLong {
    Target,
    Head,
}

#[derive(Debug, Default)]
struct BodyFraming {
    length: Option<u64>,
    chunked: bool,
    is_contradictory: bool,
}

#[derive(Debug)]
pub(crate) struct FramingTracker {
    state: FramingState,
    partial_line: Vec<u8>,
    line_bytes: usize,
    last: u8,
    head_bytes: usize,
    framing: BodyFraming,
    finished_requests: u64,
    contradictory_request: Option<u64>,
    http2: bool,
    max_target: usize,
    max_head: usize,
}

impl FramingTracker {
    pub(crate) fn new(max_target: usize, max_head: usize) -> Self {
        Self {
            state: FramingState::RequestLine,
            partial_line: Vec::new(),
            line_bytes: 0,
            last: 0,
            head_bytes: 0,
            framing: BodyFraming::default(),
            finished_requests: 0,
            contradictory_request: None,
            http2: false,
            max_target,
            max_head,
        }
    }

    pub(crate) fn is_inside_head(&self) -> bool {
        match self.state {
            FramingState::RequestLine => self.line_bytes > 0,
            FramingState::Fields => true,
            _ => false,
        }
    }

    pub(crate) fn is_between_requests(&self) -> bool {
        match self.state {
            FramingState::RequestLine => self.line_bytes == 0,
            FramingState::Unknown => self.http2,
            _ => false,
        }
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.http2
    }

    /// The number, from 1, of the request whose head contradicts itself.
    pub(crate) fn contradictory_request(&self) -> Option<u64> {
        self.contradictory_request
    }

    pub(crate) fn track_bytes(&mut self, mut bytes: &[u8]) -> Result<(), HeadTooLong> {
        while !bytes.is_empty() {
            bytes = match self.state {
                FramingState::Unknown => return Ok(()),
                FramingState::FixedBody(left) => {
                    let (left, rest) = skip_bytes(bytes, left);
                    self.state = if left == 0 { FramingState::RequestLine } else { FramingState::FixedBody(left) };
                    rest
                }
                FramingState::ChunkData(left) => {
                    let (left, rest) = skip_bytes(bytes, left);
                    self.state = if left == 0 { FramingState::ChunkEnd } else { FramingState::ChunkData(left) };
                    rest
                }
                _ => self.track_line(bytes)?,
            };
        }
        Ok(())
    }

    fn track_line<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], HeadTooLong> {
        let end = memchr(b'\n', bytes);
        let (piece, rest) = match end.and_then(|at| bytes.split_at_checked(at)) {
            Some((piece, rest)) => (piece, rest.get(1..).unwrap_or_default()),
            None => (bytes, bytes.get(bytes.len()..).unwrap_or_default()),
        };
        self.line_bytes = self.line_bytes.saturating_add(piece.len());
        self.last = piece.last().copied().unwrap_or(self.last);
        self.check_size(piece.len() + usize::from(end.is_some()))?;
        if end.is_none() {
            self.keep_partial_line(piece);
            return Ok(rest);
        }
        if self.partial_line.is_empty() {
            self.finish_line(piece);
        } else {
            self.keep_partial_line(piece);
            let line = std::mem::take(&mut self.partial_line);
            self.finish_line(&line);
        }
        self.line_bytes = 0;
        self.last = 0;
        Ok(rest)
    }

    fn keep_partial_line(&mut self, piece: &[u8]) {
        let room = MAX_PARTIAL_LINE.saturating_sub(self.partial_line.len());
        self.partial_line.extend(piece.iter().take(room));
    }

    fn check_size(&mut self, bytes: usize) -> Result<(), HeadTooLong> {
        if !matches!(self.state, FramingState::RequestLine | FramingState::Fields) {
            return Ok(());
        }
        if self.state == FramingState::RequestLine && self.line_bytes > self.max_target + REQUEST_LINE_OVERHEAD {
            return Err(HeadTooLong::Target);
        }
        self.head_bytes = self.head_bytes.saturating_add(bytes);
        if self.head_bytes > self.max_head { Err(HeadTooLong::Head) } else { Ok(()) }
    }

    fn finish_line(&mut self, line: &[u8]) {
        let with_return = self.last == b'\r';
        let whole = line.len() == self.line_bytes;
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        let empty = whole && text.is_empty();
        match self.state {
            FramingState::RequestLine if empty => {}
            FramingState::RequestLine if self.finished_requests == 0 && text == b"PRI * HTTP/2.0" => {
                self.http2 = true;
                self.state = FramingState::Unknown;
            }
            FramingState::RequestLine => {
                self.framing = BodyFraming { is_contradictory: !with_return, ..BodyFraming::default() };
                self.state = FramingState::Fields;
            }
            FramingState::Fields => {
                self.framing.is_contradictory |= !with_return;
                if empty {
                    self.finish_head();
                } else {
                    self.framing.apply_header(text, whole);
                }
            }
            FramingState::ChunkSize => self.state = parse_chunk_size(text),
            FramingState::ChunkEnd if empty => self.state = FramingState::ChunkSize,
            FramingState::Trailers if empty => self.state = FramingState::RequestLine,
            FramingState::Trailers => {}
            _ => self.state = FramingState::Unknown,
        }
    }

    fn finish_head(&mut self) {
        self.head_bytes = 0;
        self.finished_requests += 1;
        let framing = std::mem::take(&mut self.framing);
        self.state = match framing.length {
            _ if framing.is_contradictory || (framing.chunked && framing.length.is_some()) => {
                self.contradictory_request = Some(self.finished_requests);
                FramingState::Unknown
            }
            _ if framing.chunked => FramingState::ChunkSize,
            None | Some(0) => FramingState::RequestLine,
            Some(length) => FramingState::FixedBody(length),
        };
    }
}

impl BodyFraming {
    fn apply_header(&mut self, line: &[u8], whole: bool) {
        let header_value = |name: &[u8]| {
            line.split_at_checked(name.len())
                .filter(|(start, _)| start.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim_ascii())
        };
        match line.first() {
            Some(b' ' | b'\t') => self.is_contradictory = true,
            Some(b'c' | b'C') => {
                if let Some(value) = header_value(b"content-length:") {
                    let length = parse_length(value).filter(|_| whole);
                    let differs = self.length.is_some() && self.length != length;
                    self.is_contradictory |= length.is_none() || differs;
                    self.length = length.or(Some(0));
                }
            }
            Some(b't' | b'T') => {
                if let Some(value) = header_value(b"transfer-encoding:") {
                    let plain = whole && value.eq_ignore_ascii_case(b"chunked");
                    self.is_contradictory |= self.chunked || !plain;
                    self.chunked = true;
                }
            }
            _ => {}
        }
    }
}

fn skip_bytes(bytes: &[u8], left: u64) -> (u64, &[u8]) {
    let take = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    let rest = bytes.get(take..).unwrap_or_default();
    (left - u64::try_from(take).unwrap_or(left), rest)
}

fn parse_length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn parse_chunk_size(line: &[u8]) -> FramingState {
    let digits = line.split(|byte| matches!(byte, b';' | b' ' | b'\t')).next().unwrap_or_default();
    let size = std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    match size {
        None => FramingState::Unknown,
        Some(0) => FramingState::Trailers,
        Some(size) => FramingState::ChunkData(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(text: &str, step: usize) -> FramingTracker {
        let mut heads = FramingTracker::new(8192, 65_536);
        for piece in text.as_bytes().chunks(step) {
            heads.track_bytes(piece).unwrap();
        }
        heads
    }

    #[test]
    fn framing_is_tracked_for_any_split_of_the_bytes() {
        let text = "\r\nPOST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab\r\nc\
                    POST /b HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nGET\r\n0\r\nT: 1\r\n\r\n\
                    GET /c HTTP/1.1\r\nhost: a\r\n\r\n";
        for step in 1..=text.len() {
            let heads = follow(text, step);
            assert_eq!(heads.finished_requests, 3, "step {step}");
            assert!(heads.is_between_requests() && !heads.is_inside_head());
            assert_eq!(heads.contradictory_request(), None);
        }
    }

    #[test]
    fn contradictory_request_is_reported_by_its_number() {
        let good = "GET / HTTP/1.1\r\n\r\n";
        for bad in [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
        ] {
            for step in [1, 7, 1000] {
                let heads = follow(&format!("{good}{bad}"), step);
                assert_eq!(heads.contradictory_request(), Some(2), "{bad:?} by {step}");
            }
        }
        assert_eq!(
            follow("POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 9).contradictory_request(),
            None
        );
    }

    #[test]
    fn too_long_header_is_reported_before_its_end() {
        let mut heads = FramingTracker::new(100, 1000);
        assert_eq!(heads.track_bytes(&[b'a'; 165]), Err(HeadTooLong::Target));
        let mut heads = FramingTracker::new(100, 1000);
        heads.track_bytes(b"GET / HTTP/1.1\r\n").unwrap();
        assert_eq!(heads.track_bytes(&[b'a'; 985]), Err(HeadTooLong::Head));
    }

    #[test]
    fn http2_preface_is_detected() {
        let heads = follow("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04", 5);
        assert!(heads.is_http2() && !heads.is_inside_head());
    }
}
