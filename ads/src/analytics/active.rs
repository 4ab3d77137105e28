//! Entities whose figures changed.

use std::collections::HashMap;

use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Value, json};
use store::ledger::{self, AdEntity};

use super::ask::{ENTITIES, resource, span};
use super::reach::LONG;
use crate::answer::Answer;
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Kind, instant};
use crate::ledger::all;
use crate::listing::exclusive;
use crate::record::Record;
use crate::resources::line_items::LINE_ITEM;

const UNDER: [(&str, &str); 3] = [
    ("campaign_ids", "campaign_id"),
    ("funding_instrument_ids", "funding_instrument_id"),
    ("line_item_ids", "line_item_id"),
];

/// `GET …/active_entities`.
pub(super) fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let mut asked = UNDER.iter().filter(|(name, _)| given.has(name));
    let under = asked.next();
    if let (Some((one, _)), Some((other, _))) = (under, asked.next()) {
        return Err(exclusive(other, one));
    }
    let kind = given.text("entity").unwrap_or_default().to_owned();
    let entity = AdEntity::parse(&kind).filter(|entity| *entity != AdEntity::Account);
    let (Some(entity), Some(of)) = (entity, resource(&kind)) else {
        let message = format!("No activity is told of {kind}");
        return Err(AdsProblem::invalid_parameter("entity", kind, message).into());
    };
    let (from, to) = span(desk, given, LONG)?;
    let account = desk.account_id()?;
    let mut found = ledger::list_active_entities(desk.tx, account, entity, (from, to))?;
    if let Some((name, field)) = under {
        let ids = given.ints(name);
        let own: Vec<i64> = found.iter().map(|active| active.entity_id).collect();
        let above = above(desk, entity, &own, field)?;
        found.retain(|active| {
            let parent = above.get(&active.entity_id);
            parent.is_some_and(|parent| ids.contains(parent))
        });
    }
    let data: Vec<Value> = found
        .iter()
        .map(|active| {
            let names: Vec<&str> = active.groups.iter().map(|group| group.name()).collect();
            json!({
                "entity_id": of.ids.write(active.entity_id),
                "activity_start_time": instant(active.first),
                "activity_end_time": instant(active.last),
                "placements": names,
            })
        })
        .collect();
    let mut answer = Answer::one(&data.into());
    for (name, at) in [("start_time", from), ("end_time", to)] {
        answer.echo.insert(name.to_owned(), instant(at).into());
    }
    let spoken = Kind::Word(ENTITIES).speak(&kind.into(), desk.caller.speech);
    answer.echo.insert("entity".to_owned(), spoken);
    Ok(answer)
}

/// What each of some entities is below, in a field of its own or of its line item.
fn above(
    desk: &mut Desk<'_, '_>,
    entity: AdEntity,
    ids: &[i64],
    field: &'static str,
) -> Result<HashMap<i64, i64>, Error> {
    let Some(of) = resource(entity.name()) else {
        return Ok(HashMap::new());
    };
    if field == format!("{}_id", of.name) {
        return Ok(ids.iter().map(|id| (*id, *id)).collect());
    }
    let records = all(desk.tx, of, ids)?;
    let has = |record: &Record, name: &str| record.of.field(name).is_some();
    let items: Vec<i64> = records
        .values()
        .filter(|record| has(record, "line_item_id"))
        .filter_map(|record| record.int("line_item_id"))
        .collect();
    let items = all(desk.tx, &LINE_ITEM, &items)?;
    let parent = |record: &Record| -> Option<i64> {
        if has(record, "line_item_id") {
            let item = record.int("line_item_id")?;
            return match field {
                "line_item_id" => Some(item),
                _ => items.get(&item)?.int(field),
            };
        }
        record.int(field).filter(|_| has(record, field))
    };
    Ok(records
        .iter()
        .filter_map(|(id, record)| Some((*id, parent(record)?)))
        .collect())
}
