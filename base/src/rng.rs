//! Random bytes from the operating system, or from a seed in tests and development worlds.

use std::sync::Arc;

use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use crate::Fault;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

#[derive(Clone, Debug, Default)]
pub enum Rng {
    #[default]
    Os,
    Seeded(Arc<Mutex<ChaCha20Rng>>),
    /// Seeded; its tokens end with a mark that tells them from those of others.
    Marked(Arc<Mutex<ChaCha20Rng>>, Arc<str>),
}

/// Shorter tokens are too weak to give up characters for a mark.
const MIN_MARKED_LENGTH: usize = 20;

impl Rng {
    pub fn from_seed(seed: u64) -> Self {
        Self::Seeded(Arc::new(Mutex::new(ChaCha20Rng::seed_from_u64(seed))))
    }

    /// Secret as long as the key is.
    pub fn from_key(key: [u8; 32]) -> Self {
        Self::Seeded(Arc::new(Mutex::new(ChaCha20Rng::from_seed(key))))
    }

    /// A generator of its own, whose tokens end with the same mark as this one's.
    #[must_use]
    pub fn keyed(&self, key: [u8; 32]) -> Self {
        let keyed = Self::from_key(key);
        if let Self::Marked(_, mark) = self { keyed.with_mark(mark) } else { keyed }
    }

    /// Tokens of at least 20 characters end with `mark` from here on; the operating system's stay as they are.
    #[must_use]
    pub fn with_mark(self, mark: &str) -> Self {
        match self {
            Self::Os => Self::Os,
            Self::Seeded(source) | Self::Marked(source, _) => Self::Marked(source, mark.into()),
        }
    }

    /// Fails only when the operating system provides no randomness.
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system's randomness")]
    pub fn fill_bytes(&self, bytes: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Os => getrandom::fill(bytes)
                .map_err(|error| Fault::new(format!("the operating system returned no random bytes: {error}"))),
            Self::Seeded(source) | Self::Marked(source, _) => {
                source.lock().fill_bytes(bytes);
                Ok(())
            }
        }
    }

    pub fn random_bytes<const N: usize>(&self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.fill_bytes(&mut bytes)?;
        Ok(bytes)
    }

    /// A version 4 UUID (RFC 9562).
    pub fn random_uuid(&self) -> Result<String, Fault> {
        self.random_bytes().map(format_uuid)
    }

    /// `length` characters of `A–Z a–z 0–9`, 5.95 bits each, without bias.
    pub fn random_token(&self, length: usize) -> Result<String, Fault> {
        let mut text = String::with_capacity(length);
        let mut pool = [0_u8; 64];
        while text.len() < length {
            self.fill_bytes(&mut pool)?;
            // 248 is the largest multiple of 62 in a byte; bytes above it would favour some
            // characters.
            let letters = pool.iter().filter(|byte| **byte < 248);
            let letters = letters.filter_map(|byte| ALPHABET.get(usize::from(byte % 62)));
            text.extend(letters.take(length - text.len()).map(|letter| char::from(*letter)));
        }
        if let Self::Marked(_, mark) = self
            && length >= MIN_MARKED_LENGTH
        {
            text.truncate(length.saturating_sub(mark.len()));
            text.push_str(mark);
        }
        Ok(text)
    }
}

fn format_uuid(bytes: [u8; 16]) -> String {
    let number = u128::from_be_bytes(bytes) & !(0xf_000 << 64 | 0xc << 60) | 0x4_000 << 64 | 0x8 << 60;
    let digits = format!("{number:032x}");
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    let parts = parts.map(|(from, to)| digits.get(from..to).unwrap_or_default());
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::{Rng, format_uuid};

    #[test]
    fn uuid_has_its_version_and_variant() {
        assert_eq!(format_uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(format_uuid([255; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    /// A hundred thousand tokens: none twice, and every letter at every place as often as any other.
    #[test]
    fn tokens_show_no_pattern() {
        const LENGTH: usize = 22;
        let tokens: u32 = std::env::var("LOCUM_TOKEN_SAMPLES").map_or(100_000, |text| text.parse().unwrap());
        let mut seen = std::collections::HashSet::new();
        let mut counts = vec![[0_u32; 256]; LENGTH];
        for _ in 0..tokens {
            let token = Rng::Os.random_token(LENGTH).unwrap();
            for (place, letter) in token.bytes().enumerate() {
                counts[place][usize::from(letter)] += 1;
            }
            assert!(seen.insert(token), "the same token twice");
        }
        let expected = f64::from(tokens) / 62.0;
        for (place, counts) in counts.iter().enumerate() {
            let used = counts.iter().filter(|count| **count > 0);
            let off = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
            let chi: f64 = used.clone().map(off).sum();
            assert_eq!(used.count(), 62, "place {place}");
            // 61 degrees of freedom: above 130 once in ten million.
            assert!(chi < 130.0, "place {place}: {chi}");
        }
    }

    #[test]
    fn tokens_of_a_marked_generator_end_with_its_mark() {
        let marked = Rng::from_seed(7).with_mark("World1");
        let (token, plain) = (marked.random_token(25).unwrap(), Rng::from_seed(7).random_token(25).unwrap());
        assert_eq!((token.len(), token.get(..19), token.get(19..)), (25, plain.get(..19), Some("World1")));
        assert!(!marked.random_token(16).unwrap().ends_with("World1"));
        assert!(marked.keyed([1; 32]).random_token(25).unwrap().ends_with("World1"));
    }

    #[test]
    fn a_seed_repeats_itself() {
        let (one, other) = (Rng::from_seed(7), Rng::from_seed(7));
        assert_eq!(one.random_token(40).unwrap(), other.random_token(40).unwrap());
        assert_ne!(one.random_token(40).unwrap(), Rng::from_seed(8).random_token(40).unwrap());
        assert_ne!(Rng::Os.random_token(40).unwrap(), Rng::Os.random_token(40).unwrap());
    }
}
