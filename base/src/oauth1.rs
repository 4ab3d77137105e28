//! OAuth 1.0a signatures (RFC 5849, HMAC-SHA1): parse a signed request, verify it against every
//! origin that the client may have used, sign one, and explain a mismatch.

mod base_string;
mod error;
mod header;
mod request_parameters;
mod wrong_base_strings;

use std::borrow::Cow;
use std::fmt::{self, Write};

pub use base_string::RequestOrigin;
pub use error::OAuth1Error;
pub use header::{is_oauth_scheme, parse_oauth1_header};

use crate::secret::constant_time_eq;
use crate::{Secret, percent};
use base_string::{BaseString, Parameters, compute_signature, signing_key};
use request_parameters::{RequestParameters, may_be_signed};

#[derive(Clone, Copy, Debug, Default)]
pub struct OAuth1Request<'a> {
    /// In any case.
    pub method: &'a str,
    /// Percent-encoded.
    pub path: &'a str,
    /// Percent-encoded, without its `?`.
    pub query: &'a str,
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The body, if it is `application/x-www-form-urlencoded`; no other body is signed.
    pub form: Option<&'a [u8]>,
}

#[derive(Clone)]
pub struct OAuth1Credentials {
    pub consumer_key: String,
    /// The access or request token; `None` also when the parameter is empty.
    pub token: Option<String>,
    /// ASCII, at most 256 characters.
    pub nonce: String,
    /// Seconds since 1970 by the client's clock.
    pub timestamp: i64,
    pub callback: Option<String>,
    pub verifier: Option<String>,
    signature: String,
    base_string: BaseString,
    duplicate: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureExplanation {
    pub base_string: String,
    pub signature: String,
    pub matches: bool,
    /// The first byte at which the developer's own base string differs, if one was given.
    pub first_difference: Option<usize>,
}

impl OAuth1Credentials {
    /// Parses the credentials. `None` if there are none: neither `Authorization: OAuth` nor,
    /// without that header, an `oauth_signature` or `oauth_consumer_key` in the query or the form.
    pub fn from_request(request: &OAuth1Request<'_>) -> Result<Option<Self>, OAuth1Error> {
        if !may_be_signed(request) {
            return Ok(None);
        }
        let collected = RequestParameters::from_request(request)?;
        if collected.is_signed() { Self::from_parameters(request, collected).map(Some) } else { Ok(None) }
    }

    fn from_parameters(request: &OAuth1Request<'_>, mut collected: RequestParameters) -> Result<Self, OAuth1Error> {
        match collected.require_parameter("oauth_signature_method")? {
            "HMAC-SHA1" => {}
            other => return Err(OAuth1Error::Method(other.to_owned())),
        }
        match collected.parameter_value("oauth_version") {
            // Libraries sign the name of the revision too.
            None | Some("1.0" | "1.0a" | "1.0A") => {}
            Some(other) => return Err(OAuth1Error::Version(other.to_owned())),
        }
        let duplicate = collected.find_duplicate_name();
        let presented = Self {
            nonce: parse_nonce(collected.require_parameter("oauth_nonce")?)?,
            timestamp: parse_timestamp(collected.require_parameter("oauth_timestamp")?)?,
            consumer_key: collected.require_parameter("oauth_consumer_key")?.to_owned(),
            token: collected.parameter_value("oauth_token").map(str::to_owned),
            callback: collected.parameter_value("oauth_callback").map(str::to_owned),
            verifier: collected.parameter_value("oauth_verifier").map(str::to_owned),
            signature: collected.take_signature()?,
            base_string: BaseString::new(request, &collected.parameters),
            duplicate,
        };
        Ok(Self { token: presented.token.filter(|token| !token.is_empty()), ..presented })
    }

