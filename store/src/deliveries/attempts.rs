//! Delivery attempts and challenge requests to webhooks, with their responses.

use base::{Fault, Time};

use crate::Tx;
use crate::db::SqlRow;

/// An attempt to reach a webhook: a delivery or a challenge.
#[derive(Clone, Debug, Default)]
pub struct DeliveryAttempt {
    pub webhook_id: i64,
    /// 0 for a challenge.
    pub delivery_seq: i64,
    pub at: Time,
    /// The HTTP status; 0 without a response.
    pub status: i64,
    /// The error, or empty.
    pub problem: String,
    pub duration_ms: i64,
    /// The signature that was sent, or the token of the challenge.
    pub signature_or_token: String,
    /// The correct response to the challenge.
    pub expected: String,
    /// The beginning of the response body.
    pub answer: String,
}

fn attempt_from_row(row: &SqlRow<'_, '_>) -> Result<DeliveryAttempt, Fault> {
    Ok(DeliveryAttempt {
        webhook_id: row.int(0)?,
        delivery_seq: row.int(1)?,
        at: row.time(2)?,
        status: row.int(3)?,
        problem: row.text(4)?,
        duration_ms: row.int(5)?,
        signature_or_token: row.text(6)?,
        expected: row.text(7)?,
        answer: row.text(8)?,
    })
}

pub fn insert_attempt(tx: &mut Tx<'_>, attempt: &DeliveryAttempt) -> Result<(), Fault> {
    let sql = "INSERT INTO delivery_attempt (webhook_id, delivery_seq, at, status, problem, \
               took_ms, sent, expected, answer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let args = [
        attempt.webhook_id.into(),
        attempt.delivery_seq.into(),
        attempt.at.into(),
        attempt.status.into(),
        (&attempt.problem).into(),
        attempt.duration_ms.into(),
        (&attempt.signature_or_token).into(),
        (&attempt.expected).into(),
        (&attempt.answer).into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Newest first.
pub fn list_attempts(
    tx: &mut Tx<'_>,
    webhook_id: i64,
    delivery_seq: i64,
    limit: i64,
) -> Result<Vec<DeliveryAttempt>, Fault> {
    let sql = "SELECT webhook_id, delivery_seq, at, status, problem, took_ms, sent, expected, answer \
               FROM delivery_attempt WHERE webhook_id = $1 AND delivery_seq = $2 \
               ORDER BY seq DESC LIMIT $3";
    let args = [webhook_id.into(), delivery_seq.into(), limit.into()];
    tx.query_rows(sql, &args, attempt_from_row)
}

/// Newest first.
pub fn list_challenges(tx: &mut Tx<'_>, webhook_id: i64, limit: i64) -> Result<Vec<DeliveryAttempt>, Fault> {
    list_attempts(tx, webhook_id, 0, limit)
}

/// Deletes those of the `limit` oldest attempts that were made before a time.
pub fn prune_attempts(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery_attempt WHERE seq IN (SELECT seq FROM delivery_attempt \
               ORDER BY seq LIMIT $1) AND at < $2";
    tx.execute(sql, &[limit.into(), before.into()])
}
