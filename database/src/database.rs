//! Database access: one SQL text for two engines.
//!
//! Work is a synchronous function over a [`Tx`](crate::Tx). It runs on a thread that owns a connection: on SQLite the
//! single writer (which commits all queued jobs together) or one of the readers, on PostgreSQL one of a pool.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Error, Fault};
use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout_at;

use crate::context::StoreContext;
use crate::job::{DatabaseJob, ErasedWork, JobQueue, JobReply, TransactionWork, WorkResult};
use crate::migrate::{self, AppliedMigration, MigrationStatus};
use crate::nodes::NodePurpose;
use crate::postgres::{self, ConnectionPools, ConnectionTarget, CopiedRows};
use crate::query_limits::{CallerGuard, CancellationQueue, JobControl};
use crate::sqlite;

#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    File(PathBuf),
    /// `postgres://…`
    Server(String),
}

enum JobQueues {
    Sqlite { reads: JobQueue, writes: JobQueue },
    Postgres(ConnectionPools),
}

impl JobQueues {
    fn push(&self, job: DatabaseJob) -> Result<(), Fault> {
        let queue = match self {
            Self::Sqlite { reads, writes } => {
                let queue = if job.is_write() { writes } else { reads };
                return queue.send(job).map_err(|_| closed_fault());
            }
            Self::Postgres(pools) if job.control().is_none() => &pools.background,
            Self::Postgres(pools) if job.is_write() => &pools.writes,
            Self::Postgres(pools) => &pools.reads,
        };
        queue.push(job)
    }

    fn count_waiting(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Sqlite { reads, writes } => vec![("reads", reads.len()), ("writes", writes.len())],
            Self::Postgres(pools) => vec![
                ("reads", pools.reads.count_waiting()),
                ("writes", pools.writes.count_waiting()),
                ("background", pools.background.count_waiting()),
            ],
        }
    }

    /// Queued jobs are still run.
    fn close(self) {
        if let Self::Postgres(pools) = self {
            pools.close();
        }
    }
}

pub(crate) struct Database {
    /// None once the database is closed.
    queues: RwLock<Option<JobQueues>>,
    cancellations: CancellationQueue,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
    sqlite_path: Option<PathBuf>,
    /// None without a database server, and while the database is only checked.
    node_lease: Mutex<Option<postgres::NodeLeaseThread>>,
    /// None for a file.
    pub(crate) server: Option<Arc<ConnectionTarget>>,
    event_listener: Mutex<Option<oneshot::Sender<()>>>,
    /// Counts the commits of this process that appended to the event log.
    committed: watch::Receiver<u64>,
    /// Raised when there may be new entries to read.
    pub(crate) appended: watch::Receiver<u64>,
    requests: AtomicU64,
    /// Whether other processes may write at the same time, and the event log has a sequencer.
    pub(crate) is_server: bool,
}

impl Database {
    /// Refuses a schema that is too new for this program.
    pub(crate) fn migrate(
        location: &DatabaseLocation,
        data_dir: &Path,
        now_ms: i64,
    ) -> Result<Vec<AppliedMigration>, Fault> {
        match location {
            DatabaseLocation::File(path) => {
                migrate::apply_missing(&mut sqlite::SqliteMigrator::open(path)?, migrate::all_scripts(), now_ms)
            }
            DatabaseLocation::Server(url) => {
                let target = ConnectionTarget::for_data_dir(url, data_dir)?;
                migrate::apply_missing(&mut postgres::PostgresMigrator::open(&target)?, migrate::all_scripts(), now_ms)
            }
        }
    }

    /// Runs a script of indexes on a database server, in turn with migrations.
    pub(crate) fn build_indexes(location: &DatabaseLocation, data_dir: &Path, script: &str) -> Result<(), Fault> {
        let DatabaseLocation::Server(url) = location else {
            return Err(Fault::new("indexes of a file are created in a transaction"));
        };
        let target = ConnectionTarget::for_data_dir(url, data_dir)?;
        migrate::build_indexes(&mut postgres::PostgresMigrator::open(&target)?, script)
    }

