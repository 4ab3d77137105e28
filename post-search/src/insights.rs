//! Keyword insights: volume over time, and related keywords (contract ads §8.1). Only public posts count: no posts of
//! protected or suspended authors, no reposts, no nullcast posts.

mod related;
mod stop_words;
mod terms;

use std::collections::HashSet;
use std::sync::Arc;

use ::search::{PostIndexReader, QueryPlan, SearchLookups, SearchWindow, TimeBuckets};
use base::{Error, Fault, Time};
use query::ParsedQuery;
use quick_cache::sync::Cache;
use store::Tx;

use crate::keywords;
use crate::resolve_query_names;

/// How long related keywords are cached.
const CACHE_TTL_MS: i64 = 300_000;
/// Cached queries.
const CACHE_CAPACITY: usize = 10_000;
const HOUR_MS: i64 = 3_600_000;
/// The list of a country's residents, within a query only: no stored list has this id.
const RESIDENTS_LIST_ID: i64 = 1;

#[derive(Clone, Debug)]
pub struct InsightsQuery {
    /// Any of these.
    pub keywords: Vec<String>,
    /// None of these.
    pub negatives: Vec<String>,
    /// Inclusive.
    pub since: Time,
    /// Exclusive.
    pub until: Time,
    /// Only this country.
    pub country: Option<InsightsCountry>,
    /// Words not to suggest.
    pub blocked: Vec<String>,
}

/// A country: posts tagged with a place in it, and posts without a place by its residents.
#[derive(Clone, Debug)]
pub struct InsightsCountry {
    /// ISO 3166-1 alpha-2.
    pub code: String,
    pub residents: Arc<HashSet<i64>>,
}

/// Recently found related keywords, and the term counts they were compared with; each with its expiry.
#[derive(Debug)]
pub struct InsightsCache {
    related: Cache<String, (Time, Arc<[String]>)>,
    common_terms: related::CommonTermCache,
}

impl Default for InsightsCache {
    fn default() -> Self {
        Self { related: Cache::new(CACHE_CAPACITY), common_terms: Cache::new(CACHE_CAPACITY) }
    }
}

pub(crate) struct PlannedInsightsQuery {
    pub(crate) plan: QueryPlan,
    pub(crate) window: SearchWindow,
}

impl InsightsQuery {
    /// None if the query is too long.
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
            let country_clause = format!(" (place_country:{code} OR (-has:geo list:{RESIDENTS_LIST_ID}))");
            text.push_str(&country_clause);
        }
        keywords::parse_query(&text)
    }

    pub(crate) fn plan_query(&self, tx: &mut Tx<'_>) -> Result<PlannedInsightsQuery, Fault> {
        let query = self.build_query(self.country.as_ref());
        let query = query.ok_or_else(|| Fault::new("the keywords do not form a valid query"))?;
        let mut lookups: SearchLookups = resolve_query_names(tx, &query)?;
        if let Some(country) = &self.country {
            lookups.lists.insert(RESIDENTS_LIST_ID, Arc::clone(&country.residents));
        }
        Ok(PlannedInsightsQuery {
            plan: QueryPlan::new(&query, &lookups),
            window: SearchWindow { since_ms: self.since.ms(), until_ms: self.until.ms(), ..SearchWindow::ALL },
        })
    }

    /// Identifies the query, as far as related keywords depend on it.
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

/// The number of posts per step; the last step ends at `until`.
pub fn count_volume(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    insights_query: &InsightsQuery,
    step_ms: i64,
) -> Result<Vec<u64>, Error> {
    let since = insights_query.since.ms();
    let steps = (insights_query.until.ms() - since + step_ms - 1).div_euclid(step_ms);
    let buckets = TimeBuckets { start_ms: since, step_ms, count: usize::try_from(steps).unwrap_or(0) };
    let planned = insights_query.plan_query(tx)?;
    Ok(index.count_in_buckets(&planned.plan, &planned.window, buckets)?)
}

impl InsightsCache {
    /// Terms that occur more often with the keywords than otherwise, strongest first. Cached for five minutes.
    pub fn find_related_keywords(
        &self,
        tx: &mut Tx<'_>,
        index: &dyn PostIndexReader,
        insights_query: &InsightsQuery,
    ) -> Result<Arc<[String]>, Error> {
        let (key, now) = (insights_query.cache_key(), tx.now());
        if let Some((until, found)) = self.related.get(&key)
            && now < until
        {
            return Ok(found);
        }
        let found: Arc<[String]> = related::find_related_terms(tx, index, insights_query, &self.common_terms)?.into();
        let until = now.plus_ms(CACHE_TTL_MS);
        self.related.insert(key, (until, Arc::clone(&found)));
        Ok(found)
    }
}
