//! HTTP Basic credentials.

use base::percent::decode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

#[derive(Debug, PartialEq, Eq)]
pub enum BasicCredentials {
    Absent,
    Malformed,
    /// Key and secret.
    Pair(String, String),
}

/// Key and secret are each percent-encoded.
pub fn parse_basic_credentials(headers: &HeaderMap) -> BasicCredentials {
    let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let parts = header.and_then(|header| header.split_once(' '));
    let Some((_, coded)) = parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")) else {
        return BasicCredentials::Absent;
    };
    let pair = || {
        let plain = String::from_utf8(STANDARD.decode(coded.trim()).ok()?).ok()?;
        let (key, secret) = plain.split_once(':')?;
        Some(BasicCredentials::Pair(decode(key).ok()?.into_owned(), decode(secret).ok()?.into_owned()))
    };
    pair().unwrap_or(BasicCredentials::Malformed)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use http::{HeaderMap, HeaderValue};

    use super::{BasicCredentials, parse_basic_credentials};

    fn read(header: &str) -> BasicCredentials {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(header).unwrap());
        parse_basic_credentials(&headers)
    }

    #[test]
    fn halves_are_decoded_and_garbage_is_told_from_absence() {
        let coded = format!("basic {}", STANDARD.encode("a%2Bb:c:d"));
        assert_eq!(read(&coded), BasicCredentials::Pair("a+b".to_owned(), "c:d".to_owned()));
        assert_eq!(read("Basic ???"), BasicCredentials::Malformed);
        assert_eq!(read("Bearer abc"), BasicCredentials::Absent);
    }
}
