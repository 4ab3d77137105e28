//! One world: its files, and what serves them while it is open.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use base::{Error, Fault, Refusal, Rng, clock};
use edge::Shutdown;
use emulator::Emulator;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::timeout;
use web::limits::RateLimitMode;

use crate::runtime::ServedWorld;
use instance::ListeningAddresses;
use instance::config::ServerSettings;
use instance::write_private;

/// How long a world waits for the requests that run before it aborts them, and then for their end.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(5);
const MAX_ABORT_TIME: Duration = Duration::from_secs(2);

/// In a further world's folder.
const ORIGIN_FILE: &str = "origin.json";

/// What a world was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorldOrigin {
    /// `demo`, `ads`, `empty` or the name of a snapshot.
    pub(super) from: String,
    /// At the end of the credentials that belong to this world; none for the main world.
    pub(super) mark: Option<String>,
}

impl WorldOrigin {
    pub(super) fn read(folder: &std::path::Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(ORIGIN_FILE)).ok()?).ok()
    }

    pub(super) fn write(&self, folder: &std::path::Path) -> Result<(), Fault> {
        let text = serde_json::to_string(self).map_err(Fault::context("describing the world"))?;
        write_private(&folder.join(ORIGIN_FILE), &text)
    }
}

type CurrentWorld = Option<Arc<ServedWorld>>;
/// While a request holds it, the world stays.
pub(super) type WorldLease = OwnedRwLockReadGuard<CurrentWorld, Arc<ServedWorld>>;
/// Nobody uses the world.
pub(super) type ExclusiveWorld = OwnedRwLockWriteGuard<CurrentWorld>;

pub(super) struct WorldSlot {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) settings: Arc<ServerSettings>,
    /// Where clients meet this world.
    pub(super) listening: ListeningAddresses,
    pub(super) origin: WorldOrigin,
    /// Stays when the world is replaced.
    pub(super) emulator: Option<Arc<Emulator>>,
    current: Arc<RwLock<CurrentWorld>>,
    /// Ends the requests that keep the world from being replaced.
    abort: Mutex<Shutdown>,
    /// Milliseconds since 1970.
    last_use: AtomicI64,
    /// The mode at the last time the world was closed, with which it is opened again; none before.
    rate_limit_mode: Mutex<Option<RateLimitMode>>,
}

impl WorldSlot {
    pub(super) fn new(parts: WorldSlotParts, current: CurrentWorld) -> Arc<Self> {
        let WorldSlotParts { name, folder, settings, listening, origin, emulator } = parts;
        let (current, abort) = (Arc::new(RwLock::new(current)), Mutex::default());
        let last_use = AtomicI64::new(clock::wall_time().ms());
        let rate_limit_mode = Mutex::default();
        Arc::new(Self {
            name,
            folder,
            settings,
            listening,
            origin,
            emulator,
            current,
            abort,
            last_use,
            rate_limit_mode,
        })
    }

    /// None if it is not open or is being replaced.
    pub(super) fn try_lease(&self) -> Option<WorldLease> {
        self.record_use();
        let current = Arc::clone(&self.current).try_read_owned().ok()?;
        OwnedRwLockReadGuard::try_map(current, Option::as_ref).ok()
    }

    /// The main world is never closed for want of use.
    fn record_use(&self) {
        if self.origin.mark.is_some() {
            self.last_use.store(clock::wall_time().ms(), Ordering::Relaxed);
        }
    }

    /// None if it is not open.
    pub(super) async fn lease(&self) -> Option<WorldLease> {
        self.record_use();
        let current = Arc::clone(&self.current).read_owned().await;
        OwnedRwLockReadGuard::try_map(current, Option::as_ref).ok()
    }

    /// The world, if it is open and nothing replaces it.
    pub(super) fn find_open(&self) -> Option<Arc<ServedWorld>> {
        self.current.try_read().ok()?.clone()
    }

    pub(super) fn last_use_ms(&self) -> i64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Triggered when running requests have to end.
    pub(super) fn abort_signal(&self) -> Shutdown {
        self.abort.lock().clone()
    }

    /// Holds new requests until the result is dropped, and waits for those that run, which are aborted after a while.
    pub(super) async fn wait_for_exclusive_use(&self) -> Result<ExclusiveWorld, Error> {
        let mut writing = std::pin::pin!(Arc::clone(&self.current).write_owned());
        if let Ok(exclusive) = timeout(MAX_DRAIN_TIME, &mut writing).await {
            return Ok(exclusive);
        }
        let abort = std::mem::take(&mut *self.abort.lock());
        abort.trigger();
        let busy = |_| {
            let message = format!("The requests that the world {} answers do not end: try again", self.name);
            Error::from(Refusal::forbidden(message))
        };
        timeout(MAX_ABORT_TIME, writing).await.map_err(busy)
    }

    /// None if a request uses it.
    pub(super) fn try_exclusive_use(&self) -> Option<ExclusiveWorld> {
        Arc::clone(&self.current).try_write_owned().ok()
    }

    /// Takes the world out of use; its files can then be moved.
    pub(super) async fn close(&self, world: Arc<ServedWorld>) -> Result<(), Fault> {
        *self.rate_limit_mode.lock() = Some(world.api_server().rate_limit_mode());
        world.stop().await;
        let closing = tokio::task::spawn_blocking(move || world.close_files());
        closing.await.map_err(Fault::context("closing a world"))
    }

    pub(super) fn rate_limit_mode(&self) -> Option<RateLimitMode> {
        *self.rate_limit_mode.lock()
    }

    pub(super) fn blocking_take(&self) -> CurrentWorld {
        self.current.blocking_write().take()
    }
}

pub(super) struct WorldSlotParts {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) settings: Arc<ServerSettings>,
    pub(super) listening: ListeningAddresses,
    pub(super) origin: WorldOrigin,
    pub(super) emulator: Option<Arc<Emulator>>,
}

/// How the store of a world is opened.
pub(super) struct StoreSeed {
    pub(super) rng: Rng,
    /// Ids are issued above it.
    pub(super) id_floor: i64,
}
