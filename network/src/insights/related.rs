//! Terms that come with keywords.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use ::search::{Known, Plan, Snapshot, Window};
use base::{Fault, Stop, Time, UserId};
use moka::sync::Cache;
use store::posts::{self, PostText};
use store::{Tx, topics};

use super::terms::{self, Kind};
use super::{HOUR_MS, KEPT_MS, Wanted};
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
    common: &Common,
) -> Result<Vec<String>, Stop> {
    let inputs = Inputs::new(wanted);
    let ranked = |tx: &mut Tx<'_>, wanted: &Wanted, sample: &[PostText]| {
        let until = wanted.until.ms();
        let window = Window {
            since: (until - USUAL_MS).min(wanted.since.ms()),
            until,
            ..Window::ALL
        };
        let usual = Usual::new(snapshot, window, common);
        ranked(tx, &usual, &inputs, sample)
    };
    let mut found = Vec::new();
    let sample = sampled(tx, snapshot, wanted)?;
    take(&mut found, ranked(tx, wanted, &sample)?);
    if found.len() < MOST {
        let longer = Wanted {
            since: wanted.until.plus_ms(-LONG_MS).min(wanted.since),
            ..wanted.clone()
        };
        let more = sampled(tx, snapshot, &longer)?;
        take(&mut found, ranked(tx, &longer, &more)?);
    }
    if found.len() < MOST {
        let theirs = by_authors(tx, snapshot, &sample)?;
        take(&mut found, ranked(tx, wanted, &theirs)?);
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
fn sampled(tx: &mut Tx<'_>, snapshot: &Snapshot, wanted: &Wanted) -> Result<Vec<PostText>, Fault> {
    let question = wanted.question(tx)?;
    let hits = snapshot.newest(&question.plan, &question.window, SAMPLE)?;
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    posts::find_texts(tx, &ids)
}

/// Further public posts of those who wrote some.
fn by_authors(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    sample: &[PostText],
) -> Result<Vec<PostText>, Fault> {
    let mut authors: Vec<i64> = sample.iter().map(|post| post.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    authors.truncate(AUTHORS);
    let mut ids = Vec::new();
    for author in authors {
        let theirs = posts::list_ids_by_author(tx, UserId::new(author), i64::MAX, POSTS_OF_EACH)?;
        for id in theirs {
            // What is for some only is not in the index.
            if snapshot.holds(id.get())? {
                ids.push(id.get());
            }
        }
    }
    posts::find_texts(tx, &ids)
}

/// How many authors use each term, and the last of them.
type Counts = HashMap<String, (usize, i64)>;

/// Terms, and how many authors use each.
#[derive(Default)]
struct Counted {
    words: Counts,
    tags: Counts,
    pairs: Counts,
}

impl Counted {
    fn new(sample: &[PostText]) -> Self {
        let mut order: Vec<&PostText> = sample.iter().collect();
        order.sort_unstable_by_key(|post| post.author_id);
        let mut all = Self::default();
        for post in order {
            terms::each(&post.text, &post.lang, |kind, term| {
                let counts = match kind {
                    Kind::Word => &mut all.words,
                    Kind::Tag => &mut all.tags,
                    Kind::Pair => &mut all.pairs,
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
    fn merged(self, least: usize) -> Vec<Candidate> {
        let of = |counts: &Counts, text: &str| counts.get(text).map(|(count, _)| *count);
        let mut all = Vec::new();
        let mut add = |kind, text: &String, authors| {
            all.push(Candidate {
                text: text.clone(),
                kind,
                authors,
                score: 0.0,
            });
        };
        for (text, (authors, _)) in self.tags.iter().filter(|(_, (count, _))| *count >= least) {
            if Some(*authors) > of(&self.words, bare(text)) {
                add(Kind::Tag, text, *authors);
            }
        }
        for (text, (authors, _)) in self.words.iter().filter(|(_, (count, _))| *count >= least) {
            if Some(*authors) >= of(&self.tags, &format!("#{text}")) {
                add(Kind::Word, text, *authors);
            }
        }
        for (text, (authors, _)) in self.pairs.iter().filter(|(_, (count, _))| *count >= least) {
            add(Kind::Pair, text, *authors);
        }
        all
    }
}

/// The terms of some posts that come more often in them than in all, the strongest first.
fn ranked(
    tx: &mut Tx<'_>,
    usual: &Usual<'_>,
    inputs: &Inputs,
    sample: &[PostText],
) -> Result<Vec<String>, Fault> {
    let least = if sample.len() < FEW { 1 } else { 2 };
    let authors: HashSet<i64> = sample.iter().map(|post| post.author_id).collect();
    let mut candidates = Counted::new(sample).merged(least);
    candidates.retain(|one| !inputs.hold(&one.text) && !inputs.is_blocked(&one.text));
    candidates.sort_unstable_by(|one, other| {
        other
            .authors
            .cmp(&one.authors)
            .then(one.text.cmp(&other.text))
    });
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

/// How often words are written that are written often, in windows of time by the hour: how many
/// posts had them, of how many, and until when that is taken for true.
pub(super) type Common = Cache<(String, i64, i64), (u64, u64, Time)>;

/// What is usual: how often terms are written at all.
struct Usual<'s> {
    snapshot: &'s Snapshot,
    window: Window,
    size: u64,
    common: &'s Common,
}

impl<'s> Usual<'s> {
    fn new(snapshot: &'s Snapshot, window: Window, common: &'s Common) -> Self {
        let size = snapshot.size(&window);
        Self {
            snapshot,
            window,
            size,
            common,
        }
    }

    /// How many posts have a word. Those that have a common one are counted once in a while: they
    /// are many, and most questions lead to the same.
    fn held(&self, now: Time, text: &str, plan: &Plan) -> Result<u64, Fault> {
        let hour = |ms: i64| ms.div_euclid(HOUR_MS);
        let (since, until) = (hour(self.window.since), hour(self.window.until));
        let key = (text.to_owned(), since, until);
        if let Some((held, of, end)) = self.common.get(&key)
            && now < end
        {
            return Ok(held.saturating_mul(self.size) / of.max(1));
        }
        let held = self.snapshot.frequency(plan, &self.window)?;
        if held >= COMMON {
            let end = now.plus_ms(KEPT_MS);
            self.common.insert(key, (held, self.size, end));
        }
        Ok(held)
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
            self.held(tx.now(), &one.text, &plan)?
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
    let Counted { words, tags, .. } = Counted::new(&posts::find_texts(tx, &ids)?);
    let of = |kind: Kind, counts: Counts| {
        let counts = counts.into_iter();
        counts.map(move |(text, (authors, _))| ((kind, text), authors))
    };
    let mut counts: Vec<((Kind, String), usize)> = of(Kind::Word, words)
        .chain(of(Kind::Tag, tags))
        .filter(|((_, text), _)| {
            stems
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
    let trends = topics::list_trends(tx, TRENDS)?.into_iter();
    let texts = trends.map(|trend| trend.topic);
    Ok(texts
        .filter(|text| !inputs.hold(text) && !inputs.is_blocked(text))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use store::posts::PostText;

    use super::terms::{self, Kind};
    use super::{Counted, bare, holds, take};

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
        let mut users: HashMap<(Kind, String), HashSet<i64>> = HashMap::new();
        for post in &sample {
            terms::each(&post.text, &post.lang, |kind, term| {
                users
                    .entry((kind, term.to_owned()))
                    .or_default()
                    .insert(post.author_id);
            });
        }
        let count = |kind, text: String| users.get(&(kind, text)).map(HashSet::len);
        for least in [1, 2, 9] {
            let mut wanted: Vec<(Kind, String, usize)> = Vec::new();
            for ((kind, text), users) in &users {
                let stays = match kind {
                    Kind::Tag => Some(users.len()) > count(Kind::Word, bare(text).to_owned()),
                    Kind::Word => Some(users.len()) >= count(Kind::Tag, format!("#{text}")),
                    Kind::Pair => true,
                };
                if stays && users.len() >= least {
                    wanted.push((*kind, text.clone(), users.len()));
                }
            }
            let found = Counted::new(&sample).merged(least).into_iter();
            let mut found: Vec<_> = found.map(|one| (one.kind, one.text, one.authors)).collect();
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted);
            assert!(found.iter().any(|(kind, ..)| *kind == Kind::Tag), "{least}");
        }
    }

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
