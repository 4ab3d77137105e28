//! Terms that come with keywords.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use ::search::{IndexSnapshot, QueryPlan, SearchLookups, SearchWindow};
use base::{Error, Fault, Time, UserId};
use moka::sync::Cache;
use store::posts::{self, PostText};
use store::{Tx, topics};

use super::terms::{self, TermKind};
use super::{CACHE_TTL_MS, HOUR_MS, InsightsQuery};
use crate::keywords;
use crate::likelihood::log_likelihood_gain;

/// Related keywords that are told.
const MAX_RELATED: usize = 30;
/// Posts that they are looked for in.
const SAMPLE_SIZE: usize = 5_000;
/// Fewer posts are too few to ask for two authors.
const SMALL_SAMPLE: usize = 50;
/// Terms that are compared with all posts.
const COMPARED: usize = 200;
/// Pairs of words that are.
const PAIRS: usize = 40;
/// Posts that pairs are looked for in.
const PAIR_POSTS: u64 = 40_000;
/// How much better a pair must be than each of its words.
const BETTER: f64 = 1.1;
/// A word that so many posts have is counted once in a while.
const COMMON: u64 = 10_000;
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
struct TermCandidate {
    text: String,
    kind: TermKind,
    authors: usize,
    score: f64,
}

/// Related keywords, filled up in order while there are too few.
pub(super) fn find_related_terms(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    wanted: &InsightsQuery,
    common: &CommonTermCache,
) -> Result<Vec<String>, Error> {
    let inputs = KeywordInputs::new(wanted);
    let ranked = |tx: &mut Tx<'_>, wanted: &InsightsQuery, sample: &[PostText]| {
        let until = wanted.until.ms();
        let window = SearchWindow {
            since_ms: (until - USUAL_MS).min(wanted.since.ms()),
            until_ms: until,
            ..SearchWindow::ALL
        };
        let usual = TermBaseline::new(snapshot, window, common);
        rank_terms(tx, &usual, &inputs, sample)
    };
    let mut found = Vec::new();
    let sample = sample_matching_posts(tx, snapshot, wanted)?;
    append_new_terms(&mut found, ranked(tx, wanted, &sample)?);
    if found.len() < MAX_RELATED {
        let longer = InsightsQuery {
            since: wanted.until.plus_ms(-LONG_MS).min(wanted.since),
            ..wanted.clone()
        };
        let more = sample_matching_posts(tx, snapshot, &longer)?;
        append_new_terms(&mut found, ranked(tx, &longer, &more)?);
    }
    if found.len() < MAX_RELATED {
        let theirs = sample_author_posts(tx, snapshot, &sample)?;
        append_new_terms(&mut found, ranked(tx, wanted, &theirs)?);
    }
    if found.len() < MAX_RELATED {
        append_new_terms(&mut found, find_same_stem_words(tx, snapshot, wanted, &inputs)?);
    }
    if found.len() < MAX_RELATED {
        append_new_terms(&mut found, find_rising_terms(tx, &inputs)?);
    }
    Ok(found)
}

/// Adds what is not there yet, in whatever form.
fn append_new_terms(found: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        let bare = strip_sigil(&text);
        let known = found.iter().any(|other| self::strip_sigil(other) == bare);
        if found.len() < MAX_RELATED && !known {
            found.push(text);
        }
    }
}

fn strip_sigil(text: &str) -> &str {
    text.strip_prefix(['#', '@', '$']).unwrap_or(text)
}

/// What was put in, and what is not to come out.
struct KeywordInputs {
    /// As they are written, in lower case and without signs.
    texts: Vec<String>,
    blocked: HashSet<String>,
}

impl KeywordInputs {
    fn new(wanted: &InsightsQuery) -> Self {
        let plain = |text: &String| {
            let text = query::words::normalize_case(text.trim());
            let words = text.split_whitespace().map(strip_sigil);
            words.collect::<Vec<_>>().join(" ")
        };
        let texts = wanted.keywords.iter().chain(&wanted.negatives);
        Self {
            texts: texts.map(plain).collect(),
            blocked: wanted.blocked.iter().map(plain).collect(),
        }
    }

    fn is_blocked(&self, term: &str) -> bool {
        let plain = strip_sigil(term);
        self.blocked.contains(plain) || plain.split(' ').any(|word| self.blocked.contains(word))
    }

