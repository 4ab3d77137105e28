//! What is known about the pages that links lead to.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{select, table};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LinkFacts in "link_facts" {
        /// Of the normalized URL.
        pub digest: i64,
        /// Normalized.
        pub url: String,
        /// The URL behind redirects, or empty.
        pub unwound_url: String,
        /// The HTTP status; 0 if unknown.
        pub status: i64,
        pub title: String,
        pub description: String,
        /// Images as in the API (JSON), or empty.
        pub images: String,
        pub updated_at: Time,
        /// Whether the page said so, and not an operator.
        pub is_fetched: bool as "fetched",
    }
}

const UPSERT: &str = "INSERT INTO link_facts (digest, url, unwound_url, status, title, description, images, updated_at, \
    fetched) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (digest) DO UPDATE SET url = excluded.url, \
    unwound_url = excluded.unwound_url, status = excluded.status, title = excluded.title, \
    description = excluded.description, images = excluded.images, updated_at = excluded.updated_at, \
    fetched = excluded.fetched";

/// Replaces what is known about a URL. What an operator said is not replaced by what was fetched.
pub fn upsert(tx: &mut Tx<'_>, facts: &LinkFacts) -> Result<(), Fault> {
    let guard = if facts.is_fetched { " WHERE link_facts.fetched = 1" } else { "" };
    let args = [
        facts.digest.into(),
        (&facts.url).into(),
        (&facts.unwound_url).into(),
        facts.status.into(),
        (&facts.title).into(),
        (&facts.description).into(),
        (&facts.images).into(),
        facts.updated_at.into(),
        facts.is_fetched.into(),
    ];
    tx.execute_later(&[UPSERT, guard].concat(), &args)
}

/// Facts of digests that have any, in no particular order.
pub fn find_by_digests(tx: &mut Tx<'_>, digests: &[i64]) -> Result<Vec<LinkFacts>, Fault> {
    tx.query_by_keys(select!(LinkFacts, "WHERE digest = $1"), digests, &[])
}
