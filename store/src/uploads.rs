//! Media uploads in progress.

use base::id::marker;
use base::{Fault, Id, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadState {
    /// Segments are being received.
    Receiving,
    /// Waiting for processing.
    Pending,
    Processing,
    /// The media object exists.
    Succeeded,
    Failed,
}

stored_enum!(UploadState "upload state" { Receiving = 0, Pending = 1, Processing = 2, Succeeded = 3, Failed = 4 });

#[derive(Clone, Debug)]
pub struct MediaUpload {
    /// The id of the resulting media object.
    pub id: Id<marker::MediaMarker>,
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
    pub failure_reason: String,
    pub progress_percent: i64,
    /// Until when a worker has claimed it.
    pub leased_until: Time,
    /// The description given before the media exists.
    pub alt_text: String,
    /// Other users who may post it.
    pub shared_with: Vec<UserId>,
    pub expires_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadSegment {
    /// Position among the segments.
    pub index: i64,
    /// Bytes.
    pub size: i64,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, media_key, owner_id, kind, token, total_bytes, state, failure, progress, \
             leased_until, alt_text, shared_with, expires_at",
            $after
        )
    };
}

fn upload_from_row(row: &SqlRow<'_, '_>) -> Result<MediaUpload, Fault> {
    let shared_with = row.text(11)?;
    Ok(MediaUpload {
        id: row.id(0)?,
        media_key: row.text(1)?,
        owner_id: row.id(2)?,
        kind: row.text(3)?,
        token: row.text(4)?,
        total_bytes: row.int(5)?,
        state: UploadState::from_number(row.int(6)?)?,
        failure_reason: row.text(7)?,
        progress_percent: row.int(8)?,
        leased_until: row.time(9)?,
        alt_text: row.text(10)?,
        shared_with: shared_with.split(',').filter_map(UserId::parse).collect(),
        expires_at: row.time(12)?,
    })
}

pub fn insert(tx: &mut Tx<'_>, upload: &MediaUpload) -> Result<(), Fault> {
    let sql = columns!("INSERT INTO upload (", ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)");
    let shared: Vec<String> = upload.shared_with.iter().map(UserId::to_string).collect();
    let shared = shared.join(",");
    let args = [
        upload.id.into(),
        (&upload.media_key).into(),
        upload.owner_id.into(),
        (&upload.kind).into(),
        (&upload.token).into(),
        upload.total_bytes.into(),
        upload.state.to_number().into(),
        (&upload.failure_reason).into(),
        upload.progress_percent.into(),
        upload.leased_until.into(),
        (&upload.alt_text).into(),
        (&shared).into(),
        upload.expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

pub fn find_by_id(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>) -> Result<Option<MediaUpload>, Fault> {
    let sql = columns!("SELECT ", " FROM upload WHERE id = $1");
    tx.query_row(sql, &[id.into()], upload_from_row)
}

/// The number of a user's uploads that receive segments, counted up to `bound`.
pub fn count_receiving(tx: &mut Tx<'_>, owner: UserId, bound: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM \
               (SELECT 1 FROM upload WHERE owner_id = $1 AND state = 0 LIMIT $2) AS open_ones";
    let count = tx.query_row(sql, &[owner.into(), bound.into()], |row| row.int(0))?;
    Ok(count.unwrap_or(0))
}

/// Inserts or replaces a segment.
pub fn upsert_segment(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>, index: i64, size: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO upload_segment (upload_id, place, size) VALUES ($1, $2, $3) \
               ON CONFLICT (upload_id, place) DO UPDATE SET size = excluded.size";
    tx.execute(sql, &[id.into(), index.into(), size.into()]).map(|_| ())
}

/// In order.
pub fn list_segments(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>) -> Result<Vec<UploadSegment>, Fault> {
    let sql = "SELECT place, size FROM upload_segment WHERE upload_id = $1 ORDER BY place";
    tx.query_rows(sql, &[id.into()], |row| Ok(UploadSegment { index: row.int(0)?, size: row.int(1)? }))
}

/// Returns false if the upload is not in state `from`.
pub fn transition(
    tx: &mut Tx<'_>,
    id: Id<marker::MediaMarker>,
    from: UploadState,
    to: UploadState,
) -> Result<bool, Fault> {
    let sql = "UPDATE upload SET state = $1 WHERE id = $2 AND state = $3";
    let args = [to.to_number().into(), id.into(), from.to_number().into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Claims a completely received upload for processing; returns false if it is no longer receiving.
pub fn start_processing(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>, leased_until: Time) -> Result<bool, Fault> {
    let sql = "UPDATE upload SET state = 2, leased_until = $1 WHERE id = $2 AND state = 0";
    Ok(tx.execute(sql, &[leased_until.into(), id.into()])? > 0)
}

pub fn mark_failed(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>, failure: &str) -> Result<(), Fault> {
    let sql = "UPDATE upload SET state = 4, failure = $1 WHERE id = $2";
    tx.execute(sql, &[failure.into(), id.into()]).map(|_| ())
}

/// Also extends the lease.
pub fn set_progress(
    tx: &mut Tx<'_>,
    id: Id<marker::MediaMarker>,
    progress: i64,
    leased_until: Time,
) -> Result<(), Fault> {
    let sql = "UPDATE upload SET progress = $1, leased_until = $2 WHERE id = $3 AND state = 2";
    tx.execute(sql, &[progress.into(), leased_until.into(), id.into()]).map(|_| ())
}

/// Claims an upload that is waiting or whose lease has expired.
pub fn claim_next(tx: &mut Tx<'_>, leased_until: Time) -> Result<Option<MediaUpload>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM upload WHERE (state = 1 OR state = 2) AND leased_until <= $1 \
         ORDER BY leased_until LIMIT 1"
    );
    let now = tx.now();
    let Some(mut found) = tx.query_row(sql, &[now.into()], upload_from_row)? else {
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
    let sql = "UPDATE upload SET leased_until = 0 WHERE (state = 1 OR state = 2) \
               AND leased_until > 0";
    tx.execute(sql, &[]).map(|_| ())
}

pub fn set_alt_text(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>, text: &str) -> Result<(), Fault> {
    let sql = "UPDATE upload SET alt_text = $1 WHERE id = $2";
    tx.execute(sql, &[text.into(), id.into()]).map(|_| ())
}

pub fn list_expired(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<MediaUpload>, Fault> {
    let sql = columns!("SELECT ", " FROM upload WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2");
    let now = tx.now();
    tx.query_rows(sql, &[now.into(), limit.into()], upload_from_row)
}

/// Also deletes its segments.
pub fn delete(tx: &mut Tx<'_>, id: Id<marker::MediaMarker>) -> Result<(), Fault> {
    for sql in ["DELETE FROM upload_segment WHERE upload_id = $1", "DELETE FROM upload WHERE id = $1"] {
        tx.execute(sql, &[id.into()])?;
    }
    Ok(())
}
