//! Posts of an import: placeholders and what becomes of them.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::posts::{Post, PostState};

/// What an import must know of a post that is there.
#[derive(Clone, Copy, Debug)]
pub struct ImportedPostSummary {
    /// The post.
    pub id: PostId,
    /// Its author.
    pub author_id: UserId,
    /// Whether it is there for others.
    pub state: PostState,
    /// Its conversation.
    pub conversation_id: PostId,
    /// Whether anything of its text is known.
    pub has_text: bool,
}

/// Those of these posts that are there, in whatever state.
pub fn find_posts(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<ImportedPostSummary>, Fault> {
    let sql = "SELECT id, author_id, state, conversation_id, \
               CASE WHEN text = '' THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END \
               FROM post WHERE id = $1";
    tx.query_by_keys(sql, ids, &[], |row| {
        Ok(ImportedPostSummary {
            id: row.id(0)?,
            author_id: row.id(1)?,
            state: PostState::from_number(row.int(2)?)?,
            conversation_id: row.id(3)?,
            has_text: row.bool(4)?,
        })
    })
}

/// Adds a post of which little is known: its text may be empty, its author 0.
pub fn insert_placeholder(tx: &mut Tx<'_>, post: &Post) -> Result<bool, Fault> {
    let sql = "INSERT INTO post (id, author_id, created_at, state, text, lang, conversation_id, \
               entities, display_end) VALUES ($1, $2, $3, 3, $4, $5, $6, $7, $8) \
               ON CONFLICT DO NOTHING";
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
    Ok(tx.execute(sql, &args)? > 0)
}

/// Completes a placeholder by what has become known of its author (unless that is 0) and its text.
pub fn complete_placeholder(tx: &mut Tx<'_>, post: &Post) -> Result<(), Fault> {
    if post.author_id.get() != 0 {
        let sql = "UPDATE post SET author_id = $1 WHERE id = $2 AND state = 3 AND author_id = 0";
        tx.execute(sql, &[post.author_id.into(), post.id.into()])?;
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
        tx.execute(sql, &args)?;
    }
    Ok(())
}

/// Whether a user has a live repost of a post, of those that everyone sees or of those that are
/// for promotion only.
pub fn has_reposted(tx: &mut Tx<'_>, post: PostId, by: UserId, nullcast: bool) -> Result<bool, Fault> {
    Ok(crate::reposts::find_by_user(tx, by, post, nullcast)?.is_some())
}

/// Marks a live post as superseded by a later version, without counters.
pub fn mark_superseded(tx: &mut Tx<'_>, post: PostId, root: PostId) -> Result<(), Fault> {
    let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
    tx.execute(sql, &[root.into(), post.into()]).map(|_| ())
}

/// The replies to any of these posts.
pub fn list_replies(tx: &mut Tx<'_>, parents: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM post WHERE in_reply_to_post_id = $1";
    tx.query_by_keys(sql, parents, &[], |row| row.int(0))
}

/// Says which conversation a post belongs to.
pub fn set_conversation(tx: &mut Tx<'_>, post: i64, conversation: PostId) -> Result<(), Fault> {
    let sql = "UPDATE post SET conversation_id = $1 WHERE id = $2";
    tx.execute(sql, &[conversation.into(), post.into()]).map(|_| ())
}

/// By how much a post's counters move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostCounterDeltas {
    /// Live replies.
    pub replies: i64,
    /// Live quotes.
    pub quotes: i64,
    /// Live reposts.
    pub reposts: i64,
    /// Likes.
    pub likes: i64,
}

/// Moves a post's counters. An imported like or repost is one of those that the post's own
/// figures told of, as far as these go.
pub fn apply_post_deltas(tx: &mut Tx<'_>, post: i64, by: &PostCounterDeltas) -> Result<(), Fault> {
    let sql = "UPDATE post SET reply_count = reply_count + $1, quote_count = quote_count + $2, \
               repost_count = repost_count + $3, like_count = like_count + $4, \
               imported_repost_count = CASE WHEN imported_repost_count > $3 \
               THEN imported_repost_count - $3 ELSE 0 END, \
               imported_like_count = CASE WHEN imported_like_count > $4 \
               THEN imported_like_count - $4 ELSE 0 END WHERE id = $5";
    let args = [
        by.replies.into(),
        by.quotes.into(),
        by.reposts.into(),
        by.likes.into(),
        post.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

impl Post {
    /// A post of which nothing is known but its id and perhaps its author.
    pub fn placeholder(id: PostId, author_id: UserId, created_at: Time) -> Self {
        Self {
            id,
            author_id,
            created_at,
            state: PostState::Placeholder,
            text: String::new(),
            lang: "und".to_owned(),
            conversation_id: id,
            in_reply_to_post_id: None,
            in_reply_to_user_id: None,
            quoted_post_id: None,
            repost_of_id: None,
            edit_root_id: None,
            edits_remaining: 5,
            community_id: None,
            place_id: None,
            card_uri: String::new(),
            reply_settings: "everyone".to_owned(),
            nullcast: false,
            followers_only: false,
            possibly_sensitive: false,
            paid_partnership: false,
            made_with_ai: false,
            entities: String::new(),
            short_entities: String::new(),
            display_start: 0,
            display_end: 0,
            media_keys: String::new(),
            poll_id: None,
            geo: String::new(),
            withheld: String::new(),
            app_id: None,
            unshared: false,
            members_only: false,
            like_count: 0,
            reply_count: 0,
            repost_count: 0,
            quote_count: 0,
            bookmark_count: 0,
            impression_count: 0,
        }
    }
}
