//! Persistent rate limits for attempts (such as sign-in): leaky buckets that survive restarts.

use base::{Fault, Time};

use crate::Tx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptRateLimit {
    pub burst: i64,
    pub refill_interval_ms: i64,
}

impl AttemptRateLimit {
    const fn burst_window_ms(self) -> i64 {
        self.refill_interval_ms.saturating_mul(self.burst.saturating_sub(1))
    }

    const fn full_bucket_ms(self) -> i64 {
        self.refill_interval_ms.saturating_mul(self.burst)
    }

    /// How far ahead of now a bucket may be, unless the clock was set back.
    const fn max_ahead_ms(self) -> i64 {
        self.full_bucket_ms().saturating_add(CLOCK_SKEW_MS)
    }
}

/// Tolerance for attempts that waited for each other or came from a node whose clock is behind.
const CLOCK_SKEW_MS: i64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptDecision {
    Allowed,
    Refused {
        retry_ms: i64,
        /// Whether this is the first refusal since the last allowed attempt.
        is_first: bool,
    },
}

/// Counts an attempt unless the limit is reached. A single statement decides, so concurrent attempts on any node
/// cannot both pass.
pub fn record_attempt(
    tx: &mut Tx<'_>,
    digest: &[u8; 32],
    limit: AttemptRateLimit,
    now: Time,
) -> Result<AttemptDecision, Fault> {
    // A row further ahead than a full bucket was written before the clock was set back.
    let sql = "INSERT INTO attempts (digest, clear_at) VALUES ($1, $2) ON CONFLICT (digest) DO UPDATE SET noted = 0, \
               clear_at = $3 + CASE WHEN attempts.clear_at BETWEEN $4 AND $5 THEN attempts.clear_at ELSE $4 END \
               WHERE attempts.clear_at <= $6 OR attempts.clear_at > $5";
    let args = [
        digest.into(),
        now.plus_ms(limit.refill_interval_ms).into(),
        limit.refill_interval_ms.into(),
        now.into(),
        now.plus_ms(limit.max_ahead_ms()).into(),
        now.plus_ms(limit.burst_window_ms()).into(),
    ];
    if tx.execute(sql, &args)? > 0 {
        return Ok(AttemptDecision::Allowed);
    }
    let sql = "UPDATE attempts SET noted = 1 WHERE digest = $1 AND noted = 0";
    let first = tx.execute(sql, &[digest.into()])? > 0;
    let sql = "SELECT clear_at FROM attempts WHERE digest = $1";
    let clear_at: Option<i64> = tx.query_row(sql, &[digest.into()])?;
    let retry_ms = clear_at.map_or(0, |clear_at| clear_at - now.ms() - limit.burst_window_ms());
    Ok(AttemptDecision::Refused { retry_ms: retry_ms.max(1), is_first: first })
}

/// Takes back an attempt that succeeded.
pub fn refund_attempt(tx: &mut Tx<'_>, digest: &[u8; 32], limit: AttemptRateLimit) -> Result<(), Fault> {
    let sql = "UPDATE attempts SET clear_at = clear_at - $1 WHERE digest = $2";
    tx.execute_later(sql, &[limit.refill_interval_ms.into(), digest.into()])
}

/// Deletes empty buckets; returns how many.
pub fn prune(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM attempts WHERE digest IN (SELECT digest FROM attempts WHERE clear_at < $1 LIMIT $2)";
    tx.execute(sql, &[now.into(), limit.into()])
}
