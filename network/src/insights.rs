//! What is written with keywords: how much, when, and which other terms come with them (contract
//! §8.1). What counts is public: nothing of protected or suspended authors, no reposts, nothing that
//! is for promotion only.

mod related;
mod stop_words;
mod terms;

use std::collections::HashSet;
use std::sync::Arc;

use ::search::{Known, Plan, Snapshot, Window};
use base::{Fault, Stop, Time};
use moka::sync::Cache;
use query::Query;
use store::Tx;

use crate::keywords;
use crate::search::known;

/// How long related keywords are kept.
const KEPT_MS: i64 = 300_000;
/// Questions whose related keywords are kept.
const MOST: u64 = 10_000;
const HOUR_MS: i64 = 3_600_000;
/// The list that a country's people stand on, inside a question only: no list has this id.
const PEOPLE: i64 = 1;

/// What is asked about.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Any of these.
    pub keywords: Vec<String>,
    /// And none of these.
    pub negatives: Vec<String>,
    /// From then on.
    pub since: Time,
    /// Until before then.
    pub until: Time,
    /// In one country only.
    pub country: Option<Country>,
    /// Words that are not to be suggested.
    pub blocked: Vec<String>,
}

/// A country: posts from a place in it, and posts from nowhere by those who live there.
#[derive(Clone, Debug)]
pub struct Country {
    /// ISO 3166-1 alpha-2.
    pub code: String,
    /// Who lives there.
    pub people: Arc<HashSet<i64>>,
}

/// Related keywords that were found lately, and what they were compared with; until when that is
/// kept.
#[derive(Debug)]
pub struct Insights {
    related: Cache<String, (Time, Arc<[String]>)>,
    common: related::Common,
}

impl Default for Insights {
    fn default() -> Self {
        Self {
            related: Cache::new(MOST),
            common: Cache::new(MOST),
        }
    }
}

/// A question as the index is asked it.
pub(crate) struct Question {
    pub(crate) plan: Plan,
    pub(crate) window: Window,
}

impl Wanted {
    /// The query; none when it is too long to be asked.
    fn query(&self, country: Option<&Country>) -> Option<Arc<Query>> {
        let clauses = |texts: &[String]| -> Vec<String> {
            let clauses = texts.iter();
            clauses.filter_map(|text| keywords::clause(text)).collect()
        };
        let mut text = keywords::any(&clauses(&self.keywords));
        for negative in clauses(&self.negatives) {
            text.push_str(" -");
            text.push_str(&negative);
        }
        if let Some(country) = country {
            let code = &country.code;
            let here = format!(" (place_country:{code} OR (-has:geo list:{PEOPLE}))");
            text.push_str(&here);
        }
        text.push_str(" -is:nullcast");
        keywords::query(&text)
    }

    pub(crate) fn question(&self, tx: &mut Tx<'_>) -> Result<Question, Fault> {
        let query = self.query(self.country.as_ref());
        let query = query.ok_or_else(|| Fault::new("keywords that make no query"))?;
        let mut known: Known = known(tx, &query)?;
        if let Some(country) = &self.country {
            known.lists.insert(PEOPLE, Arc::clone(&country.people));
        }
        Ok(Question {
            plan: Plan::new(&query, &known),
            window: Window {
                since: self.since.ms(),
                until: self.until.ms(),
                ..Window::ALL
            },
        })
    }

    /// What tells this question from others, as far as related keywords go.
    fn key(&self) -> String {
        let sorted = |texts: &[String]| {
            let texts = texts.iter().map(|text| query::words::lower(text.trim()));
            let mut texts: Vec<String> = texts.collect();
            texts.sort_unstable();
            texts.join("\n")
        };
        let hour = |time: Time| time.ms().div_euclid(HOUR_MS);
        let country = self.country.as_ref().map(|country| country.code.as_str());
        format!(
            "{}\0{}\0{}\0{}\0{}\0{}",
            sorted(&self.keywords),
            sorted(&self.negatives),
            country.unwrap_or_default(),
            hour(self.since),
            hour(self.until),
            sorted(&self.blocked),
        )
    }
}

/// How many posts there are in each step of time; the last one ends with the question's.
pub fn volume(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    wanted: &Wanted,
    step_ms: i64,
) -> Result<Vec<u64>, Stop> {
    let since = wanted.since.ms();
    let steps = (wanted.until.ms() - since + step_ms - 1).div_euclid(step_ms);
    let mut counts = vec![0; usize::try_from(steps).unwrap_or(0)];
    let question = wanted.question(tx)?;
    let place = |at: i64| usize::try_from((at - since).div_euclid(step_ms)).ok();
    snapshot.spread(&question.plan, &question.window, place, &mut counts)?;
    Ok(counts)
}

impl Insights {
    /// Terms that come with the keywords more than without them, those first that do so the most.
    /// For five minutes the same question has the same answer.
    pub fn related(
        &self,
        tx: &mut Tx<'_>,
        snapshot: &Snapshot,
        wanted: &Wanted,
    ) -> Result<Arc<[String]>, Stop> {
        let (key, now) = (wanted.key(), tx.now());
        if let Some((until, found)) = self.related.get(&key)
            && now < until
        {
            return Ok(found);
        }
        let found: Arc<[String]> = related::find(tx, snapshot, wanted, &self.common)?.into();
        let until = now.plus_ms(KEPT_MS);
        self.related.insert(key, (until, Arc::clone(&found)));
        Ok(found)
    }
}
