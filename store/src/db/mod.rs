//! Database access: one SQL text for two engines.
//!
//! Work is a synchronous function over a [`Tx`]. It runs on a thread that owns a connection: on SQLite the single
//! writer (which commits all queued jobs together) or one of the readers, on PostgreSQL one of a pool.

mod dialect;
mod job;
mod migrate;
mod postgres;
mod query_limits;
mod rows;
mod sql;
pub(crate) mod sqlite;
mod tx;
mod value;

pub use job::TransactionWork;
pub use migrate::{AppliedMigration, MigrationStatus};
pub use query_limits::{QueryLimits, limit_queries};
pub(crate) use rows::{ColumnValue, DeclaredRow, FromCells, InsertableRow, RowCells, column_name, row, table};
pub(crate) use sql::{SqlText, as_text, insert, insert_new, insert_with, select, sql, statement, trim_list, update};
pub use tx::Tx;
pub(crate) use value::{SqlValue, stored_enum};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Error, Fault};
use tokio::sync::{oneshot, watch};

use crate::context::StoreContext;
use job::{JobQueue, PendingJob};
use query_limits::{CallerGuard, JobControl};

#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    File(PathBuf),
    /// `postgres://…`
    Server(String),
}

pub(crate) struct Database {
    write_queue: JobQueue,
    read_queue: JobQueue,
    /// Jobs whose queries a database server is to cancel.
    cancellations: Option<crossbeam_channel::Sender<Arc<JobControl>>>,
    threads: Vec<std::thread::JoinHandle<()>>,
    sqlite_path: Option<PathBuf>,
    /// Dropping it releases this node's number on a database server.
    node_lock: Option<crossbeam_channel::Sender<()>>,
    event_listener: Option<oneshot::Sender<()>>,
    /// Counts the commits of this process that appended to the event log.
    committed: watch::Receiver<u64>,
    /// Raised when there may be new entries to read.
    pub(crate) appended: watch::Receiver<u64>,
    requests: AtomicU64,
    /// Whether other processes may write at the same time, and the event log has a sequencer.
    pub(crate) is_server: bool,
}

impl Database {
    /// Refuses a schema newer than this program.
    pub(crate) fn migrate(location: &DatabaseLocation, now_ms: i64) -> Result<Vec<AppliedMigration>, Fault> {
        match location {
            DatabaseLocation::File(path) => migrate::apply_missing(&mut sqlite::SqliteMigrator::open(path)?, now_ms),
            DatabaseLocation::Server(url) => {
                migrate::apply_missing(&mut postgres::PostgresMigrator::open(url)?, now_ms)
            }
        }
    }

    /// Changes nothing.
    pub(crate) fn migration_status(location: &DatabaseLocation) -> Result<Vec<MigrationStatus>, Fault> {
        match location {
            DatabaseLocation::File(path) if !path.exists() => Ok(migrate::all_missing()),
            DatabaseLocation::File(path) => migrate::list_status(&mut sqlite::SqliteMigrator::open(path)?),
            DatabaseLocation::Server(url) => migrate::list_status(&mut postgres::PostgresMigrator::open(url)?),
        }
    }

    pub(crate) fn open(
        location: &DatabaseLocation,
        connections: usize,
        node: u16,
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
                    write_queue: writes,
                    read_queue: reads,
                    cancellations: None,
                    threads,
                    event_listener: None,
                    committed,
                    appended,
                    sqlite_path: Some(path.clone()),
                    node_lock: None,
                    requests: AtomicU64::new(0),
                    is_server: false,
                })
            }
            DatabaseLocation::Server(url) => {
                let (node_lock, node_thread) = postgres::claim_node_number(url, node)?;
                let (queue, mut threads) = postgres::spawn_pool(url, connections, context, waker)?;
                let (cancellations, cancelling_thread) = postgres::spawn_canceller()?;
                threads.extend([node_thread, cancelling_thread]);
                Ok(Self {
                    write_queue: queue.clone(),
                    read_queue: queue,
                    cancellations: Some(cancellations),
                    threads,
                    event_listener: None,
                    committed,
                    appended,
                    sqlite_path: None,
                    node_lock: Some(node_lock),
                    requests: AtomicU64::new(0),
                    is_server: true,
                })
            }
        }
    }

    /// On a database server, learns of the entries of other processes from now on, and takes part in numbering them.
    pub(crate) fn start_event_listener(&mut self, location: &DatabaseLocation, holder: String) -> Result<(), Fault> {
        let DatabaseLocation::Server(url) = location else {
            return Ok(());
        };
        let (sender, appended) = watch::channel(0);
        let (url, committed, sender) = (url.clone(), self.committed.clone(), Arc::new(sender));
        let options = postgres::EventListenerOptions { url, holder, committed, appended: sender };
        let (stop, thread) = postgres::spawn_event_listener(options)?;
        self.appended = appended;
        self.event_listener = Some(stop);
        self.threads.push(thread);
        Ok(())
    }

    /// Returns once the transaction is durable.
    pub(crate) async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        self.run_job(&self.write_queue, work, true).await
    }

    /// On SQLite in one snapshot; on PostgreSQL each statement has its own.
    pub(crate) async fn read<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        self.run_job(&self.read_queue, work, false).await
    }

    async fn run_job<T: Send + 'static>(
        &self,
        queue: &JobQueue,
        work: impl TransactionWork<T>,
        writes: bool,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let control = JobControl::for_current_request();
        if control.is_some() {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        let job = PendingJob::new_boxed(work, reply, writes, control.clone());
        queue.send(job).map_err(|_| Fault::new("the store is closed"))?;
        let guard = CallerGuard { control, cancellations: self.cancellations.as_ref() };
        let outcome = answer.await;
        guard.disarm();
        let reply = outcome.map_err(|_| Fault::new("the store stopped while a job was running"))?;
        reply.into_outcome()
    }

    /// Changes with each job of a request, and when there may be new events.
    pub(crate) fn activity_count(&self) -> u64 {
        self.requests.load(Ordering::Relaxed).wrapping_add(*self.appended.borrow())
    }

    /// As [`Database::read`], for a thread that may block.
    pub(crate) fn read_blocking<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let sent = self.read_queue.send(PendingJob::new_boxed(work, reply, false, None));
        sent.map_err(|_| Fault::new("the store is closed"))?;
        let reply = answer.blocking_recv().map_err(|_| Fault::new("the store stopped while a job was running"))?;
        reply.into_outcome()
    }

    /// Closes the queues and waits until every connection is closed.
    pub(crate) fn close(self) {
        let Self {
            write_queue, read_queue, cancellations, threads, sqlite_path: file, node_lock, event_listener, ..
        } = self;
        drop((write_queue, read_queue, cancellations, node_lock, event_listener));
        for thread in threads {
            // A panic has already been logged.
            drop(thread.join());
        }
        if let Some(file) = file {
            sqlite::truncate_wal(&file);
        }
    }
}
