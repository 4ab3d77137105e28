//! SQLite: one writer that commits all queued jobs together, and a few readers.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::clock::monotonic_now;
use base::{Error, Fault};
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, unbounded};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, params_from_iter};
use tokio::sync::watch;

use super::job::{DatabaseJob, JobQueue};
use super::query_limits::{self, RowBudget};
use super::rows::{RowCells, RowReader};
use super::tx::{CommitEffects, EngineConnection, Tx};
use super::value::{SqlRow, SqlValue};
use super::{dialect, migrate};
use crate::context::StoreContext;

const MAX_COMMIT_JOBS: usize = 256;
/// Bytes of WAL from which it is checkpointed into the file.
const CHECKPOINT_SIZE: u64 = 4 << 20;
/// Bytes of WAL from which the writer itself waits for a checkpoint and truncates it.
const TRUNCATE_SIZE: u64 = 64 << 20;
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(200);
const STATEMENT_CACHE_SIZE: usize = 256;
/// Steps of SQLite's virtual machine, a fraction of a millisecond, between two checks of a query's time.
const PROGRESS_STEPS: std::ffi::c_int = 10_000;

/// How long a connection waits for another that is in its way, such as one of another program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(4);
const TRUNCATE_TIMEOUT: Duration = Duration::from_millis(50);
const TRUNCATE_RETRY_DELAY: Duration = Duration::from_secs(5);

/// Page cache of a connection.
const CACHE_KIB: u32 = 16 * 1024;
/// The writer's page cache: an import touches pages all over the file.
const WRITER_CACHE_KIB: u32 = 64 * 1024;

fn open_connection(path: &Path, cache_kib: u32) -> Result<Connection, Fault> {
    let mut conn = Connection::open(path).map_err(|error| file_fault(path, error))?;
    let limited = conn.progress_handler(PROGRESS_STEPS, Some(query_limits::must_interrupt));
    limited.map_err(Fault::context("limiting the time of queries"))?;
    // Without it every cached statement with a join or a range is planned anew at each run.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(Fault::context("fixing query plans"))?;
    conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    conn.busy_timeout(BUSY_TIMEOUT).map_err(Fault::context("the busy time-out"))?;
    // The file is not mapped: each connection would count its pages again, for little gain.
    conn.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
         PRAGMA mmap_size = 0; PRAGMA cache_size = -{cache_kib}; PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON;"
    ))
    .map_err(|error| file_fault(path, error))?;
    Ok(conn)
}

/// Names the file, what is wrong with it, and what to do.
fn file_fault(path: &Path, error: rusqlite::Error) -> Fault {
    let problem = describe_file_problem(&error).unwrap_or("cannot be opened");
    Fault::from_cause(format!("the database file {} {problem}", path.display()), error)
}

fn describe_file_problem(error: &rusqlite::Error) -> Option<&'static str> {
    match error.sqlite_error_code()? {
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            Some("cannot be written: make it and its directory writable for the user that runs locum")
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            Some("is damaged or no SQLite database: restore a backup with `locum restore`")
        }
        _ => None,
    }
}

