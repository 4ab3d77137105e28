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

pub(crate) fn store(tx: &mut Tx<'_>, desk: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let said = items.iter().filter_map(|item| match item {
        PreparedRecord::Message(said) => Some(&**said),
        _ => None,
    });
    // Archives are sorted newest first, but joins and leaves must be applied in order of time.
    let mut said: Vec<&PreparedMessage> = said.collect();
    said.sort_by_key(|said| said.message.at_ms);
    for said in said {
        let Some(owner) = desk.owner else {
            desk.report
                .skip("message", "nobody is known to own the archive", String::new);
            continue;
        };
        match store_message(tx, desk, owner, said)? {
            InsertOutcome::Added => desk.report.count_stored("message"),
            InsertOutcome::AlreadyExists => desk.report.count_known("message"),
            InsertOutcome::Refused => {
                let of = said.message.conversation.clone();
                let why = "it cannot be told whose conversation it is";
                desk.report.skip("message", why, || of);
            }
        }
    }
    Ok(())
}

fn store_message(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
    owner: UserId,
    prepared: &PreparedMessage,
) -> Result<InsertOutcome, Fault> {
    let told = &prepared.message;
    let sender = desk.find_user(told.sender).unwrap_or(owner);
    let people: Vec<UserId> = told.people.iter().filter_map(|id| desk.find_user(Some(*id))).collect();
    let Some(talk) = find_or_create_conversation(tx, desk, owner, &told.conversation)? else {
        return Ok(InsertOutcome::Refused);
    };
    if talk.pair.is_none() {
        let came = match told.happening {
            ConversationEventKind::Said => &[],
            ConversationEventKind::Join | ConversationEventKind::Leave => people.as_slice(),
        };
        let stays = told.happening != ConversationEventKind::Leave;
        for user in came.iter().chain([&sender, &owner]) {
            let gone = !stays && came.contains(user) && *user != owner;
            // A user with messages in the conversation takes part in it by their own account.
            if gone && messages::newest_message(tx, *user, talk.id)?.is_none() {
                messages::remove_participant(tx, talk.id, *user)?;
            } else if !gone {
                messages::add_participant(tx, talk.id, *user)?;
            }
        }
    }
    let id = told.id.unwrap_or_else(|| membership_event_id(told, talk.id));
    let kind = match told.happening {
        ConversationEventKind::Said => 0,
        ConversationEventKind::Join => 1,
        ConversationEventKind::Leave => 2,
    };
    let reading = prepared.draft.compose(&[], false, "");
    let changed = match told.happening {
        ConversationEventKind::Said => String::new(),
        _ => join_ids(&people),
    };
    let event = [
        CellValue::Int(id),
        CellValue::Int(talk.id),
        CellValue::Int(kind),
        CellValue::Int(sender.get()),
        CellValue::Null,
        CellValue::Text(reading.text),
        CellValue::Text(reading.entities),
        CellValue::Null,
        CellValue::Text(String::new()),
        CellValue::Text(String::new()),
        CellValue::Text(changed),
    ];
    let copy = [owner.get(), kind, id, talk.id].map(CellValue::Int);
    insert_row(tx, "dm_event", &event)?;
    desk.track_id(id);
    insert_row(tx, "dm_inbox", &copy)
}

fn insert_row(tx: &mut Tx<'_>, table: &str, row: &[CellValue]) -> Result<InsertOutcome, Fault> {
    match portable_tables::find_table(table) {
        Some(table) => portable_tables::insert_row(tx, table, row),
        None => Err(Fault::new(format!("no table {table} is carried"))),
    }
}

fn join_ids(people: &[UserId]) -> String {
    let ids: Vec<String> = people.iter().map(UserId::to_string).collect();
    ids.join(",")
}

/// Finds or creates the conversation with a name; `None` if the owner does not take part in it.
fn find_or_create_conversation(
    tx: &mut Tx<'_>,
    desk: &mut ImportBatchState,
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
        desk.track_id(id);
        return Ok(is_new.then_some(group));
    };
    let (Some(one), Some(other)) = (desk.find_user(Some(one)), desk.find_user(Some(other))) else {
        return Ok(None);
    };
    if one != owner && other != owner {
        return Ok(None);
    }
    if let Some(known) = messages::find_direct(tx, one, other)? {
        messages::add_participant(tx, known.id, owner)?;
        return Ok(Some(known));
    }
    let talk = DmConversation {
        id: tx.next_id::<()>().get(),
        pair: Some((one.min(other), one.max(other))),
    };
    messages::insert_conversation(tx, &talk)?;
    for user in [one, other] {
        messages::add_participant(tx, talk.id, user)?;
    }
    Ok(Some(talk))
}

/// The two user ids of a one-to-one conversation.
pub(crate) fn parse_pair(name: &str) -> Option<[i64; 2]> {
    let (one, other) = name.split_once('-')?;
    Some([one.parse().ok()?, other.parse().ok()?])
}

/// Changes of participants have no id in an archive: the id is the time, and the low bits
/// distinguish it from others in the same millisecond.
fn membership_event_id(imported: &ArchivedMessage, conversation: i64) -> i64 {
    let mixed = imported.people.iter().fold(conversation, |mixed, id| {
        (mixed ^ id).wrapping_mul(0x2545_f491_4f6c_dd1d)
    });
    first_snowflake_at(Time::from_ms(imported.at_ms)) | ((mixed >> 20) & ID_LOW_BITS)
}
