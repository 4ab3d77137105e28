//! Downloads of one's own data.

use base::{Error, Refusal, UserId};
use store::Tx;
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};

use crate::audit::{self, AuditAction, AuditActor, user_detail};
use crate::sign_in::charge_action;

/// Three, and then one in eight hours.
const DOWNLOADS: AttemptRateLimit = AttemptRateLimit { burst: 3, refill_interval_ms: 8 * 3600 * 1000 };

/// Counts and records a download of the actor's own data. Refused for too many.
pub fn record_download(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<UserId, Error> {
    let user = crate::users::find_active(tx, actor.require_user()?)?.id;
    if charge_action(tx, "account_archive", &user.to_string(), DOWNLOADS)? != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    audit::append(tx, actor, AuditAction::DATA_EXPORT, None, &user_detail(user))?;
    Ok(user)
}
