//! Options and progress of an import.

use std::path::PathBuf;

use base::UserId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportSource {
    /// A "download your data" archive: a folder or a zip file.
    Archive(PathBuf),
    /// JSON Lines: our own export, or v1.1 objects, one per line or in an array. Files ending in
    /// `.gz` are decompressed.
    JsonLines(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveOwner {
    /// An existing user.
    Id(UserId),
    /// The user with a handle, created if necessary.
    Username(String),
}

#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// By default the user with the account's id or handle.
    pub owner: Option<ArchiveOwner>,
    /// Without it, no files are copied.
    pub media_dir: Option<PathBuf>,
    /// Whether an archive's direct messages are imported too.
    pub messages: bool,
    pub batch: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { owner: None, media_dir: None, messages: false, batch: 10_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferStage {
    /// The source is read once, so that nothing of an unreadable one is stored.
    Checking,
    Storing,
    /// Home timelines are invalidated.
    Finishing,
    Exporting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferProgress {
    pub stage: TransferStage,
    /// Including those of an earlier run.
    pub records: u64,
    pub total: Option<u64>,
}
