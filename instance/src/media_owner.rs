//! Keeps a network away from the media files of another one.

use std::time::Duration;

use base::clock::monotonic_now;
use base::{Error, Fault, Rng};
use futures_util::TryStreamExt;
use media::{FileStore, FileStoreError, NETWORK_FILE};
use store::nodes::{self, NodeRecord};
use store::{Store, Tx, meta};

use super::blocking::block_on;
use super::manifest::InstanceManifest;
use super::open::{NETWORK_ID_KEY, has_database};
use crate::command_error::CommandError;
use crate::config::{RunMode, ServerSettings};

/// Refuses to start an empty network on existing media files. With `init`, only on those of a known network.
pub fn refuse_media_without_database(settings: &ServerSettings, init: bool) -> Result<(), CommandError> {
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
            "the database is empty, but {files} contains the media files of network {network}: {advice}"
        )));
    }
    match first {
        Some(_) if !init => Err(CommandError::Failed(format!(
            "the database is empty, but {files} contains media files: {advice}; `locum serve --init` starts an \
             empty network"
        ))),
        _ => Ok(()),
    }
}

/// Marks the media files as the network's. In production, those of another network are refused.
pub async fn claim_media(mode: RunMode, store: &Store, files: &FileStore) -> Result<(), CommandError> {
    let network = store.read(|tx| Ok(meta::get(tx, NETWORK_ID_KEY)?)).await?;
    let network = network.ok_or_else(|| Fault::new("the database has no network id"))?;
    let marks = files.network_marks().await.map_err(fault)?;
    match marks.iter().find(|mark| **mark != network) {
        Some(other) if mode == RunMode::Serve => Err(CommandError::Failed(format!(
            "{files} contains the media files of network {other}, and the database is that of network {network}: \
             set media.dir or media.s3_url to the files of this network; if they are, remove the file {NETWORK_FILE}"
        ))),
        Some(_) => Ok(()),
        None => Ok(files.mark_network(&network).await.map_err(fault)?),
    }
}

/// The fact that is also in the folder or bucket which the nodes use.
const MEDIA_LOCATION_KEY: &str = "media_location";
/// Longer than the lease of a node that was killed lasts.
const OTHER_NODES_TIMEOUT: Duration = Duration::from_secs(6);
/// Of nodes that start together where no file was, the first one writes it after [`OTHER_NODES_TIMEOUT`]; the others
/// may have started to wait a little earlier.
const FIRST_NODE_TIMEOUT: Duration = Duration::from_secs(10);
const OTHER_NODES_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Refuses media files that the nodes which were started earlier do not use: what is uploaded to one of them would be
/// missing here. Without such nodes, the files may be elsewhere than before.
pub async fn check_media_is_shared(store: &Store, files: &FileStore) -> Result<(), CommandError> {
    if !store.is_shared() {
        return Ok(());
    }
    let own = store.context().node.incarnation();
    let made = format!("{:032x}", u128::from_be_bytes(Rng::Os.random_bytes()?));
    let start = monotonic_now();
    loop {
        let found = files.location_id().await.map_err(fault)?;
        let proposed = found.clone().unwrap_or_else(|| made.clone());
        let is_late = start.elapsed() >= OTHER_NODES_TIMEOUT;
        let waits_no_longer = start.elapsed() >= FIRST_NODE_TIMEOUT;
        let (location, other) = store.write(move |tx| resolve_location(tx, own, &proposed, is_late)).await?;
        if found.as_ref() == Some(&location) {
            return Ok(());
        }
        if location == made {
            // Another node may write at the same time; what is found in the end has to be what is in the database.
            files.set_location_id(&made).await.map_err(fault)?;
        } else if waits_no_longer {
            return Err(CommandError::Failed(format!(
                "{other} does not use the media files in {files}, and what is uploaded there would be missing here: set media.s3_url on \
                 all nodes to one bucket, or media.dir to one directory that they share"
            )));
        }
        tokio::time::sleep(OTHER_NODES_POLL_INTERVAL).await;
    }
}

/// The id of the place that the network's files are in, and a server that uses it if it is not the proposed one. It
/// becomes the proposed one if there is no such server, or `is_late` and all of them were started later.
fn resolve_location(tx: &mut Tx<'_>, own: i64, proposed: &str, is_late: bool) -> Result<(String, String), Error> {
    let location = meta::get_or_insert(tx, MEDIA_LOCATION_KEY, proposed)?;
    if location == proposed {
        return Ok((location, String::new()));
    }
    let nodes = nodes::list(tx)?;
    let started = |node: &NodeRecord| (node.started_at, node.number);
    let own_start = nodes.iter().find(|node| node.incarnation == own).map(started);
    let is_other = |node: &&NodeRecord| node.has_lease && node.purpose == "server" && node.incarnation != own;
    let is_ahead = |node: &&NodeRecord| !is_late || own_start.is_none_or(|own_start| started(node) < own_start);
    if let Some(node) = nodes.iter().filter(is_other).find(is_ahead) {
        return Ok((location, format!("node {} ({})", node.number, node.host)));
    }
    meta::set(tx, MEDIA_LOCATION_KEY, proposed)?;
    Ok((proposed.to_owned(), String::new()))
}

fn fault(error: FileStoreError) -> Fault {
    Fault::from_cause("the media files", error)
}
