//! The terms of a text that may say what it is about: hashtags, words, and two words side by side.

use query::words::{is_unspaced, normalize_case};

use super::stop_words;

/// Letters of a term.
const LONGEST: usize = 40;
/// Letters of a word that says something.
const SHORTEST: usize = 3;

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum TermKind {
    /// A word; in scripts without spaces two signs.
    Word,
    /// A hashtag, with its sign.
    Tag,
    /// Two words side by side.
    Pair,
}

/// Calls with each term of a text, in lower case.
pub(super) fn visit_terms(text: &str, language: &str, mut call: impl FnMut(TermKind, &str)) {
    let text = normalize_case(text);
    let stop = stop_words::find_stop_words(language);
    let telling = |word: &str| {
        let letters = word.chars().count();
        (SHORTEST..=LONGEST).contains(&letters)
            && !word.chars().all(char::is_numeric)
            && !stop.is_some_and(|stop| stop.contains(word))
    };
    let mut pair = String::new();
    let mut before: Option<&str> = None;
    for piece in text.split_whitespace() {
        if is_link(piece) || piece.starts_with(['@', '＠', '$']) {
            before = None;
            continue;
        }
        if let Some(tag) = piece.strip_prefix(['#', '＃']) {
            let end = tag.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            let tag = tag.get(..end.unwrap_or(tag.len())).unwrap_or_default();
            let sound = !tag.is_empty() && !tag.chars().all(char::is_numeric);
            if sound && tag.chars().count() <= LONGEST {
                call(TermKind::Tag, &format!("#{tag}"));
            }
            before = None;
            continue;
        }
        let mut end = 0;
        for word in split_words_with_offsets(piece) {
            // Nothing reaches across a full stop or a comma.
            let glued = piece.get(end..word.0).is_some_and(|gap| gap.is_empty() || gap == "-");
            if end > 0 && !glued || end == 0 && word.0 > 0 {
                before = None;
            }
            end = word.0 + word.1.len();
            if word.1.chars().any(is_unspaced) {
                visit_sign_pairs(word.1, &mut call);
                before = None;
                continue;
            }
            if !telling(word.1) {
                before = None;
                continue;
            }
            call(TermKind::Word, word.1);
            if let Some(first) = before {
                pair.clear();
                pair.push_str(first);
                pair.push(' ');
                pair.push_str(word.1);
                call(TermKind::Pair, &pair);
            }
            before = Some(word.1);
        }
        if end < piece.len() {
            before = None;
        }
    }
}

/// The words of a piece without spaces, and where they begin.
fn split_words_with_offsets(piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = piece.get(at..)?;
        let begin = at + rest.find(char::is_alphanumeric)?;
        let word = piece.get(begin..)?;
        let end = word.find(|letter: char| !letter.is_alphanumeric());
        let word = word.get(..end.unwrap_or(word.len()))?;
        at = begin + word.len();
        Some((begin, word))
    })
}

/// Two signs after each other.
fn visit_sign_pairs(word: &str, call: &mut impl FnMut(TermKind, &str)) {
    let mut before: Option<usize> = None;
    for (at, sign) in word.char_indices() {
        let end = at + sign.len_utf8();
        if let (Some(begin), true) = (before, is_unspaced(sign))
            && let Some(two) = word.get(begin..end)
        {
            call(TermKind::Word, two);
        }
        before = is_unspaced(sign).then_some(at);
    }
}

fn is_link(piece: &str) -> bool {
    ["http://", "https://", "www."]
        .iter()
        .any(|start| piece.starts_with(start))
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
        assert_eq!(
            of("red-hot iron. Cold iron", "en"),
            ["red", "hot", "red hot", "iron", "hot iron", "cold", "iron", "cold iron"]
        );
        assert!(of("#1 !! $5 12345", "en").is_empty());
    }
}
