//! Search terms of names. A term consists of `a`–`z`, `0`–`9` and `_`, the characters that the API's user search accepts,
//! or of other letters and digits, which the page of searches accepts too; accents are removed, and other characters
//! separate terms.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::sorted_distinct;

/// Characters of an ASCII term that its code covers.
const CODED_CHARS: usize = 12;
/// Characters of another term that its code covers, 21 bits each.
const CODED_WIDE_CHARS: usize = 3;
const CHAR_BITS: u32 = 21;
/// Twelve digits of this base fit into 63 bits; the digit 0 is the end of a term.
const BASE: i64 = 38;

/// The terms of a text in text order, in lower case; what underscores join stays one term.
pub fn split_terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    let mut term = String::new();
    for letter in text.nfkd().flat_map(char::to_lowercase) {
        // `O'Brien` is one term, and an accent belongs to its letter.
        if matches!(letter, '\'' | '\u{2019}') || is_combining_mark(letter) {
            continue;
        }
        let is_part = letter.is_alphanumeric() || letter == '_';
        let fits = term.chars().next_back().is_none_or(|last| last.is_ascii() == letter.is_ascii());
        if !is_part || !fits {
            terms.extend((!term.is_empty()).then(|| std::mem::take(&mut term)));
        }
        if is_part {
            term.push(letter);
        }
    }
    terms.extend((!term.is_empty()).then_some(term));
    terms
}

/// The sorted terms that a text is found by: those of [`split_terms`] and the parts that
/// underscores join.
pub fn index_terms(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for term in split_terms(text) {
        if term.contains('_') {
            let parts = term.split('_').filter(|part| !part.is_empty());
            words.extend(parts.map(str::to_owned));
        }
        words.push(term);
    }
    sorted_distinct(words)
}

/// A number for the first characters of a term; terms with a common prefix are adjacent. Negative for terms that are not
/// ASCII.
pub fn term_code(word: &str) -> i64 {
    if word.is_ascii() { encode_prefix(word, 0) } else { encode_wide_prefix(word, 0) }
}

/// The lowest and the highest code of terms with a prefix.
pub fn term_code_range(prefix: &str) -> (i64, i64) {
    let highest = if prefix.is_ascii() {
        encode_prefix(prefix, BASE - 1)
    } else {
        encode_wide_prefix(prefix, (1 << CHAR_BITS) - 1)
    };
    (term_code(prefix), highest)
}

fn encode_wide_prefix(word: &str, rest: i64) -> i64 {
    let digits = word.chars().map(|letter| i64::from(u32::from(letter))).chain(std::iter::repeat(rest));
    i64::MIN + digits.take(CODED_WIDE_CHARS).fold(0, |code, digit| (code << CHAR_BITS) | digit)
}

fn encode_prefix(word: &str, rest: i64) -> i64 {
    let digits = word.bytes().map(base38_digit).chain(std::iter::repeat(rest));
    digits.take(CODED_CHARS).fold(0, |code, digit| code * BASE + digit)
}

fn base38_digit(letter: u8) -> i64 {
    let digit = match letter {
        b'0'..=b'9' => letter - b'0' + 1,
        b'_' => 11,
        b'a'..=b'z' => letter - b'a' + 12,
        _ => 0,
    };
    i64::from(digit)
}

#[cfg(test)]
mod tests {
    use super::{index_terms, split_terms, term_code, term_code_range};

    #[test]
    fn words_are_small_bare_and_parted_at_what_cannot_be_asked_for() {
        assert_eq!(split_terms("José O'Brien, née Ødegård"), ["jose", "obrien", "nee", "ø", "degard"]);
        assert_eq!(split_terms("日本 ada_Lovelace ＡＢＣ 李ada"), ["日本", "ada_lovelace", "abc", "李", "ada"]);
        assert_eq!(split_terms("Иван Петров, محمد"), ["иван", "петров", "محمد"]);
        assert_eq!(index_terms("ada_Lovelace Ada"), ["ada", "ada_lovelace", "lovelace"]);
        assert!(split_terms(" ' … ").is_empty());
    }

    #[test]
    fn numbers_of_words_that_begin_alike_lie_together() {
        let (low, high) = term_code_range("ad");
        for inside in ["ad", "ad_", "ad0", "ada", "adzzzzzzzzzzzz"] {
            assert!((low..=high).contains(&term_code(inside)), "{inside}");
        }
        let (low, high) = term_code_range("ив");
        for (term, is_inside) in
            [("ив", true), ("иван", true), ("ивя", true), ("и", false), ("ига", false), ("iv", false)]
        {
            assert_eq!((low..=high).contains(&term_code(term)), is_inside, "{term}");
        }
        let (low, high) = term_code_range("ad");
        for outside in ["a", "ac", "aczzzzzzzzzz", "ae", "b", "z"] {
            assert!(!(low..=high).contains(&term_code(outside)), "{outside}");
        }
        assert_eq!(term_code("internationalism"), term_code("internationalize"));
        assert!(term_code("zzzzzzzzzzzz") > 0 && term_code_range("zzzzzzzzzzzzz").1 > 0);
    }
}