    /// The index of the origin that the client signed for. Each comparison takes constant time.
    pub fn verify(
        &self,
        origins: &[RequestOrigin],
        consumer_secret: &Secret,
        token_secret: Option<&Secret>,
    ) -> Option<usize> {
        let key = signing_key(consumer_secret, token_secret)?;
        origins.iter().position(|origin| {
            let expected = compute_signature(key.clone(), &self.base_string, origin);
            constant_time_eq(expected.as_bytes(), self.signature.as_bytes())
        })
    }

    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// A parameter that came more than once. The signature still verifies; the caller refuses the
    /// request afterwards.
    pub fn duplicate_parameter(&self) -> Option<&str> {
        self.duplicate.as_deref()
    }

    pub fn explain(
        &self,
        origin: &RequestOrigin,
        consumer_secret: &Secret,
        token_secret: Option<&Secret>,
        theirs: Option<&str>,
    ) -> SignatureExplanation {
        let base_string = self.base_string.render_for_origin(origin);
        let expected = signing_key(consumer_secret, token_secret)
            .map(|key| compute_signature(key, &self.base_string, origin))
            .unwrap_or_default();
        SignatureExplanation {
            matches: constant_time_eq(expected.as_bytes(), self.signature.as_bytes()),
            first_difference: theirs.and_then(|theirs| first_difference(&base_string, theirs)),
            base_string,
            signature: expected,
        }
    }
}

impl fmt::Debug for OAuth1Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("OAuth1Credentials");
        shown.field("consumer_key", &self.consumer_key);
        shown.field("timestamp", &self.timestamp);
        shown.finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
pub struct OAuth1Signer<'a> {
    pub consumer_key: &'a str,
    pub consumer_secret: &'a Secret,
    pub token: Option<(&'a str, &'a Secret)>,
    pub nonce: &'a str,
    /// Seconds since 1970.
    pub timestamp: i64,
    pub extra_parameters: &'a [(&'a str, &'a str)],
}

impl OAuth1Signer<'_> {
    /// The `Authorization` header that signs `request`, whose own `Authorization` is ignored.
    pub fn sign(&self, request: &OAuth1Request<'_>, origin: &RequestOrigin) -> Result<String, OAuth1Error> {
        let request = OAuth1Request { authorization: None, ..*request };
        let mut protocol = self.protocol_parameters();
        let mut parameters = RequestParameters::from_request(&request)?.parameters;
        parameters.extend(protocol.iter().cloned());
        let base = BaseString::new(&request, &parameters);
        let token_secret = self.token.map(|(_, secret)| secret);
        let signature = signing_key(self.consumer_secret, token_secret)
            .map(|key| compute_signature(key, &base, origin))
            .unwrap_or_default();
        protocol.push(("oauth_signature".to_owned(), signature));
        let mut header = "OAuth ".to_owned();
        for (index, (name, value)) in protocol.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let (name, value) = (percent::encode(name), percent::encode(value));
            // Writing to a String does not fail.
            let _written = write!(header, "{comma}{name}=\"{value}\"");
        }
        Ok(header)
    }

    fn protocol_parameters(&self) -> Parameters {
        let timestamp = self.timestamp.to_string();
        let mut parameters = vec![
            ("oauth_consumer_key", self.consumer_key),
            ("oauth_nonce", self.nonce),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", &timestamp),
            ("oauth_version", "1.0"),
        ];
        parameters.extend(self.token.map(|(token, _)| ("oauth_token", token)));
        parameters.extend(self.extra_parameters);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        parameters.into_iter().map(owned).collect()
    }
}

fn parse_nonce(text: &str) -> Result<String, OAuth1Error> {
    let good = (1..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    good.then(|| text.to_owned()).ok_or(OAuth1Error::Nonce)
}

fn parse_timestamp(text: &str) -> Result<i64, OAuth1Error> {
    let digits = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.ok_or(OAuth1Error::Timestamp)
}

fn first_difference(one: &str, other: &str) -> Option<usize> {
    let pairs = one.bytes().zip(other.bytes());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    (shared < one.len().max(other.len())).then_some(shared)
}

/// Shortens what a client sent for an error message.
fn truncate_for_log(text: &str) -> Cow<'_, str> {
    const MAX_SHOWN_CHARS: usize = 64;
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        text.chars().take(MAX_SHOWN_CHARS).chain(['…']).collect()
    } else {
        Cow::Borrowed(text)
    }
}
