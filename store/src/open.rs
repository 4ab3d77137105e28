//! Opening a store: the lock, the schema, the keys, the floor of ids.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use base::id::Ids;
use base::seal::Keyring;
use base::{Chance, Clock, Fault, Stop};
use tokio::sync::{oneshot, watch};

use crate::context::Context;
use crate::db::{Applied, Db, Location, Migration, Work, lite};
use crate::{log, meta, people};

/// Users whose words are put in at once, in a database that is older than the words.
const FILL: i64 = 1000;

/// How a store is opened.
pub struct Options {
    /// Where the data is.
    pub location: Location,
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
    pub chance: Chance,
    /// The keys that secrets are encrypted with.
    pub keyring: Keyring,
}

/// An open store.
pub struct Store {
    db: Db,
    context: Arc<Context>,
    location: Location,
    /// Migrations that were applied when it was opened.
    pub applied: Vec<Applied>,
    lock: File,
}

impl Store {
    /// Opens a store. Refuses, without touching anything, when another process has the folder,
    /// when the schema is newer than this program, or when the master key is not the one that
    /// the stored secrets were encrypted with.
    pub async fn open(options: Options) -> Result<Self, Fault> {
        let store = on_a_thread(move || Self::connect(options)).await?;
        let Err(stop) = store.prepare().await else {
            return Ok(store);
        };
        // Closed in order, the files are left as they were found.
        on_a_thread(move || {
            store.close();
            Ok(())
        })
        .await?;
        Err(fault(stop))
    }

    fn connect(options: Options) -> Result<Self, Fault> {
        let lock = lock(&options)?;
        let known = Db::migration_status(&options.location)?;
        let missing = known
            .iter()
            .filter(|migration| migration.applied_at.is_none())
            .count();
        if missing > 0 && !options.migrate {
            return Err(Fault::new(format!(
                "{missing} migrations are missing: run `locum migrate up`"
            )));
        }
        let ids = Ids::new(options.clock.clone(), options.node, 0);
        let context = Arc::new(Context {
            clock: options.clock,
            chance: options.chance,
            ids,
            keyring: options.keyring,
            credentials: AtomicU64::new(0),
            queued: watch::Sender::new(0),
            log_base: AtomicI64::new(0),
        });
        let open = || {
            Db::open(
                &options.location,
                options.connections,
                options.node,
                &context,
            )
        };
        let mut applied = Vec::new();
        if missing > 0 {
            if missing < known.len() {
                // A wrong key is found out before anything is changed.
                let db = open()?;
                let checked = db.read_now(|tx| Ok(meta::proves_key(tx)?));
                db.close();
                checked.map_err(fault)?;
            }
            applied = Db::migrate(&options.location, context.clock.now().ms())?;
        }
        let db = open()?;
        Ok(Self {
            db,
            context,
            location: options.location,
            applied,
            lock,
        })
    }

    /// What is applied and what is missing, without touching anything.
    pub async fn migration_status(location: Location) -> Result<Vec<Migration>, Fault> {
        on_a_thread(move || Db::migration_status(&location)).await
    }

    async fn prepare(&self) -> Result<(), Stop> {
        let floor = self.read(|tx| Ok(meta::highest_id(tx)?)).await?;
        self.context.ids.stay_above(floor);
        self.write(|tx| Ok(meta::check_key(tx)?)).await?;
        let base = self.write(|tx| Ok(log::settle_base(tx)?)).await?;
        self.context.log_base.store(base, Ordering::Relaxed);
        while self.write(|tx| Ok(people::fill(tx, FILL)?)).await? {}
        Ok(())
    }

    /// Runs `work` in a transaction; answers once it is on disk.
    pub async fn write<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Stop> {
        self.db.write(work).await
    }

    /// Runs `work` that changes nothing.
    pub async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, Stop> {
        self.db.read(work).await
    }

    /// Changes whenever the log got longer through this process.
    pub fn wake(&self) -> watch::Receiver<u64> {
        self.db.wake.clone()
    }

    /// Changes whenever this process put something into the queue of a webhook.
    pub fn queued(&self) -> watch::Receiver<u64> {
        self.context.queued.subscribe()
    }

    /// Time, chance, ids and keys.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether other processes may write to the same database.
    pub fn is_shared(&self) -> bool {
        self.db.server
    }

    /// Copies a SQLite file, as of one moment and while it is being written to, into a new file;
    /// answers its size in bytes.
    pub async fn backup(&self, to: PathBuf) -> Result<u64, Fault> {
        let location = self.location.clone();
        on_a_thread(move || match location {
            Location::File(from) => lite::copy(&from, &to),
            Location::Server(_) => {
                Err(Fault::new("a database server is copied with its own tools"))
            }
        })
        .await
    }

    /// What is wrong with a SQLite file, page by page; nothing for a server, which checks its own.
    pub async fn damage(&self) -> Result<Vec<String>, Fault> {
        let location = self.location.clone();
        on_a_thread(move || match location {
            Location::File(path) => lite::damage(&path),
            Location::Server(_) => Ok(Vec::new()),
        })
        .await
    }

    /// Waits for what is under way and closes every connection.
    pub fn close(self) {
        self.db.close();
        drop(self.lock);
    }
}

fn fault(stop: Stop) -> Fault {
    match stop {
        Stop::Failed(fault) => fault,
        Stop::Refused(refusal) => Fault::new(format!("opening the store: {refusal:?}")),
    }
}

/// Connecting blocks, and may not be done where asynchronous work is driven.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let (reply, answer) = oneshot::channel();
    let run = move || drop(reply.send(work()));
    let thread = std::thread::Builder::new()
        .name("store-open".to_owned())
        .spawn(run);
    thread.map_err(Fault::when("starting a thread"))?;
    answer
        .await
        .unwrap_or_else(|_| Err(Fault::new("opening the store panicked")))
}

/// The data folder's lock.
fn lock(options: &Options) -> Result<File, Fault> {
    std::fs::create_dir_all(&options.data_dir).map_err(Fault::when("creating the data folder"))?;
    let path = options.data_dir.join("locum.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(Fault::when("opening the lock"))?;
    let taken = fs4::FileExt::try_lock(&file);
    taken.map_err(|error| {
        Fault::caused(
            format!("another process has {} open", options.data_dir.display()),
            error,
        )
    })?;
    Ok(file)
}
