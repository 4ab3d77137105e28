//! Direct messages: conversations, participants and events.
//!
//! An event is stored once, and each participant (at most fifty) has a copy of it in an inbox. So a user's messages
//! are read along one index, whatever the number of conversations, and removing a copy does not affect others. Pages
//! read each kind separately and merge, so that filtering never scans skipped rows.

mod inbox;

use std::fmt;

use base::id::marker;
use base::{AppId, Fault, Id, PostId, UserId};

use crate::Tx;
use crate::db::SqlRow;
use crate::db::stored_enum;

pub use self::inbox::{has_event, inbox_page, newest_message, remove_copy, remove_participant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmConversation {
    /// Also the public id of a group.
    pub id: i64,
    /// The two users of a direct conversation, lower id first; none for a group.
    pub pair: Option<(UserId, UserId)>,
}

impl DmConversation {
    fn from_ids(id: i64, lower: UserId, higher: UserId) -> Self {
        let pair = (lower.get() > 0).then_some((lower, higher));
        Self { id, pair }
    }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageEventKind {
    Message,
    Join,
    Leave,
}

impl MessageEventKind {
    pub const ALL: [Self; 3] = [Self::Message, Self::Join, Self::Leave];

    /// The name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "MessageCreate",
            Self::Join => "ParticipantsJoin",
            Self::Leave => "ParticipantsLeave",
        }
    }
}

stored_enum!(MessageEventKind "message event kind" { Message = 0, Join = 1, Leave = 2 });

#[derive(Clone, Debug)]
pub struct MessageEvent {
    pub id: i64,
    pub conversation: DmConversation,
    pub kind: MessageEventKind,
    /// Who sent it, added participants, or left.
    pub sender_id: UserId,
    pub app_id: Option<AppId>,
    /// May be empty for a message with media.
    pub text: String,
    /// Entities as in the API (JSON), or empty.
    pub entities: String,
    pub media_id: Option<Id<marker::MediaMarker>>,
    /// Empty without media.
    pub media_key: String,
    /// Posts that the text links to.
    pub post_ids: Vec<PostId>,
    /// Who joined or left.
    pub participant_ids: Vec<UserId>,
}

macro_rules! event {
    ($after:literal) => {
        concat!(
            "SELECT e.id, e.conversation_id, c.lower_id, c.higher_id, e.kind, e.sender_id, \
             e.app_id, e.text, e.entities, e.media_id, e.media_key, e.post_ids, e.participant_ids \
             FROM dm_event e JOIN dm_conversation c ON c.id = e.conversation_id ",
            $after
        )
    };
}

fn event_from_row(row: &SqlRow<'_, '_>) -> Result<MessageEvent, Fault> {
    Ok(MessageEvent {
        id: row.int(0)?,
        conversation: DmConversation::from_ids(row.int(1)?, row.id(2)?, row.id(3)?),
        kind: MessageEventKind::from_number(row.int(4)?)?,
        sender_id: row.id(5)?,
        app_id: row.opt_id(6)?,
        text: row.text(7)?,
        entities: row.text(8)?,
        media_id: row.opt_id(9)?,
        media_key: row.text(10)?,
        post_ids: parse_ids(&row.text(11)?),
        participant_ids: parse_ids(&row.text(12)?),
    })
}

fn parse_ids<K>(text: &str) -> Vec<Id<K>> {
    text.split(',').filter_map(Id::parse).collect()
}

fn join_ids<K>(ids: &[Id<K>]) -> String {
    let ids: Vec<String> = ids.iter().map(Id::to_string).collect();
    ids.join(",")
}

pub fn find_direct(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<Option<DmConversation>, Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation \
               WHERE lower_id = $1 AND higher_id = $2 AND lower_id > 0";
    let args = [one.min(other).into(), one.max(other).into()];
    tx.query_row(sql, &args, conversation_from_row)
}

pub fn find_group(tx: &mut Tx<'_>, id: i64) -> Result<Option<DmConversation>, Fault> {
    let sql = "SELECT id, lower_id, higher_id FROM dm_conversation WHERE id = $1 AND lower_id = 0";
    tx.query_row(sql, &[id.into()], conversation_from_row)
}

