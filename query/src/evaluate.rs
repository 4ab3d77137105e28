//! The meaning of a query for a post.

use crate::ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
use crate::geo::distance_metres;
use crate::languages::language_matches;
use crate::operators::OperatorKind;
use crate::post_features::PostFeatures;
use crate::values::to_metres;
use crate::words::{WordField, mix_hash, word_feature};

/// Whether a post matches. Features of another mode than [`ParsedQuery::match_mode`] never match.
pub fn matches(query: &ParsedQuery, facts: &PostFeatures<'_>) -> bool {
    query.match_mode() == facts.match_mode && node_matches(&query.root, facts)
}

pub(crate) fn node_matches(node: &QueryNode, facts: &PostFeatures<'_>) -> bool {
    match node {
        QueryNode::All(parts) => parts.iter().all(|part| node_matches(part, facts)),
        QueryNode::Any(parts) => parts.iter().any(|part| node_matches(part, facts)),
        QueryNode::Is(term) => term_matches(term, facts),
        QueryNode::Not(term) => !term_matches(term, facts),
    }
}

pub(crate) fn term_matches(term: &QueryTerm, facts: &PostFeatures<'_>) -> bool {
    match (&term.value, term.operator.kind) {
        (TermValue::Words { hashes, near, .. }, OperatorKind::Words(field)) => {
            contains_words(facts, field, hashes, near.unwrap_or(0))
        }
        (TermValue::Feature { feature, .. }, _) => facts.features.contains(*feature),
        (TermValue::Flag(bit), _) => facts.flags & bit != 0,
        (TermValue::Language(language), _) => language_matches(*language, facts.language),
        (TermValue::Sample(share), _) => is_sampled(*share, facts),
        (TermValue::Range(min, max), OperatorKind::Counter(counter)) => {
            (*min..=*max).contains(&facts.counter_value(counter))
        }
        (TermValue::Circle(lon, lat, radius, miles), _) => {
            let max_distance = to_metres(*radius, *miles);
            facts.location_matches(|point| distance_metres(point, (*lon, *lat)) <= max_distance)
        }
        (TermValue::Rectangle(area), _) => facts.location_matches(|point| area.contains(point)),
        (TermValue::Substring(part), OperatorKind::Substring(link)) => contains_substring(link, part, facts),
        _ => false,
    }
}

pub(crate) fn contains_substring(in_links: bool, part: &str, facts: &PostFeatures<'_>) -> bool {
    let texts = if in_links { facts.lowercase_links() } else { facts.lowercase_texts() };
    texts.iter().any(|text| text.contains(part))
}

/// Deterministic by post id; a smaller share is a subset of a greater one.
pub(crate) fn is_sampled(share: u8, facts: &PostFeatures<'_>) -> bool {
    mix_hash(facts.post.id.cast_unsigned()) % 100 < u64::from(share)
}

/// Whether a field contains the words consecutively or, if `near` > 0, within that many positions
/// of each other, in any order.
pub(crate) fn contains_words(facts: &PostFeatures<'_>, field: WordField, wanted: &[u64], near: u8) -> bool {
    let all_present = wanted.iter().all(|word| facts.features.contains(word_feature(field, *word)));
    if !all_present || wanted.is_empty() {
        return false;
    }
    if wanted.len() == 1 {
        return true;
    }
    facts.word_runs(field).any(|words| {
        if near == 0 {
            words.windows(wanted.len()).any(|found| found == wanted)
        } else {
            contains_nearby_words(words, wanted, usize::from(near))
        }
    })
}

/// Neighbours are at most `near` positions apart, so n words span at most `near + n - 1`.
fn contains_nearby_words(words: &[u64], wanted: &[u64], near: usize) -> bool {
    let count = |words: &[u64], word: u64| words.iter().filter(|found| **found == word).count();
    let width = (near + wanted.len() - 1).min(words.len());
    words.windows(width.max(1)).any(|window| wanted.iter().all(|word| count(window, *word) >= count(wanted, *word)))
}
