//! Figures of a long time: worked out in the background, kept as a file for two days.

use std::io::Write as _;

use base::refusal::{AdsProblem, ProblemLocation as Where};
use base::{Error, Fault, Time};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use store::Tx;
use store::ledger::{self, AnalyticsJob, AnalyticsJobState};
use store::records::OrderValue;

use super::ask::Ask;
use super::{series, whole};
use crate::answer::Answer;
use crate::cursor;
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Ids, instant};
use crate::listing::{place, walk};
use crate::resources::accounts::ACCOUNT;

/// Jobs that an account may have at a time.
pub const AT_A_TIME: i64 = 100;
/// How long a job waits at least, so that whoever asks for it sees it waiting.
const WAITS: i64 = 1000;
/// A job that was begun and is not done after this is taken up again: its node is gone.
const TAKEN: i64 = 2 * 60_000;
/// After this it has failed.
const MOST: i64 = 60 * 60_000;
/// How long its file is given.
const KEPT: i64 = 48 * 3_600_000;

/// `POST /stats/jobs/A`.
pub(super) fn create(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let ask = Ask::long(desk, given)?;
    let account = desk.account_id()?;
    let open = ledger::count_open_jobs(desk.tx, account)?;
    if open >= AT_A_TIME {
        let message = format!("The account has {AT_A_TIME} jobs that are not done yet");
        return Err(AdsProblem::new("TOO_MANY_REQUESTS", message).into());
    }
    let now = desk.now();
    let job = AnalyticsJob {
        id: desk.tx.next_id::<()>().get(),
        account_id: account,
        state: AnalyticsJobState::Queued,
        request: ask.kept(),
        token: desk.tx.rng().random_token(43)?,
        created_at: now,
        updated_at: now,
        expires_at: None,
    };
    ledger::insert_job(desk.tx, &job)?;
    let mut answer = Answer::one(&shown(desk, &job));
    answer.echo = ask.echo();
    answer.headers = limits(open + 1);
    Ok(answer)
}

fn limits(open: i64) -> Vec<(&'static str, String)> {
    vec![
        ("x-concurrent-job-limit", AT_A_TIME.to_string()),
        (
            "x-concurrent-job-limit-remaining",
            (AT_A_TIME - open).max(0).to_string(),
        ),
    ]
}

fn shown(desk: &Desk<'_, '_>, job: &AnalyticsJob) -> Value {
    let ask = Ask::of_job(job.account_id, &job.request);
    let mut members = ask.echo();
    let done = job.state == AnalyticsJobState::Success;
    let given = done && job.expires_at.is_some_and(|until| until > desk.now());
    let url = given.then(|| format!("{}/ads-files/{}", desk.site, job.token));
    let until = job.expires_at.filter(|_| done).map(instant);
    for (name, value) in [
        ("id", Value::from(job.id)),
        ("id_str", job.id.to_string().into()),
        ("account_id", ACCOUNT.ids.write(job.account_id).into()),
        ("status", job.state.name().into()),
        ("url", url.into()),
        ("expires_at", until.into()),
        ("created_at", instant(job.created_at).into()),
        ("updated_at", instant(job.updated_at).into()),
    ] {
        members.insert(name.to_owned(), value);
    }
    Value::Object(members)
}

/// `GET /stats/jobs/A`.
pub(super) fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let account = desk.account_id()?;
    let scope = walk(desk, &given.echo);
    let below = place(desk, &scope, given)?.map_or(i64::MAX, |(_, id)| id);
    let count = given.int("count").unwrap_or(200);
    let mut found = if given.has("job_ids") {
        let mut all = Vec::new();
        for id in given.ints("job_ids") {
            let job = ledger::find_job(desk.tx, id)?;
            all.extend(job.filter(|job| job.account_id == account && job.id < below));
        }
        all.sort_by_key(|job: &AnalyticsJob| std::cmp::Reverse(job.id));
        all
    } else {
        ledger::list_jobs(desk.tx, account, below, count + 1)?
    };
    let count = usize::try_from(count).unwrap_or(1);
    let more = found.len() > count;
    found.truncate(count);
    let last = found.last().filter(|_| more);
    let next = last.map(|job| {
        let at = (OrderValue::Number(job.id), job.id);
        cursor::seal(&desk.cursor_key, &scope, &at)
    });
    let data: Vec<Value> = found.iter().map(|job| shown(desk, job)).collect();
    let mut answer = Answer::one(&data.into());
    answer.next_cursor = Some(next);
    answer.headers = limits(ledger::count_open_jobs(desk.tx, account)?);
    Ok(answer)
}