    /// Whether a term is one of the inputs, holds one, or is held by one.
    fn overlaps_term(&self, term: &str) -> bool {
        let term = strip_sigil(term);
        self.texts
            .iter()
            .any(|input| contains_term(input, term) || contains_term(term, input))
    }
}

/// Whether a text holds another: as words, and longer ones as letters.
fn contains_term(text: &str, other: &str) -> bool {
    let (words, others): (Vec<&str>, Vec<&str>) = (text.split(' ').collect(), other.split(' ').collect());
    if words.windows(others.len().max(1)).any(|some| some == others.as_slice()) {
        return true;
    }
    let (text, other) = (text.replace(' ', ""), other.replace(' ', ""));
    other.chars().count() >= FAMILY && text.contains(&other)
}

/// The newest posts that match.
fn sample_matching_posts(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    wanted: &InsightsQuery,
) -> Result<Vec<PostText>, Fault> {
    let question = wanted.plan_query(tx)?;
    let hits = snapshot.newest_hits(&question.plan, &question.window, SAMPLE_SIZE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    posts::find_texts(tx, &ids)
}

/// Further public posts of those who wrote some.
fn sample_author_posts(tx: &mut Tx<'_>, snapshot: &IndexSnapshot, sample: &[PostText]) -> Result<Vec<PostText>, Fault> {
    let mut authors: Vec<i64> = sample.iter().map(|post| post.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    authors.truncate(AUTHORS);
    let mut ids = Vec::new();
    for author in authors {
        let theirs = posts::list_ids_by_author(tx, UserId::new(author), i64::MAX, POSTS_OF_EACH)?;
        for id in theirs {
            // What is for some only is not in the index.
            if snapshot.contains_post(id.get())? {
                ids.push(id.get());
            }
        }
    }
    posts::find_texts(tx, &ids)
}

/// How many authors use each term, and the last of them.
type TermCounts = HashMap<String, (usize, i64)>;

/// Terms, and how many authors use each.
#[derive(Default)]
struct TermTally {
    words: TermCounts,
    tags: TermCounts,
    pairs: TermCounts,
}

impl TermTally {
    fn new(sample: &[PostText]) -> Self {
        let mut order: Vec<&PostText> = sample.iter().collect();
        order.sort_unstable_by_key(|post| post.author_id);
        let mut all = Self::default();
        for post in order {
            terms::visit_terms(&post.text, &post.lang, |kind, term| {
                let counts = match kind {
                    TermKind::Word => &mut all.words,
                    TermKind::Tag => &mut all.tags,
                    TermKind::Pair => &mut all.pairs,
                };
                // Posts of one author follow each other: however loud, one counts once.
                match counts.get_mut(term) {
                    Some((_, last)) if *last == post.author_id => {}
                    Some((count, last)) => (*count, *last) = (*count + 1, post.author_id),
                    None => {
                        counts.insert(term.to_owned(), (1, post.author_id));
                    }
                }
            });
        }
        all
    }

    /// Those that at least so many use. A hashtag and the word that it is made of are one: the form
    /// that more use stays.
    fn into_candidates(self, least: usize) -> Vec<TermCandidate> {
        let of = |counts: &TermCounts, text: &str| counts.get(text).map(|(count, _)| *count);
        let mut all = Vec::new();
        let mut add = |kind, text: &String, authors| {
            all.push(TermCandidate {
                text: text.clone(),
                kind,
                authors,
                score: 0.0,
            });
        };
        for (text, (authors, _)) in self.tags.iter().filter(|(_, (count, _))| *count >= least) {
            if Some(*authors) > of(&self.words, strip_sigil(text)) {
                add(TermKind::Tag, text, *authors);
            }
        }
        for (text, (authors, _)) in self.words.iter().filter(|(_, (count, _))| *count >= least) {
            if Some(*authors) >= of(&self.tags, &format!("#{text}")) {
                add(TermKind::Word, text, *authors);
            }
        }
        for (text, (authors, _)) in self.pairs.iter().filter(|(_, (count, _))| *count >= least) {
            add(TermKind::Pair, text, *authors);
        }
        all
    }
}

/// The terms of some posts that come more often in them than in all, the strongest first.
fn rank_terms(
    tx: &mut Tx<'_>,
    usual: &TermBaseline<'_>,
    inputs: &KeywordInputs,
    sample: &[PostText],
) -> Result<Vec<String>, Fault> {
    let least = if sample.len() < SMALL_SAMPLE { 1 } else { 2 };
    let authors: HashSet<i64> = sample.iter().map(|post| post.author_id).collect();
    let mut candidates = TermTally::new(sample).into_candidates(least);
    candidates.retain(|one| !inputs.overlaps_term(&one.text) && !inputs.is_blocked(&one.text));
    candidates.sort_unstable_by(|one, other| other.authors.cmp(&one.authors).then(one.text.cmp(&other.text)));
    let (pairs, single): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|one| one.kind == TermKind::Pair);
    let mut scored = Vec::new();
    for one in single.into_iter().take(COMPARED) {
        scored.extend(usual.score_candidate(tx, one, authors.len())?);
    }
    let words: HashMap<String, f64> = scored
        .iter()
        .map(|one: &TermCandidate| (strip_sigil(&one.text).to_owned(), one.score))
        .collect();
    for one in pairs.into_iter().take(PAIRS) {
        let Some(one) = usual.score_candidate(tx, one, authors.len())? else {
            continue;
        };
        let of_word = |word: &str| words.get(word).copied().unwrap_or(0.0);
        if one.text.split(' ').all(|word| one.score >= BETTER * of_word(word)) {
            scored.push(one);
        }
    }
    scored.sort_unstable_by(compare_candidates);
    Ok(scored.into_iter().map(|one| one.text).collect())
}

fn compare_candidates(one: &TermCandidate, other: &TermCandidate) -> Ordering {
    let score = other.score.total_cmp(&one.score);
    let authors = other.authors.cmp(&one.authors);
    score.then(authors).then_with(|| one.text.cmp(&other.text))
}

/// How often words are written that are written often, in windows of time by the hour: how many
/// posts had them, of how many, and until when that is taken for true.
pub(super) type CommonTermCache = Cache<(String, i64, i64), (u64, u64, Time)>;

/// What is usual: how often terms are written at all.
struct TermBaseline<'s> {
    snapshot: &'s IndexSnapshot,
    window: SearchWindow,
    size: u64,
    common: &'s CommonTermCache,
}

