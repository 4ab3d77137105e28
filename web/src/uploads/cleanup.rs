//! Removes expired uploads and unused media together with their files.

use std::time::Duration;

use base::Error;
use base::clock::{monotonic_now, wall_time};
use futures_util::future::BoxFuture;
use network::uploads::UNATTACHED_TTL_MS;
use store::{Tx, event_log, media, uploads};

use super::{UploadProcessor, storage_unavailable, upload_folder};

const BATCH: i64 = 100;
/// How often files are searched that no upload refers to.
const LEFTOVER_INTERVAL: Duration = Duration::from_hours(1);
/// Longer than an upload lasts.
const LEFTOVER_AGE_MS: i64 = 2 * UNATTACHED_TTL_MS;

impl UploadProcessor {
    pub fn remove_expired(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.remove_leftovers().await?;
            loop {
                let removed = self.remove_expired_media().await? + self.remove_expired_uploads().await?;
                if removed == 0 {
                    return Ok(());
                }
            }
        })
    }

    /// Removes files that killed processes left.
    async fn remove_leftovers(&self) -> Result<(), Error> {
        let now = monotonic_now();
        if self.leftovers_removed_at.lock().is_some_and(|last| now - last < LEFTOVER_INTERVAL) {
            return Ok(());
        }
        let before = wall_time().plus_ms(-LEFTOVER_AGE_MS);
        self.files.remove_leftovers(before.ms()).await.map_err(storage_unavailable)?;
        *self.leftovers_removed_at.lock() = Some(now);
        Ok(())
    }

    async fn remove_expired_media(&self) -> Result<usize, Error> {
        let has_expired = self.store.read(|tx| Ok(!media::list_expired(tx, 1)?.is_empty())).await?;
        if !has_expired {
            return Ok(0);
        }
        // Keep the records while files cannot be deleted, or the files would be orphaned.
        self.files.check_bucket().await.map_err(storage_unavailable)?;
        let claim = |tx: &mut Tx<'_>| {
            let mut expired = media::list_expired(tx, BATCH)?;
            expired.sort_by_key(|media| media.id);
            let mut claimed = Vec::new();
            for media in expired {
                if media::claim_expired(tx, media.id)? {
                    claimed.push(media);
                }
            }
            Ok(claimed)
        };
        let expired: Vec<media::Media> = self.store.write(claim).await?;
        // The files before the records, so that a failure is retried.
        for path in expired.iter().flat_map(media::Media::file_paths) {
            self.files.delete(&path).await.map_err(storage_unavailable)?;
        }
        let count = expired.len();
        let remove = move |tx: &mut Tx<'_>| {
            for media in &expired {
                if media::remove_expired(tx, media.id)? {
                    event_log::append(tx, "media.delete", media.owner_id.get(), media.id.get(), "")?;
                }
            }
            Ok(())
        };
        self.store.write(remove).await?;
        Ok(count)
    }

    /// Deletes the files first, so that a failure is retried.
    async fn remove_expired_uploads(&self) -> Result<usize, Error> {
        let expired = self.store.read(|tx| Ok(uploads::list_expired(tx, BATCH)?));
        let expired = expired.await?;
        for upload in &expired {
            self.files.remove_folder(&upload_folder(upload.id)).await.map_err(storage_unavailable)?;
            let id = upload.id;
            self.store.write(move |tx| Ok(uploads::delete(tx, id)?)).await?;
        }
        Ok(expired.len())
    }
}
