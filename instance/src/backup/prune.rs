//! Removes old backups from a folder or bucket.

use std::collections::HashSet;

use base::{Error, Fault};
use futures_util::TryStreamExt;

use super::{BackupFile, BackupLocation, BackupManifest, BackupReader, storage_fault};

/// Keeps `made`, which counts as the newest whatever its date, and the newest others, up to `keep` altogether; and removes
/// files that no backup lists. Backups with and without a database are counted apart. No backup may be made there
/// meanwhile.
pub(super) async fn prune_backups(
    location: &BackupLocation,
    made: &BackupManifest,
    keep: usize,
) -> Result<usize, Error> {
    let reader = BackupReader::open(location)?;
    let (mut alike, mut kept) = (Vec::new(), vec![made.id.clone()]);
    for id in reader.list_ids().await?.into_iter().filter(|id| *id != made.id) {
        // One that cannot be read is removed when it is old enough.
        match reader.read_manifest(&id).await {
            Ok(other) if other.database.is_some() != made.database.is_some() => kept.push(id),
            Ok(_) | Err(_) => alike.push(id),
        }
    }
    let newest = alike.split_off((alike.len() + 1).saturating_sub(keep.max(1)).min(alike.len()));
    let old = alike;
    kept.extend(newest);
    if old.is_empty() {
        return Ok(0);
    }
    let mut needed = HashSet::new();
    for id in &kept {
        let Some(manifest) = reader.find_readable_manifest(id).await? else {
            // Which files it needs is not known.
            return Ok(0);
        };
        needed.extend(manifest.database.iter().map(|file| file.name.clone()));
        needed.extend(manifest.media.iter().map(BackupFile::media_object));
    }
    // Without its manifest a backup no longer counts, so an interrupted removal leaves no damaged backup.
    for id in &old {
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
