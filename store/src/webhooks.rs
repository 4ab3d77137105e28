//! Webhooks, and their links to filtered streams.

mod lease;
mod links;

use base::{AppId, Fault, Time};

use crate::Tx;
use crate::db::{insert_new, select, table};

pub use lease::{acquire_lease, list_leases, release_lease, release_node_leases};
pub use links::{StreamLink, all_stream_links, link_stream, stream_links, unlink_stream};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Webhook in "webhook" {
        pub id: i64,
        /// The owner, whose secret signs deliveries.
        pub app_id: AppId,
        pub url: String,
        /// Whether it receives events.
        pub valid: bool,
        pub created_at: Time,
        /// The last successful challenge, later by the time in which none could be sent.
        pub checked_at: Time,
        /// The time of the next challenge.
        pub check_due_at: Time,
    }
    read_only {
        /// Since when all deliveries have failed.
        pub failing_since: Option<Time>,
        /// Why it is not valid, or the last error; may be empty.
        pub problem: String,
        pub deleted_at: Option<Time>,
    }
}

/// Returns false if the app already has a webhook with this URL.
pub fn insert(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<bool, Fault> {
    insert_new!(tx, Webhook, webhook)
}

/// None if it was deleted.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Webhook>, Fault> {
    let sql = select!(Webhook, "WHERE id = $1 AND deleted_at IS NULL");
    tx.query_row(sql, &[id.into()])
}

/// Deleted webhooks included.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Webhook>, Fault> {
    tx.query_by_keys(select!(Webhook, "WHERE id = $1"), ids, &[])
}

pub fn find_by_url(tx: &mut Tx<'_>, app: AppId, url: &str) -> Result<Option<Webhook>, Fault> {
    let sql = select!(Webhook, "WHERE app_id = $1 AND url = $2 AND deleted_at IS NULL");
    tx.query_row(sql, &[app.into(), url.into()])
}

/// Newest first.
pub fn list_by_app(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<Webhook>, Fault> {
    let sql = select!(Webhook, "WHERE app_id = $1 AND deleted_at IS NULL ORDER BY id DESC");
    tx.query_rows(sql, &[app.into()])
}

pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM webhook WHERE app_id = $1 AND deleted_at IS NULL";
    tx.query_number(sql, &[app.into()])
}

/// Deleted webhooks included, in id order, after an id.
pub fn list_all(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Webhook>, Fault> {
    let sql = select!(Webhook, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Valid webhooks due for a challenge, longest overdue first.
pub fn list_due_checks(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Webhook>, Fault> {
    let sql = select!(Webhook, "WHERE check_due_at <= $1 AND valid = 1 ORDER BY check_due_at LIMIT $2");
    let now = tx.now();
    tx.query_rows(sql, &[now.into(), limit.into()])
}

/// When the next challenge is due that is not due yet.
pub fn next_check(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(check_due_at) FROM webhook WHERE check_due_at > $1 AND valid = 1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// Reserves a webhook's challenge until a time, and stores `checked_at`; returns false if another worker was faster.
pub fn claim_check(tx: &mut Tx<'_>, webhook: &Webhook, until: Time) -> Result<bool, Fault> {
    let sql = "UPDATE webhook SET check_due_at = $1, checked_at = $2 WHERE id = $3 AND check_due_at = $4";
    let args = [until.into(), webhook.checked_at.into(), webhook.id.into(), webhook.check_due_at.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Records a successful challenge. One that was asked for makes the webhook valid; a periodic one changes nothing if
/// the webhook was disabled meanwhile. `failing_since` of a valid webhook stays, since its deliveries still fail.
pub fn mark_checked(tx: &mut Tx<'_>, id: i64, next_at: Time, is_asked_for: bool) -> Result<(), Fault> {
    tx.mark_webhooks_changed();
    let now = tx.now();
    let sql = "UPDATE webhook SET valid = 1, problem = '', checked_at = $1, check_due_at = $2, \
               failing_since = CASE WHEN valid = 1 THEN failing_since ELSE NULL END \
               WHERE id = $3 AND (valid = 1 OR $4 = 1)";
    tx.execute_later(sql, &[now.into(), next_at.into(), id.into(), is_asked_for.into()])
}

/// Records a failed challenge.
pub fn mark_check_failed(tx: &mut Tx<'_>, id: i64, problem: &str, next_at: Time) -> Result<(), Fault> {
    let sql = "UPDATE webhook SET problem = $1, check_due_at = $2 WHERE id = $3";
    tx.execute_later(sql, &[problem.into(), next_at.into(), id.into()])
}

/// Makes the webhook invalid until it is challenged on demand.
pub fn disable(tx: &mut Tx<'_>, id: i64, problem: &str) -> Result<(), Fault> {
    tx.mark_webhooks_changed();
    let sql = "UPDATE webhook SET valid = 0, problem = $1 WHERE id = $2";
    tx.execute_later(sql, &[problem.into(), id.into()])
}

/// Sets since when deliveries fail; none once they succeed again.
pub fn set_failing(tx: &mut Tx<'_>, id: i64, since: Option<Time>) -> Result<(), Fault> {
    let sql = "UPDATE webhook SET failing_since = $1 WHERE id = $2";
    tx.execute_later(sql, &[since.into(), id.into()])
}

/// Marks as deleted and removes the stream link; deliveries are pruned later.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    tx.mark_webhooks_changed();
    let now = tx.now();
    links::delete_webhook_links(tx, id)?;
    let sql = "UPDATE webhook SET deleted_at = $1, valid = 0 WHERE id = $2 AND deleted_at IS NULL";
    Ok(tx.execute(sql, &[now.into(), id.into()])? > 0)
}

/// Deletes the row of a deleted webhook.
pub fn delete_removed(tx: &mut Tx<'_>, id: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM webhook WHERE id = $1 AND deleted_at IS NOT NULL";
    tx.execute(sql, &[id.into()])
}
