//! The meaning of a query for a post.

use crate::ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
use crate::facts::PostFeatures;
use crate::geo::distance_metres;
use crate::languages::languages_match;
use crate::operators::{OperatorKind, PostCounter};
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
        (TermValue::Language(asked), _) => languages_match(*asked, facts.language),
        (TermValue::Sample(share), _) => is_sampled(*share, facts),
        (TermValue::Range(least, most), OperatorKind::Counter(counter)) => {
            (*least..=*most).contains(&counter_value(counter, facts))
        }
        (TermValue::Circle(lon, lat, radius, miles), _) => {
            let reach = to_metres(*radius, *miles);
            facts.location_matches(|point| distance_metres(point, (*lon, *lat)) <= reach)
        }
        (TermValue::Rectangle(area), _) => facts.location_matches(|point| area.contains(point)),
        (TermValue::Substring(part), OperatorKind::Substring(link)) => contains_substring(link, part, facts),
        _ => false,
    }
}

pub(crate) fn contains_substring(link: bool, part: &str, facts: &PostFeatures<'_>) -> bool {
    let texts = if link {
        facts.lowercase_links()
    } else {
        facts.lowercase_texts()
    };
    texts.iter().any(|text| text.contains(part))
}

/// Deterministic by post id; a smaller share is a subset of a greater one.
pub(crate) fn is_sampled(share: u8, facts: &PostFeatures<'_>) -> bool {
    mix_hash(facts.post.id.cast_unsigned()) % 100 < u64::from(share)
}

pub(crate) const fn counter_value(counter: PostCounter, facts: &PostFeatures<'_>) -> u64 {
    let (post, author) = (facts.post, &facts.post.author);
    match counter {
        PostCounter::Likes => post.likes,
        PostCounter::Replies => post.replies,
        PostCounter::Reposts => post.reposts,
        PostCounter::Followers => author.followers,
        PostCounter::Following => author.following,
        PostCounter::Posts => author.posts,
        PostCounter::Listed => author.listed,
    }
}

/// Whether a field contains the words consecutively or, if `near` > 0, within that many positions
/// of each other, in any order.
pub(crate) fn contains_words(facts: &PostFeatures<'_>, field: WordField, asked: &[u64], near: u8) -> bool {
    let there = asked
        .iter()
        .all(|word| facts.features.contains(word_feature(field, *word)));
    if !there || asked.is_empty() {
        return false;
    }
    if asked.len() == 1 {
        return true;
    }
    facts.word_runs(field).any(|words| {
        if near == 0 {
            words.windows(asked.len()).any(|found| found == asked)
        } else {
            contains_nearby_words(words, asked, usize::from(near))
        }
    })
}

/// Neighbours are at most `near` positions apart, so n words span at most `near + n - 1`.
fn contains_nearby_words(words: &[u64], asked: &[u64], near: usize) -> bool {
    let count = |of: &[u64], word: u64| of.iter().filter(|found| **found == word).count();
    let width = (near + asked.len() - 1).min(words.len());
    words
        .windows(width.max(1))
        .any(|window| asked.iter().all(|word| count(window, *word) >= count(asked, *word)))
}
