//! Data in and out: importing archives and lines, exporting lines.
//!
//! An import streams: one thread reads and prepares, the store's writer stores in transactions of
//! some thousand records, each with the place where the import goes on. So one that was killed
//! goes on where it stopped, and one that is run again finds everything there. What it brings is
//! history, not news: the log gets one entry for each transaction (`import.batch`), so that
//! followers can catch up, but no stream and no webhook tells of each post.

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

pub use error::TransferError;
pub use export::{ExportSummary, export_json_lines};
pub use import::import;
pub use options::{ArchiveOwner, ImportOptions, ImportSource, TransferProgress, TransferStage};
pub use report::{ImportReport, MediaCopyCounts, PlaceholderCounts, SkippedRecords};
