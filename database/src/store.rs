//! Opening of a store: folder lock, migrations, master key, and lower bound of ids.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::clock_mode::ClockMode;
use base::encryption::Keyring;
use base::id::{IdGenerator, snowflake_time};
use base::{Clock, Error, Fault, Refusal, Rng};
use fs4::TryLockError;
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::annotations::CatalogueCache;
use crate::background_pause::ActivityClock;
use crate::context::{StoreContext, background_rng};
use crate::credential_versions::CredentialVersions;
use crate::database::Database;
use crate::job::{ErasedJobFuture, ErasedWork};
use crate::nodes::{NodeLease, NodePurpose};
use crate::{
    AppliedMigration, CopiedRows, DatabaseLocation, JobFuture, MigrationStatus, TransactionWork, Tx, event_log, meta,
    sqlite, user_words,
};

/// How often the end of the log is looked for while entries wait for their place.
const LOG_END_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Users per batch when a database from before the search index is indexed.
const BACKFILL_BATCH: i64 = 1000;
/// As far as many ids of one moment may be.
const MAX_IDS_AHEAD_MS: i64 = 1000;

pub struct StoreOptions {
    pub location: DatabaseLocation,
    /// The data folder; its lock file excludes a second process.
    pub data_dir: PathBuf,
    /// Readers on SQLite. On PostgreSQL, connections for reads of requests; as many for background work, and twice as
    /// many for writes of requests.
    pub connections: usize,
    /// 0–1023; part of every id. On PostgreSQL another number is taken while a live node holds this one.
    pub node: u16,
    pub purpose: NodePurpose,
    /// Whether to apply missing migrations.
    pub migrate: bool,
    pub clock: Clock,
    pub rng: Rng,
    pub keyring: Keyring,
}

pub struct Store {
    pub(crate) db: Database,
    pub(crate) activity: ActivityClock,
    context: Arc<StoreContext>,
    location: DatabaseLocation,
    data_dir: PathBuf,
    /// Migrations applied when the store was opened.
    pub applied_migrations: Vec<AppliedMigration>,
    /// None once the store is closed.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Fails without changing anything if another process uses the folder, if the schema is too new for this program,
    /// or if the master key is not the one that the stored secrets were encrypted with.
    pub async fn open(options: StoreOptions) -> Result<Self, Fault> {
        let store = run_blocking(move || Self::connect_database(options)).await?;
        let Err(error) = store.initialize().await else {
            return Ok(store);
        };
        // Close in order, so that the files are left as they were.
        run_blocking(move || {
            store.close();
            Ok(())
        })
        .await?;
        Err(error_to_fault(error))
    }

    /// Changes a copy of a SQLite database that nothing has open, in one transaction, after the migrations that it
    /// lacks. Much faster than opening it, but not durable: after an error or a power failure, the copy is to be made
    /// again. Blocks.
    pub fn edit_copy<T>(
        options: &StoreOptions,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let DatabaseLocation::File(path) = &options.location else {
            return Err(Fault::new("only files can be copied").into());
        };
        sqlite::edit_copy(path, &new_context(options)?, work)
    }

    /// Copies a SQLite database into the PostgreSQL database of `options`, which must not contain a network. No other
    /// process may use the file. Blocks.
    pub fn import_sqlite(options: &StoreOptions, from: &Path) -> Result<CopiedRows, Fault> {
        let _lock = lock_data_folder(&options.data_dir)?;
        if !from.exists() {
            return Err(Fault::new(format!("there is no SQLite database {}", from.display())));
        }
        let context = Arc::new(new_context(options)?);
        verify_stored_key(&DatabaseLocation::File(from.to_owned()), &options.data_dir, &context)?;
        Database::import_sqlite(from, &options.location, &options.data_dir, context.clock.now().ms())
    }

    fn connect_database(options: StoreOptions) -> Result<Self, Fault> {
        let lock = lock_data_folder(&options.data_dir)?;
        let migrations = Database::migration_status(&options.location, Some(&options.data_dir))?;
        let missing: Vec<_> = migrations.iter().filter(|migration| migration.applied_at.is_none()).collect();
        let is_usable = missing.iter().all(|migration| migration.is_contraction);
        let missing = missing.len();
        if !is_usable && !options.migrate {
            return Err(Fault::new(format!("{missing} migrations are missing: run `locum migrate up`")));
        }
        let context = Arc::new(new_context(&options)?);
        let open = |node| Database::open(&options.location, &options.data_dir, options.connections, node, &context);
        let mut applied = Vec::new();
        if missing > 0 && options.migrate {
            if missing < migrations.len() {
                // Detect a wrong key before anything is changed.
                verify_stored_key(&options.location, &options.data_dir, &context)?;
            }
            applied = Database::migrate(&options.location, &options.data_dir, context.clock.now().ms())?;
        }
        let mut db = open(Some((options.node, options.purpose)))?;
        // The schema is up to date only now. A seeded generator would give several processes one name.
        db.start_event_listener(Rng::Os.random_token(16)?)?;
        let StoreOptions { location, data_dir, .. } = options;
        let lock = Mutex::new(Some(lock));
        Ok(Self { db, activity: ActivityClock::new(), context, location, data_dir, applied_migrations: applied, lock })
    }

