//! Language identification: by script where the script decides, otherwise by a trained model.

mod model;
mod ngrams;
mod scripts;

use std::borrow::Cow;

use self::scripts::Script;
use super::{Entities, extract_entities};

/// No language is clearly the most likely, or it has no code.
const UNDETERMINED: &str = "und";
/// Nothing is written: media or a card at most.
const NO_TEXT: &str = "zxx";
const ONLY_HASHTAGS: &str = "qht";
const ONLY_MENTIONS: &str = "qam";
const ONLY_CASHTAGS: &str = "qct";
const ONLY_MEDIA_LINKS: &str = "qme";
const VERY_SHORT: &str = "qst";
/// Symbols without a letter or a digit.
const ARTIFICIAL: &str = "art";
/// Fewer letters are too short for a language; one letter of Chinese, Japanese or Korean is a syllable or a word.
const MIN_LETTERS: usize = 4;
const MIN_SYLLABLES: usize = 2;

/// The BCP 47 code of a text's language, or `und`. Entities are ignored.
pub fn identify_language(text: &str) -> &'static str {
    match identify_post_language(text, &extract_entities(text)) {
        NO_TEXT | ONLY_HASHTAGS | ONLY_MENTIONS | ONLY_CASHTAGS | ONLY_MEDIA_LINKS | VERY_SHORT | ARTIFICIAL => {
            UNDETERMINED
        }
        language => language,
    }
}

/// As [`identify_language`], or the code for what a post without a language contains (`qht`, `qam`, `qct`, `qme`,
/// `qst`, `zxx`, `art`). `entities` are those of the text.
pub fn identify_post_language(text: &str, entities: &Entities) -> &'static str {
    let prose = strip_entities(text, entities);
    let Some((script, letters)) = dominant_script(&prose) else {
        return code_without_letters(text, &prose, entities);
    };
    let is_syllabic = matches!(script, Script::Han | Script::Kana | Script::Single("ko"));
    if letters < if is_syllabic { MIN_SYLLABLES } else { MIN_LETTERS } {
        return VERY_SHORT;
    }
    match script {
        Script::Latin => model::LATIN.find_language(&prose),
        Script::Cyrillic => model::CYRILLIC.find_language(&prose),
        Script::Arabic => scripts::arabic_script_language(&prose).or_else(|| model::ARABIC.find_language(&prose)),
        Script::Devanagari => model::DEVANAGARI.find_language(&prose),
        Script::Kana => Some("ja"),
        Script::Han => Some(scripts::han_language(&prose)),
        Script::Single(code) => Some(code),
    }
    .unwrap_or(UNDETERMINED)
}

fn code_without_letters(text: &str, prose: &str, entities: &Entities) -> &'static str {
    if prose.contains(|letter: char| letter.is_alphanumeric()) {
        return UNDETERMINED;
    }
    if prose.contains(|letter: char| !letter.is_ascii_punctuation() && !letter.is_whitespace()) {
        return ARTIFICIAL;
    }
    let present = [&entities.hashtags, &entities.mentions, &entities.cashtags].map(|list| !list.is_empty());
    match present {
        [true, false, false] => ONLY_HASHTAGS,
        [false, true, false] => ONLY_MENTIONS,
        [false, false, true] => ONLY_CASHTAGS,
        [false, false, false] if !entities.urls.is_empty() => {
            let is_media = entities.urls.iter().all(|url| is_media_link(&url.text));
            if is_media { ONLY_MEDIA_LINKS } else { NO_TEXT }
        }
        [false, false, false] if text.trim().is_empty() => NO_TEXT,
        _ => UNDETERMINED,
    }
}

/// The forms of links to a post's own media.
fn is_media_link(url: &str) -> bool {
    let path = url.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    host.starts_with("pic.") || path.ends_with("/photo/") || path.ends_with("/video/")
}

fn strip_entities<'a>(text: &'a str, entities: &Entities) -> Cow<'a, str> {
    let ranges = entities.byte_ranges();
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut prose = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        prose += text.get(end..range.start).unwrap_or_default();
        end = range.end;
    }
    prose += text.get(end..).unwrap_or_default();
    Cow::Owned(prose)
}

fn dominant_script(text: &str) -> Option<(Script, usize)> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    for script in letters.filter_map(scripts::letter_script) {
        match counts.iter_mut().find(|(other, _)| *other == script) {
            Some((_, count)) => *count += 1,
            None => counts.push((script, 1)),
        }
    }
    let count_of = |script| {
        let count = counts.iter().find(|(other, _)| *other == script);
        count.map_or(0, |(_, count)| *count)
    };
    // Japanese mixes Han and kana; a text with any kana is Japanese.
    let (han, kana) = (count_of(Script::Han), count_of(Script::Kana));
    if kana > 0 {
        counts.push((Script::Kana, han + kana));
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

#[cfg(test)]
mod tests;
