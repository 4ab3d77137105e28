//! Imports of scheduled product feeds. The file is fetched by the caller; each part of it is one transaction, which
//! changes nothing once the feed was changed or deleted, or another node took over.

mod feed_file;

use std::collections::BTreeSet;

use base::{Error, Fault, Time};
use serde_json::{Map, Value, json};
use store::Tx;
use store::ads::product_catalogs::{self, ScheduledFeed};
use store::users::{self, UserState};

use crate::resources::product_catalogs::feed_schedule::next_import;
use crate::resources::product_catalogs::products::{ProductChangeStatus, find_repeated_ids, upsert_products};
use crate::resources::product_catalogs::scheduled_feeds::{LAST_IMPORT, parse_feed};

/// Of a file.
pub const MAX_FEED_BYTES: usize = 16 * 1024 * 1024;
/// Products per transaction.
const BATCH_SIZE: usize = 100;
/// Per scheduled time.
const MAX_ATTEMPTS: i64 = 3;
/// The delay before a retry, for each attempt so far.
const RETRY_DELAY_MS: i64 = 5 * 60 * 1000;
/// A node that has not gone on with an import for this time has failed.
const LEASE_MS: i64 = 10 * 60 * 1000;
/// Problems of products that are kept.
const MAX_ERRORS: usize = 10;
const MAX_ERROR_LENGTH: usize = 300;

/// An import that this process carries out.
#[derive(Clone, Debug)]
pub struct FeedImport {
    pub url: String,
    id: i64,
    catalog_id: i64,
    format: String,
}

/// The products of a file, and how far they are imported.
#[derive(Clone, Debug, Default)]
pub struct FeedProducts {
    rows: Vec<Map<String, Value>>,
    repeated: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
pub struct ImportCounts {
    created: u64,
    updated: u64,
    unchanged: u64,
    failed: u64,
    /// Of the first products that failed.
    errors: Vec<String>,
}

/// Why a file was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportFailure {
    /// It may be there later.
    NotFetched(String),
    /// It is no feed, or is too large.
    NotAccepted(String),
}

/// When the next feed is due that is not due yet.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    product_catalogs::next_due_feed(tx)
}

pub fn has_due_feeds(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(!product_catalogs::list_due_feeds(tx, 1)?.is_empty())
}

/// Claims due feeds; returns how many were due. Feeds of users who are not active wait for their next time.
pub fn claim_due_imports(tx: &mut Tx<'_>, limit: i64) -> Result<(usize, Vec<FeedImport>), Fault> {
    let due = product_catalogs::list_due_feeds(tx, limit)?;
    let (count, mut claimed) = (due.len(), Vec::new());
    for row in due {
        product_catalogs::lock(tx, row.catalog_id)?;
        let now = tx.now();
        // Another node may have claimed it, or its user changed it.
        let still_due = product_catalogs::find_feed(tx, row.catalog_id)?.filter(|found| found.due_at <= now);
        if let Some(row) = still_due {
            claimed.extend(claim_import(tx, row)?);
        }
    }
    Ok((count, claimed))
}

fn claim_import(tx: &mut Tx<'_>, mut row: ScheduledFeed) -> Result<Option<FeedImport>, Fault> {
    let feed = parse_feed(&row)?;
    let catalog = product_catalogs::find_by_id(tx, row.catalog_id)?;
    let owner = match catalog {
        Some(catalog) => users::find_by_id(tx, catalog.user_id)?,
        None => None,
    };
    let is_active = owner.is_some_and(|user| user.state == UserState::Active);
    if !is_active || row.attempts >= MAX_ATTEMPTS {
        if is_active {
            let failure = ImportFailure::NotAccepted("The import was interrupted several times".to_owned());
            record_outcome(&mut row, Err(failure), tx.now())?;
        }
        schedule_next(&mut row, tx.now())?;
        product_catalogs::update_feed(tx, &row)?;
        return Ok(None);
    }
    let id = tx.next_id::<()>().get();
    (row.import_id, row.attempts, row.due_at) = (Some(id), row.attempts + 1, tx.now().plus_ms(LEASE_MS));
    product_catalogs::update_feed(tx, &row)?;
    let text = |name: &str| feed.text(name).to_owned();
    Ok(Some(FeedImport { url: text("feed_url"), id, catalog_id: row.catalog_id, format: text("feed_format") }))
}

