//! Inboxes: each participant's copies of events.

use std::cmp::Reverse;

use base::{Fault, MediaId, UserId};

use super::{MessageEvent, MessageEventKind};
use crate::Tx;
use crate::db::{SqlValue, insert};
use crate::edges::{directional_query, query_page, trim_page};
use crate::exports::IdPair;
use crate::posts::PageRange;

pub(super) fn insert_copies(tx: &mut Tx<'_>, event: &MessageEvent, readers: &[UserId]) -> Result<(), Fault> {
    readers.iter().try_for_each(|reader| {
        insert!(
            tx,
            "dm_inbox",
            user_id = *reader,
            kind = event.kind.to_number(),
            event_id = event.id,
            conversation_id = event.conversation.id
        )
    })
}

pub fn has_event(tx: &mut Tx<'_>, user: UserId, event: &MessageEvent) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM dm_inbox WHERE user_id = $1 AND kind = $2 AND event_id = $3";
    let args = [user.into(), event.kind.to_number().into(), event.id.into()];
    tx.row_exists(sql, &args)
}

/// Event ids, newest first, of some kinds, in one conversation or in all.
pub fn inbox_page(
    tx: &mut Tx<'_>,
    user: UserId,
    conversation: Option<i64>,
    kinds: &[MessageEventKind],
    range: &PageRange,
) -> Result<Vec<i64>, Fault> {
    let mut found = Vec::new();
    for kind in kinds {
        found.extend(inbox_page_of_kind(tx, user, conversation, *kind, range)?);
    }
    found.sort_unstable_by_key(|id| Reverse(*id));
    Ok(trim_page(found, range))
}

fn inbox_page_of_kind(
    tx: &mut Tx<'_>,
    user: UserId,
    conversation: Option<i64>,
    kind: MessageEventKind,
    range: &PageRange,
) -> Result<Vec<i64>, Fault> {
    let mut keys: Vec<SqlValue<'_>> = vec![user.into(), kind.to_number().into()];
    keys.extend(conversation.map(SqlValue::from));
    let sql = match conversation {
        None => directional_query!(
            "SELECT event_id FROM dm_inbox WHERE user_id = $1 AND kind = $2 AND event_id > $3 \
             AND event_id < $4 ORDER BY event_id",
            " LIMIT $5"
        ),
        Some(_) => directional_query!(
            "SELECT event_id FROM dm_inbox WHERE user_id = $1 AND kind = $2 \
             AND conversation_id = $3 AND event_id > $4 AND event_id < $5 ORDER BY event_id",
            " LIMIT $6"
        ),
    };
    query_page(tx, &keys, range, sql)
}

