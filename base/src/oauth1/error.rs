//! Why OAuth 1.0a credentials cannot be verified.

use super::truncate_for_log;
use crate::percent::PercentDecodeError;
use crate::refusal::AuthenticationProblem;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuth1Error {
    #[error("the OAuth parameters are too long")]
    TooLong,
    #[error("the Authorization header is not a list of name=\"value\": {0}")]
    Malformed(&'static str),
    #[error(transparent)]
    Encoding(#[from] PercentDecodeError),
    #[error("the parameter {} came more than once", truncate_for_log(.0))]
    Duplicate(String),
    #[error("the parameter {0} is missing")]
    Missing(&'static str),
    #[error("the signature method {} is not supported; use HMAC-SHA1", truncate_for_log(.0))]
    Method(String),
    #[error("the version {} is not supported; use 1.0 or leave it out", truncate_for_log(.0))]
    Version(String),
    #[error("the nonce is not 1 to 256 visible ASCII characters")]
    Nonce,
    #[error("the timestamp is not a number of seconds")]
    Timestamp,
}

impl OAuth1Error {
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
