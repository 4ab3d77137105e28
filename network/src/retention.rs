//! Deletion of expired rows: all tables that would otherwise grow without bound, and how long their rows are kept.

use base::{Error, Fault, Time};
use futures_util::future::BoxFuture;
use store::partitions::PartitionExpiry;
use store::{
    Store, Tx, attempt_limits, audit, authorization_codes, connections, credential_changes, emails, event_log, nonces,
    notifications, partitions, rate_windows, request_tokens, sessions, short_links, tokens, usage,
};

use crate::usage::RETENTION_MS;

/// Configurable retention periods, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct RetentionPeriods {
    /// Since the last use.
    pub session_ttl_ms: i64,
    pub log_ms: i64,
    /// Webhook deliveries.
    pub deliveries_ms: i64,
    pub audit_ms: i64,
}

/// Expired tokens and codes, so that a second use can be told from a guess.
const ENDED_MS: i64 = DAY_MS;
/// Revoked tokens, which remain visible for a while.
const REVOKED_MS: i64 = 30 * DAY_MS;
/// Applications for accounts that nobody decided about.
const APPLICATIONS_MS: i64 = 30 * DAY_MS;
const NOTIFICATIONS_MS: i64 = 90 * DAY_MS;
/// Emails, and expired links.
const EMAILS_MS: i64 = 7 * DAY_MS;
/// Stream connections, after their end (contract core §9.5).
const CONNECTIONS_MS: i64 = 7 * DAY_MS;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// The ids of conversions: as long as advertisers may report one.
const CONVERSION_IDS_MS: i64 = 91 * DAY_MS;
/// Since their last change; their files expire earlier.
const STATISTICS_JOBS_MS: i64 = 30 * DAY_MS;
/// Rows per transaction, so that a long run does not block other writers.
const BATCH_SIZE: i64 = 2_000;

