//! Terms that come with keywords.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use ::search::{Known, Plan, Snapshot, Window};
use base::{Fault, Stop, UserId};
use store::posts::{self, Said};
use store::{Tx, topics};

use super::Wanted;
use super::terms::{self, Kind};
use crate::keywords;
use crate::likelihood::gain;

/// Related keywords that are told.
const MOST: usize = 30;
/// Posts that they are looked for in.
const SAMPLE: usize = 5_000;
/// Fewer posts are too few to ask for two authors.
const FEW: usize = 50;
/// Terms that are compared with all posts.
const COMPARED: usize = 200;
/// Pairs of words that are.
const PAIRS: usize = 40;
/// Posts that pairs are looked for in.
const PAIR_POSTS: u64 = 40_000;
/// How much better a pair must be than each of its words.
const BETTER: f64 = 1.1;
const DAY_MS: i64 = 86_400_000;
/// What is usual is what is written in so long.
const USUAL_MS: i64 = 7 * DAY_MS;
/// Where there is too little, so long a time is looked at.
const LONG_MS: i64 = 30 * DAY_MS;
/// Posts of an author, and authors, that fill up what is missing.
const POSTS_OF_EACH: i64 = 20;
const AUTHORS: usize = 100;
/// Letters that words share which are of one family.
const FAMILY: usize = 4;
const TRENDS: i64 = 100;

/// A term with what tells for it.
#[derive(Clone, Debug)]
struct Candidate {
    text: String,
    kind: Kind,
    authors: usize,
    score: f64,
}

/// Related keywords, filled up in order while there are too few.
pub(super) fn find(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    wanted: &Wanted,
) -> Result<Vec<String>, Stop> {
    let inputs = Inputs::new(wanted);
    let mut found = Vec::new();
    let sample = sampled(tx, snapshot, wanted)?;
    take(&mut found, ranked(tx, snapshot, wanted, &inputs, &sample)?);
    if found.len() < MOST {
        let longer = Wanted {
            since: wanted.until.plus_ms(-LONG_MS).min(wanted.since),
            ..wanted.clone()
        };
        let more = sampled(tx, snapshot, &longer)?;
        take(&mut found, ranked(tx, snapshot, &longer, &inputs, &more)?);
    }
    if found.len() < MOST {
        let theirs = by_authors(tx, snapshot, &sample)?;
        take(&mut found, ranked(tx, snapshot, wanted, &inputs, &theirs)?);
    }
    if found.len() < MOST {
        take(&mut found, relatives(tx, snapshot, wanted, &inputs)?);
    }
    if found.len() < MOST {
        take(&mut found, rising(tx, &inputs)?);
    }
    Ok(found)
}

/// Adds what is not there yet, in whatever form.
fn take(found: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        let bare = bare(&text);
        let known = found.iter().any(|other| self::bare(other) == bare);
        if found.len() < MOST && !known {
            found.push(text);
        }
    }
}

fn bare(text: &str) -> &str {
    text.strip_prefix(['#', '@', '$']).unwrap_or(text)
}

/// What was put in, and what is not to come out.
struct Inputs {
    /// As they are written, in lower case and without signs.
    texts: Vec<String>,
    blocked: HashSet<String>,
}

impl Inputs {
    fn new(wanted: &Wanted) -> Self {
        let plain = |text: &String| {
            let text = query::words::lower(text.trim());
            let words = text.split_whitespace().map(bare);
            words.collect::<Vec<_>>().join(" ")
        };
        let texts = wanted.keywords.iter().chain(&wanted.negatives);
        Self {
            texts: texts.map(plain).collect(),
            blocked: wanted.blocked.iter().map(plain).collect(),
        }
    }

    fn is_blocked(&self, term: &str) -> bool {
        let plain = bare(term);
        self.blocked.contains(plain) || plain.split(' ').any(|word| self.blocked.contains(word))
    }

    /// Whether a term is one of the inputs, holds one, or is held by one.
    fn hold(&self, term: &str) -> bool {
        let term = bare(term);
        self.texts
            .iter()
            .any(|input| holds(input, term) || holds(term, input))
    }
}

/// Whether a text holds another: as words, and longer ones as letters.
fn holds(text: &str, other: &str) -> bool {
    let (words, others): (Vec<&str>, Vec<&str>) =
        (text.split(' ').collect(), other.split(' ').collect());
    if words
        .windows(others.len().max(1))
        .any(|some| some == others.as_slice())
    {
        return true;
    }
    let (text, other) = (text.replace(' ', ""), other.replace(' ', ""));
    other.chars().count() >= FAMILY && text.contains(&other)
}

