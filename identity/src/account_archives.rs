//! Downloads of one's own data.

use std::collections::HashSet;
use std::sync::Arc;

use base::{Error, Refusal, UserId};
use parking_lot::Mutex;
use store::Tx;
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};

use network::attempt_limits::charge_action;
use network::audit::{self, AuditAction, AuditActor, user_detail};

/// Three, and then one in eight hours.
const DOWNLOADS: AttemptRateLimit = AttemptRateLimit { burst: 3, refill_interval_ms: 8 * 3600 * 1000 };

/// Counts and records a download of the actor's own data. Refused for too many.
pub fn record_download(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<UserId, Error> {
    let user = network::users::find_active(tx, actor.require_user()?)?.id;
    if charge_action(tx, "account_archive", &user.to_string(), DOWNLOADS)? != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    audit::append(tx, actor, AuditAction::DATA_EXPORT, None, &user_detail(user))?;
    Ok(user)
}

/// Accounts of a server whose archive is being sent.
#[derive(Clone, Debug, Default)]
pub struct ArchiveDownloads(Arc<Mutex<HashSet<UserId>>>);

/// The only download of an account's archive from a server, until it is dropped.
#[derive(Debug)]
pub struct ArchiveDownload {
    all: ArchiveDownloads,
    user: UserId,
}

impl ArchiveDownload {
    /// Refused while there is another one.
    pub fn start(all: &ArchiveDownloads, user: UserId) -> Result<Self, Refusal> {
        let is_first = all.0.lock().insert(user);
        if is_first { Ok(Self { all: all.clone(), user }) } else { Err(Refusal::RateLimited) }
    }

    pub const fn user(&self) -> UserId {
        self.user
    }
}

impl Drop for ArchiveDownload {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.user);
    }
}

#[cfg(test)]
mod tests {
    use base::UserId;

    use super::{ArchiveDownload, ArchiveDownloads};

    #[test]
    fn account_has_one_download_at_a_time() {
        let all = ArchiveDownloads::default();
        let first = ArchiveDownload::start(&all, UserId::new(1));
        assert!(first.is_ok() && ArchiveDownload::start(&all, UserId::new(1)).is_err());
        assert!(ArchiveDownload::start(&all, UserId::new(2)).is_ok());
        drop(first);
        assert!(ArchiveDownload::start(&all, UserId::new(1)).is_ok());
    }
}
