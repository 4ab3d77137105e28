//! The manifest of a snapshot, which is written last: without one, there is no snapshot.

use serde::{Deserialize, Serialize};

use crate::backup::BackupFile;

pub(super) const PREFIX: &str = "manifests";

/// What is known of a snapshot from the name of its manifest. The newest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SnapshotName {
    /// Unix time in milliseconds.
    pub(super) created_at_ms: i64,
    /// The position of the event log up to which posts are indexed.
    pub(super) seq: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SnapshotManifest {
    /// Of the index.
    pub(super) format: u32,
    pub(super) network: String,
    /// The index's own record of its position.
    pub(super) checkpoint: String,
    pub(super) files: Vec<BackupFile>,
}

impl SnapshotName {
    pub(super) fn object(self) -> String {
        format!("{PREFIX}/{}-{}.json", self.created_at_ms, self.seq)
    }

    pub(super) fn parse(object: &str) -> Option<Self> {
        let name = object.strip_prefix(PREFIX)?.strip_prefix('/')?.strip_suffix(".json")?;
        let (created_at_ms, seq) = name.split_once('-')?;
        Some(Self { created_at_ms: created_at_ms.parse().ok()?, seq: seq.parse().ok()? })
    }
}

impl SnapshotManifest {
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}
