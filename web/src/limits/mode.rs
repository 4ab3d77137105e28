//! Whether limits apply, and how high they are.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateLimitMode {
    /// Refuses nobody; the headers still show the limits.
    Off,
    #[default]
    Table,
    /// As the table, except that the reference lists of the Ads API are not limited.
    Relaxed,
    /// Multiplies the limits by this factor.
    Scale(u32),
}

/// A mode that a development server changes while it serves.
#[derive(Debug)]
pub(super) struct SharedRateLimitMode(AtomicU64);

const OFF: u64 = 0;
const TABLE: u64 = 1;
const RELAXED: u64 = 2;
/// The lower half is the factor.
const SCALE: u64 = 1 << 32;

impl SharedRateLimitMode {
    pub(super) fn new(mode: RateLimitMode) -> Self {
        Self(AtomicU64::new(encode(mode)))
    }

    pub(super) fn load(&self) -> RateLimitMode {
        match self.0.load(Ordering::Relaxed) {
            OFF => RateLimitMode::Off,
            TABLE => RateLimitMode::Table,
            RELAXED => RateLimitMode::Relaxed,
            scale => RateLimitMode::Scale(u32::try_from(scale & (SCALE - 1)).unwrap_or(1)),
        }
    }

    pub(super) fn store(&self, mode: RateLimitMode) {
        self.0.store(encode(mode), Ordering::Relaxed);
    }
}

fn encode(mode: RateLimitMode) -> u64 {
    match mode {
        RateLimitMode::Off => OFF,
        RateLimitMode::Table => TABLE,
        RateLimitMode::Relaxed => RELAXED,
        RateLimitMode::Scale(factor) => SCALE | u64::from(factor),
    }
}
