//! Makes snapshots, on one search node at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, clock};
use media::FileStore;
use post_search::{IndexCopy, PostSearch};
use store::task_leases;
use tokio::time::timeout;

use super::manifest::{SnapshotManifest, SnapshotName};
use super::{OUTGOING_FOLDER, SearchSnapshots, transfer_limit};
use crate::backup::ScratchFolder;

const TASK: &str = "search_snapshots";
const RETRY_DELAY: Duration = Duration::from_mins(5);
/// Until an index that was just built is committed, or the log has its first entry.
const COMMIT_DELAY: Duration = Duration::from_secs(10);
const MIN_SLEEP: Duration = Duration::from_millis(100);
/// The clock may be set meanwhile, and the node that makes snapshots may be gone.
const MAX_SLEEP: Duration = Duration::from_mins(10);

pub async fn make_search_snapshots(snapshots: Arc<SearchSnapshots>) {
    loop {
        let wait = match Box::pin(snapshots.run_once()).await {
            Ok(wait) => wait,
            Err(error) => {
                snapshots.metrics.failed.inc();
                tracing::warn!(%error, "failed to make a snapshot of the search index; will retry");
                RETRY_DELAY.min(snapshots.interval)
            }
        };
        tokio::time::sleep(wait.clamp(MIN_SLEEP, MAX_SLEEP)).await;
    }
}

impl SearchSnapshots {
    /// Returns how long to wait for the next time.
    async fn run_once(&self) -> Result<Duration, Error> {
        self.search.wait_until_built(|_| {}).await;
        let newest = self.find_newest().await?;
        let wait = newest.map_or(Duration::ZERO, |newest| self.interval.saturating_sub(self.age(newest)));
        if !wait.is_zero() {
            return Ok(wait);
        }
        if self.acquire_lease().await? { self.make_snapshot(newest).await } else { Ok(self.interval) }
    }

    async fn find_newest(&self) -> Result<Option<SnapshotName>, Fault> {
        let newest = self.bucket.list_snapshots().await?.pop();
        self.metrics.set_newest(newest.map(|newest| newest.created_at_ms));
        Ok(newest)
    }

    fn age(&self, snapshot: SnapshotName) -> Duration {
        let elapsed = self.store.context().clock.now().ms().saturating_sub(snapshot.created_at_ms);
        Duration::from_millis(u64::try_from(elapsed).unwrap_or(0))
    }

    /// The node that has the lease keeps it, because the files of its index are in the bucket already.
    async fn acquire_lease(&self) -> Result<bool, Error> {
        let node = &self.store.context().node;
        let incarnation = node.incarnation();
        // The time is part of the snapshot's name, so the clock has to be right.
        if !node.accepts_work() || node.problem().is_some() {
            return Ok(false);
        }
        self.store.write(move |tx| Ok(task_leases::acquire(tx, TASK, incarnation)?)).await
    }

    async fn make_snapshot(&self, newest: Option<SnapshotName>) -> Result<Duration, Error> {
        let incarnation = self.store.context().node.incarnation();
        let started = clock::monotonic_now();
        let folder = ScratchFolder::create(self.folder.join(OUTGOING_FOLDER))?;
        let Some(copy) = link_index_files(&self.search, folder.path().to_owned()).await? else {
            return Ok(COMMIT_DELAY.min(self.interval));
        };
        if newest.is_some_and(|newest| !self.is_worthwhile(copy.seq, newest)) {
            return Ok(self.interval);
        }
        let files = FileStore::local(folder.path()).map_err(Fault::context("reading the index"))?;
        let limit = transfer_limit(folder_bytes(&files, &copy).await?);
        let made = timeout(limit, self.upload(&files, &copy, incarnation)).await;
        let name = made.map_err(Fault::context("uploading the index"))??;
        self.metrics.set_newest(Some(name.created_at_ms));
        self.metrics.set_upload_time(started.elapsed());
        self.metrics.completed.inc();
        tracing::info!(seq = copy.seq, duration = ?started.elapsed(), "made a snapshot of the search index");
        self.bucket.remove_old(|| self.store.context().node.may_send_as(incarnation)).await?;
        Ok(self.interval)
    }

    /// A position behind that of the last snapshot is that of a database which was restored to an earlier state.
    fn is_worthwhile(&self, seq: i64, newest: SnapshotName) -> bool {
        let events = seq.saturating_sub(newest.seq);
        events < 0 || events >= self.min_events || events > 0 && self.age(newest) >= self.max_age
    }

    async fn upload(&self, folder: &FileStore, copy: &IndexCopy, incarnation: i64) -> Result<SnapshotName, Fault> {
        let stored = self.bucket.list_files().await?;
        let mut files = Vec::new();
        for name in &copy.files.names {
            files.push(self.bucket.store_file(folder, name, &stored).await?);
        }
        let manifest = SnapshotManifest {
            format: PostSearch::INDEX_FORMAT,
            network: self.network.clone(),
            checkpoint: copy.files.checkpoint.clone(),
            files,
        };
        let name = SnapshotName { created_at_ms: self.store.context().clock.now().ms(), seq: copy.seq };
        if !self.store.context().node.may_send_as(incarnation) {
            // Another node may have deleted the files meanwhile.
            return Err(Fault::new("this node lost its lease while it uploaded").into_transient());
        }
        self.bucket.write_manifest(name, &manifest).await?;
        Ok(name)
    }
}

async fn link_index_files(search: &Arc<PostSearch>, folder: PathBuf) -> Result<Option<IndexCopy>, Fault> {
    let search = Arc::clone(search);
    let linking = tokio::task::spawn_blocking(move || search.link_index_files(&folder));
    linking.await.map_err(Fault::context("linking the files of the index"))?
}

async fn folder_bytes(folder: &FileStore, copy: &IndexCopy) -> Result<u64, Fault> {
    let mut bytes = 0_u64;
    for name in &copy.files.names {
        let size = folder.size(name).await.map_err(Fault::context("reading the index"))?;
        bytes = bytes.saturating_add(size.unwrap_or(0));
    }
    Ok(bytes)
}
