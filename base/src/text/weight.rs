//! The weight of a text, and truncation of long ones.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::urls::find_urls;
use super::{extract_entities, normalize};

/// The maximum weight of a post, unless its author may write long posts.
pub const MAX_POST_WEIGHT: u32 = 280;
/// The weight of a URL, whatever its length.
pub const URL_WEIGHT: u32 = 23;
/// A longer text has more than 25,000 characters, the limit of long posts.
pub(super) const MAX_TEXT_BYTES: usize = 100_000;
/// A space and the link to the whole post.
const LINK_WEIGHT: u32 = 1 + URL_WEIGHT;
/// A kiss of two people with skin tones.
const MAX_EMOJI_CODE_POINTS: usize = 10;
/// How far before the cut the end of a word is searched.
const WORD_LOOKBACK_BYTES: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextWeight {
    /// A Latin character 1, other code points 2, an emoji 2, a URL 23.
    pub weight: u32,
    /// Whether it has none of U+FFFE, U+FFFF and U+FEFF.
    pub is_valid: bool,
    pub permitted_280: bool,
}

impl TextWeight {
    pub const fn is_permitted(self, limit: u32) -> bool {
        self.is_valid && self.weight > 0 && self.weight <= limit
    }
}

/// Weighs the composed form of `text`. `free` is the range of bytes that do not count, such as the
/// leading mentions of a reply; a range that splits a character is ignored.
pub fn weigh_text(text: &str, free: Range<usize>) -> TextWeight {
    let before = text.get(..free.start);
    let counted = match (before, text.get(free.end..)) {
        (Some(before), Some(after)) if !free.is_empty() => [before, after].concat(),
        _ => text.to_owned(),
    };
    let counted = normalize(&counted);
    let mut weighed = TextWeight {
        weight: text_weight(&counted),
        is_valid: counted.is_ascii() || !counted.contains(['\u{fffe}', '\u{ffff}', '\u{feff}']),
        permitted_280: false,
    };
    weighed.permitted_280 = weighed.is_permitted(MAX_POST_WEIGHT);
    weighed
}

fn text_weight(text: &str) -> u32 {
    // ASCII without a dot contains no URL.
    if text.len() > MAX_TEXT_BYTES || text.is_ascii() && !text.contains('.') {
        return u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    }
    let mut urls = find_urls(text).into_iter().peekable();
    let (mut weight, mut at) = (0_u32, 0);
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some(url) = urls.next_if(|url| url.start == at) {
            weight += URL_WEIGHT;
            at = url.end;
        } else if let Some(length) = text.get(at..).and_then(emoji_sequence_length) {
            weight += 2;
            at += length;
        } else {
            weight += if is_light(letter) { 1 } else { 2 };
            at += letter.len_utf8();
        }
    }
    weight
}

/// The ranges of the third configuration of the clients' library.
const fn is_light(letter: char) -> bool {
    matches!(letter, '\0'..='\u{10ff}' | '\u{2000}'..='\u{200d}' | '\u{2010}'..='\u{201f}' | '\u{2032}'..='\u{2037}')
}

/// The bytes of the longest emoji that a text begins with, if it has more than one code point.
fn emoji_sequence_length(text: &str) -> Option<usize> {
    let continues = |letter: char| extends_previous(letter) || is_regional_indicator(letter) || letter == '\u{20e3}';
    let second = text.chars().nth(1).filter(|second| !second.is_ascii())?;
    if !continues(second) {
        return None;
    }
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).skip(1).take(MAX_EMOJI_CODE_POINTS - 1);
    let starts_ascii = text.starts_with(|first: char| first.is_ascii());
    let mut longest = None;
    for end in ends {
        // Digits are looked up with and without the keycap.
        let is_emoji =
            |sequence: &str| emojis::get(sequence).is_some() && (!starts_ascii || sequence.ends_with('\u{20e3}'));
        if text.get(..end).is_some_and(is_emoji) {
            longest = Some(end);
        }
    }
    longest
}

const fn is_regional_indicator(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}')
}

/// The beginning of a normalized text that weighs more than 280, with `…` and room for a space and
/// a link. `None` if the text fits.
pub fn truncate_with_ellipsis(text: &str) -> Option<String> {
    if text_weight(text) <= MAX_POST_WEIGHT {
        return None;
    }
    let part = |end: usize| {
        let part = text.get(..end).unwrap_or_default();
        format!("{}…", part.trim_end())
    };
    let most = MAX_POST_WEIGHT - LINK_WEIGHT;
    let fits = |end: usize| text_weight(&part(end)) <= most;
    let positions = cut_positions(text);
    // The weights of prefixes ascend except at URLs: doubling and then bisecting finds one
    // that fits.
    let mut high = 128;
    while positions.get(high).is_some_and(|position| fits(*position)) {
        high *= 2;
    }
    let (mut end, mut low) = (0, 0);
    let mut high = high.min(positions.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match positions.get(middle) {
            Some(position) if fits(*position) => {
                end = *position;
                low = middle + 1;
            }
            _ => high = middle,
        }
    }
    let word = word_boundary_before(text, end);
    Some(part(if fits(word) { word } else { end }))
}

