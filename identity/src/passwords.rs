//! Password hashing: argon2id with 19 MiB, 2 passes and 1 lane (OWASP Password Storage Cheat Sheet).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use base::{Fault, Rng, Secret};
use tokio::sync::Semaphore;

/// KiB of memory: the recommended minimum for sign-in on small machines.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;

fn build_argon2() -> Result<Argon2<'static>, Fault> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None)
        .map_err(|error| Fault::new(format!("invalid password parameters: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Takes tens of milliseconds, so it must not be called inside a transaction.
pub fn hash(password: &str, rng: &Rng) -> Result<String, Fault> {
    let salt = rng.random_bytes::<16>()?;
    build_argon2()?
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|error| Fault::new(format!("failed to hash a password: {error}")))
}

/// Takes as long as [`hash`], whatever is stored.
pub fn verify(password: &str, stored: &str) -> Result<bool, Fault> {
    // Verified for users without a password, so that it takes as long.
    const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                          AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let has_password = !stored.is_empty();
    let parsed = PasswordHash::new(if has_password { stored } else { DUMMY_HASH })
        .map_err(|error| Fault::new(format!("malformed password hash: {error}")))?;
    let matches = build_argon2()?.verify_password(password.as_bytes(), &parsed).is_ok();
    Ok(matches && has_password)
}

/// Whether the hash uses the current parameters; if not, the password is hashed again at the next sign-in.
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

/// Hashes passwords with bounded concurrency. Clones share the bound.
#[derive(Clone, Debug)]
pub struct PasswordPool {
    permits: Arc<Semaphore>,
    running: Arc<AtomicUsize>,
}

/// Counts a running hash until it is dropped.
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
    /// A pool of `max_concurrent` simultaneous hashes.
    pub fn new(max_concurrent: usize) -> Self {
        let permits = Arc::new(Semaphore::new(max_concurrent.max(1)));
        let running = Arc::default();
        Self { permits, running }
    }

    /// One simultaneous hash per core.
    pub fn sized_to_machine() -> Self {
        let cores = std::thread::available_parallelism();
        Self::new(cores.map_or(1, std::num::NonZero::get))
    }

    /// The number of hashes currently running.
    pub fn running_count(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// As [`verify`], after waiting for a permit.
    pub async fn verify(&self, password: &Secret, stored: &str) -> Result<bool, Fault> {
        let (password, stored) = (password.clone(), stored.to_owned());
        self.run_blocking(move || verify(password.expose_secret(), &stored)).await
    }

    /// As [`hash`], after waiting for a permit.
    pub async fn hash(&self, password: &Secret, rng: &Rng) -> Result<String, Fault> {
        let (password, rng) = (password.clone(), rng.clone());
        self.run_blocking(move || hash(password.expose_secret(), &rng)).await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(Fault::context("waiting to hash a password"))?;
        // The thread holds the permit, so a caller that is dropped does not release it early.
        let count = Arc::clone(&self.running);
        let done = tokio::task::spawn_blocking(move || {
            let running = RunningHash::start(&count);
            let outcome = work();
            drop(running);
            drop(permit);
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
