//! Opening a store: the lock, the schema, the keys, the floor of ids.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use base::encryption::Keyring;
use base::id::IdGenerator;
use base::{Clock, Error, Fault, Rng};
use tokio::sync::{oneshot, watch};

use crate::context::StoreContext;
use crate::db::{AppliedMigration, Database, DatabaseLocation, MigrationStatus, TransactionWork, sqlite};
use crate::{event_log, meta, user_search};

/// Users whose words are put in at once, in a database that is older than the words.
const BACKFILL_BATCH: i64 = 1000;

/// How a store is opened.
pub struct StoreOptions {
    /// Where the data is.
    pub location: DatabaseLocation,
    /// The data folder: its lock keeps a second process out of a SQLite file.
    pub data_dir: PathBuf,
    /// Readers on SQLite, connections on PostgreSQL.
    pub connections: usize,
    /// This node's number, 0–1023; part of every id.
    pub node: u16,
    /// Whether missing migrations are applied.
    pub migrate: bool,
    /// The platform's clock.
    pub clock: Clock,
    /// The source of random bytes.
    pub rng: Rng,
    /// The keys that secrets are encrypted with.
    pub keyring: Keyring,
}

/// An open store.
pub struct Store {
    db: Database,
    context: Arc<StoreContext>,
    location: DatabaseLocation,
    /// Migrations that were applied when it was opened.
    pub applied_migrations: Vec<AppliedMigration>,
    lock: File,
}

impl Store {
    /// Opens a store. Refuses, without touching anything, when another process has the folder,
    /// when the schema is newer than this program, or when the master key is not the one that
    /// the stored secrets were encrypted with.
    pub async fn open(options: StoreOptions) -> Result<Self, Fault> {
        let store = run_blocking(move || Self::connect_database(options)).await?;
        let Err(stop) = store.initialize().await else {
            return Ok(store);
        };
        // Closed in order, the files are left as they were found.
        run_blocking(move || {
            store.close();
            Ok(())
        })
        .await?;
        Err(error_to_fault(stop))
    }

    fn connect_database(options: StoreOptions) -> Result<Self, Fault> {
        let lock = lock_data_folder(&options)?;
        let known = Database::migration_status(&options.location)?;
        let missing = known.iter().filter(|migration| migration.applied_at.is_none()).count();
        if missing > 0 && !options.migrate {
            return Err(Fault::new(format!(
                "{missing} migrations are missing: run `locum migrate up`"
            )));
        }
        let ids = IdGenerator::new(options.clock.clone(), options.node, 0);
        let context = Arc::new(StoreContext {
            clock: options.clock,
            rng: options.rng,
            ids,
            keyring: options.keyring,
            credentials_version: AtomicU64::new(0),
            delivery_commits: watch::Sender::new(0),
            log_base: AtomicI64::new(0),
        });
        let open = || Database::open(&options.location, options.connections, options.node, &context);
        let mut applied = Vec::new();
        if missing > 0 {
            if missing < known.len() {
                // A wrong key is found out before anything is changed.
                let db = open()?;
                let checked = db.read_blocking(|tx| Ok(meta::verify_master_key(tx)?));
                db.close();
                checked.map_err(error_to_fault)?;
            }
            applied = Database::migrate(&options.location, context.clock.now().ms())?;
        }
        let db = open()?;
        Ok(Self {
            db,
            context,
            location: options.location,
            applied_migrations: applied,
            lock,
        })
    }

    /// What is applied and what is missing, without touching anything.
    pub async fn migration_status(location: DatabaseLocation) -> Result<Vec<MigrationStatus>, Fault> {
        run_blocking(move || Database::migration_status(&location)).await
    }

    async fn initialize(&self) -> Result<(), Error> {
        let floor = self.read(|tx| Ok(meta::highest_id(tx)?)).await?;
        self.context.ids.raise_floor(floor);
        self.write(|tx| Ok(meta::ensure_master_key(tx)?)).await?;
        let base = self.write(|tx| Ok(event_log::update_seq_base(tx)?)).await?;
        self.context.log_base.store(base, Ordering::Relaxed);
        while self
            .write(|tx| Ok(user_search::backfill_words(tx, BACKFILL_BATCH)?))
            .await?
        {}
        Ok(())
    }

    /// Runs `work` in a transaction; answers once it is on disk.
    pub async fn write<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        self.db.write(work).await
    }

    /// Runs `work` that changes nothing.
    pub async fn read<T: Send + 'static>(&self, work: impl TransactionWork<T>) -> Result<T, Error> {
        self.db.read(work).await
    }

    /// Changes whenever the log got longer through this process.
    pub fn subscribe_events(&self) -> watch::Receiver<u64> {
        self.db.appended.clone()
    }

    /// Changes whenever this process put something into the queue of a webhook.
    pub fn subscribe_deliveries(&self) -> watch::Receiver<u64> {
        self.context.delivery_commits.subscribe()
    }

    /// Time, chance, ids and keys.
    pub fn context(&self) -> &StoreContext {
        &self.context
    }

    /// Whether other processes may write to the same database.
    pub fn is_shared(&self) -> bool {
        self.db.is_server
    }

    /// Copies a SQLite file, as of one moment and while it is being written to, into a new file;
    /// answers its size in bytes.
    pub async fn backup(&self, to: PathBuf) -> Result<u64, Fault> {
        let location = self.location.clone();
        run_blocking(move || match location {
            DatabaseLocation::File(from) => sqlite::copy_database(&from, &to),
            DatabaseLocation::Server(_) => Err(Fault::new("a database server is copied with its own tools")),
        })
        .await
    }

    /// What is wrong with a SQLite file, page by page; nothing for a server, which checks its own.
    pub async fn check_integrity(&self) -> Result<Vec<String>, Fault> {
        let location = self.location.clone();
        run_blocking(move || match location {
            DatabaseLocation::File(path) => sqlite::check_integrity(&path),
            DatabaseLocation::Server(_) => Ok(Vec::new()),
        })
        .await
    }

    /// Waits for what is under way and closes every connection.
    pub fn close(self) {
        self.db.close();
        drop(self.lock);
    }
}

fn error_to_fault(stop: Error) -> Fault {
    match stop {
        Error::Failed(fault) => fault,
        Error::Refused(refusal) => Fault::new(format!("opening the store: {refusal:?}")),
    }
}

/// Connecting blocks, and may not be done where asynchronous work is driven.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Result<T, Fault> {
    let (reply, answer) = oneshot::channel();
    let run = move || drop(reply.send(work()));
    let thread = std::thread::Builder::new().name("store-open".to_owned()).spawn(run);
    thread.map_err(Fault::context("starting a thread"))?;
    answer
        .await
        .unwrap_or_else(|_| Err(Fault::new("opening the store panicked")))
}

/// The data folder's lock.
fn lock_data_folder(options: &StoreOptions) -> Result<File, Fault> {
    std::fs::create_dir_all(&options.data_dir).map_err(Fault::context("creating the data folder"))?;
    let path = options.data_dir.join("locum.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(Fault::context("opening the lock"))?;
    let taken = fs4::FileExt::try_lock(&file);
    taken.map_err(|error| {
        Fault::from_cause(
            format!("another process has {} open", options.data_dir.display()),
            error,
        )
    })?;
    Ok(file)
}
