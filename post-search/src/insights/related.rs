//! Related keywords.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use ::search::{PostIndexReader, QueryPlan, SearchLookups, SearchWindow};
use base::{Error, Fault, PostId, Time, UserId, sorted_distinct};
use quick_cache::sync::Cache;
use store::posts::{self, PostText};
use store::{Tx, topics};

use super::terms::{self, TermKind};
use super::{CACHE_TTL_MS, HOUR_MS, InsightsQuery};
use crate::keywords;
use crate::likelihood::log_likelihood_gain;

const MAX_RELATED: usize = 30;
/// Posts examined for related terms.
const SAMPLE_SIZE: usize = 5_000;
/// In smaller samples, terms of a single author count.
const SMALL_SAMPLE: usize = 50;
/// Terms compared with all posts.
const MAX_TERMS: usize = 200;
/// Word pairs compared with all posts.
const MAX_PAIRS: usize = 40;
/// Posts examined for word pairs.
const PAIR_SAMPLE_SIZE: u64 = 40_000;
/// Factor by which a pair must score higher than each of its words.
const MIN_PAIR_GAIN: f64 = 1.1;
/// Counts of words in at least this many posts are cached.
const COMMON_TERM_POSTS: u64 = 10_000;
const DAY_MS: i64 = 86_400_000;
/// The period of the baseline.
const BASELINE_MS: i64 = 7 * DAY_MS;
/// The longer period that is used if there are too few terms.
const EXTENDED_MS: i64 = 30 * DAY_MS;
/// Posts per author, and authors, that are examined if there are too few terms.
const POSTS_PER_AUTHOR: i64 = 20;
const MAX_AUTHORS: usize = 100;
/// Characters of a common stem.
const STEM_LENGTH: usize = 4;
const MAX_TRENDS: i64 = 100;

/// A term with its score.
#[derive(Clone, Debug)]
struct TermCandidate {
    text: String,
    kind: TermKind,
    authors: usize,
    score: f64,
}

/// Related keywords; further sources are used in order while there are too few.
pub(super) fn find_related_terms(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    insights_query: &InsightsQuery,
    common: &CommonTermCache,
) -> Result<Vec<String>, Error> {
    let inputs = KeywordInputs::new(insights_query);
    let ranked = |tx: &mut Tx<'_>, insights_query: &InsightsQuery, sample: &[PostText]| {
        let until = insights_query.until.ms();
        let window = SearchWindow {
            since_ms: (until - BASELINE_MS).min(insights_query.since.ms()),
            until_ms: until,
            ..SearchWindow::ALL
        };
        let baseline = TermBaseline::new(index, window, common)?;
        rank_terms(tx, &baseline, &inputs, sample)
    };
    let mut found = Vec::new();
    let sample = sample_matching_posts(tx, index, insights_query)?;
    append_new_terms(&mut found, ranked(tx, insights_query, &sample)?);
    if found.len() < MAX_RELATED {
        let longer = InsightsQuery {
            since: insights_query.until.plus_ms(-EXTENDED_MS).min(insights_query.since),
            ..insights_query.clone()
        };
        let more = sample_matching_posts(tx, index, &longer)?;
        append_new_terms(&mut found, ranked(tx, &longer, &more)?);
    }
    if found.len() < MAX_RELATED {
        let author_posts = sample_author_posts(tx, index, &sample)?;
        append_new_terms(&mut found, ranked(tx, insights_query, &author_posts)?);
    }
    if found.len() < MAX_RELATED {
        append_new_terms(&mut found, find_same_stem_words(tx, index, insights_query, &inputs)?);
    }
    if found.len() < MAX_RELATED {
        append_new_terms(&mut found, find_rising_terms(tx, &inputs)?);
    }
    Ok(found)
}

/// Adds terms that are not there yet in any form.
fn append_new_terms(found: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        let bare = strip_sigil(&text);
        let is_known = found.iter().any(|other| strip_sigil(other) == bare);
        if found.len() < MAX_RELATED && !is_known {
            found.push(text);
        }
    }
}

fn strip_sigil(text: &str) -> &str {
    text.strip_prefix(['#', '@', '$']).unwrap_or(text)
}

struct KeywordInputs {
    /// In lower case and without sigils.
    texts: Vec<String>,
    blocked: HashSet<String>,
}

impl KeywordInputs {
    fn new(insights_query: &InsightsQuery) -> Self {
        let bare = |text: &String| {
            let text = query::words::normalize_case(text.trim());
            let words = text.split_whitespace().map(strip_sigil);
            words.collect::<Vec<_>>().join(" ")
        };
        let texts = insights_query.keywords.iter().chain(&insights_query.negatives);
        Self { texts: texts.map(bare).collect(), blocked: insights_query.blocked.iter().map(bare).collect() }
    }

    fn is_blocked(&self, term: &str) -> bool {
        let bare = strip_sigil(term);
        self.blocked.contains(bare) || bare.split(' ').any(|word| self.blocked.contains(word))
    }

