//! Post reads by apps: each post counts once a day per app.

use std::collections::HashSet;

use base::{AppId, Fault, PostId};

use crate::Tx;
use crate::db::insert_new;

/// Counts the posts that the app has not yet read on this day (since 1970).
pub fn record_reads(tx: &mut Tx<'_>, app: AppId, day: i64, posts: &[PostId]) -> Result<(), Fault> {
    let known = "SELECT post_id FROM post_read WHERE post_id = $1 AND app_id = $2 AND day = $3";
    let known: HashSet<PostId> = tx.query_by_ids(known, posts, &[app.into(), day.into()])?.into_iter().collect();
    let mut new = 0_i64;
    for post in posts.iter().filter(|post| !known.contains(post)) {
        if insert_new!(tx, "post_read", app_id = app, day = day, post_id = *post)? {
            new += 1;
        }
    }
    if new == 0 {
        return Ok(());
    }
    let sql = "INSERT INTO app_read (app_id, day, posts) VALUES ($1, $2, $3) \
               ON CONFLICT (app_id, day) DO UPDATE SET posts = app_read.posts + excluded.posts";
    tx.execute_later(sql, &[app.into(), day.into(), new.into()])
}

/// Pairs of day and number of posts, from a day on, oldest first.
pub fn daily_counts(tx: &mut Tx<'_>, app: AppId, from: i64) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT day, posts FROM app_read WHERE app_id = $1 AND day >= $2 ORDER BY day";
    tx.query_rows(sql, &[app.into(), from.into()])
}

/// Deletes reads before day `posts` and daily counts before day `counts`; returns how many rows.
pub fn prune(tx: &mut Tx<'_>, posts_before: i64, counts_before: i64, limit: i64) -> Result<u64, Fault> {
    let sql = "SELECT app_id, day, post_id FROM post_read WHERE day < $1 LIMIT $2";
    let old: Vec<(i64, i64, i64)> = tx.query_rows(sql, &[posts_before.into(), limit.into()])?;
    let mut gone = 0;
    for (app, day, post) in old {
        let sql = "DELETE FROM post_read WHERE app_id = $1 AND day = $2 AND post_id = $3";
        gone += tx.execute(sql, &[app.into(), day.into(), post.into()])?;
    }
    Ok(gone + tx.execute("DELETE FROM app_read WHERE day < $1", &[counts_before.into()])?)
}
