//! Disclosure of audience sizes: one person more or less must not be detectable
//! ([decision 21](../../docs/decisions/0021-audience-size-disclosure.md)).

use base::id::mix_bits;
use base::secret::hmac_sha256;

#[derive(Clone, Copy)]
pub struct SizeDisclosure {
    /// Sizes below this are not disclosed.
    pub min_size: i64,
    /// The secret for rounding offsets.
    pub key: [u8; 32],
}

impl std::fmt::Debug for SizeDisclosure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SizeDisclosure").field("min_size", &self.min_size).finish_non_exhaustive()
    }
}

impl Default for SizeDisclosure {
    /// Discloses everything; for demo data in which all users are fictional.
    fn default() -> Self {
        Self { min_size: 1, key: [0; 32] }
    }
}

/// The number of users, and a fingerprint that differs for other users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AudienceSize {
    count: i64,
    fingerprint: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisclosedSize {
    Exact(i64),
    Approximate(i64),
    FewerThan(i64),
}

impl DisclosedSize {
    /// `None` if the audience is too small.
    pub const fn displayed_count(self) -> Option<i64> {
        match self {
            Self::Exact(count) | Self::Approximate(count) => Some(count),
            Self::FewerThan(_) => None,
        }
    }
}

impl SizeDisclosure {
    /// Measures a set of users, in any order.
    pub fn measure_audience(&self, users: impl IntoIterator<Item = i64>) -> AudienceSize {
        let half = |bytes: &[u8]| {
            let first = bytes.first_chunk::<8>().copied().unwrap_or_default();
            u64::from_be_bytes(first)
        };
        let (one, other) = self.key.split_at(16);
        let keys = (half(one), half(other));
        let mut size = AudienceSize::default();
        for user in users {
            size.count += 1;
            let mixed = mix_bits(mix_bits(user.cast_unsigned() ^ keys.0) ^ keys.1);
            size.fingerprint = size.fingerprint.wrapping_add(mixed);
        }
        size
    }

    /// Rounds a size to a multiple of a step. The offset of the steps differs between audiences and is
    /// constant for each, so that neither repeated requests nor variations reveal a difference of one user.
    pub fn disclose_size(&self, size: AudienceSize) -> DisclosedSize {
        if self.min_size <= 1 {
            return DisclosedSize::Exact(size.count);
        }
        let step = self.rounding_step(size.count);
        let offset = self.secret_offset(size).rem_euclid(step);
        let rounded = (size.count - offset).div_euclid(step) * step;
        if rounded >= self.min_size {
            DisclosedSize::Approximate(rounded)
        } else {
            DisclosedSize::FewerThan(self.min_size.saturating_add(self.rounding_step(self.min_size)))
        }
    }

    /// Half of the minimum size; above that, two significant digits.
    fn rounding_step(&self, count: i64) -> i64 {
        let digits = count.max(1).ilog10();
        (self.min_size / 2).max(10_i64.pow(digits.saturating_sub(1)))
    }

    /// An offset that is specific to the audience and unpredictable.
    fn secret_offset(&self, size: AudienceSize) -> i64 {
        let parts: [&[u8]; 3] = [b"crowd\0", &size.count.to_be_bytes(), &size.fingerprint.to_be_bytes()];
        let bytes = hmac_sha256(&self.key, &parts);
        let first = bytes.first_chunk::<8>().copied().unwrap_or_default();
        i64::from_be_bytes(first) & i64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::{DisclosedSize, SizeDisclosure};

    const DISCREET: SizeDisclosure = SizeDisclosure { min_size: 100, key: [7; 32] };

    fn told(users: impl IntoIterator<Item = i64>) -> DisclosedSize {
        DISCREET.disclose_size(DISCREET.measure_audience(users))
    }

    #[test]
    fn nothing_is_told_of_too_few_and_all_where_everyone_is_made_up() {
        assert_eq!(told(0..99), DisclosedSize::FewerThan(150));
        assert_eq!(told([]), DisclosedSize::FewerThan(150));
        assert!(told(0..149).displayed_count().is_some());
        let open = SizeDisclosure::default();
        assert_eq!(open.disclose_size(open.measure_audience(0..3)), DisclosedSize::Exact(3));
        assert_eq!(open.disclose_size(open.measure_audience([])), DisclosedSize::Exact(0));
    }

    #[test]
    fn what_is_told_is_round_not_too_much_and_near() {
        for (count, step) in [(160, 50), (999, 50), (1_234, 100), (70_000, 1_000), (123_456, 10_000)] {
            let DisclosedSize::Approximate(shown) = told(0..count) else {
                panic!("{count}");
            };
            assert_eq!(shown % step, 0, "{shown} of {count}");
            assert!((count - 2 * step < shown) && shown <= count, "{shown} of {count}");
        }
    }

    #[test]
    fn the_same_people_are_told_alike_in_whatever_order_and_however_often() {
        for count in 100..150 {
            let forth = told(0..count);
            assert_eq!(forth, told((0..count).rev()), "{count}");
            assert_eq!(forth, told(0..count), "{count}");
        }
    }

    #[test]
    fn one_more_moves_the_edge_and_no_trial_with_others_finds_it() {
        // Sizes just above a hundred are disclosed or not, depending on the offset.
        let is_told = |first: i64, count: i64| told(first..first + count).displayed_count().is_some();
        let share = |count| (0..1_000).filter(|first| is_told(first * 1_000, count)).count();
        let (few, many) = (share(110), share(140));
        assert!((120..320).contains(&few), "{few}");
        assert!((700..920).contains(&many), "{many}");
        // Adding a known user reveals nothing about others: audiences of neighbouring sizes differ in
        // disclosure.
        let differ = (0..1_000).filter(|first| is_told(*first, 125) != is_told(*first + 1, 125));
        assert!(differ.count() > 300);
    }
}