    /// Whether a term equals, contains or is contained in one of the inputs.
    fn overlaps_term(&self, term: &str) -> bool {
        let term = strip_sigil(term);
        self.texts.iter().any(|input| contains_term(input, term) || contains_term(term, input))
    }
}

/// Whether a text contains another: as words, or as characters if it is long enough.
fn contains_term(text: &str, other: &str) -> bool {
    let (words, others): (Vec<&str>, Vec<&str>) = (text.split(' ').collect(), other.split(' ').collect());
    if words.windows(others.len().max(1)).any(|some| some == others.as_slice()) {
        return true;
    }
    let (text, other) = (text.replace(' ', ""), other.replace(' ', ""));
    other.chars().count() >= STEM_LENGTH && text.contains(&other)
}

/// The newest matching posts.
fn sample_matching_posts(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    insights_query: &InsightsQuery,
) -> Result<Vec<PostText>, Fault> {
    let planned = insights_query.plan_query(tx)?;
    let hits = index.newest_hits(&planned.plan, &planned.window, SAMPLE_SIZE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    posts::find_texts(tx, &ids)
}

/// Further public posts by the authors of the sample.
fn sample_author_posts(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    sample: &[PostText],
) -> Result<Vec<PostText>, Fault> {
    let mut authors = sorted_distinct(sample.iter().map(|post| post.author_id));
    authors.truncate(MAX_AUTHORS);
    let mut ids = Vec::new();
    for author in authors {
        let author_posts = posts::list_ids_by_author(tx, UserId::new(author), i64::MAX, POSTS_PER_AUTHOR)?;
        ids.extend(author_posts.into_iter().map(PostId::get));
    }
    // The index contains public posts only.
    posts::find_texts(tx, &index.find_indexed(&ids)?)
}

/// The number of authors per term, and the last of them.
type TermCounts = HashMap<String, (usize, i64)>;

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
                // Posts are ordered by author, so each author is counted once.
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

    /// Terms used by at least `min` authors. Of a hashtag and the same word, the more used form stays.
    fn into_candidates(self, min: usize) -> Vec<TermCandidate> {
        let author_count = |counts: &TermCounts, text: &str| counts.get(text).map(|(count, _)| *count);
        let mut all = Vec::new();
        let mut add = |kind, text: &String, authors| {
            all.push(TermCandidate { text: text.clone(), kind, authors, score: 0.0 });
        };
        for (text, (authors, _)) in self.tags.iter().filter(|(_, (count, _))| *count >= min) {
            if Some(*authors) > author_count(&self.words, strip_sigil(text)) {
                add(TermKind::Tag, text, *authors);
            }
        }
        for (text, (authors, _)) in self.words.iter().filter(|(_, (count, _))| *count >= min) {
            if Some(*authors) >= author_count(&self.tags, &format!("#{text}")) {
                add(TermKind::Word, text, *authors);
            }
        }
        for (text, (authors, _)) in self.pairs.iter().filter(|(_, (count, _))| *count >= min) {
            add(TermKind::Pair, text, *authors);
        }
        all
    }
}

