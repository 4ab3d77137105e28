//! Every counter counted again from the rows that it stands for.

use base::Fault;

use crate::Tx;

/// A counter that does not agree with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Table and column.
    pub counter: &'static str,
    /// The row.
    pub id: i64,
    /// What the counter says.
    pub stored: i64,
    /// What the rows say.
    pub counted: i64,
}

/// Counts all rows once, by owner, instead of once for each owner.
macro_rules! counter {
    ($table:literal . $column:literal = rows of $rows:literal by $owner:literal) => {
        (
            concat!($table, ".", $column),
            concat!(
                "SELECT o.id, o.",
                $column,
                ", COALESCE(c.counted, 0) FROM ",
                $table,
                " o LEFT JOIN (SELECT ",
                $owner,
                " AS owner, COUNT(*) AS counted FROM ",
                $rows,
                " GROUP BY ",
                $owner,
                ") c ON c.owner = o.id WHERE o.",
                $column,
                " <> COALESCE(c.counted, 0) ORDER BY o.id LIMIT 1000"
            ),
        )
    };
}

const COUNTERS: &[(&str, &str)] = &[
    counter!("users"."followers_count" = rows of "follow" by "target_id"),
    counter!("users"."following_count" = rows of "follow" by "source_id"),
    counter!("users"."post_count" = rows of "post WHERE state = 0" by "author_id"),
    counter!("users"."media_count" = rows of
        "post WHERE state = 0 AND media_keys <> ''" by "author_id"),
    counter!("users"."like_count" = rows of "post_like" by "user_id"),
    counter!("users"."listed_count" = rows of
        "list_member m JOIN list l ON l.id = m.list_id WHERE l.deleted_at IS NULL AND l.private = 0"
        by "m.user_id"),
    counter!("post"."like_count" = rows of "post_like" by "post_id"),
    counter!("post"."reply_count" = rows of
        "post WHERE in_reply_to_post_id IS NOT NULL AND state = 0" by "in_reply_to_post_id"),
    counter!("post"."quote_count" = rows of
        "post WHERE quoted_post_id IS NOT NULL AND state = 0" by "quoted_post_id"),
    counter!("post"."repost_count" = rows of
        "post WHERE repost_of_id IS NOT NULL AND state = 0" by "repost_of_id"),
    counter!("list"."member_count" = rows of "list_member" by "list_id"),
];

/// The counters that disagree with their rows, at most a thousand of each kind.
pub fn check(tx: &mut Tx<'_>) -> Result<Vec<Difference>, Fault> {
    let mut all = Vec::new();
    for (counter, sql) in COUNTERS {
        all.extend(tx.rows(sql, &[], |row| {
            Ok(Difference {
                counter,
                id: row.int(0)?,
                stored: row.int(1)?,
                counted: row.int(2)?,
            })
        })?);
    }
    Ok(all)
}
