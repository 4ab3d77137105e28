//! Counters that many users change at once, such as a post's likes.
//!
//! On PostgreSQL a change is a row of its own, so that transactions do not wait for each other: a counter is the number
//! in its row and the sum of its changes, which [`fold_deltas`] moves to the row later. SQLite has a single writer,
//! which changes the row at once. A transaction that sets a counter locks its row before it looks at the changes.

use base::{Fault, PostId};

use crate::Tx;
use crate::db::{sql, trim_list};

/// Declares the counters of each table by number and column, with the name of the pending sum in queries that contain
/// the join.
macro_rules! shared_counters {
    ($($table:literal, $join:ident {
        $($name:ident = $number:literal: $column:literal, $pending:literal;)+
    })+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum SharedCounter {
            $($($name,)+)+
        }

        impl SharedCounter {
            pub(crate) const fn number(self) -> i64 {
                match self { $($(Self::$name => $number,)+)+ }
            }

            /// The second one ignores deleted posts.
            const fn update_sql(self) -> [&'static str; 2] {
                match self {
                    $($(Self::$name => [
                        concat!("UPDATE ", $table, " SET ", $column, " = ", $column, " + $1 WHERE id = $2"),
                        concat!("UPDATE ", $table, " SET ", $column, " = ", $column, " + $1 WHERE id = $2 AND state <> 2"),
                    ],)+)+
                }
            }
        }

        $(/// Joins the table with the sums of its rows' changes.
        pub(crate) const $join: &str = concat!(
            " /*! LEFT JOIN LATERAL (SELECT 1 AS has_pending",
            $(", CAST(SUM(n) FILTER (WHERE counter = ", $number, ") AS BIGINT) AS ", $pending,)+
            // Without a group, the sums of most rows would be zeros that take as long to compute as to read the row.
            " FROM count_delta WHERE target_id = ", $table, ".id GROUP BY target_id) pending ON TRUE */ "
        );)+

        /// Table and column of each counter, and its number.
        #[cfg(test)]
        pub(crate) const SHARED_COUNTERS: &[(&str, &str, i64)] = &[$($(($table, $column, $number),)+)+];

        // Rows that are locked are left for another call.
        const FOLD_SQL: &[&str] = &[$(sql!(
            "WITH batch AS MATERIALIZED (SELECT d.ctid AS place FROM count_delta d CROSS JOIN LATERAL (SELECT 1 FROM ",
            $table,
            " t WHERE t.id = d.target_id FOR NO KEY UPDATE SKIP LOCKED) t WHERE d.counter IN (",
            trim_list(concat!($($number, ", "),+)),
            ") LIMIT $1), gone AS (DELETE FROM count_delta WHERE ctid = ANY (ARRAY(SELECT place FROM batch)) \
             RETURNING counter, target_id, n), sums AS (SELECT target_id, ",
            trim_list(concat!($(
                "CAST(COALESCE(SUM(n) FILTER (WHERE counter = ", $number, "), 0) AS BIGINT) AS ", $pending, ", "
            ),+)),
            " FROM gone GROUP BY target_id), folded AS (UPDATE ",
            $table,
            " SET ",
            trim_list(concat!($($column, " = ", $column, " + ", $pending, ", "),+)),
            " FROM sums WHERE id = target_id) SELECT COUNT(*) FROM gone"
        )),+];

        const PRUNE_SQL: &[&str] = &[$(sql!(
            "DELETE FROM count_delta WHERE counter IN (",
            trim_list(concat!($($number, ", "),+)),
            ") AND NOT EXISTS (SELECT 1 FROM ",
            $table,
            " WHERE id = target_id)"
        )),+];
    };
}