impl<'s> TermBaseline<'s> {
    fn new(snapshot: &'s IndexSnapshot, window: SearchWindow, common: &'s CommonTermCache) -> Self {
        let size = snapshot.window_size(&window);
        Self {
            snapshot,
            window,
            size,
            common,
        }
    }

    /// How many posts have a word. Those that have a common one are counted once in a while: they
    /// are many, and most questions lead to the same.
    fn count_posts_with_term(&self, now: Time, text: &str, plan: &QueryPlan) -> Result<u64, Fault> {
        let hour = |ms: i64| ms.div_euclid(HOUR_MS);
        let (since, until) = (hour(self.window.since_ms), hour(self.window.until_ms));
        let key = (text.to_owned(), since, until);
        if let Some((held, of, end)) = self.common.get(&key)
            && now < end
        {
            return Ok(held.saturating_mul(self.size) / of.max(1));
        }
        let held = self.snapshot.count_hits(plan, &self.window)?;
        if held >= COMMON {
            let end = now.plus_ms(CACHE_TTL_MS);
            self.common.insert(key, (held, self.size, end));
        }
        Ok(held)
    }

    /// A term with how far it is above what is usual; none where it is not.
    fn score_candidate(
        &self,
        tx: &mut Tx<'_>,
        one: TermCandidate,
        authors: usize,
    ) -> Result<Option<TermCandidate>, Fault> {
        let query = keywords::keyword_clause(&one.text).and_then(|text| keywords::parse_query(&text));
        let Some(query) = query else {
            return Ok(None);
        };
        let known: SearchLookups = crate::search::resolve_query_names(tx, &query)?;
        let plan = QueryPlan::new(&query, &known);
        let held = if one.kind == TermKind::Pair {
            // Two common words take a look at every post that has both.
            let (found, looked_at) = self.snapshot.count_sample(&plan, &self.window, PAIR_POSTS)?;
            found.saturating_mul(self.size) / looked_at.max(1)
        } else {
            self.count_posts_with_term(tx.now(), &one.text, &plan)?
        };
        let whole = (to_usize(held), to_usize(self.size));
        let score = log_likelihood_gain((one.authors, authors), whole);
        Ok(score.map(|score| TermCandidate { score, ..one }))
    }
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Words of new posts that begin like a keyword: of one family with it.
fn find_same_stem_words(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    wanted: &InsightsQuery,
    inputs: &KeywordInputs,
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
    let hits = snapshot.newest_hits(&QueryPlan::match_all(), &SearchWindow::ALL, SAMPLE_SIZE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    let TermTally { words, tags, .. } = TermTally::new(&posts::find_texts(tx, &ids)?);
    let of = |kind: TermKind, counts: TermCounts| {
        let counts = counts.into_iter();
        counts.map(move |(text, (authors, _))| ((kind, text), authors))
    };
    let mut counts: Vec<((TermKind, String), usize)> = of(TermKind::Word, words)
        .chain(of(TermKind::Tag, tags))
        .filter(|((_, text), _)| {
            stems.iter().any(|stem| strip_sigil(text).starts_with(stem.as_str()))
                && !inputs.texts.iter().any(|input| input == strip_sigil(text))
                && !inputs.is_blocked(text)
        })
        .collect();
    counts.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    Ok(counts.into_iter().map(|((_, text), _)| text).collect())
}

/// What rises now.
fn find_rising_terms(tx: &mut Tx<'_>, inputs: &KeywordInputs) -> Result<Vec<String>, Fault> {
    let trends = topics::list_trends(tx, TRENDS)?.into_iter();
    let texts = trends.map(|trend| trend.topic);
    Ok(texts
        .filter(|text| !inputs.overlaps_term(text) && !inputs.is_blocked(text))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use store::posts::PostText;

    use super::terms::{self, TermKind};
    use super::{TermTally, append_new_terms, contains_term, strip_sigil};

    /// Posts by chance, always the same: words of which few come often, some as hashtags.
    fn sample() -> Vec<PostText> {
        let mut dice = 0x5eed_u64;
        let mut below = |bound: u64| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice >> 11) % bound
        };
        let post = |id| {
            let words = 3 + below(8);
            let word = |_| {
                let most = 1 + below(60);
                let rank = below(most);
                let sign = if below(2) == 0 { "#" } else { "" };
                format!("{sign}word{rank}")
            };
            let text = (0..words).map(word).collect::<Vec<_>>().join(" ");
            PostText {
                id,
                author_id: i64::try_from(below(150)).unwrap(),
                text,
                lang: ["en", "de", "xx"][usize::try_from(below(3)).unwrap()].to_owned(),
            }
        };
        (0..1_000).map(post).collect()
    }

    #[test]
    fn authors_are_counted_once_however_they_are_counted() {
        let sample = sample();
        let mut users: HashMap<(TermKind, String), HashSet<i64>> = HashMap::new();
        for post in &sample {
            terms::visit_terms(&post.text, &post.lang, |kind, term| {
                users.entry((kind, term.to_owned())).or_default().insert(post.author_id);
            });
        }
        let count = |kind, text: String| users.get(&(kind, text)).map(HashSet::len);
        for least in [1, 2, 9] {
            let mut wanted: Vec<(TermKind, String, usize)> = Vec::new();
            for ((kind, text), users) in &users {
                let stays = match kind {
                    TermKind::Tag => Some(users.len()) > count(TermKind::Word, strip_sigil(text).to_owned()),
                    TermKind::Word => Some(users.len()) >= count(TermKind::Tag, format!("#{text}")),
                    TermKind::Pair => true,
                };
                if stays && users.len() >= least {
                    wanted.push((*kind, text.clone(), users.len()));
                }
            }
            let found = TermTally::new(&sample).into_candidates(least).into_iter();
            let mut found: Vec<_> = found.map(|one| (one.kind, one.text, one.authors)).collect();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted);
            assert!(found.iter().any(|(kind, ..)| *kind == TermKind::Tag), "{least}");
        }
    }

    #[test]
    fn terms_hold_each_other() {
        assert!(contains_term("cargo bike", "bike"));
        assert!(contains_term("#cargobike", "cargo"));
        assert!(contains_term("art", "art"));
        assert!(!contains_term("start", "art"));
        assert!(contains_term("cargobikes", "cargo bike"));
        assert!(!contains_term("bike", "cargo bike"));
    }

    #[test]
    fn a_term_comes_once_and_no_more_than_thirty() {
        let mut found = vec!["#bike".to_owned()];
        append_new_terms(&mut found, vec!["bike".to_owned(), "helmet".to_owned()]);
        assert_eq!(found, ["#bike", "helmet"]);
        append_new_terms(&mut found, (0..50).map(|number| format!("t{number}")).collect());
        assert_eq!(found.len(), 30);
    }
}
