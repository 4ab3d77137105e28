//! Direct messages of an archive. Only its owner gets a copy of them: other participants have their
//! own, or have deleted it.

use archive::{ArchivedMessage, ConversationEventKind};
use base::id::first_snowflake_at;
use base::{Fault, Time, UserId};
use network::messages::MAX_GROUP_SIZE;
use store::Tx;
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::portable_tables::{self, CellValue, InsertOutcome};
use store::posts::PageRange;
use store::users::{self, UserState};

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
        let reason = match store_message(tx, batch, owner, prepared)? {
            Ok(InsertOutcome::Added) => {
                batch.report.count_stored("message");
                continue;
            }
            Ok(InsertOutcome::AlreadyExists) => {
                batch.report.count_known("message");
                continue;
            }
            Ok(InsertOutcome::Refused) => UNKNOWN_CONVERSATION,
            Err(reason) => reason,
        };
        let conversation = prepared.message.conversation.clone();
        batch.report.skip("message", reason, || conversation);
    }
    Ok(())
}

const UNKNOWN_CONVERSATION: &str = "its conversation is unknown";

/// The inner error tells why the message is left out.
fn store_message(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    owner: UserId,
    prepared: &PreparedMessage,
) -> Result<Result<InsertOutcome, &'static str>, Fault> {
    let message = &prepared.message;
    let sender = batch.find_user(message.sender).unwrap_or(owner);
    let mut people: Vec<UserId> = message.people.iter().filter_map(|id| batch.find_user(Some(*id))).collect();
    let conversation = match find_or_create_conversation(tx, batch, owner, &message.conversation)? {
        Ok(conversation) => conversation,
        Err(reason) => return Ok(Err(reason)),
    };
    if message.happening == ConversationEventKind::Said {
        people.clear();
    }
    if conversation.pair.is_none() {
        let is_leave = message.happening == ConversationEventKind::Leave;
        update_participants(tx, owner, conversation.id, (sender, &people, is_leave))?;
    }
    let id = message.id.unwrap_or_else(|| membership_event_id(message, conversation.id));
    let kind = match message.happening {
        ConversationEventKind::Said => MessageEventKind::Message,
        ConversationEventKind::Join => MessageEventKind::Join,
        ConversationEventKind::Leave => MessageEventKind::Leave,
    };
    let composed = prepared.draft.compose(&[], false, "");
    let changed_ids = join_ids(&people);
    let text = composed.text.clone();
    let kind_number = kind.to_number();
    let event = [
        CellValue::Int(id),
        CellValue::Int(conversation.id),
        CellValue::Int(kind_number),
        CellValue::Int(sender.get()),
        CellValue::Null,
        CellValue::Text(composed.text),
        CellValue::Text(composed.entities),
        CellValue::Null,
        CellValue::Text(String::new()),
        CellValue::Text(String::new()),
        CellValue::Text(changed_ids),
    ];
    let copy = [owner.get(), kind_number, id, conversation.id].map(CellValue::Int);
    if insert_row(tx, "dm_event", &event)? == InsertOutcome::AlreadyExists {
        let known = messages::find_events(tx, &[id])?;
        let is_same = |known: &MessageEvent| {
            // Both of two have got whatever is in their conversation.
            known.conversation == conversation
                && (conversation.pair.is_some()
                    || known.kind == kind
                        && known.sender_id == sender
                        && known.text == text
                        && known.media_key.is_empty()
                        && known.participant_ids == people)
        };
        if !known.iter().any(is_same) {
            return Ok(Err("another message has its id here"));
        }
    }
    batch.track_id(id);
    insert_row(tx, "dm_inbox", &copy).map(Ok)
}

/// Adds who took part in a group, and removes who left it. Those who have an account here are added as the archive's owner
/// could add them, and leave by themselves.
fn update_participants(
    tx: &mut Tx<'_>,
    owner: UserId,
    group: i64,
    (sender, changed_users, is_leave): (UserId, &[UserId], bool),
) -> Result<(), Fault> {
    for user in changed_users.iter().chain([&sender, &owner]) {
        if is_leave && changed_users.contains(user) && *user != owner {
            // A user with a copy of something takes part by their own account.
            let copies = messages::inbox_page(tx, *user, Some(group), &MessageEventKind::ALL, &PageRange::newest(1))?;
            if copies.is_empty() {
                messages::remove_participant(tx, group, *user)?;
            }
        } else if !messages::is_participant(tx, group, *user)? && may_add(tx, owner, group, *user)? {
            messages::add_participant(tx, group, *user)?;
        }
    }
    Ok(())
}

fn may_add(tx: &mut Tx<'_>, owner: UserId, group: i64, user: UserId) -> Result<bool, Fault> {
    let account = users::find_by_id(tx, user)?.filter(|found| found.state != UserState::Placeholder);
    let Some(account) = account.filter(|_| user != owner) else {
        return Ok(true);
    };
    let is_full = messages::list_participants(tx, group)?.len() >= MAX_GROUP_SIZE;
    Ok(!is_full && network::visibility::may_add_to_group(tx, owner, &account)?)
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

/// Finds or creates the conversation with a name; the inner error tells why the owner does not take part in it.
fn find_or_create_conversation(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    owner: UserId,
    name: &str,
) -> Result<Result<DmConversation, &'static str>, Fault> {
    let Some([one, other]) = parse_pair(name) else {
        let Ok(id) = name.parse() else {
            return Ok(Err(UNKNOWN_CONVERSATION));
        };
        if let Some(group) = messages::find_group(tx, id)? {
            let is_participant = messages::is_participant(tx, group.id, owner)?;
            return Ok(if is_participant {
                Ok(group)
            } else {
                Err("the owner of the archive is not in its group here")
            });
        }
        let group = DmConversation { id, pair: None };
        let is_new = messages::insert_conversation(tx, &group)?;
        batch.track_id(id);
        return Ok(if is_new { Ok(group) } else { Err(UNKNOWN_CONVERSATION) });
    };
    let (Some(one), Some(other)) = (batch.find_user(Some(one)), batch.find_user(Some(other))) else {
        return Ok(Err(UNKNOWN_CONVERSATION));
    };
    if one != owner && other != owner {
        return Ok(Err(UNKNOWN_CONVERSATION));
    }
    if let Some(known) = messages::find_direct(tx, one, other)? {
        messages::add_participant(tx, known.id, owner)?;
        return Ok(Ok(known));
    }
    let conversation = DmConversation { id: tx.next_id::<()>().get(), pair: Some((one.min(other), one.max(other))) };
    messages::insert_conversation(tx, &conversation)?;
    for user in [one, other] {
        messages::add_participant(tx, conversation.id, user)?;
    }
    Ok(Ok(conversation))
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
