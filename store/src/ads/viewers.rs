//! Users whom advertising can reach. Ids are plain numbers, since there may be millions.

use base::id::first_snowflake_at;
use base::{Fault, Time};

use crate::Tx;
use crate::counters::PENDING_OF_USERS;
use crate::db::sql;

/// Active users who have joined, posted, liked or followed since a time, in id order after `after`.
pub fn list_engaged_users(tx: &mut Tx<'_>, after: i64, since: Time, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT u.id FROM users u WHERE u.id > $1 AND u.state = 0 AND (u.id >= $2 OR EXISTS (SELECT 1 \
               FROM post p WHERE p.author_id = u.id AND p.id >= $2 AND p.state = 0 AND p.nullcast = 0) OR EXISTS \
               (SELECT 1 FROM post_like l WHERE l.user_id = u.id AND l.id >= $2) OR EXISTS (SELECT 1 FROM follow f \
               WHERE f.source_id = u.id AND f.id >= $2)) ORDER BY u.id LIMIT $3";
    let first = first_snowflake_at(since);
    tx.query_rows(sql, &[after.into(), first.into(), limit.into()])
}

/// Those of `users` who are active and have joined, posted, liked or followed since a time.
pub fn filter_engaged_users(tx: &mut Tx<'_>, users: &[i64], since: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT u.id FROM users u WHERE u.id = $1 AND u.state = 0 AND (u.id >= $2 OR EXISTS (SELECT 1 \
               FROM post p WHERE p.author_id = u.id AND p.id >= $2 AND p.state = 0 AND p.nullcast = 0) OR EXISTS \
               (SELECT 1 FROM post_like l WHERE l.user_id = u.id AND l.id >= $2) OR EXISTS (SELECT 1 FROM follow f \
               WHERE f.source_id = u.id AND f.id >= $2))";
    let first = first_snowflake_at(since);
    tx.query_by_keys(sql, users, &[first.into()])
}

pub fn filter_active_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<i64>, Fault> {
    tx.query_by_keys("SELECT id FROM users WHERE id = $1 AND state = 0", users, &[])
}

/// Those of `users` whose follows everybody may see.
pub fn filter_public_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<i64>, Fault> {
    tx.query_by_keys("SELECT id FROM users WHERE id = $1 AND state = 0 AND protected = 0", users, &[])
}

/// Users on whose behalf apps have acted since a time; may contain duplicates.
pub fn list_authenticated_users(tx: &mut Tx<'_>, since: Time) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT user_id FROM credential_use WHERE last_used_at >= $1 AND user_id > 0";
    tx.query_rows(sql, &[since.into()])
}

/// Users and their user agents, latest last.
pub fn list_signed_in_users(tx: &mut Tx<'_>, since: Time) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT user_id, user_agent FROM session WHERE last_seen_at >= $1 ORDER BY last_seen_at, id";
    tx.query_rows(sql, &[since.into()])
}

pub fn list_followers(tx: &mut Tx<'_>, user: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT source_id FROM follow WHERE target_id = $1";
    tx.query_rows(sql, &[user.into()])
}

/// One entry per follow, so a user may be repeated.
pub fn list_followed_users(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT target_id FROM follow WHERE source_id = $1";
    tx.query_by_keys(sql, users, &[])
}

pub fn follower_counts(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = sql!(
        "SELECT id, followers_count /*! + COALESCE(pending_followers, 0) */ FROM users",
        PENDING_OF_USERS,
        "WHERE id = $1"
    );
    tx.query_by_keys(sql, users, &[])
}

pub fn list_blockers(tx: &mut Tx<'_>, user: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT source_id FROM block WHERE target_id = $1";
    tx.query_rows(sql, &[user.into()])
}

/// Pairs of user and post: the author, and everyone who liked, reposted or replied.
pub fn post_engagers(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let authored = "SELECT author_id, id FROM post WHERE id = $1 AND state = 0";
    let mut all: Vec<(i64, i64)> = tx.query_by_keys(authored, posts, &[])?;
    let liked = "SELECT user_id, post_id FROM post_like WHERE post_id = $1";
    all.extend(tx.query_by_keys::<(i64, i64)>(liked, posts, &[])?);
    let reposted = "SELECT author_id, repost_of_id FROM post WHERE repost_of_id = $1 AND state = 0 AND nullcast = 0";
    all.extend(tx.query_by_keys::<(i64, i64)>(reposted, posts, &[])?);
    let replied = "SELECT author_id, in_reply_to_post_id FROM post WHERE in_reply_to_post_id = $1 AND state = 0";
    all.extend(tx.query_by_keys::<(i64, i64)>(replied, posts, &[])?);
    Ok(all)
}

/// Profile locations of active users, in id order after `after`.
pub fn list_locations(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT id, location FROM users WHERE id > $1 AND state = 0 AND location <> '' ORDER BY id LIMIT $2";
    tx.query_rows(sql, &[after.into(), limit.into()])
}

pub fn user_locations(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<(i64, String)>, Fault> {
    let sql = "SELECT id, location FROM users WHERE id = $1 AND state = 0 AND location <> ''";
    tx.query_by_keys(sql, users, &[])
}

pub fn list_protected_users(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM users WHERE id > $1 AND state = 0 AND protected = 1 ORDER BY id LIMIT $2";
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Latest first, without reposts.
pub fn recent_post_languages(tx: &mut Tx<'_>, user: i64, limit: i64) -> Result<Vec<String>, Fault> {
    let sql = "SELECT lang FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0 \
               AND repost_of_id IS NULL ORDER BY id DESC LIMIT $2";
    tx.query_rows(sql, &[user.into(), limit.into()])
}
