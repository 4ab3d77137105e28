//! How often something was tried lately: a bucket that empties at a steady pace, kept where a
//! restart does not forget it.

use base::{Fault, Time};

use crate::Tx;

/// How often something may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptRateLimit {
    /// So many times at once.
    pub burst: i64,
    /// And once more each so many milliseconds.
    pub refill_interval_ms: i64,
}

impl AttemptRateLimit {
    const fn burst_window_ms(self) -> i64 {
        self.refill_interval_ms.saturating_mul(self.burst.saturating_sub(1))
    }

    const fn full_bucket_ms(self) -> i64 {
        self.refill_interval_ms.saturating_mul(self.burst)
    }

    /// What is held against something lies no further ahead, unless the clock was set back.
    const fn max_ahead_ms(self) -> i64 {
        self.full_bucket_ms().saturating_add(CLOCK_SKEW_MS)
    }
}

/// By so much the moments of tries may be apart that are counted one after the other: one may have
/// waited for another, or come from a node whose clock is a little behind.
const CLOCK_SKEW_MS: i64 = 60_000;

/// Whether something may be tried now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptDecision {
    /// It may, and it was counted.
    Allowed,
    /// It may not.
    Refused {
        /// When it may again, in milliseconds from now.
        retry_ms: i64,
        /// Whether this is the first refusal since it was last allowed.
        is_first: bool,
    },
}

/// Counts a try, unless there were too many. One statement decides, so that tries at the same
/// moment, on whatever node, do not pass together.
pub fn record_attempt(
    tx: &mut Tx<'_>,
    digest: &[u8; 32],
    pace: AttemptRateLimit,
    now: Time,
) -> Result<AttemptDecision, Fault> {
    // A row from much further ahead than a full bucket is from a clock that was set back since.
    let sql = "INSERT INTO attempts (digest, clear_at) VALUES ($1, $2) ON CONFLICT (digest) \
               DO UPDATE SET noted = 0, clear_at = $3 + \
               CASE WHEN attempts.clear_at BETWEEN $4 AND $5 THEN attempts.clear_at ELSE $4 END \
               WHERE attempts.clear_at <= $6 OR attempts.clear_at > $5";
    let args = [
        digest.into(),
        now.plus_ms(pace.refill_interval_ms).into(),
        pace.refill_interval_ms.into(),
        now.into(),
        now.plus_ms(pace.max_ahead_ms()).into(),
        now.plus_ms(pace.burst_window_ms()).into(),
    ];
    if tx.execute(sql, &args)? > 0 {
        return Ok(AttemptDecision::Allowed);
    }
    let sql = "UPDATE attempts SET noted = 1 WHERE digest = $1 AND noted = 0";
    let first = tx.execute(sql, &[digest.into()])? > 0;
    let sql = "SELECT clear_at FROM attempts WHERE digest = $1";
    let clear_at = tx.query_row(sql, &[digest.into()], |row| row.int(0))?;
    let retry_ms = clear_at.map_or(0, |clear_at| clear_at - now.ms() - pace.burst_window_ms());
    Ok(AttemptDecision::Refused {
        retry_ms: retry_ms.max(1),
        is_first: first,
    })
}

/// Takes one try back: it was rightly made.
pub fn refund_attempt(tx: &mut Tx<'_>, digest: &[u8; 32], pace: AttemptRateLimit) -> Result<(), Fault> {
    let sql = "UPDATE attempts SET clear_at = clear_at - $1 WHERE digest = $2";
    tx.execute(sql, &[pace.refill_interval_ms.into(), digest.into()])
        .map(|_| ())
}

/// Forgets some of what nothing is held against any more; how many.
pub fn prune(tx: &mut Tx<'_>, now: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM attempts WHERE digest IN \
               (SELECT digest FROM attempts WHERE clear_at < $1 LIMIT $2)";
    tx.execute(sql, &[now.into(), limit.into()])
}
