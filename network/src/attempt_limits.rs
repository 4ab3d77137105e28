//! How often one user or address may attempt something within a time.

use base::Fault;
use base::clock::wall_time;
use base::secret::digest;
use store::Tx;
use store::attempt_limits::{self, AttemptDecision, AttemptRateLimit};

/// Counts an attempt of the subject at the action.
pub fn charge_action(
    tx: &mut Tx<'_>,
    action: &str,
    subject: &str,
    limit: AttemptRateLimit,
) -> Result<AttemptDecision, Fault> {
    attempt_limits::record_attempt(tx, &digest(&format!("{action}:{subject}")), limit, wall_time())
}
