//! Entities whose statistics changed in a period.

use std::collections::HashMap;

use ads::resources::line_items::LINE_ITEM;
use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::listing::exclusive_params;
use ads_engine::{AccountContext, AdsRecord, Kind, OperationOutput, ParsedParams, Resource};
use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Value, json};
use store::ledger::{self, AdEntity};

use super::mark_simulated;
use super::reach::JOB_MAX_DAYS;
use super::stats_query::{ENTITIES, entity_resource, parse_time_window};
use crate::ledger::records_by_ids;

const PARENT_FILTERS: [(&str, &str); 3] = [
    ("campaign_ids", "campaign_id"),
    ("funding_instrument_ids", "funding_instrument_id"),
    ("line_item_ids", "line_item_id"),
];

pub(super) fn list(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let mut filters = PARENT_FILTERS.iter().filter(|(name, _)| params.has(name));
    let under = filters.next();
    if let (Some((one, _)), Some((other, _))) = (under, filters.next()) {
        return Err(exclusive_params(other, one));
    }
    let kind = params.text("entity").unwrap_or_default().to_owned();
    let entity = AdEntity::parse(&kind).filter(|entity| *entity != AdEntity::Account);
    let (Some(entity), Some(resource)) = (entity, entity_resource(&kind)) else {
        let message = format!("No activity is told of {kind}");
        return Err(AdsProblem::invalid_parameter("entity", kind, message).into());
    };
    let (from, to) = parse_time_window(ctx, params, JOB_MAX_DAYS)?;
    let account = ctx.account_id()?;
    let mut found = ledger::list_active_entities(ctx.tx, account, entity, (from, to))?;
    if let Some((name, field)) = under {
        let ids = params.ints(name);
        let own: Vec<i64> = found.iter().map(|active| active.entity_id).collect();
        let ancestors = ids_above(ctx, resource, field, &ids)?;
        let above = parent_ids(ctx, entity, &own, field)?;
        found.retain(|active| {
            let parent = above.get(&active.entity_id);
            parent.is_some_and(|parent| ids.contains(parent)) || ancestors.contains(&active.entity_id)
        });
    }
    let data: Vec<Value> = found
        .iter()
        .map(|active| {
            let names: Vec<&str> = active.groups.iter().map(|group| group.name()).collect();
            json!({
                "entity_id": resource.id_format.format(active.entity_id),
                "activity_start_time": format_time(active.first),
                "activity_end_time": format_time(active.last),
                "placements": names,
            })
        })
        .collect();
    let mut output = OperationOutput::from_value(data.into());
    mark_simulated(ctx, &mut output, (from, to))?;
    for (name, at) in [("start_time", from), ("end_time", to)] {
        output.echo_params.insert(name.to_owned(), format_time(at).into());
    }
    let entity = Kind::word(ENTITIES).render_value(&kind.into(), ctx.caller.vocabulary);
    output.echo_params.insert("entity".to_owned(), entity);
    Ok(output)
}

/// The entities above those of the filter, such as the funding instruments of campaigns; none if there is no such level.
fn ids_above(
    ctx: &mut AccountContext<'_, '_>,
    resource: &Resource,
    field: &str,
    ids: &[i64],
) -> Result<Vec<i64>, Error> {
    let above = format!("{}_id", resource.name);
    let filter = entity_resource(&field.trim_end_matches("_id").to_ascii_uppercase());
    let Some(filter) = filter.filter(|filter| filter.field(&above).is_some()) else {
        return Ok(Vec::new());
    };
    let records = records_by_ids(ctx.tx, filter, ids)?;
    Ok(records.values().filter_map(|record| record.int(&above)).collect())
}

/// The parent id of each entity, read from a field of its own or of its line item.
fn parent_ids(
    ctx: &mut AccountContext<'_, '_>,
    entity: AdEntity,
    ids: &[i64],
    field: &'static str,
) -> Result<HashMap<i64, i64>, Error> {
    let Some(resource) = entity_resource(entity.name()) else {
        return Ok(HashMap::new());
    };
    if field == format!("{}_id", resource.name) {
        return Ok(ids.iter().map(|id| (*id, *id)).collect());
    }
    let records = records_by_ids(ctx.tx, resource, ids)?;
    let has = |record: &AdsRecord, name: &str| record.resource.field(name).is_some();
    let items: Vec<i64> = records
        .values()
        .filter(|record| has(record, "line_item_id"))
        .filter_map(|record| record.int("line_item_id"))
        .collect();
    let items = records_by_ids(ctx.tx, &LINE_ITEM, &items)?;
    let parent = |record: &AdsRecord| -> Option<i64> {
        if has(record, "line_item_id") {
            let item = record.int("line_item_id")?;
            return match field {
                "line_item_id" => Some(item),
                _ => items.get(&item)?.int(field),
            };
        }
        if has(record, field) { record.int(field) } else { None }
    };
    Ok(records.iter().filter_map(|(id, record)| Some((*id, parent(record)?))).collect())
}
