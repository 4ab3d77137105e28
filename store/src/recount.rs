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

macro_rules! counter {
    ($table:literal, $column:literal, $rows:literal) => {
        (
            concat!($table, ".", $column),
            concat!(
                "SELECT id, stored, counted FROM (SELECT o.id AS id, o.",
                $column,
                " AS stored, (SELECT COUNT(*) FROM ",
                $rows,
                ") AS counted FROM ",
                $table,
                " o) counts WHERE stored <> counted ORDER BY id LIMIT 1000"
            ),
        )
    };
}

const COUNTERS: &[(&str, &str)] = &[
    counter!(
        "users",
        "followers_count",
        "follow f WHERE f.target_id = o.id"
    ),
    counter!(
        "users",
        "following_count",
        "follow f WHERE f.source_id = o.id"
    ),
    counter!(
        "users",
        "post_count",
        "post p WHERE p.author_id = o.id AND p.state = 0"
    ),
    counter!(
        "users",
        "media_count",
        "post p WHERE p.author_id = o.id AND p.state = 0 AND p.media_keys <> ''"
    ),
    counter!("users", "like_count", "post_like l WHERE l.user_id = o.id"),
    counter!(
        "users",
        "listed_count",
        "list_member m JOIN list l ON l.id = m.list_id WHERE m.user_id = o.id AND l.deleted_at IS NULL AND l.private = 0"
    ),
    counter!("post", "like_count", "post_like l WHERE l.post_id = o.id"),
    counter!(
        "post",
        "reply_count",
        "post p WHERE p.in_reply_to_post_id = o.id AND p.state = 0"
    ),
    counter!(
        "post",
        "quote_count",
        "post p WHERE p.quoted_post_id = o.id AND p.state = 0"
    ),
    counter!(
        "post",
        "repost_count",
        "post p WHERE p.repost_of_id = o.id AND p.state = 0"
    ),
    counter!(
        "list",
        "member_count",
        "list_member m WHERE m.list_id = o.id"
    ),
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
