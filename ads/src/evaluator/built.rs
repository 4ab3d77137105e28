//! Sets that every question needs: who is active, and who is kept away.

use base::{Error, Fault, Time, UserId};
use store::Tx;
use store::ads::{audiences, viewers};

use super::criteria::Audience;
use super::kept::Key;
use super::sources::MEMBERS_MS;
use super::{Evaluator, Users};
use crate::resources::do_not_reach_lists::list_of;

const DAY_MS: i64 = 86_400_000;
/// How long somebody counts who does nothing more.
const ACTIVE_MS: i64 = 90 * DAY_MS;
/// How long a set is kept that the log keeps up to date.
pub(super) const LONG_MS: i64 = 6 * 3_600_000;
/// Users that are read at once.
pub(super) const AT_ONCE: i64 = 50_000;
/// How often it is looked who has signed in.
const LOOK_EACH_MS: i64 = 5_000;
/// How long it may take until it is written that somebody was there.
const LATE_MS: i64 = 180_000;

/// Since when somebody must have done something to be active.
pub(super) fn since(tx: &Tx<'_>) -> Time {
    tx.now().plus_ms(-ACTIVE_MS)
}

impl Evaluator {
    /// Users who can be reached at all: who are there, and posted, liked, followed or signed in
    /// within the last ninety days.
    pub(super) fn active(&self, tx: &mut Tx<'_>) -> Result<Users, Error> {
        self.set(tx, Key::Active, |tx| {
            let since = since(tx);
            let mut all = Vec::new();
            loop {
                let last = all.last().copied().unwrap_or(0);
                let some = viewers::list_engaged_users(tx, last, since, AT_ONCE)?;
                let more = i64::try_from(some.len()).unwrap_or(0) == AT_ONCE;
                all.extend(some);
                if !more {
                    break;
                }
            }
            let seen = seen_since(tx, since)?;
            all.extend(viewers::filter_active_users(tx, &seen)?);
            Ok((all, LONG_MS))
        })
    }

    /// Who is not reached, whatever is asked: those who block the advertiser, and whom the account
    /// says.
    pub(super) fn kept_away(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
    ) -> Result<Vec<Users>, Error> {
        let mut away = Vec::new();
        if let Some(user) = audience.advertiser {
            let id = user.get();
            away.push(self.set(tx, Key::Blockers(id), |tx| {
                Ok((viewers::list_blockers(tx, id)?, LONG_MS))
            })?);
        }
        if audience.account != 0 {
            away.push(self.not_to_be_reached(tx, audience.account)?);
        }
        Ok(away)
    }

    /// Whom an account says that it does not want to reach.
    fn not_to_be_reached(&self, tx: &mut Tx<'_>, account: i64) -> Result<Users, Error> {
        self.set(tx, Key::Away(account), |tx| {
            let now = tx.now();
            let users = match list_of(tx, account)? {
                Some(list) => audiences::matched_users(tx, list, now)?,
                None => Vec::new(),
            };
            Ok((users.into_iter().map(UserId::get).collect(), MEMBERS_MS))
        })
    }

    /// Looks who was there since it was looked last: the log tells nothing of that.
    pub(super) fn see(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let now = tx.now();
        let since = {
            let mut kept = self.kept.lock();
            let before = kept.seen;
            if before.is_some_and(|before| now < before.plus_ms(LOOK_EACH_MS)) {
                return Ok(());
            }
            kept.seen = Some(now);
            match before {
                Some(before) => before.plus_ms(-LATE_MS),
                None => return Ok(()),
            }
        };
        let seen = seen_since(tx, since)?;
        self.join(tx, &seen)
    }
}

/// Users who were there since a time, each once.
fn seen_since(tx: &mut Tx<'_>, since: Time) -> Result<Vec<i64>, Fault> {
    let mut seen = viewers::list_authenticated_users(tx, since)?;
    let signed_in = viewers::list_signed_in_users(tx, since)?;
    seen.extend(signed_in.into_iter().map(|(user, _)| user));
    seen.sort_unstable();
    seen.dedup();
    Ok(seen)
}
