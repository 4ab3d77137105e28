//! A post's engagement over time, counted from the stored rows.

use base::{Fault, PostId, Time};

use crate::Tx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricSeries {
    Bookmarks,
    Likes,
    Quotes,
    Replies,
    Reposts,
}

macro_rules! counted {
    ($rows:literal) => {
        concat!(
            // The time in an id's high bits, relative to the window's start.
            "SELECT ((id >> 22) + 1288834974657 - $1) / $2 AS span, COUNT(*) FROM ",
            $rows,
            " = $3 AND id >= $4 AND id < $5 GROUP BY 1"
        )
    };
}

/// Counts of a series per interval of `interval_ms` milliseconds from `start` on, as pairs of the interval's index and its
/// count; empty intervals are left out.
pub fn count_post_series(
    tx: &mut Tx<'_>,
    series: MetricSeries,
    post: PostId,
    (start, end): (Time, Time),
    interval_ms: i64,
) -> Result<Vec<(i64, i64)>, Fault> {
    // Both values of `nullcast`, so that the indexes bound the ids.
    let sql = match series {
        MetricSeries::Bookmarks => counted!("bookmark WHERE post_id"),
        MetricSeries::Likes => counted!("post_like WHERE post_id"),
        MetricSeries::Quotes => counted!("post WHERE state = 0 AND nullcast IN (0, 1) AND quoted_post_id"),
        MetricSeries::Replies => counted!("post WHERE state = 0 AND nullcast IN (0, 1) AND in_reply_to_post_id"),
        MetricSeries::Reposts => counted!("post WHERE state = 0 AND nullcast = 0 AND repost_of_id"),
    };
    let args = [
        start.into(),
        interval_ms.into(),
        post.into(),
        base::id::first_snowflake_at(start).into(),
        base::id::first_snowflake_at(end).into(),
    ];
    tx.query_rows(sql, &args)
}
