//! What was changed: noted in the transaction of the change, and told to whoever follows the log.

use base::{Error, Vocabulary};
use serde_json::{Map, Value, json};
use store::{ads, event_log};

use crate::change::Change;
use crate::declare::Verb;
use crate::desk::Desk;
use crate::request::CONSOLE;

/// Notes a change.
pub fn note(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    let record = &change.record;
    let verb = match change.verb {
        Verb::Delete => "delete",
        Verb::Create => "create",
        _ => "update",
    };
    let kind = format!("ads_{}.{verb}", record.of.name);
    let body = json!({ "account_id": record.account_id.to_string() }).to_string();
    event_log::append(desk.tx, &kind, desk.caller.user.get(), record.id, &body)?;
    if record.of.history.is_empty() {
        return Ok(());
    }
    let noted = ads::AdsChangeRecord {
        id: desk.tx.next_id::<()>().get(),
        account_id: record.account_id,
        entity: record.of.history.to_owned(),
        entity_id: record.id,
        parent_id: record
            .of
            .field("line_item_id")
            .and_then(|_| record.int("line_item_id")),
        at: desk.now(),
        user_id: desk.caller.user,
        platform: match desk.caller.app {
            Some(app) if app == CONSOLE => "ADS_UI".to_owned(),
            Some(_) => "API_OTHER".to_owned(),
            None => "SYSTEM".to_owned(),
        },
        action: verb.to_uppercase(),
        body: json!({ "entity_data": data(change, false), "changes": changes(change) }).to_string(),
    };
    Ok(ads::insert_change(desk.tx, &noted)?)
}

/// The entity after or before the change, without its id and what is worked out.
fn data(change: &Change, before: bool) -> Map<String, Value> {
    let record = match &change.before {
        Some(was) if before => was,
        _ => &change.record,
    };
    let mut members = record.spoken(Vocabulary::Post);
    members.insert("deleted".to_owned(), record.deleted.into());
    members
}

fn changes(change: &Change) -> Map<String, Value> {
    if change.before.is_none() {
        return Map::new();
    }
    let (old, new) = (data(change, true), data(change, false));
    let differ = new
        .iter()
        .filter(|(name, value)| old.get(*name) != Some(*value));
    differ
        .map(|(name, value)| {
            let old = old.get(name).cloned().unwrap_or_default();
            (name.clone(), json!({ "old": old, "new": value }))
        })
        .collect()
}
