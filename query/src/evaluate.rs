//! What a query means for a post.

use crate::ast::{Node, Query, Term, Value};
use crate::facts::Facts;
use crate::geo::distance;
use crate::languages::same;
use crate::operators::{Counter, How};
use crate::values::metres;
use crate::words::{Field, spread, word_in};

/// Whether a post is one that the query asks for. Facts must be read as the query reads
/// ([`Query::reading`]); read otherwise they match nothing.
pub fn matches(query: &Query, facts: &Facts<'_>) -> bool {
    query.reading() == facts.reading && holds(&query.root, facts)
}

pub(crate) fn holds(node: &Node, facts: &Facts<'_>) -> bool {
    match node {
        Node::All(parts) => parts.iter().all(|part| holds(part, facts)),
        Node::Any(parts) => parts.iter().any(|part| holds(part, facts)),
        Node::Is(term) => says(term, facts),
        Node::Not(term) => !says(term, facts),
    }
}

pub(crate) fn says(term: &Term, facts: &Facts<'_>) -> bool {
    match (&term.value, term.operator.how) {
        (Value::Words { hashes, near, .. }, How::Words(field)) => {
            run(facts, field, hashes, near.unwrap_or(0))
        }
        (Value::Feature { feature, .. }, _) => facts.features.has(*feature),
        (Value::Flag(bit), _) => facts.flags & bit != 0,
        (Value::Language(asked), _) => same(*asked, facts.language),
        (Value::Sample(share), _) => sampled(*share, facts),
        (Value::Between(least, most), How::Counter(counter)) => {
            (*least..=*most).contains(&counted(counter, facts))
        }
        (Value::Circle(lon, lat, radius, miles), _) => {
            let reach = metres(*radius, *miles);
            facts.written_within(|point| distance(point, (*lon, *lat)) <= reach)
        }
        (Value::Within(area), _) => facts.written_within(|point| area.holds(point)),
        (Value::Part(part), How::Part(link)) => part_of(link, part, facts),
        _ => false,
    }
}

/// Whether a literal stands in a link (or in a text).
pub(crate) fn part_of(link: bool, part: &str, facts: &Facts<'_>) -> bool {
    let texts = if link { facts.links() } else { facts.texts() };
    texts.iter().any(|text| text.contains(part))
}

/// The same posts for the same share, and those of a smaller share among those of a greater.
pub(crate) fn sampled(share: u8, facts: &Facts<'_>) -> bool {
    spread(facts.post.id.cast_unsigned()) % 100 < u64::from(share)
}

/// A counter of a post or of its author.
pub(crate) const fn counted(counter: Counter, facts: &Facts<'_>) -> u64 {
    let (post, author) = (facts.post, &facts.post.author);
    match counter {
        Counter::Likes => post.likes,
        Counter::Replies => post.replies,
        Counter::Reposts => post.reposts,
        Counter::Followers => author.followers,
        Counter::Following => author.following,
        Counter::Posts => author.posts,
        Counter::Listed => author.listed,
    }
}

/// Whether a field holds words one after the other, or (`near` > 0) within so many places of each
/// other, in any order.
pub(crate) fn run(facts: &Facts<'_>, field: Field, asked: &[u64], near: u8) -> bool {
    let there = asked
        .iter()
        .all(|word| facts.features.has(word_in(field, *word)));
    if !there || asked.is_empty() {
        return false;
    }
    if asked.len() == 1 {
        return true;
    }
    facts.runs(field).any(|words| {
        if near == 0 {
            words.windows(asked.len()).any(|found| found == asked)
        } else {
            together(words, asked, usize::from(near))
        }
    })
}

/// Between neighbours at most `near` places, so that n words span at most `near + n - 1`.
fn together(words: &[u64], asked: &[u64], near: usize) -> bool {
    let count = |of: &[u64], word: u64| of.iter().filter(|found| **found == word).count();
    let width = (near + asked.len() - 1).min(words.len());
    words.windows(width.max(1)).any(|window| {
        asked
            .iter()
            .all(|word| count(window, *word) >= count(asked, *word))
    })
}
