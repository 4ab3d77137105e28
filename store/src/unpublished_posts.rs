//! Drafts and scheduled posts of members.

use base::id::marker;
use base::{Fault, Id, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert, select, table, update};

table! {
    #[derive(Clone, Debug)]
    pub struct UnpublishedPost in "unpublished_post" {
        pub id: i64,
        pub user_id: UserId,
        /// None for a draft.
        pub scheduled_at: Option<Time>,
        /// When it is published or tried again; none for drafts and what was refused.
        pub due_at: Option<Time>,
        /// Failures of the server so far.
        pub attempts: i64,
        /// Why it was not published, or empty.
        pub problem: String,
        pub text: String,
        pub in_reply_to_post_id: Option<PostId>,
        pub quoted_post_id: Option<PostId>,
        pub media_ids: Vec<Id<marker::MediaMarker>>,
        /// One per line; empty without a poll.
        pub poll_choices: String,
        pub poll_minutes: i64,
        pub reply_settings: String,
    }
}

pub fn insert(tx: &mut Tx<'_>, post: &UnpublishedPost) -> Result<(), Fault> {
    insert!(tx, UnpublishedPost, post)
}

/// Replaces everything but the id and the user.
pub fn update(tx: &mut Tx<'_>, post: &UnpublishedPost) -> Result<(), Fault> {
    update!(
        tx,
        "unpublished_post",
        post: [
            scheduled_at, due_at, attempts, problem, text, in_reply_to_post_id, quoted_post_id, media_ids, poll_choices,
            poll_minutes, reply_settings
        ],
        id = post.id
    )
}

/// Returns false if there is none, or no longer.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM unpublished_post WHERE id = $1", &[id.into()])? > 0)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<UnpublishedPost>, Fault> {
    tx.query_row(select!(UnpublishedPost, "WHERE id = $1"), &[id.into()])
}

/// Latest first.
pub fn list_drafts(tx: &mut Tx<'_>, user: UserId, skip: i64, limit: i64) -> Result<Vec<UnpublishedPost>, Fault> {
    let sql =
        select!(UnpublishedPost, "WHERE user_id = $1 AND scheduled_at IS NULL ORDER BY id DESC LIMIT $2 OFFSET $3");
    tx.query_rows(sql, &[user.into(), limit.into(), skip.into()])
}

/// In the order of their times, those that were refused included.
pub fn list_scheduled(tx: &mut Tx<'_>, user: UserId, skip: i64, limit: i64) -> Result<Vec<UnpublishedPost>, Fault> {
    let sql = select!(
        UnpublishedPost,
        "WHERE user_id = $1 AND scheduled_at IS NOT NULL ORDER BY scheduled_at, id LIMIT $2 OFFSET $3"
    );
    tx.query_rows(sql, &[user.into(), limit.into(), skip.into()])
}

/// Drafts, or scheduled posts, of a user.
pub fn count(tx: &mut Tx<'_>, user: UserId, scheduled: bool) -> Result<i64, Fault> {
    let sql = if scheduled {
        "SELECT COUNT(*) FROM unpublished_post WHERE user_id = $1 AND scheduled_at IS NOT NULL"
    } else {
        "SELECT COUNT(*) FROM unpublished_post WHERE user_id = $1 AND scheduled_at IS NULL"
    };
    Ok(tx.query_row(sql, &[user.into()])?.unwrap_or(0))
}

/// The post that is due first.
pub fn find_due(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now();
    let sql = "SELECT id FROM unpublished_post WHERE due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at, id LIMIT 1";
    tx.query_row(sql, &[now.into()])
}

/// When the next post is due that is not due yet.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now();
    let sql = "SELECT due_at FROM unpublished_post WHERE due_at IS NOT NULL AND due_at > $1 ORDER BY due_at LIMIT 1";
    tx.query_row(sql, &[now.into()])
}

/// Has the post be due no more; returns false if it is not, since another process took it or its user changed it.
pub fn claim_due(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    let now = tx.now();
    let sql = "UPDATE unpublished_post SET due_at = NULL WHERE id = $1 AND due_at IS NOT NULL AND due_at <= $2";
    Ok(tx.execute(sql, &[id.into(), now.into()])? > 0)
}
