//! Import of archives and JSON Lines, and export as JSON Lines or, of one account, as an archive.
//!
//! An import is a stream: one thread reads and prepares records, the store's writer stores some
//! thousand of them per transaction together with the position at which the import continues. An
//! interrupted import is therefore resumed, and a repeated one finds everything already stored.
//! Imported data are history, not news: the event log gets one event per transaction
//! (`import.batch`) so that its readers can catch up, but no stream or webhook is notified of each
//! post.
//!
//! The futures of both are boxed, so that they are compiled here and not where they are awaited.

mod account_archive;
mod chunk;
mod error;
mod export;
mod import;
mod options;
mod portable_rows;
mod reader;
mod report;
mod sanitize;
mod source;
mod thread;

pub use account_archive::{AccountArchiveSource, stream_account_archive};
pub use error::TransferError;
pub use export::{ExportSummary, export_json_lines};
pub use import::import;
pub use options::{ArchiveOwner, ImportOptions, ImportSource, TransferProgress, TransferStage};
pub use report::{ImportReport, MediaCopyCounts, PlaceholderCounts, SkippedRecords};
