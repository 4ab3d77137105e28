//! Limits of the queries that requests make. A request's future carries them to the threads of the database.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base::Fault;
use base::clock::monotonic_now;
use parking_lot::Mutex;

use super::postgres::QueryCanceller;

#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// The longest time that one query may take.
    pub timeout: Duration,
    /// The most rows that one query may return.
    pub max_rows: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), max_rows: 1_000_000 }
    }
}

tokio::task_local! {
    static REQUEST_LIMITS: QueryLimits;
}

/// Limits the queries of `work`. When the future is dropped, jobs that have not begun are not run, and a running read
/// is interrupted.
pub fn limit_queries<T>(limits: QueryLimits, work: impl Future<Output = T>) -> impl Future<Output = T> {
    REQUEST_LIMITS.scope(limits, work)
}

/// Shared by a job of a request and its caller.
pub(crate) struct JobControl {
    pub(super) limits: QueryLimits,
    is_abandoned: AtomicBool,
    /// On PostgreSQL, while a read runs.
    pub(super) canceller: Mutex<Option<QueryCanceller>>,
}

impl JobControl {
    /// None outside of a request.
    pub(super) fn for_current_request() -> Option<Arc<Self>> {
        let limits = REQUEST_LIMITS.try_get().ok()?;
        let is_abandoned = AtomicBool::new(false);
        Some(Arc::new(Self { limits, is_abandoned, canceller: Mutex::new(None) }))
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::SeqCst)
    }

    /// Asks the database server to cancel the job's query, if it still runs.
    pub(super) fn cancel_query(&self) {
        // Locked meanwhile, so that the connection is not used for another job.
        if let Some(canceller) = &*self.canceller.lock()
            && let Err(fault) = canceller.cancel_query()
        {
            tracing::debug!(%fault, "failed to cancel a query that nobody waits for");
        }
    }
}

/// Abandons a job when it is dropped before the job's reply.
pub(super) struct CallerGuard<'d> {
    pub(super) control: Option<Arc<JobControl>>,
    /// For database servers.
    pub(super) cancellations: Option<&'d crossbeam_channel::Sender<Arc<JobControl>>>,
}

impl CallerGuard<'_> {
    pub(super) fn disarm(mut self) {
        self.control = None;
    }
}

impl Drop for CallerGuard<'_> {
    fn drop(&mut self) {
        if let Some(control) = self.control.take() {
            control.is_abandoned.store(true, Ordering::SeqCst);
            if let Some(queue) = self.cancellations {
                drop(queue.send(control));
            }
        }
    }
}

thread_local! {
    static RUNNING_JOB: RefCell<Option<RunningJob>> = const { RefCell::new(None) };
}

/// The job that the current thread runs for a request.
struct RunningJob {
    control: Arc<JobControl>,
    is_write: bool,
    /// The time of the statement's first progress report, so that short statements do not read the clock.
    statement_started: Option<Instant>,
    was_interrupted: bool,
}

/// Runs a job's work under its limits; returns whether a query was interrupted, too.
pub(super) fn run_limited<T>(control: Option<&Arc<JobControl>>, is_write: bool, work: impl FnOnce() -> T) -> (T, bool) {
    let Some(control) = control else {
        return (work(), false);
    };
    let control = Arc::clone(control);
    RUNNING_JOB.set(Some(RunningJob { control, is_write, statement_started: None, was_interrupted: false }));
    let outcome = work();
    let ended = RUNNING_JOB.take();
    (outcome, ended.is_some_and(|job| job.was_interrupted))
}

/// For SQLite's progress handler.
pub(super) fn must_interrupt() -> bool {
    RUNNING_JOB.with_borrow_mut(|running| {
        let Some(job) = running else {
            return false;
        };
        let started = *job.statement_started.get_or_insert_with(monotonic_now);
        // Others may share the transaction of a write.
        let is_abandoned = !job.is_write && job.control.is_abandoned();
        job.was_interrupted |= is_abandoned || started.elapsed() > job.control.limits.timeout;
        job.was_interrupted
    })
}

/// Counts the rows of one statement.
pub(super) struct RowBudget {
    max: usize,
    count: usize,
}

impl RowBudget {
    /// Restarts the time of the statement as well.
    pub(super) fn start_statement() -> Self {
        let max = RUNNING_JOB.with_borrow_mut(|running| {
            running.as_mut().map_or(usize::MAX, |job| {
                job.statement_started = None;
                job.control.limits.max_rows
            })
        });
        Self { max, count: 0 }
    }

    pub(super) fn count_rows(&mut self, rows: usize, sql: &str) -> Result<(), Fault> {
        self.count = self.count.saturating_add(rows);
        if self.count > self.max {
            return Err(Fault::new(format!("{sql:?} returned more than {} rows", self.max)).into_transient());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
