//! Two accounts that turn out to be one.

use base::{Fault, UserId};

use crate::{Tx, people};

/// A placeholder whose id is ours has become known under its own id: what waits for the one now
/// waits for the other, and the placeholder is gone.
pub fn absorb(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let moves = [
        "UPDATE post SET author_id = $1 WHERE author_id = $2 AND state = 3",
        "UPDATE list SET owner_id = $1 WHERE owner_id = $2 AND deleted_at IS NULL",
    ];
    for sql in moves {
        tx.exec(sql, &[to.into(), from.into()])?;
    }
    forget(tx, from)
}

fn forget(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    tx.exec("DELETE FROM import_name WHERE user_id = $1", &[user.into()])?;
    people::remove(tx, user)?;
    tx.exec("DELETE FROM users WHERE id = $1", &[user.into()])
        .map(|_| ())
}

/// Rows that both have: `from`'s go, and the counters of others that stood for two of them.
const TWICE: &[&str] = &[
    "UPDATE users SET following_count = following_count - 1 WHERE id IN (SELECT source_id \
     FROM follow WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM follow WHERE target_id = $2))",
    "DELETE FROM follow WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM follow WHERE target_id = $2)",
    "UPDATE users SET followers_count = followers_count - 1 WHERE id IN (SELECT target_id \
     FROM follow WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM follow WHERE source_id = $2))",
    "DELETE FROM follow WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM follow WHERE source_id = $2)",
    "DELETE FROM block WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM block WHERE target_id = $2)",
    "DELETE FROM block WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM block WHERE source_id = $2)",
    "DELETE FROM mute WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM mute WHERE target_id = $2)",
    "DELETE FROM mute WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM mute WHERE source_id = $2)",
    "DELETE FROM follow_request WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM follow_request WHERE target_id = $2)",
    "DELETE FROM follow_request WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM follow_request WHERE source_id = $2)",
    "DELETE FROM dm_block WHERE target_id = $1 AND source_id IN \
     (SELECT source_id FROM dm_block WHERE target_id = $2)",
    "DELETE FROM dm_block WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM dm_block WHERE source_id = $2)",
    "UPDATE post SET like_count = like_count - 1 WHERE id IN (SELECT post_id \
     FROM post_like WHERE user_id = $1 AND post_id IN \
     (SELECT post_id FROM post_like WHERE user_id = $2))",
    "DELETE FROM post_like WHERE user_id = $1 AND post_id IN \
     (SELECT post_id FROM post_like WHERE user_id = $2)",
    "UPDATE post SET bookmark_count = bookmark_count - 1 WHERE id IN (SELECT post_id \
     FROM bookmark WHERE user_id = $1 AND post_id IN \
     (SELECT post_id FROM bookmark WHERE user_id = $2))",
    "DELETE FROM bookmark WHERE user_id = $1 AND post_id IN \
     (SELECT post_id FROM bookmark WHERE user_id = $2)",
    "UPDATE list SET member_count = member_count - 1 WHERE id IN (SELECT list_id \
     FROM list_member WHERE user_id = $1 AND list_id IN \
     (SELECT list_id FROM list_member WHERE user_id = $2))",
    "DELETE FROM list_member WHERE user_id = $1 AND list_id IN \
     (SELECT list_id FROM list_member WHERE user_id = $2)",
    "DELETE FROM mention WHERE user_id = $1 AND post_id IN \
     (SELECT post_id FROM mention WHERE user_id = $2)",
    "UPDATE post SET repost_count = repost_count - 1 WHERE id IN (SELECT repost_of_id \
     FROM post WHERE author_id = $1 AND state = 0 AND repost_of_id IN (SELECT repost_of_id \
     FROM post WHERE author_id = $2 AND state = 0 AND repost_of_id IS NOT NULL))",
    "UPDATE post SET state = 2 WHERE author_id = $1 AND state = 0 AND repost_of_id IN \
     (SELECT repost_of_id FROM post WHERE author_id = $2 AND state = 0 \
     AND repost_of_id IS NOT NULL)",
];

