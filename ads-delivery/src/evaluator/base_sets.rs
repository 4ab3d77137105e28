//! Base sets of every evaluation: active users and excluded users.

use base::time::DAY_MS;
use base::{Error, Fault, Time, UserId, sorted_distinct};
use store::Tx;
use store::ads::{audiences, viewers};

use super::criteria::TargetedAudience;
use super::set_cache::UserSetKey;
use super::sources::MEMBERS_MS;
use super::{Evaluator, UserSet};

/// A user counts as active for this long after the last activity.
const ACTIVE_MS: i64 = 90 * DAY_MS;
/// How long a set kept up to date from the event log is cached.
pub(super) const LONG_MS: i64 = 6 * 3_600_000;
/// Users read at a time.
pub(super) const USER_BATCH: i64 = 50_000;
/// How often recent sign-ins are read.
const REFRESH_INTERVAL_MS: i64 = 5_000;
/// The maximum delay until a user's last visit is recorded.
const LATE_MS: i64 = 180_000;

/// Users active since this time count.
pub(super) fn activity_cutoff(tx: &Tx<'_>) -> Time {
    tx.now().plus_ms(-ACTIVE_MS)
}

impl Evaluator {
    /// Users who can be reached: existing users who posted, liked, followed or signed in within the last
    /// ninety days.
    pub(super) fn active_users(&self, tx: &mut Tx<'_>) -> Result<UserSet, Error> {
        self.get_or_build_set(tx, UserSetKey::Active, |tx| {
            let since = activity_cutoff(tx);
            let mut all = Vec::new();
            loop {
                let last = all.last().copied().unwrap_or(0);
                let some = viewers::list_engaged_users(tx, last, since, USER_BATCH)?;
                let more = i64::try_from(some.len()).unwrap_or(0) == USER_BATCH;
                all.extend(some);
                if !more {
                    break;
                }
            }
            let users = list_users_seen_since(tx, since)?;
            all.extend(viewers::filter_active_users(tx, &users)?);
            Ok((all, LONG_MS))
        })
    }

    /// Users never reached: those who block the advertiser, and the account's do-not-reach list.
    pub(super) fn excluded_users(&self, tx: &mut Tx<'_>, audience: &TargetedAudience) -> Result<Vec<UserSet>, Error> {
        let mut away = Vec::new();
        if let Some(user) = audience.advertiser {
            let id = user.get();
            away.push(
                self.get_or_build_set(tx, UserSetKey::Blockers(id), |tx| {
                    Ok((viewers::list_blockers(tx, id)?, LONG_MS))
                })?,
            );
        }
        if let Some(list) = audience.do_not_reach_list {
            away.push(self.do_not_reach_users(tx, list)?);
        }
        Ok(away)
    }

    fn do_not_reach_users(&self, tx: &mut Tx<'_>, list: i64) -> Result<UserSet, Error> {
        self.get_or_build_set(tx, UserSetKey::DoNotReach(list), |tx| {
            let users = audiences::matched_users(tx, list, tx.now())?;
            Ok((users.into_iter().map(UserId::get).collect(), MEMBERS_MS))
        })
    }

    /// Adds users who visited since the last read; the event log does not record visits.
    pub(super) fn refresh_seen_users(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let now = tx.now();
        let since = {
            let mut cache = self.set_cache.lock();
            let before = cache.sign_ins_read_until;
            if before.is_some_and(|before| now < before.plus_ms(REFRESH_INTERVAL_MS)) {
                return Ok(());
            }
            cache.sign_ins_read_until = Some(now);
            match before {
                Some(before) => before.plus_ms(-LATE_MS),
                None => return Ok(()),
            }
        };
        let users = list_users_seen_since(tx, since)?;
        self.add_active_users(tx, &users)
    }
}

/// Users who visited since a time, each once.
fn list_users_seen_since(tx: &mut Tx<'_>, since: Time) -> Result<Vec<i64>, Fault> {
    let mut users = viewers::list_authenticated_users(tx, since)?;
    let signed_in = viewers::list_signed_in_users(tx, since)?;
    users.extend(signed_in.into_iter().map(|(user, _)| user));
    Ok(sorted_distinct(users))
}
