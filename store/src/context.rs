//! What every transaction carries beside its connection.

use std::sync::atomic::{AtomicI64, AtomicU64};

use base::encryption::Keyring;
use base::id::IdGenerator;
use base::{Clock, Rng};
use tokio::sync::watch;

/// Time, chance, ids and keys: the world that a store lives in.
pub struct StoreContext {
    /// The platform's clock.
    pub clock: Clock,
    /// The source of random bytes.
    pub rng: Rng,
    /// The issuer of ids.
    pub ids: IdGenerator,
    /// The keys that secrets are encrypted with.
    pub keyring: Keyring,
    /// Raised by every commit after which a credential may mean something else. What was worked
    /// out from credentials at another version is worked out again.
    pub credentials_version: AtomicU64,
    /// Counts the commits after which something is to be sent to webhooks.
    pub(crate) delivery_commits: watch::Sender<u64>,
    /// What the log adds to a transaction's number on a database server.
    pub(crate) log_base: AtomicI64,
}
