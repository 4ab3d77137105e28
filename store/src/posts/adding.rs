//! Posts stored, and the counters that this moves.

use base::{Fault, PostId, UserId};

use super::{Post, State, by_id};
use crate::Tx;

/// What comes with a post when it is stored.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Of text, attachments and targets; what the duplicate rule goes by.
    pub fingerprint: Option<Vec<u8>>,
    /// Users whose mentions timeline it goes to.
    pub mentioned: Vec<UserId>,
    /// Likes that an import brought along.
    pub imported_likes: i64,
    /// Reposts that an import brought along.
    pub imported_reposts: i64,
    /// The version that it takes the place of.
    pub replaces: Option<PostId>,
    /// The address that opens a private conversation, or empty.
    pub direct_message_deep_link: String,
}

/// Stores a post with its mentions and every counter that it moves; false when the id is taken.
pub fn insert(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    if !insert_row(tx, post, beside)? {
        return Ok(false);
    }
    if post.state != State::Live {
        return Ok(true);
    }
    for user in &beside.mentioned {
        let sql = "INSERT INTO mention (user_id, post_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.exec(sql, &[(*user).into(), post.id.into()])?;
    }
    if let Some(replaced) = beside.replaces {
        let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
        tx.exec(sql, &[post.edit_root_id.into(), replaced.into()])?;
        // The version before stood for what this one stands for now, perhaps not all of it.
        if let Some(before) = by_id(tx, replaced)? {
            count_author(tx, &before, -1)?;
            count_targets(tx, &before, -1)?;
        }
    }
    count_author(tx, post, 1)?;
    count_targets(tx, post, 1)?;
    Ok(true)
}

fn insert_row(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    let sql = "INSERT INTO post (id, author_id, created_at, state, text, lang, conversation_id, \
               in_reply_to_post_id, in_reply_to_user_id, quoted_post_id, repost_of_id, \
               edit_root_id, edits_remaining, community_id, place_id, card_uri, reply_settings, \
               nullcast, followers_only, possibly_sensitive, paid_partnership, made_with_ai, \
               entities, short_entities, display_start, display_end, media_keys, poll_id, geo, \
               withheld, app_id, imported_like_count, imported_repost_count, fingerprint, \
               unshared, members_only, direct_message_deep_link) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
               $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, \
               $35, $36, $37) \
               ON CONFLICT DO NOTHING";
    let args = [
        post.id.into(),
        post.author_id.into(),
        post.created_at.into(),
        post.state.number().into(),
        (&post.text).into(),
        (&post.lang).into(),
        post.conversation_id.into(),
        post.in_reply_to_post_id.into(),
        post.in_reply_to_user_id.into(),
        post.quoted_post_id.into(),
        post.repost_of_id.into(),
        post.edit_root_id.into(),
        post.edits_remaining.into(),
        post.community_id.into(),
        post.place_id.as_ref().into(),
        (&post.card_uri).into(),
        (&post.reply_settings).into(),
        post.nullcast.into(),
        post.followers_only.into(),
        post.possibly_sensitive.into(),
        post.paid_partnership.into(),
        post.made_with_ai.into(),
        (&post.entities).into(),
        (&post.short_entities).into(),
        post.display_start.into(),
        post.display_end.into(),
        (&post.media_keys).into(),
        post.poll_id.into(),
        (&post.geo).into(),
        (&post.withheld).into(),
        post.app_id.into(),
        beside.imported_likes.into(),
        beside.imported_reposts.into(),
        beside.fingerprint.as_ref().into(),
        post.unshared.into(),
        post.members_only.into(),
        (&beside.direct_message_deep_link).into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Moves the author's counters; a nullcast post counts as any other, but is nobody's newest.
pub(crate) fn count_author(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let media = if post.media_keys.is_empty() { 0 } else { by };
    let newest = if by > 0 && !post.nullcast {
        post.id.get()
    } else {
        0
    };
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, \
               most_recent_post_id = CASE WHEN $3 > COALESCE(most_recent_post_id, 0) THEN $3 \
               ELSE most_recent_post_id END WHERE id = $4";
    tx.exec(
        sql,
        &[
            by.into(),
            media.into(),
            newest.into(),
            post.author_id.into(),
        ],
    )
    .map(|_| ())
}

/// Moves the counters of the posts that this one replies to, quotes or reposts.
pub(super) fn count_targets(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let targets = [
        (
            post.in_reply_to_post_id,
            "UPDATE post SET reply_count = reply_count + $1 WHERE id = $2",
        ),
        (
            post.quoted_post_id,
            "UPDATE post SET quote_count = quote_count + $1 WHERE id = $2",
        ),
        (
            post.repost_of_id,
            "UPDATE post SET repost_count = repost_count + $1 WHERE id = $2",
        ),
    ];
    for (target, sql) in targets {
        if let Some(target) = target {
            tx.exec(sql, &[by.into(), target.into()])?;
        }
    }
    Ok(())
}

/// Stores a post's row alone: whoever stores many at once moves the counters once for all. False
/// when the id is taken, or the author reposts the same post already.
pub fn insert_alone(tx: &mut Tx<'_>, post: &Post, beside: &Beside) -> Result<bool, Fault> {
    insert_row(tx, post, beside)
}
