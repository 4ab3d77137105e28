//! One pass of the `twitter-text` library over a text, with workarounds for its errors.

use std::borrow::Cow;
use std::ops::Range;

use twitter_text::entity::{self, Type};
use twitter_text::extractor::{Extract, ValidatingExtractor};
use twitter_text_config::config_v3;

use super::URL_WEIGHT;

pub(super) struct ScannedEntity {
    pub(super) kind: Type,
    pub(super) points: Range<usize>,
    pub(super) bytes: Range<usize>,
    /// Bytes of a sign (`#`, `@`, `$`) that is not part of the name.
    pub(super) sign_bytes: usize,
}

/// The library takes quadratic time for a text without spaces, so the text is split into pieces. No
/// URL is longer than a piece.
const MAX_PIECE_BYTES: usize = 4096;

/// The weight and the entities, up to the piece with which the text weighs more than `max_weight`.
pub(super) fn scan_text(prepared: &str, max_weight: u32) -> (u32, Vec<ScannedEntity>) {
    let mut weight = 0_i64;
    let mut found = Vec::new();
    let (mut points, mut bytes) = (0, 0);
    let mut rest = prepared;
    while !rest.is_empty() && weight <= i64::from(max_weight) {
        let (piece, tail) = rest.split_at_checked(piece_end(rest)).unwrap_or((rest, ""));
        rest = tail;
        let from = found.len();
        weight += scan_piece(piece, &mut found);
        for place in found.iter_mut().skip(from) {
            place.points = place.points.start + points..place.points.end + points;
            place.bytes = place.bytes.start + bytes..place.bytes.end + bytes;
        }
        if !rest.is_empty() {
            points += piece.chars().count();
            bytes += piece.len();
        }
    }
    (u32::try_from(weight).unwrap_or_default(), found)
}

/// The end of the last space in a piece, as no entity contains one.
fn piece_end(text: &str) -> usize {
    if text.len() <= MAX_PIECE_BYTES {
        return text.len();
    }
    let end = text.floor_char_boundary(MAX_PIECE_BYTES);
    let piece = text.get(..end).unwrap_or_default();
    let space = piece.char_indices().rev().find(|(_, letter)| letter.is_whitespace());
    space.map_or(end, |(place, letter)| place + letter.len_utf8())
}

fn scan_piece(piece: &str, found: &mut Vec<ScannedEntity>) -> i64 {
    let extractor = ValidatingExtractor::new_with_nfc_input(config_v3(), piece);
    // Includes mentions of other servers and of lists, so that they are not taken for URLs.
    let result = extractor.extract(piece, |_| true);
    let mut weight = i64::from(result.parse_results.weighted_length);
    let mut cursor = Utf16Cursor::new(piece);
    for entity in &result.entities {
        let Some(place) = cursor.locate_entity(entity) else {
            continue;
        };
        if entity.t == Type::URL && !has_scheme(entity.value) {
            if !may_start_url(piece.get(..place.bytes.start)) {
                continue;
            }
            // The library counts a URL without `https://` character by character.
            weight += i64::from(URL_WEIGHT) - i64::from(plain_weight(entity.value));
        }
        if entity.t != Type::FEDERATEDMENTION && entity.list_slug.is_empty() {
            found.push(place);
        }
    }
    weight
}

fn plain_weight(text: &str) -> i32 {
    let extractor = ValidatingExtractor::new_with_nfc_input(config_v3(), text);
    extractor.extract_scan(text).parse_results.weighted_length
}

fn has_scheme(address: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// A URL without a scheme does not begin in the middle of a word.
fn may_start_url(before: Option<&str>) -> bool {
    before.is_some_and(|before| !before.ends_with(['-', '_', '.', '/', '@', '#', '$', '＠', '＃', '／']))
}

/// A text of the same length in bytes and code points that the library handles correctly: version
/// 0.3.1 panics at `日!@` and misses `example.com` before a full stop.
pub(super) fn prepare_for_extractor(text: &str) -> Cow<'_, str> {
    if !text.contains(['@', '＠', '.']) {
        return Cow::Borrowed(text);
    }
    let mut mask = String::with_capacity(text.len());
    let (mut before, mut last) = (None, None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let inside = splits_a_character(before, last);
        mask.push(match letter {
            // Neither a mention nor an email address, as the library only checks for `RT` here.
            '@' if inside => '/',
            '＠' if inside => '／',
            '.' if letters.peek().is_none_or(|next| next.is_whitespace() || *next == '.') => ',',
            other => other,
        });
        before = last;
        last = Some(letter);
    }
    Cow::Owned(mask)
}

/// Whether the library would look two bytes back, into the middle of a character.
fn splits_a_character(before: Option<char>, last: Option<char>) -> bool {
    match last {
        Some('＠') => true,
        Some(last) if last.is_ascii_alphanumeric() || "_@!#$%&*=/".contains(last) => {
            before.is_some_and(|before| !before.is_ascii())
        }
        _ => false,
    }
}

/// The text with separators before flags, and how many were added: version 0.3.1 of the library
/// takes a flag for a part of the emoji before it.
pub(super) fn separate_flags(text: &str) -> (Cow<'_, str>, u32) {
    if !text.contains(is_regional_indicator) {
        return (Cow::Borrowed(text), 0);
    }
    let (mut separated, mut added) = (String::with_capacity(text.len() * 2), 0);
    let mut halves = 0_usize;
    for letter in text.chars() {
        if is_regional_indicator(letter) {
            if halves.is_multiple_of(2) && separated.ends_with(|last: char| !last.is_ascii()) {
                separated.push(SEPARATOR);
                added += 1;
            }
            halves += 1;
        } else {
            halves = 0;
        }
        separated.push(letter);
    }
    (Cow::Owned(separated), added)
}

/// Weighs 1 and belongs to no entity.
const SEPARATOR: char = '\u{1}';

pub(super) const fn is_regional_indicator(letter: char) -> bool {
    matches!(letter, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Converts UTF-16 offsets to code points and bytes, in one pass.
struct Utf16Cursor<'a> {
    rest: std::str::Chars<'a>,
    units: usize,
    points: usize,
    length: usize,
}

impl<'a> Utf16Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.chars(), units: 0, points: 0, length: text.len() }
    }

    fn locate_entity(&mut self, entity: &entity::Entity<'_>) -> Option<ScannedEntity> {
        let (start, first_byte) = self.advance(entity.start)?;
        let (end, last_byte) = self.advance(entity.end)?;
        Some(ScannedEntity {
            kind: entity.t,
            points: start..end,
            bytes: first_byte..last_byte,
            sign_bytes: (last_byte - first_byte).saturating_sub(entity.value.len()),
        })
    }

    fn advance(&mut self, unit: i32) -> Option<(usize, usize)> {
        let unit = usize::try_from(unit).ok()?;
        while self.units < unit {
            self.units += self.rest.next()?.len_utf16();
            self.points += 1;
        }
        Some((self.points, self.length - self.rest.as_str().len()))
    }
}
