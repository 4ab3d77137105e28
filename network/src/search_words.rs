//! The words by which news, spaces and communities are found.

use std::collections::BTreeSet;

use base::Fault;
use base::text::{is_mark, normalize};
use query::words::is_unspaced;
use store::{Tx, communities, meta, news_stories, spaces};

/// Characters of a word.
const MAX_LENGTH: usize = 60;

/// In lower case. In scripts without spaces, each letter and each two adjacent ones are words, so that a text is found by
/// any part of it.
pub(crate) fn searched_words(text: &str) -> BTreeSet<String> {
    let (mut words, mut word, mut previous) = (BTreeSet::new(), String::new(), None);
    for letter in normalize(text).to_lowercase().chars().chain([' ']) {
        let is_part = letter.is_alphanumeric() || is_mark(letter) && (!word.is_empty() || is_unspaced(letter));
        let alone = Some(letter).filter(|letter| is_part && is_unspaced(*letter));
        if is_part && alone.is_none() {
            word.push(letter);
        } else if !word.is_empty() {
            words.insert(word.drain(..).take(MAX_LENGTH).collect());
        }
        words.extend(alone.map(String::from));
        words.extend(previous.zip(alone).map(|(one, other)| String::from_iter([one, other])));
        previous = alone;
    }
    words
}

/// Where the rebuilding of a kind is stored: the id below which nothing is rebuilt yet.
type RebuiltKind = (&'static str, fn(&mut Tx<'_>, i64) -> Result<Option<i64>, Fault>);

const REBUILT_KINDS: [RebuiltKind; 3] =
    [("community_terms", rebuild_communities), ("space_terms", rebuild_spaces), ("story_terms", rebuild_stories)];
const REBUILT_PER_PART: i64 = 50;

/// Indexes some of what was indexed before scripts without spaces had words; returns true while there may be more.
pub fn rebuild_part(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    for (key, rebuild) in REBUILT_KINDS {
        let below = match meta::get(tx, key)? {
            Some(text) => text.parse().map_err(Fault::context("reading the progress of indexing"))?,
            None => i64::MAX,
        };
        if below > 0 {
            let last = rebuild(tx, below)?.unwrap_or(0);
            meta::set(tx, key, &last.to_string())?;
            return Ok(true);
        }
    }
    Ok(false)
}

fn rebuild_communities(tx: &mut Tx<'_>, below: i64) -> Result<Option<i64>, Fault> {
    let found = communities::list_newest(tx, below, REBUILT_PER_PART)?;
    found.iter().try_for_each(|community| crate::communities::index_words(tx, community))?;
    Ok(found.last().map(|community| community.id))
}

fn rebuild_spaces(tx: &mut Tx<'_>, below: i64) -> Result<Option<i64>, Fault> {
    let found = spaces::list(tx, below, REBUILT_PER_PART)?;
    for space in &found {
        spaces::lock(tx, space.id)?;
        crate::spaces::index_title(tx, space.id)?;
    }
    Ok(found.last().map(|space| space.id))
}

fn rebuild_stories(tx: &mut Tx<'_>, below: i64) -> Result<Option<i64>, Fault> {
    let found = news_stories::list(tx, below, REBUILT_PER_PART)?;
    found.iter().try_for_each(|story| crate::news::index_story(tx, story.id))?;
    Ok(found.last().map(|story| story.id))
}

#[cfg(test)]
mod tests {
    use super::searched_words;

    #[test]
    fn words_have_one_form() {
        let words = |text| searched_words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(words("Hello, HELLO wörld-42!"), ["42", "hello", "wörld"]);
        assert_eq!(words("Cafe\u{301}"), words("CAFÉ"));
        assert_eq!(words("कम्प्यूटर ❤\u{fe0f} i\u{307}"), ["i\u{307}", "कम्प्यूटर"]);
        assert!(words("… — !").is_empty());
    }

    #[test]
    fn text_without_spaces_is_found_by_its_parts() {
        let text = searched_words("Meet東京タワー、大阪 4");
        for part in ["meet", "東京", "京タワ", "京", "大阪", "東京タワー 4"] {
            assert!(searched_words(part).is_subset(&text), "{part}");
        }
        for part in ["京東", "ー大", "mee", "京大"] {
            assert!(!searched_words(part).is_subset(&text), "{part}");
        }
    }
}
