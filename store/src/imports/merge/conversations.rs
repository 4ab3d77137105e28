//! Merges the conversations of two accounts that are being merged.

use base::{Fault, UserId};

use crate::Tx;
use crate::messages;

/// Moves a conversation's rows from `$2` to `$1`.
const MOVE_CONVERSATION: &[&str] = &[
    "UPDATE dm_event SET conversation_id = $1 WHERE conversation_id = $2",
    "UPDATE dm_inbox SET conversation_id = $1 WHERE conversation_id = $2",
    "UPDATE dm_participant SET conversation_id = $1 WHERE conversation_id = $2 \
     AND user_id NOT IN (SELECT user_id FROM dm_participant WHERE conversation_id = $1)",
];

const DELETE_EMPTY_CONVERSATION: &[&str] =
    &["DELETE FROM dm_participant WHERE conversation_id = $1", "DELETE FROM dm_conversation WHERE id = $1"];

/// Moves the conversations of `from` to `to`; where both have one with the same user, they are merged.
pub(super) fn merge_conversations(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation WHERE lower_id = $1 OR higher_id = $1";
    let pairs: Vec<(i64, UserId, UserId)> = tx.query_rows(sql, &[from.into()])?;
    for (id, lower, higher) in pairs {
        let [lower, higher] = [lower, higher].map(|one| if one == from { to } else { one });
        let existing = messages::find_direct(tx, lower, higher)?;
        if let Some(existing) = existing.filter(|existing| existing.id != id) {
            for sql in MOVE_CONVERSATION {
                tx.execute_later(sql, &[existing.id.into(), id.into()])?;
            }
            for sql in DELETE_EMPTY_CONVERSATION {
                tx.execute_later(sql, &[id.into()])?;
            }
        } else {
            let sql = "UPDATE dm_conversation SET lower_id = $1, higher_id = $2 WHERE id = $3";
            let (lower, higher) = (lower.min(higher), lower.max(higher));
            tx.execute_later(sql, &[lower.into(), higher.into(), id.into()])?;
        }
    }
    replace_participant(tx, from, to)
}

/// Replaces `from` by `to` in join and leave events.
fn replace_participant(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let sql = "SELECT id, participant_ids FROM dm_event WHERE participant_ids <> ''";
    let events: Vec<(i64, String)> = tx.query_rows(sql, &[])?;
    let (before, after) = (from.to_string(), to.to_string());
    for (id, text) in events {
        if !text.split(',').any(|one| one == before) {
            continue;
        }
        let mut ids: Vec<&str> = Vec::new();
        for one in text.split(',') {
            let one = if one == before { &after } else { one };
            if !ids.contains(&one) {
                ids.push(one);
            }
        }
        let sql = "UPDATE dm_event SET participant_ids = $1 WHERE id = $2";
        let text = ids.join(",");
        tx.execute_later(sql, &[(&text).into(), id.into()])?;
    }
    Ok(())
}
