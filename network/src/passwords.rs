//! Passwords: argon2id at the parameters of security §3.3.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use base::{Fault, Rng, Secret};
use tokio::sync::Semaphore;

/// KiB of memory, passes and lanes: the least that is recommended for sign-in on small machines.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

fn build_argon2() -> Result<Argon2<'static>, Fault> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None)
        .map_err(|error| Fault::new(format!("the password parameters: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The stored form of a password. Takes tens of milliseconds: never inside a transaction.
pub fn hash(password: &str, chance: &Rng) -> Result<String, Fault> {
    let salt = chance.random_bytes::<16>()?;
    build_argon2()?
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|error| Fault::new(format!("hashing a password: {error}")))
}

/// Whether a password is the one that was hashed. Takes as long as [`hash`], whatever is stored.
pub fn verify(password: &str, stored: &str) -> Result<bool, Fault> {
    // What an unknown user's password is compared with, so that it takes as long.
    const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let known = !stored.is_empty();
    let parsed = PasswordHash::new(if known { stored } else { DUMMY_HASH })
        .map_err(|error| Fault::new(format!("a stored password: {error}")))?;
    let holds = build_argon2()?.verify_password(password.as_bytes(), &parsed).is_ok();
    Ok(holds && known)
}

/// Whether a password was hashed at the parameters that are in force; if not, it is hashed again
/// when its owner next signs in.
pub fn is_hash_current(stored: &str) -> bool {
    let Ok(parsed) = PasswordHash::new(stored) else {
        return false;
    };
    let Ok(params) = Params::try_from(&parsed) else {
        return false;
    };
    parsed.algorithm.as_str() == Algorithm::Argon2id.as_str()
        && parsed.version == Some(Version::V0x13.into())
        && (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, 1)
}

/// Hashes passwords on a bounded number of threads, so that signing in takes no more of the
/// machine than that. Clones share the bound.
#[derive(Clone, Debug)]
pub struct PasswordPool {
    permits: Arc<Semaphore>,
    running: Arc<AtomicUsize>,
}

/// A thread that hashes, for as long as it lives.
struct RunningHash(Arc<AtomicUsize>);

impl RunningHash {
    fn start(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for RunningHash {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PasswordPool {
    /// A pool that hashes so many passwords at once.
    pub fn new(places: usize) -> Self {
        let permits = Arc::new(Semaphore::new(places.max(1)));
        let running = Arc::default();
        Self { permits, running }
    }

    /// A pool of as many places as this machine has cores.
    pub fn sized_to_machine() -> Self {
        let cores = std::thread::available_parallelism();
        Self::new(cores.map_or(1, std::num::NonZero::get))
    }

    /// How many passwords are being hashed right now.
    pub fn running_count(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// [`holds`], in its turn.
    pub async fn verify(&self, password: &Secret, stored: &str) -> Result<bool, Fault> {
        let (password, stored) = (password.clone(), stored.to_owned());
        self.run_blocking(move || verify(password.expose_secret(), &stored))
            .await
    }

    /// [`hash`], in its turn.
    pub async fn hash(&self, password: &Secret, chance: &Rng) -> Result<String, Fault> {
        let (password, chance) = (password.clone(), chance.clone());
        self.run_blocking(move || hash(password.expose_secret(), &chance)).await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let place = Arc::clone(&self.permits).acquire_owned().await;
        let place = place.map_err(Fault::context("waiting to hash a password"))?;
        // The place is held by the thread: a caller that goes away does not free it early.
        let count = Arc::clone(&self.running);
        let done = tokio::task::spawn_blocking(move || {
            let running = RunningHash::start(&count);
            let outcome = work();
            drop(running);
            drop(place);
            outcome
        });
        done.await.map_err(Fault::context("hashing a password"))?
    }
}

impl Default for PasswordPool {
    fn default() -> Self {
        Self::sized_to_machine()
    }
}

#[cfg(test)]
mod tests {
    use base::Rng;

    use super::{hash, is_hash_current, verify};

    #[test]
    fn only_the_same_password_holds() {
        let stored = hash("correct horse", &Rng::Os).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(verify("correct horse", &stored).unwrap());
        assert!(!verify("correct horsf", &stored).unwrap());
        assert!(!verify("", "").unwrap());
        assert!(is_hash_current(&stored));
        for other in [
            String::new(),
            stored.replace("t=2", "t=3"),
            stored.replace("m=19456", "m=8192"),
            stored.replace("argon2id", "argon2i"),
        ] {
            assert!(!is_hash_current(&other), "{other}");
        }
    }
}
