//! The mentions, hashtags and cashtags of a text, by the rules of the clients' library
//! (docs/decisions/0015-text-vectors.md).

use std::ops::Range;

use super::letters::{
    count_while, is_hashtag_letter, is_latin_with_accent, is_letter_or_mark, is_punctuation, is_space,
};

const MAX_MENTION_LENGTH: usize = 20;
const MAX_LIST_LENGTH: usize = 25;
const MAX_CASHTAG_LENGTH: usize = 6;
const MAX_CASHTAG_SUFFIX_LENGTH: usize = 2;

/// A mention, or a link to a list of a user.
pub(super) struct FoundMention {
    pub(super) bytes: Range<usize>,
    pub(super) is_list: bool,
}

/// Ranges of bytes, in text order, with the sign.
pub(super) fn find_mentions(text: &str) -> Vec<FoundMention> {
    let mut found = Vec::new();
    let mut last_end = 0;
    for (at, sign) in text.match_indices(['@', '＠']) {
        let name = text.get(at + sign.len()..).unwrap_or_default();
        let length = count_while(name, is_name_letter).min(MAX_MENTION_LENGTH);
        if length == 0 || !may_precede_mention(text.get(last_end..at).unwrap_or_default(), last_end == 0) {
            continue;
        }
        let list = list_length(name.get(length..).unwrap_or_default());
        last_end = at + sign.len() + length + list;
        let rest = text.get(last_end..).unwrap_or_default();
        if !rest.starts_with(['@', '＠']) && !rest.starts_with(is_latin_with_accent) && !rest.starts_with("://") {
            found.push(FoundMention { bytes: at..last_end, is_list: list > 0 });
        }
    }
    found
}

/// `before` begins at the end of the last mention, or is all that is before.
fn may_precede_mention(before: &str, is_all: bool) -> bool {
    let Some(last) = before.chars().next_back() else { return is_all };
    if !is_name_letter(last) && !"!#$%&*@＠".contains(last) {
        return true;
    }
    // Of a repost in the manner of its time: `RT@name`.
    let rest = before.len().checked_sub(2).and_then(|at| before.split_at_checked(at));
    let rest = rest.filter(|(_, end)| end.eq_ignore_ascii_case("rt")).map(|(rest, _)| rest);
    rest.is_some_and(|rest| match rest.chars().next_back() {
        Some(last) => !is_name_letter(last) && !"+~.-".contains(last),
        None => is_all,
    })
}

/// Of `/list`; 0 if there is none.
fn list_length(text: &str) -> usize {
    let Some(name) = text.strip_prefix('/').filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())) else {
        return 0;
    };
    1 + count_while(name, |c| is_name_letter(c) || c == '-').min(MAX_LIST_LENGTH)
}

/// Ranges of bytes, in text order, with the sign.
pub(super) fn find_hashtags(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut last_end = 0;
    for (at, sign) in text.match_indices(['#', '＃']) {
        let name = text.get(at + sign.len()..).unwrap_or_default();
        let name = name.get(..count_while(name, is_hashtag_letter)).unwrap_or_default();
        let may_precede = |c: char| matches!(c, '\u{fe0e}' | '\u{fe0f}') || !is_hashtag_letter(c) && c != '&';
        let before = text.get(last_end..at).unwrap_or_default();
        let is_boundary = before.chars().next_back().map_or(last_end == 0, may_precede);
        // A number sign in an emoji is none.
        let is_keycap = name.starts_with(['\u{fe0f}', '\u{20e3}']);
        if !is_boundary || is_keycap || !name.contains(is_letter_or_mark) {
            continue;
        }
        last_end = at + sign.len() + name.len();
        let rest = text.get(last_end..).unwrap_or_default();
        if !rest.starts_with(['#', '＃']) && !rest.starts_with("://") {
            found.push(at..last_end);
        }
    }
    found
}

/// Ranges of bytes, in text order, with the sign.
pub(super) fn find_cashtags(text: &str) -> Vec<Range<usize>> {
    let cashtag = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        let length = cashtag_length(text.get(at + 1..).unwrap_or_default());
        before.chars().next_back().is_none_or(is_space).then_some(at..at + 1 + length?)
    };
    text.match_indices('$').filter_map(|(at, _)| cashtag(at)).collect()
}

/// Up to six letters, possibly with a suffix of one or two.
fn cashtag_length(text: &str) -> Option<usize> {
    let letters = |text: &str| count_while(text, |c| c.is_ascii_alphabetic());
    let may_end = |end: usize| {
        let next = text.get(end..).unwrap_or_default().chars().next();
        next.is_none_or(|next| next.is_whitespace() || next == '\u{feff}' || is_punctuation(next))
    };
    let symbol = letters(text);
    let rest = text.get(symbol..).unwrap_or_default();
    let suffix = if rest.starts_with(['.', '_']) { letters(rest.get(1..).unwrap_or_default()) } else { 0 };
    let with_suffix = (1..=MAX_CASHTAG_SUFFIX_LENGTH).contains(&suffix).then_some(symbol + 1 + suffix);
    let end = with_suffix.filter(|end| may_end(*end)).or(Some(symbol).filter(|end| may_end(*end)));
    end.filter(|_| (1..=MAX_CASHTAG_LENGTH).contains(&symbol))
}

const fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