/// What `from` has and `to` gets.
const MOVES: &[&str] = &[
    "UPDATE follow SET target_id = $1 WHERE target_id = $2",
    "UPDATE follow SET source_id = $1 WHERE source_id = $2",
    "UPDATE block SET target_id = $1 WHERE target_id = $2",
    "UPDATE block SET source_id = $1 WHERE source_id = $2",
    "UPDATE mute SET target_id = $1 WHERE target_id = $2",
    "UPDATE mute SET source_id = $1 WHERE source_id = $2",
    "UPDATE follow_request SET target_id = $1 WHERE target_id = $2",
    "UPDATE follow_request SET source_id = $1 WHERE source_id = $2",
    "UPDATE dm_block SET target_id = $1 WHERE target_id = $2",
    "UPDATE dm_block SET source_id = $1 WHERE source_id = $2",
    "UPDATE post_like SET user_id = $1 WHERE user_id = $2",
    "UPDATE bookmark SET user_id = $1 WHERE user_id = $2",
    "UPDATE bookmark_filing SET user_id = $1 WHERE folder_id IN \
     (SELECT id FROM bookmark_folder WHERE user_id = $2)",
    "UPDATE bookmark_folder SET user_id = $1 WHERE user_id = $2",
    "UPDATE list_member SET user_id = $1 WHERE user_id = $2",
    "UPDATE mention SET user_id = $1 WHERE user_id = $2",
    "UPDATE list SET owner_id = $1 WHERE owner_id = $2",
    "UPDATE media SET owner_id = $1 WHERE owner_id = $2",
    "UPDATE post SET author_id = $1 WHERE author_id = $2",
    "UPDATE post SET in_reply_to_user_id = $1 WHERE in_reply_to_user_id = $2",
    "UPDATE import_alias SET user_id = $1 WHERE user_id = $2",
];

/// Nobody follows someone when one of them blocks the other.
const SEVERED: &[&str] = &[
    "UPDATE users SET followers_count = followers_count - 1 WHERE id IN \
     (SELECT target_id FROM follow WHERE source_id = $1 AND (target_id IN \
     (SELECT target_id FROM block WHERE source_id = $1) OR target_id IN \
     (SELECT source_id FROM block WHERE target_id = $1)))",
    "DELETE FROM follow WHERE source_id = $1 AND (target_id IN \
     (SELECT target_id FROM block WHERE source_id = $1) OR target_id IN \
     (SELECT source_id FROM block WHERE target_id = $1))",
    "UPDATE users SET following_count = following_count - 1 WHERE id IN \
     (SELECT source_id FROM follow WHERE target_id = $1 AND (source_id IN \
     (SELECT target_id FROM block WHERE source_id = $1) OR source_id IN \
     (SELECT source_id FROM block WHERE target_id = $1)))",
    "DELETE FROM follow WHERE target_id = $1 AND (source_id IN \
     (SELECT target_id FROM block WHERE source_id = $1) OR source_id IN \
     (SELECT source_id FROM block WHERE target_id = $1))",
    "DELETE FROM follow_request WHERE source_id = $1 AND target_id IN \
     (SELECT target_id FROM follow WHERE source_id = $1)",
    "DELETE FROM follow_request WHERE target_id = $1 AND (source_id IN \
     (SELECT source_id FROM follow WHERE target_id = $1) OR \
     (SELECT protected FROM users WHERE id = $1) = 0)",
];

/// Nobody follows, blocks or mutes themselves.
const SELVES: &[&str] = &[
    "DELETE FROM follow_request WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM dm_block WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM follow WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM block WHERE source_id = $1 AND target_id = $1",
    "DELETE FROM mute WHERE source_id = $1 AND target_id = $1",
];

const RECOUNT: &[&str] = &[
    "UPDATE users SET followers_count = (SELECT COUNT(*) FROM follow WHERE target_id = $1), \
     following_count = (SELECT COUNT(*) FROM follow WHERE source_id = $1), \
     like_count = (SELECT COUNT(*) FROM post_like WHERE user_id = $1), \
     listed_count = (SELECT COUNT(*) FROM list_member m JOIN list l ON l.id = m.list_id \
     WHERE m.user_id = $1 AND l.deleted_at IS NULL AND l.private = 0), \
     following_version = following_version + 1 WHERE id = $1",
    "UPDATE list SET member_version = member_version + 1 \
     WHERE id IN (SELECT list_id FROM list_member WHERE user_id = $1)",
    "UPDATE users SET post_count = \
     (SELECT COUNT(*) FROM post WHERE author_id = $1 AND state = 0), media_count = \
     (SELECT COUNT(*) FROM post WHERE author_id = $1 AND state = 0 AND media_keys <> ''), \
     most_recent_post_id = \
     (SELECT MAX(id) FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0) WHERE id = $1",
];

/// Gives everything that `from` has to `to`, counts `to` again and removes `from`. It looks
/// through all posts: for the one person whose archive is imported, not for everyone in it.
pub fn merge(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    for sql in TWICE {
        tx.exec(sql, &[from.into(), to.into()])?;
    }
    for sql in MOVES {
        tx.exec(sql, &[to.into(), from.into()])?;
    }
    for sql in SELVES.iter().chain(SEVERED).chain(RECOUNT) {
        tx.exec(sql, &[to.into()])?;
    }
    forget(tx, from)
}
