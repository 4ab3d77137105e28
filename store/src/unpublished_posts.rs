//! Drafts and scheduled posts of members. Those for communities are in a table of their own, which programs that know no
//! community here do not read.

use base::{Fault, MediaId, PostId, Time, UserId};

use crate::Tx;
use crate::db::{ColumnValue, DeclaredRow, insert, sql, table};

table! {
    #[derive(Clone, Debug)]
    pub struct UnpublishedPost in "unpublished_community_post" {
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
        pub media_ids: Vec<MediaId>,
        /// One per line; empty without a poll.
        pub poll_choices: String,
        pub poll_minutes: i64,
        pub reply_settings: String,
        /// None for a post to everyone, which is in the table `unpublished_post`.
        pub community_id: Option<i64>,
        /// Whether the author's followers are shown a community's post too.
        pub shared: bool,
    }
}

/// The rows of both tables.
const ALL_POSTS: &str = sql!(
    "(SELECT ",
    UnpublishedPost::COLUMNS,
    " FROM unpublished_community_post UNION ALL SELECT id, user_id, scheduled_at, due_at, attempts, problem, text, \
     in_reply_to_post_id, quoted_post_id, media_ids, poll_choices, poll_minutes, reply_settings, NULL, 0 \
     FROM unpublished_post) AS unpublished"
);

macro_rules! select_posts {
    ($rest:literal) => {
        sql!("SELECT ", UnpublishedPost::COLUMNS, " FROM ", ALL_POSTS, " ", $rest)
    };
}

pub fn insert(tx: &mut Tx<'_>, post: &UnpublishedPost) -> Result<(), Fault> {
    if post.community_id.is_some() {
        return insert!(tx, UnpublishedPost, post);
    }
    insert!(
        tx,
        "unpublished_post",
        id = post.id,
        user_id = post.user_id,
        scheduled_at = post.scheduled_at,
        due_at = post.due_at,
        attempts = post.attempts,
        problem = &post.problem,
        text = &post.text,
        in_reply_to_post_id = post.in_reply_to_post_id,
        quoted_post_id = post.quoted_post_id,
        media_ids = ColumnValue::to_value(&post.media_ids),
        poll_choices = &post.poll_choices,
        poll_minutes = post.poll_minutes,
        reply_settings = &post.reply_settings
    )
}

/// Replaces the post with the same id.
pub fn update(tx: &mut Tx<'_>, post: &UnpublishedPost) -> Result<(), Fault> {
    delete(tx, post.id)?;
    insert(tx, post)
}

/// Returns false if there is none, or no longer.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    let deleted = tx.execute("DELETE FROM unpublished_post WHERE id = $1", &[id.into()])?;
    Ok(deleted > 0 || tx.execute("DELETE FROM unpublished_community_post WHERE id = $1", &[id.into()])? > 0)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<UnpublishedPost>, Fault> {
    tx.query_row(select_posts!("WHERE id = $1"), &[id.into()])
}

/// Latest first.
pub fn list_drafts(tx: &mut Tx<'_>, user: UserId, skip: i64, limit: i64) -> Result<Vec<UnpublishedPost>, Fault> {
    let sql = select_posts!("WHERE user_id = $1 AND scheduled_at IS NULL ORDER BY id DESC LIMIT $2 OFFSET $3");
    tx.query_rows(sql, &[user.into(), limit.into(), skip.into()])
}

/// In the order of their times, those that were refused included.
pub fn list_scheduled(tx: &mut Tx<'_>, user: UserId, skip: i64, limit: i64) -> Result<Vec<UnpublishedPost>, Fault> {
    let sql =
        select_posts!("WHERE user_id = $1 AND scheduled_at IS NOT NULL ORDER BY scheduled_at, id LIMIT $2 OFFSET $3");
    tx.query_rows(sql, &[user.into(), limit.into(), skip.into()])
}

/// Drafts, or scheduled posts, of a user.
pub fn count(tx: &mut Tx<'_>, user: UserId, scheduled: bool) -> Result<i64, Fault> {
    let sql = if scheduled {
        sql!("SELECT COUNT(*) FROM ", ALL_POSTS, " WHERE user_id = $1 AND scheduled_at IS NOT NULL")
    } else {
        sql!("SELECT COUNT(*) FROM ", ALL_POSTS, " WHERE user_id = $1 AND scheduled_at IS NULL")
    };
    Ok(tx.query_row(sql, &[user.into()])?.unwrap_or(0))
}

/// The post that is due first.
pub fn find_due(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now();
    let sql =
        sql!("SELECT id FROM ", ALL_POSTS, " WHERE due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at, id LIMIT 1");
    tx.query_row(sql, &[now.into()])
}

/// When the next post is due that is not due yet.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now();
    let sql =
        sql!("SELECT due_at FROM ", ALL_POSTS, " WHERE due_at IS NOT NULL AND due_at > $1 ORDER BY due_at LIMIT 1");
    tx.query_row(sql, &[now.into()])
}

/// Has the post be due no more; returns false if it is not, since another process took it or its user changed it.
pub fn claim_due(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    let args = [id.into(), tx.now().into()];
    let of_everyone = "UPDATE unpublished_post SET due_at = NULL WHERE id = $1 AND due_at IS NOT NULL AND due_at <= $2";
    let of_community =
        "UPDATE unpublished_community_post SET due_at = NULL WHERE id = $1 AND due_at IS NOT NULL AND due_at <= $2";
    Ok(tx.execute(of_everyone, &args)? > 0 || tx.execute(of_community, &args)? > 0)
}
