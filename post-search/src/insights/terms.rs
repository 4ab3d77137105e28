//! Terms of a text: hashtags, words and pairs of adjacent words.

use base::text::{is_mark, is_word_char};
use query::words::{is_unspaced, normalize_case};

use super::stop_words;

/// Characters.
const MAX_LENGTH: usize = 40;
/// Characters.
const MIN_LENGTH: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum TermKind {
    /// In scripts without spaces, two adjacent characters.
    Word,
    /// With its sign.
    Tag,
    /// Two adjacent words.
    Pair,
}

/// Calls `visit` for each term of a text, in lower case.
pub(super) fn visit_terms(text: &str, language: &str, mut visit: impl FnMut(TermKind, &str)) {
    let text = normalize_case(text);
    let stop_words_of_language = stop_words::find_stop_words(language);
    let is_meaningful = |word: &str| {
        let letters = word.chars().count();
        (MIN_LENGTH..=MAX_LENGTH).contains(&letters)
            && !word.chars().all(char::is_numeric)
            && !stop_words_of_language.is_some_and(|stop_words_of_language| stop_words_of_language.contains(word))
    };
    let mut pair = String::new();
    let mut previous: Option<&str> = None;
    for piece in text.split_whitespace() {
        if is_link(piece) || piece.starts_with(['@', '＠', '$']) {
            previous = None;
            continue;
        }
        if let Some(tag) = piece.strip_prefix(['#', '＃']) {
            let end = tag.find(|letter: char| !(is_word_char(letter) || letter == '_'));
            let tag = tag.get(..end.unwrap_or(tag.len())).unwrap_or_default();
            let is_valid = !tag.is_empty() && !tag.chars().all(char::is_numeric);
            if is_valid && tag.chars().count() <= MAX_LENGTH {
                visit(TermKind::Tag, &format!("#{tag}"));
            }
            previous = None;
            continue;
        }
        let mut end = 0;
        for word in split_words_with_offsets(piece) {
            // Pairs do not span punctuation.
            let is_adjacent = piece.get(end..word.0).is_some_and(|gap| gap.is_empty() || gap == "-");
            if end > 0 && !is_adjacent || end == 0 && word.0 > 0 {
                previous = None;
            }
            end = word.0 + word.1.len();
            if word.1.chars().any(is_unspaced) {
                visit_sign_pairs(word.1, &mut visit);
                previous = None;
                continue;
            }
            if !is_meaningful(word.1) {
                previous = None;
                continue;
            }
            visit(TermKind::Word, word.1);
            if let Some(first) = previous {
                pair.clear();
                pair.push_str(first);
                pair.push(' ');
                pair.push_str(word.1);
                visit(TermKind::Pair, &pair);
            }
            previous = Some(word.1);
        }
        if end < piece.len() {
            previous = None;
        }
    }
}

/// Words of a piece without spaces, with their byte offsets.
fn split_words_with_offsets(piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = piece.get(at..)?;
        let begin = at + rest.find(char::is_alphanumeric)?;
        let word = piece.get(begin..)?;
        let end = word.find(|letter| !is_word_char(letter));
        let word = word.get(..end.unwrap_or(word.len()))?;
        at = begin + word.len();
        Some((begin, word))
    })
}

/// Pairs of adjacent characters with their marks.
fn visit_sign_pairs(word: &str, visit: &mut impl FnMut(TermKind, &str)) {
    let mut previous: Option<usize> = None;
    let mut signs = word.char_indices().filter(|(_, sign)| !is_mark(*sign)).peekable();
    while let Some((at, sign)) = signs.next() {
        let end = signs.peek().map_or(word.len(), |(next, _)| *next);
        if let (Some(begin), true) = (previous, is_unspaced(sign))
            && let Some(sign_pair) = word.get(begin..end)
        {
            visit(TermKind::Word, sign_pair);
        }
        previous = is_unspaced(sign).then_some(at);
    }
}

fn is_link(piece: &str) -> bool {
    ["http://", "https://", "www."].iter().any(|start| piece.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::visit_terms;

    fn of(text: &str, language: &str) -> Vec<String> {
        let mut all = Vec::new();
        visit_terms(text, language, |_, term| all.push(term.to_owned()));
        all
    }

    #[test]
    fn terms_are_tags_words_and_pairs() {
        assert_eq!(
            of("The Cargo Bike, and #BikeLife! @ana https://a.com/b 2026 of it", "en"),
            ["cargo", "bike", "cargo bike", "#bikelife"]
        );
        assert_eq!(of("a bicicleta de carga", "pt"), ["bicicleta", "carga"]);
        assert_eq!(of("東京都 ok", "ja"), ["東京", "京都"]);
        assert_eq!(of("नया कम्प्यूटर #हिन्दी", "hi"), ["नया", "कम्प्यूटर", "नया कम्प्यूटर", "#हिन्दी"]);
        assert_eq!(of("ที่นี่", "th"), ["ที่นี่"]);
        assert_eq!(
            of("red-hot iron. Cold iron", "en"),
            ["red", "hot", "red hot", "iron", "hot iron", "cold", "iron", "cold iron"]
        );
        assert!(of("#1 !! $5 12345", "en").is_empty());
    }
}
