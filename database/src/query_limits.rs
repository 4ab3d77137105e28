//! Limits of the queries that requests make. A request's future carries them to the threads of the database.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::{Fault, Time};
use futures_util::{Stream, StreamExt, stream};
use parking_lot::{Mutex, RwLock};

use super::postgres::QueryCanceller;

#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// The longest time that one query may take.
    pub timeout: Duration,
    /// The most rows that one query may return.
    pub max_rows: usize,
    /// On a database server, the longest time from queueing a transaction to its answer.
    pub transaction_timeout: Duration,
}

impl Default for QueryLimits {
    fn default() -> Self {
        let (timeout, transaction_timeout) = (Duration::from_secs(10), Duration::from_secs(5));
        Self { timeout, max_rows: 1_000_000, transaction_timeout }
    }
}

struct RequestScope {
    limits: QueryLimits,
    user: Cell<Option<i64>>,
    reserved_id: RefCell<Option<Arc<ReservedId>>>,
    round_trips: Arc<AtomicU64>,
    /// Of committed transactions; none unless they are recorded.
    appended_events: RefCell<Option<Vec<AppendedEvent>>>,
}

impl RequestScope {
    fn new(limits: QueryLimits) -> Self {
        Self {
            limits,
            user: Cell::new(None),
            reserved_id: RefCell::default(),
            round_trips: Arc::default(),
            appended_events: RefCell::default(),
        }
    }
}

/// The id that a request has chosen for what it creates.
#[derive(Debug)]
pub(super) struct ReservedId {
    id: i64,
    is_taken: AtomicBool,
}

impl ReservedId {
    /// None once a transaction has taken it.
    pub(super) fn take(&self) -> Option<i64> {
        (!self.is_taken.swap(true, Ordering::Relaxed)).then_some(self.id)
    }
}

/// An entry that a transaction has appended to the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedEvent {
    /// None on PostgreSQL, where committed entries are numbered later.
    pub seq: Option<i64>,
    pub at: Time,
    pub kind: String,
    pub actor_id: i64,
    pub subject_id: i64,
}

/// Entries that are recorded of one request.
const MAX_RECORDED_EVENTS: usize = 1_000;

tokio::task_local! {
    static REQUEST: RequestScope;
}

/// Limits the queries of `work`. When the future is dropped, jobs that have not begun are not run, and a running read
/// is interrupted.
pub fn limit_queries<T>(limits: QueryLimits, work: impl Future<Output = T>) -> impl Future<Output = T> {
    REQUEST.scope(RequestScope::new(limits), work)
}

/// Those of the current request; none outside of one.
pub fn current_query_limits() -> Option<QueryLimits> {
    REQUEST.try_with(|request| request.limits).ok()
}

/// The same for what a response is made of while it is sent.
pub fn limit_stream_queries<S: Stream + Unpin>(limits: QueryLimits, mut parts: S) -> impl Stream<Item = S::Item> {
    stream::poll_fn(move |cx| REQUEST.sync_scope(RequestScope::new(limits), || parts.poll_next_unpin(cx)))
}

/// From now on, the entries that transactions of the current request append to the event log are recorded.
pub fn record_appended_events() {
    let _outside = REQUEST.try_with(|request| request.appended_events.replace(Some(Vec::new())));
}

/// What was recorded since [`record_appended_events`], in order.
pub fn take_appended_events() -> Vec<AppendedEvent> {
    REQUEST.try_with(|request| request.appended_events.take().unwrap_or_default()).unwrap_or_default()
}

/// Names the user of the current request: one user's writes never take all connections of a database server.
pub fn assign_queries_to_user(user: i64) {
    // Outside of a request, nothing is limited.
    let _outside = REQUEST.try_with(|request| request.user.set(Some(user)));
}

/// Gives the first id that a transaction of the current request asks for. The id is a reserved one.
pub fn use_reserved_id(id: i64) {
    let reserved = Arc::new(ReservedId { id, is_taken: AtomicBool::new(false) });
    let _outside = REQUEST.try_with(|request| request.reserved_id.replace(Some(reserved)));
}

