//! Jobs: figures of a long time, worked out in the background and kept as a file for a while.

use base::{Fault, Time};

use crate::Tx;
use crate::db::SqlRow;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalyticsJobState {
    /// It waits.
    Queued,
    /// It is worked on.
    Processing,
    /// Its file is being kept.
    Uploading,
    /// Its file is there.
    Success,
    /// It could not be done.
    Failed,
    /// It was called off.
    Cancelled,
}

impl AnalyticsJobState {
    const ALL: [Self; 6] = [
        Self::Queued,
        Self::Processing,
        Self::Uploading,
        Self::Success,
        Self::Failed,
        Self::Cancelled,
    ];

    /// As it is answered.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "QUEUED",
            Self::Processing => "PROCESSING",
            Self::Uploading => "UPLOADING",
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    const fn to_number(self) -> i64 {
        match self {
            Self::Queued => 0,
            Self::Processing => 1,
            Self::Uploading => 2,
            Self::Success => 3,
            Self::Failed => 4,
            Self::Cancelled => 5,
        }
    }

    /// Whether it is still to be done.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Processing | Self::Uploading)
    }
}

/// A job as stored, without its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyticsJob {
    /// Snowflake id.
    pub id: i64,
    /// The account.
    pub account_id: i64,
    /// Where it stands.
    pub state: AnalyticsJobState,
    /// What was asked for (JSON).
    pub request: String,
    /// What its file's address ends in.
    pub token: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was changed last.
    pub updated_at: Time,
    /// Until when its file is given.
    pub expires_at: Option<Time>,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, account_id, state, asked, token, created_at, updated_at, expires_at",
            $after
        )
    };
}

fn job_from_row(row: &SqlRow<'_, '_>) -> Result<AnalyticsJob, Fault> {
    let number = row.int(2)?;
    let mut states = AnalyticsJobState::ALL.into_iter();
    let state = states.find(|state| state.to_number() == number);
    Ok(AnalyticsJob {
        id: row.int(0)?,
        account_id: row.int(1)?,
        state: state.ok_or_else(|| Fault::new(format!("a job of figures in state {number}")))?,
        request: row.text(3)?,
        token: row.text(4)?,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
        expires_at: row.opt_time(7)?,
    })
}

/// Adds a job.
pub fn insert_job(tx: &mut Tx<'_>, job: &AnalyticsJob) -> Result<(), Fault> {
    let sql = columns!("INSERT INTO ad_job (", ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    let args = [
        job.id.into(),
        job.account_id.into(),
        job.state.to_number().into(),
        (&job.request).into(),
        (&job.token).into(),
        job.created_at.into(),
        job.updated_at.into(),
        job.expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// The job with an id, whose ever it is.
pub fn find_job(tx: &mut Tx<'_>, id: i64) -> Result<Option<AnalyticsJob>, Fault> {
    let sql = columns!("SELECT ", " FROM ad_job WHERE id = $1");
    tx.query_row(sql, &[id.into()], job_from_row)
}

/// Jobs of an account below an id, the newest first.
pub fn list_jobs(tx: &mut Tx<'_>, account: i64, below: i64, limit: i64) -> Result<Vec<AnalyticsJob>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM ad_job WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"
    );
    tx.query_rows(sql, &[account.into(), below.into(), limit.into()], job_from_row)
}

/// How many of an account's jobs are still to be done. An account has few of them.
pub fn count_open_jobs(tx: &mut Tx<'_>, account: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM ad_job WHERE state < 3 AND account_id = $1";
    Ok(tx.query_row(sql, &[account.into()], |row| row.int(0))?.unwrap_or(0))
}

/// Jobs of a state that were made until a moment, the oldest first.
pub fn list_open_jobs(
    tx: &mut Tx<'_>,
    state: AnalyticsJobState,
    until: Time,
    limit: i64,
) -> Result<Vec<AnalyticsJob>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM ad_job WHERE state = $1 AND state < 3 AND created_at <= $2 ORDER BY id LIMIT $3"
    );
    tx.query_rows(
        sql,
        &[state.to_number().into(), until.into(), limit.into()],
        job_from_row,
    )
}

/// Moves a job on; false when it is not where it was thought to be.
pub fn transition_job(
    tx: &mut Tx<'_>,
    id: i64,
    (from, to): (AnalyticsJobState, AnalyticsJobState),
    made: Option<(&[u8], Time)>,
) -> Result<bool, Fault> {
    let sql = "UPDATE ad_job SET state = $1, updated_at = $2, file = $3, expires_at = $4 \
               WHERE id = $5 AND state = $6";
    let args = [
        to.to_number().into(),
        tx.now().into(),
        made.map(|(file, _)| file).into(),
        made.map(|(_, until)| until).into(),
        id.into(),
        from.to_number().into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// The file that an address ends in this for, while it is given.
pub fn find_job_file(tx: &mut Tx<'_>, token: &str) -> Result<Option<Vec<u8>>, Fault> {
    let sql = "SELECT file FROM ad_job WHERE token = $1 AND expires_at > $2";
    let found = tx.query_row(sql, &[token.into(), tx.now().into()], |row| row.opt_bytes(0))?;
    Ok(found.flatten())
}

/// Throws files away that are not given any longer; how many.
pub fn delete_expired_files(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let sql = "UPDATE ad_job SET file = NULL WHERE id IN (SELECT id FROM ad_job \
               WHERE expires_at <= $1 AND file IS NOT NULL ORDER BY expires_at LIMIT $2)";
    tx.execute(sql, &[tx.now().into(), limit.into()])
}
