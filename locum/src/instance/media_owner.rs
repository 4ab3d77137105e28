//! Keeps a network away from the media files of another one.

use base::Fault;
use futures_util::TryStreamExt;
use media::{FileStore, FileStoreError, NETWORK_FILE};
use store::{Store, meta};

use super::blocking::block_on;
use super::manifest::InstanceManifest;
use super::open::{NETWORK_ID_KEY, has_database};
use crate::command_error::CommandError;
use crate::config::{RunMode, ServerSettings};

/// Refuses to start an empty network on existing media files. With `init`, only on those of a known network.
pub(crate) fn refuse_media_without_database(settings: &ServerSettings, init: bool) -> Result<(), CommandError> {
    // A known data directory without a database is refused when it is opened.
    let is_known = InstanceManifest::read(&settings.core.data_dir)?.is_some() && !init;
    let has_media = settings.media_dir.exists() || settings.media_bucket.is_some();
    if is_known || !has_media || has_database(settings)? {
        return Ok(());
    }
    let files = settings.open_media_files()?;
    let (marks, first) = block_on(async {
        let marks = files.network_marks().await.map_err(fault)?;
        let mut listed = files.list(None).map_err(fault)?;
        Ok::<_, Fault>((marks, listed.try_next().await.map_err(fault)?))
    })?;
    // Another node may have begun the network meanwhile.
    if has_database(settings)? {
        return Ok(());
    }
    let advice = "restore a backup with `locum restore`, or set another media.dir or media.s3_url";
    if let Some(network) = marks.first() {
        return Err(CommandError::Failed(format!(
            "the database is empty, but {files:?} contains the media files of network {network}: {advice}"
        )));
    }
    match first {
        Some(_) if !init => Err(CommandError::Failed(format!(
            "the database is empty, but {files:?} contains media files: {advice}; `locum serve --init` starts an \
             empty network"
        ))),
        _ => Ok(()),
    }
}

/// Marks the media files as the network's. In production, those of another network are refused.
pub(crate) async fn claim_media(mode: RunMode, store: &Store, files: &FileStore) -> Result<(), CommandError> {
    let network = store.read(|tx| Ok(meta::get(tx, NETWORK_ID_KEY)?)).await?;
    let network = network.ok_or_else(|| Fault::new("the database has no network id"))?;
    let marks = files.network_marks().await.map_err(fault)?;
    match marks.iter().find(|mark| **mark != network) {
        Some(other) if mode == RunMode::Serve => Err(CommandError::Failed(format!(
            "{files:?} contains the media files of network {other}, and the database is that of network {network}: \
             set media.dir or media.s3_url to the files of this network; if they are, remove the file {NETWORK_FILE}"
        ))),
        Some(_) => Ok(()),
        None => Ok(files.mark_network(&network).await.map_err(fault)?),
    }
}

fn fault(error: FileStoreError) -> Fault {
    Fault::from_cause("the media files", error)
}
