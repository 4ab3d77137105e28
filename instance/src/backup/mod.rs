//! Whole backups: the database, media files and a manifest with their checksums, in a file, a folder or a bucket.

mod backup_reader;
mod backup_writer;
mod create;
mod location;
mod manifest;
mod prune;
mod scratch;
mod sealed_keys;
mod tar_index;

pub use backup_reader::BackupReader;
pub use backup_writer::BackupWriter;
pub use create::{BackupOptions, create_backup};
pub use location::BackupLocation;
pub use manifest::{BackupFile, BackupManifest, decode_manifest, encode_manifest};
pub use scratch::ScratchFolder;
pub use sealed_keys::{SealedKeys, read_passphrase};

use base::Fault;
use bytes::Bytes;
use futures_util::TryStreamExt;
use media::{FileRange, FileStoreError};
use sha2::{Digest, Sha256};

/// Of a backup's files in its folder, bucket or archive.
const MEDIA_PREFIX: &str = "media";
const DATABASE_PREFIX: &str = "database";

/// Where a media file is, unless its manifest says otherwise.
fn media_object(name: &str) -> String {
    format!("{MEDIA_PREFIX}/{name}")
}

fn storage_fault(error: FileStoreError) -> Fault {
    Fault::from_cause("the backup's storage", error)
}

fn hex_digest(hash: Sha256) -> String {
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// Content that is hashed while it is read.
pub struct HashedContent {
    content: FileRange,
    hash: Sha256,
    bytes: u64,
}

impl HashedContent {
    pub fn new(content: FileRange) -> Self {
        Self { content, hash: Sha256::new(), bytes: 0 }
    }

    pub async fn next_piece(&mut self) -> Result<Option<Bytes>, FileStoreError> {
        let piece = self.content.bytes.try_next().await?;
        if let Some(piece) = &piece {
            self.hash.update(piece);
            self.bytes = self.bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        Ok(piece)
    }

    /// What was read, as a file of this name.
    pub fn finish(self, name: &str) -> BackupFile {
        BackupFile { name: name.to_owned(), bytes: self.bytes, sha256: hex_digest(self.hash), object: None }
    }
}
