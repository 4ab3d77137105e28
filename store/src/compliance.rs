//! Compliance jobs: the ids that came, and what there is to say of them.

use base::{AppId, Fault, Id, Time};

use crate::Tx;
use crate::db::SqlRow;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplianceJobState {
    /// It waits for its ids.
    Created,
    /// It is worked on.
    InProgress,
    /// All is said.
    Complete,
}

impl ComplianceJobState {
    const fn to_number(self) -> i64 {
        match self {
            Self::Created => 0,
            Self::InProgress => 1,
            Self::Complete => 2,
        }
    }

    fn from_number(number: i64) -> Result<Self, Fault> {
        let all = [Self::Created, Self::InProgress, Self::Complete];
        let known = all.into_iter().find(|state| state.to_number() == number);
        known.ok_or_else(|| Fault::new(format!("a compliance job in state {number}")))
    }
}

/// A job as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComplianceJob {
    /// Snowflake id.
    pub id: i64,
    /// Whose it is.
    pub app_id: AppId,
    /// What its ids are of: `tweets` or `users`.
    pub kind: String,
    /// Its name, or empty.
    pub name: String,
    /// Whether its upload was asked to be resumable.
    pub resumable: bool,
    /// Where it stands.
    pub state: ComplianceJobState,
    /// When it was made.
    pub created_at: Time,
    /// What the address ends in that its ids go to.
    pub upload_token: String,
    /// What the address ends in that its result comes from.
    pub download_token: String,
    /// Until when ids are taken.
    pub upload_expires_at: Time,
    /// Until when the result is given.
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

/// Adds a job.
pub fn insert_job(tx: &mut Tx<'_>, job: &ComplianceJob) -> Result<(), Fault> {
    let sql = columns!(
        "INSERT INTO compliance_job (",
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    );
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

/// The job with an id, whose ever it is.
pub fn find_job(tx: &mut Tx<'_>, id: i64) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE id = $1");
    tx.query_row(sql, &[id.into()], job_from_row)
}

/// The job whose ids go to an address.
pub fn find_by_upload_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE upload_token = $1");
    tx.query_row(sql, &[token.into()], job_from_row)
}

/// The job whose result comes from an address.
pub fn find_by_download_token(tx: &mut Tx<'_>, token: &str) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE download_token = $1");
    tx.query_row(sql, &[token.into()], job_from_row)
}

/// The jobs of an app, newest first.
pub fn list_by_app(tx: &mut Tx<'_>, app: AppId, kind: &str, limit: i64) -> Result<Vec<ComplianceJob>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM compliance_job WHERE app_id = $1 AND kind = $2 ORDER BY id DESC LIMIT $3"
    );
    tx.query_rows(sql, &[app.into(), kind.into(), limit.into()], job_from_row)
}

/// Makes other work that locks the same job wait for this transaction's end. A SQLite file has one
/// writer, so there it waits already.
pub fn lock_job(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM compliance_job WHERE id = $1 FOR UPDATE";
        tx.query_row(sql, &[id.into()], |_| Ok(()))?;
    }
    Ok(())
}

/// Says where a job stands.
pub fn set_state(tx: &mut Tx<'_>, id: i64, state: ComplianceJobState) -> Result<(), Fault> {
    let sql = "UPDATE compliance_job SET state = $1 WHERE id = $2";
    tx.execute(sql, &[state.to_number().into(), id.into()]).map(|_| ())
}

/// Adds some of a job's ids.
pub fn insert_part(tx: &mut Tx<'_>, job: i64, place: i64, ids: &[i64]) -> Result<(), Fault> {
    let sql = "INSERT INTO compliance_part (job_id, place, ids) VALUES ($1, $2, $3)";
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let ids = ids.join(",");
    tx.execute(sql, &[job.into(), place.into(), (&ids).into()]).map(|_| ())
}

/// The oldest job that is worked on.
pub fn next_in_progress(tx: &mut Tx<'_>) -> Result<Option<ComplianceJob>, Fault> {
    let sql = columns!("SELECT ", " FROM compliance_job WHERE state = 1 ORDER BY id LIMIT 1");
    tx.query_row(sql, &[], job_from_row)
}

/// The first of a job's parts of which nothing has been said yet: its place and its ids.
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

/// Keeps what there is to say of a part.
pub fn set_part_result(tx: &mut Tx<'_>, job: i64, place: i64, result: &str) -> Result<(), Fault> {
    let sql = "UPDATE compliance_part SET result = $1, ids = '' WHERE job_id = $2 AND place = $3";
    tx.execute(sql, &[result.into(), job.into(), place.into()]).map(|_| ())
}

/// What was said of the parts of a job behind a place, in their order.
pub fn list_results(tx: &mut Tx<'_>, job: i64, after: i64, limit: i64) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT place, COALESCE(result, '') FROM compliance_part \
               WHERE job_id = $1 AND place > $2 ORDER BY place LIMIT $3";
    tx.query_rows(sql, &[job.into(), after.into(), limit.into()], |row| {
        Ok((row.int(0)?, row.text(1)?))
    })
}

/// Removes jobs whose result is no longer given, with all that was said; how many rows.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM compliance_part WHERE job_id IN (SELECT id FROM compliance_job \
               WHERE download_expires_at < $1 ORDER BY download_expires_at LIMIT $2)";
    let parts = tx.execute(sql, &[before.into(), limit.into()])?;
    let sql = "DELETE FROM compliance_job WHERE id IN (SELECT id FROM compliance_job \
               WHERE download_expires_at < $1 ORDER BY download_expires_at LIMIT $2)";
    Ok(parts + tx.execute(sql, &[before.into(), limit.into()])?)
}
