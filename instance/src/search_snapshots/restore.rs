//! Starts an index from a snapshot.

use base::{Error, Fault, clock};
use media::FileStore;
use post_search::PostSearch;
use tokio::time::timeout;

use super::manifest::{SnapshotManifest, SnapshotName};
use super::{INCOMING_FOLDER, SearchSnapshots, transfer_limit};
use crate::backup::ScratchFolder;

/// The newest ones; there are two unless the removal of others failed.
const MAX_ATTEMPTS: usize = 3;
/// Free space that is left for everything else, in bytes.
const MIN_FREE_BYTES: u64 = 1 << 30;

impl SearchSnapshots {
    /// If the index would have to be built, replaces it by the newest snapshot that can be used. Otherwise says why not; the
    /// index is built from the database then.
    pub async fn restore_index(&self) {
        if let Err(error) = Box::pin(self.restore_if_needed()).await {
            tracing::warn!(%error, "failed to look for a snapshot of the search index");
        }
    }

    async fn restore_if_needed(&self) -> Result<(), Error> {
        if !self.search.needs_build(&self.store).await? {
            return Ok(());
        }
        let names = self.bucket.list_snapshots().await?;
        for name in names.into_iter().rev().take(MAX_ATTEMPTS) {
            let started = clock::monotonic_now();
            match Box::pin(self.restore_snapshot(name)).await {
                Ok(posts) => {
                    self.metrics.set_restored_posts(posts);
                    let duration = started.elapsed();
                    tracing::info!(posts, seq = name.seq, ?duration, "started the search index from a snapshot");
                    return Ok(());
                }
                Err(error) => {
                    tracing::warn!(%error, seq = name.seq, "a snapshot of the search index cannot be used");
                }
            }
        }
        tracing::info!("the search index is built from the database");
        Ok(())
    }

    async fn restore_snapshot(&self, name: SnapshotName) -> Result<u64, Error> {
        let manifest = self.bucket.read_manifest(name).await?;
        self.check_usable(&manifest).await?;
        let scratch = ScratchFolder::create(self.folder.join(INCOMING_FOLDER))?;
        check_disk_space(&scratch, manifest.bytes())?;
        let folder = FileStore::local(scratch.path()).map_err(Fault::context("the index folder"))?;
        let downloading = timeout(transfer_limit(manifest.bytes()), async {
            for file in &manifest.files {
                self.bucket.load_file(file, &folder).await?;
            }
            Ok::<_, Fault>(())
        });
        downloading.await.map_err(Fault::context("downloading the index"))??;
        self.search.replace_index(&self.store, scratch.path().to_owned()).await
    }

    async fn check_usable(&self, manifest: &SnapshotManifest) -> Result<(), Error> {
        let problem = if manifest.format != PostSearch::INDEX_FORMAT {
            Some("it has another format")
        } else if manifest.network != self.network {
            Some("it is of another network")
        } else {
            PostSearch::find_copy_problem(&self.store, &manifest.checkpoint).await?
        };
        problem.map_or(Ok(()), |problem| Err(Fault::new(problem).into()))
    }
}

fn check_disk_space(folder: &ScratchFolder, bytes: u64) -> Result<(), Fault> {
    let stat = rustix::fs::statvfs(folder.path()).map_err(Fault::context("determining the free space"))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free < bytes.saturating_add(MIN_FREE_BYTES) {
        return Err(Fault::new(format!("it has {bytes} bytes, and {free} are free")));
    }
    Ok(())
}
