//! An approximate counter of feature frequencies: never too low, rarely too high.

use crate::post_features::MatchMode;
use crate::words::{STOP_WORDS, WordField, hash_text, word_feature};

const BITS: u32 = 17;
/// At this number of posts, all counts are halved.
const MAX_COUNTED_POSTS: u32 = 1 << 20;

/// A count-min sketch with two rows.
#[derive(Clone)]
pub(super) struct FeatureFrequencies {
    first: Vec<u32>,
    second: Vec<u32>,
    posts: u32,
}

impl FeatureFrequencies {
    /// Assumes that only stop words are common.
    pub(super) fn new() -> Self {
        let mut frequencies = Self { first: vec![0; 1 << BITS], second: vec![0; 1 << BITS], posts: 0 };
        let common: Vec<u64> =
            STOP_WORDS.iter().map(|word| word_feature(WordField::Text, hash_text(word, MatchMode::Stream))).collect();
        for _ in 0..5 {
            frequencies.record(&common);
        }
        frequencies.posts = 100;
        frequencies
    }

    pub(super) fn record(&mut self, features: &[u64]) {
        for feature in features {
            let (first, second) = table_positions(*feature);
            for (table, index) in [(&mut self.first, first), (&mut self.second, second)] {
                if let Some(count) = table.get_mut(index) {
                    *count = count.saturating_add(1);
                }
            }
        }
        self.posts += 1;
        if self.posts >= MAX_COUNTED_POSTS {
            self.posts /= 2;
            for count in self.first.iter_mut().chain(&mut self.second) {
                *count /= 2;
            }
        }
    }

    /// The share of posts with a feature; `guess` has the weight of a hundred posts.
    pub(super) fn estimate_share(&self, feature: u64, guess: f64) -> f64 {
        let (first, second) = table_positions(feature);
        let first = self.first.get(first).copied().unwrap_or(0);
        let second = self.second.get(second).copied().unwrap_or(0);
        guess.mul_add(100.0, f64::from(first.min(second))) / (f64::from(self.posts) + 100.0)
    }
}

fn table_positions(feature: u64) -> (usize, usize) {
    let index = |bits: u64| usize::try_from(bits & ((1 << BITS) - 1)).unwrap_or(0);
    (index(feature >> 47), index(feature >> 3))
}
