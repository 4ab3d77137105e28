//! Dependencies that every transaction shares.

use base::encryption::Keyring;
use base::id::IdGenerator;
use base::{Clock, Rng};
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
    /// Counts the commits that produced webhook deliveries.
    pub(crate) delivery_commits: watch::Sender<u64>,
}
