//! Who was shown a post in an hour, and what happened to a post in an hour that leaves no row of its own.
//!
//! The impressions of a viewer, post and hour are one if the post was delivered to them, or those that ads reported, if
//! there are more: an ad that is also read through the API was shown once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base::{Fault, PostId, Time};

use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::{SqlValue, row, select};

pub const HOUR_MS: i64 = 3_600_000;
/// Rows per statement.
const BATCH_SIZE: usize = 64;
const COLUMN_COUNT: usize = 5;

/// Hours since 1970.
pub fn hour_number(time: Time) -> i64 {
    time.ms().div_euclid(HOUR_MS)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PostView {
    /// Since 1970.
    pub hour: i64,
    pub post_id: PostId,
    /// A user, or a negative number for an anonymous viewer.
    pub viewer_id: i64,
}

row! {
    /// Counts of a post in one hour.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PostHourCounts from "post_hour" {
        pub impressions: i64,
        /// Not those that ads reported.
        pub link_clicks: i64,
        pub profile_clicks: i64,
    }
}

/// Counts posts delivered to viewers, once per hour. Sorted, so that concurrent transactions do not deadlock; returns how
/// many are new.
pub fn record_views(tx: &mut Tx<'_>, views: &[PostView]) -> Result<usize, Fault> {
    static ONE: LazyLock<String> = LazyLock::new(|| insert_sql(1, DELIVERED_TAIL));
    static MANY: LazyLock<String> = LazyLock::new(|| insert_sql(BATCH_SIZE, DELIVERED_TAIL));
    let mut new: Vec<(PostId, i64)> = Vec::with_capacity(views.len());
    let (batches, rest) = views.as_chunks::<BATCH_SIZE>();
    let batches = batches.iter().map(|batch| (batch.as_slice(), &*MANY));
    let rest = rest.iter().map(|view| (std::slice::from_ref(view), &*ONE));
    for (batch, sql) in batches.chain(rest) {
        let values = batch.iter().flat_map(|view| row_values(view, 1, 0));
        new.extend(tx.query_rows::<(PostId, i64)>(sql, &values.collect::<Vec<_>>())?);
    }
    let mut impressions: BTreeMap<(PostId, i64), i64> = BTreeMap::new();
    for (post, hour) in &new {
        *impressions.entry((*post, *hour)).or_default() += 1;
    }
    add_impressions(tx, &impressions)?;
    Ok(new.len())
}

/// Counts impressions that ads reported, except one per viewer, post and hour that counted as a delivery before.
pub(crate) fn record_ad_impressions(tx: &mut Tx<'_>, shown: &BTreeMap<PostView, i64>) -> Result<(), Fault> {
    static SQL: LazyLock<String> = LazyLock::new(|| insert_sql(1, PROMOTED_TAIL));
    let mut impressions: BTreeMap<(PostId, i64), i64> = BTreeMap::new();
    for (view, count) in shown {
        let args: Vec<SqlValue<'_>> = row_values(view, 0, *count).into();
        let Some((delivered, promoted)) = tx.query_row::<(i64, i64)>(&SQL, &args)? else { continue };
        let more = promoted.max(delivered) - (promoted - count).max(delivered);
        *impressions.entry((view.post_id, view.hour)).or_default() += more;
    }
    impressions.retain(|_, more| *more > 0);
    add_impressions(tx, &impressions)
}

const DELIVERED_TAIL: &str = "DO NOTHING RETURNING post_id, hour";
const PROMOTED_TAIL: &str = "(hour, post_id, viewer_id) DO UPDATE SET promoted = post_view.promoted + excluded.promoted \
                             RETURNING delivered, promoted";

fn insert_sql(rows: usize, tail: &str) -> String {
    let row = |row: usize| {
        let placeholders = (1..=COLUMN_COUNT).map(|place| format!("${}", row * COLUMN_COUNT + place));
        format!("({})", placeholders.collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    let rows = rows.join(", ");
    format!("INSERT INTO post_view (hour, post_id, viewer_id, delivered, promoted) VALUES {rows} ON CONFLICT {tail}")
}

fn row_values(view: &PostView, delivered: i64, promoted: i64) -> [SqlValue<'static>; COLUMN_COUNT] {
    [view.hour.into(), view.post_id.into(), view.viewer_id.into(), delivered.into(), promoted.into()]
}

/// By post and hour.
fn add_impressions(tx: &mut Tx<'_>, impressions: &BTreeMap<(PostId, i64), i64>) -> Result<(), Fault> {
    for ((post, hour), count) in impressions {
        let counts = PostHourCounts { impressions: *count, ..PostHourCounts::default() };
        add_counts(tx, *post, *hour, counts)?;
    }
    Ok(())
}

/// Adds to the counts of an hour (since 1970), and its impressions to those of the post.
pub fn add_counts(tx: &mut Tx<'_>, post: PostId, hour: i64, counts: PostHourCounts) -> Result<(), Fault> {
    let sql = "INSERT INTO post_hour (post_id, hour, impressions, link_clicks, profile_clicks) \
               VALUES ($1, $2, $3, $4, $5) ON CONFLICT (post_id, hour) DO UPDATE \
               SET impressions = post_hour.impressions + excluded.impressions, \
               link_clicks = post_hour.link_clicks + excluded.link_clicks, \
               profile_clicks = post_hour.profile_clicks + excluded.profile_clicks";
    let PostHourCounts { impressions, link_clicks, profile_clicks } = counts;
    let args = [post.into(), hour.into(), impressions.into(), link_clicks.into(), profile_clicks.into()];
    tx.execute_later(sql, &args)?;
    if impressions == 0 {
        return Ok(());
    }
    counters::add(tx, SharedCounter::Impressions, post.get(), impressions)
}

/// Pairs of hour (since 1970) and counts, from one hour to before another.
pub fn hourly_counts(
    tx: &mut Tx<'_>,
    post: PostId,
    (from, to): (i64, i64),
) -> Result<Vec<(PostHourCounts, i64)>, Fault> {
    let sql = select!(PostHourCounts + "hour", "WHERE post_id = $1 AND hour >= $2 AND hour < $3 ORDER BY hour");
    tx.query_rows(sql, &[post.into(), from.into(), to.into()])
}

/// Link and profile clicks of each post that has any hourly counts.
pub fn total_clicks(tx: &mut Tx<'_>, posts: &[PostId]) -> Result<Vec<(PostId, i64, i64)>, Fault> {
    let sql = "SELECT post_id, CAST(SUM(link_clicks) AS BIGINT), CAST(SUM(profile_clicks) AS BIGINT) FROM post_hour \
               WHERE post_id = $1 GROUP BY post_id";
    tx.query_by_ids(sql, posts, &[])
}

/// Deletes views before an hour (since 1970); returns how many.
pub fn prune_views(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM post_view WHERE hour < $1 AND (hour, post_id, viewer_id) IN \
               (SELECT hour, post_id, viewer_id FROM post_view WHERE hour < $1 ORDER BY hour LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

/// Deletes hourly counts before an hour (since 1970); returns how many.
pub fn prune_counts(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM post_hour WHERE hour < $1 AND (post_id, hour) IN \
               (SELECT post_id, hour FROM post_hour WHERE hour < $1 ORDER BY hour LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

#[cfg(test)]
mod tests;
