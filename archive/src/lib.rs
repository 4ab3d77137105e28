//! Reads what people bring along: the "download your data" archive and JSON Lines.
//!
//! Nothing is stored, fetched or asked here. An [`Archive`] is opened from a folder or a zip file,
//! [`JsonLines`] from a file; both give [`Record`]s one by one, each with the [`Position`] behind
//! it, so that an import can stop anywhere and go on later. What is left out comes as
//! [`Record::Skipped`] with its reason. An error does not end a reading: it goes on behind the
//! element or with the next file.

mod archive;
mod catalogue;
mod clean;
mod container;
mod elements;
mod error;
mod ids;
mod kinds;
mod lenient;
mod lines;
mod notes;
mod position;
mod post;
mod queue;
mod raw;
mod record;
mod records;
mod text;
mod time;
mod user;

pub use archive::{Archive, Found};
pub use container::Bytes;
pub use error::{ArchiveError, Place};
pub use lines::{JsonLines, Lines};
pub use position::Position;
pub use post::{Media, MediaKind, Mention, Post, Repost, Url, Variant};
pub use record::{
    DeletedPost, Happening, Like, List, ListMember, ListRole, MediaFile, Message, NoteTweet,
    Record, Row, Skipped, Tie, Why,
};
pub use records::Records;
pub use user::{Account, Profile, User};