    /// Whether the database has been used by a network. Changes nothing.
    pub(crate) fn has_network(location: &DatabaseLocation) -> Result<bool, Fault> {
        match location {
            DatabaseLocation::File(path) => Ok(std::fs::metadata(path).is_ok_and(|file| file.len() > 0)),
            DatabaseLocation::Server(url) => {
                let target = Arc::new(ConnectionTarget::parse(url)?);
                postgres::check_sessions(&target)?;
                postgres::PostgresMigrator::open(&target)?.has_network()
            }
        }
    }

    /// Whether a database server refuses writes. Changes nothing.
    pub(crate) fn is_read_only(location: &DatabaseLocation) -> Result<bool, Fault> {
        match location {
            DatabaseLocation::File(_) => Ok(false),
            DatabaseLocation::Server(url) => {
                postgres::PostgresMigrator::open(&Arc::new(ConnectionTarget::parse(url)?))?.is_read_only()
            }
        }
    }

    /// Copies a SQLite database into a PostgreSQL database without a network, which gets the migrations before.
    pub(crate) fn import_sqlite(
        from: &Path,
        location: &DatabaseLocation,
        data_dir: &Path,
        now_ms: i64,
    ) -> Result<CopiedRows, Fault> {
        let DatabaseLocation::Server(url) = location else {
            return Err(Fault::new("db.url does not name a PostgreSQL database"));
        };
        Self::migrate(location, data_dir, now_ms)?;
        postgres::import_sqlite(from, &ConnectionTarget::for_data_dir(url, data_dir)?)
    }

    /// Changes nothing. With a data directory, a server that is not the known one is refused.
    pub(crate) fn migration_status(
        location: &DatabaseLocation,
        data_dir: Option<&Path>,
    ) -> Result<Vec<MigrationStatus>, Fault> {
        match location {
            DatabaseLocation::File(path) if !path.exists() => migrate::all_missing(),
            DatabaseLocation::File(path) => migrate::list_status(&mut sqlite::SqliteMigrator::open(path)?),
            DatabaseLocation::Server(url) => {
                let target = match data_dir {
                    Some(data_dir) => ConnectionTarget::for_data_dir(url, data_dir)?,
                    None => Arc::new(ConnectionTarget::parse(url)?),
                };
                postgres::check_sessions(&target)?;
                migrate::list_status(&mut postgres::PostgresMigrator::open(&target)?)
            }
        }
    }

    /// `node` is the preferred number. Without one, nothing may be written to a database server.
    pub(crate) fn open(
        location: &DatabaseLocation,
        data_dir: &Path,
        connections: usize,
        node: Option<(u16, NodePurpose)>,
        context: &Arc<StoreContext>,
    ) -> Result<Self, Fault> {
        let (waker, committed) = watch::channel(0);
        let (waker, appended) = (Arc::new(waker), committed.clone());
        match location {
            DatabaseLocation::File(path) => {
                let (writes, mut threads) = sqlite::spawn_writer(path, context, waker)?;
                let (reads, more) = sqlite::spawn_readers(path, connections, context)?;
                threads.extend(more);
                Ok(Self {
                    queues: RwLock::new(Some(JobQueues::Sqlite { reads, writes })),
                    cancellations: RwLock::new(None),
                    threads: Mutex::new(threads),
                    event_listener: Mutex::new(None),
                    committed,
                    appended,
                    sqlite_path: Some(path.clone()),
                    node_lease: Mutex::new(None),
                    server: None,
                    requests: AtomicU64::new(0),
                    is_server: false,
                })
            }
            DatabaseLocation::Server(url) => {
                let target = ConnectionTarget::for_data_dir(url, data_dir)?;
                let claim = |(number, purpose)| postgres::NodeLeaseThread::spawn(&target, number, purpose, context);
                let node_lease = node.map(claim).transpose()?;
                let (pools, mut threads) = postgres::spawn_pools(&target, connections, context, waker)?;
                let (cancellations, cancelling_thread) = postgres::spawn_canceller()?;
                threads.push(cancelling_thread);
                Ok(Self {
                    queues: RwLock::new(Some(JobQueues::Postgres(pools))),
                    cancellations: RwLock::new(Some(cancellations)),
                    threads: Mutex::new(threads),
                    event_listener: Mutex::new(None),
                    committed,
                    appended,
                    sqlite_path: None,
                    node_lease: Mutex::new(node_lease),
                    server: Some(target),
                    requests: AtomicU64::new(0),
                    is_server: true,
                })
            }
        }
    }

