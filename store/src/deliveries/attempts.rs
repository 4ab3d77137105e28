//! Delivery attempts and challenge requests to webhooks, with their responses.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{insert, select, table};

table! {
    /// An attempt to reach a webhook: a delivery or a challenge.
    #[derive(Clone, Debug, Default)]
    pub struct DeliveryAttempt in "delivery_attempt" {
        pub webhook_id: i64,
        /// 0 for a challenge.
        pub delivery_seq: i64,
        pub at: Time,
        /// The HTTP status; 0 without a response.
        pub status: i64,
        /// The error, or empty.
        pub problem: String,
        pub duration_ms: i64 as "took_ms",
        /// The signature that was sent, or the token of the challenge.
        pub signature_or_token: String as "sent",
        /// The correct response to the challenge.
        pub expected: String,
        /// The beginning of the response body.
        pub answer: String,
    }
}

pub fn insert_attempt(tx: &mut Tx<'_>, attempt: &DeliveryAttempt) -> Result<(), Fault> {
    insert!(tx, DeliveryAttempt, attempt)
}

/// Newest first.
pub fn list_attempts(
    tx: &mut Tx<'_>,
    webhook_id: i64,
    delivery_seq: i64,
    limit: i64,
) -> Result<Vec<DeliveryAttempt>, Fault> {
    let sql = select!(DeliveryAttempt, "WHERE webhook_id = $1 AND delivery_seq = $2 ORDER BY seq DESC LIMIT $3");
    let args = [webhook_id.into(), delivery_seq.into(), limit.into()];
    tx.query_rows(sql, &args)
}

/// Newest first.
pub fn list_challenges(tx: &mut Tx<'_>, webhook_id: i64, limit: i64) -> Result<Vec<DeliveryAttempt>, Fault> {
    list_attempts(tx, webhook_id, 0, limit)
}

/// Deliveries and challenges of all webhooks, newest first.
pub fn list_newest_attempts(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<DeliveryAttempt>, Fault> {
    tx.query_rows(select!(DeliveryAttempt, "ORDER BY seq DESC LIMIT $1"), &[limit.into()])
}

pub fn highest_attempt_seq(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_number("SELECT MAX(seq) FROM delivery_attempt", &[])
}

/// Deletes those of the `limit` oldest attempts that were made before a time.
pub fn prune_attempts(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery_attempt WHERE seq IN (SELECT seq FROM delivery_attempt \
               ORDER BY seq LIMIT $1) AND at < $2";
    tx.execute(sql, &[limit.into(), before.into()])
}
