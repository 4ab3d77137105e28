//! Post reads by apps, counted in memory and written every few seconds, so that requests cause no writes. A post
//! counts once per app and day (UTC), for whichever user. Unwritten reads are lost if the process is killed.

use std::collections::{BTreeSet, HashMap};

use base::clock::wall_time;
use base::{AppId, Error, Fault, PostId, Time};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use store::{Store, Tx, reads};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Days of history.
pub const MAX_DAYS: i64 = 90;
/// Posts per app and month.
pub const MONTHLY_POST_CAP: i64 = 3_000_000;

/// Days since 1970.
pub const fn day_number(time: Time) -> i64 {
    time.ms().div_euclid(DAY_MS)
}

#[derive(Default)]
pub struct PostReadCounter {
    memory: Mutex<HashMap<(AppId, i64), BTreeSet<PostId>>>,
}

impl PostReadCounter {
    /// Counts the posts of one response.
    pub fn record(&self, app: AppId, posts: &[PostId]) {
        if !posts.is_empty() {
            let key = (app, day_number(wall_time()));
            self.memory.lock().entry(key).or_default().extend(posts);
        }
    }

    /// Writes the reads since the last call; on failure they stay in memory.
    pub fn flush<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let pending = std::mem::take(&mut *self.memory.lock());
            if pending.is_empty() {
                return Ok(());
            }
            let mut rows: Vec<((AppId, i64), Vec<PostId>)> =
                pending.into_iter().map(|(key, posts)| (key, posts.into_iter().collect())).collect();
            // A fixed order, so that concurrent transactions do not deadlock.
            rows.sort_unstable();
            let to_write = rows.clone();
            let work = move |tx: &mut Tx<'_>| {
                for ((app, day), posts) in &to_write {
                    reads::record_reads(tx, *app, *day, posts)?;
                }
                Ok(())
            };
            let outcome = store.write(work).await;
            if outcome.is_err() {
                let mut memory = self.memory.lock();
                for (key, posts) in rows {
                    memory.entry(key).or_default().extend(posts);
                }
            }
            outcome
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostReadUsage {
    pub app: AppId,
    /// The monthly limit.
    pub cap: i64,
    /// Posts read since the month began.
    pub this_month: i64,
    /// Until counting restarts, at the beginning of the next month (UTC).
    pub days_until_reset: i64,
    /// Start of the day and number of posts, oldest first.
    pub days: Vec<(Time, i64)>,
}

/// The reads of an app during the last `days` days, including today.
pub fn load_usage(tx: &mut Tx<'_>, app: AppId, days: i64) -> Result<PostReadUsage, Fault> {
    let now = wall_time();
    let today = day_number(now);
    // The first day of the current month.
    let day_of_month: i64 = now.to_date_string().rsplit('-').next().and_then(|day| day.parse().ok()).unwrap_or(1);
    let month = today - day_of_month + 1;
    let from = today - days.clamp(1, MAX_DAYS) + 1;
    let is_first_of_month = |day: i64| Time::from_ms(day * DAY_MS).to_date_string().ends_with("-01");
    let found = reads::daily_counts(tx, app, from.min(month))?;
    let posts_on = |day: i64| found.iter().find(|(known, _)| *known == day).map_or(0, |(_, posts)| *posts);
    Ok(PostReadUsage {
        app,
        cap: MONTHLY_POST_CAP,
        this_month: (month..=today).map(posts_on).sum(),
        days_until_reset: (1..=31).find(|days| is_first_of_month(today + days)).unwrap_or(1),
        days: (from..=today).map(|day| (Time::from_ms(day * DAY_MS), posts_on(day))).collect(),
    })
}

/// The first day of which the posts that were read are kept, besides their number.
pub(crate) const fn first_kept_day(wall: Time) -> i64 {
    day_number(wall) - 1
}

/// Deletes old reads; returns how many rows.
pub(crate) fn prune(tx: &mut Tx<'_>, wall: Time, limit: i64) -> Result<u64, Fault> {
    let first_counted_day = day_number(wall) - MAX_DAYS - 31;
    reads::prune(tx, first_kept_day(wall), first_counted_day, limit)
}
