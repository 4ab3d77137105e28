//! Why credentials cannot be verified at all.

use super::truncate_for_log;
use crate::percent::PercentDecodeError;
use crate::refusal::AuthenticationProblem;

/// What is wrong with a request's OAuth 1.0a parameters, before any secret is looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuth1Error {
    /// The header or one of its parameters is larger than any client needs.
    #[error("the OAuth parameters are too long")]
    TooLong,
    /// The header is not a list of `name="value"`.
    #[error("the Authorization header is not a list of name=\"value\": {0}")]
    Malformed(&'static str),
    /// The header, the query or the form is not percent-encoded UTF-8.
    #[error(transparent)]
    Encoding(#[from] PercentDecodeError),
    /// A protocol parameter came twice, with two values or twice in one place.
    #[error("the parameter {} came more than once", truncate_for_log(.0))]
    Duplicate(String),
    /// A protocol parameter is missing or empty.
    #[error("the parameter {0} is missing")]
    Missing(&'static str),
    /// A signature method other than HMAC-SHA1.
    #[error("the signature method {} is not supported; use HMAC-SHA1", truncate_for_log(.0))]
    Method(String),
    /// A version other than 1.0.
    #[error("the version {} is not supported; use 1.0 or leave it out", truncate_for_log(.0))]
    Version(String),
    /// A nonce that is not visible ASCII, or too long.
    #[error("the nonce is not 1 to 256 visible ASCII characters")]
    Nonce,
    /// A timestamp that is not a count of seconds.
    #[error("the timestamp is not a number of seconds")]
    Timestamp,
}

impl OAuth1Error {
    /// The refusal that it leads to.
    pub const fn authentication_problem(&self) -> AuthenticationProblem {
        match self {
            Self::TooLong | Self::Malformed(_) | Self::Encoding(_) | Self::Duplicate(_) | Self::Missing(_) => {
                AuthenticationProblem::Malformed
            }
            Self::Method(_) | Self::Version(_) | Self::Nonce => AuthenticationProblem::Signature,
            Self::Timestamp => AuthenticationProblem::Timestamp,
        }
    }
}
