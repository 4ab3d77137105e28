//! Conversations of two accounts that turn out to be one.

use base::{Fault, UserId};

use crate::Tx;
use crate::messages;

/// What of a conversation goes to another one, which is `$1`.
const MOVE_CONVERSATION: &[&str] = &[
    "UPDATE dm_event SET conversation_id = $1 WHERE conversation_id = $2",
    "UPDATE dm_inbox SET conversation_id = $1 WHERE conversation_id = $2",
    "UPDATE dm_participant SET conversation_id = $1 WHERE conversation_id = $2 \
     AND user_id NOT IN (SELECT user_id FROM dm_participant WHERE conversation_id = $1)",
];

/// What is left of a conversation whose events went elsewhere.
const DELETE_EMPTY_CONVERSATION: &[&str] = &[
    "DELETE FROM dm_participant WHERE conversation_id = $1",
    "DELETE FROM dm_conversation WHERE id = $1",
];

/// Lets `to` have the conversations of two that `from` has: where both have one with the same
/// other, they become one. Who came to groups and went is told of `to`.
pub(super) fn merge_conversations(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation \
               WHERE lower_id = $1 OR higher_id = $1";
    let pairs = tx.query_rows(sql, &[from.into()], |row| Ok((row.int(0)?, row.id(1)?, row.id(2)?)))?;
    for (id, lower, higher) in pairs {
        let [lower, higher] = [lower, higher].map(|one: UserId| if one == from { to } else { one });
        let known = messages::find_direct(tx, lower, higher)?;
        if let Some(known) = known.filter(|known| known.id != id) {
            for sql in MOVE_CONVERSATION {
                tx.execute(sql, &[known.id.into(), id.into()])?;
            }
            for sql in DELETE_EMPTY_CONVERSATION {
                tx.execute(sql, &[id.into()])?;
            }
        } else {
            let sql = "UPDATE dm_conversation SET lower_id = $1, higher_id = $2 WHERE id = $3";
            let (lower, higher) = (lower.min(higher), lower.max(higher));
            tx.execute(sql, &[lower.into(), higher.into(), id.into()])?;
        }
    }
    replace_participant(tx, from, to)
}

/// Who joined and left.
fn replace_participant(tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(), Fault> {
    let sql = "SELECT id, participant_ids FROM dm_event WHERE participant_ids <> ''";
    let told = tx.query_rows(sql, &[], |row| Ok((row.int(0)?, row.text(1)?)))?;
    let (before, after) = (from.to_string(), to.to_string());
    for (id, text) in told {
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
        tx.execute(sql, &[(&text).into(), id.into()])?;
    }
    Ok(())
}
