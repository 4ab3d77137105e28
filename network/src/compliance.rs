//! Batch compliance jobs: an app uploads ids of posts or users it stores, and learns which of them it must delete and
//! why (contract core §7.9).

use std::collections::HashMap;

use base::refusal::{RefusalKind, ResourceRef};
use base::{AppId, Error, Fault, PostId, Refusal, Time, UserId, sorted_distinct};
use serde_json::json;
use store::compliance::{self, ComplianceJob, ComplianceJobState};
use store::posts::{self, PostState};
use store::users::{self, User};
use store::{Tx, apps, event_log};

use crate::visibility::{Visibility, profile_visibility};

/// How long the upload and the download are possible, from the job's creation on.
const UPLOAD_MS: i64 = 15 * 60_000;
const DOWNLOAD_MS: i64 = 7 * 24 * 3_600_000;
/// How long a job is listed after its download has expired.
const RETENTION_MS: i64 = 7 * 24 * 3_600_000;
/// Listed jobs per app.
const MAX_LISTED: i64 = 1_000;
/// Ids per transaction.
const PART_SIZE: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct NewComplianceJob {
    /// `tweets` or `users`.
    pub kind: String,
    /// Empty if unnamed.
    pub name: String,
    pub resumable: bool,
}

/// The job's status in the API at a time.
pub fn status(job: &ComplianceJob, now: Time) -> &'static str {
    match job.state {
        ComplianceJobState::Created if now >= job.upload_expires_at => "expired",
        ComplianceJobState::Created => "created",
        ComplianceJobState::Complete if now >= job.download_expires_at => "expired",
        ComplianceJobState::Complete => "complete",
        ComplianceJobState::InProgress => "in_progress",
    }
}

fn is_open(job: &ComplianceJob, now: Time) -> bool {
    matches!(status(job, now), "created" | "in_progress")
}

/// An app has at most one open job per type.
pub fn create(tx: &mut Tx<'_>, app: AppId, new: &NewComplianceJob) -> Result<ComplianceJob, Error> {
    // Concurrent calls must not both find no open job.
    apps::lock(tx, app)?;
    let now = tx.now();
    let existing = compliance::list_by_app(tx, app, &new.kind, MAX_LISTED)?;
    if existing.iter().any(|job| is_open(job, now)) {
        return Err(conflict_refusal("A compliance job of this type is open already.").into());
    }
    let rng = tx.rng().clone();
    let job = ComplianceJob {
        id: tx.next_id::<()>().get(),
        app_id: app,
        kind: new.kind.clone(),
        name: new.name.clone(),
        resumable: new.resumable,
        state: ComplianceJobState::Created,
        created_at: now,
        upload_token: rng.random_token(43)?,
        download_token: rng.random_token(43)?,
        upload_expires_at: now.plus_ms(UPLOAD_MS),
        download_expires_at: now.plus_ms(DOWNLOAD_MS),
    };
    compliance::insert_job(tx, &job)?;
    append_job_event(tx, "compliance.create", &job)?;
    Ok(job)
}

fn conflict_refusal(message: &'static str) -> Refusal {
    Refusal::NamedReason {
        kind: RefusalKind::Conflict,
        parameter: "",
        value: String::new(),
        message: message.into(),
        code: None,
    }
}

fn append_job_event(tx: &mut Tx<'_>, kind: &str, job: &ComplianceJob) -> Result<(), Fault> {
    let body = json!({ "app_id": job.app_id.to_string(), "type": job.kind });
    event_log::append(tx, kind, 0, job.id, &body.to_string())
}

/// Newest first; with `status_filter`, only jobs of this status.
pub fn list(tx: &mut Tx<'_>, app: AppId, kind: &str, status_filter: Option<&str>) -> Result<Vec<ComplianceJob>, Fault> {
    let now = tx.now();
    let mut found = compliance::list_by_app(tx, app, kind, MAX_LISTED)?;
    found.retain(|job| status_filter.is_none_or(|status_filter| status(job, now) == status_filter));
    Ok(found)
}

