//! PostgreSQL: a pool of threads, each with its own connection.

mod listener;
mod tls;

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::Fault;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use lru::LruCache;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{CancelToken, Client, Statement};
use tokio::sync::watch;

use super::job::{DatabaseJob, JobQueue};
use super::query_limits::{JobControl, RowBudget};
use super::rows::RowCells;
use super::tx::{EngineConnection, Tx};
use super::value::{SqlRow, SqlValue};
use super::{dialect, migrate};
use crate::context::StoreContext;
pub(crate) use listener::{EventListenerOptions, spawn_event_listener};
use tls::ConnectionTarget;

/// Retries after a serialization failure or a deadlock.
const MAX_RETRIES: usize = 8;
/// Base of the advisory lock keys that stand for nodes.
const NODE_LOCK_BASE: i64 = 7269 << 32;
/// Each takes 100 ms.
const NODE_LOCK_RETRIES: u32 = 30;
/// How often the lock on the node's number is checked.
const NODE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Statements that a connection keeps prepared: more than ordinary work uses. Lists of advertising records have
/// as many more as callers think of orders and filters.
const STATEMENT_CACHE_SIZE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For work that no request waits for.
const BACKGROUND_TIMEOUT: Duration = Duration::from_mins(10);

pub(crate) struct PostgresConnection {
    client: Client,
    target: Arc<ConnectionTarget>,
    /// The server's limit for each statement.
    statement_timeout: Duration,
    /// By their text. One that falls out is closed on the server as well.
    statements: LruCache<String, Statement>,
    /// Whether the last failure was a conflict that calls for a retry.
    had_conflict: bool,
}

impl PostgresConnection {
    fn open(url: &str) -> Result<Self, Fault> {
        let mut target = ConnectionTarget::parse(url)?;
        target.config.connect_timeout(CONNECT_TIMEOUT).application_name("locum");
        let mut client = target.connect()?;
        client
            .batch_execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = '60s'")
            .map_err(Fault::context("setting up a connection"))?;
        let statements = LruCache::new(STATEMENT_CACHE_SIZE);
        Ok(Self {
            client,
            target: Arc::new(target),
            statement_timeout: Duration::ZERO,
            statements,
            had_conflict: false,
        })
    }

    /// Reconnects if the connection broke while it was idle.
    fn set_statement_timeout(&mut self, url: &str, timeout: Duration) -> Result<(), Fault> {
        if self.statement_timeout == timeout {
            return Ok(());
        }
        let statement = format!("SET statement_timeout = {}", timeout.as_millis().max(1));
        if let Err(fault) = self.batch_execute(&statement) {
            if !fault.is_transient() {
                return Err(fault);
            }
            *self = Self::open(url)?;
            self.batch_execute(&statement)?;
        }
        self.statement_timeout = timeout;
        Ok(())
    }

    fn statement_fault(&mut self, sql: &str, error: postgres::Error) -> Fault {
        let clashes = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        self.had_conflict |= error.code().is_some_and(|code| clashes.contains(code));
        let passing = is_transient(&error);
        let fault = Fault::from_cause(format!("running {sql:?}"), error);
        if passing { fault.into_transient() } else { fault }
    }

