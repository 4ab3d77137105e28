//! Chance that repeats itself: derived from the seed, the rule and the number of the match alone.

use base::id::mix_bits;

/// The chance of one match of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultChance(u64);

impl FaultChance {
    pub(super) fn new(seed: u64, rule_id: &str, hit: u64) -> Self {
        // FNV-1a.
        let id = rule_id
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(scramble(scramble(seed ^ id).wrapping_add(hit)))
    }

    /// At least 0 and below 1. Draws with different numbers are independent.
    pub fn draw(self, number: u64) -> f64 {
        let bits = scramble(self.0.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let high = u32::try_from(bits >> 32).unwrap_or_default();
        f64::from(high) / 4_294_967_296.0
    }
}

/// A step of `SplitMix64`.
const fn scramble(number: u64) -> u64 {
    mix_bits(number.wrapping_add(0x9e37_79b9_7f4a_7c15))
}
