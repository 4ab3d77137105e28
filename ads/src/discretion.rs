//! How much is told of how many people an advertiser's list comes to: never so much that one person
//! more or less can be read from it (docs/decisions, "What is told of an audience's size").

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How discreet a server is.
#[derive(Clone, Copy)]
pub struct Discretion {
    /// Nothing is told of fewer than these.
    pub least: i64,
    /// What nobody else knows.
    pub key: [u8; 32],
}

impl std::fmt::Debug for Discretion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discretion")
            .field("least", &self.least)
            .finish_non_exhaustive()
    }
}

impl Default for Discretion {
    /// Tells everything: of worlds in which everyone is made up.
    fn default() -> Self {
        Self {
            least: 1,
            key: [0; 32],
        }
    }
}

/// Some users: how many, and a mark that other users would have another of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    count: i64,
    mark: u64,
}

/// What is told of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// That there are so many, exactly.
    Exactly(i64),
    /// That there are about so many.
    About(i64),
    /// That there are fewer than so many.
    Fewer(i64),
}

impl Told {
    /// The number that is shown; none of too few.
    pub const fn shown(self) -> Option<i64> {
        match self {
            Self::Exactly(count) | Self::About(count) => Some(count),
            Self::Fewer(_) => None,
        }
    }
}

impl Discretion {
    /// Users as a crowd. Their order does not matter.
    pub fn crowd(&self, users: impl IntoIterator<Item = i64>) -> Crowd {
        let half = |bytes: &[u8]| {
            let first = bytes.first_chunk::<8>().copied().unwrap_or_default();
            u64::from_be_bytes(first)
        };
        let (one, other) = self.key.split_at(16);
        let keys = (half(one), half(other));
        let mut crowd = Crowd::default();
        for user in users {
            crowd.count += 1;
            let mixed = mix(mix(user.cast_unsigned() ^ keys.0) ^ keys.1);
            crowd.mark = crowd.mark.wrapping_add(mixed);
        }
        crowd
    }

    /// What is told of a crowd: a multiple of a step. Where one step ends and the next begins is
    /// another for every crowd and always the same for one, so that neither asking again nor trying
    /// out others tells whether a crowd is one larger.
    pub fn tell(&self, crowd: Crowd) -> Told {
        if self.least <= 1 {
            return Told::Exactly(crowd.count);
        }
        let step = self.step(crowd.count);
        let offset = self.drawn(crowd).rem_euclid(step);
        let told = (crowd.count - offset).div_euclid(step) * step;
        if told >= self.least {
            Told::About(told)
        } else {
            Told::Fewer(self.least.saturating_add(self.step(self.least)))
        }
    }

    /// Half of the least, and once that is more, two digits that tell something.
    fn step(&self, count: i64) -> i64 {
        let digits = count.max(1).ilog10();
        (self.least / 2).max(10_i64.pow(digits.saturating_sub(1)))
    }

    /// A number that belongs to a crowd and that nobody can foretell.
    fn drawn(&self, crowd: Crowd) -> i64 {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else {
            // A key of any length is taken.
            return 0;
        };
        mac.update(b"crowd\0");
        mac.update(&crowd.count.to_be_bytes());
        mac.update(&crowd.mark.to_be_bytes());
        let bytes = mac.finalize().into_bytes();
        let first = bytes.first_chunk::<8>().copied().unwrap_or_default();
        i64::from_be_bytes(first) & i64::MAX
    }
}

/// Spreads the bits of a number over all of them.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Discretion, Told};

    const DISCREET: Discretion = Discretion {
        least: 100,
        key: [7; 32],
    };

    fn told(users: impl IntoIterator<Item = i64>) -> Told {
        DISCREET.tell(DISCREET.crowd(users))
    }

    #[test]
    fn nothing_is_told_of_too_few_and_all_where_everyone_is_made_up() {
        assert_eq!(told(0..99), Told::Fewer(150));
        assert_eq!(told([]), Told::Fewer(150));
        assert!(told(0..149).shown().is_some());
        let open = Discretion::default();
        assert_eq!(open.tell(open.crowd(0..3)), Told::Exactly(3));
        assert_eq!(open.tell(open.crowd([])), Told::Exactly(0));
    }

    #[test]
    fn what_is_told_is_round_not_too_much_and_near() {
        for (count, step) in [
            (160, 50),
            (999, 50),
            (1_234, 100),
            (70_000, 1_000),
            (123_456, 10_000),
        ] {
            let Told::About(shown) = told(0..count) else {
                panic!("{count}");
            };
            assert_eq!(shown % step, 0, "{shown} of {count}");
            assert!(
                (count - 2 * step < shown) && shown <= count,
                "{shown} of {count}"
            );
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
        // Of a hundred and more, some are told and some are not, as it falls out.
        let is_told = |first: i64, count: i64| told(first..first + count).shown().is_some();
        let share = |count| {
            (0..1_000)
                .filter(|first| is_told(first * 1_000, count))
                .count()
        };
        let (few, many) = (share(110), share(140));
        assert!((120..320).contains(&few), "{few}");
        assert!((700..920).contains(&many), "{many}");
        // Whoever tries with people known to be there learns nothing about others: next to each
        // other lie crowds of the same size of which one is told and one is not.
        let differ = (0..1_000).filter(|first| is_told(*first, 125) != is_told(*first + 1, 125));
        assert!(differ.count() > 300);
    }
}