/// The newest posts that match.
fn sampled(tx: &mut Tx<'_>, snapshot: &Snapshot, wanted: &Wanted) -> Result<Vec<Said>, Fault> {
    let question = wanted.question(tx)?;
    let hits = snapshot.newest(&question.plan, &question.window, SAMPLE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    posts::said(tx, &ids)
}

/// Further public posts of those who wrote some.
fn by_authors(tx: &mut Tx<'_>, snapshot: &Snapshot, sample: &[Said]) -> Result<Vec<Said>, Fault> {
    let mut authors: Vec<i64> = sample.iter().map(|post| post.author).collect();
    authors.sort_unstable();
    authors.dedup();
    authors.truncate(AUTHORS);
    let mut ids = Vec::new();
    for author in authors {
        let theirs = posts::ids_of_author(tx, UserId::new(author), i64::MAX, POSTS_OF_EACH)?;
        for id in theirs {
            // What is for some only is not in the index.
            if snapshot.holds(id.get())? {
                ids.push(id.get());
            }
        }
    }
    posts::said(tx, &ids)
}

/// How many authors use each term.
fn counted(sample: &[Said]) -> HashMap<(Kind, String), usize> {
    let mut order: Vec<&Said> = sample.iter().collect();
    order.sort_unstable_by_key(|post| post.author);
    let mut counts: HashMap<(Kind, String), usize> = HashMap::new();
    let mut theirs: HashSet<(Kind, String)> = HashSet::new();
    for posts in order.chunk_by(|one, other| one.author == other.author) {
        for post in posts {
            terms::each(&post.text, &post.lang, |kind, term| {
                theirs.insert((kind, term.to_owned()));
            });
        }
        for term in theirs.drain() {
            *counts.entry(term).or_default() += 1;
        }
    }
    counts
}

/// A hashtag and the word that it is made of are one: the form that more use stays.
fn merged(counts: HashMap<(Kind, String), usize>) -> Vec<Candidate> {
    let tags: HashMap<String, usize> = counts
        .iter()
        .filter(|((kind, _), _)| *kind == Kind::Tag)
        .map(|((_, text), count)| (bare(text).to_owned(), *count))
        .collect();
    let words: HashMap<String, usize> = counts
        .iter()
        .filter(|((kind, text), _)| *kind == Kind::Word && tags.contains_key(text))
        .map(|((_, text), count)| (text.clone(), *count))
        .collect();
    let stays = |kind: Kind, text: &str| {
        let (tag, word) = (tags.get(bare(text)), words.get(bare(text)));
        match kind {
            Kind::Tag => tag > word,
            Kind::Word => word >= tag,
            Kind::Pair => true,
        }
    };
    let all = counts.into_iter();
    all.filter(|((kind, text), _)| stays(*kind, text))
        .map(|((kind, text), authors)| Candidate {
            text,
            kind,
            authors,
            score: 0.0,
        })
        .collect()
}

/// The terms of some posts that come more often in them than in all, the strongest first.
fn ranked(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    wanted: &Wanted,
    inputs: &Inputs,
    sample: &[Said],
) -> Result<Vec<String>, Fault> {
    let least = if sample.len() < FEW { 1 } else { 2 };
    let authors: HashSet<i64> = sample.iter().map(|post| post.author).collect();
    let mut candidates = merged(counted(sample));
    candidates.retain(|one| {
        one.authors >= least && !inputs.hold(&one.text) && !inputs.is_blocked(&one.text)
    });
    candidates.sort_unstable_by(|one, other| {
        other
            .authors
            .cmp(&one.authors)
            .then(one.text.cmp(&other.text))
    });
    let until = wanted.until.ms();
    let usual = Usual::new(
        snapshot,
        Window {
            since: (until - USUAL_MS).min(wanted.since.ms()),
            until,
            ..Window::ALL
        },
    );
    let (pairs, single): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|one| one.kind == Kind::Pair);
    let mut scored = Vec::new();
    for one in single.into_iter().take(COMPARED) {
        scored.extend(usual.score(tx, one, authors.len())?);
    }
    let words: HashMap<String, f64> = scored
        .iter()
        .map(|one: &Candidate| (bare(&one.text).to_owned(), one.score))
        .collect();
    for one in pairs.into_iter().take(PAIRS) {
        let Some(one) = usual.score(tx, one, authors.len())? else {
            continue;
        };
        let of_word = |word: &str| words.get(word).copied().unwrap_or(0.0);
        if one
            .text
            .split(' ')
            .all(|word| one.score >= BETTER * of_word(word))
        {
            scored.push(one);
        }
    }
    scored.sort_unstable_by(order);
    Ok(scored.into_iter().map(|one| one.text).collect())
}

