//! The features that the language models count: hashed n-grams of the letters of a word.
//!
//! The trainer (`bench/language`) compiles this file too, so that it counts the same.

/// n-grams have up to this many characters; the space before and after a word is one.
const MAX_LENGTH: usize = 4;
/// A longer word counts as one of this length.
const MAX_WORD_LETTERS: usize = 32;
/// The rest of a text with more n-grams is ignored: about 350 letters.
const MAX_NGRAMS: usize = 1_500;
const MULTIPLIER: u32 = 0x9e37_79b1;

/// Calls `add` with a number below 2^`bits` for each n-gram, and for each word that is longer than one.
pub(crate) fn hash_ngrams(text: &str, bits: u32, mut add: impl FnMut(usize)) {
    let mut word = Vec::with_capacity(MAX_WORD_LETTERS + 2);
    let mut left = MAX_NGRAMS;
    for letter in text.chars().chain([' ']) {
        if is_word_letter(letter) {
            word.extend(letter.to_lowercase().take(MAX_WORD_LETTERS.saturating_sub(word.len())));
        } else if !word.is_empty() {
            hash_word(&mut word, bits, &mut left, &mut add);
            word.clear();
        }
        if left == 0 {
            break;
        }
    }
}

fn hash_word(word: &mut Vec<char>, bits: u32, left: &mut usize, add: &mut impl FnMut(usize)) {
    word.insert(0, ' ');
    word.push(' ');
    let mut hashed = |hash: u32| {
        if *left > 0 {
            *left -= 1;
            add(usize::try_from(hash.wrapping_mul(0x85eb_ca6b) >> (32 - bits)).unwrap_or(0));
        }
    };
    for start in 0..word.len() {
        let mut hash = 0x811c_9dc5;
        for (length, letter) in word.iter().skip(start).take(MAX_LENGTH).enumerate() {
            hash = mix_letter(hash, *letter);
            // A space alone says nothing.
            if length > 0 || *letter != ' ' {
                hashed(hash);
            }
        }
    }
    if word.len() > MAX_LENGTH {
        hashed(word.iter().fold(0x0123_4567, |hash, letter| mix_letter(hash, *letter)));
    }
}

fn mix_letter(hash: u32, letter: char) -> u32 {
    let hash = (hash ^ u32::from(letter)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 15)
}

/// Letters and the vowel signs that belong to them.
fn is_word_letter(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '\u{300}'..='\u{36f}' | '\u{93c}' | '\u{94d}')
}
