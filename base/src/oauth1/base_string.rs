//! The signature base string (RFC 5849 §3.4.1) and the signature over it (RFC 5849 §3.4.2).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

use super::OAuth1Request;
use crate::Secret;
use crate::percent::encode;

/// Decoded name and value pairs.
pub(super) type Parameters = Vec<(String, String)>;

/// A scheme, a host and an optional port, as in a base string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    text: String,
    encoded: String,
}

impl RequestOrigin {
    /// Parses `https://api.x.com`: lower-cased, without the scheme's default port and without a
    /// final slash. `None` if there is a path, a user or no host.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, host) = text.split_once("://")?;
        let port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let host = host.strip_suffix(port).unwrap_or(host);
        let bad = |letter: char| !letter.is_ascii_graphic() || "/?#@\\\"".contains(letter);
        if host.is_empty() || host.starts_with(':') || host.contains(bad) {
            return None;
        }
        let text = format!("{scheme}://{host}");
        let encoded = encode(&text).into_owned();
        Some(Self { text, encoded })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A base string without its origin.
#[derive(Clone, Debug)]
pub(super) struct BaseString {
    method: String,
    /// The encoded path, `&`, and the doubly encoded parameters.
    after_origin: String,
}

impl BaseString {
    pub(super) fn new(request: &OAuth1Request<'_>, parameters: &Parameters) -> Self {
        let path = if request.path.is_empty() { "/" } else { request.path };
        let mut after_origin = encode(path).into_owned();
        after_origin.push('&');
        after_origin += &encode(&normalize_parameters(parameters));
        Self { method: request.method.to_ascii_uppercase(), after_origin }
    }

    pub(super) fn render_for_origin(&self, origin: &RequestOrigin) -> String {
        self.text_parts(origin).concat()
    }

    fn text_parts<'a>(&'a self, origin: &'a RequestOrigin) -> [&'a str; 4] {
        [&self.method, "&", &origin.encoded, &self.after_origin]
    }
}

/// Encoded pairs, sorted by encoded name, then value.
fn normalize_parameters(parameters: &Parameters) -> String {
    let pairs = parameters.iter();
    let mut pairs: Vec<_> = pairs.map(|(name, value)| (encode(name), encode(value))).collect();
    pairs.sort_unstable();
    let length = pairs.iter().map(|(name, value)| name.len() + value.len() + 2);
    let mut text = String::with_capacity(length.sum());
    for (name, value) in &pairs {
        if !text.is_empty() {
            text.push('&');
        }
        text += name;
        text.push('=');
        text += value;
    }
    text
}

/// The HMAC keyed with both secrets; the token's is empty before there is a token.
pub(super) fn signing_key(consumer: &Secret, token: Option<&Secret>) -> Option<Hmac<Sha1>> {
    let token = token.map_or("", Secret::expose_secret);
    let key = [&encode(consumer.expose_secret()), "&", &encode(token)].concat();
    Hmac::new_from_slice(key.as_bytes()).ok()
}

pub(super) fn compute_signature(mut key: Hmac<Sha1>, base: &BaseString, origin: &RequestOrigin) -> String {
    for part in base.text_parts(origin) {
        key.update(part.as_bytes());
    }
    BASE64_STANDARD.encode(key.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::RequestOrigin;

    #[test]
    fn origins_have_one_form() {
        for (text, wanted) in [
            ("https://api.x.com", Some("https://api.x.com")),
            ("HTTPS://API.X.com:443/", Some("https://api.x.com")),
            ("http://localhost:80", Some("http://localhost")),
            ("http://localhost:443", Some("http://localhost:443")),
            ("https://[::1]:8443", Some("https://[::1]:8443")),
            ("https://api.x.com/base", None),
            ("https://user@api.x.com", None),
            ("ftp://api.x.com", None),
            ("https://", None),
            ("https://:443", None),
            ("api.x.com", None),
            ("https://a b", None),
        ] {
            let read = RequestOrigin::parse(text);
            let read = read.as_ref().map(RequestOrigin::as_str);
            assert_eq!(read, wanted, "{text}");
        }
    }
}
