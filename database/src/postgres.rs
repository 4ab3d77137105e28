//! PostgreSQL: connections, and the statements that they run.

mod canceller;
mod client;
mod job_queue;
mod listener;
mod migrator;
mod node_lease;
mod pipeline;
mod pool;
mod server_checks;
mod session;
mod set_inserts;
mod sqlite_import;
#[cfg(test)]
mod tests;
mod tls;

pub(super) use canceller::{QueryCanceller, spawn_canceller};
pub(super) use migrator::PostgresMigrator;
pub(crate) use node_lease::NodeLeaseThread;
pub(super) use pool::{ConnectionPools, spawn_pools};
pub(super) use server_checks::check_sessions;
pub use sqlite_import::CopiedRows;
pub(super) use sqlite_import::import_sqlite;
pub(crate) use tls::ConnectionTarget;

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use base::Fault;
use lru::LruCache;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, Row, Statement};

use super::dialect;
use super::query_limits::{JobControl, RowBudget};
use super::rows::{RowCells, RowReader};
use super::value::{SqlRow, SqlValue};
use crate::nodes::{NodeIdentity, lease_lost};
use client::{PostgresClient, WaitError};
pub(crate) use listener::{EventListenerOptions, spawn_event_listener};
use node_lease::{commit_sql, is_lease_lost};
use pipeline::{PipelineError, PrefetchedRows, SentStatement};
use session::SessionLimits;
use set_inserts::PendingInserts;

/// Statements that a connection keeps prepared: more than ordinary work uses. Lists of advertising records have
/// as many more as callers think of orders and filters.
const STATEMENT_CACHE_SIZE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the answer to a commit is waited for after its job's deadline.
pub(super) const COMMIT_GRACE: Duration = Duration::from_millis(500);

pub(crate) struct PostgresConnection {
    client: PostgresClient,
    target: Arc<ConnectionTarget>,
    /// The server's limits.
    limits: SessionLimits,
    /// By their text. One that falls out is closed on the server as well.
    statements: LruCache<String, Statement>,
    /// Sent together with the next statement: the end of the last transaction, and the beginning of the next.
    unsent: String,
    /// Where the beginning of the transaction stands in it; none once it was sent.
    unsent_begin: Option<usize>,
    /// In the order in which they were sent. Their answers were not waited for yet.
    in_flight: Vec<SentStatement>,
    prefetched: Vec<PrefetchedRows>,
    /// Sent before any other statement.
    inserts: PendingInserts,
    /// Whether the last job may have been committed.
    has_sent_commit: bool,
    /// The request's job that it runs.
    control: Option<Arc<JobControl>>,
    transaction: TransactionState,
    /// Whether the last failure was a conflict that calls for a retry.
    had_conflict: bool,
}

/// What the statements of a job run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransactionState {
    /// Each in a transaction of its own.
    Autocommit,
    /// The first and only statement of a read.
    SingleStatement {
        has_run: bool,
    },
    /// A second statement was refused: it would have seen another snapshot than the first.
    NeedsSnapshot,
    Open,
}

fn no_host() -> Fault {
    Fault::new("the database address has no host")
}

impl PostgresConnection {
    /// To the first host of the address that answers and is not refused.
    fn connect(target: &Arc<ConnectionTarget>, limits: SessionLimits) -> Result<Self, Fault> {
        let mut refusal = no_host();
        for host in &target.hosts {
            match Self::connect_once(target, limits, host) {
                Ok(connection) => return Ok(connection),
                Err(fault) => refusal = fault,
            }
        }
        Err(refusal)
    }

    fn connect_once(target: &Arc<ConnectionTarget>, limits: SessionLimits, host: &Config) -> Result<Self, Fault> {
        let mut connection = Self {
            client: PostgresClient::connect(target, host, CONNECT_TIMEOUT)?,
            target: Arc::clone(target),
            limits,
            statements: LruCache::new(STATEMENT_CACHE_SIZE),
            unsent: String::new(),
            unsent_begin: None,
            in_flight: Vec::new(),
            prefetched: Vec::new(),
            inserts: PendingInserts::default(),
            has_sent_commit: false,
            control: None,
            transaction: TransactionState::Autocommit,
            had_conflict: false,
        };
        connection.set_up_session()?;
        connection.check_server()?;
        Ok(connection)
    }

