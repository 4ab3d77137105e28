//! Splits text into words, for posts and queries alike.
//!
//! A word is a run of letters, marks and digits; everything else separates words. In scripts
//! without spaces (Han, kana, Thai, Lao, Khmer, Burmese) each character is a word, so that a
//! keyword is found anywhere inside a run. Each emoji is a word; variation selectors and joiners
//! are dropped. Links in a text contribute no words. Case is ignored; accents of Latin and Greek
//! letters are significant for streams and folded for search.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::post_features::MatchMode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordField {
    Text = 1,
    Link,
    Title,
    Description,
    Bio,
    Name,
    Location,
    Place,
    Entity,
    Source,
}

const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

pub(crate) const STOP_WORDS: [&str; 42] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
    "i", "you", "rt", "http", "https", "www", "com", "have", "from",
];

pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

enum CharClass {
    Word,
    Alone,
    Mark,
    Dropped,
    Gap,
}

fn char_class(letter: char) -> CharClass {
    match letter {
        _ if letter.is_ascii_alphanumeric() => CharClass::Word,
        _ if letter.is_ascii() => CharClass::Gap,
        '\u{fe0e}' | '\u{fe0f}' | '\u{200c}' | '\u{200d}' => CharClass::Dropped,
        _ if is_combining_mark(letter) => CharClass::Mark,
        _ if is_unspaced(letter) && !letter.is_alphanumeric() => CharClass::Gap,
        _ if is_unspaced(letter) || is_emoji(letter) => CharClass::Alone,
        _ if letter.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Gap,
    }
}

/// Whether a letter's script is written without spaces.
pub const fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}')
}

const fn is_emoji(letter: char) -> bool {
    matches!(letter,
        '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Spreads a hash over all bits.
pub(crate) const fn mix_hash(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The number of a feature of some kind. Never 0.
pub(crate) const fn feature_hash(kind: u64, hash: u64) -> u64 {
    mix_hash(hash ^ kind.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1
}

/// The feature "this field contains this word", hashed by [`visit_words`].
#[expect(clippy::as_conversions, reason = "a fieldless enum's number")]
pub const fn word_feature(field: WordField, word: u64) -> u64 {
    feature_hash(field as u64, word)
}

/// Lower case and composed form, as queries store and print values.
pub fn normalize_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).nfc().collect()
}

fn hash_bytes(text: &str) -> u64 {
    text.bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(FNV_PRIME))
}

/// The hash of a whole text (a tag, a username), in any case.
pub fn hash_text(text: &str, mode: MatchMode) -> u64 {
    if text.is_ascii() {
        return hash_bytes(text);
    }
    let plain: String =
        normalize_case(text).chars().filter(|letter| !matches!(char_class(*letter), CharClass::Dropped)).collect();
    match mode {
        MatchMode::Stream => hash_bytes(&plain),
        MatchMode::Search => hash_bytes(&fold_accents(&plain)),
    }
}

/// Folds the accents of Latin and Greek letters.
fn fold_accents(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut western = false;
    for letter in text.nfd() {
        match letter {
            '\u{300}'..='\u{36f}' if western => {}
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' | 'ð' => plain.push('d'),
            'þ' => plain.push_str("th"),
            'ı' => plain.push('i'),
            other => {
                western = other < '\u{400}';
                plain.push(other);
            }
        }
    }
    plain.nfc().collect()
}

/// The hashed words of a query value, in order.
pub fn hash_words(field: WordField, text: &str, mode: MatchMode) -> Box<[u64]> {
    let mut found = Vec::new();
    visit_words(text, mode, field != WordField::Text, |word| found.push(word));
    found.into_boxed_slice()
}

/// Calls `call` with the hash of each word; `links` tells whether words inside links count.
pub fn visit_words(text: &str, mode: MatchMode, links: bool, mut call: impl FnMut(u64)) {
    let mut open: Option<OpenWord> = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match char_class(letter) {
            CharClass::Word => match &mut open {
                Some(word) if !word.alone => word.push(letter),
                _ => {
                    emit_word(open.take(), at, text, mode, &mut call);
                    open = Some(OpenWord::new(at, letter, false));
                }
            },
            CharClass::Alone => {
                emit_word(open.take(), at, text, mode, &mut call);
                open = Some(OpenWord::new(at, letter, true));
            }
            CharClass::Mark | CharClass::Dropped => {
                if let Some(word) = &mut open {
                    word.push(letter);
                }
            }
            CharClass::Gap => {
                let Some(word) = open.take() else { continue };
                if letter == ':' && !links && is_link(text, word.start, at) {
                    // What ends the link may begin a word.
                    while letters.clone().next().is_some_and(|(_, next)| next.is_ascii() && !next.is_whitespace()) {
                        letters.next();
                    }
                } else {
                    emit_word(Some(word), at, text, mode, &mut call);
                }
            }
        }
    }
    emit_word(open, text.len(), text, mode, &mut call);
}

