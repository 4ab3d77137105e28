//! What is written with keywords: how much, when, and which other terms come with them (contract
//! §8.1). What counts is public: nothing of protected or suspended authors, no reposts, nothing that
//! is for promotion only.

mod related;
mod stop_words;
mod terms;

use std::collections::HashSet;
use std::sync::Arc;

use ::search::{IndexSnapshot, QueryPlan, SearchLookups, SearchWindow};
use base::{Error, Fault, Time};
use moka::sync::Cache;
use query::ParsedQuery;
use store::Tx;

use crate::keywords;
use crate::search::resolve_query_names;

/// How long related keywords are kept.
const CACHE_TTL_MS: i64 = 300_000;
/// Questions whose related keywords are kept.
const CACHE_CAPACITY: u64 = 10_000;
const HOUR_MS: i64 = 3_600_000;
/// The list that a country's people stand on, inside a question only: no list has this id.
const RESIDENTS_LIST_ID: i64 = 1;

/// What is asked about.
#[derive(Clone, Debug)]
pub struct InsightsQuery {
    /// Any of these.
    pub keywords: Vec<String>,
    /// And none of these.
    pub negatives: Vec<String>,
    /// From then on.
    pub since: Time,
    /// Until before then.
    pub until: Time,
    /// In one country only.
    pub country: Option<InsightsCountry>,
    /// Words that are not to be suggested.
    pub blocked: Vec<String>,
}

/// A country: posts from a place in it, and posts from nowhere by those who live there.
#[derive(Clone, Debug)]
pub struct InsightsCountry {
    /// ISO 3166-1 alpha-2.
    pub code: String,
    /// Who lives there.
    pub residents: Arc<HashSet<i64>>,
}

/// Related keywords that were found lately, and what they were compared with; until when that is
/// kept.
#[derive(Debug)]
pub struct InsightsCache {
    related: Cache<String, (Time, Arc<[String]>)>,
    common_terms: related::CommonTermCache,
}

impl Default for InsightsCache {
    fn default() -> Self {
        Self {
            related: Cache::new(CACHE_CAPACITY),
            common_terms: Cache::new(CACHE_CAPACITY),
        }
    }
}

/// A question as the index is asked it.
pub(crate) struct PlannedInsightsQuery {
    pub(crate) plan: QueryPlan,
    pub(crate) window: SearchWindow,
}

impl InsightsQuery {
    /// The query; none when it is too long to be asked.
    fn build_query(&self, country: Option<&InsightsCountry>) -> Option<Arc<ParsedQuery>> {
        let clauses = |texts: &[String]| -> Vec<String> {
            let clauses = texts.iter();
            clauses.filter_map(|text| keywords::keyword_clause(text)).collect()
        };
        let mut text = keywords::any_of_clauses(&clauses(&self.keywords));
        for negative in clauses(&self.negatives) {
            text.push_str(" -");
            text.push_str(&negative);
        }
        if let Some(country) = country {
            let code = &country.code;
            let here = format!(" (place_country:{code} OR (-has:geo list:{RESIDENTS_LIST_ID}))");
            text.push_str(&here);
        }
        text.push_str(" -is:nullcast");
        keywords::parse_query(&text)
    }

    pub(crate) fn plan_query(&self, tx: &mut Tx<'_>) -> Result<PlannedInsightsQuery, Fault> {
        let query = self.build_query(self.country.as_ref());
        let query = query.ok_or_else(|| Fault::new("keywords that make no query"))?;
        let mut known: SearchLookups = resolve_query_names(tx, &query)?;
        if let Some(country) = &self.country {
            known.lists.insert(RESIDENTS_LIST_ID, Arc::clone(&country.residents));
        }
        Ok(PlannedInsightsQuery {
            plan: QueryPlan::new(&query, &known),
            window: SearchWindow {
                since_ms: self.since.ms(),
                until_ms: self.until.ms(),
                ..SearchWindow::ALL
            },
        })
    }

    /// What tells this question from others, as far as related keywords go.
    fn cache_key(&self) -> String {
        let sorted = |texts: &[String]| {
            let texts = texts.iter().map(|text| query::words::normalize_case(text.trim()));
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
pub fn count_volume(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    wanted: &InsightsQuery,
    step_ms: i64,
) -> Result<Vec<u64>, Error> {
    let since = wanted.since.ms();
    let steps = (wanted.until.ms() - since + step_ms - 1).div_euclid(step_ms);
    let mut counts = vec![0; usize::try_from(steps).unwrap_or(0)];
    let question = wanted.plan_query(tx)?;
    let place = |at: i64| usize::try_from((at - since).div_euclid(step_ms)).ok();
    snapshot.count_by_time(&question.plan, &question.window, place, &mut counts)?;
    Ok(counts)
}

impl InsightsCache {
    /// Terms that come with the keywords more than without them, those first that do so the most.
    /// For five minutes the same question has the same answer.
    pub fn find_related_keywords(
        &self,
        tx: &mut Tx<'_>,
        snapshot: &IndexSnapshot,
        wanted: &InsightsQuery,
    ) -> Result<Arc<[String]>, Error> {
        let (key, now) = (wanted.cache_key(), tx.now());
        if let Some((until, found)) = self.related.get(&key)
            && now < until
        {
            return Ok(found);
        }
        let found: Arc<[String]> = related::find_related_terms(tx, snapshot, wanted, &self.common_terms)?.into();
        let until = now.plus_ms(CACHE_TTL_MS);
        self.related.insert(key, (until, Arc::clone(&found)));
        Ok(found)
    }
}
