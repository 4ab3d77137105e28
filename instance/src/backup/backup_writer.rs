//! Writes the files of a backup.

use base::Fault;
use media::{FileRange, FileStore, FileStoreError, FileWriter};

use super::tar_index::{BLOCK_BYTES, encode_header};
use super::{BackupFile, HashedContent, storage_fault};

pub enum BackupWriter {
    /// One archive, which appears under its name when it is complete.
    Archive { writer: FileWriter, written_at_seconds: u64 },
    /// A folder or bucket, in which each file appears when it is complete.
    Collection(FileStore),
}

impl BackupWriter {
    /// Copies a file; memory does not depend on its size. Fails if the content is shorter than announced.
    pub async fn store_file(&mut self, name: &str, object: &str, content: FileRange) -> Result<BackupFile, Fault> {
        let size = content.size;
        let mut content = HashedContent::new(content);
        match self {
            Self::Collection(files) => {
                let mut writer = files.start_write(object).map_err(storage_fault)?;
                if let Err(error) = copy_pieces(&mut content, &mut writer).await {
                    writer.abort().await;
                    return Err(storage_fault(error));
                }
                writer.finish().await.map_err(storage_fault)?;
            }
            Self::Archive { writer, written_at_seconds } => {
                let header = encode_header(object, size, *written_at_seconds)?;
                writer.append(&header).await.map_err(storage_fault)?;
                copy_pieces(&mut content, writer).await.map_err(storage_fault)?;
                writer.append(padding(size)).await.map_err(storage_fault)?;
            }
        }
        let file = content.finish(name);
        if file.bytes != size {
            return Err(Fault::new(format!("{name} has {} bytes instead of {size}", file.bytes)));
        }
        Ok(file)
    }

    /// Completes the backup.
    pub(super) async fn finish(self, manifest_object: &str, manifest: String) -> Result<(), Fault> {
        match self {
            Self::Collection(files) => files.put(manifest_object, manifest).await.map_err(storage_fault),
            Self::Archive { mut writer, written_at_seconds } => {
                let size = u64::try_from(manifest.len()).unwrap_or(u64::MAX);
                let header = encode_header(manifest_object, size, written_at_seconds)?;
                let end_of_archive = [0; 2 * BLOCK_BYTES];
                for piece in [&header, manifest.as_bytes(), padding(size), &end_of_archive] {
                    writer.append(piece).await.map_err(storage_fault)?;
                }
                writer.finish().await.map(|_| ()).map_err(storage_fault)
            }
        }
    }

    pub(super) async fn abort(self) {
        if let Self::Archive { writer, .. } = self {
            writer.abort().await;
        }
    }
}

async fn copy_pieces(content: &mut HashedContent, writer: &mut FileWriter) -> Result<(), FileStoreError> {
    while let Some(piece) = content.next_piece().await? {
        writer.append(&piece).await?;
    }
    Ok(())
}

/// Fills the last block of an entry.
fn padding(size: u64) -> &'static [u8] {
    static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
    let block = u64::try_from(BLOCK_BYTES).unwrap_or(1);
    let missing = usize::try_from((block - size % block) % block).unwrap_or(0);
    ZEROS.get(..missing).unwrap_or_default()
}
