//! Media uploads in progress.

use base::{Fault, MediaId, Time, UserId};

use crate::Tx;
use crate::db::{insert, insert_new_later, row, select, stored_enum, table};

stored_enum! {
    pub enum UploadState {
        /// Segments are being received.
        Receiving = 0,
        /// Waiting for processing.
        Pending = 1,
        Processing = 2,
        /// The media object exists.
        Succeeded = 3,
        Failed = 4,
    }
}

table! {
    #[derive(Clone, Debug)]
    pub struct MediaUpload in "upload" {
        /// The id of the resulting media object.
        pub id: MediaId,
        /// The key announced to the client; empty if none was.
        pub media_key: String,
        pub owner_id: UserId,
        /// `photo`, `animated_gif`, `video` or `subtitles`; empty until it is detected.
        pub kind: String,
        /// Part of the file's name.
        pub token: String,
        /// The announced size in bytes; 0 if none was announced.
        pub total_bytes: i64,
        pub state: UploadState,
        /// Empty unless it failed.
        pub failure_reason: String as "failure",
        pub progress_percent: i64 as "progress",
        /// Until when a worker has claimed it.
        pub leased_until: Time,
        /// The description given before the media exists.
        pub alt_text: String,
        /// Other users who may post it.
        pub shared_with: Vec<UserId>,
        pub expires_at: Time,
    }
}

row! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct UploadSegment from "upload_segment" {
        /// Position among the segments.
        pub index: i64 as "place",
        /// Bytes.
        pub size: i64,
    }
}

