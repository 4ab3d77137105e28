//! Snapshots of the search index in the bucket, from which new search nodes start
//! ([decision 33](../../../docs/decisions/0033-search-snapshots.md)).

mod bucket;
mod create;
mod manifest;
mod metrics;
mod restore;

pub use create::make_search_snapshots;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::Fault;
use media::SEARCH_INDEX_FOLDER;
use post_search::PostSearch;
use store::Store;
use web::metrics::ServerMetrics;

use crate::command_error::CommandError;
use crate::{Instance, InstanceManifest, search_index_folder};
use bucket::SnapshotBucket;
use metrics::SnapshotMetrics;

/// In the index folder, whose file system the links need: a snapshot that is being made, and one that is being read.
const OUTGOING_FOLDER: &str = "outgoing";
const INCOMING_FOLDER: &str = "incoming";
/// Indexing posts from the database takes about as long, so a slower transfer is given up.
const MIN_BYTES_PER_SECOND: u64 = 5_000_000;

/// What a search node needs to make and use snapshots.
pub struct SearchSnapshots {
    search: Arc<PostSearch>,
    store: Arc<Store>,
    bucket: SnapshotBucket,
    network: String,
    /// Of the index.
    folder: PathBuf,
    interval: Duration,
    min_events: i64,
    /// After this time, any number of events makes a snapshot worthwhile: the log would not be kept long enough.
    max_age: Duration,
    metrics: SnapshotMetrics,
}

impl SearchSnapshots {
    /// `None` without a search index, a bucket, or other nodes that could use snapshots.
    pub fn open(instance: &Instance, metrics: &ServerMetrics) -> Result<Option<Arc<Self>>, CommandError> {
        let settings = &instance.settings;
        let interval = settings.search.snapshot_interval.0;
        let (Some(search), Some(media)) = (&instance.search, &settings.media_bucket) else {
            return Ok(None);
        };
        if interval.is_zero() || !instance.store.is_shared() {
            return Ok(None);
        }
        let folder = search_index_folder(settings);
        for leftover in [OUTGOING_FOLDER, INCOMING_FOLDER] {
            let _gone = fs::remove_dir_all(folder.join(leftover));
        }
        let manifest = InstanceManifest::read(&settings.core.data_dir)?;
        let network = manifest.ok_or_else(|| Fault::new("the data directory has no manifest"))?.network;
        let bucket = SnapshotBucket::open(&media.subfolder(SEARCH_INDEX_FOLDER).subfolder(&network))?;
        Ok(Some(Arc::new(Self {
            search: Arc::clone(search),
            store: Arc::clone(&instance.store),
            bucket,
            network,
            folder,
            interval,
            min_events: settings.search.snapshot_min_events,
            max_age: settings.db.log_retention.0 / 2,
            metrics: SnapshotMetrics::register(metrics),
        })))
    }
}

fn transfer_limit(bytes: u64) -> Duration {
    Duration::from_mins(1) + Duration::from_secs(bytes / MIN_BYTES_PER_SECOND)
}
