//! Follows.

use base::{Fault, UserId};

use crate::Tx;
use crate::counters::SharedCounter;
use crate::db::insert_new;
use crate::edges::{edge_page_query, typed_edge_page};
use crate::posts::PageRange;

const EXISTS: &str = "SELECT 1 FROM follow WHERE source_id = $1 AND target_id = $2";

pub fn exists(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    tx.row_exists(EXISTS, &[source.into(), target.into()])
}

/// Announces [`exists`], so that it is asked together with what follows.
pub fn prefetch_exists(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Fault> {
    tx.prefetch(EXISTS, &[source.into(), target.into()])
}

pub fn filter_followed(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM follow WHERE target_id = $1 AND source_id = $2";
    tx.query_by_ids(sql, targets, &[source.into()])
}

pub fn filter_followers(tx: &mut Tx<'_>, sources: &[UserId], target: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT source_id FROM follow WHERE source_id = $1 AND target_id = $2";
    tx.query_by_ids(sql, sources, &[target.into()])
}

pub fn list_followed(tx: &mut Tx<'_>, source: UserId) -> Result<Vec<UserId>, Fault> {
    tx.query_rows("SELECT target_id FROM follow WHERE source_id = $1", &[source.into()])
}

/// Also updates both counters; returns false if the follow exists.
pub fn insert(tx: &mut Tx<'_>, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let added = insert_new!(tx, "follow", source_id = source, target_id = target, id = id)?;
    if added {
        add_to_counts(tx, source, target, 1)?;
    }
    Ok(added)
}

/// Also updates both counters; returns false if there is no such follow.
pub fn delete(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM follow WHERE source_id = $1 AND target_id = $2";
    let removed = tx.execute(sql, &[source.into(), target.into()])? > 0;
    if removed {
        add_to_counts(tx, source, target, -1)?;
    }
    Ok(removed)
}

fn add_to_counts(tx: &mut Tx<'_>, source: UserId, target: UserId, by: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "WITH source AS (UPDATE users SET following_count = following_count + $1, \
                   following_version = following_version + 1 WHERE id = $2 RETURNING verified) \
                   INSERT INTO count_delta (counter, target_id, n) \
                   SELECT CAST($4 AS BIGINT), CAST($3 AS BIGINT), CAST($1 AS BIGINT) FROM source UNION ALL \
                   SELECT CAST($5 AS BIGINT), CAST($3 AS BIGINT), CAST($1 AS BIGINT) FROM source WHERE verified = 1";
        let counters = [SharedCounter::Followers, SharedCounter::VerifiedFollowers];
        let [followers, verified] = counters.map(|counter| counter.number().into());
        return tx.execute(sql, &[by.into(), source.into(), target.into(), followers, verified]).map(|_| ());
    }
    let sql = "UPDATE users SET following_count = following_count + $1, \
               following_version = following_version + 1 WHERE id = $2";
    tx.execute_later(sql, &[by.into(), source.into()])?;
    // This transaction has locked the source's row, so `verified` cannot change.
    let sql = "UPDATE users SET followers_count = followers_count + $1, \
               verified_followers_count = verified_followers_count \
               + $1 * (SELECT verified FROM users WHERE id = $2) WHERE id = $3";
    tx.execute_later(sql, &[by.into(), source.into(), target.into()])
}

/// Adds to the verified follower count of everyone that `source` follows.
pub(crate) fn add_to_verified_counts(tx: &mut Tx<'_>, source: UserId, by: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "INSERT INTO count_delta (counter, target_id, n) \
                   SELECT CAST($1 AS BIGINT), target_id, CAST($2 AS BIGINT) FROM follow WHERE source_id = $3";
        let counter = SharedCounter::VerifiedFollowers.number();
        return tx.execute(sql, &[counter.into(), by.into(), source.into()]).map(|_| ());
    }
    let sql = "UPDATE users SET verified_followers_count = verified_followers_count + $1 \
               WHERE id IN (SELECT target_id FROM follow WHERE source_id = $2)";
    tx.execute_later(sql, &[by.into(), source.into()])
}

pub fn filter_verified(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT id FROM users WHERE id = $1 AND verified = 1";
    tx.query_by_ids(sql, users, &[])
}

/// Latest first: the user and the edge's own id.
pub fn follower_page(tx: &mut Tx<'_>, target: UserId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT source_id, id FROM follow WHERE target_id = $1");
    typed_edge_page(tx, target, range, sql)
}

/// Latest first: the user and the edge's own id.
pub fn following_page(tx: &mut Tx<'_>, source: UserId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT target_id, id FROM follow WHERE source_id = $1");
    typed_edge_page(tx, source, range, sql)
}

/// One end of an edge, and the edge's own id, by which edges are ordered.
pub type UserEdge = (UserId, i64);
