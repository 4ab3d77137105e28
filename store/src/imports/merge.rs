//! Merging of two accounts that belong to the same person.

mod account_references;
mod conversations;

use base::{Fault, UserId};

use self::account_references::ACCOUNT_REFERENCES;
use crate::db::user_words;
use crate::{Tx, follows, users};

/// Moves posts and lists from a placeholder with a generated id to the user with the real id, and deletes the
/// placeholder.
pub fn absorb_placeholder(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let moves = [
        "UPDATE post SET author_id = $1 WHERE author_id = $2 AND state = 3",
        "UPDATE list SET owner_id = $1 WHERE owner_id = $2 AND deleted_at IS NULL",
    ];
    for sql in moves {
        tx.execute_later(sql, &[to.into(), from.into()])?;
    }
    delete_placeholder(tx, from)
}

fn delete_placeholder(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM import_name WHERE user_id = $1", &[user.into()])?;
    user_words::remove_all(tx, user)?;
    tx.execute_later("DELETE FROM users WHERE id = $1", &[user.into()])
}

/// Resolves rows that both accounts have and that other rows depend on, before those of `from` are deleted.
const RESOLVE_DUPLICATES: &[&str] = &[
    "UPDATE poll_option SET votes = votes - 1 WHERE EXISTS (SELECT 1 FROM poll_vote a \
     JOIN poll_vote b ON b.poll_id = a.poll_id WHERE a.user_id = $1 AND b.user_id = $2 \
     AND a.poll_id = poll_option.poll_id AND a.choice = poll_option.choice)",
    "DELETE FROM note_rating WHERE note_id IN (SELECT a.id FROM note a JOIN note b ON b.post_id = a.post_id \
     AND b.test_mode = a.test_mode WHERE a.author_id = $1 AND b.author_id = $2)",
    "UPDATE post SET repost_count = repost_count - 1 WHERE id IN (SELECT repost_of_id FROM post WHERE author_id = $1 \
     AND state = 0 AND nullcast = 0 AND repost_of_id IN (SELECT repost_of_id FROM post WHERE author_id = $2 \
     AND state = 0 AND nullcast = 0 AND repost_of_id IS NOT NULL))",
    "UPDATE post SET state = 2 WHERE author_id = $1 AND state = 0 AND EXISTS (SELECT 1 \
     FROM post other WHERE other.repost_of_id = post.repost_of_id AND other.author_id = $2 \
     AND other.nullcast = post.nullcast AND other.state = 0)",
];

/// Moves the affiliate badge, unless `to` has one: a user has at most one.
const MOVE_BADGE: &[&str] = &[
    "DELETE FROM affiliate WHERE user_id = $1 AND EXISTS (SELECT 1 FROM users WHERE id = $2 AND affiliation <> '')",
    "UPDATE users SET affiliation = (SELECT affiliation FROM users WHERE id = $1) WHERE id = $2 AND affiliation = ''",
];

/// A block between two users excludes follows between them.
const DELETE_BLOCKED_FOLLOWS: &[&str] = &[
    "UPDATE users SET followers_count = followers_count - 1 WHERE id IN (SELECT target_id FROM follow \
     WHERE source_id = $1 AND (target_id IN (SELECT target_id FROM block WHERE source_id = $1) OR target_id IN \
     (SELECT source_id FROM block WHERE target_id = $1)))",
    "DELETE FROM follow WHERE source_id = $1 AND (target_id IN (SELECT target_id FROM block WHERE source_id = $1) \
     OR target_id IN (SELECT source_id FROM block WHERE target_id = $1))",
    "UPDATE users SET following_count = following_count - 1 WHERE id IN (SELECT source_id FROM follow \
     WHERE target_id = $1 AND (source_id IN (SELECT target_id FROM block WHERE source_id = $1) OR source_id IN \
     (SELECT source_id FROM block WHERE target_id = $1)))",
    "DELETE FROM follow WHERE target_id = $1 AND (source_id IN (SELECT target_id FROM block WHERE source_id = $1) \
     OR source_id IN (SELECT source_id FROM block WHERE target_id = $1))",
    "DELETE FROM follow_request WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM follow WHERE source_id = $1)",
    "DELETE FROM follow_request WHERE target_id = $1 AND (source_id IN (SELECT source_id FROM follow \
     WHERE target_id = $1) OR (SELECT protected FROM users WHERE id = $1) = 0)",
];

