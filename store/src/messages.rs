//! Direct messages: conversations, participants and events.
//!
//! An event is stored once, and each participant (at most fifty) has a copy of it in an inbox. So a user's messages
//! are read along one index, whatever the number of conversations, and removing a copy does not affect others. Pages
//! read each kind separately and merge, so that filtering never scans skipped rows.

mod inbox;

use std::fmt;

use base::{AppId, Fault, MediaId, PostId, UserId};

use crate::Tx;
use crate::db::{ColumnValue, FromCells, RowCells, insert, insert_new, row, select, stored_enum};

pub(crate) use self::inbox::UNREAD_CONVERSATIONS_SQL;
pub use self::inbox::{
    count_unread, filter_correspondents, find_message_with_media, has_event, inbox_page, inbox_with_conversations,
    newest_message, remove_copy, remove_participant,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmConversation {
    /// Also the public id of a group.
    pub id: i64,
    /// The two users of a direct conversation, lower id first; none for a group.
    pub pair: Option<(UserId, UserId)>,
}

/// The id in the API: `<lower>-<higher>`, or the number of a group.
impl fmt::Display for DmConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pair {
            Some((lower, higher)) => write!(f, "{lower}-{higher}"),
            None => write!(f, "{}", self.id),
        }
    }
}

stored_enum! {
    /// The names are those of the API.
    pub enum MessageEventKind {
        Message = 0 "MessageCreate",
        Join = 1 "ParticipantsJoin",
        Leave = 2 "ParticipantsLeave",
    }
}

impl FromCells for DmConversation {
    fn from_cells(cells: &mut RowCells<'_, '_, '_>) -> Result<Self, Fault> {
        let (id, lower, higher): (i64, UserId, UserId) = cells.read()?;
        let pair = (lower.get() > 0).then_some((lower, higher));
        Ok(Self { id, pair })
    }
}

row! {
    #[derive(Clone, Debug)]
    pub struct MessageEvent from "dm_event e JOIN dm_conversation c ON c.id = e.conversation_id" {
        pub id: i64 as "e.id",
        pub conversation: DmConversation as "c.id, c.lower_id, c.higher_id",
        pub kind: MessageEventKind,
        /// Who sent it, added participants, or left.
        pub sender_id: UserId,
        pub app_id: Option<AppId>,
        /// May be empty for a message with media.
        pub text: String,
        /// Entities as in the API (JSON), or empty.
        pub entities: String,
        pub media_id: Option<MediaId>,
        /// Empty without media.
        pub media_key: String,
        /// Posts that the text links to.
        pub post_ids: Vec<PostId>,
        /// Who joined or left.
        pub participant_ids: Vec<UserId>,
    }
}

pub fn find_direct(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<Option<DmConversation>, Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation \
               WHERE lower_id = $1 AND higher_id = $2 AND lower_id > 0";
    let args = [one.min(other).into(), one.max(other).into()];
    tx.query_row(sql, &args)
}

pub fn find_group(tx: &mut Tx<'_>, id: i64) -> Result<Option<DmConversation>, Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation WHERE id = $1 AND lower_id = 0";
    tx.query_row(sql, &[id.into()])
}

/// Locks a conversation until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock_conversation(tx: &mut Tx<'_>, conversation: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM dm_conversation WHERE id = $1 FOR UPDATE", &[conversation.into()])
}

/// Returns false if the two users already have a conversation.
pub fn insert_conversation(tx: &mut Tx<'_>, conversation: &DmConversation) -> Result<bool, Fault> {
    let nobody = (UserId::new(0), UserId::new(0));
    let (lower, higher) = conversation.pair.unwrap_or(nobody);
    insert_new!(tx, "dm_conversation", id = conversation.id, lower_id = lower, higher_id = higher)
}

/// Returns false if the user is already a participant.
pub fn add_participant(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    insert_new!(tx, "dm_participant", conversation_id = conversation, user_id = user, id = id)
}

pub fn is_participant(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM dm_participant WHERE conversation_id = $1 AND user_id = $2";
    tx.row_exists(sql, &[conversation.into(), user.into()])
}

/// Participants with the last event they have read, in the order of joining.
pub fn list_participants(tx: &mut Tx<'_>, conversation: i64) -> Result<Vec<(UserId, i64)>, Fault> {
    let sql = "SELECT user_id, read_id, id FROM dm_participant WHERE conversation_id = $1";
    let mut found: Vec<(UserId, i64, i64)> = tx.query_rows(sql, &[conversation.into()])?;
    found.sort_unstable_by_key(|(_, _, id)| *id);
    Ok(found.into_iter().map(|(user, read, _)| (user, read)).collect())
}

/// Pairs of conversation and participant, in the order of joining.
pub fn participants_of(tx: &mut Tx<'_>, conversations: &[i64]) -> Result<Vec<(i64, UserId)>, Fault> {
    let sql = "SELECT conversation_id, user_id, id FROM dm_participant WHERE conversation_id = $1";
    let mut found: Vec<(i64, UserId, i64)> = tx.query_by_keys(sql, conversations, &[])?;
    found.sort_unstable_by_key(|(_, _, id)| *id);
    Ok(found.into_iter().map(|(conversation, user, _)| (conversation, user)).collect())
}

/// The last event that a participant has read; 0 if there is none.
pub fn find_last_read(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<i64, Fault> {
    let sql = "SELECT read_id FROM dm_participant WHERE conversation_id = $1 AND user_id = $2";
    Ok(tx.query_row(sql, &[conversation.into(), user.into()])?.unwrap_or(0))
}

/// Returns false if the participant had already read up to the event.
pub fn set_last_read(tx: &mut Tx<'_>, conversation: i64, user: UserId, event: i64) -> Result<bool, Fault> {
    let sql = "UPDATE dm_participant SET read_id = $1 WHERE conversation_id = $2 AND user_id = $3 AND read_id < $1";
    Ok(tx.execute(sql, &[event.into(), conversation.into(), user.into()])? > 0)
}

/// Also adds a copy for each reader.
pub fn insert_event(tx: &mut Tx<'_>, event: &MessageEvent, readers: &[UserId]) -> Result<(), Fault> {
    let copies = i64::try_from(readers.len()).unwrap_or(i64::MAX);
    insert!(
        tx,
        "dm_event",
        id = event.id,
        conversation_id = event.conversation.id,
        kind = event.kind,
        sender_id = event.sender_id,
        app_id = event.app_id,
        text = &event.text,
        entities = &event.entities,
        media_id = event.media_id,
        media_key = &event.media_key,
        post_ids = event.post_ids.to_value(),
        participant_ids = event.participant_ids.to_value(),
        copies = copies
    )?;
    inbox::insert_copies(tx, event, readers)
}

pub fn find_event(tx: &mut Tx<'_>, id: i64) -> Result<Option<MessageEvent>, Fault> {
    tx.query_row(select!(MessageEvent, "WHERE e.id = $1"), &[id.into()])
}

/// In no particular order; unknown ids are skipped.
pub fn find_events(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<MessageEvent>, Fault> {
    tx.query_by_keys(select!(MessageEvent, "WHERE e.id = $1"), ids, &[])
}
