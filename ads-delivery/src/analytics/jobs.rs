//! Asynchronous statistics jobs: computed in the background and stored as a file for two days.

use std::io::Write as _;

use ads::resources::accounts::ACCOUNT;
use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::listing::{cursor_scope, parse_cursor};
use ads_engine::{AccountContext, AdsRole, IdFormat, OperationOutput, ParsedParams, cursor};
use base::refusal::{AdsProblem, AdsRefusal, ProblemLocation as Where};
use base::{Error, Fault, Refusal, Time};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use store::Tx;
use store::ledger::{self, AnalyticsJob, AnalyticsJobState};
use store::records::OrderValue;

use super::stats_query::StatsQuery;
use super::{job_file_json, mark_simulated, time_series};

pub const MAX_OPEN_JOBS: i64 = 100;
/// A job stays queued for at least this long, so that the client observes the state.
const MIN_QUEUED_MS: i64 = 1000;
/// A claimed job that is unfinished after this time is claimed again; its node is presumed gone.
const CLAIM_TIMEOUT_MS: i64 = 2 * 60_000;
/// A job older than this fails.
const MAX_JOB_AGE_MS: i64 = 60 * 60_000;
const FILE_RETENTION_MS: i64 = 48 * 3_600_000;

pub(super) fn create(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let ask = StatsQuery::parse_job(ctx, params)?;
    let account = ctx.account_id()?;
    let open = ledger::count_open_jobs(ctx.tx, account)?;
    if open >= MAX_OPEN_JOBS {
        let message = format!("The account has {MAX_OPEN_JOBS} jobs that are not done yet");
        let problems = vec![AdsProblem::new("TOO_MANY_REQUESTS", message)];
        let refusal = AdsRefusal { problems, headers: job_limit_headers(open), ..AdsRefusal::default() };
        return Err(Refusal::Ads(Box::new(refusal)).into());
    }
    let now = ctx.now();
    let job = AnalyticsJob {
        id: ctx.tx.next_id::<()>().get(),
        account_id: account,
        state: AnalyticsJobState::Queued,
        request: ask.to_job_json(),
        token: ctx.tx.rng().random_token(43)?,
        created_at: now,
        updated_at: now,
        expires_at: None,
    };
    ledger::insert_job(ctx.tx, &job)?;
    let mut output = OperationOutput::from_value(job_json(ctx, &job));
    output.echo_params = ask.echo_params();
    output.headers = job_limit_headers(open + 1);
    mark_simulated(ctx, &mut output, (ask.from, ask.to))?;
    Ok(output)
}

fn job_limit_headers(open: i64) -> Vec<(&'static str, String)> {
    vec![
        ("x-concurrent-job-limit", MAX_OPEN_JOBS.to_string()),
        ("x-concurrent-job-limit-remaining", (MAX_OPEN_JOBS - open).max(0).to_string()),
    ]
}

fn job_json(ctx: &AccountContext<'_, '_>, job: &AnalyticsJob) -> Value {
    let ask = StatsQuery::from_job(job.account_id, &job.request);
    let mut members = ask.echo_params();
    let done = job.state == AnalyticsJobState::Success;
    let is_available = done && job.expires_at.is_some_and(|until| until > ctx.now());
    let url = is_available.then(|| format!("{}/ads-files/{}", ctx.site.files_url, job.token));
    let until = job.expires_at.filter(|_| done).map(format_time);
    for (name, value) in [
        ("id", Value::from(job.id)),
        ("id_str", job.id.to_string().into()),
        ("account_id", ACCOUNT.id_format.format(job.account_id).into()),
        ("status", job.state.name().into()),
        ("url", url.into()),
        ("expires_at", until.into()),
        ("created_at", format_time(job.created_at).into()),
        ("updated_at", format_time(job.updated_at).into()),
    ] {
        members.insert(name.to_owned(), value);
    }
    Value::Object(members)
}

pub(super) fn list(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let account = ctx.account_id()?;
    let scope = cursor_scope(ctx, &params.echo);
    let below = parse_cursor(ctx, &scope, params)?.map_or(i64::MAX, |(_, id)| id);
    let count = params.int("count").unwrap_or(200);
    let mut found = if params.has("job_ids") {
        let mut all = Vec::new();
        for id in params.ints("job_ids") {
            all.extend(find_visible_job(ctx, id)?.filter(|job| job.id < below));
        }
        all.sort_by_key(|job: &AnalyticsJob| std::cmp::Reverse(job.id));
        all
    } else {
        list_visible_jobs(ctx, below, count + 1)?
    };
    let count = usize::try_from(count).unwrap_or(1);
    let has_more = found.len() > count;
    found.truncate(count);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|job| {
        let at = (OrderValue::Number(job.id), job.id);
        cursor::encode(&ctx.cursor_key, &scope, &at)
    });
    let next = next.transpose()?;
    let data: Vec<Value> = found.iter().map(|job| job_json(ctx, job)).collect();
    let mut output = OperationOutput::from_value(data.into());
    output.next_cursor = Some(next);
    output.headers = job_limit_headers(ledger::count_open_jobs(ctx.tx, account)?);
    mark_simulated(ctx, &mut output, (Time::from_ms(0), ctx.now()))?;
    Ok(output)
}