struct OpenWord {
    start: usize,
    hash: u64,
    ascii: bool,
    alone: bool,
}

impl OpenWord {
    fn new(start: usize, letter: char, alone: bool) -> Self {
        let mut word = Self { start, hash: FNV_OFFSET, ascii: true, alone };
        word.push(letter);
        word
    }

    fn push(&mut self, letter: char) {
        if let Ok(byte) = u8::try_from(letter)
            && byte.is_ascii()
        {
            self.hash = (self.hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(FNV_PRIME);
        } else {
            self.ascii = false;
        }
    }
}

fn emit_word(open: Option<OpenWord>, end: usize, text: &str, mode: MatchMode, call: &mut impl FnMut(u64)) {
    let Some(word) = open else { return };
    if word.ascii {
        call(word.hash);
    } else if let Some(letters) = text.get(word.start..end) {
        call(hash_text(letters, mode));
    }
}

fn is_link(text: &str, start: usize, end: usize) -> bool {
    let scheme = text.get(start..end).unwrap_or_default();
    (scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
        && text.get(end..).is_some_and(|rest| rest.starts_with("://"))
}

#[cfg(test)]
mod tests {
    use super::{WordField, hash_text, normalize_case};
    use crate::post_features::MatchMode::{self, Search, Stream};

    fn words(text: &str, reading: MatchMode) -> Box<[u64]> {
        super::hash_words(WordField::Text, text, reading)
    }

    fn said(text: &str) -> Box<[u64]> {
        words(text, Stream)
    }

    #[test]
    fn punctuation_symbols_and_scripts_part_words() {
        let of = |list: &[&str]| list.iter().map(|word| hash_text(word, Stream)).collect::<Box<[_]>>();
        assert_eq!(said("Coca-Cola, gnip's!"), of(&["coca", "cola", "gnip", "s"]));
        assert_eq!(said("iPhone東京タワー"), of(&["iphone", "東", "京", "タ", "ワ", "ー"]));
        assert_eq!(said("so😀😀cool ❤️"), of(&["so", "😀", "😀", "cool", "❤"]));
        assert_eq!(said("ภาษา กำ"), of(&["ภ", "า", "ษ", "า", "ก", "ำ"]));
        assert_eq!(said("see https://t.co/a?b=c now"), of(&["see", "now"]));
        assert_eq!(said("https://t.co/a東京 https://t.co/b🎉"), of(&["東", "京", "🎉"]));
        assert_eq!(said("http: x"), of(&["http", "x"]));
        assert_eq!(said("한국어를 배우다"), of(&["한국어를", "배우다"]));
        assert_eq!(said("@user_name #tag"), of(&["user", "name", "tag"]));
        assert_eq!(said("--- \u{301} "), of(&[]));
    }

    #[test]
    fn case_never_counts_and_accents_count_for_streams() {
        assert_eq!(said("ÉCOLE"), said("e\u{301}cole"));
        assert_ne!(said("école"), said("ecole"));
        assert_eq!(words("Ærøskøbing CAFÉ", Search), words("aeroskobing cafe", Search));
        assert_eq!(words("Καφές", Search), words("ΚΑΦΕΣ", Search));
        assert_ne!(words("й", Search), words("и", Search));
        assert_ne!(words("が", Search), words("か", Search));
        assert_eq!(normalize_case("Straße İ"), "straße i\u{307}");
    }
}
