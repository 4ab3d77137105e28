//! Dependencies that every transaction shares.

use std::sync::atomic::{AtomicI64, AtomicU64};

use base::encryption::Keyring;
use base::id::IdGenerator;
use base::{Clock, Rng};
use tokio::sync::watch;

pub struct StoreContext {
    pub clock: Clock,
    pub rng: Rng,
    pub ids: IdGenerator,
    pub keyring: Keyring,
    /// Raised by every commit that may change the meaning of a credential; caches of resolved credentials are valid
    /// for one version.
    pub credentials_version: AtomicU64,
    /// Counts the commits that produced webhook deliveries.
    pub(crate) delivery_commits: watch::Sender<u64>,
    /// Added to a transaction's number to form log sequence numbers on PostgreSQL.
    pub(crate) log_base: AtomicI64,
}
