//! Follows the framing of HTTP/1 bytes as they pass, to see what the parser behind does not tell.
//!
//! It answers three questions: is a head half read, is a head too long, and does a finished head
//! contradict itself (length and chunks at once, lone line feeds, folded lines).

use memchr::memchr;

/// How much of a line that came in pieces is kept; longer framing headers are refused.
const KEPT: usize = 256;
/// Method, version and spaces around the target.
const AROUND_TARGET: usize = 64;

/// What passes by at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    RequestLine,
    Fields,
    Sized(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    Trailers,
    /// Not HTTP/1, or broken in a way that the parser will see as well.
    Unknown,
}

/// A head that is not worth reading on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLong {
    Target,
    Head,
}

/// What a finished head says about the body after it.
#[derive(Debug, Default)]
struct Framing {
    length: Option<u64>,
    chunked: bool,
    contradicts: bool,
}

/// The place reached in one connection's incoming bytes.
#[derive(Debug)]
pub(crate) struct Heads {
    place: Place,
    kept: Vec<u8>,
    line_bytes: usize,
    last: u8,
    head_bytes: usize,
    framing: Framing,
    finished: u64,
    contradictory: Option<u64>,
    http2: bool,
    max_target: usize,
    max_head: usize,
}

impl Heads {
    pub(crate) fn new(max_target: usize, max_head: usize) -> Self {
        Self {
            place: Place::RequestLine,
            kept: Vec::new(),
            line_bytes: 0,
            last: 0,
            head_bytes: 0,
            framing: Framing::default(),
            finished: 0,
            contradictory: None,
            http2: false,
            max_target,
            max_head,
        }
    }

    /// Whether a head has begun and not ended.
    pub(crate) fn within_head(&self) -> bool {
        match self.place {
            Place::RequestLine => self.line_bytes > 0,
            Place::Fields => true,
            _ => false,
        }
    }

    /// Whether the bytes so far end with a whole request.
    pub(crate) fn between_requests(&self) -> bool {
        match self.place {
            Place::RequestLine => self.line_bytes == 0,
            Place::Unknown => self.http2,
            _ => false,
        }
    }

    /// Whether the client opened with the HTTP/2 preface.
    pub(crate) fn is_http2(&self) -> bool {
        self.http2
    }

    /// The number (from 1) of the request whose head must not be believed.
    pub(crate) fn contradictory(&self) -> Option<u64> {
        self.contradictory
    }

    /// Takes note of the next bytes.
    pub(crate) fn follow(&mut self, mut bytes: &[u8]) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            bytes = match self.place {
                Place::Unknown => return Ok(()),
                Place::Sized(left) => {
                    let (left, rest) = pass(bytes, left);
                    self.place = if left == 0 {
                        Place::RequestLine
                    } else {
                        Place::Sized(left)
                    };
                    rest
                }
                Place::ChunkData(left) => {
                    let (left, rest) = pass(bytes, left);
                    self.place = if left == 0 {
                        Place::ChunkEnd
                    } else {
                        Place::ChunkData(left)
                    };
                    rest
                }
                _ => self.line(bytes)?,
            };
        }
        Ok(())
    }

    fn line<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], TooLong> {
        let end = memchr(b'\n', bytes);
        let (piece, rest) = match end.and_then(|at| bytes.split_at_checked(at)) {
            Some((piece, rest)) => (piece, rest.get(1..).unwrap_or_default()),
            None => (bytes, bytes.get(bytes.len()..).unwrap_or_default()),
        };
        self.line_bytes = self.line_bytes.saturating_add(piece.len());
        self.last = piece.last().copied().unwrap_or(self.last);
        self.measure(piece.len() + usize::from(end.is_some()))?;
        if end.is_none() {
            self.keep(piece);
            return Ok(rest);
        }
        if self.kept.is_empty() {
            self.end_of_line(piece);
        } else {
            self.keep(piece);
            let kept = std::mem::take(&mut self.kept);
            self.end_of_line(&kept);
        }
        self.line_bytes = 0;
        self.last = 0;
        Ok(rest)
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = KEPT.saturating_sub(self.kept.len());
        self.kept.extend(piece.iter().take(room));
    }

    fn measure(&mut self, bytes: usize) -> Result<(), TooLong> {
        if !matches!(self.place, Place::RequestLine | Place::Fields) {
            return Ok(());
        }
        if self.place == Place::RequestLine && self.line_bytes > self.max_target + AROUND_TARGET {
            return Err(TooLong::Target);
        }
        self.head_bytes = self.head_bytes.saturating_add(bytes);
        if self.head_bytes > self.max_head {
            Err(TooLong::Head)
        } else {
            Ok(())
        }
    }

    fn end_of_line(&mut self, line: &[u8]) {
        let with_return = self.last == b'\r';
        let whole = line.len() == self.line_bytes;
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        let empty = whole && text.is_empty();
        match self.place {
            Place::RequestLine if empty => {}
            Place::RequestLine if self.finished == 0 && text == b"PRI * HTTP/2.0" => {
                self.http2 = true;
                self.place = Place::Unknown;
            }
            Place::RequestLine => {
                self.framing = Framing {
                    contradicts: !with_return,
                    ..Framing::default()
                };
                self.place = Place::Fields;
            }
            Place::Fields => {
                self.framing.contradicts |= !with_return;
                if empty {
                    self.end_of_head();
                } else {
                    self.framing.field(text, whole);
                }
            }
            Place::ChunkSize => self.place = chunk_size(text),
            Place::ChunkEnd if empty => self.place = Place::ChunkSize,
            Place::Trailers if empty => self.place = Place::RequestLine,
            Place::Trailers => {}
            _ => self.place = Place::Unknown,
        }
    }

    fn end_of_head(&mut self) {
        self.head_bytes = 0;
        self.finished += 1;
        let framing = std::mem::take(&mut self.framing);
        self.place = match framing.length {
            _ if framing.contradicts || (framing.chunked && framing.length.is_some()) => {
                self.contradictory = Some(self.finished);
                Place::Unknown
            }
            _ if framing.chunked => Place::ChunkSize,
            None | Some(0) => Place::RequestLine,
            Some(length) => Place::Sized(length),
        };
    }
}