/// Pairs of event and conversation, newest first, of all kinds and conversations.
pub fn inbox_with_conversations(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<IdPair>, Fault> {
    let mut found: Vec<IdPair> = Vec::new();
    for kind in MessageEventKind::ALL {
        let sql = directional_query!(
            "SELECT event_id, conversation_id FROM dm_inbox WHERE user_id = $1 AND kind = $2 AND event_id > $3 \
             AND event_id < $4 ORDER BY event_id",
            " LIMIT $5"
        );
        found.extend(query_page::<IdPair>(tx, &[user.into(), kind.to_number().into()], range, sql)?);
    }
    found.sort_unstable_by_key(|(event, _)| Reverse(*event));
    Ok(trim_page(found, range))
}

/// How many conversations of `$1` have a newest message that someone else wrote and that is unread, among the user's
/// newest 100 messages.
pub(crate) const UNREAD_CONVERSATIONS_SQL: &str = "SELECT COUNT(*) FROM (SELECT conversation_id, MAX(event_id) AS newest \
    FROM (SELECT conversation_id, event_id FROM dm_inbox WHERE user_id = $1 AND kind = 0 \
    ORDER BY event_id DESC LIMIT 100) AS recent GROUP BY conversation_id) AS latest \
    JOIN dm_event e ON e.id = latest.newest \
    JOIN dm_participant p ON p.conversation_id = latest.conversation_id AND p.user_id = $1 \
    WHERE e.sender_id <> $1 AND latest.newest > p.read_id";

/// The first message before an id with which the user has been sent a medium, or has sent it.
pub fn find_message_with_media(tx: &mut Tx<'_>, user: UserId, media: MediaId, end: i64) -> Result<Option<i64>, Fault> {
    // A medium is older than the messages that it is in.
    let sql = "SELECT i.event_id FROM dm_inbox i JOIN dm_event e ON e.id = i.event_id \
               WHERE i.user_id = $1 AND i.kind = 0 AND i.event_id > $2 AND i.event_id < $3 AND e.media_id = $2 \
               ORDER BY i.event_id LIMIT 1";
    tx.query_row(sql, &[user.into(), media.into(), end.into()])
}

/// Messages of others since the one that the user has read or written last; at most 100.
pub fn count_unread(tx: &mut Tx<'_>, user: UserId, conversation: i64) -> Result<usize, Fault> {
    let sql = "SELECT e.sender_id FROM dm_inbox i JOIN dm_event e ON e.id = i.event_id \
               JOIN dm_participant p ON p.conversation_id = i.conversation_id AND p.user_id = i.user_id \
               WHERE i.user_id = $1 AND i.conversation_id = $2 AND i.kind = 0 AND i.event_id > p.read_id \
               ORDER BY i.event_id DESC LIMIT 100";
    let senders: Vec<UserId> = tx.query_rows(sql, &[user.into(), conversation.into()])?;
    Ok(senders.iter().take_while(|sender| **sender != user).count())
}

/// Those of some users who have sent the reader a message in a direct conversation, which one of the two still has.
pub fn filter_correspondents(tx: &mut Tx<'_>, users: &[UserId], reader: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT u.id FROM users u, dm_conversation c WHERE u.id = $1 AND c.lower_id > 0 \
               AND c.lower_id = CASE WHEN u.id < $2 THEN u.id ELSE $2 END \
               AND c.higher_id = CASE WHEN u.id < $2 THEN $2 ELSE u.id END AND EXISTS \
               (SELECT 1 FROM dm_inbox i JOIN dm_event e ON e.id = i.event_id \
               WHERE i.user_id IN (u.id, $2) AND i.conversation_id = c.id AND i.kind = 0 AND e.sender_id = u.id)";
    tx.query_by_ids(sql, users, &[reader.into()])
}

pub fn newest_message(tx: &mut Tx<'_>, user: UserId, conversation: i64) -> Result<Option<i64>, Fault> {
    let range = PageRange::newest(1);
    let found = inbox_page(tx, user, Some(conversation), &[MessageEventKind::Message], &range)?;
    Ok(found.first().copied())
}

/// Returns false if the user has no copy. The event is deleted with its last copy.
pub fn remove_copy(tx: &mut Tx<'_>, user: UserId, event: &MessageEvent) -> Result<bool, Fault> {
    let sql = "DELETE FROM dm_inbox WHERE user_id = $1 AND kind = $2 AND event_id = $3";
    let args = [user.into(), event.kind.to_number().into(), event.id.into()];
    if tx.execute(sql, &args)? == 0 {
        return Ok(false);
    }
    let sql = "UPDATE dm_event SET copies = copies - 1 WHERE id = $1";
    tx.execute_later(sql, &[event.id.into()])?;
    delete_if_unreferenced(tx, event.id)?;
    Ok(true)
}

/// Deletes an event without copies, and releases its media.
fn delete_if_unreferenced(tx: &mut Tx<'_>, event: i64) -> Result<(), Fault> {
    let sql = "SELECT media_id FROM dm_event WHERE id = $1 AND copies <= 0";
    let Some(media) = tx.query_row::<Option<_>>(sql, &[event.into()])? else {
        return Ok(());
    };
    tx.execute_later("DELETE FROM dm_event WHERE id = $1", &[event.into()])?;
    let now = tx.now();
    media.map_or(Ok(()), |media| crate::media::remove_message_use(tx, media, now))
}

/// Removes a user from a conversation with all their copies; returns false if they are not a participant. The cost is
/// proportional to the number of copies.
pub fn remove_participant(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<bool, Fault> {
    let args = [user.into(), conversation.into()];
    let sql = "DELETE FROM dm_participant WHERE user_id = $1 AND conversation_id = $2";
    if tx.execute(sql, &args)? == 0 {
        return Ok(false);
    }
    let sql = "UPDATE dm_event SET copies = copies - 1 WHERE id IN \
               (SELECT event_id FROM dm_inbox WHERE user_id = $1 AND conversation_id = $2)";
    tx.execute_later(sql, &args)?;
    let sql = "SELECT e.id FROM dm_inbox i JOIN dm_event e ON e.id = i.event_id \
               WHERE i.user_id = $1 AND i.conversation_id = $2 AND e.copies <= 0";
    let unreferenced = tx.query_rows(sql, &args)?;
    let sql = "DELETE FROM dm_inbox WHERE user_id = $1 AND conversation_id = $2";
    tx.execute_later(sql, &args)?;
    unreferenced.into_iter().try_for_each(|event| delete_if_unreferenced(tx, event)).map(|()| true)
}
