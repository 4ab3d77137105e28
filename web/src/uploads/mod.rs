//! Uploads on their way from a request's body to media: received, looked at, swept away.

mod cleanup;
mod processing;
mod receive;

use std::sync::Arc;
use std::time::Duration;

use base::id::marker;
use base::{Error, Id, Refusal};
use edge::Shutdown;
use media::{FileStore, FileStoreError};
use store::Store;
use tokio::sync::{Notify, Semaphore};

pub(crate) use receive::{IncomingFile, UploadForm, is_legacy, receive};

/// Pictures that are decoded at the same time: each may take what its pixels take.
const MAX_CONCURRENT_DECODES: usize = 2;
/// How often it is looked whether another node left work to do.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Where bodies are put before it is known what they are.
const INCOMING: &str = "uploads/incoming";

/// What turns uploads into media.
#[derive(Clone)]
pub struct UploadProcessor {
    store: Arc<Store>,
    files: FileStore,
    decode_permits: Arc<Semaphore>,
    wake: Arc<Notify>,
}

impl std::fmt::Debug for UploadProcessor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Uploads").field(&self.files).finish()
    }
}

impl UploadProcessor {
    /// Over the files of a platform.
    pub fn new(store: Arc<Store>, files: FileStore) -> Self {
        Self {
            store,
            files,
            decode_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_DECODES)),
            wake: Arc::default(),
        }
    }

    /// Where files are kept.
    pub const fn files(&self) -> &FileStore {
        &self.files
    }

    /// Says that an upload waits to be looked at.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Looks at uploads that wait, one after the other, until the signal to stop.
    pub async fn run(&self, shutdown: &Shutdown) {
        self.recover_unfinished().await;
        while !shutdown.is_triggered() {
            let worked = tokio::select! {
                worked = self.process_next() => worked,
                () = shutdown.wait() => return,
            };
            let more = worked.unwrap_or_else(|stop| {
                tracing::warn!(?stop, "an upload was not looked at; it is tried again");
                false
            });
            if !more {
                tokio::select! {
                    () = self.wake.notified() => {}
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                    () = shutdown.wait() => return,
                }
            }
        }
    }

    /// What a process before this one left unfinished.
    async fn recover_unfinished(&self) {
        if let Err(error) = self.files.remove_folder(INCOMING) {
            tracing::warn!(%error, "bodies that broke off could not be removed");
        }
        let taken = self.store.write(|tx| {
            // On a database of its own nobody else can be at it.
            if !tx.is_shared() {
                store::uploads::release_leases(tx)?;
            }
            Ok(())
        });
        if let Err(stop) = taken.await {
            tracing::warn!(?stop, "unfinished uploads wait until they are free");
        }
        if let Err(stop) = self.remove_expired().await {
            tracing::warn!(?stop, "old uploads were not removed; they are later");
        }
    }
}

/// Where the files of an upload are while it is one.
fn upload_folder(id: Id<marker::MediaMarker>) -> String {
    format!("uploads/{id}")
}

/// Where a segment of an upload is.
pub(crate) fn segment_path(id: Id<marker::MediaMarker>, place: i64) -> String {
    format!("uploads/{id}/{place}")
}

/// The store of files failed: our doing, and perhaps over in a moment.
pub(crate) fn storage_unavailable(error: FileStoreError) -> Error {
    tracing::error!(%error, "files can be neither stored nor read");
    Refusal::Unavailable.into()
}
