//! Checks and installs the media files of a backup.

use std::collections::HashSet;

use base::{Error, Fault};
use media::{FileStore, FileStoreError, FileWriter};
use serde_json::{Value, json};
use store::Store;

use instance::backup::{BackupFile, BackupManifest, BackupReader, HashedContent};

/// Names listed of each kind of problem.
const MAX_LISTED: usize = 20;
const ROWS_PER_READ: i64 = 1000;

/// Files of the manifest that the backup lacks, and files with other content.
#[derive(Debug, Default)]
pub(super) struct MediaCheck {
    missing: Vec<String>,
    damaged: Vec<String>,
}

impl MediaCheck {
    /// Reads every file.
    pub(super) async fn run(reader: &BackupReader, manifest: &BackupManifest) -> Result<Self, Error> {
        let mut check = Self::default();
        for file in &manifest.media {
            check.copy_file(reader, file, None).await?;
        }
        Ok(check)
    }

    pub(super) const fn is_incomplete(&self) -> bool {
        !self.missing.is_empty() || !self.damaged.is_empty()
    }

    pub(super) fn report(&self, manifest: &BackupManifest) -> Value {
        let first = |names: &[String]| names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>();
        json!({
            "files": manifest.media.len(),
            "bytes": manifest.media_bytes(),
            "missing": self.missing.len(),
            "missing_files": first(&self.missing),
            "damaged": self.damaged.len(),
            "damaged_files": first(&self.damaged),
            "absent_since_backup": manifest.absent.len(),
        })
    }

    /// The target gets the file only if it is undamaged.
    async fn copy_file(
        &mut self,
        reader: &BackupReader,
        file: &BackupFile,
        mut target: Option<FileWriter>,
    ) -> Result<(), Error> {
        let Some(content) = reader.read(&file.media_object()).await.map_err(fault)? else {
            self.missing.push(file.name.clone());
            return abort_write(target).await;
        };
        let mut content = HashedContent::new(content);
        while let Some(piece) = content.next_piece().await.map_err(fault)? {
            if let Some(writer) = &mut target {
                writer.append(&piece).await.map_err(fault)?;
            }
        }
        if !content.finish(&file.name).has_same_content(file) {
            self.damaged.push(file.name.clone());
            return abort_write(target).await;
        }
        match target {
            Some(writer) => writer.finish().await.map(|_| ()).map_err(|error| fault(error).into()),
            None => Ok(()),
        }
    }
}

async fn abort_write(target: Option<FileWriter>) -> Result<(), Error> {
    if let Some(writer) = target {
        writer.abort().await;
    }
    Ok(())
}

/// Marks the folder or bucket as the network's. Files that are already there with the right size are kept.
pub(super) async fn install_media(
    reader: &BackupReader,
    manifest: &BackupManifest,
    files: &FileStore,
) -> Result<MediaCheck, Error> {
    files.mark_network(&manifest.network).await.map_err(fault)?;
    let mut check = MediaCheck::default();
    for file in &manifest.media {
        let target = match files.size(&file.name).await.map_err(fault)? {
            Some(size) if size == file.bytes => None,
            _ => Some(files.start_write(&file.name).map_err(fault)?),
        };
        check.copy_file(reader, file, target).await?;
    }
    Ok(check)
}

/// Files that the database names and the manifest does not.
pub(super) async fn list_unlisted_media(store: &Store, manifest: &BackupManifest) -> Result<Vec<String>, Error> {
    let listed: HashSet<&str> =
        manifest.media.iter().map(|file| &*file.name).chain(manifest.absent.iter().map(|name| &**name)).collect();
    let (mut after, mut unlisted) = (0, Vec::new());
    loop {
        let rows = store.read(move |tx| Ok(store::media::list(tx, after, ROWS_PER_READ)?)).await?;
        let Some(last) = rows.last() else { return Ok(unlisted) };
        after = last.id.get();
        let names = rows.iter().flat_map(store::media::Media::file_paths);
        let missing = MAX_LISTED.saturating_sub(unlisted.len());
        unlisted.extend(names.filter(|name| !listed.contains(&**name)).take(missing));
    }
}

fn fault(error: FileStoreError) -> Fault {
    Fault::from_cause("copying media files", error)
}