/// `DELETE /stats/jobs/A/:job_id`.
pub(super) fn cancel(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let id = given.int("job_id").unwrap_or(-1);
    let account = desk.account_id()?;
    let job = ledger::find_job(desk.tx, id)?.filter(|job| job.account_id == account);
    let written = Ids::Long.write(id.max(0));
    let Some(mut job) = job else {
        let message = format!("The job {written} was not found");
        let problem = AdsProblem::invalid_parameter("job_id", written, message);
        return Err(problem.with_code("NOT_FOUND").into());
    };
    let moves = (job.state, AnalyticsJobState::Cancelled);
    if !job.state.is_open() || !ledger::transition_job(desk.tx, id, moves, None)? {
        let problem = AdsProblem {
            location: Where::Parameter("job_id".into()),
            value: Some(written),
            ..AdsProblem::new("INVALID", "The job is done already")
        };
        return Err(problem.into());
    }
    job.state = AnalyticsJobState::Cancelled;
    job.updated_at = desk.now();
    Ok(Answer::one(&shown(desk, &job)))
}

/// Whether there is anything to do about jobs.
pub fn is_waiting(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let now = tx.now();
    let queued = ledger::list_open_jobs(tx, AnalyticsJobState::Queued, now.plus_ms(-WAITS), 1)?;
    let begun = ledger::list_open_jobs(tx, AnalyticsJobState::Processing, now.plus_ms(-TAKEN), 1)?;
    Ok(!queued.is_empty() || begun.iter().any(|job| is_left(job, now)))
}

fn is_left(job: &AnalyticsJob, now: Time) -> bool {
    job.updated_at.plus_ms(TAKEN) <= now
}

/// Takes up the job that has waited longest; of several nodes one takes it.
pub fn begin(tx: &mut Tx<'_>) -> Result<Option<AnalyticsJob>, Fault> {
    let now = tx.now();
    for job in ledger::list_open_jobs(tx, AnalyticsJobState::Processing, now.plus_ms(-TAKEN), 10)? {
        let late = job.created_at.plus_ms(MOST) <= now;
        let to = if late {
            AnalyticsJobState::Failed
        } else {
            AnalyticsJobState::Queued
        };
        if is_left(&job, now) {
            ledger::transition_job(tx, job.id, (AnalyticsJobState::Processing, to), None)?;
        }
    }
    for job in ledger::list_open_jobs(tx, AnalyticsJobState::Queued, now.plus_ms(-WAITS), 10)? {
        if ledger::transition_job(
            tx,
            job.id,
            (AnalyticsJobState::Queued, AnalyticsJobState::Processing),
            None,
        )? {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// Works a job out: the file.
pub fn file_of(tx: &mut Tx<'_>, job: &AnalyticsJob) -> Result<Vec<u8>, Fault> {
    let ask = Ask::of_job(job.account_id, &job.request);
    let (length, data) = series::series(tx, &ask)?;
    let text = whole(&ask, length, &data);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes());
    let file = written.and_then(|()| encoder.finish());
    file.map_err(Fault::context("a file of figures"))
}

/// Keeps a job's file; a job that was called off meanwhile stays so.
pub fn end(tx: &mut Tx<'_>, job: &AnalyticsJob, file: Option<&[u8]>) -> Result<(), Fault> {
    let until = tx.now().plus_ms(KEPT);
    let to = match file {
        Some(_) => AnalyticsJobState::Success,
        None => AnalyticsJobState::Failed,
    };
    let made = file.map(|file| (file, until));
    ledger::transition_job(tx, job.id, (AnalyticsJobState::Processing, to), made)?;
    Ok(())
}

/// The file that an address ends in this for.
pub fn file(tx: &mut Tx<'_>, token: &str) -> Result<Option<Vec<u8>>, Fault> {
    ledger::find_job_file(tx, token)
}