fn order(one: &Candidate, other: &Candidate) -> Ordering {
    let score = other.score.total_cmp(&one.score);
    let authors = other.authors.cmp(&one.authors);
    score.then(authors).then_with(|| one.text.cmp(&other.text))
}

/// What is usual: how often terms are written at all.
struct Usual<'s> {
    snapshot: &'s Snapshot,
    window: Window,
    size: u64,
}

impl<'s> Usual<'s> {
    fn new(snapshot: &'s Snapshot, window: Window) -> Self {
        let size = snapshot.size(&window);
        Self {
            snapshot,
            window,
            size,
        }
    }

    /// A term with how far it is above what is usual; none where it is not.
    fn score(
        &self,
        tx: &mut Tx<'_>,
        one: Candidate,
        authors: usize,
    ) -> Result<Option<Candidate>, Fault> {
        let query = keywords::clause(&one.text).and_then(|text| keywords::query(&text));
        let Some(query) = query else {
            return Ok(None);
        };
        let known: Known = crate::search::known(tx, &query)?;
        let plan = Plan::new(&query, &known);
        let held = if one.kind == Kind::Pair {
            // Two common words take a look at every post that has both.
            let (found, looked_at) = self.snapshot.sampled(&plan, &self.window, PAIR_POSTS)?;
            found.saturating_mul(self.size) / looked_at.max(1)
        } else {
            self.snapshot.frequency(&plan, &self.window)?
        };
        let whole = (number(held), number(self.size));
        let score = gain((one.authors, authors), whole);
        Ok(score.map(|score| Candidate { score, ..one }))
    }
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Words of new posts that begin like a keyword: of one family with it.
fn relatives(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    wanted: &Wanted,
    inputs: &Inputs,
) -> Result<Vec<String>, Fault> {
    let stems: Vec<String> = inputs
        .texts
        .iter()
        .take(wanted.keywords.len())
        .flat_map(|text| text.split(' '))
        .map(|word| word.chars().take(FAMILY).collect::<String>())
        .filter(|stem| stem.chars().count() == FAMILY)
        .collect();
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let hits = snapshot.newest(&Plan::everything(), &Window::ALL, SAMPLE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    let mut counts: Vec<((Kind, String), usize)> = counted(&posts::said(tx, &ids)?)
        .into_iter()
        .filter(|((kind, text), _)| {
            *kind != Kind::Pair
                && stems
                    .iter()
                    .any(|stem| bare(text).starts_with(stem.as_str()))
                && !inputs.texts.iter().any(|input| input == bare(text))
                && !inputs.is_blocked(text)
        })
        .collect();
    counts.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    Ok(counts.into_iter().map(|((_, text), _)| text).collect())
}

/// What rises now.
fn rising(tx: &mut Tx<'_>, inputs: &Inputs) -> Result<Vec<String>, Fault> {
    let trends = topics::trends(tx, TRENDS)?.into_iter();
    let texts = trends.map(|trend| trend.topic);
    Ok(texts
        .filter(|text| !inputs.hold(text) && !inputs.is_blocked(text))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::{holds, take};

    #[test]
    fn terms_hold_each_other() {
        assert!(holds("cargo bike", "bike"));
        assert!(holds("#cargobike", "cargo"));
        assert!(holds("art", "art"));
        assert!(!holds("start", "art"));
        assert!(holds("cargobikes", "cargo bike"));
        assert!(!holds("bike", "cargo bike"));
    }

    #[test]
    fn a_term_comes_once_and_no_more_than_thirty() {
        let mut found = vec!["#bike".to_owned()];
        take(&mut found, vec!["bike".to_owned(), "helmet".to_owned()]);
        assert_eq!(found, ["#bike", "helmet"]);
        take(
            &mut found,
            (0..50).map(|number| format!("t{number}")).collect(),
        );
        assert_eq!(found.len(), 30);
    }
}
