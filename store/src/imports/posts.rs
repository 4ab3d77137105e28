//! Imported posts and placeholders.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{SqlValue, row, select};
use crate::posts::{self, NewPostDetails, Post, PostState};

row! {
    #[derive(Clone, Copy, Debug)]
    pub struct ImportedPostSummary from "post" {
        pub id: PostId,
        pub author_id: UserId,
        pub state: PostState,
        pub conversation_id: PostId,
        /// Whether its text is known.
        pub has_text: bool as "CASE WHEN text = '' THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END",
    }
}

/// Posts in any state.
pub fn find_posts(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<ImportedPostSummary>, Fault> {
    let sql = select!(ImportedPostSummary, "WHERE id = $1");
    tx.query_by_keys(sql, ids, &[])
}

/// Inserts a placeholder; its text may be empty, its author 0.
pub fn insert_placeholder(tx: &mut Tx<'_>, post: &Post) -> Result<bool, Fault> {
    let sql = "INSERT INTO post (id, author_id, created_at, state, text, lang, conversation_id, entities, display_end) \
               VALUES ($1, $2, $3, 3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let args = [
        post.id.into(),
        post.author_id.into(),
        post.created_at.into(),
        (&post.text).into(),
        (&post.lang).into(),
        post.conversation_id.into(),
        (&post.entities).into(),
        post.display_end.into(),
    ];
    if tx.is_postgres() {
        return tx.execute_later(sql, &args).map(|()| true);
    }
    Ok(tx.execute(sql, &args)? > 0)
}

/// Inserts the row of a post that is known to be missing. The author must not have reposted the same post.
pub fn insert_missing_post(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    if tx.is_postgres() {
        return posts::insert_row_later(tx, post, details).map(|()| true);
    }
    posts::insert_without_counts(tx, post, details)
}

/// Of pairs of a post and a user, on PostgreSQL: the post, the user, and whether their repost is nullcast.
pub fn list_reposts(tx: &mut Tx<'_>, pairs: &[(PostId, UserId)]) -> Result<Vec<(PostId, UserId, bool)>, Fault> {
    let sql = "SELECT post.repost_of_id, post.author_id, post.nullcast \
               FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS pair (post_id, user_id) \
               JOIN post ON post.repost_of_id = pair.post_id AND post.author_id = pair.user_id AND post.state = 0";
    let posts: Vec<i64> = pairs.iter().map(|pair| pair.0.get()).collect();
    let users: Vec<i64> = pairs.iter().map(|pair| pair.1.get()).collect();
    tx.query_rows(sql, &[SqlValue::Keys(&posts), SqlValue::Keys(&users)])
}

/// Adds the author (unless it is 0) and text of a placeholder once they are known.
pub fn complete_placeholder(tx: &mut Tx<'_>, post: &Post) -> Result<(), Fault> {
    if post.author_id.get() != 0 {
        let sql = "UPDATE post SET author_id = $1 WHERE id = $2 AND state = 3 AND author_id = 0";
        tx.execute_later(sql, &[post.author_id.into(), post.id.into()])?;
    }
    if !post.text.is_empty() {
        let sql = "UPDATE post SET text = $1, lang = $2, entities = $3, display_end = $4 \
                   WHERE id = $5 AND state = 3 AND text = ''";
        let args = [
            (&post.text).into(),
            (&post.lang).into(),
            (&post.entities).into(),
            post.display_end.into(),
            post.id.into(),
        ];
        tx.execute_later(sql, &args)?;
    }
    Ok(())
}

/// Whether a user has a live repost of a post; `nullcast` selects promoted-only reposts.
pub fn has_reposted(tx: &mut Tx<'_>, post: PostId, by: UserId, nullcast: bool) -> Result<bool, Fault> {
    Ok(crate::reposts::find_by_user(tx, by, post, nullcast)?.is_some())
}

/// Does not change counters.
pub fn mark_superseded(tx: &mut Tx<'_>, post: PostId, root: PostId) -> Result<(), Fault> {
    let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
    tx.execute_later(sql, &[root.into(), post.into()])
}

pub fn list_replies(tx: &mut Tx<'_>, parents: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM post WHERE in_reply_to_post_id = $1";
    tx.query_by_keys(sql, parents, &[])
}

pub fn set_conversation(tx: &mut Tx<'_>, post: i64, conversation: PostId) -> Result<(), Fault> {
    let sql = "UPDATE post SET conversation_id = $1 WHERE id = $2";
    tx.execute_later(sql, &[conversation.into(), post.into()])
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostCounterDeltas {
    /// Live replies; the others likewise.
    pub replies: i64,
    pub quotes: i64,
    pub reposts: i64,
    pub likes: i64,
}

/// Imported likes and reposts are subtracted from the imported totals, which already included them.
pub fn apply_post_deltas(tx: &mut Tx<'_>, post: i64, by: &PostCounterDeltas) -> Result<(), Fault> {
    let sql = "UPDATE post SET reply_count = reply_count + $1, quote_count = quote_count + $2, \
               repost_count = repost_count + $3, like_count = like_count + $4, imported_repost_count = \
               CASE WHEN imported_repost_count > $3 THEN imported_repost_count - $3 ELSE 0 END, imported_like_count = \
               CASE WHEN imported_like_count > $4 THEN imported_like_count - $4 ELSE 0 END WHERE id = $5";
    let args = [by.replies.into(), by.quotes.into(), by.reposts.into(), by.likes.into(), post.into()];
    tx.execute_later(sql, &args)
}

impl Post {
    /// A post of which only the id and perhaps the author is known.
    pub fn placeholder(id: PostId, author_id: UserId, created_at: Time) -> Self {
        Self {
            id,
            author_id,
            created_at,
            state: PostState::Placeholder,
            lang: "und".to_owned(),
            conversation_id: id,
            edits_remaining: 5,
            reply_settings: "everyone".to_owned(),
            ..Self::default()
        }
    }
}