pub fn find(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Option<ComplianceJob>, Fault> {
    Ok(compliance::find_job(tx, id)?.filter(|job| job.app_id == app))
}

fn job_not_found(what: &'static str, token: &str) -> Error {
    Refusal::NotFound(ResourceRef::new("compliance_job", what, token)).into()
}

/// Refuses expired upload links and jobs whose ids were already uploaded.
pub fn find_upload_job(tx: &mut Tx<'_>, token: &str) -> Result<ComplianceJob, Error> {
    let job = compliance::find_by_upload_token(tx, token)?;
    let job = job.ok_or_else(|| job_not_found("upload", token))?;
    match status(&job, tx.now()) {
        "created" => Ok(job),
        "expired" => Err(job_not_found("upload", token)),
        _ => Err(conflict_refusal("The ids of this compliance job have come already.").into()),
    }
}

/// Stores all ids of a job.
pub fn store_uploaded_ids(tx: &mut Tx<'_>, token: &str, ids: &[i64]) -> Result<(), Error> {
    if let Some(job) = compliance::find_by_upload_token(tx, token)? {
        compliance::lock_job(tx, job.id)?;
    }
    let job = find_upload_job(tx, token)?;
    for (position, batch) in (1..).zip(ids.chunks(PART_SIZE)) {
        compliance::insert_part(tx, job.id, position, batch)?;
    }
    compliance::set_state(tx, job.id, ComplianceJobState::InProgress)?;
    Ok(append_job_event(tx, "compliance.begin", &job)?)
}

/// Refuses links of jobs that are not complete.
pub fn find_download_job(tx: &mut Tx<'_>, token: &str) -> Result<ComplianceJob, Error> {
    let job = compliance::find_by_download_token(tx, token)?;
    let job = job.ok_or_else(|| job_not_found("download", token))?;
    match status(&job, tx.now()) {
        "complete" => Ok(job),
        _ => Err(job_not_found("download", token)),
    }
}

/// Results of the parts after a position, in order.
pub fn list_results(tx: &mut Tx<'_>, job: i64, after: i64) -> Result<Vec<(i64, String)>, Fault> {
    /// Parts per call.
    const PARTS: i64 = 20;
    compliance::list_results(tx, job, after, PARTS)
}

/// Evaluates one part of the oldest open job; returns false if there is none. Concurrent nodes evaluate different
/// parts, or find the part done.
pub fn process_next_part(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let Some(job) = compliance::next_in_progress(tx)? else {
        return Ok(false);
    };
    compliance::lock_job(tx, job.id)?;
    match compliance::next_part(tx, job.id)? {
        Some((position, ids)) => {
            let lines = match job.kind.as_str() {
                "users" => evaluate_users(tx, &ids)?,
                _ => evaluate_posts(tx, &ids)?,
            };
            compliance::set_part_result(tx, job.id, position, &lines)?;
        }
        // Another node may have completed it meanwhile.
        None => {
            if compliance::find_job(tx, job.id)?.is_some_and(|job| job.state == ComplianceJobState::InProgress) {
                compliance::set_state(tx, job.id, ComplianceJobState::Complete)?;
                append_job_event(tx, "compliance.complete", &job)?;
            }
        }
    }
    Ok(true)
}

pub fn has_waiting_job(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(compliance::next_in_progress(tx)?.is_some())
}

/// Deletes results that can no longer be downloaded, and jobs whose retention has ended.
pub(crate) fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let before = tx.now().plus_ms(-RETENTION_MS);
    Ok(compliance::prune_parts(tx, limit)? + compliance::prune_jobs(tx, before, limit)?)
}

/// The reason to delete, and since when it holds.
type RemovalCause = (&'static str, Option<Time>);

fn append_result_line(lines: &mut String, id: i64, created_at: Time, (reason, since): RemovalCause) {
    let mut line = json!({
        "id": id.to_string(),
        "action": "delete",
        "created_at": created_at.to_string(),
        "reason": reason,
    });
    if let (Some(since), Some(members)) = (since, line.as_object_mut()) {
        members.insert("redacted_at".to_owned(), json!(since.to_string()));
    }
    lines.push_str(&line.to_string());
    lines.push('\n');
}

/// Lists posts that were deleted, or whose authors are suspended, deleted or protected. Posts unknown here, and posts
/// that never were public, are not listed.
fn evaluate_posts(tx: &mut Tx<'_>, ids: &[i64]) -> Result<String, Fault> {
    let all: Vec<PostId> = ids.iter().copied().map(PostId::new).collect();
    let found = posts::find_by_ids(tx, &all)?;
    let found: HashMap<i64, _> = found.into_iter().map(|post| (post.id.get(), post)).collect();
    let authors = sorted_distinct(found.values().map(|post| post.author_id));
    let authors = users::find_by_ids(tx, &authors)?;
    let authors: HashMap<UserId, _> = authors.into_iter().map(|user| (user.id, user)).collect();
    let since: HashMap<i64, Time> = posts::removal_times(tx, ids)?.into_iter().collect();
    let changed = load_change_times(tx, authors.values())?;
    let mut lines = String::new();
    for id in ids {
        let post = found.get(id).filter(|post| !post.members_only && !post.followers_only);
        let Some(post) = post else { continue };
        let cause = match post.state {
            PostState::Deleted => Some(("deleted", since.get(id).copied())),
            PostState::Placeholder => None,
            PostState::Live | PostState::Superseded => {
                authors.get(&post.author_id).and_then(|author| removal_cause(author, "deactivated", &changed))
            }
        };
        if let Some(cause) = cause {
            append_result_line(&mut lines, *id, post.created_at, cause);
        }
    }
    Ok(lines)
}

/// Lists users who are suspended, deleted or protected.
fn evaluate_users(tx: &mut Tx<'_>, ids: &[i64]) -> Result<String, Fault> {
    let all: Vec<UserId> = ids.iter().copied().map(UserId::new).collect();
    let found = users::find_by_ids(tx, &all)?;
    let changed = load_change_times(tx, found.iter())?;
    let found: HashMap<i64, _> = found.into_iter().map(|user| (user.id.get(), user)).collect();
    let mut lines = String::new();
    for id in ids {
        let Some(user) = found.get(id) else { continue };
        if let Some(cause) = removal_cause(user, "deleted", &changed) {
            append_result_line(&mut lines, *id, user.created_at, cause);
        }
    }
    Ok(lines)
}

fn load_change_times<'u>(tx: &mut Tx<'_>, users: impl Iterator<Item = &'u User>) -> Result<HashMap<i64, Time>, Fault> {
    let ids: Vec<i64> = users.map(|user| user.id.get()).collect();
    Ok(users::state_change_times(tx, &ids)?.into_iter().collect())
}

/// Why a user's content must be deleted; `gone` is the reason for deleted accounts.
fn removal_cause(user: &User, gone: &'static str, changed: &HashMap<i64, Time>) -> Option<RemovalCause> {
    let since = changed.get(&user.id.get()).copied();
    match profile_visibility(user) {
        Visibility::Suspended => Some(("suspended", since)),
        Visibility::Missing => Some((gone, since)),
        _ if user.protected => Some(("protected", None)),
        _ => None,
    }
}
