//! Batch compliance jobs: the uploaded ids and their results.

use base::{AppId, Fault, Id, Time};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplianceJobState {
    Created,
    InProgress,
    Complete,
}

stored_enum!(ComplianceJobState "compliance job state" { Created = 0, InProgress = 1, Complete = 2 });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComplianceJob {
    pub id: i64,
    pub app_id: AppId,
    /// `tweets` or `users`.
    pub kind: String,
    /// Empty if unnamed.
    pub name: String,
    pub resumable: bool,
    pub state: ComplianceJobState,
    pub created_at: Time,
    /// The last path segment of the upload URL.
    pub upload_token: String,
    /// The last path segment of the download URL.
    pub download_token: String,
    pub upload_expires_at: Time,
    pub download_expires_at: Time,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, app_id, kind, name, resumable, state, created_at, upload_token, download_token, \
             upload_expires_at, download_expires_at",
            $after
        )
    };
}

fn job_from_row(row: &SqlRow<'_, '_>) -> Result<ComplianceJob, Fault> {
    Ok(ComplianceJob {
        id: row.int(0)?,
        app_id: row.id(1)?,
        kind: row.text(2)?,
        name: row.text(3)?,
        resumable: row.bool(4)?,
        state: ComplianceJobState::from_number(row.int(5)?)?,
        created_at: row.time(6)?,
        upload_token: row.text(7)?,
        download_token: row.text(8)?,
        upload_expires_at: row.time(9)?,
        download_expires_at: row.time(10)?,
    })
}

pub fn insert_job(tx: &mut Tx<'_>, job: &ComplianceJob) -> Result<(), Fault> {
    let sql = columns!("INSERT INTO compliance_job (", ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    let args = [
        job.id.into(),
        job.app_id.into(),
        (&job.kind).into(),
        (&job.name).into(),
        job.resumable.into(),
        job.state.to_number().into(),
        job.created_at.into(),
        (&job.upload_token).into(),
        (&job.download_token).into(),
        job.upload_expires_at.into(),
        job.download_expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

pub fn find_job(tx: &mut Tx<'_>, id: i64) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE id = $1");
    tx.query_row(sql, &[id.into()], job_from_row)
}

pub fn find_by_upload_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE upload_token = $1");
    tx.query_row(sql, &[token.into()], job_from_row)
}

pub fn find_by_download_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE download_token = $1");
    tx.query_row(sql, &[token.into()], job_from_row)
}

/// Newest first.
pub fn list_by_app(tx: &mut Tx<'_>, app: AppId, kind: &str, limit: i64) -> Result<Vec<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE app_id = $1 AND kind = $2 ORDER BY id DESC LIMIT $3");
    tx.query_rows(sql, &[app.into(), kind.into(), limit.into()], job_from_row)
}

/// Locks a job until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock_job(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM compliance_job WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn set_state(tx: &mut Tx<'_>, id: i64, state: ComplianceJobState) -> Result<(), Fault> {
    let sql = "UPDATE compliance_job SET state = $1 WHERE id = $2";
    tx.execute(sql, &[state.to_number().into(), id.into()]).map(|_| ())
}

pub fn insert_part(tx: &mut Tx<'_>, job: i64, position: i64, ids: &[i64]) -> Result<(), Fault> {
    let sql = "INSERT INTO compliance_part (job_id, place, ids) VALUES ($1, $2, $3)";
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let ids = ids.join(",");
    tx.execute(sql, &[job.into(), position.into(), (&ids).into()]).map(|_| ())
}

/// The oldest job in progress.
pub fn next_in_progress(tx: &mut Tx<'_>) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE state = 1 ORDER BY id LIMIT 1");
    tx.query_row(sql, &[], job_from_row)
}

/// The first part without a result: its position and ids.
pub fn next_part(tx: &mut Tx<'_>, job: i64) -> Result<Option<(i64, Vec<i64>)>, Fault> {
    let sql = "SELECT place, ids FROM compliance_part WHERE job_id = $1 AND place > \
               (SELECT COALESCE(MAX(place), 0) FROM compliance_part WHERE job_id = $1 \
               AND result IS NOT NULL) ORDER BY place LIMIT 1";
    tx.query_row(sql, &[job.into()], |row| {
        let ids = row.text(1)?;
        let ids = ids.split(',').filter_map(Id::<()>::parse).map(Id::get);
        Ok((row.int(0)?, ids.collect()))
    })
}

pub fn set_part_result(tx: &mut Tx<'_>, job: i64, position: i64, result: &str) -> Result<(), Fault> {
    let sql = "UPDATE compliance_part SET result = $1, ids = '' WHERE job_id = $2 AND place = $3";
    tx.execute(sql, &[result.into(), job.into(), position.into()]).map(|_| ())
}

/// Results of the parts after a position, in order.
pub fn list_results(tx: &mut Tx<'_>, job: i64, after: i64, limit: i64) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT place, COALESCE(result, '') FROM compliance_part \
               WHERE job_id = $1 AND place > $2 ORDER BY place LIMIT $3";
    tx.query_rows(sql, &[job.into(), after.into(), limit.into()], |row| Ok((row.int(0)?, row.text(1)?)))
}

/// Deletes jobs whose download has expired, with their parts; returns how many rows.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM compliance_part WHERE job_id IN (SELECT id FROM compliance_job \
               WHERE download_expires_at < $1 ORDER BY download_expires_at LIMIT $2)";
    let parts = tx.execute(sql, &[before.into(), limit.into()])?;
    let sql = "DELETE FROM compliance_job WHERE id IN (SELECT id FROM compliance_job \
               WHERE download_expires_at < $1 ORDER BY download_expires_at LIMIT $2)";
    Ok(parts + tx.execute(sql, &[before.into(), limit.into()])?)
}