fn conversation_from_row(row: &SqlRow<'_, '_>) -> Result<DmConversation, Fault> {
    Ok(DmConversation::from_ids(row.int(0)?, row.id(1)?, row.id(2)?))
}

/// Locks a conversation until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock_conversation(tx: &mut Tx<'_>, conversation: i64) -> Result<(), Fault> {
    tx.lock_row("SELECT id FROM dm_conversation WHERE id = $1 FOR UPDATE", &[conversation.into()])
}

/// Returns false if the two users already have a conversation.
pub fn insert_conversation(tx: &mut Tx<'_>, conversation: &DmConversation) -> Result<bool, Fault> {
    let sql = "INSERT INTO dm_conversation (id, lower_id, higher_id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    let nobody = (UserId::new(0), UserId::new(0));
    let (lower, higher) = conversation.pair.unwrap_or(nobody);
    let args = [conversation.id.into(), lower.into(), higher.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Returns false if the user is already a participant.
pub fn add_participant(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "INSERT INTO dm_participant (conversation_id, user_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    let id = tx.next_id::<()>();
    Ok(tx.execute(sql, &[conversation.into(), user.into(), id.into()])? > 0)
}

pub fn is_participant(tx: &mut Tx<'_>, conversation: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM dm_participant WHERE conversation_id = $1 AND user_id = $2";
    tx.row_exists(sql, &[conversation.into(), user.into()])
}

/// Participants with the last event they have read, in the order of joining.
pub fn list_participants(tx: &mut Tx<'_>, conversation: i64) -> Result<Vec<(UserId, i64)>, Fault> {
    let sql = "SELECT user_id, read_id, id FROM dm_participant WHERE conversation_id = $1";
    let mut found = tx.query_rows(sql, &[conversation.into()], |row| Ok((row.int(2)?, (row.id(0)?, row.int(1)?))))?;
    found.sort_unstable_by_key(|(id, _)| *id);
    Ok(found.into_iter().map(|(_, participant)| participant).collect())
}

/// Returns false if the participant had already read up to the event.
pub fn set_last_read(tx: &mut Tx<'_>, conversation: i64, user: UserId, event: i64) -> Result<bool, Fault> {
    let sql = "UPDATE dm_participant SET read_id = $1 \
               WHERE conversation_id = $2 AND user_id = $3 AND read_id < $1";
    Ok(tx.execute(sql, &[event.into(), conversation.into(), user.into()])? > 0)
}

/// Also adds a copy for each reader.
pub fn insert_event(tx: &mut Tx<'_>, event: &MessageEvent, readers: &[UserId]) -> Result<(), Fault> {
    let sql = "INSERT INTO dm_event (id, conversation_id, kind, sender_id, app_id, text, entities, \
               media_id, media_key, post_ids, participant_ids, copies) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let copies = i64::try_from(readers.len()).unwrap_or(i64::MAX);
    let (posts, people) = (join_ids(&event.post_ids), join_ids(&event.participant_ids));
    let args = [
        event.id.into(),
        event.conversation.id.into(),
        event.kind.to_number().into(),
        event.sender_id.into(),
        event.app_id.into(),
        (&event.text).into(),
        (&event.entities).into(),
        event.media_id.into(),
        (&event.media_key).into(),
        (&posts).into(),
        (&people).into(),
        copies.into(),
    ];
    tx.execute(sql, &args)?;
    inbox::insert_copies(tx, event, readers)
}

pub fn find_event(tx: &mut Tx<'_>, id: i64) -> Result<Option<MessageEvent>, Fault> {
    tx.query_row(event!("WHERE e.id = $1"), &[id.into()], event_from_row)
}

/// In no particular order; unknown ids are skipped.
pub fn find_events(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<MessageEvent>, Fault> {
    tx.query_by_keys(event!("WHERE e.id = $1"), ids, &[], event_from_row)
}
