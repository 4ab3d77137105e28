//! Trained language models: for each hashed n-gram, a weight for each language.

use std::sync::LazyLock;

use super::ngrams::hash_ngrams;

/// More than any model has.
const MAX_LANGUAGES: usize = 40;
/// The difference of the weights of the two most likely languages, per root of the number of n-grams. The
/// trainer maps log-odds of six to 127.
const MIN_MARGIN: i64 = 8;

/// The file begins with a line of codes. Weights follow: a row of bytes for each n-gram, a signed byte for
/// each code.
pub(super) struct LanguageModel {
    codes: Vec<&'static str>,
    weights: &'static [u8],
    /// There are 2^`bits` rows.
    bits: u32,
}

pub(super) static LATIN: LazyLock<LanguageModel> =
    LazyLock::new(|| LanguageModel::parse(include_bytes!("latin.model")));
pub(super) static CYRILLIC: LazyLock<LanguageModel> =
    LazyLock::new(|| LanguageModel::parse(include_bytes!("cyrillic.model")));
pub(super) static ARABIC: LazyLock<LanguageModel> =
    LazyLock::new(|| LanguageModel::parse(include_bytes!("arabic.model")));
pub(super) static DEVANAGARI: LazyLock<LanguageModel> =
    LazyLock::new(|| LanguageModel::parse(include_bytes!("devanagari.model")));

impl LanguageModel {
    fn parse(file: &'static [u8]) -> Self {
        let end = file.iter().position(|byte| *byte == b'\n').unwrap_or(0);
        let (codes, rest) = file.split_at(end);
        let codes: Vec<&str> = str::from_utf8(codes).unwrap_or_default().split(' ').collect();
        let weights = rest.get(1..).unwrap_or_default();
        Self { bits: (weights.len() / codes.len()).checked_ilog2().unwrap_or(0), codes, weights }
    }

    /// `None` unless one language is clearly more likely than the others.
    pub(super) fn find_language(&self, text: &str) -> Option<&'static str> {
        let mut sums = [0_i32; MAX_LANGUAGES];
        let mut count = 0_i64;
        hash_ngrams(text, self.bits, |ngram| {
            let start = ngram * self.codes.len();
            let row = self.weights.get(start..start + self.codes.len()).unwrap_or_default();
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(weight.cast_signed());
            }
            count += 1;
        });
        let mut ranked = self.codes.iter().zip(sums).map(|(code, sum)| (i64::from(sum), *code));
        let (mut best, mut second) = (ranked.next()?, i64::MIN / 2);
        for found in ranked {
            if found.0 > best.0 {
                (second, best) = (best.0, found);
            } else {
                second = second.max(found.0);
            }
        }
        let margin = best.0 - second;
        (margin * margin >= MIN_MARGIN * MIN_MARGIN * count).then_some(best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::{ARABIC, CYRILLIC, DEVANAGARI, LATIN, MAX_LANGUAGES};

    #[test]
    fn files_are_complete() {
        for model in [&LATIN, &CYRILLIC, &ARABIC, &DEVANAGARI] {
            assert!(model.codes.len() <= MAX_LANGUAGES);
            assert_eq!(model.weights.len(), model.codes.len() << model.bits);
        }
    }
}
