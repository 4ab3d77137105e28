//! Communities, their members, and the index of their words.

use std::collections::BTreeSet;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{DeclaredRow, insert, insert_new, insert_new_later, select, sql, table};
use crate::edges::{edge_page, edge_page_query, typed_edge_page};
use crate::exports::IdPair;
use crate::follows::UserEdge;
use crate::posts::PageRange;

table! {
    #[derive(Clone, Debug)]
    pub struct Community in "community" {
        pub id: i64,
        pub name: String,
        pub description: String,
        /// `Public` or `Closed`.
        pub access: String,
        /// `Open` and others.
        pub join_policy: String,
        pub owner_id: UserId,
        pub created_at: Time,
    }
    read_only {
        pub member_count: i64,
    }
}

pub fn insert(tx: &mut Tx<'_>, community: &Community) -> Result<(), Fault> {
    insert!(tx, Community, community)
}

/// Adds words that the community is found by.
pub fn index_words(tx: &mut Tx<'_>, community: i64, words: &BTreeSet<String>) -> Result<(), Fault> {
    for word in words {
        insert_new_later!(tx, "community_word", word = word, community_id = community)?;
    }
    Ok(())
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<Community>, Fault> {
    let sql = select!(Community, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// In no particular order.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Community>, Fault> {
    tx.query_by_keys(select!(Community, "WHERE id = $1"), ids, &[])
}

/// Newest first, below an id.
pub fn list_newest(tx: &mut Tx<'_>, below: i64, limit: i64) -> Result<Vec<Community>, Fault> {
    let sql = select!(Community, "WHERE id < $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[below.into(), limit.into()])
}

/// Oldest first, after an id.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<Community>, Fault> {
    let sql = select!(Community, "WHERE id > $1 ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Those with a word and an id below `below`, newest first.
pub fn list_by_word(tx: &mut Tx<'_>, word: &str, below: i64, limit: i64) -> Result<Vec<Community>, Fault> {
    let sql = sql!(
        "SELECT ",
        Community::COLUMNS,
        " FROM community_word JOIN community ON id = community_id \
         WHERE word = $1 AND community_id < $2 ORDER BY community_id DESC LIMIT $3"
    );
    tx.query_rows(sql, &[word.into(), below.into(), limit.into()])
}

/// Returns false if the user is already a member.
pub fn add_member(tx: &mut Tx<'_>, community: i64, user: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    if !insert_new!(tx, "community_member", community_id = community, user_id = user, id = id)? {
        return Ok(false);
    }
    add_to_member_count(tx, community, 1)?;
    Ok(true)
}

/// Returns false if the user is not a member.
pub fn remove_member(tx: &mut Tx<'_>, community: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM community_member WHERE community_id = $1 AND user_id = $2";
    if tx.execute(sql, &[community.into(), user.into()])? == 0 {
        return Ok(false);
    }
    add_to_member_count(tx, community, -1)?;
    Ok(true)
}

fn add_to_member_count(tx: &mut Tx<'_>, community: i64, by: i64) -> Result<(), Fault> {
    let sql = "UPDATE community SET member_count = member_count + $1 WHERE id = $2";
    tx.execute_later(sql, &[by.into(), community.into()])
}

pub fn filter_joined(tx: &mut Tx<'_>, user: UserId, communities: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT community_id FROM community_member WHERE community_id = $1 AND user_id = $2";
    tx.query_by_keys(sql, communities, &[user.into()])
}

/// At most `limit`, in no particular order.
pub fn list_joined(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT community_id FROM community_member WHERE user_id = $1 LIMIT $2";
    tx.query_rows(sql, &[user.into(), limit.into()])
}

/// Latest first: the community and the membership's own id.
pub fn joined_page(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<IdPair>, Fault> {
    let sql = edge_page_query!("SELECT community_id, id FROM community_member WHERE user_id = $1");
    edge_page(tx, user, range, sql)
}

/// Latest first: the user and the membership's own id.
pub fn member_page(tx: &mut Tx<'_>, community: i64, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM community_member WHERE community_id = $1");
    typed_edge_page(tx, community, range, sql)
}

/// Pairs of membership id and user, in the order of joining, after a membership id.
pub fn list_members(tx: &mut Tx<'_>, community: i64, after: i64, limit: i64) -> Result<Vec<(i64, UserId)>, Fault> {
    let sql = "SELECT id, user_id FROM community_member WHERE community_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    tx.query_rows(sql, &[community.into(), after.into(), limit.into()])
}
