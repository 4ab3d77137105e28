use super::{HOSTILE, hostile_frame, minutes_ago, signed_in_frame, with_notice};
use pages::FormField;
use pages::members::{MutedWordItem, MutedWordsPage};

pub(crate) fn muted_words_states() -> Vec<(&'static str, MutedWordsPage)> {
    let word = |phrase: &str, minutes: Option<i64>| MutedWordItem {
        id: "17".to_owned(),
        phrase: phrase.to_owned(),
        expires_at: minutes.map(|minutes| minutes_ago(-minutes)),
    };
    let of = |frame, word, words| MutedWordsPage { frame, word, duration: "day".to_owned(), words };
    let several = vec![word("#finale", Some(600)), word("who won", None)];
    let saved = with_notice(signed_in_frame(), "Your changes were saved.");
    let refused = FormField::invalid("!", "Enter a word, phrase or hashtag of at most 140 characters.");
    vec![
        ("none", of(signed_in_frame(), FormField::default(), Vec::new())),
        ("several", of(saved, FormField::default(), several)),
        ("refused", of(signed_in_frame(), refused, Vec::new())),
        ("hostile", of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE), vec![word(HOSTILE, Some(5))])),
    ]
}