    /// Changes nothing.
    pub async fn migration_status(location: DatabaseLocation) -> Result<Vec<MigrationStatus>, Fault> {
        run_blocking(move || Database::migration_status(&location, None)).await
    }

    /// Whether the keys decrypt what is stored, which is an error if they do not; false for a new database. Changes nothing,
    /// and does not need the lock of the data folder.
    pub async fn verify_master_key(options: StoreOptions) -> Result<bool, Fault> {
        run_blocking(move || verify_stored_key(&options.location, &options.data_dir, &Arc::new(new_context(&options)?)))
            .await
    }

    /// Whether the database has been used by a network. Changes nothing.
    pub async fn has_network(location: DatabaseLocation) -> Result<bool, Fault> {
        run_blocking(move || Database::has_network(&location)).await
    }

    /// Whether the database is a server that refuses writes. Changes nothing.
    pub async fn is_read_only(location: DatabaseLocation) -> Result<bool, Fault> {
        run_blocking(move || Database::is_read_only(&location)).await
    }

    async fn initialize(&self) -> Result<(), Error> {
        let floor = self.read(|tx| Ok(meta::highest_id(tx)?)).await?;
        self.context.ids.raise_floor(floor);
        self.restore_clock(snowflake_time(floor)).await?;
        self.warn_of_slow_clock(floor);
        self.write(|tx| Ok(meta::ensure_master_key(tx)?)).await?;
        while self.write(|tx| Ok(user_words::backfill(tx, BACKFILL_BATCH)?)).await? {}
        Ok(())
    }

    /// Ids go on above the newest one, and times are read from them.
    fn warn_of_slow_clock(&self, newest: i64) {
        let clock = &self.context.clock;
        let ahead_ms = snowflake_time(newest).ms().saturating_sub(clock.now().ms());
        if clock.mode() == ClockMode::Live && ahead_ms > MAX_IDS_AHEAD_MS {
            let seconds = ahead_ms / 1000;
            tracing::warn!(seconds, "the newest post or user is ahead of the clock: new ones get its time until then");
        }
    }

