//! Scheme and host of a request, from the forwarding headers of trusted peers.

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, HeaderMap};
use network::apps::AuthRequest;

use super::ServerConfig;
use crate::request_context::RequestHead;

impl ServerConfig {
    pub(super) fn auth_request(&self, head: &RequestHead, form: Option<&Bytes>) -> AuthRequest {
        let trusted = head.peer.is_some_and(|peer| peer.is_trusted);
        let forwarded = |name| header_text(&head.headers, name).filter(|_| trusted);
        let scheme = match forwarded("x-forwarded-proto") {
            Some("https") => "https",
            None if self.is_tls => "https",
            _ => "http",
        };
        let host = forwarded("x-forwarded-host").or_else(|| header_text(&head.headers, HOST.as_str()));
        let host = host.or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
        let path = head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        AuthRequest {
            method: head.method.as_str().to_owned(),
            path_and_query: path.to_owned(),
            authorization: header_text(&head.headers, AUTHORIZATION.as_str()).map(str::to_owned),
            form: form.map(|form| form.to_vec()),
            scheme,
            host: host.map(str::to_owned),
            allows_repeated_parameters: false,
        }
    }
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
