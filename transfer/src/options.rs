//! What is asked of an import, and what it tells while it runs.

use std::path::PathBuf;

use base::UserId;

/// Where an import comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportSource {
    /// A "download your data" archive: a folder or a zip file.
    Archive(PathBuf),
    /// JSON Lines: our own export, or v1.1 objects one a line or in an array; `.gz` is unpacked.
    JsonLines(PathBuf),
}

/// Who becomes the owner of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveOwner {
    /// A user who is here.
    Id(UserId),
    /// The user with a handle, who is made when there is none.
    Username(String),
}

/// How an import is done.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Whom the archive's account becomes; without it, the user with the account's id or handle.
    pub owner: Option<ArchiveOwner>,
    /// The media folder; without it no file is copied.
    pub media_dir: Option<PathBuf>,
    /// Whether an archive's direct messages are taken too.
    pub messages: bool,
    /// Records of one transaction.
    pub batch: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            owner: None,
            media_dir: None,
            messages: false,
            batch: 10_000,
        }
    }
}

/// What a transfer is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferStage {
    /// The source is read through once, so that a broken one leaves nothing behind.
    Checking,
    /// Records are stored.
    Storing,
    /// Home timelines are renewed.
    Finishing,
    /// Lines are written.
    Exporting,
}

/// How far a transfer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferProgress {
    /// What it is at.
    pub stage: TransferStage,
    /// Records behind it, those of an earlier run included.
    pub records: u64,
    /// Records in all, once that is known.
    pub total: Option<u64>,
}
