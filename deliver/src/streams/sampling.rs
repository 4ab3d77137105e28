//! Streams without rules: a constant sample of all posts, in partitions.

use base::id::mix_id;
use network::post_facts::StoredPostFacts;

use super::{StreamEndpoint, StreamSession};

impl StreamEndpoint {
    /// The percentage of all posts, the number of partitions, and the language; `None` for streams that are no
    /// sample.
    const fn sample_share(self) -> Option<(u64, u64, Option<&'static str>)> {
        Some(match self {
            Self::Sample => (1, 1, None),
            Self::Sample10 => (10, 2, None),
            Self::Firehose => (100, 20, None),
            Self::FirehoseEn => (100, 8, Some("en")),
            Self::FirehoseJa => (100, 2, Some("ja")),
            Self::FirehoseKo => (100, 2, Some("ko")),
            Self::FirehosePt => (100, 2, Some("pt")),
            _ => return None,
        })
    }
}

pub(super) fn carries_post(session: &StreamSession, facts: &StoredPostFacts) -> bool {
    let Some((percent, parts, language)) = session.endpoint().sample_share() else {
        return false;
    };
    let mixed = mix_id(facts.row.id.get());
    let part = mixed / 100 % parts + 1;
    mixed % 100 < percent
        && part == u64::from(session.partition())
        && language.is_none_or(|language| facts.row.lang == language)
}

#[cfg(test)]
mod tests {
    use base::id::mix_id;

    #[test]
    fn a_hundredth_is_about_a_hundredth_of_ids_as_they_come() {
        // Ids of one second, one each millisecond, and of one millisecond, one after the other.
        for step in [1 << 22, 1_i64] {
            let ids = (0..100_000).map(|number| 1_700_000_000_000_000_000 + number * step);
            let ids: Vec<u64> = ids.map(mix_id).collect();
            let sampled = ids.iter().filter(|mixed| **mixed % 100 == 0).count();
            assert!((900..1_100).contains(&sampled), "{sampled}");
            let first = ids.iter().filter(|mixed| **mixed / 100 % 20 == 0).count();
            assert!((4_700..5_300).contains(&first), "{first}");
        }
    }
}