pub(crate) fn for_each_row(
    conn: &Connection,
    sql: &str,
    args: &[SqlValue<'_>],
    read: &mut RowReader<'_>,
) -> Result<(), Fault> {
    let mut budget = RowBudget::start_statement();
    let mut statement = conn.prepare_cached(sql).map_err(|error| statement_fault(conn, sql, error))?;
    let mut rows = statement.query(params_from_iter(args)).map_err(|error| statement_fault(conn, sql, error))?;
    while let Some(row) = rows.next().map_err(|error| statement_fault(conn, sql, error))? {
        budget.count_rows(1, sql)?;
        if !read(&mut RowCells::new(&SqlRow::Sqlite(row)))? {
            break;
        }
    }
    Ok(())
}

pub(crate) fn for_each_key(
    conn: &Connection,
    sql: &str,
    keys: &[i64],
    more: &[SqlValue<'_>],
    read: &mut RowReader<'_>,
) -> Result<(), Fault> {
    let mut budget = RowBudget::start_statement();
    let mut statement = conn.prepare_cached(sql).map_err(|error| statement_fault(conn, sql, error))?;
    for key in keys {
        let args = std::iter::once(SqlValue::Int(*key)).chain(more.iter().copied());
        let mut rows = statement.query(params_from_iter(args)).map_err(|error| statement_fault(conn, sql, error))?;
        while let Some(row) = rows.next().map_err(|error| statement_fault(conn, sql, error))? {
            budget.count_rows(1, sql)?;
            if !read(&mut RowCells::new(&SqlRow::Sqlite(row)))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(crate) fn exec(conn: &Connection, sql: &str, args: &[SqlValue<'_>]) -> Result<u64, Fault> {
    RowBudget::start_statement();
    let mut statement = conn.prepare_cached(sql).map_err(|error| statement_fault(conn, sql, error))?;
    let changed = statement.execute(params_from_iter(args)).map_err(|error| statement_fault(conn, sql, error))?;
    Ok(u64::try_from(changed).unwrap_or(u64::MAX))
}

fn statement_fault(conn: &Connection, sql: &str, error: rusqlite::Error) -> Fault {
    let transient = [
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::DiskFull,
        ErrorCode::SystemIoFailure,
        ErrorCode::OperationInterrupted,
    ];
    let is_transient = error.sqlite_error_code().is_some_and(|code| transient.contains(&code));
    let doing = format!("running {sql:?}");
    let fault = match conn.path().filter(|_| describe_file_problem(&error).is_some()) {
        Some(path) => Fault::from_cause(doing, file_fault(Path::new(path), error)),
        None => Fault::from_cause(doing, error),
    };
    if is_transient { fault.into_transient() } else { fault }
}

/// SQLite may roll back the shared transaction when the disk is full or a statement is interrupted; none of its jobs has
/// happened then. A job that was interrupted must not run again, whatever SQLite did.
fn ensure_may_continue(conn: &Connection, failed: &DatabaseJob) -> Result<(), Fault> {
    if conn.is_autocommit() || failed.was_interrupted() {
        return Err(Fault::new("the database gave the transaction up").into_transient());
    }
    Ok(())
}

/// Starts the writer and the thread that checkpoints the WAL.
pub(crate) fn spawn_writer(
    path: &Path,
    context: &Arc<StoreContext>,
    waker: Arc<watch::Sender<u64>>,
) -> Result<(JobQueue, Vec<JoinHandle<()>>), Fault> {
    let conn = open_connection(path, WRITER_CACHE_KIB)?;
    let (queue, jobs) = unbounded();
    let (stop, stopped) = bounded::<()>(0);
    let shared = Arc::clone(context);
    let wal = path.with_extension("db-wal");
    let log = wal.clone();
    let write = spawn_thread("store-writer", move || {
        let keep_folding = stop;
        run_writer(&conn, &jobs, &shared, &waker, &log);
        drop(keep_folding);
        // Readers may still be there; whatever is not folded now is folded at the next start.
        drop(conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);"));
    })?;
    let folder = open_connection(path, CACHE_KIB)?;
    let fold = spawn_thread("store-folder", move || {
        while stopped.recv_timeout(CHECKPOINT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if file_size(&wal) > CHECKPOINT_SIZE {
                checkpoint_wal(&folder, "PASSIVE");
            }
        }
    })?;
    Ok((queue, vec![write, fold]))
}

fn file_size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// Returns false if readers were in the way.
fn checkpoint_wal(conn: &Connection, how: &str) -> bool {
    let result = conn.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| row.get::<_, i64>(0));
    if let Err(error) = &result {
        tracing::warn!(%error, "failed to checkpoint the WAL; will retry");
    }
    matches!(result, Ok(0))
}

/// Commits wait for it, so it does not wait long for a reader that takes minutes, such as a backup.
fn truncate_wal_briefly(conn: &Connection) -> bool {
    let set_timeout = |timeout| {
        if let Err(error) = conn.busy_timeout(timeout) {
            tracing::warn!(%error, "failed to set the busy time-out");
        }
    };
    set_timeout(TRUNCATE_TIMEOUT);
    let is_done = checkpoint_wal(conn, "TRUNCATE");
    set_timeout(BUSY_TIMEOUT);
    is_done
}

fn run_writer(
    conn: &Connection,
    jobs: &Receiver<DatabaseJob>,
    context: &StoreContext,
    waker: &watch::Sender<u64>,
    wal: &Path,
) {
    let mut truncate_from = monotonic_now();
    while let Ok(first) = jobs.recv() {
        let mut done = Vec::with_capacity(MAX_COMMIT_JOBS);
        let (commit, marks) = commit_together(conn, first, jobs, context, &mut done);
        if commit.is_ok() {
            marks.publish(context, waker);
        }
        for job in done {
            job.finish(commit.clone());
        }
        if file_size(wal) > TRUNCATE_SIZE && monotonic_now() >= truncate_from && !truncate_wal_briefly(conn) {
            truncate_from = monotonic_now() + TRUNCATE_RETRY_DELAY;
        }
    }
}

/// Runs the first job and all queued ones, then commits once, so that they share one flush to disk. If a job fails
/// after it has changed something, all of them run again, each in a savepoint; that is rare, and savepoints are
/// expensive. If one took too long, the others run again without it.
fn commit_together(
    conn: &Connection,
    first: DatabaseJob,
    jobs: &Receiver<DatabaseJob>,
    context: &StoreContext,
    done: &mut Vec<DatabaseJob>,
) -> (Result<(), Arc<Fault>>, CommitEffects) {
    done.push(first);
    done.extend(jobs.try_iter().take(MAX_COMMIT_JOBS - 1));
    done.retain(|job| !job.control().is_some_and(|control| control.is_abandoned()));
    loop {
        let mut marks = CommitEffects::default();
        let result = match run_jobs(conn, done, context, &mut marks) {
            Ok(true) => Ok(()),
            Ok(false) => run_with_savepoints(conn, done, context, &mut marks),
            Err(fault) => Err(fault),
        };
        let result = result.and_then(|()| exec(conn, "COMMIT", &[]).map(|_| ()));
        if result.is_err() && !conn.is_autocommit() {
            drop(exec(conn, "ROLLBACK", &[]));
        }
        match done.iter().position(DatabaseJob::was_interrupted) {
            // Its outcome is a fault already.
            Some(position) if result.is_err() => done.remove(position).finish(Ok(())),
            _ => return (result.map_err(Arc::new), marks),
        }
    }
}

/// Returns false if one of the jobs must be rolled back alone.
fn run_jobs(
    conn: &Connection,
    jobs: &mut [DatabaseJob],
    context: &StoreContext,
    marks: &mut CommitEffects,
) -> Result<bool, Fault> {
    exec(conn, "BEGIN IMMEDIATE", &[])?;
    for job in jobs {
        let before = conn.total_changes();
        let mut tx = Tx::for_job(EngineConnection::Sqlite(conn), context, job);
        if job.run(&mut tx) {
            marks.merge(tx.effects);
            continue;
        }
        ensure_may_continue(conn, job)?;
        if conn.total_changes() != before {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Rolls back and runs all jobs again, each in a savepoint.
fn run_with_savepoints(
    conn: &Connection,
    jobs: &mut [DatabaseJob],
    context: &StoreContext,
    marks: &mut CommitEffects,
) -> Result<(), Fault> {
    exec(conn, "ROLLBACK", &[])?;
    exec(conn, "BEGIN IMMEDIATE", &[])?;
    *marks = CommitEffects::default();
    for job in jobs {
        exec(conn, "SAVEPOINT job", &[])?;
        let mut tx = Tx::for_job(EngineConnection::Sqlite(conn), context, job);
        if job.run(&mut tx) {
            marks.merge(tx.effects);
        } else {
            ensure_may_continue(conn, job)?;
            exec(conn, "ROLLBACK TO job", &[])?;
        }
        exec(conn, "RELEASE job", &[])?;
    }
    Ok(())
}

pub(crate) fn spawn_readers(
    path: &Path,
    count: usize,
    context: &Arc<StoreContext>,
) -> Result<(JobQueue, Vec<JoinHandle<()>>), Fault> {
    let (queue, jobs) = unbounded::<DatabaseJob>();
    let threads = (0..count.max(1)).map(|_| {
        let conn = open_connection(path, CACHE_KIB)?;
        conn.execute_batch("PRAGMA query_only = ON;").map_err(Fault::context("a reader"))?;
        let (jobs, context) = (jobs.clone(), Arc::clone(context));
        spawn_thread("store-reader", move || {
            while let Ok(job) = jobs.recv() {
                if !job.control().is_some_and(|control| control.is_abandoned()) {
                    run_read_job(&conn, job, &context);
                }
            }
        })
    });
    Ok((queue, threads.collect::<Result<_, _>>()?))
}

fn run_read_job(conn: &Connection, mut job: DatabaseJob, context: &StoreContext) {
    let begun = exec(conn, "BEGIN", &[]);
    if begun.is_ok() {
        let mut tx = Tx::for_job(EngineConnection::Sqlite(conn), context, &job);
        job.run(&mut tx);
        drop(exec(conn, "COMMIT", &[]));
    }
    job.finish(begun.map(|_| ()).map_err(Arc::new));
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Fault> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Fault::context("starting a thread"))
}

/// Copies a snapshot of a database into a new file; returns its size in bytes.
pub(crate) fn copy_database(from: &Path, to: &Path) -> Result<u64, Fault> {
    if to.exists() {
        return Err(Fault::new(format!("{} is there already", to.display())));
    }
    let name = to.to_str().ok_or_else(|| Fault::new("the path is not UTF-8"))?;
    exec(&open_connection(from, CACHE_KIB)?, "VACUUM INTO $1", &[name.into()])?;
    Ok(file_size(to))
}

/// Runs `work` in a transaction on a file that nothing else has open, after the migrations that it lacks. Without
/// flushes to disk.
pub(crate) fn edit_copy<T>(
    path: &Path,
    context: &StoreContext,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut copy = SqliteMigrator::open(path)?;
    copy.0.execute_batch("PRAGMA synchronous = OFF").map_err(Fault::context("opening a copy"))?;
    migrate::apply_missing(&mut copy, migrate::all_scripts(), context.clock.now().ms())?;
    let conn = copy.0;
    exec(&conn, "BEGIN IMMEDIATE", &[])?;
    let done = work(&mut Tx::new(EngineConnection::Sqlite(&conn), context))?;
    exec(&conn, "COMMIT", &[])?;
    Ok(done)
}

/// Checkpoints and removes the WAL: connections that are closed concurrently may leave it behind.
pub(crate) fn truncate_wal(path: &Path) {
    let tidied = open_connection(path, CACHE_KIB).map(|conn| checkpoint_wal(&conn, "TRUNCATE"));
    if let Err(fault) = tidied {
        tracing::warn!(error = %fault, "failed to checkpoint the WAL on close; the next start does");
    }
}

/// Returns the problems that SQLite's integrity check reports, with the tables or indexes that they are in.
pub(crate) fn check_integrity(path: &Path) -> Result<Vec<String>, Fault> {
    let conn = open_connection(path, CACHE_KIB)?;
    let mut found: Vec<String> = Vec::new();
    let checked = for_each_row(&conn, "PRAGMA integrity_check", &[], &mut |row| {
        found.push(row.read()?);
        Ok(true)
    });
    if let Err(fault) = checked {
        found.push(format!("the check failed: {fault}"));
    }
    // A problem may consist of several lines.
    let lines = found.iter().flat_map(|problem| problem.lines());
    let problems = lines.filter(|line| *line != "ok" && !line.starts_with("***"));
    Ok(problems.map(|problem| name_damaged_tree(&conn, problem)).collect())
}

/// SQLite names a table or an index by its first page: `Tree 12 page 34: …`.
fn name_damaged_tree(conn: &Connection, problem: &str) -> String {
    let root = problem.strip_prefix("Tree ").and_then(|rest| rest.split(' ').next()?.parse::<i64>().ok());
    let sql = "SELECT type || ' ' || name FROM sqlite_schema WHERE rootpage = $1";
    let name = root.and_then(|root| conn.query_row(sql, [root], |row| row.get::<_, String>(0)).ok());
    match name {
        Some(name) => format!("{name}: {problem}"),
        None => problem.to_owned(),
    }
}

pub(crate) struct SqliteMigrator(Connection);

impl SqliteMigrator {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        open_connection(path, CACHE_KIB).map(Self)
    }

    pub(crate) fn into_connection(self) -> Connection {
        self.0
    }
}

impl migrate::MigrationTarget for SqliteMigrator {
    fn lock_schema(&mut self) -> Result<(), Fault> {
        // The data folder's lock does.
        Ok(())
    }

    fn run_script(&mut self, script: &str) -> Result<(), Fault> {
        let script = dialect::to_sqlite(script);
        self.0.execute_batch(&script).map_err(Fault::context("running a migration"))
    }

    fn build_indexes(&mut self, script: &str) -> Result<(), Fault> {
        self.run_script(script)
    }

    fn applied_migrations(&mut self) -> Result<Vec<migrate::MigrationRow>, Fault> {
        let exists = self.0.table_exists(None, "migration").map_err(Fault::context("the schema"))?;
        if !exists {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for_each_row(&self.0, migrate::LIST_SQL, &[], &mut |row| {
            all.push(row.read()?);
            Ok(true)
        })?;
        Ok(all)
    }

    fn compatible_from(&mut self) -> Result<Option<i64>, Fault> {
        let mut found = None;
        for_each_row(&self.0, migrate::COMPATIBLE_FROM_SQL, &[migrate::COMPATIBLE_FROM_KEY.into()], &mut |row| {
            found = Some(row.read()?);
            Ok(false)
        })?;
        migrate::parse_version(found)
    }

    fn nodes_before(&mut self, _version: i64) -> Result<Vec<i64>, Fault> {
        // The lock of the data folder excludes other processes.
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests;
