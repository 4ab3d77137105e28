//! The address that the client of a request used, from the connection, the target, the `Host` header and the forwarding
//! headers of trusted peers.

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName};
use identity::apps::AuthRequest;

use crate::request_context::RequestHead;

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Scheme and host that the client used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicOrigin<'h> {
    pub scheme: &'static str,
    /// With the port, if the client named one. `None` in old versions of HTTP.
    pub host: Option<&'h str>,
}

impl RequestHead {
    pub fn public_origin(&self) -> PublicOrigin<'_> {
        let trusted = self.peer.is_some_and(|peer| peer.is_trusted);
        let forwarded = |name: HeaderName| if trusted { header_text(&self.headers, &name) } else { None };
        let scheme = match forwarded(X_FORWARDED_PROTO) {
            Some("https") => "https",
            None if self.peer.is_some_and(|peer| peer.is_tls) => "https",
            _ => "http",
        };
        // A target with a host makes `Host` irrelevant (RFC 9112 §3.2.2).
        let target = self.uri.authority().map(http::uri::Authority::as_str);
        let host = forwarded(X_FORWARDED_HOST).or(target).or_else(|| header_text(&self.headers, &HOST));
        PublicOrigin { scheme, host }
    }

    pub(super) fn auth_request(&self, form: Option<&Bytes>) -> AuthRequest {
        let path = self.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let PublicOrigin { scheme, host } = self.public_origin();
        AuthRequest {
            method: self.method.as_str().to_owned(),
            path_and_query: path.to_owned(),
            authorization: header_text(&self.headers, &AUTHORIZATION).map(str::to_owned),
            form: form.map(|form| form.to_vec()),
            scheme,
            host: host.map(str::to_owned),
            allows_repeated_parameters: false,
        }
    }
}

fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