impl Framing {
    fn field(&mut self, line: &[u8], whole: bool) {
        let is = |name: &[u8]| {
            line.split_at_checked(name.len())
                .filter(|(start, _)| start.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim_ascii())
        };
        match line.first() {
            Some(b' ' | b'\t') => self.contradicts = true,
            Some(b'c' | b'C') => {
                if let Some(value) = is(b"content-length:") {
                    let length = number(value).filter(|_| whole);
                    let second = self.length.is_some() && self.length != length;
                    self.contradicts |= length.is_none() || second;
                    self.length = length.or(Some(0));
                }
            }
            Some(b't' | b'T') => {
                if let Some(value) = is(b"transfer-encoding:") {
                    let plain = whole && value.eq_ignore_ascii_case(b"chunked");
                    self.contradicts |= self.chunked || !plain;
                    self.chunked = true;
                }
            }
            _ => {}
        }
    }
}

fn pass(bytes: &[u8], left: u64) -> (u64, &[u8]) {
    let take = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    let rest = bytes.get(take..).unwrap_or_default();
    (left - u64::try_from(take).unwrap_or(left), rest)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn chunk_size(line: &[u8]) -> Place {
    let digits = line
        .split(|byte| matches!(byte, b';' | b' ' | b'\t'))
        .next()
        .unwrap_or_default();
    let size = std::str::from_utf8(digits)
        .ok()
        .and_then(|text| u64::from_str_radix(text, 16).ok());
    match size {
        None => Place::Unknown,
        Some(0) => Place::Trailers,
        Some(size) => Place::ChunkData(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(text: &str, step: usize) -> Heads {
        let mut heads = Heads::new(8192, 65_536);
        for piece in text.as_bytes().chunks(step) {
            heads.follow(piece).unwrap();
        }
        heads
    }

    #[test]
    fn framing_is_followed_in_pieces_of_any_size() {
        let text = "\r\nPOST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab\r\nc\
                    POST /b HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nGET\r\n0\r\nT: 1\r\n\r\n\
                    GET /c HTTP/1.1\r\nhost: a\r\n\r\n";
        for step in 1..=text.len() {
            let heads = follow(text, step);
            assert_eq!(heads.finished, 3, "step {step}");
            assert!(heads.between_requests() && !heads.within_head());
            assert_eq!(heads.contradictory(), None);
        }
    }

    #[test]
    fn contradictions_are_numbered() {
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
                assert_eq!(heads.contradictory(), Some(2), "{bad:?} by {step}");
            }
        }
        assert_eq!(
            follow(
                "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
                9
            )
            .contradictory(),
            None
        );
    }

    #[test]
    fn long_heads_end_early() {
        let mut heads = Heads::new(100, 1000);
        assert_eq!(heads.follow(&[b'a'; 165]), Err(TooLong::Target));
        let mut heads = Heads::new(100, 1000);
        heads.follow(b"GET / HTTP/1.1\r\n").unwrap();
        assert_eq!(heads.follow(&[b'a'; 985]), Err(TooLong::Head));
    }

    #[test]
    fn the_http2_preface_is_seen() {
        let heads = follow("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04", 5);
        assert!(heads.is_http2() && !heads.within_head());
    }
}
