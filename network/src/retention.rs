//! What has had its time is forgotten: here stands every table that would otherwise grow for ever,
//! and how long its rows are kept.

use base::{Error, Fault, Time};
use store::{
    Store, Tx, attempt_limits, audit, authorization_codes, connections, emails, event_log, nonces, notifications,
    request_tokens, sessions, tokens, usage,
};

use crate::usage::RETENTION_MS;

/// How long what a platform may choose is kept, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct RetentionPeriods {
    /// Sessions, after they were last seen.
    pub session_ttl_ms: i64,
    /// The log of events.
    pub log_ms: i64,
    /// What was sent to webhooks.
    pub deliveries_ms: i64,
    /// The record of what was done to accounts and apps.
    pub audit_ms: i64,
}

/// What ended is remembered for a day, to tell a second use from a guess.
const ENDED_MS: i64 = DAY_MS;
/// Tokens that were revoked can be looked at for a while.
const REVOKED_MS: i64 = 30 * DAY_MS;
/// What people were told.
const NOTIFICATIONS_MS: i64 = 90 * DAY_MS;
/// Letters, sent or not, and links that have ended.
const EMAILS_MS: i64 = 7 * DAY_MS;
/// Connections to streams, after their end (contract §9.5).
const CONNECTIONS_MS: i64 = 7 * DAY_MS;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// Rows in one transaction, so that a long sweep never holds others up.
const BATCH: i64 = 2_000;

/// One sweep. Signatures, sessions, throttling and usage follow the machine's time, which comes
/// along; everything else the platform's.
type PruneTable = fn(&mut Tx<'_>, RetentionPeriods, Time) -> Result<u64, Fault>;

const PRUNED_TABLES: &[(&str, PruneTable)] = &[
    ("nonces", |tx, _, wall| nonces::prune(tx, wall)),
    ("usage", |tx, _, wall| usage::prune(tx, wall.plus_ms(-RETENTION_MS))),
    ("sessions", |tx, kept, wall| {
        let before = wall.plus_ms(kept.session_ttl_ms.saturating_neg());
        sessions::prune(tx, before, BATCH)
    }),
    ("attempts", |tx, _, wall| attempt_limits::prune(tx, wall, BATCH)),
    ("letters", |tx, _, _| {
        let before = tx.now().plus_ms(-EMAILS_MS);
        emails::prune(tx, before, BATCH)
    }),
    ("notifications", |tx, _, _| {
        let before = tx.now().plus_ms(-NOTIFICATIONS_MS);
        notifications::prune(tx, before, BATCH)
    }),
    ("request tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        request_tokens::prune(tx, before, BATCH)
    }),
    ("codes", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        authorization_codes::prune(tx, before, BATCH)
    }),
    ("connections", |tx, _, _| {
        let before = tx.now().plus_ms(-CONNECTIONS_MS);
        connections::prune(tx, before, BATCH)
    }),
    ("tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-ENDED_MS);
        tokens::prune_oauth2(tx, before, BATCH)
    }),
    ("revoked tokens", |tx, _, _| {
        let before = tx.now().plus_ms(-REVOKED_MS);
        tokens::prune_revoked(tx, before, BATCH)
    }),
    ("log", |tx, kept, _| {
        let before = tx.now().plus_ms(kept.log_ms.saturating_neg());
        event_log::prune(tx, before, BATCH)
    }),
    ("compliance jobs", |tx, _, _| crate::compliance::prune(tx, BATCH / 4)),
    ("deliveries", |tx, kept, _| {
        let before = tx.now().plus_ms(kept.deliveries_ms.saturating_neg());
        crate::webhooks::prune(tx, before, BATCH)
    }),
    ("topics", |tx, _, _| crate::topics::prune(tx, BATCH / 4)),
    ("posts read", |tx, _, wall| crate::reads::prune(tx, wall, BATCH)),
    ("members of audiences", |tx, _, _| {
        store::ads::audiences::prune_members(tx, tx.now(), BATCH / 4)
    }),
    ("files of figures", |tx, _, _| {
        store::ledger::delete_expired_files(tx, BATCH / 4)
    }),
    ("auctions", |tx, _, _| store::ledger::prune_auctions(tx, BATCH)),
    ("audit", |tx, kept, _| {
        let before = tx.now().plus_ms(kept.audit_ms.saturating_neg());
        audit::prune(tx, before, BATCH)
    }),
];

/// Forgets everything that has had its time at a moment of the machine's clock; how many rows of
/// what. One table that fails does not keep the others from being swept.
pub async fn prune_expired(
    store: &Store,
    kept: RetentionPeriods,
    wall: Time,
) -> Result<Vec<(&'static str, u64)>, Error> {
    let mut swept = Vec::new();
    let mut failed = None;
    for (name, one) in PRUNED_TABLES {
        match prune_table(store, *one, kept, wall).await {
            Ok(rows) => swept.push((*name, rows)),
            Err(stop) => failed = Some(stop),
        }
    }
    failed.map_or(Ok(swept), Err)
}

async fn prune_table(store: &Store, one: PruneTable, kept: RetentionPeriods, wall: Time) -> Result<u64, Error> {
    let mut rows = 0;
    loop {
        let work = move |tx: &mut Tx<'_>| Ok(one(tx, kept, wall)?);
        match store.write(work).await? {
            0 => return Ok(rows),
            more => rows += more,
        }
    }
}
