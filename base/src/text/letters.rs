//! Classes of characters of the clients' library (docs/decisions/0015-text-vectors.md).

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// A letter or mark.
pub(super) fn is_letter_or_mark(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_alphabetic();
    }
    matches!(letter.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark)
}

pub(super) fn is_hashtag_letter(letter: char) -> bool {
    const OTHERS: &str = "_\u{200c}\u{200d}\u{a67e}\u{5be}\u{5f3}\u{5f4}～〜゛゜゠・〃\u{f0b}\u{f0c}·";
    if letter.is_ascii() {
        return letter.is_ascii_alphanumeric() || letter == '_';
    }
    is_letter_or_mark(letter) || letter.general_category() == GeneralCategory::DecimalNumber || OTHERS.contains(letter)
}

pub(super) const fn is_latin_with_accent(letter: char) -> bool {
    matches!(
        letter,
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{24f}' | '\u{253}' | '\u{254}' | '\u{256}' | '\u{257}'
            | '\u{259}' | '\u{25b}' | '\u{263}' | '\u{268}' | '\u{26f}' | '\u{272}' | '\u{289}' | '\u{28b}' | '\u{2bb}'
            | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}'
    )
}

pub(super) fn is_punctuation(letter: char) -> bool {
    "!'#%&()*+,\\-./:;<=>?@[]^_{|}~$".contains(letter)
}

pub(super) const fn is_space(letter: char) -> bool {
    matches!(
        letter,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200a}' | '\u{2028}'
            | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// In no post.
pub(super) const fn is_invalid(letter: char) -> bool {
    matches!(letter, '\u{fffe}' | '\u{feff}' | '\u{ffff}')
}

pub(super) const fn is_direction_mark(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}')
}

/// The bytes that a text begins with of the characters of a class.
pub(super) fn count_while(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is_part(letter)).unwrap_or(text.len())
}
