//! Threads that run jobs, each with its own connection: for the reads of requests, for their writes, and for work in
//! the background, so that none of them waits for another.

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::Fault;
use parking_lot::RwLock;
use tokio::sync::watch;

use super::job_queue::{FairJobQueue, RunningSlot};
use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use super::{PostgresConnection, QueryCanceller, TransactionState};
use crate::context::StoreContext;
use crate::job::DatabaseJob;
use crate::tx::{EngineConnection, Tx};

/// Retries after a serialization failure or a deadlock.
const MAX_RETRIES: usize = 8;
/// Writes wait for each other's locks, reads do not.
const WRITERS_PER_READER: usize = 2;
/// Before a thread that leaves its job to those with a connection tries to connect again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Of the connections for writes, the part that one user's writes may take at a time.
const USER_SHARE: usize = 4;
// Whatever the default of role or database: a check that a node is still alive sees what was committed meanwhile.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// It holds no locks, and may take its time between two statements.
const BEGIN_BACKGROUND_READ: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '10min'";

pub(crate) struct ConnectionPools {
    pub(crate) reads: Arc<FairJobQueue>,
    pub(crate) writes: Arc<FairJobQueue>,
    /// For work that is not a request's.
    pub(crate) background: Arc<FairJobQueue>,
}

impl ConnectionPools {
    pub(crate) fn close(&self) {
        for queue in [&self.reads, &self.writes, &self.background] {
            queue.close();
        }
    }
}

/// What the threads share.
struct PoolContext {
    target: Arc<ConnectionTarget>,
    store: Arc<StoreContext>,
    waker: Arc<watch::Sender<u64>>,
    /// Reads that ran more than one statement, once.
    snapshot_reads: RwLock<HashSet<TypeId>>,
}

/// Starts `count` threads for reads, and in proportion for the rest. The first connection is opened at once, so that
/// a wrong address fails at startup; the others are opened on first use.
pub(crate) fn spawn_pools(
    target: &Arc<ConnectionTarget>,
    count: usize,
    store: &Arc<StoreContext>,
    waker: Arc<watch::Sender<u64>>,
) -> Result<(ConnectionPools, Vec<JoinHandle<()>>), Fault> {
    let target = Arc::clone(target);
    let first = PostgresConnection::connect(&target, SessionLimits::BACKGROUND)?;
    let snapshot_reads = RwLock::default();
    let context = Arc::new(PoolContext { target, store: Arc::clone(store), waker, snapshot_reads });
    let readers = count.max(1);
    let writers = readers.saturating_mul(WRITERS_PER_READER);
    let mut threads = Vec::new();
    let mut first = Some(first);
    let mut spawn = |name: &str, count: usize, max_per_user: usize, mut first: Option<PostgresConnection>| {
        let queue = Arc::new(FairJobQueue::new(max_per_user));
        for _ in 0..count {
            let (connection, context) = (first.take(), Arc::clone(&context));
            let mut worker = PoolWorker { connection, is_counted: false, context };
            let jobs = Arc::clone(&queue);
            let thread = thread::Builder::new().name(name.to_owned()).spawn(move || worker.run_jobs(&jobs));
            threads.push(thread.map_err(Fault::context("starting a thread"))?);
        }
        Ok::<_, Fault>(queue)
    };
    let pools = ConnectionPools {
        reads: spawn("store-reads", readers, readers, None)?,
        writes: spawn("store-writes", writers, writers / USER_SHARE, None)?,
        background: spawn("store-background", readers, readers, first.take())?,
    };
    Ok((pools, threads))
}

struct PoolWorker {
    connection: Option<PostgresConnection>,
    /// Whether the queue counts the connection.
    is_counted: bool,
    context: Arc<PoolContext>,
}

/// What became of an attempt to run a job.
enum Attempt {
    Finished,
    /// Nothing was committed, and the next attempt may succeed.
    MustRepeat,
}

enum JobFailure {
    /// The job may run on another connection.
    NotConnected(Fault),
    Failed(Fault),
}

impl From<Fault> for JobFailure {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl PoolWorker {
    fn run_jobs(&mut self, jobs: &FairJobQueue) {
        while let Some((mut job, slot)) = self.next_job(jobs) {
            let outcome = if job.is_over() {
                Err(Fault::new("the transaction waited for too long").into_transient().into())
            } else {
                self.run_job(&mut job, jobs)
            };
            // A connection that is broken or may be inside a transaction is never used again.
            if self.connection.as_ref().is_some_and(|connection| outcome.is_err() || connection.client.is_closed()) {
                self.connection = None;
            }
            self.count_connection(jobs);
            match outcome {
                // A request has no time for that.
                Err(JobFailure::NotConnected(_)) if job.control().is_none() && jobs.has_connections() => {
                    drop(slot);
                    jobs.return_job(job);
                    thread::sleep(RECONNECT_DELAY);
                }
                Err(JobFailure::NotConnected(fault) | JobFailure::Failed(fault)) => job.finish(Err(Arc::new(fault))),
                Ok(()) => job.finish(Ok(())),
            }
        }
        // Jobs that other threads have are not left to this one any more.
        self.connection = None;
        self.count_connection(jobs);
    }