/// How often the current request has waited for a database server.
pub fn count_round_trips() -> u64 {
    REQUEST.try_with(|request| request.round_trips.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Shared by a job of a request and its caller.
pub(crate) struct JobControl {
    pub(super) limits: QueryLimits,
    pub(super) user: Option<i64>,
    /// None if an earlier job has taken it.
    pub(super) reserved_id: Option<Arc<ReservedId>>,
    /// Of the request.
    pub(super) round_trips: Arc<AtomicU64>,
    /// Of the last attempt; none unless they are recorded.
    appended_events: Option<Mutex<Vec<AppendedEvent>>>,
    pub(super) deadline: Instant,
    is_abandoned: AtomicBool,
    has_started_commit: AtomicBool,
    /// On PostgreSQL, while a read runs.
    pub(super) canceller: Mutex<Option<QueryCanceller>>,
}

impl JobControl {
    /// None outside of a request.
    pub(super) fn for_current_request() -> Option<Arc<Self>> {
        let in_request = |request: &RequestScope| {
            let reserved_id = request.reserved_id.borrow().clone();
            let reserved_id = reserved_id.filter(|reserved| !reserved.is_taken.load(Ordering::Relaxed));
            let records_events = request.appended_events.borrow().is_some();
            (request.limits, request.user.get(), reserved_id, Arc::clone(&request.round_trips), records_events)
        };
        let (limits, user, reserved_id, round_trips, records_events) = REQUEST.try_with(in_request).ok()?;
        Some(Arc::new(Self {
            limits,
            user,
            reserved_id,
            round_trips,
            appended_events: records_events.then(Mutex::default),
            deadline: monotonic_now() + limits.transaction_timeout,
            is_abandoned: AtomicBool::new(false),
            has_started_commit: AtomicBool::new(false),
            canceller: Mutex::new(None),
        }))
    }

    /// It was rolled back.
    fn forget_earlier_attempt(&self) {
        if let Some(events) = &self.appended_events {
            events.lock().clear();
        }
        if let Some(reserved) = &self.reserved_id {
            reserved.is_taken.store(false, Ordering::Relaxed);
        }
    }

    /// Called once the transaction is committed.
    pub(super) fn report_appended_events(&self) {
        let Some(events) = &self.appended_events else {
            return;
        };
        let mut events = std::mem::take(&mut *events.lock());
        let append = |request: &RequestScope| {
            if let Some(all) = &mut *request.appended_events.borrow_mut() {
                events.truncate(MAX_RECORDED_EVENTS.saturating_sub(all.len()));
                all.append(&mut events);
            }
        };
        let _outside = REQUEST.try_with(append);
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::SeqCst)
    }

    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
    }

    /// Until the deadline; none if nobody waits any more.
    pub(super) fn remaining_time(&self) -> Option<Duration> {
        let remaining = self.deadline.saturating_duration_since(monotonic_now());
        (!self.is_abandoned() && !remaining.is_zero()).then_some(remaining)
    }

    /// False if the caller is gone. One that leaves later finds [`JobControl::has_started_commit`]: each side writes
    /// before it reads.
    pub(super) fn start_commit(&self) -> bool {
        self.has_started_commit.store(true, Ordering::SeqCst);
        !self.is_abandoned()
    }

    pub(super) fn has_started_commit(&self) -> bool {
        self.has_started_commit.load(Ordering::SeqCst)
    }

    /// Asks the database server to cancel the job's query, if it still runs.
    pub(super) fn cancel_query(&self) {
        // Locked meanwhile, so that the connection is not used for another job.
        if let Some(canceller) = &*self.canceller.lock()
            && let Err(fault) = canceller.cancel_query()
        {
            tracing::debug!(error = %fault, "failed to cancel a query that nobody waits for");
        }
    }
}

/// Takes jobs whose queries a database server is to cancel; None for a file and once the database is closed.
pub(super) type CancellationQueue = RwLock<Option<crossbeam_channel::Sender<Arc<JobControl>>>>;

/// Abandons a job when it is dropped before the job's reply.
pub(super) struct CallerGuard<'d> {
    pub(super) control: Option<Arc<JobControl>>,
    /// For database servers.
    pub(super) cancellations: &'d CancellationQueue,
}

impl CallerGuard<'_> {
    pub(super) fn disarm(mut self) {
        self.control = None;
    }
}

impl Drop for CallerGuard<'_> {
    fn drop(&mut self) {
        if let Some(control) = self.control.take() {
            control.abandon();
            if let Some(queue) = &*self.cancellations.read() {
                // If the queue is full, the query ends at its time limit.
                drop(queue.try_send(control));
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

/// Runs a job's work under its limits; returns whether a query was interrupted. Not generic, since it would be compiled
/// for each of hundreds of jobs.
pub(super) fn run_limited(control: Option<&Arc<JobControl>>, is_write: bool, work: &mut dyn FnMut()) -> bool {
    let Some(control) = control else {
        work();
        return false;
    };
    let control = Arc::clone(control);
    control.forget_earlier_attempt();
    RUNNING_JOB.set(Some(RunningJob { control, is_write, statement_started: None, was_interrupted: false }));
    work();
    RUNNING_JOB.take().is_some_and(|job| job.was_interrupted)
}

/// The event is made only if the current job's are recorded.
pub(crate) fn record_appended_event(event: impl FnOnce() -> AppendedEvent) {
    RUNNING_JOB.with_borrow(|running| {
        if let Some(events) = running.as_ref().and_then(|job| job.control.appended_events.as_ref()) {
            let mut events = events.lock();
            if events.len() < MAX_RECORDED_EVENTS {
                events.push(event());
            }
        }
    });
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