/// Users cannot follow, block, mute or subscribe to themselves.
const DELETE_SELF_RELATIONS: &[&str] = &[
    "DELETE FROM follow_request WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM dm_block WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM follow WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM block WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM mute WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM subscription WHERE subscriber_id = $1 AND author_id = $1",
    "UPDATE users SET affiliation = '' WHERE id = $1 AND EXISTS (SELECT 1 FROM affiliate \
     WHERE organization_id = $1 AND user_id = $1)",
    "DELETE FROM affiliate WHERE organization_id = $1 AND user_id = $1",
];

/// Subtracts the changes of `$1` that will be added to a counter.
macro_rules! less_pending {
    ($counter:literal) => {
        concat!(
            " /*! - (SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM count_delta WHERE target_id = $1 AND counter = ",
            $counter,
            ") */"
        )
    };
}

/// The user's row is locked.
const RECOUNT_SQL: &[&str] = &[
    concat!(
        "UPDATE users SET followers_count = (SELECT COUNT(*) FROM follow WHERE target_id = $1)",
        less_pending!(1),
        ", verified_followers_count = (SELECT COUNT(*) FROM follow f JOIN users s ON s.id = f.source_id \
         WHERE f.target_id = $1 AND s.verified = 1)",
        less_pending!(2),
        ", listed_count = (SELECT COUNT(*) FROM list_member m JOIN list l ON l.id = m.list_id \
         WHERE m.user_id = $1 AND l.deleted_at IS NULL AND l.private = 0)",
        less_pending!(3),
        ", following_count = (SELECT COUNT(*) FROM follow WHERE source_id = $1), like_count = (SELECT COUNT(*) \
         FROM post_like WHERE user_id = $1), following_version = following_version + 1 WHERE id = $1"
    ),
    "UPDATE list SET member_version = member_version + 1 \
     WHERE id IN (SELECT list_id FROM list_member WHERE user_id = $1)",
    "UPDATE users SET post_count = (SELECT COUNT(*) FROM post WHERE author_id = $1 AND state = 0), media_count = \
     (SELECT COUNT(*) FROM post WHERE author_id = $1 AND state = 0 AND media_keys <> ''), most_recent_post_id = \
     (SELECT MAX(id) FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0) WHERE id = $1",
];

/// Moves everything from `from` to `to`, recounts `to` and deletes `from`. Returns the live posts of others that are
/// replies to `to` now. Scans all posts, so it is meant for the importing user only.
pub fn merge_accounts(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<Vec<i64>, Fault> {
    users::lock(tx, from.min(to))?;
    users::lock(tx, from.max(to))?;
    let sql = "SELECT id FROM post WHERE in_reply_to_user_id = $1 AND author_id NOT IN ($1, $2) AND state = 0 \
               ORDER BY id";
    let replies = tx.query_rows(sql, &[from.into(), to.into()])?;
    // Take both out of the verified counts; `to` is added back at the end.
    let verified = follows::filter_verified(tx, &[from, to])?;
    for user in &verified {
        follows::add_to_verified_counts(tx, *user, -1)?;
    }
    conversations::merge_conversations(tx, from, to)?;
    for sql in RESOLVE_DUPLICATES.iter().chain(MOVE_BADGE) {
        tx.execute_later(sql, &[from.into(), to.into()])?;
    }
    for reference in ACCOUNT_REFERENCES.iter() {
        for sql in &reference.duplicate_sql {
            tx.execute_later(sql, &[from.into(), to.into()])?;
        }
        tx.execute_later(reference.move_sql, &[to.into(), from.into()])?;
    }
    rename_badges(tx, from, to)?;
    for sql in DELETE_SELF_RELATIONS.iter().chain(DELETE_BLOCKED_FOLLOWS).chain(RECOUNT_SQL) {
        tx.execute_later(sql, &[to.into()])?;
    }
    if verified.contains(&to) {
        follows::add_to_verified_counts(tx, to, 1)?;
    }
    delete_placeholder(tx, from)?;
    Ok(replies)
}

/// Affiliate badges contain the organization's id.
fn rename_badges(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let (before, after) = (format!("\"{from}\""), format!("\"{to}\""));
    let sql = "UPDATE users SET affiliation = REPLACE(affiliation, CAST($1 AS TEXT), CAST($2 AS TEXT)) WHERE id IN \
               (SELECT user_id FROM affiliate WHERE organization_id = $3)";
    let args = [(&before).into(), (&after).into(), to.into()];
    tx.execute_later(sql, &args)
}
