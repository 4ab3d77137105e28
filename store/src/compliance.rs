//! Batch compliance jobs: the uploaded ids and their results.

use base::{AppId, Fault, Id, Time};

use crate::Tx;
use crate::db::{insert, select, stored_enum, table};

stored_enum! {
    pub enum ComplianceJobState {
        Created = 0,
        InProgress = 1,
        Complete = 2,
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ComplianceJob in "compliance_job" {
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
}

pub fn insert_job(tx: &mut Tx<'_>, job: &ComplianceJob) -> Result<(), Fault> {
    insert!(tx, ComplianceJob, job)
}

pub fn find_job(tx: &mut Tx<'_>, id: i64) -> Result<Option<ComplianceJob>, Fault> {
    let sql = select!(ComplianceJob, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

pub fn find_by_upload_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = select!(ComplianceJob, "WHERE upload_token = $1");
    tx.query_row(sql, &[token.into()])
}

pub fn find_by_download_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = select!(ComplianceJob, "WHERE download_token = $1");
    tx.query_row(sql, &[token.into()])
}

/// Newest first.
pub fn list_by_app(tx: &mut Tx<'_>, app: AppId, kind: &str, limit: i64) -> Result<Vec<ComplianceJob>, Fault> {
    let sql = select!(ComplianceJob, "WHERE app_id = $1 AND kind = $2 ORDER BY id DESC LIMIT $3");
    tx.query_rows(sql, &[app.into(), kind.into(), limit.into()])
}

/// Locks a job until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock_job(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM compliance_job WHERE id = $1 FOR UPDATE", &[id.into()])
}

pub fn set_state(tx: &mut Tx<'_>, id: i64, state: ComplianceJobState) -> Result<(), Fault> {
    let sql = "UPDATE compliance_job SET state = $1 WHERE id = $2";
    tx.execute_later(sql, &[state.to_number().into(), id.into()])
}

pub fn insert_part(tx: &mut Tx<'_>, job: i64, position: i64, ids: &[i64]) -> Result<(), Fault> {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let ids = ids.join(",");
    insert!(tx, "compliance_part", job_id = job, place = position, ids = &ids)
}

/// The oldest job in progress.
pub fn next_in_progress(tx: &mut Tx<'_>) -> Result<Option<ComplianceJob>, Fault> {
    let sql = select!(ComplianceJob, "WHERE state = 1 ORDER BY id LIMIT 1");
    tx.query_row(sql, &[])
}

/// The first part without a result: its position and ids.
pub fn next_part(tx: &mut Tx<'_>, job: i64) -> Result<Option<(i64, Vec<i64>)>, Fault> {
    let sql = "SELECT place, ids FROM compliance_part WHERE job_id = $1 AND place > (SELECT COALESCE(MAX(place), 0) \
               FROM compliance_part WHERE job_id = $1 AND result IS NOT NULL) ORDER BY place LIMIT 1";
    let part: Option<(i64, Vec<Id<()>>)> = tx.query_row(sql, &[job.into()])?;
    Ok(part.map(|(position, ids)| (position, ids.into_iter().map(Id::get).collect())))
}

pub fn set_part_result(tx: &mut Tx<'_>, job: i64, position: i64, result: &str) -> Result<(), Fault> {
    let sql = "UPDATE compliance_part SET result = $1, ids = '' WHERE job_id = $2 AND place = $3";
    tx.execute_later(sql, &[result.into(), job.into(), position.into()])
}

/// Results of the parts after a position, in order.
pub fn list_results(tx: &mut Tx<'_>, job: i64, after: i64, limit: i64) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT place, COALESCE(result, '') FROM compliance_part \
               WHERE job_id = $1 AND place > $2 ORDER BY place LIMIT $3";
    tx.query_rows(sql, &[job.into(), after.into(), limit.into()])
}

/// Deletes parts of jobs whose download has expired; returns how many.
pub fn prune_parts(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM compliance_part WHERE (job_id, place) IN (SELECT part.job_id, part.place \
               FROM compliance_job job JOIN compliance_part part ON part.job_id = job.id \
               WHERE job.download_expires_at < $1 LIMIT $2)";
    let now = tx.now();
    tx.execute(sql, &[now.into(), limit.into()])
}

/// Deletes jobs without parts whose download expired before a time; returns how many.
pub fn prune_jobs(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM compliance_job WHERE id IN (SELECT id FROM compliance_job job WHERE download_expires_at < $1 \
               AND NOT EXISTS (SELECT 1 FROM compliance_part WHERE job_id = job.id) \
               ORDER BY download_expires_at LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