    /// Runs `work` in a transaction; returns once it is durable. Fails at once while this node has no valid lease.
    pub fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> JobFuture<'_, T> {
        JobFuture::new(self.run_job(ErasedWork::new(work), true))
    }

    /// Runs read-only `work`.
    pub fn read<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> JobFuture<'_, T> {
        JobFuture::new(self.run_job(ErasedWork::new(work), false))
    }

    fn run_job(&self, work: ErasedWork, is_write: bool) -> ErasedJobFuture<'_> {
        Box::pin(async move {
            if is_write {
                self.context.node.identity_for_write()?;
            }
            self.db.run_job(work, is_write).await
        })
    }

    /// The end of the event log, when it has everything that was committed before; refused as unavailable after `limit`.
    /// What a transaction took longer than several seconds to commit may be missing.
    pub async fn wait_for_log_end(&self, limit: Duration) -> Result<i64, Error> {
        let mut appended = self.subscribe_events();
        let deadline = Instant::now() + limit;
        let mut newest = i64::MAX;
        loop {
            appended.mark_unchanged();
            let (end, pending) = self.read(move |tx| Ok(event_log::find_end(tx, newest)?)).await?;
            let Some(pending) = pending else {
                return Ok(end);
            };
            newest = pending;
            if Instant::now() >= deadline {
                return Err(Refusal::Unavailable.into());
            }
            // A notification may be lost.
            drop(timeout_at(deadline.min(Instant::now() + LOG_END_POLL_INTERVAL), appended.changed()).await);
        }
    }

    /// Changes when there may be new entries in the event log, whoever appended them.
    pub fn subscribe_events(&self) -> watch::Receiver<u64> {
        self.db.appended.clone()
    }

    /// Changes with every commit of this process that enqueues webhook deliveries.
    pub fn subscribe_deliveries(&self) -> watch::Receiver<u64> {
        self.context.delivery_commits.subscribe()
    }

    pub fn context(&self) -> &StoreContext {
        &self.context
    }

    /// Whether other processes may write to the same database.
    pub fn is_shared(&self) -> bool {
        self.db.is_server
    }

    /// Jobs that wait for a connection to the database, by queue.
    pub fn count_waiting_jobs(&self) -> Vec<(&'static str, usize)> {
        self.db.count_waiting()
    }

    /// Bytes that can still be written to the data folder.
    pub fn available_space(&self) -> Result<u64, Fault> {
        fs4::available_space(&self.data_dir).map_err(Fault::context("reading the free space of the data folder"))
    }

    /// Copies a snapshot of a SQLite database into a new file, concurrently with writers; returns its size in bytes.
    pub async fn backup(&self, to: PathBuf) -> Result<u64, Fault> {
        let location = self.location.clone();
        run_blocking(move || match location {
            DatabaseLocation::File(from) => sqlite::copy_database(&from, &to),
            DatabaseLocation::Server(_) => {
                Err(Fault::new("backups of PostgreSQL databases are made with its own tools"))
            }
        })
        .await
    }

    /// Runs a script that creates indexes as a migration does, on a database server.
    pub(crate) async fn build_indexes(&self, script: String) -> Result<(), Fault> {
        let (location, data_dir) = (self.location.clone(), self.data_dir.clone());
        run_blocking(move || Database::build_indexes(&location, &data_dir, &script)).await
    }

    /// Problems found in a SQLite file; empty for PostgreSQL.
    pub async fn check_integrity(&self) -> Result<Vec<String>, Fault> {
        let location = self.location.clone();
        run_blocking(move || match location {
            DatabaseLocation::File(path) => sqlite::check_integrity(&path),
            DatabaseLocation::Server(_) => Ok(Vec::new()),
        })
        .await
    }

    /// Waits for running jobs and closes every connection, whoever still holds the store: what they ask of it from now
    /// on fails. Blocks.
    pub fn close(&self) {
        self.db.close();
        drop(self.lock.lock().take());
    }
}

/// False for a new database.
fn verify_stored_key(location: &DatabaseLocation, data_dir: &Path, context: &Arc<StoreContext>) -> Result<bool, Fault> {
    let db = Database::open(location, data_dir, 1, None, context)?;
    let checked = db.read_blocking(|tx| Ok(meta::verify_master_key(tx)?));
    db.close();
    checked.map_err(error_to_fault)
}

fn error_to_fault(error: Error) -> Fault {
    match error {
        Error::Failed(fault) => fault,
        Error::Refused(refusal) => Fault::new(format!("opening the store was refused: {refusal}")),
    }
}

fn new_context(options: &StoreOptions) -> Result<StoreContext, Fault> {
    Ok(StoreContext {
        clock: options.clock.clone(),
        rng: options.rng.clone(),
        ids: IdGenerator::new(options.clock.clone(), options.node, 0),
        keyring: options.keyring.clone(),
        credential_versions: CredentialVersions::default(),
        node: NodeLease::new(options.purpose.roles()),
        annotations: CatalogueCache::default(),
        background_rng: background_rng(&options.clock, &options.rng)?,
        delivery_commits: watch::Sender::new(0),
        clock_changes: watch::Sender::new(0),
    })
}

/// Connecting blocks, so it must not run on an async worker thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Result<T, Fault> {
    let (reply, answer) = oneshot::channel();
    let run = move || drop(reply.send(work()));
    let thread = std::thread::Builder::new().name("store-open".to_owned()).spawn(run);
    thread.map_err(Fault::context("starting a thread"))?;
    answer.await.unwrap_or_else(|_| Err(Fault::new("the thread that opens the store panicked")))
}

/// The cause of a fault when another process holds the lock of a data folder.
#[derive(Debug, thiserror::Error)]
#[error("another process has {} open", .0.display())]
pub struct DataFolderLocked(PathBuf);

/// Excludes other processes until the file is closed. Fails because of [`DataFolderLocked`] if another process holds it.
pub fn lock_data_folder(folder: &Path) -> Result<File, Fault> {
    std::fs::create_dir_all(folder).map_err(Fault::context("creating the data folder"))?;
    let path = folder.join("locum.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(Fault::context("opening the lock file"))?;
    match fs4::FileExt::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Fault::from_cause("locking the data folder", DataFolderLocked(folder.to_owned())))
        }
        Err(TryLockError::Error(error)) => Err(Fault::from_cause("locking the data folder", error)),
    }
}
