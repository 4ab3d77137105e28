//! Migrations of a database that others use at the same time.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::Fault;

use super::PostgresConnection;
use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use crate::value::SqlValue;
use crate::{FromCells, dialect, migrate};

/// Everyone waits who needs a table for which a migration waits.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '2s'";
/// An index that is built concurrently waits for all transactions, and nobody for it.
const INDEX_LOCK_TIMEOUT: &str = "SET lock_timeout = '5min'";
/// How often a lock is asked for that was not granted.
const MAX_ATTEMPTS: usize = 100;
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// A session that waited inside a statement would itself be waited for by an index that is built.
const SCHEMA_LOCK_PAUSE: Duration = Duration::from_millis(100);

const SCHEMA_LOCK_SQL: &str = "SELECT CAST(CAST(pg_try_advisory_lock(7268) AS INTEGER) AS BIGINT)";
const TABLE_SQL: &str =
    "SELECT CAST(COUNT(*) AS BIGINT) FROM pg_tables WHERE tablename = $1 AND schemaname = current_schema()";
/// Each network has an id.
pub(super) const NETWORK_SQL: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM meta WHERE key = 'network_id'";
/// A standby, or made so by a setting.
const READ_ONLY_SQL: &str = "SELECT CAST(CAST(pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' \
    AS INTEGER) AS BIGINT)";
const NODES_BEFORE_SQL: &str = "SELECT number FROM node WHERE schema_version < $1 \
    AND until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) ORDER BY number";
/// Left behind by a build that failed or was interrupted.
const INVALID_INDEX_SQL: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM pg_index \
    WHERE indexrelid = to_regclass($1) AND NOT indisvalid";

pub(crate) struct PostgresMigrator(PostgresConnection);

impl PostgresMigrator {
    pub(crate) fn open(target: &Arc<ConnectionTarget>) -> Result<Self, Fault> {
        PostgresConnection::connect(target, SessionLimits::MIGRATION).map(Self)
    }

    /// False for a database that has only got its schema.
    pub(crate) fn has_network(&mut self) -> Result<bool, Fault> {
        Ok(self.query_count(TABLE_SQL, &["meta".into()])? > 0 && self.query_count(NETWORK_SQL, &[])? > 0)
    }

    pub(crate) fn is_read_only(&mut self) -> Result<bool, Fault> {
        Ok(self.query_count(READ_ONLY_SQL, &[])? > 0)
    }

    fn query<T: FromCells>(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.0.for_each_row(sql, args, &mut |row| {
            all.push(row.read()?);
            Ok(true)
        })?;
        Ok(all)
    }

    fn query_count(&mut self, sql: &str, args: &[SqlValue<'_>]) -> Result<i64, Fault> {
        Ok(self.query(sql, args)?.pop().unwrap_or(0))
    }

    /// Tries again while locks are not granted, or are waited for in a circle. Leaves no transaction open.
    fn repeat_for_locks(&mut self, mut run: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        for attempt in 1.. {
            self.0.had_conflict = false;
            let Err(fault) = run(self) else { break };
            let may_pass = attempt < MAX_ATTEMPTS && (fault.is_transient() || self.0.had_conflict);
            if self.0.batch_execute("ROLLBACK").is_err() || !may_pass {
                return Err(fault);
            }
            tracing::warn!(error = %fault, "a migration waits for others; will retry");
            thread::sleep(RETRY_PAUSE);
        }
        Ok(())
    }

    fn build_index(&mut self, name: &str, statement: &str) -> Result<(), Fault> {
        self.0.batch_execute(INDEX_LOCK_TIMEOUT)?;
        if self.query_count(INVALID_INDEX_SQL, &[name.into()])? > 0 {
            self.0.batch_execute(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))?;
        }
        self.0.batch_execute(statement)
    }
}

impl migrate::MigrationTarget for PostgresMigrator {
    fn lock_schema(&mut self) -> Result<(), Fault> {
        let mut has_waited = false;
        while self.query_count(SCHEMA_LOCK_SQL, &[])? == 0 {
            if !has_waited {
                tracing::info!("waiting for another migration");
            }
            has_waited = true;
            thread::sleep(SCHEMA_LOCK_PAUSE);
        }
        Ok(())
    }

    fn run_script(&mut self, script: &str) -> Result<(), Fault> {
        let script = dialect::to_postgres(script);
        self.0.batch_execute(LOCK_TIMEOUT)?;
        let ran = self.repeat_for_locks(|target| target.0.batch_execute(&script));
        ran.map_err(Fault::context("running a migration"))
    }

    fn build_indexes(&mut self, script: &str) -> Result<(), Fault> {
        let script = dialect::to_postgres(script);
        let script: String = script.split_inclusive('\n').filter(|line| !line.starts_with("--")).collect();
        for statement in script.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            let name = migrate::index_name(statement)
                .ok_or_else(|| Fault::new(format!("{statement:?} does not belong among indexes built concurrently")))?;
            self.repeat_for_locks(|target| target.build_index(name, statement))?;
        }
        Ok(())
    }

    fn applied_migrations(&mut self) -> Result<Vec<migrate::MigrationRow>, Fault> {
        if self.query_count(TABLE_SQL, &["migration".into()])? == 0 {
            return Ok(Vec::new());
        }
        self.query(migrate::LIST_SQL, &[])
    }

    fn compatible_from(&mut self) -> Result<Option<i64>, Fault> {
        let found: Option<String> =
            self.query(migrate::COMPATIBLE_FROM_SQL, &[migrate::COMPATIBLE_FROM_KEY.into()])?.pop();
        migrate::parse_version(found)
    }

    fn nodes_before(&mut self, version: i64) -> Result<Vec<i64>, Fault> {
        self.query(NODES_BEFORE_SQL, &[version.into()])
    }
}
