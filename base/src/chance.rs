//! Where random bytes come from: the operating system, or a seed in a test world.

use std::sync::Arc;

use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::Fault;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A source of random bytes.
#[derive(Clone, Debug, Default)]
pub enum Chance {
    /// The operating system's source.
    #[default]
    Os,
    /// The same bytes for the same seed, in a test world.
    Seeded(Arc<Mutex<ChaCha20Rng>>),
}

impl Chance {
    /// A source that gives the same bytes for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Arc::new(Mutex::new(ChaCha20Rng::seed_from_u64(seed))))
    }

    /// Fills `bytes`. Fails only when the operating system has no randomness to give.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one home of the system's randomness"
    )]
    pub fn fill(&self, bytes: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Os => getrandom::fill(bytes)
                .map_err(|error| Fault::new(format!("the system gave no random bytes: {error}"))),
            Self::Seeded(source) => {
                source.lock().fill_bytes(bytes);
                Ok(())
            }
        }
    }

    /// `N` random bytes.
    pub fn bytes<const N: usize>(&self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// `length` characters of `A–Z a–z 0–9`, 5.95 bits each, without bias.
    pub fn token(&self, length: usize) -> Result<String, Fault> {
        let mut text = String::with_capacity(length);
        let mut pool = [0_u8; 64];
        while text.len() < length {
            self.fill(&mut pool)?;
            // 248 is the largest multiple of 62 in a byte; what lies above would favour some letters.
            let letters = pool.iter().filter(|byte| **byte < 248);
            let letters = letters.filter_map(|byte| ALPHABET.get(usize::from(byte % 62)));
            text.extend(
                letters
                    .take(length - text.len())
                    .map(|letter| char::from(*letter)),
            );
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_seed_repeats_itself() {
        let (one, other) = (Chance::seeded(7), Chance::seeded(7));
        assert_eq!(one.token(40).unwrap(), other.token(40).unwrap());
        assert_ne!(one.token(40).unwrap(), Chance::seeded(8).token(40).unwrap());
        assert_ne!(Chance::Os.token(40).unwrap(), Chance::Os.token(40).unwrap());
    }
}
