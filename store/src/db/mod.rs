//! The door to the database: one text of SQL, two engines behind it.
//!
//! A piece of work is a plain function over a [`Tx`]. It runs on a thread that owns a connection:
//! on SQLite the one writer (which commits whatever is queued together) or one of the readers, on
//! PostgreSQL one of the pool. So no verb is asynchronous, and none knows which engine it is on.

mod dialect;
mod job;
mod migrate;
mod postgres;
pub(crate) mod sqlite;
mod tx;
mod value;

pub use job::TransactionWork;
pub use migrate::{AppliedMigration, MigrationStatus};
pub use tx::Tx;
pub(crate) use value::{SqlRow, SqlValue};

use std::path::PathBuf;
use std::sync::Arc;

use base::{Error, Fault};
use tokio::sync::{oneshot, watch};

use crate::context::StoreContext;
use job::{JobQueue, PendingJob};

/// Where the data is.
#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL server, `postgres://…`.
    Server(String),
}

/// The queues that lead to the connections.
pub(crate) struct Database {
    write_queue: JobQueue,
    read_queue: JobQueue,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// The SQLite file.
    sqlite_path: Option<PathBuf>,
    /// Holds this node's number on a database server.
    node_lock: Option<crossbeam_channel::Sender<()>>,
    /// Counts the commits that appended to the log.
    pub(crate) appended: watch::Receiver<u64>,
    /// Whether the log must be read with a snapshot-safe cursor.
    pub(crate) is_server: bool,
}

impl Database {
    /// Applies the migrations that are missing. Refuses a schema newer than this program.
    pub(crate) fn migrate(location: &DatabaseLocation, now_ms: i64) -> Result<Vec<AppliedMigration>, Fault> {
        match location {
            DatabaseLocation::File(path) => migrate::apply_missing(&mut sqlite::SqliteMigrator::open(path)?, now_ms),
            DatabaseLocation::Server(url) => {
                migrate::apply_missing(&mut postgres::PostgresMigrator::open(url)?, now_ms)
            }
        }
    }

    /// What has been applied and what is missing, without touching anything.
    pub(crate) fn migration_status(location: &DatabaseLocation) -> Result<Vec<MigrationStatus>, Fault> {
        match location {
            DatabaseLocation::File(path) if !path.exists() => Ok(migrate::all_missing()),
            DatabaseLocation::File(path) => migrate::list_status(&mut sqlite::SqliteMigrator::open(path)?),
            DatabaseLocation::Server(url) => migrate::list_status(&mut postgres::PostgresMigrator::open(url)?),
        }
    }

    /// Opens the connections and starts their threads.
    pub(crate) fn open(
        location: &DatabaseLocation,
        connections: usize,
        node: u16,
        context: &Arc<StoreContext>,
    ) -> Result<Self, Fault> {
        let (waker, wake) = watch::channel(0);
        let waker = Arc::new(waker);
        match location {
            DatabaseLocation::File(path) => {
                let (writes, mut threads) = sqlite::spawn_writer(path, context, waker)?;
                let (reads, more) = sqlite::spawn_readers(path, connections, context)?;
                threads.extend(more);
                Ok(Self {
                    write_queue: writes,
                    read_queue: reads,
                    threads,
                    appended: wake,
                    sqlite_path: Some(path.clone()),
                    node_lock: None,
                    is_server: false,
                })
            }
            DatabaseLocation::Server(url) => {
                let (hold, holder) = postgres::claim_node_number(url, node)?;
                let (queue, mut threads) = postgres::spawn_pool(url, connections, context, waker)?;
                threads.push(holder);
                Ok(Self {
                    write_queue: queue.clone(),
                    read_queue: queue,
                    threads,
                    appended: wake,
                    sqlite_path: None,
                    node_lock: Some(hold),
                    is_server: true,
                })
            }
        }
    }

    /// Runs `work` in a transaction and answers once it is on disk.
    pub(crate) async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        run_job(&self.write_queue, work, true).await
    }

    /// Runs `work` on one consistent view where the engine gives one without a round trip.
    pub(crate) async fn read<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        run_job(&self.read_queue, work, false).await
    }

    /// The same as [`Db::read`], for a thread that may wait.
    pub(crate) fn read_blocking<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let sent = self.read_queue.send(PendingJob::new_boxed(work, reply, false));
        sent.map_err(|_| Fault::new("the store is closed"))?;
        let stopped = |_| Err(Fault::new("the store stopped in the middle").into());
        answer.blocking_recv().unwrap_or_else(stopped)
    }

    /// Closes the queues and waits until every connection is closed.
    pub(crate) fn close(self) {
        let Self {
            write_queue: writes,
            read_queue: reads,
            threads,
            sqlite_path: file,
            node_lock: node,
            ..
        } = self;
        drop((writes, reads, node));
        for thread in threads {
            // A thread that panicked has logged it; there is nothing left to close.
            drop(thread.join());
        }
        if let Some(file) = file {
            sqlite::truncate_wal(&file);
        }
    }
}

async fn run_job<T: Send + 'static>(queue: &JobQueue, work: impl TransactionWork<T>, writes: bool) -> Result<T, Error> {
    let (reply, answer) = oneshot::channel();
    let job = PendingJob::new_boxed(work, reply, writes);
    queue.send(job).map_err(|_| Fault::new("the store is closed"))?;
    answer
        .await
        .unwrap_or_else(|_| Err(Fault::new("the store stopped in the middle").into()))
}
