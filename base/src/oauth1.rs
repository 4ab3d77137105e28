//! OAuth 1.0a signatures (RFC 5849, HMAC-SHA1): read a signed request, verify it against every
//! origin that the client may have meant, sign one, and explain one that does not hold.

mod base_string;
mod collect;
mod header;
mod unsound;

use std::borrow::Cow;
use std::fmt::{self, Write};

pub use base_string::Origin;
pub use unsound::Unsound;

use crate::secret::same;
use crate::{Secret, percent};
use base_string::{BaseString, Parameters, key, signature};
use collect::{Collected, may_be_signed};

/// What of a request takes part in its signature, as it came over the wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// `GET`, in any case.
    pub method: &'a str,
    /// The path, still percent-encoded.
    pub path: &'a str,
    /// The query without its `?`, still percent-encoded.
    pub query: &'a str,
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The body, if it is `application/x-www-form-urlencoded`; no other body is signed.
    pub form: Option<&'a [u8]>,
}

/// A request's OAuth 1.0a credentials: well-formed, and proving nothing before they are verified.
#[derive(Clone)]
pub struct Presented {
    /// The app's key.
    pub consumer_key: String,
    /// The access or request token. An empty one counts as none.
    pub token: Option<String>,
    /// What tells requests of one second apart: ASCII, at most 256 characters.
    pub nonce: String,
    /// Seconds since 1970 by the client's clock.
    pub timestamp: i64,
    /// `oauth_callback`, of a request for a request token.
    pub callback: Option<String>,
    /// `oauth_verifier`, of a request for an access token.
    pub verifier: Option<String>,
    signature: String,
    base: BaseString,
    duplicate: Option<String>,
}

/// Why a signature holds or does not, for the client's developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The base string that the server builds.
    pub base_string: String,
    /// The signature that it expects.
    pub signature: String,
    /// Whether that one was presented.
    pub holds: bool,
    /// The first byte at which the developer's own base string differs, if one was given.
    pub differs_at: Option<usize>,
}

impl Presented {
    /// Reads the credentials. `None`: there are none, neither `Authorization: OAuth` nor, without
    /// that header, an `oauth_signature` or `oauth_consumer_key` in the query or the form.
    pub fn read(request: &Request<'_>) -> Result<Option<Self>, Unsound> {
        if !may_be_signed(request) {
            return Ok(None);
        }
        let collected = Collected::from(request)?;
        if collected.is_signed() {
            Self::of(request, collected).map(Some)
        } else {
            Ok(None)
        }
    }

    fn of(request: &Request<'_>, mut collected: Collected) -> Result<Self, Unsound> {
        match collected.required("oauth_signature_method")? {
            "HMAC-SHA1" => {}
            other => return Err(Unsound::Method(other.to_owned())),
        }
        match collected.value("oauth_version") {
            None | Some("1.0") => {}
            Some(other) => return Err(Unsound::Version(other.to_owned())),
        }
        let duplicate = collected.duplicate();
        let presented = Self {
            nonce: nonce(collected.required("oauth_nonce")?)?,
            timestamp: timestamp(collected.required("oauth_timestamp")?)?,
            consumer_key: collected.required("oauth_consumer_key")?.to_owned(),
            token: collected.value("oauth_token").map(str::to_owned),
            callback: collected.value("oauth_callback").map(str::to_owned),
            verifier: collected.value("oauth_verifier").map(str::to_owned),
            signature: collected.take_signature()?,
            base: BaseString::new(request, &collected.parameters),
            duplicate,
        };
        Ok(Self {
            token: presented.token.filter(|token| !token.is_empty()),
            ..presented
        })
    }

