//! Names of known entities in a text.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Entities, is_word_char};
use crate::Fault;

/// Different names per text; the others are ignored.
const MAX_NAMES: usize = 20;

/// Finds names as whole words, in any case.
pub struct NameMatcher {
    automaton: AhoCorasick,
    /// The entities of each name, in the order in which they were added.
    owners: Vec<Vec<u32>>,
}

/// A name in a text. Both ends in code points, `end` exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundName<'a> {
    pub start: usize,
    pub end: usize,
    /// The numbers of the entities that have the name.
    pub entities: &'a [u32],
}

impl NameMatcher {
    /// Names with the number of their entity.
    pub fn build<'n>(names: impl Iterator<Item = (&'n str, u32)>) -> Result<Self, Fault> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut owners: Vec<Vec<u32>> = Vec::new();
        let mut patterns = Vec::new();
        for (name, entity) in names {
            let name = fold_case(name);
            let place = *places.entry(name).or_insert_with_key(|name| {
                patterns.push(name.clone());
                owners.push(Vec::new());
                owners.len() - 1
            });
            if let Some(owners) = owners.get_mut(place)
                && !owners.contains(&entity)
            {
                owners.push(entity);
            }
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns);
        let automaton = automaton.map_err(|error| Fault::new(format!("the names cannot be compiled: {error}")))?;
        Ok(Self { automaton, owners })
    }

    /// In the order of the text, the first place of each name, outside of links and mentions. Expects normalized text
    /// and its entities.
    pub fn find_names(&self, text: &str, entities: &Entities) -> Vec<FoundName<'_>> {
        let folded = fold_case(text);
        let mut found: Vec<FoundName<'_>> = Vec::new();
        for hit in self.automaton.find_iter(&folded) {
            let Some(owners) = self.owners.get(hit.pattern().as_usize()) else { continue };
            if !is_whole_word(&folded, hit.range()) || found.iter().any(|other| other.entities == owners) {
                continue;
            }
            // Folding keeps the number of characters, but not of bytes.
            let count = |end: usize| folded.get(..end).unwrap_or_default().chars().count();
            let (start, end) = (count(hit.start()), count(hit.end()));
            let mut ignored = entities.urls.iter().chain(&entities.mentions);
            if ignored.any(|entity| entity.start < end && start < entity.end) {
                continue;
            }
            found.push(FoundName { start, end, entities: owners });
            if found.len() >= MAX_NAMES {
                break;
            }
        }
        found
    }
}

/// Lower case, except for letters that have no lower case of one character.
fn fold_case(text: &str) -> String {
    let fold = |letter: char| {
        let mut lower = letter.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) => lower,
            _ => letter,
        }
    };
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(fold).collect() }
}

fn is_whole_word(text: &str, range: std::ops::Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let after = text.get(range.end..).and_then(|after| after.chars().next());
    ![before, after].into_iter().flatten().any(is_word_char)
}

#[cfg(test)]
mod tests {
    use super::NameMatcher;
    use crate::text::extract_entities;

    fn find(names: &[&str], text: &str) -> Vec<(usize, usize, Vec<u32>)> {
        let matcher = NameMatcher::build(names.iter().copied().zip(0..)).unwrap();
        let found = matcher.find_names(text, &extract_entities(text));
        found.into_iter().map(|one| (one.start, one.end, one.entities.to_vec())).collect()
    }

    #[test]
    fn names_are_found_as_whole_words_in_any_case() {
        let names = ["Jazz", "New York", "São Paulo"];
        assert_eq!(find(&names, "JAZZ in new york, jazzy"), [(0, 4, vec![0]), (8, 16, vec![1])]);
        assert_eq!(find(&names, "é SÃO PAULO!"), [(2, 11, vec![2])]);
        assert_eq!(find(&names, "new yorker"), []);
        assert_eq!(find(&names, "#jazz"), [(1, 5, vec![0])]);
    }

    #[test]
    fn the_longest_name_counts_and_each_once() {
        let names = ["York", "New York", "york"];
        assert_eq!(find(&names, "New York, York, York"), [(0, 8, vec![1]), (10, 14, vec![0, 2])]);
    }

    #[test]
    fn links_and_mentions_contain_no_names() {
        assert_eq!(find(&["jazz"], "@jazz https://example.com/jazz jazz"), [(31, 35, vec![0])]);
    }

    #[test]
    fn a_text_has_at_most_twenty_names() {
        let names: Vec<String> = (0..30).map(|number| format!("name{number}")).collect();
        let text = names.join(" ");
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(find(&names, &text).len(), 20);
        assert_eq!(find(&[], &text), []);
    }
}