/// A job of the account whose figures the caller may see.
fn find_visible_job(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<Option<AnalyticsJob>, Error> {
    let job = ledger::find_job(ctx.tx, id)?;
    let account = ctx.account()?;
    Ok(job.filter(|job| job.account_id == account.record.id && is_visible_to(job, account.role)))
}

/// The newest such jobs with lower ids.
fn list_visible_jobs(ctx: &mut AccountContext<'_, '_>, below: i64, count: i64) -> Result<Vec<AnalyticsJob>, Error> {
    let account = ctx.account_id()?;
    let list = match ctx.account()?.role {
        AdsRole::Analyst => ledger::list_account_engagement_jobs,
        _ => ledger::list_jobs,
    };
    Ok(list(ctx.tx, account, below, count)?)
}

fn is_visible_to(job: &AnalyticsJob, role: AdsRole) -> bool {
    StatsQuery::from_job(job.account_id, &job.request).is_visible_to(role)
}

pub(super) fn cancel(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let id = params.int("job_id").unwrap_or(-1);
    let written = IdFormat::Long.format(id.max(0));
    let Some(mut job) = find_visible_job(ctx, id)? else {
        let message = format!("The job {written} was not found");
        let problem = AdsProblem::invalid_parameter("job_id", written, message);
        return Err(problem.with_code("NOT_FOUND").into());
    };
    let moves = (job.state, AnalyticsJobState::Cancelled);
    if !job.state.is_open() || !ledger::transition_job(ctx.tx, id, moves, None)? {
        let problem = AdsProblem {
            location: Where::Parameter("job_id".into()),
            value: Some(written),
            ..AdsProblem::new("INVALID", "The job is done already")
        };
        return Err(problem.into());
    }
    job.state = AnalyticsJobState::Cancelled;
    job.updated_at = ctx.now();
    Ok(OperationOutput::from_value(job_json(ctx, &job)))
}

pub fn has_pending_jobs(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let now = tx.now();
    let queued = ledger::list_open_jobs(tx, AnalyticsJobState::Queued, now.plus_ms(-MIN_QUEUED_MS), 1)?;
    let stale = ledger::list_open_jobs(tx, AnalyticsJobState::Processing, now.plus_ms(-CLAIM_TIMEOUT_MS), 1)?;
    Ok(!queued.is_empty() || stale.iter().any(|job| is_abandoned(job, now)))
}

/// When the job that has waited longest may be claimed.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now();
    let queued = ledger::list_open_jobs(tx, AnalyticsJobState::Queued, now, 1)?;
    Ok(queued.first().map(|job| job.created_at.plus_ms(MIN_QUEUED_MS)))
}

fn is_abandoned(job: &AnalyticsJob, now: Time) -> bool {
    job.updated_at.plus_ms(CLAIM_TIMEOUT_MS) <= now
}

/// Claims the job that has waited longest. Only one of several nodes gets it.
pub fn claim_job(tx: &mut Tx<'_>) -> Result<Option<AnalyticsJob>, Fault> {
    let now = tx.now();
    for job in ledger::list_open_jobs(tx, AnalyticsJobState::Processing, now.plus_ms(-CLAIM_TIMEOUT_MS), 10)? {
        let late = job.created_at.plus_ms(MAX_JOB_AGE_MS) <= now;
        let to = if late { AnalyticsJobState::Failed } else { AnalyticsJobState::Queued };
        if is_abandoned(&job, now) {
            ledger::transition_job(tx, job.id, (AnalyticsJobState::Processing, to), None)?;
        }
    }
    for job in ledger::list_open_jobs(tx, AnalyticsJobState::Queued, now.plus_ms(-MIN_QUEUED_MS), 10)? {
        if ledger::transition_job(tx, job.id, (AnalyticsJobState::Queued, AnalyticsJobState::Processing), None)? {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

pub fn build_job_file(tx: &mut Tx<'_>, job: &AnalyticsJob) -> Result<Vec<u8>, Fault> {
    let ask = StatsQuery::from_job(job.account_id, &job.request);
    let (length, data) = time_series::load_stats(tx, &ask)?;
    let text = job_file_json(tx, &ask, length, &data)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes());
    let file = written.and_then(|()| encoder.finish());
    file.map_err(Fault::context("compressing a statistics file"))
}

/// Stores a job's file. A job cancelled in the meantime stays cancelled.
pub fn finish_job(tx: &mut Tx<'_>, job: &AnalyticsJob, file: Option<&[u8]>) -> Result<(), Fault> {
    let until = tx.now().plus_ms(FILE_RETENTION_MS);
    let to = match file {
        Some(_) => AnalyticsJobState::Success,
        None => AnalyticsJobState::Failed,
    };
    let made = file.map(|file| (file, until));
    ledger::transition_job(tx, job.id, (AnalyticsJobState::Processing, to), made)?;
    Ok(())
}

/// Finds a job's file by the token in its URL.
pub fn find_job_file(tx: &mut Tx<'_>, token: &str) -> Result<Option<Vec<u8>>, Fault> {
    ledger::find_job_file(tx, token)
}
