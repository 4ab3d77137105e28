//! Dependencies that every transaction shares.

use base::encryption::Keyring;
use base::id::IdGenerator;
use base::{Clock, Fault, Rng};
use tokio::sync::watch;

use crate::annotations::CatalogueCache;
use crate::credential_versions::CredentialVersions;
use crate::nodes::NodeLease;

pub struct StoreContext {
    pub clock: Clock,
    pub rng: Rng,
    pub ids: IdGenerator,
    pub keyring: Keyring,
    pub credential_versions: CredentialVersions,
    pub node: NodeLease,
    pub annotations: CatalogueCache,
    /// What background work draws from. In a development world, requests would otherwise get other random numbers
    /// depending on when it runs.
    pub(crate) background_rng: Rng,
    /// Counts the commits that produced webhook deliveries.
    pub(crate) delivery_commits: watch::Sender<u64>,
    /// Counts how often the clock of the world was set.
    pub(crate) clock_changes: watch::Sender<u64>,
}

impl StoreContext {
    pub(crate) fn rng_for(&self, is_background: bool) -> &Rng {
        if is_background { &self.background_rng } else { &self.rng }
    }
}

/// Another generator if `rng` is seeded and the clock is that of a development world.
pub(crate) fn background_rng(clock: &Clock, rng: &Rng) -> Result<Rng, Fault> {
    match (clock, rng) {
        (Clock::World(_), Rng::Seeded(_) | Rng::Marked(..)) => Ok(rng.keyed(rng.random_bytes()?)),
        _ => Ok(rng.clone()),
    }
}
