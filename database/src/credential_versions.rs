//! Which cached credentials are outdated, without a list of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::{AppId, UserId};
use parking_lot::Mutex;

/// Keys that share a slot invalidate each other's credentials, which are then only loaded again.
const SLOTS: usize = 1 << 16;

/// What a credential depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKey {
    App(AppId),
    User(UserId),
    /// The first eight bytes of the token's digest.
    Token(i64),
    /// All tokens of one authorization.
    TokenFamily(i64),
}

impl CredentialKey {
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        Self::Token(digest.first_chunk().map_or(0, |start| i64::from_be_bytes(*start)))
    }

    /// As stored: a number for the kind, from 1, and the subject.
    pub(crate) const fn to_columns(self) -> (i64, i64) {
        match self {
            Self::App(id) => (1, id.get()),
            Self::User(id) => (2, id.get()),
            Self::Token(prefix) => (3, prefix),
            Self::TokenFamily(family) => (4, family),
        }
    }

    /// None for a kind that this version does not know.
    pub(crate) const fn from_columns(kind: i64, subject: i64) -> Option<Self> {
        match kind {
            1 => Some(Self::App(AppId::new(subject))),
            2 => Some(Self::User(UserId::new(subject))),
            3 => Some(Self::Token(subject)),
            4 => Some(Self::TokenFamily(subject)),
            _ => None,
        }
    }

    /// Fibonacci hashing: ids of one kind differ in few bits.
    fn slot_index(self) -> usize {
        let (kind, subject) = self.to_columns();
        let mixed = subject.wrapping_add(kind << 32).wrapping_mul(-0x61c8_8646_80b5_83eb).cast_unsigned();
        usize::try_from(mixed >> 48).unwrap_or(0)
    }
}

/// Numbers the changes, and stores for each key the number of its last change. A credential is valid if none of its
/// keys has changed since the number that was current before it was loaded.
pub struct CredentialVersions {
    current: AtomicU64,
    /// Credentials loaded earlier are invalid, whatever their keys.
    floor: AtomicU64,
    slots: Box<[AtomicU64]>,
    /// When a reading of other nodes' changes began that found no more of them.
    complete_at: Mutex<Option<Instant>>,
}

impl Default for CredentialVersions {
    fn default() -> Self {
        let slots = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        Self { current: AtomicU64::new(0), floor: AtomicU64::new(0), slots, complete_at: Mutex::new(None) }
    }
}

impl CredentialVersions {
    /// To be read before a credential is loaded.
    pub fn current(&self) -> u64 {
        self.current.load(Ordering::SeqCst)
    }

    pub fn is_valid(&self, version: u64, keys: &[CredentialKey]) -> bool {
        let is_unchanged = |key: &CredentialKey| {
            let slot = self.slots.get(key.slot_index());
            slot.is_some_and(|changed| changed.load(Ordering::SeqCst) <= version)
        };
        version >= self.floor.load(Ordering::SeqCst) && keys.iter().all(is_unchanged)
    }

    /// Raises the current version, also without keys. To be called when the change is visible to new transactions: a
    /// credential that is loaded with the raised version contains it.
    pub fn invalidate(&self, keys: &[CredentialKey]) {
        let version = self.current.fetch_add(1, Ordering::SeqCst) + 1;
        for key in keys {
            if let Some(slot) = self.slots.get(key.slot_index()) {
                slot.fetch_max(version, Ordering::SeqCst);
            }
        }
    }

    pub fn invalidate_all(&self) {
        let version = self.current.fetch_add(1, Ordering::SeqCst) + 1;
        self.floor.fetch_max(version, Ordering::SeqCst);
    }

    pub(crate) fn set_complete_at(&self, time: Instant) {
        *self.complete_at.lock() = Some(time);
    }

    /// Whether all changes that other nodes committed this long ago are known.
    pub fn is_complete_within(&self, age: Duration) -> bool {
        let complete_at = *self.complete_at.lock();
        complete_at.is_some_and(|time| monotonic_now().saturating_duration_since(time) <= age)
    }
}

#[cfg(test)]
mod tests {
    use base::UserId;

    use super::{CredentialKey, CredentialVersions};

    #[test]
    fn change_of_a_key_invalidates_what_depends_on_it_and_nothing_else() {
        let versions = CredentialVersions::default();
        let keys: Vec<_> = (1..=1_000).map(|id| CredentialKey::User(UserId::new(id))).collect();
        let loaded = versions.current();
        versions.invalidate(&[CredentialKey::TokenFamily(7), keys[0]]);
        let outdated: Vec<_> = keys.iter().filter(|key| !versions.is_valid(loaded, &[**key])).collect();
        assert!(outdated.contains(&&keys[0]) && outdated.len() < 5, "{outdated:?}");
        assert!(!versions.is_valid(loaded, &[keys[500], CredentialKey::TokenFamily(7)]));
        assert!(versions.is_valid(versions.current(), &[keys[0]]));
        versions.invalidate_all();
        assert!(!versions.is_valid(loaded, &[keys[500]]));
    }

    #[test]
    fn keys_are_stored_and_read_again() {
        let digest = [200; 32];
        for key in [
            CredentialKey::App(base::AppId::new(1)),
            CredentialKey::User(UserId::new(i64::MAX)),
            CredentialKey::from_digest(&digest),
            CredentialKey::TokenFamily(3),
        ] {
            let (kind, subject) = key.to_columns();
            assert_eq!(CredentialKey::from_columns(kind, subject), Some(key));
        }
    }
}
