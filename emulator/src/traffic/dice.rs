//! Random choices that a seed determines.

use base::{Fault, Rng};

pub(super) struct Dice(Rng);

impl Dice {
    /// Of one action of a run, so that an action that is tried again chooses the same.
    pub(super) fn of_action(seed: u64, number: u64) -> Self {
        let mut key = [0; 32];
        let parts = seed.to_le_bytes().into_iter().chain(number.to_le_bytes());
        key.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        Self(Rng::from_key(key))
    }

    /// Below `bound`, which counts as one if it is zero.
    pub(super) fn below(&self, bound: u64) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(self.0.random_bytes()?) % bound.max(1))
    }

    pub(super) fn has_luck(&self, percent: u64) -> Result<bool, Fault> {
        Ok(self.below(100)? < percent)
    }

    pub(super) fn choose<'a, T>(&self, all: &'a [T]) -> Result<Option<&'a T>, Fault> {
        let index = self.below(u64::try_from(all.len()).unwrap_or(u64::MAX))?;
        Ok(usize::try_from(index).ok().and_then(|index| all.get(index)))
    }

    /// As [`Self::choose`], with the first ones much more often than the last.
    pub(super) fn choose_early<'a, T>(&self, all: &'a [T]) -> Result<Option<&'a T>, Fault> {
        let bound = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let first = self.below(bound)?.min(self.below(bound)?).min(self.below(bound)?);
        Ok(usize::try_from(first).ok().and_then(|index| all.get(index)))
    }

    /// An empty text if there are none.
    pub(super) fn word(&self, all: &[&'static str]) -> Result<&'static str, Fault> {
        Ok(self.choose(all)?.copied().unwrap_or_default())
    }
}
