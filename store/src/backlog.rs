//! How much work waits: events without a number, events that readers have not read, deliveries,
//! and emails.

use base::{Fault, Time};

use crate::{Tx, event_log};

/// The most rows of a kind that are counted.
pub const MAX_COUNTED: i64 = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The position of the newest event.
    pub log_end: i64,
    /// At most [`MAX_COUNTED`]; always 0 on SQLite, which numbers events at once.
    pub unnumbered_events: i64,
    /// Events after the cursor of each reader of the log, by its name.
    pub unread_events: Vec<(String, i64)>,
    /// Deliveries to webhooks that wait for their first or another attempt; at most [`MAX_COUNTED`].
    pub waiting_deliveries: i64,
    /// When the oldest of the counted deliveries was queued.
    pub oldest_delivery_at: Option<Time>,
    /// At most [`MAX_COUNTED`].
    pub waiting_emails: i64,
    /// When the oldest of the counted emails was written.
    pub oldest_email_at: Option<Time>,
}

pub fn load_backlog(tx: &mut Tx<'_>) -> Result<Backlog, Fault> {
    let unnumbered_events = if tx.is_shared() {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM pending_event LIMIT $1) pending";
        tx.query_number(sql, &[MAX_COUNTED.into()])?
    } else {
        0
    };
    let end = event_log::end_cursor(tx)?;
    let cursors: Vec<(String, i64)> = tx.query_rows("SELECT name, seq FROM follower ORDER BY name", &[])?;
    let unread_events = cursors.into_iter().map(|(name, seq)| (name, end.saturating_sub(seq).max(0))).collect();
    let sql = "SELECT COUNT(*), MIN(at) FROM (SELECT at FROM delivery WHERE state = 0 LIMIT $1) waiting";
    let (waiting_deliveries, oldest_delivery_at) = tx.query_row(sql, &[MAX_COUNTED.into()])?.unwrap_or_default();
    let sql = "SELECT COUNT(*), MIN(created_at) FROM (SELECT created_at FROM letter WHERE due_at IS NOT NULL LIMIT $1) waiting";
    let (waiting_emails, oldest_email_at) = tx.query_row(sql, &[MAX_COUNTED.into()])?.unwrap_or_default();
    Ok(Backlog {
        log_end: end,
        unnumbered_events,
        unread_events,
        waiting_deliveries,
        oldest_delivery_at,
        waiting_emails,
        oldest_email_at,
    })
}
