//! Which posts apps were given, counted in memory and written down every few seconds: an answer
//! pays for no write. A post counts once a day (UTC) for an app, whoever it was for; what a
//! process had not written when it was killed is lost.

use std::collections::{BTreeSet, HashMap};

use base::clock::wall_time;
use base::{AppId, Error, Fault, PostId, Time};
use parking_lot::Mutex;
use store::{Store, Tx, reads};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// How many days can be asked for.
pub const MAX_DAYS: i64 = 90;
/// How many posts an app may be given in a month.
pub const MONTHLY_POST_CAP: i64 = 3_000_000;

/// The day since 1970.
pub const fn day_number(time: Time) -> i64 {
    time.ms().div_euclid(DAY_MS)
}

/// Counts posts that were given.
#[derive(Default)]
pub struct PostReadCounter {
    memory: Mutex<HashMap<(AppId, i64), BTreeSet<PostId>>>,
}

impl PostReadCounter {
    /// Counts the posts of one answer.
    pub fn record(&self, app: AppId, posts: &[PostId]) {
        if !posts.is_empty() {
            let key = (app, day_number(wall_time()));
            self.memory.lock().entry(key).or_default().extend(posts);
        }
    }

    /// Writes down what was counted since the last time; what cannot be written stays counted.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        let taken = std::mem::take(&mut *self.memory.lock());
        if taken.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<((AppId, i64), Vec<PostId>)> = taken
            .into_iter()
            .map(|(key, posts)| (key, posts.into_iter().collect()))
            .collect();
        // In one order on every node, so that none waits for another in a circle.
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
    }
}

/// What an app was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostReadUsage {
    /// The app.
    pub app: AppId,
    /// The most in a month.
    pub cap: i64,
    /// Since the month began.
    pub this_month: i64,
    /// Day of the month on which counting starts anew.
    pub reset_day: i64,
    /// Day by day, oldest first: when the day began, and how many.
    pub days: Vec<(Time, i64)>,
}

/// What an app was given on the last days, today among them.
pub fn load_usage(tx: &mut Tx<'_>, app: AppId, days: i64) -> Result<PostReadUsage, Fault> {
    let now = wall_time();
    let today = day_number(now);
    // The first of the month: the date tells which day it is.
    let in_month: i64 = now
        .to_date_string()
        .rsplit('-')
        .next()
        .and_then(|day| day.parse().ok())
        .unwrap_or(1);
    let month = today - in_month + 1;
    let from = today - days.clamp(1, MAX_DAYS) + 1;
    let found = reads::daily_counts(tx, app, from.min(month))?;
    let of = |day: i64| {
        found
            .iter()
            .find(|(known, _)| *known == day)
            .map_or(0, |(_, posts)| *posts)
    };
    Ok(PostReadUsage {
        app,
        cap: MONTHLY_POST_CAP,
        this_month: (month..=today).map(of).sum(),
        reset_day: 1,
        days: (from..=today)
            .map(|day| (Time::from_ms(day * DAY_MS), of(day)))
            .collect(),
    })
}

/// Forgets what had its time at a moment; how many rows.
pub(crate) fn prune(tx: &mut Tx<'_>, wall: Time, limit: i64) -> Result<u64, Fault> {
    let today = day_number(wall);
    reads::prune(tx, today - 1, today - MAX_DAYS - 31, limit)
}
