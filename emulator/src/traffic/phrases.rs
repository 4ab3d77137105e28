//! Phrases in several languages, about everyday things.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Language {
    English,
    German,
    Spanish,
    French,
    Portuguese,
    Japanese,
    Arabic,
}

impl Language {
    /// Of people whose profile does not show one; most write English.
    pub(super) const COMMON: [Self; 8] = [
        Self::English,
        Self::English,
        Self::English,
        Self::English,
        Self::Spanish,
        Self::Portuguese,
        Self::French,
        Self::German,
    ];

    /// If the script of a text shows it.
    pub(super) fn find_script(text: &str) -> Option<Self> {
        text.chars().find_map(|character| match character {
            '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' => Some(Self::Japanese),
            '\u{0600}'..='\u{06ff}' => Some(Self::Arabic),
            _ => None,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct PhraseBook {
    pub(super) language: Language,
    /// Between sentences.
    pub(super) space: &'static str,
    /// A subject and its hashtag.
    pub(super) subjects: Vec<(&'static str, &'static str)>,
    /// Sentences about a subject, which replaces `{}`.
    pub(super) statements: Vec<&'static str>,
    pub(super) remarks: Vec<&'static str>,
    pub(super) replies: Vec<&'static str>,
    pub(super) mornings: Vec<&'static str>,
}

/// Ordered, since a seed determines which are chosen.
pub(super) static PHRASE_BOOKS: LazyLock<Vec<PhraseBook>> =
    LazyLock::new(|| serde_json::from_str(include_str!("phrases.json")).unwrap_or_default());