pub fn insert(tx: &mut Tx<'_>, upload: &MediaUpload) -> Result<(), Fault> {
    insert!(tx, MediaUpload, upload)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: MediaId) -> Result<Option<MediaUpload>, Fault> {
    let sql = select!(MediaUpload, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// The number of a user's uploads that receive segments, counted up to `bound`.
pub fn count_receiving(tx: &mut Tx<'_>, owner: UserId, bound: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM upload WHERE owner_id = $1 AND state = 0 LIMIT $2) AS open_ones";
    tx.query_number(sql, &[owner.into(), bound.into()])
}

/// Inserts or replaces a segment.
pub fn upsert_segment(tx: &mut Tx<'_>, id: MediaId, index: i64, size: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO upload_segment (upload_id, place, size) VALUES ($1, $2, $3) \
               ON CONFLICT (upload_id, place) DO UPDATE SET size = excluded.size";
    tx.execute_later(sql, &[id.into(), index.into(), size.into()])
}

/// In order.
pub fn list_segments(tx: &mut Tx<'_>, id: MediaId) -> Result<Vec<UploadSegment>, Fault> {
    let sql = select!(UploadSegment, "WHERE upload_id = $1 ORDER BY place");
    tx.query_rows(sql, &[id.into()])
}

/// Returns false if the upload is not in state `from`.
pub fn transition(tx: &mut Tx<'_>, id: MediaId, from: UploadState, to: UploadState) -> Result<bool, Fault> {
    let sql = "UPDATE upload SET state = $1 WHERE id = $2 AND state = $3";
    let args = [to.to_number().into(), id.into(), from.to_number().into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Claims a completely received upload for processing; returns false if it is no longer receiving.
pub fn start_processing(tx: &mut Tx<'_>, id: MediaId, leased_until: Time) -> Result<bool, Fault> {
    let sql = "UPDATE upload SET state = 2, leased_until = $1 WHERE id = $2 AND state = 0";
    Ok(tx.execute(sql, &[leased_until.into(), id.into()])? > 0)
}

/// An upload that has succeeded stays as it is.
pub fn mark_failed(tx: &mut Tx<'_>, id: MediaId, failure: &str) -> Result<(), Fault> {
    let sql = "UPDATE upload SET state = 4, failure = $1 WHERE id = $2 AND state <> 3";
    tx.execute_later(sql, &[failure.into(), id.into()])
}

/// Also extends the lease.
pub fn set_progress(tx: &mut Tx<'_>, id: MediaId, progress: i64, leased_until: Time) -> Result<(), Fault> {
    let sql = "UPDATE upload SET progress = $1, leased_until = $2 WHERE id = $3 AND state = 2";
    tx.execute_later(sql, &[progress.into(), leased_until.into(), id.into()])
}

/// Claims an upload that is waiting or whose lease has expired.
pub fn claim_next(tx: &mut Tx<'_>, leased_until: Time) -> Result<Option<MediaUpload>, Fault> {
    let sql =
        select!(MediaUpload, "WHERE (state = 1 OR state = 2) AND leased_until <= $1 ORDER BY leased_until LIMIT 1");
    let now = tx.now();
    let Some(mut found) = tx.query_row::<MediaUpload>(sql, &[now.into()])? else {
        return Ok(None);
    };
    let sql = "UPDATE upload SET state = 2, leased_until = $1 WHERE id = $2 AND leased_until = $3 \
               AND (state = 1 OR state = 2)";
    let args = [leased_until.into(), found.id.into(), found.leased_until.into()];
    if tx.execute(sql, &args)? == 0 {
        return Ok(None);
    }
    (found.state, found.leased_until) = (UploadState::Processing, leased_until);
    Ok(Some(found))
}

/// Releases all leases, when no other process can hold one.
pub fn release_leases(tx: &mut Tx<'_>) -> Result<(), Fault> {
    for sql in [
        "UPDATE upload SET leased_until = 0 WHERE (state = 1 OR state = 2) AND leased_until > 0",
        "UPDATE variant_task SET leased_until = 0 WHERE leased_until > 0",
    ] {
        tx.execute_later(sql, &[])?;
    }
    Ok(())
}

/// Queues the making of variants.
pub fn request_variants(tx: &mut Tx<'_>, id: MediaId) -> Result<(), Fault> {
    insert_new_later!(tx, "variant_task", upload_id = id, leased_until = Time::from_ms(0))
}

/// Claims a published upload whose variants are to be made and that no worker has claimed: first those of owners with the
/// fewest, so that nobody waits for all videos of another.
pub fn claim_next_for_variants(tx: &mut Tx<'_>, leased_until: Time) -> Result<Option<MediaUpload>, Fault> {
    let sql = "SELECT upload_id, claimed_until FROM (SELECT upload_id, variant_task.leased_until AS claimed_until, \
               COUNT(*) OVER (PARTITION BY owner_id) AS waiting FROM variant_task JOIN upload ON id = upload_id) AS task \
               WHERE claimed_until <= $1 ORDER BY waiting, claimed_until, upload_id LIMIT 1";
    let now = tx.now();
    let Some((id, before)) = tx.query_row::<(MediaId, Time)>(sql, &[now.into()])? else {
        return Ok(None);
    };
    let sql = "UPDATE variant_task SET leased_until = $1 WHERE upload_id = $2 AND leased_until = $3";
    if tx.execute(sql, &[leased_until.into(), id.into(), before.into()])? == 0 {
        return Ok(None);
    }
    find_by_id(tx, id)
}

pub fn extend_variants_lease(tx: &mut Tx<'_>, id: MediaId, leased_until: Time) -> Result<(), Fault> {
    let sql = "UPDATE variant_task SET leased_until = $1 WHERE upload_id = $2";
    tx.execute_later(sql, &[leased_until.into(), id.into()])
}

/// Returns false if the variants were not to be made any more.
pub fn finish_variants(tx: &mut Tx<'_>, id: MediaId) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM variant_task WHERE upload_id = $1", &[id.into()])? > 0)
}

/// Uploads that wait for a worker or are processed, counted up to `bound`.
pub fn count_waiting(tx: &mut Tx<'_>, bound: i64) -> Result<i64, Fault> {
    let mut count = 0;
    for sql in [
        "SELECT COUNT(*) FROM (SELECT 1 FROM upload WHERE state = 1 OR state = 2 LIMIT $1) AS waiting",
        "SELECT COUNT(*) FROM (SELECT 1 FROM variant_task LIMIT $1) AS waiting",
    ] {
        count += tx.query_number(sql, &[bound.into()])?;
    }
    Ok(count.min(bound))
}

pub fn set_alt_text(tx: &mut Tx<'_>, id: MediaId, text: &str) -> Result<(), Fault> {
    let sql = "UPDATE upload SET alt_text = $1 WHERE id = $2";
    tx.execute_later(sql, &[text.into(), id.into()])
}

pub fn list_expired(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<MediaUpload>, Fault> {
    let sql = select!(MediaUpload, "WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2");
    let now = tx.now();
    tx.query_rows(sql, &[now.into(), limit.into()])
}

/// Also deletes its segments, the request for variants, and its metadata if there is no media object.
pub fn delete(tx: &mut Tx<'_>, id: MediaId) -> Result<(), Fault> {
    for sql in [
        "DELETE FROM upload_segment WHERE upload_id = $1",
        "DELETE FROM variant_task WHERE upload_id = $1",
        "DELETE FROM media_metadata WHERE media_id = $1 AND NOT EXISTS (SELECT 1 FROM media WHERE id = $1)",
        "DELETE FROM upload WHERE id = $1",
    ] {
        tx.execute_later(sql, &[id.into()])?;
    }
    Ok(())
}
