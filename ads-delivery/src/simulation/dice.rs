//! Random numbers of a simulation: equal for equal parts of a key.

use base::{Fault, Rng};

use crate::serving::hash_to_id;

pub(super) const MILLION: i64 = 1_000_000;
/// Below this mean, numbers of successes are drawn exactly; above, from a normal distribution.
const MAX_EXACT_MEAN: i64 = 12;

pub(super) struct Dice(Rng);

impl Dice {
    pub(super) fn from_parts(parts: &[i64]) -> Self {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_be_bytes()).collect();
        Self(Rng::from_seed(hash_to_id(&bytes).unsigned_abs()))
    }

    /// 0 to `limit - 1`.
    pub(super) fn below(&self, limit: i64) -> Result<i64, Fault> {
        let bytes = self.0.random_bytes::<8>()?;
        Ok((i64::from_be_bytes(bytes) & i64::MAX) % limit.max(1))
    }

    pub(super) fn index_below(&self, limit: usize) -> Result<usize, Fault> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(usize::try_from(self.below(limit)?).unwrap_or(0))
    }

    /// A standard normal number in thousandths.
    fn normal(&self) -> Result<i64, Fault> {
        // The sum of twelve uniform numbers is nearly normal, with a variance of one square range.
        let bytes = self.0.random_bytes::<24>()?;
        let (pairs, _) = bytes.as_chunks::<2>();
        let sum: i64 = pairs.iter().map(|pair| i64::from(u16::from_be_bytes(*pair))).sum();
        Ok((sum - 12 * 65_535 / 2) * 1000 / 65_536)
    }

    /// A factor in thousandths around 1000.
    pub(super) fn factor(&self, deviation: i64) -> Result<i64, Fault> {
        Ok((1000 + self.normal()? * deviation / 1000).clamp(300, 2500))
    }

    /// How many of `trials` succeed, each with a probability in millionths.
    pub(super) fn successes(&self, trials: i64, probability: i64) -> Result<i64, Fault> {
        let probability = probability.clamp(0, MILLION);
        if trials <= 0 || probability == 0 {
            return Ok(0);
        }
        if probability > MILLION / 2 {
            return Ok(trials - self.successes(trials, MILLION - probability)?);
        }
        let mean = trials.saturating_mul(probability);
        if mean < MAX_EXACT_MEAN * MILLION {
            return self.few_successes(trials, probability);
        }
        // The variance is in millionths, so that its root is in thousandths.
        let variance = i128::from(mean) * i128::from(MILLION - probability) / i128::from(MILLION);
        let deviation = i64::try_from(variance).unwrap_or(i64::MAX).isqrt();
        let found = (mean + self.normal()?.saturating_mul(deviation) + MILLION / 2) / MILLION;
        Ok(found.clamp(0, trials))
    }

    /// Walks the cumulative distribution, in units of 2^-48.
    fn few_successes(&self, trials: i64, probability: i64) -> Result<i64, Fault> {
        const ONE: u128 = 1 << 48;
        let whole = MILLION.unsigned_abs();
        let (hit, miss) = (u128::from(probability.unsigned_abs()), u128::from(whole - probability.unsigned_abs()));
        let mut term = power(ONE * miss / u128::from(whole), trials.unsigned_abs());
        let at = u128::from(self.below(1 << 48)?.unsigned_abs());
        let (mut sum, mut found) = (term, 0_i64);
        while at >= sum && found < trials && term > 0 {
            let remaining = u128::from((trials - found).unsigned_abs());
            found += 1;
            term = term * remaining * hit / (u128::from(found.unsigned_abs()) * miss);
            sum += term;
        }
        Ok(found)
    }
}

/// A fraction to a power, in units of 2^-48.
fn power(mut base: u128, mut exponent: u64) -> u128 {
    let mut result = 1_u128 << 48;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = (result * base) >> 48;
        }
        base = (base * base) >> 48;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{Dice, MILLION};

    #[test]
    fn successes_have_the_mean_and_spread_of_their_probability() {
        for (trials, probability) in [(390, 2_000), (390, 15_000), (390, 300_000), (50, 900_000), (1, 500_000)] {
            let rounds = 4000;
            let draw = |round| Dice::from_parts(&[7, round, trials, probability]).successes(trials, probability);
            let found: Vec<i64> = (0..rounds).map(|round| draw(round).unwrap()).collect();
            assert!(found.iter().all(|number| (0..=trials).contains(number)));
            // In thousandths.
            let mean = trials * probability / 1000;
            let measured = found.iter().sum::<i64>() * 1000 / rounds;
            let variance = mean * (MILLION - probability) / MILLION;
            // Four deviations of the mean of all rounds.
            let tolerance = (variance * 1000 / rounds).isqrt() * 4 + 4;
            assert!((measured - mean).abs() <= tolerance, "{trials} {probability}: {measured} is not {mean}");
            let spread = found.iter().map(|number| (number * 1000 - mean).pow(2)).sum::<i64>() / rounds / 1000;
            assert!((spread - variance).abs() <= variance / 5 + 20, "{trials} {probability}: {spread}, {variance}");
        }
    }

    #[test]
    fn equal_keys_give_equal_numbers() {
        let draw = |parts: &[i64]| Dice::from_parts(parts).below(i64::MAX).unwrap();
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
    }
}
