//! Media uploads: receiving, processing and cleanup.

mod cleanup;
mod form_excerpt;
mod processing;
mod receive;
mod variants;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Error, Fault, MediaId, Refusal};
use edge::Shutdown;
use futures_util::future::BoxFuture;
use media::{FileStore, FileStoreError, Transcoder};
use network::uploads::LEASE_MS;
use parking_lot::Mutex;
use store::Store;
use store::uploads::{self, MediaUpload};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::timeout;

pub use form_excerpt::{FormExcerpt, receive_excerpt};
pub use receive::{IncomingFile, UploadForm, is_legacy, receive};

/// Bounds the memory of decoded images.
const MAX_CONCURRENT_DECODES: usize = 2;
/// Longer than a few large pictures take, and shorter than balancers wait for uploads (docs/scaling.md).
const DECODE_PERMIT_TIMEOUT: Duration = Duration::from_secs(15);
/// How often to check for uploads that other nodes left.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Received files that belong to no upload yet, and files being processed.
const SCRATCH: &str = "scratch";

#[derive(Clone)]
pub struct UploadProcessor {
    store: Arc<Store>,
    files: FileStore,
    /// None if no variants are made.
    transcoder: Option<Arc<Transcoder>>,
    decode_permits: Arc<Semaphore>,
    wake: Arc<Notify>,
    leftovers_removed_at: Arc<Mutex<Option<Instant>>>,
}

impl std::fmt::Debug for UploadProcessor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("UploadProcessor").field(&self.files).finish()
    }
}

impl UploadProcessor {
    /// Removes files that an earlier process received in part; call before requests are served.
    pub fn new(store: Arc<Store>, files: FileStore, transcoder: Option<Transcoder>) -> Self {
        // On a shared database, other nodes may use the folder; there, leftovers are removed by their age.
        if !store.is_shared()
            && let Err(error) = files.clear_scratch()
        {
            tracing::warn!(%error, "failed to remove incomplete uploads");
        }
        Self {
            store,
            files,
            transcoder: transcoder.map(Arc::new),
            decode_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_DECODES)),
            wake: Arc::default(),
            leftovers_removed_at: Arc::default(),
        }
    }

    pub const fn files(&self) -> &FileStore {
        &self.files
    }

    /// A request that has to wait for too long is refused as unavailable.
    async fn acquire_decode_permit(&self, is_requested: bool) -> Result<SemaphorePermit<'_>, Error> {
        let limit = if is_requested { DECODE_PERMIT_TIMEOUT } else { Duration::MAX };
        let permit = timeout(limit, self.decode_permits.acquire()).await.map_err(|_| Refusal::Unavailable)?;
        Ok(permit.map_err(Fault::context("waiting for a decode permit"))?)
    }

    /// Signals that an upload is ready to be processed.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Processes waiting uploads one by one until shutdown.
    pub fn run<'a>(&'a self, shutdown: &'a Shutdown) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.recover_unfinished().await;
            while !shutdown.is_triggered() {
                let outcome = tokio::select! {
                    outcome = self.process_next() => outcome,
                    () = shutdown.wait() => return,
                };
                let more = outcome.unwrap_or_else(|error| {
                    tracing::warn!(%error, "failed to process an upload; will retry");
                    false
                });
                if !more {
                    tokio::select! {
                        () = self.wake.notified() => {}
                        () = self.store.pause_background_work(POLL_INTERVAL) => {}
                        () = shutdown.wait() => return,
                    }
                }
            }
        })
    }

    /// Uploads come before variants of media that are published already. Returns false if nothing is waiting.
    async fn process_next(&self) -> Result<bool, Error> {
        let makes_variants = self.has_transcoder();
        let claimed = self.store.write(move |tx| {
            let until = tx.now().plus_ms(LEASE_MS);
            if let Some(upload) = uploads::claim_next(tx, until)? {
                return Ok(Some(ClaimedWork::Upload(upload)));
            }
            let upload = if makes_variants { uploads::claim_next_for_variants(tx, until)? } else { None };
            Ok(upload.map(ClaimedWork::Variants))
        });
        match claimed.await? {
            None => return Ok(false),
            Some(ClaimedWork::Upload(upload)) => self.process_upload(&upload).await?,
            Some(ClaimedWork::Variants(upload)) => self.make_missing_variants(&upload).await?,
        }
        Ok(true)
    }

    /// Releases what an earlier process left unfinished.
    async fn recover_unfinished(&self) {
        let released = self.store.write(|tx| {
            // Without a shared database, no other node can hold a lease.
            if !tx.is_shared() {
                uploads::release_leases(tx)?;
            }
            Ok(())
        });
        if let Err(error) = released.await {
            tracing::warn!(%error, "failed to release unfinished uploads; they wait for their leases to expire");
        }
        if let Err(error) = self.remove_expired().await {
            tracing::warn!(%error, "failed to remove expired uploads; will retry");
        }
    }
}

enum ClaimedWork {
    Upload(MediaUpload),
    /// Of media that are published.
    Variants(MediaUpload),
}

fn upload_folder(id: MediaId) -> String {
    format!("uploads/{id}")
}

pub fn segment_path(id: MediaId, index: i64) -> String {
    format!("uploads/{id}/{index}")
}

/// Clients may retry.
pub fn storage_unavailable(error: FileStoreError) -> Error {
    storage_fault(error).into()
}

pub(crate) fn storage_fault(error: FileStoreError) -> Fault {
    Fault::from_cause("the file store is unavailable", error).into_transient()
}
