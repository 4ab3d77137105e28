//! Inserts posts and updates the counters they affect.

use std::sync::OnceLock;

use base::{Fault, PostId, UserId};

use super::{Post, PostState, find_by_id};
use crate::Tx;
use crate::db::SqlValue;

#[derive(Clone, Debug, Default)]
pub struct NewPostDetails {
    /// A digest of text, attachments and targets, for duplicate detection.
    pub fingerprint: Option<Vec<u8>>,
    /// The users whose mentions timeline includes the post.
    pub mentioned: Vec<UserId>,
    /// Likes according to an import.
    pub imported_likes: i64,
    /// Reposts according to an import.
    pub imported_reposts: i64,
    /// The version that this one replaces.
    pub replaces: Option<PostId>,
    /// The link that opens a private conversation, or empty.
    pub direct_message_deep_link: String,
}

/// Also stores mentions and updates all counters; returns false if the id is taken.
pub fn insert(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    if !insert_row(tx, post, details)? {
        return Ok(false);
    }
    if post.state != PostState::Live {
        return Ok(true);
    }
    for user in &details.mentioned {
        let sql = "INSERT INTO mention (user_id, post_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        tx.execute(sql, &[(*user).into(), post.id.into()])?;
    }
    if let Some(replaced) = details.replaces {
        let sql = "UPDATE post SET state = 1, edit_root_id = $1 WHERE id = $2";
        tx.execute(sql, &[post.edit_root_id.into(), replaced.into()])?;
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

/// Column names and values of a post's row; the id comes first.
fn post_columns<'a>(post: &'a Post, details: &'a NewPostDetails) -> [PostColumn<'a>; 37] {
    [
        ("id", post.id.into()),
        ("author_id", post.author_id.into()),
        ("created_at", post.created_at.into()),
        ("state", post.state.to_number().into()),
        ("text", (&post.text).into()),
        ("lang", (&post.lang).into()),
        ("conversation_id", post.conversation_id.into()),
        ("in_reply_to_post_id", post.in_reply_to_post_id.into()),
        ("in_reply_to_user_id", post.in_reply_to_user_id.into()),
        ("quoted_post_id", post.quoted_post_id.into()),
        ("repost_of_id", post.repost_of_id.into()),
        ("edit_root_id", post.edit_root_id.into()),
        ("edits_remaining", post.edits_remaining.into()),
        ("community_id", post.community_id.into()),
        ("place_id", post.place_id.as_ref().into()),
        ("card_uri", (&post.card_uri).into()),
        ("reply_settings", (&post.reply_settings).into()),
        ("nullcast", post.nullcast.into()),
        ("followers_only", post.followers_only.into()),
        ("possibly_sensitive", post.possibly_sensitive.into()),
        ("paid_partnership", post.paid_partnership.into()),
        ("made_with_ai", post.made_with_ai.into()),
        ("entities", (&post.entities).into()),
        ("short_entities", (&post.short_entities).into()),
        ("display_start", post.display_start.into()),
        ("display_end", post.display_end.into()),
        ("media_keys", (&post.media_keys).into()),
        ("poll_id", post.poll_id.into()),
        ("geo", (&post.geo).into()),
        ("withheld", (&post.withheld).into()),
        ("app_id", post.app_id.into()),
        ("imported_like_count", details.imported_likes.into()),
        ("imported_repost_count", details.imported_reposts.into()),
        ("fingerprint", details.fingerprint.as_ref().into()),
        ("unshared", post.unshared.into()),
        ("members_only", post.members_only.into()),
        ("direct_message_deep_link", (&details.direct_message_deep_link).into()),
    ]
}

type PostColumn<'a> = (&'static str, SqlValue<'a>);

fn insert_row(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    static SQL: OnceLock<String> = OnceLock::new();
    let columns = post_columns(post, details);
    let sql = SQL.get_or_init(|| {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let placeholders: Vec<String> = (1..=names.len()).map(|n| format!("${n}")).collect();
        let (names, placeholders) = (names.join(", "), placeholders.join(", "));
        format!("INSERT INTO post ({names}) VALUES ({placeholders}) ON CONFLICT DO NOTHING")
    });
    Ok(tx.execute(sql, &columns.map(|(_, value)| value))? > 0)
}

/// Replaces a placeholder by the real post, without mentions and counters. Likes and reposts already stored are
/// subtracted from the imported totals. Returns false if there is no such placeholder.
pub fn replace_placeholder(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    static SQL: OnceLock<String> = OnceLock::new();
    let mut columns = post_columns(post, details);
    // The id becomes the last argument, of the `WHERE` clause.
    columns.rotate_left(1);
    let sql = SQL.get_or_init(|| {
        let names = columns.iter().map(|(name, _)| *name);
        let sets: Vec<String> = (1..columns.len())
            .zip(names)
            .map(|(index, name)| match name.strip_prefix("imported_") {
                Some(count_column) => format!(
                    "{name} = CASE WHEN CAST(${index} AS BIGINT) > {count_column} \
                     THEN CAST(${index} AS BIGINT) - {count_column} ELSE 0 END"
                ),
                None => format!("{name} = ${index}"),
            })
            .collect();
        let (sets, id) = (sets.join(", "), columns.len());
        format!("UPDATE post SET {sets} WHERE id = ${id} AND state = 3")
    });
    Ok(tx.execute(sql, &columns.map(|(_, value)| value))? > 0)
}

/// Updates the author's counters; a nullcast post counts, but is not the most recent post.
pub(crate) fn add_to_author_counts(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let media = if post.media_keys.is_empty() { 0 } else { by };
    let newest = if by > 0 && !post.nullcast { post.id.get() } else { 0 };
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, \
               most_recent_post_id = CASE WHEN $3 > COALESCE(most_recent_post_id, 0) THEN $3 \
               ELSE most_recent_post_id END WHERE id = $4";
    tx.execute(sql, &[by.into(), media.into(), newest.into(), post.author_id.into()]).map(|_| ())
}

/// Updates the counters of the posts it replies to, quotes or reposts.
pub(super) fn add_to_target_counts(tx: &mut Tx<'_>, post: &Post, by: i64) -> Result<(), Fault> {
    let targets = [
        (post.in_reply_to_post_id, "UPDATE post SET reply_count = reply_count + $1 WHERE id = $2"),
        (post.quoted_post_id, "UPDATE post SET quote_count = quote_count + $1 WHERE id = $2"),
        (
            // Nullcast reposts are not counted.
            post.repost_of_id.filter(|_| !post.nullcast),
            "UPDATE post SET repost_count = repost_count + $1 WHERE id = $2",
        ),
    ];
    for (target, sql) in targets {
        if let Some(target) = target {
            tx.execute(sql, &[by.into(), target.into()])?;
        }
    }
    Ok(())
}

/// Inserts only the row, for bulk inserts that update counters at the end. Returns false if the id is taken, or the
/// author has already reposted the same post.
pub fn insert_without_counts(tx: &mut Tx<'_>, post: &Post, details: &NewPostDetails) -> Result<bool, Fault> {
    insert_row(tx, post, details)
}
