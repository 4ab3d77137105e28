//! What happened to a post over time, counted from the rows that are there.

use base::{Fault, PostId, Time};

use crate::Tx;

/// What can be counted: everything whose rows say when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricSeries {
    /// Bookmarks.
    Bookmarks,
    /// Likes.
    Likes,
    /// Quotes.
    Quotes,
    /// Replies.
    Replies,
    /// Reposts.
    Reposts,
}

macro_rules! counted {
    ($rows:literal) => {
        concat!(
            // What an id's high bits say, since the beginning of the window.
            "SELECT ((id >> 22) + 1288834974657 - $1) / $2 AS span, COUNT(*) FROM ",
            $rows,
            " = $3 AND id >= $4 AND id < $5 GROUP BY 1"
        )
    };
}

/// How many of a series there were in each span of `length` milliseconds from `start` on, by the
/// span's number; spans in which there were none are left out.
pub fn count_post_series(
    tx: &mut Tx<'_>,
    series: MetricSeries,
    post: PostId,
    (start, end): (Time, Time),
    length: i64,
) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = match series {
        MetricSeries::Bookmarks => counted!("bookmark WHERE post_id"),
        MetricSeries::Likes => counted!("post_like WHERE post_id"),
        MetricSeries::Quotes => counted!("post WHERE state = 0 AND quoted_post_id"),
        MetricSeries::Replies => counted!("post WHERE state = 0 AND in_reply_to_post_id"),
        MetricSeries::Reposts => counted!("post WHERE state = 0 AND nullcast = 0 AND repost_of_id"),
    };
    let args = [
        start.into(),
        length.into(),
        post.into(),
        base::id::first_snowflake_at(start).into(),
        base::id::first_snowflake_at(end).into(),
    ];
    tx.query_rows(sql, &args, |row| Ok((row.int(0)?, row.int(1)?)))
}