    /// Waits for the answer to a statement, which is sent after those that are unsent.
    fn run<T>(&mut self, sql: &str, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        let limit = self.time_limit()?;
        self.wait_for_all(limit, answer).map_err(|error| match error {
            PipelineError::Earlier(fault) => fault,
            PipelineError::Own(error) => self.statement_fault(sql, error),
        })
    }

    /// Fails if nobody waits for the statement any more.
    fn time_limit(&self) -> Result<Duration, Fault> {
        if self.client.is_closed() {
            return Err(Fault::new(format!("the connection to PostgreSQL at {} is lost", self.target)).into_transient());
        }
        let limit = match &self.control {
            Some(control) => control.remaining_time(),
            None => Some(self.limits.answer()),
        };
        limit.ok_or_else(nobody_waits)
    }

    fn statement_fault(&mut self, sql: &str, error: WaitError) -> Fault {
        match error {
            WaitError::TimedOut(limit) => {
                let seconds = limit.as_secs_f64();
                Fault::new(format!("running {sql:?}: no answer within {seconds:.1} s")).into_transient()
            }
            WaitError::Server(error) => {
                let clashes = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
                self.had_conflict |= error.code().is_some_and(|code| clashes.contains(code));
                let passing = is_transient(&error);
                let fault = Fault::from_cause(format!("running {sql:?}"), error);
                if passing { fault.into_transient() } else { fault }
            }
        }
    }

    /// Of a statement whose answer was not waited for. If it broke a unique index, another transaction has inserted the
    /// row since this one looked for it.
    fn deferred_fault(&mut self, sql: &str, error: Error) -> Fault {
        self.had_conflict |= error.code() == Some(&SqlState::UNIQUE_VIOLATION);
        self.statement_fault(sql, WaitError::Server(error))
    }

