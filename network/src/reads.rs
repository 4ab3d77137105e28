//! Post reads by apps, counted in memory and written every few seconds, so that requests cause no writes. A post
//! counts once per app and day (UTC), for whichever user. Unwritten reads are lost if the process is killed.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::wall_time;
use base::{AppId, Error, Fault, PostId, Time};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use store::{Store, Tx, reads as stored};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Days of history.
pub const MAX_DAYS: i64 = 90;
/// Posts per app and month.
pub const MONTHLY_POST_CAP: i64 = 3_000_000;

/// Days since 1970.
pub const fn day_number(time: Time) -> i64 {
    time.ms().div_euclid(DAY_MS)
}

/// Reads that wait to be written; more are not counted.
const MAX_WAITING: usize = 200_000;
/// Reads written in one transaction.
const BATCH_SIZE: usize = 500;

#[derive(Default)]
pub struct PostReadCounter {
    waiting: Mutex<BTreeSet<(AppId, i64, PostId)>>,
}

impl PostReadCounter {
    /// Counts the posts of one response.
    pub fn record(&self, app: AppId, posts: &[PostId]) {
        let day = day_number(wall_time());
        let mut waiting = self.waiting.lock();
        let room = MAX_WAITING.saturating_sub(waiting.len());
        waiting.extend(posts.iter().take(room).map(|post| (app, day, *post)));
    }

    /// Writes the reads since the last call; on failure those that were not written wait on.
    pub fn flush<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            // In a fixed order, so that concurrent transactions do not deadlock.
            let reads: Vec<_> = std::mem::take(&mut *self.waiting.lock()).into_iter().collect();
            for (number, batch) in reads.chunks(BATCH_SIZE).enumerate() {
                let rows = group_by_day(batch);
                if let Err(error) = store.write(move |tx: &mut Tx<'_>| record_all(tx, &rows)).await {
                    let unwritten = reads.iter().skip(number * BATCH_SIZE);
                    self.waiting.lock().extend(unwritten);
                    return Err(error);
                }
            }
            Ok(())
        })
    }
}

type ReadsByDay = BTreeMap<(AppId, i64), Vec<PostId>>;

fn group_by_day(reads: &[(AppId, i64, PostId)]) -> ReadsByDay {
    let mut grouped = ReadsByDay::new();
    for (app, day, post) in reads {
        grouped.entry((*app, *day)).or_default().push(*post);
    }
    grouped
}

fn record_all(tx: &mut Tx<'_>, reads: &ReadsByDay) -> Result<(), Error> {
    for ((app, day), posts) in reads {
        stored::record_reads(tx, *app, *day, posts)?;
    }
    Ok(())
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
    let found = stored::daily_counts(tx, app, from.min(month))?;
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
    stored::prune(tx, first_kept_day(wall), first_counted_day, limit)
}