impl FeedImport {
    /// The error is a sentence for the merchant.
    pub fn parse_file(&self, bytes: &[u8]) -> Result<FeedProducts, ImportFailure> {
        let rows = feed_file::parse(bytes, &self.format).map_err(ImportFailure::NotAccepted)?;
        let repeated = find_repeated_ids(&rows);
        Ok(FeedProducts { rows, repeated })
    }

    /// None if this process has lost the import.
    fn lock_feed(&self, tx: &mut Tx<'_>) -> Result<Option<ScheduledFeed>, Fault> {
        product_catalogs::lock(tx, self.catalog_id)?;
        if product_catalogs::find_by_id(tx, self.catalog_id)?.is_none() {
            return Ok(None);
        }
        Ok(product_catalogs::find_feed(tx, self.catalog_id)?.filter(|row| row.import_id == Some(self.id)))
    }

    /// Imports the products from an index on; returns the index of the next part. None at the end, or if this process
    /// has lost the import.
    pub fn apply_part(
        &self,
        tx: &mut Tx<'_>,
        products: &FeedProducts,
        from: usize,
    ) -> Result<Option<(usize, ImportCounts)>, Error> {
        let part: Vec<Map<String, Value>> = products.rows.iter().skip(from).take(BATCH_SIZE).cloned().collect();
        let (Some(mut row), false) = (self.lock_feed(tx)?, part.is_empty()) else {
            return Ok(None);
        };
        row.due_at = tx.now().plus_ms(LEASE_MS);
        product_catalogs::update_feed(tx, &row)?;
        let next = from + part.len();
        let mut counts = ImportCounts::default();
        for change in upsert_products(tx, self.catalog_id, part, &products.repeated)? {
            match change.status {
                ProductChangeStatus::Created => counts.created += 1,
                ProductChangeStatus::Updated => counts.updated += 1,
                ProductChangeStatus::Unchanged => counts.unchanged += 1,
                ProductChangeStatus::Failed => {
                    counts.failed += 1;
                    let message = format!("{}: {}", change.id, change.errors.join("; "));
                    counts.errors.push(shorten(&message));
                }
            }
        }
        counts.errors.truncate(MAX_ERRORS);
        Ok(Some((next, counts)))
    }

    /// Records the outcome, unless this process has lost the import, and says when the next import is.
    pub fn finish(&self, tx: &mut Tx<'_>, outcome: Result<ImportCounts, ImportFailure>) -> Result<(), Error> {
        let Some(mut row) = self.lock_feed(tx)? else {
            return Ok(());
        };
        let now = tx.now();
        let retry = now.plus_ms(RETRY_DELAY_MS.saturating_mul(row.attempts));
        let may_retry = matches!(outcome, Err(ImportFailure::NotFetched(_))) && row.attempts < MAX_ATTEMPTS;
        record_outcome(&mut row, outcome, now)?;
        if may_retry && retry < next_import(&parse_feed(&row)?, now) {
            (row.due_at, row.import_id) = (retry, None);
        } else {
            schedule_next(&mut row, now)?;
        }
        Ok(product_catalogs::update_feed(tx, &row)?)
    }
}

fn schedule_next(row: &mut ScheduledFeed, now: Time) -> Result<(), Fault> {
    let feed = parse_feed(row)?;
    (row.due_at, row.attempts, row.import_id) = (next_import(&feed, now), 0, None);
    Ok(())
}

fn record_outcome(
    row: &mut ScheduledFeed,
    outcome: Result<ImportCounts, ImportFailure>,
    now: Time,
) -> Result<(), Fault> {
    let (status, counts, error) = match outcome {
        Ok(counts) => ("SUCCESS", counts, None),
        Err(ImportFailure::NotFetched(why) | ImportFailure::NotAccepted(why)) => {
            ("FAILED", ImportCounts::default(), Some(shorten(&why)))
        }
    };
    let mut feed = parse_feed(row)?;
    feed.set(
        LAST_IMPORT,
        json!({
            "status": status,
            "completed_at": now.to_string(),
            "error": error,
            "products_created": counts.created,
            "products_updated": counts.updated,
            "products_unchanged": counts.unchanged,
            "products_failed": counts.failed,
            "errors": counts.errors,
        }),
    );
    row.body = feed.to_stored().body;
    Ok(())
}

impl ImportCounts {
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.failed += other.failed;
        self.errors.extend(other.errors);
        self.errors.truncate(MAX_ERRORS);
        self
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_ERROR_LENGTH).collect()
}