/// Byte offsets outside entities and between grapheme clusters: combining marks, the parts of an
/// emoji and the halves of a flag stay together.
fn cut_positions(text: &str) -> Vec<usize> {
    let ranges = extract_entities(text).byte_ranges();
    let mut ranges = ranges.iter().peekable();
    let (mut last, mut halves) = (None, 0_usize);
    let mut positions = Vec::new();
    for (position, letter) in text.char_indices() {
        while ranges.next_if(|range| range.end <= position).is_some() {}
        let inside = ranges.peek().is_some_and(|range| range.start < position);
        let half = is_regional_indicator(letter) && !halves.is_multiple_of(2);
        if !inside && !half && !extends_previous(letter) && last != Some('\u{200d}') {
            positions.push(position);
        }
        halves = if is_regional_indicator(letter) { halves + 1 } else { 0 };
        last = Some(letter);
    }
    positions
}

/// Joiners, skin tones, keycaps, tags, accents.
fn extends_previous(letter: char) -> bool {
    let part_of_emoji = matches!(
        letter,
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}'
    );
    part_of_emoji || is_combining_mark(letter)
}

/// The end of a word shortly before `end`, or `end`.
fn word_boundary_before(text: &str, end: usize) -> usize {
    let (before, after) = text.split_at_checked(end).unwrap_or((text, ""));
    if after.starts_with(char::is_whitespace) {
        return end;
    }
    match before.rfind(char::is_whitespace) {
        Some(space) if end - space <= WORD_LOOKBACK_BYTES => space,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_POST_WEIGHT, truncate_with_ellipsis, weigh_text};
    use crate::text::{extract_entities, normalize};

    fn weight(text: &str) -> u32 {
        weigh_text(text, 0..0).weight
    }

    #[test]
    fn letters_emoji_and_addresses() {
        for (text, wanted) in [
            ("", 0),
            ("hello", 5),
            ("cafe\u{301}", 4),
            ("日本", 4),
            ("👨‍👩‍👧‍👦👍🏽🇫🇷", 6),
            ("🇫🇷🇩🇪 🇯🇵🇺", 9),
            ("1️⃣🇫🇷❤️🏳️‍🌈🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿", 12),
            ("日!@ana x.日本.", 15),
            ("https://example.com/a/very/long/path?with=a&query=of#fragment", 23),
            ("see example.com.", 28),
            ("1.5 and ...", 11),
            ("a@example.com", 13),
        ] {
            assert_eq!(weight(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_limit_is_280() {
        assert!(weigh_text(&"x".repeat(280), 0..0).permitted_280);
        assert!(!weigh_text(&"x".repeat(281), 0..0).permitted_280);
        assert!(weigh_text(&"日".repeat(140), 0..0).permitted_280);
        assert!(!weigh_text(&"日".repeat(141), 0..0).permitted_280);
        assert!(!weigh_text("", 0..0).permitted_280);
        assert!(!weigh_text("bad \u{ffff}", 0..0).permitted_280);
        assert!(weigh_text(&"x".repeat(25_000), 0..0).is_permitted(25_000));
        assert!(!weigh_text(&"日.".repeat(50_000), 0..0).is_permitted(25_000));
    }

    #[test]
    fn long_urls_and_many_labels_are_weighed() {
        let url = format!("https://example.com/{}", "a".repeat(4000));
        assert_eq!(weight(&format!("{url} {url}")), 47);
        assert_eq!(weight(&"a.".repeat(24_000)), 48_000);
    }

    #[test]
    fn leading_mentions_can_be_free() {
        let text = format!("@ana @bob {}", "x".repeat(280));
        assert!(!weigh_text(&text, 0..0).permitted_280);
        let found = extract_entities(&text);
        let leading = found.leading_mentions(&text);
        let end = leading.last().unwrap().bytes.end;
        // The space after the mentions counts unless it is in the range.
        assert_eq!(weigh_text(&text, 0..end).weight, 281);
        assert_eq!(weigh_text(&text, 0..end + 1).weight, 280);
        // Ranges that are none count for nothing.
        assert_eq!(weigh_text("日本", 0..1).weight, 4);
        assert_eq!(weigh_text("ab", 1..9).weight, 2);
    }

    #[test]
    fn a_long_text_is_cut_behind_a_word() {
        assert_eq!(truncate_with_ellipsis(&"x".repeat(280)), None);
        let words = "word ".repeat(100);
        let part = truncate_with_ellipsis(&words).unwrap();
        assert!(part.ends_with("word…"), "{part}");
        assert_eq!(weight(&part), 251 + 5);

        let part = truncate_with_ellipsis(&"日".repeat(200)).unwrap();
        assert_eq!(part.chars().count(), 127 + 1);
        let family = "👨‍👩‍👧‍👦".repeat(200);
        let part = truncate_with_ellipsis(&family).unwrap();
        assert_eq!(part.trim_end_matches('…').len() % "👨‍👩‍👧‍👦".len(), 0);
        let bare = "a.co ".repeat(80);
        assert!(weight(&truncate_with_ellipsis(&bare).unwrap()) <= 280 - 24);
    }

    proptest! {
        #[test]
        fn a_first_part_always_fits(text in r"([a-z]{1,9} |https://x\.co/[a-z]{1,30} |a\.com |日本|👩‍🚀|e\u{301}|\PC){0,200}") {
            let text = normalize(&text);
            match truncate_with_ellipsis(&text) {
                None => prop_assert!(weight(&text) <= MAX_POST_WEIGHT),
                Some(part) => {
                    let kept = part.strip_suffix('…').unwrap();
                    prop_assert!(text.starts_with(kept));
                    let linked = format!("{part} https://t.co/0123456789");
                    prop_assert!(weight(&linked) <= MAX_POST_WEIGHT);
                }
            }
        }
    }
}