    fn prepare_cached(&mut self, sql: &str) -> Result<Statement, Fault> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).map_err(|error| self.statement_fault(sql, error))?;
        self.statements.put(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(crate) fn for_each_row(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        read: impl FnMut(&mut RowCells<'_, '_, '_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let statement = self.prepare_cached(sql)?;
        let args = to_sql_params(args);
        self.run_query(sql, &statement, &args, read)
    }

    pub(crate) fn for_each_key(
        &mut self,
        sql: &str,
        keys: &[i64],
        more: &[SqlValue<'_>],
        read: &mut dyn FnMut(&mut RowCells<'_, '_, '_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let sql = &sql.replacen("= $1", "= ANY($1)", 1);
        let statement = self.prepare_cached(sql)?;
        let mut args: Vec<&(dyn ToSql + Sync)> = vec![&keys];
        args.extend(to_sql_params(more));
        self.run_query(sql, &statement, &args, read)
    }

    fn run_query(
        &mut self,
        sql: &str,
        statement: &Statement,
        args: &[&(dyn ToSql + Sync)],
        mut read: impl FnMut(&mut RowCells<'_, '_, '_>) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let answer = self.client.query(statement, args);
        let rows = answer.map_err(|error| self.statement_fault(sql, error))?;
        RowBudget::start_statement().count_rows(rows.len(), sql)?;
        for row in &rows {
            if !read(&mut RowCells::new(&SqlRow::Postgres(row)))? {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn exec(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<u64, Fault> {
        let statement = self.prepare_cached(sql)?;
        let args = to_sql_params(args);
        self.client.execute(&statement, &args).map_err(|error| self.statement_fault(sql, error))
    }

    fn lock_node(&mut self, node: u16) -> Result<bool, Fault> {
        let sql = "SELECT CAST(CAST(pg_try_advisory_lock($1) AS INTEGER) AS BIGINT)";
        let mut taken = false;
        self.for_each_row(sql, &[(NODE_LOCK_BASE | i64::from(node)).into()], |row| {
            taken = row.read()?;
            Ok(false)
        })?;
        Ok(taken)
    }

    /// Begins a transaction, reconnecting if the connection broke while it was idle.
    fn begin_transaction(&mut self, url: &str, timeout: Duration) -> Result<(), Fault> {
        self.set_statement_timeout(url, timeout)?;
        match self.batch_execute("BEGIN") {
            Err(fault) if fault.is_transient() => {
                *self = Self::open(url)?;
                self.set_statement_timeout(url, timeout)?;
                self.batch_execute("BEGIN")
            }
            begun => begun,
        }
    }

    fn batch_execute(&mut self, sql: &str) -> Result<(), Fault> {
        self.client.batch_execute(sql).map_err(|error| self.statement_fault(sql, error))
    }
}

/// Whether the server is unavailable or out of resources: the connection broke, or the SQLSTATE is in class 08
/// (connection), 53 (resources) or 57 (shutdown, statement over its time limit), or says that a lock was not granted
/// in time (55P03) or that the transaction was idle for too long (25P03).
fn is_transient(error: &postgres::Error) -> bool {
    let classes = ["08", "53", "57", "55P03", "25P03"];
    let broken = error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
    broken
        || error.is_closed()
        || error.code().is_some_and(|state| classes.iter().any(|class| state.code().starts_with(class)))
}

fn to_sql_params<'a>(args: &'a [SqlValue<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    args.iter().map(|arg| -> &(dyn ToSql + Sync) { arg }).collect()
}

/// Claims a node's number for as long as the sender lives, so that no two nodes issue the same ids. If the connection
/// is lost, the number is claimed again when the server is back.
pub(crate) fn claim_node_number(url: &str, node: u16) -> Result<(Sender<()>, JoinHandle<()>), Fault> {
    let mut conn = connect_and_lock_node(url, node)?;
    let (hold, released) = bounded::<()>(0);
    let url = url.to_owned();
    let keep = move || {
        while released.recv_timeout(NODE_CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if conn.batch_execute("SELECT 1").is_ok() {
                continue;
            }
            match connect_and_lock_node(&url, node) {
                Ok(anew) => conn = anew,
                Err(fault) => tracing::error!(%fault, node, "the number of this node is not held"),
            }
        }
        // Ends when the sender is gone; the lock ends with the connection.
        drop(conn);
    };
    let thread = thread::Builder::new().name("store-node".to_owned()).spawn(keep);
    Ok((hold, thread.map_err(Fault::context("starting a thread"))?))
}

fn connect_and_lock_node(url: &str, node: u16) -> Result<PostgresConnection, Fault> {
    let mut conn = PostgresConnection::open(url)?;
    for _ in 0..NODE_LOCK_RETRIES {
        if conn.lock_node(node)? {
            return Ok(conn);
        }
        // The server takes a moment to notice that a killed process is gone.
        thread::sleep(Duration::from_millis(100));
    }
    Err(Fault::new(format!("another process is at work on this database as node {node}")))
}

/// Starts `count` threads on one queue. The first connection is opened at once, so that a wrong address fails at
/// startup; the others are opened on first use.
pub(crate) fn spawn_pool(
    url: &str,
    count: usize,
    context: &Arc<StoreContext>,
    waker: Arc<watch::Sender<u64>>,
) -> Result<(JobQueue, Vec<JoinHandle<()>>), Fault> {
    let (queue, jobs) = unbounded::<Box<dyn DatabaseJob>>();
    let mut first = Some(PostgresConnection::open(url)?);
    let threads = (0..count.max(1)).map(|_| {
        let mut worker = PoolWorker {
            url: url.to_owned(),
            conn: first.take(),
            context: Arc::clone(context),
            waker: Arc::clone(&waker),
        };
        let jobs = jobs.clone();
        thread::Builder::new()
            .name("store-pool".to_owned())
            .spawn(move || worker.run_jobs(&jobs))
            .map_err(Fault::context("starting a thread"))
    });
    Ok((queue, threads.collect::<Result<_, _>>()?))
}

/// Cancels the query that a connection runs.
pub(super) struct QueryCanceller {
    token: CancelToken,
    target: Arc<ConnectionTarget>,
}

impl QueryCanceller {
    /// Connects, which blocks.
    pub(super) fn cancel_query(&self) -> Result<(), Fault> {
        self.target.cancel_query(&self.token)
    }
}

/// Starts the thread that cancels the queries of abandoned jobs.
pub(crate) fn spawn_canceller() -> Result<(Sender<Arc<JobControl>>, JoinHandle<()>), Fault> {
    let (queue, jobs) = unbounded::<Arc<JobControl>>();
    let run = move || jobs.iter().for_each(|control| control.cancel_query());
    let thread = thread::Builder::new().name("store-canceller".to_owned()).spawn(run);
    Ok((queue, thread.map_err(Fault::context("starting a thread"))?))
}

/// The query can be cancelled while the job runs, and not afterwards.
fn run_read_job(conn: &mut PostgresConnection, job: &mut dyn DatabaseJob, context: &StoreContext) -> bool {
    let Some(control) = job.control().map(Arc::clone) else {
        return job.run(&mut Tx::new(EngineConnection::Postgres(conn), context));
    };
    let canceller = QueryCanceller { token: conn.client.cancel_token(), target: Arc::clone(&conn.target) };
    *control.canceller.lock() = Some(canceller);
    // Abandoned before: the canceller found nothing to cancel.
    let succeeded = !control.is_abandoned() && job.run(&mut Tx::new(EngineConnection::Postgres(conn), context));
    *control.canceller.lock() = None;
    succeeded
}

struct PoolWorker {
    url: String,
    conn: Option<PostgresConnection>,
    context: Arc<StoreContext>,
    waker: Arc<watch::Sender<u64>>,
}

impl PoolWorker {
    fn run_jobs(&mut self, jobs: &Receiver<Box<dyn DatabaseJob>>) {
        while let Ok(mut job) = jobs.recv() {
            if job.control().is_some_and(|control| control.is_abandoned()) {
                continue;
            }
            let commit = self.run_job(job.as_mut());
            // A connection that is broken or still inside a transaction is never used again.
            if commit.is_err() || self.conn.as_ref().is_some_and(|conn| conn.client.is_closed()) {
                self.conn = None;
            }
            job.finish(commit.map_err(Arc::new));
        }
    }

    fn run_job(&mut self, job: &mut dyn DatabaseJob) -> Result<(), Fault> {
        let conn = match &mut self.conn {
            Some(conn) => conn,
            none => none.insert(PostgresConnection::open(&self.url)?),
        };
        let timeout = job.control().map_or(BACKGROUND_TIMEOUT, |control| control.limits.timeout);
        if !job.is_write() {
            conn.set_statement_timeout(&self.url, timeout)?;
            let read = run_read_job(conn, job, &self.context);
            // One that broke while it was idle is noticed only now.
            if !read && conn.client.is_closed() {
                *conn = PostgresConnection::open(&self.url)?;
                conn.set_statement_timeout(&self.url, timeout)?;
                run_read_job(conn, job, &self.context);
            }
            return Ok(());
        }
        for _ in 0..MAX_RETRIES {
            conn.had_conflict = false;
            conn.begin_transaction(&self.url, timeout)?;
            let mut tx = Tx::new(EngineConnection::Postgres(conn), &self.context);
            let keep = job.run(&mut tx);
            let marks = tx.effects;
            let ended = conn.batch_execute(if keep { "COMMIT" } else { "ROLLBACK" });
            if conn.had_conflict {
                drop(conn.batch_execute("ROLLBACK"));
                continue;
            }
            ended?;
            if keep {
                marks.publish(&self.context, &self.waker);
            }
            return Ok(());
        }
        Err(Fault::new("other transactions got in the way too often").into_transient())
    }
}

pub(crate) struct PostgresMigrator(PostgresConnection);

impl PostgresMigrator {
    pub(crate) fn open(url: &str) -> Result<Self, Fault> {
        PostgresConnection::open(url).map(Self)
    }
}

impl migrate::MigrationTarget for PostgresMigrator {
    fn lock_schema(&mut self) -> Result<(), Fault> {
        let locked = self.0.client.batch_execute("SELECT pg_advisory_lock(7268)");
        locked.map_err(Fault::context("waiting for another migration"))
    }

    fn run_script(&mut self, script: &str) -> Result<(), Fault> {
        let script = dialect::to_postgres(script);
        self.0.client.batch_execute(&script).map_err(Fault::context("running a migration"))
    }

    fn applied_migrations(&mut self) -> Result<Vec<migrate::MigrationRow>, Fault> {
        let mut exists = false;
        self.0.for_each_row(
            "SELECT 1 FROM pg_tables WHERE tablename = 'migration' AND schemaname = current_schema()",
            &[],
            |_| {
                exists = true;
                Ok(false)
            },
        )?;
        let mut all = Vec::new();
        if exists {
            self.0.for_each_row(migrate::LIST_SQL, &[], |row| {
                all.push(row.read()?);
                Ok(true)
            })?;
        }
        Ok(all)
    }
}
