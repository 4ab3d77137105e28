//! The text of posts and names: weight, entities, language and allowed characters.

mod annotations;
mod entities;
mod language;
mod letters;
mod names;
pub mod people;
mod signs;
mod urls;
mod weight;

use std::borrow::Cow;

use memchr::memchr3;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};

pub use annotations::{FoundName, NameMatcher};
pub use entities::{Entities, Entity, extract_entities};
pub use language::{identify_language, identify_post_language};
pub use names::{NAME_LENGTH, NameProblem, find_name_problem, is_valid_username};
pub use weight::{MAX_POST_WEIGHT, TextWeight, URL_WEIGHT, truncate_with_ellipsis, weigh_text};

/// Unicode's composed form (NFC), in which text is stored and measured.
pub fn normalize(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Unicode's marks (such as vowel signs), without those of which nothing is seen.
pub fn is_mark(letter: char) -> bool {
    let is_invisible = matches!(letter, '\u{34f}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    is_combining_mark(letter) && !is_invisible
}

/// Without the marks that are in no composed letter and belong to no script, or to another one than their letter: a word
/// that is struck through is the same word. A script is told by its block of 256 characters.
pub fn remove_decoration(text: &str) -> String {
    let is_general = |mark: char| {
        matches!(mark, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}' | '\u{3099}'..='\u{309a}' | '\u{fe20}'..='\u{fe2f}')
    };
    let mut letter = '\0';
    let mut plain = String::with_capacity(text.len());
    for next in text.nfc() {
        if is_mark(next) {
            // In the blocks before Hebrew, letters with marks have composed forms.
            let has_marks = letter >= '\u{590}' && u32::from(letter) >> 8 == u32::from(next) >> 8;
            if is_general(next) || !has_marks {
                continue;
            }
        } else {
            letter = next;
        }
        plain.push(next);
    }
    plain
}

pub fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || is_mark(letter)
}

/// The runs of letters, digits and their marks.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter| !is_word_char(letter)).filter(|word| word.contains(char::is_alphanumeric))
}

/// Whether a phrase is in a text with no character of a word next to it, unless the phrase itself ends there with
/// another one.
pub fn contains_phrase(text: &str, phrase: &str, is_word_char: impl Fn(char) -> bool) -> bool {
    let starts_with_word = phrase.starts_with(&is_word_char);
    let ends_with_word = phrase.ends_with(&is_word_char);
    text.match_indices(phrase).any(|(at, found)| {
        let before = text.get(..at).and_then(|start| start.chars().next_back());
        let after = text.get(at.saturating_add(found.len())..).and_then(|rest| rest.chars().next());
        !(starts_with_word && before.is_some_and(&is_word_char) || ends_with_word && after.is_some_and(&is_word_char))
    })
}

/// Escapes `&`, `<` and `>`, as the API sends them.
pub fn escape_html(text: &str) -> Cow<'_, str> {
    if memchr3(b'&', b'<', b'>', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{contains_phrase, escape_html, normalize, remove_decoration, split_words};

    #[test]
    fn marks_belong_to_words() {
        let words = |text| split_words(text).collect::<Vec<_>>();
        assert_eq!(words("कम्प्यूटर, தமிழ் i\u{307}stanbul"), ["कम्प्यूटर", "தமிழ்", "i\u{307}stanbul"]);
        assert_eq!(words("one \u{301}❤\u{fe0f} 2"), ["one", "2"]);
    }

    #[test]
    fn only_marks_of_the_script_of_their_letter_stay() {
        for mark in ['\u{336}', '\u{489}', '\u{483}', '\u{951}', '\u{302a}', '\u{a670}', '\u{20dd}'] {
            assert_eq!(remove_decoration(&format!("a{mark}b {mark}я{mark} 7{mark}")), "ab я 7", "{mark:?}");
        }
        for text in ["कम्प्यूटर", "ที่นี่", "مُحَمَّد", "שָׁלוֹם", "தமிழ்", "が", "café"]
        {
            assert_eq!(remove_decoration(text), normalize(text), "{text}");
        }
        assert_eq!(remove_decoration("cafe\u{301} か\u{336}"), "café か");
    }

    #[test]
    fn phrase_is_found_only_between_other_words() {
        for (text, phrase) in [("buy cheap pills now", "cheap pills"), ("#pills!", "pills"), ("I like C++11", "C++")] {
            assert!(contains_phrase(text, phrase, char::is_alphanumeric), "{phrase} in {text}");
        }
        for (text, phrase) in [("spillsway", "pills"), ("classic", "ass"), ("#finale2", "#finale")] {
            assert!(!contains_phrase(text, phrase, char::is_alphanumeric), "{phrase} in {text}");
        }
    }

    #[test]
    fn three_characters_are_escaped() {
        assert_eq!(escape_html("a < b && c > \"d\""), "a &lt; b &amp;&amp; c &gt; \"d\"");
        assert_eq!(escape_html("&amp;"), "&amp;amp;");
    }

    #[test]
    fn one_letter_has_one_form() {
        assert_eq!(normalize("cafe\u{301}"), "café");
        assert_eq!(normalize("Å"), "Å");
    }

    proptest! {
        #[test]
        fn escaping_comes_back(text in any::<String>()) {
            let read = escape_html(&text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
            prop_assert_eq!(read, text);
        }
    }
}