    /// On a database server, learns of the entries of other processes from now on, and takes part in numbering them.
    pub(crate) fn start_event_listener(&mut self, holder: String) -> Result<(), Fault> {
        let Some(target) = &self.server else {
            return Ok(());
        };
        let (sender, appended) = watch::channel(0);
        let (target, committed, sender) = (Arc::clone(target), self.committed.clone(), Arc::new(sender));
        let options = postgres::EventListenerOptions { target, holder, committed, appended: sender };
        let (stop, thread) = postgres::spawn_event_listener(options)?;
        self.appended = appended;
        *self.event_listener.get_mut() = Some(stop);
        self.threads.get_mut().push(thread);
        Ok(())
    }

    pub(crate) fn count_waiting(&self) -> Vec<(&'static str, usize)> {
        self.queues.read().as_ref().map(JobQueues::count_waiting).unwrap_or_default()
    }

    /// Runs `work` in a transaction, which is durable then, or in one snapshot.
    pub(crate) async fn run_job(&self, work: ErasedWork, is_write: bool) -> Result<WorkResult, Error> {
        let (reply, answer) = oneshot::channel();
        let control = JobControl::for_current_request();
        if control.is_some() {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        self.push_job(DatabaseJob::new(work, reply, is_write, control.clone()))?;
        let guard = CallerGuard { control: control.clone(), cancellations: &self.cancellations };
        let outcome = match control.as_ref().filter(|_| self.is_server) {
            Some(control) => wait_until_deadline(control, answer).await?,
            None => answer.await,
        };
        guard.disarm();
        let reply = outcome.map_err(|_| Fault::new("the store stopped while a job was running"))?;
        let outcome = reply.into_outcome();
        if let Some(control) = control.filter(|_| outcome.is_ok()) {
            control.report_appended_events();
        }
        outcome
    }

    /// Changes with each job of a request, and when there may be new events.
    pub(crate) fn activity_count(&self) -> u64 {
        self.requests.load(Ordering::Relaxed).wrapping_add(*self.appended.borrow())
    }

    /// For a thread that may block.
    pub(crate) fn read_blocking<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.push_job(DatabaseJob::new(ErasedWork::new(work), reply, false, None))?;
        let reply = answer.blocking_recv().map_err(|_| Fault::new("the store stopped while a job was running"))?;
        reply.into_outcome()?.into_value()
    }

    fn push_job(&self, job: DatabaseJob) -> Result<(), Fault> {
        match self.queues.read().as_ref() {
            Some(queues) => queues.push(job),
            None => Err(closed_fault()),
        }
    }

    /// Runs the jobs that are queued and waits until every connection is closed. What is asked for later fails.
    pub(crate) fn close(&self) {
        // The threads that they wake end without them.
        drop((self.cancellations.write().take(), self.event_listener.lock().take()));
        self.close_queues();
        if let Some(lease) = self.node_lease.lock().take() {
            lease.release();
        }
    }

    fn close_queues(&self) {
        let Some(queues) = self.queues.write().take() else {
            return;
        };
        queues.close();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // A panic has already been logged.
            drop(thread.join());
        }
        if let Some(file) = &self.sqlite_path {
            sqlite::truncate_wal(file);
        }
    }
}

fn closed_fault() -> Fault {
    Fault::new("the store is closed").into_transient()
}

/// Whatever the connection does. A commit that was sent before the deadline has a moment more to be answered; without
/// an answer, it is not known whether the transaction was stored.
async fn wait_until_deadline(
    control: &JobControl,
    mut answer: oneshot::Receiver<JobReply>,
) -> Result<Result<JobReply, RecvError>, Fault> {
    let deadline = tokio::time::Instant::from_std(control.deadline);
    if let Ok(answer) = timeout_at(deadline, &mut answer).await {
        return Ok(answer);
    }
    control.abandon();
    if control.has_started_commit()
        && let Ok(answer) = timeout_at(deadline + postgres::COMMIT_GRACE, &mut answer).await
    {
        return Ok(answer);
    }
    Err(Fault::new("the database did not answer in time").into_transient())
}