// Users come last: they wait for locks of their rows, which last until the end of the transaction.
shared_counters! {
    "post", PENDING_OF_POSTS {
        Likes = 4: "like_count", "pending_likes";
        Replies = 5: "reply_count", "pending_replies";
        Reposts = 6: "repost_count", "pending_reposts";
        Quotes = 7: "quote_count", "pending_quotes";
        Bookmarks = 8: "bookmark_count", "pending_bookmarks";
        Impressions = 10: "impression_count", "pending_impressions";
    }
    "list", PENDING_OF_LISTS {
        ListFollowers = 9: "follower_count", "pending_list_followers";
    }
    "users", PENDING_OF_USERS {
        Followers = 1: "followers_count", "pending_followers";
        VerifiedFollowers = 2: "verified_followers_count", "pending_verified_followers";
        Listed = 3: "listed_count", "pending_listed";
    }
}

/// Changes the counter of a row that exists.
pub(crate) fn add(tx: &mut Tx<'_>, counter: SharedCounter, target: i64, by: i64) -> Result<(), Fault> {
    if !tx.is_shared() {
        let [sql, _] = counter.update_sql();
        return tx.execute_later(sql, &[by.into(), target.into()]);
    }
    let sql = "INSERT INTO count_delta (counter, target_id, n) VALUES ($1, $2, $3)";
    tx.execute_later(sql, &[counter.number().into(), target.into(), by.into()])
}

/// Returns false, and changes nothing, if the post has been deleted.
pub(crate) fn add_unless_deleted(
    tx: &mut Tx<'_>,
    counter: SharedCounter,
    post: PostId,
    by: i64,
) -> Result<bool, Fault> {
    if !tx.is_shared() {
        let [_, sql] = counter.update_sql();
        return Ok(tx.execute(sql, &[by.into(), post.into()])? > 0);
    }
    Ok(tx.execute(ADD_UNLESS_DELETED, &[counter.number().into(), by.into(), post.into()])? > 0)
}

const ADD_UNLESS_DELETED: &str = "INSERT INTO count_delta (counter, target_id, n) \
     SELECT CAST($1 AS BIGINT), id, CAST($2 AS BIGINT) FROM post WHERE id = $3 AND state <> 2";

/// As [`add_unless_deleted`], if it does not matter whether the post exists.
pub(crate) fn add_unless_deleted_later(
    tx: &mut Tx<'_>,
    counter: SharedCounter,
    post: PostId,
    by: i64,
) -> Result<(), Fault> {
    if !tx.is_shared() {
        let [_, sql] = counter.update_sql();
        return tx.execute_later(sql, &[by.into(), post.into()]);
    }
    tx.execute_later(ADD_UNLESS_DELETED, &[counter.number().into(), by.into(), post.into()])
}

/// Deletes the changes of counters that were set to zero; their row is locked.
pub(crate) fn clear(tx: &mut Tx<'_>, counters: [SharedCounter; 3], target: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "DELETE FROM count_delta WHERE target_id = $1 AND counter IN ($2, $3, $4)";
        let [first, second, third] = counters.map(|counter| counter.number().into());
        tx.execute_later(sql, &[target.into(), first, second, third])?;
    }
    Ok(())
}

/// Advisory lock of the one process that folds at a time.
const FOLD_LOCK: &str = "SELECT 1 WHERE pg_try_advisory_xact_lock(7313)";

/// Adds up to `limit` changes per table to their counters. Returns whether there are more, which may have to wait for
/// locked rows; false while another process does it.
pub fn fold_deltas(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Fault> {
    if !tx.is_shared() || !tx.row_exists(FOLD_LOCK, &[])? {
        return Ok(false);
    }
    for sql in FOLD_SQL {
        tx.row_exists(sql, &[limit.into()])?;
    }
    tx.row_exists("SELECT 1 FROM count_delta LIMIT 1", &[])
}

/// Deletes changes whose rows were deleted; returns how many.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    let mut gone = 0;
    if tx.is_shared() {
        for sql in PRUNE_SQL {
            gone += tx.execute(sql, &[])?;
        }
    }
    Ok(gone)
}
