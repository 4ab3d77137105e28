//! Direct messages of an archive. Only its owner gets a copy of them: other participants have their
//! own, or have deleted it.

use archive::{ArchivedMessage, ConversationEventKind};
use base::id::first_snowflake_at;
use base::{Fault, Time, UserId};
use store::Tx;
use store::messages::{self, DmConversation};
use store::portable_tables::{self, CellValue, InsertOutcome};

use super::batch_state::ImportBatchState;
use crate::reader::{PreparedMessage, PreparedRecord};

/// The bits of an id below its time.
const ID_LOW_BITS: i64 = (1 << 22) - 1;

pub(crate) fn store(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let messages = items.iter().filter_map(|item| match item {
        PreparedRecord::Message(message) => Some(&**message),
        _ => None,
    });
    // Archives are sorted newest first, but joins and leaves must be applied in order of time.
    let mut messages: Vec<&PreparedMessage> = messages.collect();
    messages.sort_by_key(|prepared| prepared.message.at_ms);
    for prepared in messages {
        let Some(owner) = batch.owner else {
            batch.report.skip("message", "the owner of the archive is unknown", String::new);
            continue;
        };
        match store_message(tx, batch, owner, prepared)? {
            InsertOutcome::Added => batch.report.count_stored("message"),
            InsertOutcome::AlreadyExists => batch.report.count_known("message"),
            InsertOutcome::Refused => {
                let conversation = prepared.message.conversation.clone();
                let reason = "its conversation is unknown";
                batch.report.skip("message", reason, || conversation);
            }
        }
    }
    Ok(())
}

fn store_message(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    owner: UserId,
    prepared: &PreparedMessage,
) -> Result<InsertOutcome, Fault> {
    let message = &prepared.message;
    let sender = batch.find_user(message.sender).unwrap_or(owner);
    let people: Vec<UserId> = message.people.iter().filter_map(|id| batch.find_user(Some(*id))).collect();
    let Some(conversation) = find_or_create_conversation(tx, batch, owner, &message.conversation)? else {
        return Ok(InsertOutcome::Refused);
    };
    if conversation.pair.is_none() {
        let changed_users = match message.happening {
            ConversationEventKind::Said => &[],
            ConversationEventKind::Join | ConversationEventKind::Leave => people.as_slice(),
        };
        let is_join = message.happening != ConversationEventKind::Leave;
        for user in changed_users.iter().chain([&sender, &owner]) {
            let leaves = !is_join && changed_users.contains(user) && *user != owner;
            // A user with messages in the conversation takes part in it by their own account.
            if leaves && messages::newest_message(tx, *user, conversation.id)?.is_none() {
                messages::remove_participant(tx, conversation.id, *user)?;
            } else if !leaves {
                messages::add_participant(tx, conversation.id, *user)?;
            }
        }
    }
    let id = message.id.unwrap_or_else(|| membership_event_id(message, conversation.id));
    let kind = match message.happening {
        ConversationEventKind::Said => 0,
        ConversationEventKind::Join => 1,
        ConversationEventKind::Leave => 2,
    };
    let composed = prepared.draft.compose(&[], false, "");
    let changed_ids = match message.happening {
        ConversationEventKind::Said => String::new(),
        _ => join_ids(&people),
    };
    let event = [
        CellValue::Int(id),
        CellValue::Int(conversation.id),
        CellValue::Int(kind),
        CellValue::Int(sender.get()),
        CellValue::Null,
        CellValue::Text(composed.text),
        CellValue::Text(composed.entities),
        CellValue::Null,
        CellValue::Text(String::new()),
        CellValue::Text(String::new()),
        CellValue::Text(changed_ids),
    ];
    let copy = [owner.get(), kind, id, conversation.id].map(CellValue::Int);
    insert_row(tx, "dm_event", &event)?;
    batch.track_id(id);
    insert_row(tx, "dm_inbox", &copy)
}

fn insert_row(tx: &mut Tx<'_>, table: &str, row: &[CellValue]) -> Result<InsertOutcome, Fault> {
    match portable_tables::find_table(table) {
        Some(table) => portable_tables::insert_row(tx, table, row),
        None => Err(Fault::new(format!("there is no portable table {table}"))),
    }
}

fn join_ids(people: &[UserId]) -> String {
    let ids: Vec<String> = people.iter().map(UserId::to_string).collect();
    ids.join(",")
}

/// Finds or creates the conversation with a name; `None` if the owner does not take part in it.
fn find_or_create_conversation(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    owner: UserId,
    name: &str,
) -> Result<Option<DmConversation>, Fault> {
    let Some([one, other]) = parse_pair(name) else {
        let Ok(id) = name.parse() else {
            return Ok(None);
        };
        if let Some(group) = messages::find_group(tx, id)? {
            return Ok(Some(group));
        }
        let group = DmConversation { id, pair: None };
        let is_new = messages::insert_conversation(tx, &group)?;
        batch.track_id(id);
        return Ok(is_new.then_some(group));
    };
    let (Some(one), Some(other)) = (batch.find_user(Some(one)), batch.find_user(Some(other))) else {
        return Ok(None);
    };
    if one != owner && other != owner {
        return Ok(None);
    }
    if let Some(known) = messages::find_direct(tx, one, other)? {
        messages::add_participant(tx, known.id, owner)?;
        return Ok(Some(known));
    }
    let conversation = DmConversation { id: tx.next_id::<()>().get(), pair: Some((one.min(other), one.max(other))) };
    messages::insert_conversation(tx, &conversation)?;
    for user in [one, other] {
        messages::add_participant(tx, conversation.id, user)?;
    }
    Ok(Some(conversation))
}

pub(crate) fn parse_pair(name: &str) -> Option<[i64; 2]> {
    let (one, other) = name.split_once('-')?;
    Some([one.parse().ok()?, other.parse().ok()?])
}

/// Changes of participants have no id in an archive: the id is the time, and the low bits
/// distinguish it from others in the same millisecond.
fn membership_event_id(imported: &ArchivedMessage, conversation: i64) -> i64 {
    let hash = imported.people.iter().fold(conversation, |hash, id| (hash ^ id).wrapping_mul(0x2545_f491_4f6c_dd1d));
    first_snowflake_at(Time::from_ms(imported.at_ms)) | ((hash >> 20) & ID_LOW_BITS)
}