/// The terms that occur more often in the sample than in all posts, strongest first.
fn rank_terms(
    tx: &mut Tx<'_>,
    baseline: &TermBaseline<'_>,
    inputs: &KeywordInputs,
    sample: &[PostText],
) -> Result<Vec<String>, Fault> {
    let min = if sample.len() < SMALL_SAMPLE { 1 } else { 2 };
    let authors: HashSet<i64> = sample.iter().map(|post| post.author_id).collect();
    let mut candidates = TermTally::new(sample).into_candidates(min);
    candidates.retain(|one| !inputs.overlaps_term(&one.text) && !inputs.is_blocked(&one.text));
    candidates.sort_unstable_by(|one, other| other.authors.cmp(&one.authors).then(one.text.cmp(&other.text)));
    let (pairs, single): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|one| one.kind == TermKind::Pair);
    let mut scored = Vec::new();
    for one in single.into_iter().take(MAX_TERMS) {
        scored.extend(baseline.score_candidate(tx, one, authors.len())?);
    }
    let words: HashMap<String, f64> =
        scored.iter().map(|one: &TermCandidate| (strip_sigil(&one.text).to_owned(), one.score)).collect();
    for one in pairs.into_iter().take(MAX_PAIRS) {
        let Some(one) = baseline.score_candidate(tx, one, authors.len())? else {
            continue;
        };
        let word_score = |word: &str| words.get(word).copied().unwrap_or(0.0);
        if one.text.split(' ').all(|word| one.score >= MIN_PAIR_GAIN * word_score(word)) {
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

/// Counts of common words by word and time window (hours): posts with the word, all posts, and expiry.
pub(super) type CommonTermCache = Cache<(String, i64, i64), (u64, u64, Time)>;

/// How often terms occur in general.
struct TermBaseline<'s> {
    index: &'s dyn PostIndexReader,
    window: SearchWindow,
    size: u64,
    common: &'s CommonTermCache,
}

impl<'s> TermBaseline<'s> {
    fn new(index: &'s dyn PostIndexReader, window: SearchWindow, common: &'s CommonTermCache) -> Result<Self, Fault> {
        let size = index.window_size(&window)?;
        Ok(Self { index, window, size, common })
    }

    /// Posts with a word. Counts of common words are cached, since they are expensive and many queries need them.
    fn count_posts_with_term(&self, now: Time, text: &str, plan: &QueryPlan) -> Result<u64, Fault> {
        let hour = |ms: i64| ms.div_euclid(HOUR_MS);
        let (since, until) = (hour(self.window.since_ms), hour(self.window.until_ms));
        let key = (text.to_owned(), since, until);
        if let Some((post_count, total, end)) = self.common.get(&key)
            && now < end
        {
            return Ok(post_count.saturating_mul(self.size) / total.max(1));
        }
        let post_count = self.index.count_hits(plan, &self.window)?;
        if post_count >= COMMON_TERM_POSTS {
            let end = now.plus_ms(CACHE_TTL_MS);
            self.common.insert(key, (post_count, self.size, end));
        }
        Ok(post_count)
    }

    /// None if the term is not more frequent than usual.
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
        let lookups: SearchLookups = crate::resolve_query_names(tx, &query)?;
        let plan = QueryPlan::new(&query, &lookups);
        let post_count = if one.kind == TermKind::Pair {
            // Two common words would require a look at every post with both.
            let (found, examined) = self.index.count_sample(&plan, &self.window, PAIR_SAMPLE_SIZE)?;
            found.saturating_mul(self.size) / examined.max(1)
        } else {
            self.count_posts_with_term(tx.now(), &one.text, &plan)?
        };
        let overall = (to_usize(post_count), to_usize(self.size));
        let score = log_likelihood_gain((one.authors, authors), overall);
        Ok(score.map(|score| TermCandidate { score, ..one }))
    }
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Words of recent posts that share a stem with a keyword.
fn find_same_stem_words(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    insights_query: &InsightsQuery,
    inputs: &KeywordInputs,
) -> Result<Vec<String>, Fault> {
    let stems: Vec<String> = inputs
        .texts
        .iter()
        .take(insights_query.keywords.len())
        .flat_map(|text| text.split(' '))
        .map(|word| word.chars().take(STEM_LENGTH).collect::<String>())
        .filter(|stem| stem.chars().count() == STEM_LENGTH)
        .collect();
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let hits = index.newest_hits(&QueryPlan::match_all(), &SearchWindow::ALL, SAMPLE_SIZE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    let TermTally { words, tags, .. } = TermTally::new(&posts::find_texts(tx, &ids)?);
    let with_kind = |kind: TermKind, counts: TermCounts| {
        let counts = counts.into_iter();
        counts.map(move |(text, (authors, _))| ((kind, text), authors))
    };
    let mut counts: Vec<((TermKind, String), usize)> = with_kind(TermKind::Word, words)
        .chain(with_kind(TermKind::Tag, tags))
        .filter(|((_, text), _)| {
            stems.iter().any(|stem| strip_sigil(text).starts_with(stem.as_str()))
                && !inputs.texts.iter().any(|input| input == strip_sigil(text))
                && !inputs.is_blocked(text)
        })
        .collect();
    counts.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    Ok(counts.into_iter().map(|((_, text), _)| text).collect())
}

/// Current trends.
fn find_rising_terms(tx: &mut Tx<'_>, inputs: &KeywordInputs) -> Result<Vec<String>, Fault> {
    let trends = topics::list_trends(tx, MAX_TRENDS)?.into_iter();
    let texts = trends.map(|trend| trend.topic);
    Ok(texts.filter(|text| !inputs.overlaps_term(text) && !inputs.is_blocked(text)).collect())
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
        for min in [1, 2, 9] {
            let mut insights_query: Vec<(TermKind, String, usize)> = Vec::new();
            for ((kind, text), users) in &users {
                let stays = match kind {
                    TermKind::Tag => Some(users.len()) > count(TermKind::Word, strip_sigil(text).to_owned()),
                    TermKind::Word => Some(users.len()) >= count(TermKind::Tag, format!("#{text}")),
                    TermKind::Pair => true,
                };
                if stays && users.len() >= min {
                    insights_query.push((*kind, text.clone(), users.len()));
                }
            }
            let found = TermTally::new(&sample).into_candidates(min).into_iter();
            let mut found: Vec<_> = found.map(|one| (one.kind, one.text, one.authors)).collect();
            found.sort_unstable();
            insights_query.sort_unstable();
            assert_eq!(found, insights_query);
            assert!(found.iter().any(|(kind, ..)| *kind == TermKind::Tag), "{min}");
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
