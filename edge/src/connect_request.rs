//! `CONNECT host:port` at the start of a connection (RFC 9110 §9.3.6).

use std::io;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use memchr::memmem;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::handler::is_host;
use crate::limits::ListenerLimits;

const METHOD: &[u8] = b"CONNECT ";
const HEAD_END: &[u8] = b"\r\n\r\n";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FirstRequest {
    Connect {
        target: TunnelTarget,
        read_after: Bytes,
    },
    /// These bytes begin another request.
    Other(Bytes),
    Rejected(StatusCode),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TunnelTarget {
    /// In lower case; an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Reads until the head of a `CONNECT` request is complete, or until it is clear that it is another request.
pub(crate) async fn read_first_request(stream: &mut TcpStream, limits: &ListenerLimits) -> io::Result<FirstRequest> {
    let mut bytes = BytesMut::with_capacity(1024);
    loop {
        let searched = bytes.len().saturating_sub(HEAD_END.len());
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = bytes.get(..METHOD.len().min(bytes.len())).unwrap_or_default();
        if !METHOD.starts_with(start) {
            return Ok(FirstRequest::Other(bytes.freeze()));
        }
        let new = bytes.get(searched..).unwrap_or_default();
        if let Some(at) = memmem::find(new, HEAD_END) {
            let head = bytes.split_to(searched + at + HEAD_END.len());
            return Ok(match parse_head(&head, limits) {
                Ok(target) => FirstRequest::Connect { target, read_after: bytes.freeze() },
                Err(status) => FirstRequest::Rejected(status),
            });
        }
        if bytes.len() > limits.max_header_bytes {
            return Ok(FirstRequest::Rejected(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
        }
    }
}

fn parse_head(head: &[u8], limits: &ListenerLimits) -> Result<TunnelTarget, StatusCode> {
    let mut headers = vec![httparse::EMPTY_HEADER; limits.max_headers];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) if head.len() <= limits.max_header_bytes => {}
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        }
        _ => return Err(StatusCode::BAD_REQUEST),
    }
    let count = |name: &str| request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).count();
    let has_body = request.headers.iter().any(|header| {
        header.name.eq_ignore_ascii_case("transfer-encoding")
            || header.name.eq_ignore_ascii_case("content-length") && header.value != b"0"
    });
    if has_body || count("host") > 1 {
        return Err(StatusCode::BAD_REQUEST);
    }
    request.path.and_then(TunnelTarget::parse).ok_or(StatusCode::BAD_REQUEST)
}

impl TunnelTarget {
    fn parse(authority: &str) -> Option<Self> {
        let (host, port) = authority.rsplit_once(':')?;
        let is_plain = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port: u16 = port.parse().ok().filter(|port| is_plain && *port > 0)?;
        let fits = !host.is_empty() && host.len() <= 255 && is_host(host.as_bytes()) && is_complete(host);
        fits.then(|| Self { host: host.to_ascii_lowercase(), port })
    }
}

/// An IPv6 address in brackets, or a host without a port of its own.
fn is_complete(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.contains(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TunnelTarget, StatusCode> {
        parse_head(text.as_bytes(), &ListenerLimits { max_headers: 3, ..ListenerLimits::default() })
    }

    #[test]
    fn only_a_host_with_a_port_is_a_target() {
        for (authority, host, port) in
            [("API.x.com:443", "api.x.com", 443), ("127.0.0.1:8080", "127.0.0.1", 8080), ("[::1]:80", "[::1]", 80)]
        {
            let target = TunnelTarget { host: host.to_owned(), port };
            assert_eq!(parse(&format!("CONNECT {authority} HTTP/1.1\r\n\r\n")), Ok(target), "{authority}");
        }
        let long = format!("{}:443", "a".repeat(256));
        for authority in [
            "api.x.com",
            "api.x.com:",
            ":443",
            "api.x.com:0",
            "api.x.com:65536",
            "api.x.com:+443",
            "api.x.com:443:443",
            "user@api.x.com:443",
            "http://api.x.com:443",
            "/2/users/me:443",
            "*:443",
            "[::1:443",
            "[x]:443",
            "::1:443",
            "a%2eb:443",
            "a b:443",
            &long,
        ] {
            let found = parse(&format!("CONNECT {authority} HTTP/1.1\r\nHost: a\r\n\r\n"));
            assert_eq!(found, Err(StatusCode::BAD_REQUEST), "{authority}");
        }
    }

    #[test]
    fn bodies_and_unclear_heads_are_rejected() {
        for (fields, status) in [
            ("Content-Length: 3\r\n", 400),
            ("Transfer-Encoding: chunked\r\n", 400),
            ("Host: a\r\nhost: b\r\n", 400),
            ("bad\r\n", 400),
            ("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n", 431),
        ] {
            let found = parse(&format!("CONNECT a:443 HTTP/1.1\r\n{fields}\r\n"));
            assert_eq!(found.unwrap_err().as_u16(), status, "{fields}");
        }
        assert!(parse("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 0\r\n\r\n").is_ok());
    }
}
