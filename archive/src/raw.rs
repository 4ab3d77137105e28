//! The JSON structures of the files, and their conversion to records.

mod conversation;
mod convert;
mod entities;
mod list;
mod owner;
mod post;
mod statuses;
mod user;

pub(crate) use conversation::RawConversation;
pub(crate) use convert::{convert_element, parse_note};
pub(crate) use list::RawList;
pub(crate) use owner::{RawAccount, RawDeletedHeader, RawLike, RawListInfo, RawNote, RawProfile, RawRelation};
pub(crate) use post::{ConversionContext, RawPost, WrappedPost};
pub(crate) use statuses::convert_line;
pub(crate) use user::RawUser;

/// Why an element yields no record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ElementError {
    /// Malformed; counted as skipped.
    Unreadable(String),
    /// Malicious; reported as an error.
    Refused(&'static str),
}

impl From<serde_json::Error> for ElementError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl ElementError {
    pub(crate) fn unreadable(why: &str) -> Self {
        Self::Unreadable(why.to_owned())
    }
}