    fn count_connection(&mut self, jobs: &FairJobQueue) {
        let is_open = self.connection.is_some();
        if is_open != self.is_counted {
            jobs.count_connection(is_open);
            self.is_counted = is_open;
        }
    }

    /// Ends the snapshot of the last read: together with the next job's first statement if one waits.
    fn next_job<'q>(&mut self, jobs: &'q FairJobQueue) -> Option<(DatabaseJob, RunningSlot<'q>)> {
        jobs.try_pop().or_else(|| {
            if self.connection.as_mut().is_some_and(|connection| connection.send_unsent().is_err()) {
                self.connection = None;
            }
            self.count_connection(jobs);
            jobs.pop(self.connection.is_some())
        })
    }

    fn run_job(&mut self, job: &mut DatabaseJob, jobs: &FairJobQueue) -> Result<(), JobFailure> {
        let limits =
            job.control().map_or(SessionLimits::BACKGROUND, |control| SessionLimits::for_request(&control.limits));
        let mut may_reconnect = self.connection.is_some();
        for _ in 0..MAX_RETRIES {
            let connection = match &mut self.connection {
                Some(connection) => connection,
                none => {
                    let connected = PostgresConnection::connect(&self.context.target, limits);
                    none.insert(connected.map_err(JobFailure::NotConnected)?)
                }
            };
            if !std::mem::replace(&mut self.is_counted, true) {
                jobs.count_connection(true);
            }
            connection.control = job.control().map(Arc::clone);
            // Those of connecting, and of ending the last read, are nobody's.
            connection.client.round_trips = 0;
            connection.has_sent_commit = false;
            let attempt = connection.limit_statements(limits).and_then(|()| {
                if job.is_write() {
                    connection.run_write(job, &self.context)
                } else {
                    Ok(connection.run_read(job, &self.context))
                }
            });
            connection.control = None;
            let round_trips = std::mem::take(&mut connection.client.round_trips);
            if let Some(control) = job.control() {
                control.round_trips.fetch_add(round_trips, Ordering::Relaxed);
            }
            // It may have broken while it was idle.
            if may_reconnect && connection.client.is_closed() && !connection.has_sent_commit && !job.is_over() {
                may_reconnect = false;
                self.connection = None;
                continue;
            }
            if matches!(attempt?, Attempt::Finished) {
                return Ok(());
            }
        }
        Err(Fault::new("other transactions got in the way too often").into_transient().into())
    }
}

impl PostgresConnection {
    fn run_write(&mut self, job: &mut DatabaseJob, context: &PoolContext) -> Result<Attempt, Fault> {
        let node = context.store.node.identity_for_write()?;
        self.begin(BEGIN_WRITE);
        let mut tx = Tx::for_job(EngineConnection::Postgres(self), &context.store, job);
        let succeeded = job.run(&mut tx);
        let effects = tx.effects;
        let ended = if succeeded { self.commit(node) } else { self.roll_back() };
        if self.had_conflict {
            drop(self.batch_execute("ROLLBACK"));
            return Ok(Attempt::MustRepeat);
        }
        ended?;
        if succeeded {
            effects.publish(&context.store, &context.waker);
        }
        Ok(Attempt::Finished)
    }

    /// In one snapshot. A kind of read that was never seen to run more than one statement needs none.
    fn run_read(&mut self, job: &mut DatabaseJob, context: &PoolContext) -> Attempt {
        if context.snapshot_reads.read().contains(&job.kind()) {
            self.begin(if job.control().is_some() { BEGIN_READ } else { BEGIN_BACKGROUND_READ });
        } else {
            self.transaction = TransactionState::SingleStatement { has_run: false };
        }
        self.run_cancellable(job, context);
        match std::mem::replace(&mut self.transaction, TransactionState::Autocommit) {
            TransactionState::NeedsSnapshot => {
                context.snapshot_reads.write().insert(job.kind());
                return Attempt::MustRepeat;
            }
            TransactionState::Open => self.commit_with_next(),
            TransactionState::Autocommit | TransactionState::SingleStatement { .. } => {}
        }
        Attempt::Finished
    }

    /// The query can be cancelled while the job runs, and not afterwards.
    fn run_cancellable(&mut self, job: &mut DatabaseJob, context: &PoolContext) {
        let control = job.control().map(Arc::clone);
        if let Some(control) = &control {
            let canceller =
                QueryCanceller { token: self.client.client.cancel_token(), target: Arc::clone(&self.target) };
            *control.canceller.lock() = Some(canceller);
        }
        // If it was abandoned before, the canceller found nothing to cancel, and no statement is sent.
        let mut tx = Tx::for_job(EngineConnection::Postgres(self), &context.store, job);
        job.run(&mut tx);
        if let Some(control) = &control {
            *control.canceller.lock() = None;
        }
    }
}
