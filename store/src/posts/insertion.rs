//! Inserts posts and updates the counters they affect.

use std::sync::LazyLock;

use base::{Fault, PostId, UserId};

use super::{Post, PostState, find_by_id};
use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::{InsertableRow, insert_new_later, statement, table};

table! {
    #[derive(Clone, Debug, Default)]
    pub struct NewPostDetails in "post" {
        /// A digest of text, attachments and targets, for duplicate detection.
        pub fingerprint: Option<Vec<u8>>,
        /// Likes according to an import.
        pub imported_likes: i64 as "imported_like_count",
        /// Reposts according to an import.
        pub imported_reposts: i64 as "imported_repost_count",
        /// The link that opens a private conversation, or empty.
        pub direct_message_deep_link: String,
    }
    transient {
        /// The users whose mentions timeline includes the post.
        pub mentioned: Vec<UserId>,
        /// The version that this one replaces.
        pub replaces: Option<PostId>,
    }
}

/// Also stores mentions and updates all counters; returns false if the id is taken.
pub fn insert(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    if tx.is_postgres() {
        insert_row_later(tx, post, details)?;
    } else if !insert_row(tx, post, details)? {
        return Ok(false);
    }
    if post.state != PostState::Live {
        return Ok(true);
    }
    for user in &details.mentioned {
        insert_new_later!(tx, "mention", user_id = *user, post_id = post.id)?;
    }
    if let Some(replaced) = details.replaces {
        let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
        tx.execute_later(sql, &[post.edit_root_id.into(), replaced.into()])?;
        let sql =
            "INSERT INTO hidden_reply (post_id, hidden_at) SELECT $1, hidden_at FROM hidden_reply WHERE post_id = $2";
        tx.execute_later(sql, &[post.id.into(), replaced.into()])?;
        let sql = "UPDATE users SET pinned_post_id = $1 WHERE id = $2 AND pinned_post_id = $3";
        tx.execute_later(sql, &[post.id.into(), post.author_id.into(), replaced.into()])?;
        // The replaced version was counted, possibly for other targets.
        if let Some(before) = find_by_id(tx, replaced)? {
            add_to_author_counts(tx, &before, -1)?;
            add_to_target_counts(tx, &before, -1)?;
        }
    }
    add_to_author_counts(tx, post, 1)?;
    add_to_target_counts(tx, post, 1)?;
    Ok(true)
}

fn insert_row(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    let sql = statement!(insert("post", [Post::INSERTED, NewPostDetails::INSERTED], " ON CONFLICT DO NOTHING"));
    Ok(tx.execute(sql, &[post.to_values(), details.to_values()].concat())? > 0)
}

/// For a post that does not exist. On PostgreSQL, the transaction is repeated if another one has inserted it since.
pub(crate) fn insert_row_later(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<(), Fault> {
    let sql = statement!(insert("post", [Post::INSERTED, NewPostDetails::INSERTED], ""));
    tx.execute_later(sql, &[post.to_values(), details.to_values()].concat())
}

/// Replaces a placeholder by the real post, without mentions and counters. Likes and reposts already stored are
/// subtracted from the imported totals. Returns false if there is no such placeholder.
pub fn replace_placeholder(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let columns = [Post::INSERTED, NewPostDetails::INSERTED].concat();
        let sets = columns.iter().zip(1..).map(|(name, number)| match name.strip_prefix("imported_") {
            Some(count) => format!(
                "{name} = CASE WHEN CAST(${number} AS BIGINT) > {count} \
                 THEN CAST(${number} AS BIGINT) - {count} ELSE 0 END"
            ),
            None => format!("{name} = ${number}"),
        });
        let sets: Vec<String> = sets.collect();
        format!("UPDATE post SET {} WHERE id = ${} AND state = 3", sets.join(", "), columns.len() + 1)
    });
    let values = [post.to_values(), details.to_values(), vec![post.id.into()]].concat();
    Ok(tx.execute(&SQL, &values)? > 0)
}

/// Updates the author's counters; a nullcast post counts, but is not the most recent post.
pub(crate) fn add_to_author_counts(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let media = if post.media_keys.is_empty() { 0 } else { by };
    let newest = if by > 0 && !post.nullcast { post.id.get() } else { 0 };
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, most_recent_post_id = \
               CASE WHEN $3 > COALESCE(most_recent_post_id, 0) THEN $3 ELSE most_recent_post_id END WHERE id = $4";
    tx.execute_later(sql, &[by.into(), media.into(), newest.into(), post.author_id.into()])
}

/// Updates the counters of the posts it replies to, quotes or reposts.
pub(super) fn add_to_target_counts(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let targets = [
        (post.in_reply_to_post_id, SharedCounter::Replies),
        (post.quoted_post_id, SharedCounter::Quotes),
        // Nullcast reposts are not counted.
        (post.repost_of_id.filter(|_| !post.nullcast), SharedCounter::Reposts),
    ];
    for (target, counter) in targets {
        match (target, counter) {
            // Of a deleted post, reposts may be left for a while.
            (Some(target), SharedCounter::Reposts) => counters::add_unless_deleted_later(tx, counter, target, by)?,
            (Some(target), _) => counters::add(tx, counter, target.get(), by)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// Inserts only the row, for bulk inserts that update counters at the end. Returns false if the id is taken, or the
/// author has already reposted the same post.
pub fn insert_without_counts(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    insert_row(tx, post, details)
}
