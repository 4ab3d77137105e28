//! Response compression for clients that accept it.

use std::cell::RefCell;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use futures_util::Stream;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, VARY,
};
use http::{Response, StatusCode};
use http_body::Body as _;

use crate::body::{Body, BodyError};

/// A shorter response fits into one packet anyway.
const MIN_COMPRESS_BYTES: usize = 860;
/// Level 4 takes half the time of the default 6 for a few per cent more bytes.
const LEVEL: u32 = 4;

pub fn client_accepts_gzip(request: &HeaderMap) -> bool {
    let mut any = None;
    for list in request.get_all(ACCEPT_ENCODING) {
        for item in list.to_str().unwrap_or_default().split(',') {
            let mut parts = item.split(';').map(str::trim);
            let coding = parts.next().unwrap_or_default();
            let accepted = parts.all(|part| !is_zero_quality(part));
            if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
                return accepted;
            }
            if coding == "*" {
                any = Some(accepted);
            }
        }
    }
    any.unwrap_or(false)
}

/// Compresses a response whose bytes are in memory, if the client accepts it and it gets shorter.
pub fn compress_full(request: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    let Some(bytes) = response.body().as_bytes().filter(|bytes| bytes.len() >= MIN_COMPRESS_BYTES) else {
        return response;
    };
    if must_not_transform(&response) {
        return response;
    }
    let compressed = if client_accepts_gzip(request) { compress_bytes(bytes) } else { None };
    add_vary_header(response.headers_mut());
    if let Some(compressed) = compressed {
        mark_compressed(response.headers_mut());
        *response.body_mut() = Body::full(compressed);
    }
    response
}

/// Compresses a response as it is sent, each chunk readable at once.
pub fn compress_stream(request: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    if must_not_transform(&response) {
        return response;
    }
    add_vary_header(response.headers_mut());
    if !client_accepts_gzip(request) {
        return response;
    }
    mark_compressed(response.headers_mut());
    response.map(|body| {
        let is_exempt = body.is_exempt_from_address_limit();
        let compressed = Body::stream(GzipStream::new(body));
        if is_exempt { compressed.without_address_limit() } else { compressed }
    })
}

fn is_zero_quality(part: &str) -> bool {
    let value = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
    value.and_then(|value| value.trim().parse::<f32>().ok()).is_some_and(|value| value <= 0.0)
}

fn must_not_transform(response: &Response<Body>) -> bool {
    let headers = response.headers();
    headers.contains_key(CONTENT_ENCODING)
        || headers.contains_key(CONTENT_RANGE)
        || headers.get(CONTENT_TYPE).is_some_and(|media_type| is_compressed(media_type.as_bytes()))
        || response.status() == StatusCode::NO_CONTENT
        || response.status() == StatusCode::NOT_MODIFIED
}

/// Whether files of a media type are compressed already. Clients of the Ads API unpack its files once, whatever the
/// encoding of the response.
fn is_compressed(media_type: &[u8]) -> bool {
    const COMPRESSED: [&[u8]; 5] = [b"application/gzip", b"application/zip", b"image/", b"video/", b"audio/"];
    !media_type.starts_with(b"image/svg") && COMPRESSED.iter().any(|start| media_type.starts_with(start))
}

fn compress_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::new(LEVEL));
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|compressed| compressed.len() < bytes.len())
}

fn add_vary_header(headers: &mut HeaderMap) {
    let known = headers.get_all(VARY).iter().any(|value| {
        value.to_str().unwrap_or_default().split(',').any(|name| {
            let name = name.trim();
            name == "*" || name.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str())
        })
    });
    if !known {
        headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
}

/// Sets the encoding and weakens the `ETag`, which now names the same content in other bytes.
fn mark_compressed(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.remove(CONTENT_LENGTH);
    let weak = headers
        .get(ETAG)
        .filter(|tag| tag.as_bytes().starts_with(b"\""))
        .and_then(|tag| HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()).ok());
    if let Some(weak) = weak {
        headers.insert(ETAG, weak);
    }
}

/// The header of a gzip member (RFC 1952): no name, no time, unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// An empty final block (RFC 1951).
const FINAL_BLOCK: [u8; 2] = [3, 0];

thread_local! {
    /// Shared by all bodies of a thread, as each compressor takes a quarter of a megabyte.
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), false));
}

/// A body whose chunks are compressed independently, so that only a checksum is kept between them.
struct GzipStream {
    body: Body,
    checksum: Crc,
    header_sent: bool,
    finished: bool,
}

impl GzipStream {
    fn new(body: Body) -> Self {
        Self { body, checksum: Crc::new(), header_sent: false, finished: false }
    }

    fn take_header(&mut self) -> Vec<u8> {
        if std::mem::replace(&mut self.header_sent, true) { Vec::new() } else { GZIP_HEADER.to_vec() }
    }

    fn compress_chunk(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut compressed = self.take_header();
        self.checksum.update(bytes);
        deflate_blocks(bytes, &mut compressed)?;
        Some(compressed)
    }

    fn finish(&mut self) -> Vec<u8> {
        let mut compressed = self.take_header();
        compressed.extend(FINAL_BLOCK);
        compressed.extend(self.checksum.sum().to_le_bytes());
        compressed.extend(self.checksum.amount().to_le_bytes());
        compressed
    }
}

/// Appends blocks that refer to no earlier data and end on a byte boundary.
fn deflate_blocks(bytes: &[u8], compressed: &mut Vec<u8>) -> Option<()> {
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.reset();
        let mut rest = bytes;
        loop {
            compressed.reserve(rest.len() / 2 + 64);
            let before = compressor.total_in();
            let status = compressor.compress_vec(rest, compressed, FlushCompress::Sync);
            let taken = usize::try_from(compressor.total_in() - before).ok()?;
            rest = rest.get(taken..)?;
            match status.ok()? {
                // All input is consumed and there was room left: no more output is pending.
                _ if rest.is_empty() && compressed.len() < compressed.capacity() => return Some(()),
                Status::Ok | Status::BufError => {}
                Status::StreamEnd => return None,
            }
        }
    })
}

impl Stream for GzipStream {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.finished {
                return Poll::Ready(None);
            }
            let compressed = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.compress_chunk(&bytes),
                    Err(_) => continue,
                },
                Some(Err(error)) => {
                    self.finished = true;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.finished = true;
                    Some(self.finish())
                }
            };
            return Poll::Ready(Some(compressed.map(Bytes::from).ok_or(BodyError::Broken)));
        }
    }
}