    fn prepare_cached(&mut self, sql: &str) -> Result<Statement, Fault> {
        match self.transaction {
            TransactionState::SingleStatement { has_run: true } | TransactionState::NeedsSnapshot => {
                self.transaction = TransactionState::NeedsSnapshot;
                return Err(Fault::new("the read needs a snapshot"));
            }
            TransactionState::SingleStatement { has_run: false } => {
                self.transaction = TransactionState::SingleStatement { has_run: true };
            }
            TransactionState::Autocommit | TransactionState::Open => {}
        }
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let client = Arc::clone(&self.client.client);
        let translated = dialect::statement_to_postgres(sql);
        let statement = self.run(sql, client.prepare(&translated))?;
        self.statements.put(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(crate) fn for_each_row(
        &mut self,
        sql: &str,
        args: &[SqlValue<'_>],
        read: &mut RowReader<'_>,
    ) -> Result<(), Fault> {
        self.send_inserts()?;
        self.forget_before(sql);
        if self.read_prefetched(sql, None, args, read)? {
            return Ok(());
        }
        let statement = self.prepare_cached(sql)?;
        let args = to_sql_params(args);
        self.run_query(sql, &statement, &args, read)
    }

    pub(crate) fn for_each_key(
        &mut self,
        sql: &str,
        keys: &[i64],
        more: &[SqlValue<'_>],
        read: &mut RowReader<'_>,
    ) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        self.send_inserts()?;
        self.forget_before(sql);
        if self.read_prefetched(sql, Some(keys), more, read)? {
            return Ok(());
        }
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
        read: &mut RowReader<'_>,
    ) -> Result<(), Fault> {
        let client = Arc::clone(&self.client.client);
        let rows = self.run(sql, client.query(statement, args))?;
        read_rows(sql, rows.iter(), read)
    }

    pub(crate) fn exec(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<u64, Fault> {
        self.forget_prefetched();
        self.send_inserts()?;
        let statement = self.prepare_cached(sql)?;
        let args = to_sql_params(args);
        let client = Arc::clone(&self.client.client);
        self.run(sql, client.execute(&statement, &args))
    }

    /// Begins with the next statement.
    fn begin(&mut self, begin: &str) {
        self.unsent_begin = Some(self.unsent.len());
        self.unsent.push_str(begin);
        self.unsent.push_str("; ");
        self.transaction = TransactionState::Open;
        self.had_conflict = false;
        self.has_sent_commit = false;
    }

    /// Whether the transaction began; one without a statement did not.
    fn has_begun(&mut self) -> bool {
        self.transaction = TransactionState::Autocommit;
        let unsent_begin = self.unsent_begin.take();
        self.unsent.truncate(unsent_begin.unwrap_or(0));
        unsent_begin.is_none()
    }

    /// Runs the statement before the next one, in the same round trip; not at all if none follows.
    pub(crate) fn run_with_next(&mut self, sql: &str) {
        self.forget_prefetched();
        self.unsent.push_str(sql);
        self.unsent.push_str("; ");
    }

    /// Fails if nothing was committed, or if that is unknown because the answer was lost.
    fn commit(&mut self, node: Option<NodeIdentity>) -> Result<(), Fault> {
        self.send_inserts()?;
        if !self.has_begun() {
            return Ok(());
        }
        if self.control.as_ref().is_some_and(|control| !control.start_commit()) {
            return Err(nobody_waits());
        }
        let limit = self.time_limit()?.saturating_add(COMMIT_GRACE);
        self.has_sent_commit = true;
        let client = Arc::clone(&self.client.client);
        let sql = commit_sql(node);
        // If a statement failed that was sent before, the server rolls back.
        let committed = self.wait_for_all(limit, client.batch_execute(&sql));
        self.forget_pipeline();
        committed.map_err(|error| match error {
            PipelineError::Earlier(fault) => fault,
            PipelineError::Own(error) if is_lease_lost(&error) => lease_lost(),
            PipelineError::Own(error) => self.statement_fault("COMMIT", error),
        })
    }

    fn roll_back(&mut self) -> Result<(), Fault> {
        self.inserts.clear();
        let ended = if self.has_begun() { self.batch_execute("ROLLBACK") } else { Ok(()) };
        self.forget_pipeline();
        ended
    }

    /// Ends a read's transaction.
    fn commit_with_next(&mut self) {
        self.forget_pipeline();
        if self.has_begun() {
            self.unsent.push_str("COMMIT; ");
        }
    }

    fn send_unsent(&mut self) -> Result<(), Fault> {
        let unsent = std::mem::take(&mut self.unsent);
        if unsent.is_empty() { Ok(()) } else { self.batch_execute(&unsent) }
    }

    fn batch_execute(&mut self, sql: &str) -> Result<(), Fault> {
        let client = Arc::clone(&self.client.client);
        self.run(sql, client.batch_execute(sql))
    }
}

fn read_rows<'r>(
    sql: &str,
    rows: impl Iterator<Item = &'r Row> + Clone,
    read: &mut RowReader<'_>,
) -> Result<(), Fault> {
    RowBudget::start_statement().count_rows(rows.clone().count(), sql)?;
    for row in rows {
        if !read(&mut RowCells::new(&SqlRow::Postgres(row)))? {
            break;
        }
    }
    Ok(())
}

fn nobody_waits() -> Fault {
    Fault::new("nobody waits for the transaction any more").into_transient()
}

/// Whether the server is unavailable or out of resources: the connection broke, or the SQLSTATE is in class 08
/// (connection), 53 (resources) or 57 (shutdown, statement over its time limit), or says that a lock was not granted
/// in time (55P03) or that the transaction was idle for too long (25P03).
fn is_transient(error: &Error) -> bool {
    let classes = ["08", "53", "57", "55P03", "25P03"];
    let broken = error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
    broken
        || error.is_closed()
        || error.code().is_some_and(|state| classes.iter().any(|class| state.code().starts_with(class)))
}

fn to_sql_params<'a>(args: &'a [SqlValue<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    args.iter().map(|arg| -> &(dyn ToSql + Sync) { arg }).collect()
}
