//! Removes old backups from a folder or bucket.

use std::collections::HashSet;

use base::{Error, Fault};
use futures_util::TryStreamExt;

use super::{BackupLocation, BackupManifest, BackupReader, media_object, storage_fault};

/// Keeps the newest backups, and removes files that none of them lists. No backup may be made there meanwhile.
pub(super) async fn prune_backups(location: &BackupLocation, keep: usize) -> Result<usize, Error> {
    let reader = BackupReader::open(location)?;
    let ids = reader.list_ids().await?;
    let (old, kept) = ids.split_at(ids.len().saturating_sub(keep.max(1)));
    if old.is_empty() {
        return Ok(0);
    }
    let mut needed = HashSet::new();
    for id in kept {
        let manifest = reader.read_manifest(id).await?;
        needed.extend(manifest.database.iter().map(|file| file.name.clone()));
        needed.extend(manifest.media.iter().map(|file| media_object(&file.name)));
    }
    // Without its manifest a backup no longer counts, so an interrupted removal leaves no damaged backup.
    for id in old {
        reader.files.delete(&BackupManifest::object_name(id)).await.map_err(storage_fault)?;
    }
    for prefix in [super::MEDIA_PREFIX, super::DATABASE_PREFIX] {
        remove_unneeded(&reader, prefix, &needed).await?;
    }
    Ok(old.len())
}

async fn remove_unneeded(reader: &BackupReader, prefix: &str, needed: &HashSet<String>) -> Result<(), Fault> {
    let listed = reader.files.list(Some(prefix)).map_err(storage_fault)?;
    let found: Vec<_> = listed.try_collect().await.map_err(storage_fault)?;
    for file in found.iter().filter(|file| !needed.contains(&file.name)) {
        reader.files.delete(&file.name).await.map_err(storage_fault)?;
    }
    Ok(())
}
