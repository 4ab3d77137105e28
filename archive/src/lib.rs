//! Reads imported data: the "download your data" archive and JSON Lines.
//!
//! Nothing is stored or fetched. An [`Archive`] is opened from a folder or a zip file,
//! [`JsonLines`] from a file; both are iterators of [`ArchiveRecord`]s, each with the
//! [`ReadPosition`] after it, so that an import can be interrupted and resumed anywhere. Omitted
//! data are reported as [`ArchiveRecord::Skipped`] with the reason. An error does not end the
//! iteration: it continues after the element or with the next file.

mod archive;
mod catalog;
mod container;
mod data_types;
mod elements;
mod error;
mod ids;
mod json_lines;
mod lenient;
mod notes;
mod position;
mod post;
mod raw;
mod record;
mod record_queue;
mod records;
mod sanitize;
mod text;
mod time;
mod user;

pub use archive::{Archive, ArchivedMediaFile};
pub use container::ByteStream;
pub use error::{ArchiveError, ElementLocation, ElementPlace};
pub use json_lines::{JsonLines, JsonLinesRecords};
pub use position::ReadPosition;
pub use post::{
    ArchivedMedia, ArchivedMediaKind, ArchivedMention, ArchivedPoll, ArchivedPollOption, ArchivedPost, ArchivedRepost,
    ArchivedUrl, ArchivedVariant,
};
pub use record::{
    ArchiveRecord, ArchivedAttachment, ArchivedDeletion, ArchivedLike, ArchivedList, ArchivedListMember,
    ArchivedListRole, ArchivedMessage, ArchivedNote, ConversationEventKind, ExportRow, SkipReason, SkippedItem,
    UserRelation,
};
pub use records::ArchiveRecords;
pub use user::{ArchivedAccount, ArchivedProfile, ArchivedUser};