/// Deletes one batch of a table. Nonces, sessions, rate limits and usage follow the machine's time, which is the
/// argument; everything else follows the platform's.
type PruneTable = fn(&mut Tx<'_>, RetentionPeriods, Time) -> Result<u64, Fault>;

const PRUNED_TABLES: &[(&str, PruneTable)] = &[
    // First, so that nothing of them is deleted row by row.
    ("partitions", |tx, periods, wall| {
        let expiry = PartitionExpiry {
            events_before: tx.now().plus_ms(periods.log_ms.saturating_neg()),
            deliveries_before: tx.now().plus_ms(periods.deliveries_ms.saturating_neg()),
            reads_before: crate::reads::first_kept_day(wall),
            views_before: crate::views::first_kept_hour(tx.now()),
        };
        partitions::drop_next_expired(tx, expiry)
    }),
    ("nonces", |tx, _, wall| nonces::prune(tx, wall)),
    ("rate limits", |tx, _, wall| rate_windows::prune(tx, wall)),
    ("credential changes", |tx, _, wall| credential_changes::prune(tx, wall)),
    ("usage", |tx, _, wall| usage::prune(tx, wall.plus_ms(-RETENTION_MS))),
    ("sessions", |tx, periods, wall| {
        let before = wall.plus_ms(periods.session_ttl_ms.saturating_neg());
        sessions::prune(tx, before, BATCH_SIZE)
    }),
    ("attempts", |tx, _, wall| attempt_limits::prune(tx, wall, BATCH_SIZE)),
    ("emails", |tx, _, _| {
        let before = tx.now().plus_ms(-EMAILS_MS);
        emails::prune(tx, before, BATCH_SIZE)
    }),
    ("reports", |tx, periods, _| {
        let before = tx.now().plus_ms(periods.audit_ms.saturating_neg());
        store::reports::prune(tx, before, BATCH_SIZE)
    }),
    ("applications", |tx, _, _| {
        let before = tx.now().plus_ms(-APPLICATIONS_MS);
        store::registration_requests::prune(tx, before, BATCH_SIZE)
    }),
    ("notifications", |tx, _, _| {
        let before = tx.now().plus_ms(-NOTIFICATIONS_MS);
        notifications::prune(tx, before, BATCH_SIZE)
    }),
    ("interactions", |tx, _, _| {
        let before = tx.now().plus_ms(-NOTIFICATIONS_MS);
        store::interactions::prune(tx, before, BATCH_SIZE)
    }),
    ("muted words", |tx, _, _| store::muted_words::prune(tx, BATCH_SIZE)),
    ("request tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        request_tokens::prune(tx, before, BATCH_SIZE)
    }),
    ("codes", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        authorization_codes::prune(tx, before, BATCH_SIZE)
    }),
    ("changes of counters", |tx, _, _| store::counters::prune(tx)),
    ("connections", |tx, _, _| {
        let before = tx.now().plus_ms(-CONNECTIONS_MS);
        connections::prune(tx, before, BATCH_SIZE)
    }),
    ("tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        tokens::prune_oauth2(tx, before, BATCH_SIZE)
    }),
    ("revoked tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-REVOKED_MS);
        tokens::prune_revoked(tx, before, BATCH_SIZE)
    }),
    ("log", |tx, periods, _| {
        let before = tx.now().plus_ms(periods.log_ms.saturating_neg());
        let before = partitions::deletion_limit(tx, before);
        event_log::prune(tx, before, BATCH_SIZE)
    }),
    ("compliance jobs", |tx, _, _| crate::compliance::prune(tx, BATCH_SIZE / 4)),
    ("deliveries", |tx, periods, _| {
        let before = tx.now().plus_ms(periods.deliveries_ms.saturating_neg());
        let before = partitions::deletion_limit(tx, before);
        crate::webhooks::prune(tx, before, BATCH_SIZE)
    }),
    ("topics", |tx, _, _| crate::topics::prune(tx, BATCH_SIZE / 4)),
    ("posts read", |tx, _, wall| crate::reads::prune(tx, wall, BATCH_SIZE)),
    ("link clicks", |tx, _, _| short_links::prune_clicks(tx, tx.now(), BATCH_SIZE)),
    ("views", |tx, _, _| crate::views::prune(tx, BATCH_SIZE)),
    ("members of audiences", |tx, _, _| store::ads::audiences::prune_members(tx, tx.now(), BATCH_SIZE / 4)),
    ("files of figures", |tx, _, _| store::ledger::delete_expired_files(tx, BATCH_SIZE / 4)),
    ("statistics jobs", |tx, _, _| {
        let before = tx.now().plus_ms(-STATISTICS_JOBS_MS);
        store::ledger::prune_jobs(tx, before, BATCH_SIZE)
    }),
    ("deleted product catalogs", |tx, _, _| store::ads::product_catalogs::prune(tx, BATCH_SIZE)),
    ("ids of conversions", |tx, _, _| {
        let before = tx.now().plus_ms(-CONVERSION_IDS_MS);
        store::ledger::prune_conversion_keys(tx, before, BATCH_SIZE)
    }),
    ("auctions", |tx, _, _| store::ledger::prune_auctions(tx, BATCH_SIZE)),
    ("audit", |tx, periods, _| {
        let before = tx.now().plus_ms(periods.audit_ms.saturating_neg());
        audit::prune(tx, before, BATCH_SIZE)
    }),
];

/// Creates the partitions of the coming days where the database has them, at a time of the machine's clock.
pub fn create_partitions(store: &Store, wall: Time) -> BoxFuture<'_, Result<(), Error>> {
    Box::pin(async move {
        while store.write(move |tx| Ok(partitions::create_next_coming(tx, wall)?)).await? > 0 {}
        Ok(())
    })
}

/// Deletes everything expired at a time of the machine's clock; returns the numbers of rows. A failure does not
/// prevent other tables from being pruned.
pub fn prune_expired(
    store: &Store,
    periods: RetentionPeriods,
    wall: Time,
) -> BoxFuture<'_, Result<Vec<(&'static str, u64)>, Error>> {
    Box::pin(async move {
        let mut pruned = Vec::new();
        let mut first_error = None;
        for (name, prune) in PRUNED_TABLES {
            match prune_table(store, *prune, periods, wall).await {
                Ok(rows) => pruned.push((*name, rows)),
                Err(error) => first_error = Some(error),
            }
        }
        first_error.map_or(Ok(pruned), Err)
    })
}

async fn prune_table(store: &Store, prune: PruneTable, periods: RetentionPeriods, wall: Time) -> Result<u64, Error> {
    let mut rows = 0;
    loop {
        let work = move |tx: &mut Tx<'_>| Ok(prune(tx, periods, wall)?);
        match store.write(work).await? {
            0 => return Ok(rows),
            more => rows += more,
        }
    }
}
