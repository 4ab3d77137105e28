//! The account history, recorded in the transaction of the change and published to the event log.

use base::{Error, Vocabulary};
use serde_json::{Map, Value, json};
use store::{ads, event_log};

use crate::account_context::AccountContext;
use crate::declaration::ResourceVerb;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;
use crate::request::CONSOLE_APP_ID;

pub fn record_history(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let record = &change.record;
    let verb = match change.verb {
        ResourceVerb::Delete => "delete",
        ResourceVerb::Create => "create",
        _ => "update",
    };
    let kind = format!("ads_{}.{verb}", record.resource.name);
    let body = json!({ "account_id": record.account_id.to_string() }).to_string();
    event_log::append(ctx.tx, &kind, ctx.caller.user.get(), record.id, &body)?;
    if record.resource.history_name.is_empty() {
        return Ok(());
    }
    let noted = ads::AdsChangeRecord {
        id: ctx.tx.next_id::<()>().get(),
        account_id: record.account_id,
        entity: record.resource.history_name.to_owned(),
        entity_id: record.id,
        parent_id: record.resource.field("line_item_id").and_then(|_| record.int("line_item_id")),
        at: ctx.now(),
        user_id: ctx.caller.user,
        platform: match ctx.caller.app {
            Some(app) if app == CONSOLE_APP_ID => "ADS_UI".to_owned(),
            Some(_) => "API_OTHER".to_owned(),
            None => "SYSTEM".to_owned(),
        },
        action: verb.to_uppercase(),
        body: json!({ "entity_data": entity_data(record), "changes": changed_fields(change) }).to_string(),
    };
    Ok(ads::insert_change(ctx.tx, &noted)?)
}

/// Without the id and computed fields.
fn entity_data(record: &AdsRecord) -> Map<String, Value> {
    let mut members = record.render_fields(Vocabulary::Post);
    members.insert("deleted".to_owned(), record.deleted.into());
    members
}

fn changed_fields(change: &RecordChange) -> Map<String, Value> {
    // What is created again has a record from before.
    let Some(before) = change.before.as_ref().filter(|_| change.verb != ResourceVerb::Create) else {
        return Map::new();
    };
    let (old, new) = (entity_data(before), entity_data(&change.record));
    let differ = new.iter().filter(|(name, value)| old.get(*name) != Some(*value));
    differ
        .map(|(name, value)| {
            let old = old.get(name).cloned().unwrap_or_default();
            (name.clone(), json!({ "old": old, "new": value }))
        })
        .collect()
}
