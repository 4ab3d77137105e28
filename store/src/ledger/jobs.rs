//! Asynchronous analytics jobs and their result files.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{insert, select, stored_enum, table};

stored_enum! {
    /// The names are those of the API.
    pub enum AnalyticsJobState {
        Queued = 0 "QUEUED",
        Processing = 1 "PROCESSING",
        /// The result file is being stored.
        Uploading = 2 "UPLOADING",
        Success = 3 "SUCCESS",
        Failed = 4 "FAILED",
        Cancelled = 5 "CANCELLED",
    }
}

impl AnalyticsJobState {
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Processing | Self::Uploading)
    }
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AnalyticsJob in "ad_job" {
        pub id: i64,
        pub account_id: i64,
        pub state: AnalyticsJobState,
        /// JSON.
        pub request: String as "asked",
        /// The last path segment of the file's URL.
        pub token: String,
        pub created_at: Time,
        pub updated_at: Time,
        /// When the file expires.
        pub expires_at: Option<Time>,
    }
}

pub fn insert_job(tx: &mut Tx<'_>, job: &AnalyticsJob) -> Result<(), Fault> {
    insert!(tx, AnalyticsJob, job)
}

/// The job may belong to any account.
pub fn find_job(tx: &mut Tx<'_>, id: i64) -> Result<Option<AnalyticsJob>, Fault> {
    let sql = select!(AnalyticsJob, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// Newest first, with an id below `below`.
pub fn list_jobs(tx: &mut Tx<'_>, account: i64, below: i64, limit: i64) -> Result<Vec<AnalyticsJob>, Fault> {
    let sql = select!(AnalyticsJob, "WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
    tx.query_rows(sql, &[account.into(), below.into(), limit.into()])
}

/// As [`list_jobs`], only those for nothing but the engagement of the account.
pub fn list_account_engagement_jobs(
    tx: &mut Tx<'_>,
    account: i64,
    below: i64,
    limit: i64,
) -> Result<Vec<AnalyticsJob>, Fault> {
    let sql = select!(
        AnalyticsJob,
        "WHERE account_id = $1 AND id < $2 AND asked /*! ::json */ ->> 'entity' = 'ACCOUNT' \
         AND asked /*! ::json */ ->> 'metric_groups' = '[\"ENGAGEMENT\"]' ORDER BY id DESC LIMIT $3"
    );
    tx.query_rows(sql, &[account.into(), below.into(), limit.into()])
}

pub fn count_open_jobs(tx: &mut Tx<'_>, account: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM ad_job WHERE state < 3 AND account_id = $1";
    tx.query_number(sql, &[account.into()])
}

/// Oldest first, created at or before `until`.
pub fn list_open_jobs(
    tx: &mut Tx<'_>,
    state: AnalyticsJobState,
    until: Time,
    limit: i64,
) -> Result<Vec<AnalyticsJob>, Fault> {
    let sql = select!(AnalyticsJob, "WHERE state = $1 AND state < 3 AND created_at <= $2 ORDER BY id LIMIT $3");
    tx.query_rows(sql, &[state.to_number().into(), until.into(), limit.into()])
}

/// Changes a job's state and file; returns false if the job is not in the expected state.
pub fn transition_job(
    tx: &mut Tx<'_>,
    id: i64,
    (from, to): (AnalyticsJobState, AnalyticsJobState),
    file: Option<(&[u8], Time)>,
) -> Result<bool, Fault> {
    let sql = "UPDATE ad_job SET state = $1, updated_at = $2, file = $3, expires_at = $4 WHERE id = $5 AND state = $6";
    let args = [
        to.to_number().into(),
        tx.now().into(),
        file.map(|(bytes, _)| bytes).into(),
        file.map(|(_, until)| until).into(),
        id.into(),
        from.to_number().into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// None once the file has expired.
pub fn find_job_file(tx: &mut Tx<'_>, token: &str) -> Result<Option<Vec<u8>>, Fault> {
    let sql = "SELECT file FROM ad_job WHERE token = $1 AND expires_at > $2";
    let found = tx.query_row(sql, &[token.into(), tx.now().into()])?;
    Ok(found.flatten())
}

/// Returns how many files were deleted.
pub fn delete_expired_files(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let sql = "UPDATE ad_job SET file = NULL WHERE id IN (SELECT id FROM ad_job \
               WHERE expires_at <= $1 AND file IS NOT NULL ORDER BY expires_at LIMIT $2)";
    tx.execute(sql, &[tx.now().into(), limit.into()])
}

/// Deletes jobs that were last updated before a time; returns how many.
pub fn prune_jobs(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    // Ids are in order of creation, which is before the last update.
    let sql = "DELETE FROM ad_job WHERE id IN (SELECT id FROM ad_job WHERE id < $1 AND updated_at < $2 \
               ORDER BY id LIMIT $3)";
    tx.execute(sql, &[base::id::first_snowflake_at(before).into(), before.into(), limit.into()])
}
