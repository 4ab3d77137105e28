//! The shapes that stand in the files, and their way into records.

mod convert;
mod entities;
mod list;
mod owner;
mod post;
mod statuses;
mod talk;
mod user;

pub(crate) use convert::{convert, read_note};
pub(crate) use list::RawList;
pub(crate) use owner::{
    RawAccount, RawDeletedHeader, RawLike, RawListInfo, RawNote, RawProfile, RawTie,
};
pub(crate) use post::{Around, RawPost, Wrapped};
pub(crate) use statuses::from_line;
pub(crate) use talk::RawTalk;
pub(crate) use user::RawUser;

/// Why an element gives no record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It cannot be read; it is counted as skipped.
    Bad(String),
    /// It is hostile; it is an error.
    Refused(&'static str),
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Bad(error.to_string())
    }
}

impl Fault {
    pub(crate) fn bad(why: &str) -> Self {
        Self::Bad(why.to_owned())
    }
}