    /// Which of the origins the client signed for, if its signature holds for one. In constant
    /// time for each.
    pub fn verify(
        &self,
        origins: &[Origin],
        consumer_secret: &Secret,
        token_secret: Option<&Secret>,
    ) -> Option<usize> {
        let key = key(consumer_secret, token_secret)?;
        origins.iter().position(|origin| {
            let expected = signature(key.clone(), &self.base, origin);
            same(expected.as_bytes(), self.signature.as_bytes())
        })
    }

    /// The signature that came.
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// A parameter that came more than once. Its signature is verified all the same; the caller
    /// refuses it afterwards.
    pub fn duplicate_parameter(&self) -> Option<&str> {
        self.duplicate.as_deref()
    }

    /// What the server expects for an origin, and where the developer's own base string leaves it.
    pub fn explain(
        &self,
        origin: &Origin,
        consumer_secret: &Secret,
        token_secret: Option<&Secret>,
        theirs: Option<&str>,
    ) -> Explanation {
        let base_string = self.base.text(origin);
        let expected = key(consumer_secret, token_secret)
            .map(|key| signature(key, &self.base, origin))
            .unwrap_or_default();
        Explanation {
            holds: same(expected.as_bytes(), self.signature.as_bytes()),
            differs_at: theirs.and_then(|theirs| first_difference(&base_string, theirs)),
            base_string,
            signature: expected,
        }
    }
}

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Presented");
        shown.field("consumer_key", &self.consumer_key);
        shown.field("timestamp", &self.timestamp);
        shown.finish_non_exhaustive()
    }
}

/// Who signs, when and for what, on the client's side.
#[derive(Clone, Debug)]
pub struct Signer<'a> {
    /// The app's key.
    pub consumer_key: &'a str,
    /// The app's secret.
    pub consumer_secret: &'a Secret,
    /// The token and its secret, once there is one.
    pub token: Option<(&'a str, &'a Secret)>,
    /// What tells requests of one second apart.
    pub nonce: &'a str,
    /// Seconds since 1970.
    pub timestamp: i64,
    /// Further header parameters: `oauth_callback`, `oauth_verifier`.
    pub further: &'a [(&'a str, &'a str)],
}

impl Signer<'_> {
    /// The `Authorization` header that signs a request. The request's own is left out.
    pub fn sign(&self, request: &Request<'_>, origin: &Origin) -> Result<String, Unsound> {
        let request = Request {
            authorization: None,
            ..*request
        };
        let mut protocol = self.parameters();
        let mut parameters = Collected::from(&request)?.parameters;
        parameters.extend(protocol.iter().cloned());
        let base = BaseString::new(&request, &parameters);
        let token_secret = self.token.map(|(_, secret)| secret);
        let signature = key(self.consumer_secret, token_secret)
            .map(|key| signature(key, &base, origin))
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

    fn parameters(&self) -> Parameters {
        let timestamp = self.timestamp.to_string();
        let mut parameters = vec![
            ("oauth_consumer_key", self.consumer_key),
            ("oauth_nonce", self.nonce),
            ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", &timestamp),
            ("oauth_version", "1.0"),
        ];
        parameters.extend(self.token.map(|(token, _)| ("oauth_token", token)));
        parameters.extend(self.further);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        parameters.into_iter().map(owned).collect()
    }
}

fn nonce(text: &str) -> Result<String, Unsound> {
    let good = (1..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    good.then(|| text.to_owned()).ok_or(Unsound::Nonce)
}

fn timestamp(text: &str) -> Result<i64, Unsound> {
    let digits = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.ok_or(Unsound::Timestamp)
}

/// The first byte at which two texts differ, counted from zero.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    let pairs = one.bytes().zip(other.bytes());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    (shared < one.len().max(other.len())).then_some(shared)
}

/// Keeps what a stranger sent short enough for a line of the log.
fn shortened(text: &str) -> Cow<'_, str> {
    const SHOWN: usize = 64;
    if text.chars().nth(SHOWN).is_some() {
        text.chars().take(SHOWN).chain(['…']).collect()
    } else {
        Cow::Borrowed(text)
    }
}
