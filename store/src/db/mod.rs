//! The door to the database: one text of SQL, two engines behind it.
//!
//! A piece of work is a plain function over a [`Tx`]. It runs on a thread that owns a connection:
//! on SQLite the one writer (which commits whatever is queued together) or one of the readers, on
//! PostgreSQL one of the pool. So no verb is asynchronous, and none knows which engine it is on.

mod dialect;
mod job;
pub(crate) mod lite;
mod migrate;
mod postgres;
mod tx;
mod value;

pub use job::Work;
pub use migrate::{Applied, Migration};
pub use tx::Tx;
pub(crate) use value::{Row, Value};

use std::path::PathBuf;
use std::sync::Arc;

use base::{Fault, Stop};
use tokio::sync::{oneshot, watch};

use crate::context::Context;
use job::{Job, Queue};

/// Where the data is.
#[derive(Clone, Debug)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL server, `postgres://…`.
    Server(String),
}

/// The queues that lead to the connections.
pub(crate) struct Db {
    writes: Queue,
    reads: Queue,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// The SQLite file.
    file: Option<PathBuf>,
    /// Holds this node's number on a database server.
    node: Option<crossbeam_channel::Sender<()>>,
    /// Counts the commits that appended to the log.
    pub(crate) wake: watch::Receiver<u64>,
    /// Whether the log must be read with a snapshot-safe cursor.
    pub(crate) server: bool,
}

impl Db {
    /// Applies the migrations that are missing. Refuses a schema newer than this program.
    pub(crate) fn migrate(location: &Location, now_ms: i64) -> Result<Vec<Applied>, Fault> {
        match location {
            Location::File(path) => migrate::run(&mut lite::Setup::open(path)?, now_ms),
            Location::Server(url) => migrate::run(&mut postgres::Setup::open(url)?, now_ms),
        }
    }

    /// What has been applied and what is missing, without touching anything.
    pub(crate) fn migration_status(location: &Location) -> Result<Vec<Migration>, Fault> {
        match location {
            Location::File(path) if !path.exists() => Ok(migrate::all_missing()),
            Location::File(path) => migrate::status(&mut lite::Setup::open(path)?),
            Location::Server(url) => migrate::status(&mut postgres::Setup::open(url)?),
        }
    }

    /// Opens the connections and starts their threads.
    pub(crate) fn open(
        location: &Location,
        connections: usize,
        node: u16,
        context: &Arc<Context>,
    ) -> Result<Self, Fault> {
        let (waker, wake) = watch::channel(0);
        let waker = Arc::new(waker);
        match location {
            Location::File(path) => {
                let (writes, mut threads) = lite::writer(path, context, waker)?;
                let (reads, more) = lite::readers(path, connections, context)?;
                threads.extend(more);
                Ok(Self {
                    writes,
                    reads,
                    threads,
                    wake,
                    file: Some(path.clone()),
                    node: None,
                    server: false,
                })
            }
            Location::Server(url) => {
                let (hold, holder) = postgres::take_node(url, node)?;
                let (queue, mut threads) = postgres::pool(url, connections, context, waker)?;
                threads.push(holder);
                Ok(Self {
                    writes: queue.clone(),
                    reads: queue,
                    threads,
                    wake,
                    file: None,
                    node: Some(hold),
                    server: true,
                })
            }
        }
    }

    /// Runs `work` in a transaction and answers once it is on disk.
    pub(crate) async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Stop> {
        run(&self.writes, work, true).await
    }

    /// Runs `work` on one consistent view where the engine gives one without a round trip.
    pub(crate) async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Stop> {
        run(&self.reads, work, false).await
    }

    /// The same as [`Db::read`], for a thread that may wait.
    pub(crate) fn read_now<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Stop> {
        let (reply, answer) = oneshot::channel();
        let sent = self.reads.send(Job::boxed(work, reply, false));
        sent.map_err(|_| Fault::new("the store is closed"))?;
        let stopped = |_| Err(Fault::new("the store stopped in the middle").into());
        answer.blocking_recv().unwrap_or_else(stopped)
    }

    /// Closes the queues and waits until every connection is closed.
    pub(crate) fn close(self) {
        let Self {
            writes,
            reads,
            threads,
            file,
            node,
            ..
        } = self;
        drop((writes, reads, node));
        for thread in threads {
            // A thread that panicked has logged it; there is nothing left to close.
            drop(thread.join());
        }
        if let Some(file) = file {
            lite::tidy(&file);
        }
    }
}

async fn run<T: Send + 'static>(
    queue: &Queue,
    work: impl Work<T>,
    writes: bool,
) -> Result<T, Stop> {
    let (reply, answer) = oneshot::channel();
    let job = Job::boxed(work, reply, writes);
    queue
        .send(job)
        .map_err(|_| Fault::new("the store is closed"))?;
    answer
        .await
        .unwrap_or_else(|_| Err(Fault::new("the store stopped in the middle").into()))
}
