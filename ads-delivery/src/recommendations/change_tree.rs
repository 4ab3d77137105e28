//! Trees of changes: a node keeps, creates, updates or deletes an entity and has children. The parameters are
//! those of the batch or operation that applies it.

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads_engine::{AccountContext, AdsRecord, RawParam, Resource, parse_value};
use base::Error;
use serde_json::{Map, Value, json};

pub(super) fn unchanged_node(kind: &str, record: &AdsRecord, below: &[Value]) -> Value {
    let id = record.resource.id.post;
    json!({
        "entity_type": kind,
        "operation_type": null,
        "params": { id: record.formatted_id() },
        "dependent_entities": below,
    })
}

pub(super) fn change_node(kind: &str, verb: &str, params: &Value) -> Value {
    json!({
        "entity_type": kind,
        "operation_type": verb,
        "params": params,
        "dependent_entities": [],
    })
}

/// Whether every change of a tree has been made.
pub(super) fn is_tree_applied(ctx: &mut AccountContext<'_, '_>, node: &Value) -> Result<bool, Error> {
    let empty = Map::new();
    let params = node.get("params").and_then(Value::as_object);
    let params = params.unwrap_or(&empty);
    let verb = node.get("operation_type").and_then(Value::as_str);
    let kind = node.get("entity_type").and_then(Value::as_str);
    let done = match (kind, verb) {
        (_, None) => true,
        (Some("campaigns"), Some(_)) => has_suggested_values(ctx, &CAMPAIGN, params)?,
        (Some("line_items"), Some(_)) => has_suggested_values(ctx, &LINE_ITEM, params)?,
        (Some("targeting_criteria"), Some("Delete")) => is_deleted(ctx, &TARGETING_CRITERION, params)?,
        (Some("targeting_criteria"), Some(_)) => has_suggested_criterion(ctx, params)?,
        (Some("promoted_posts"), Some("Delete")) => is_deleted(ctx, &PROMOTED_POST, params)?,
        (Some("promoted_posts"), Some(_)) => has_suggested_promotion(ctx, params)?,
        _ => false,
    };
    if !done {
        return Ok(false);
    }
    let below = node.get("dependent_entities").and_then(Value::as_array);
    for one in below.map(Vec::as_slice).unwrap_or_default() {
        if !is_tree_applied(ctx, one)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn id_from_params(resource: &'static Resource, params: &Map<String, Value>) -> i64 {
    let text = params.get(resource.id.post).and_then(Value::as_str);
    resource.id_format.parse(text.unwrap_or_default()).unwrap_or(-1)
}

/// Whether a record has the suggested values.
fn has_suggested_values(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &Map<String, Value>,
) -> Result<bool, Error> {
    let Some(record) = ctx.find_record(resource, id_from_params(resource, params))? else {
        return Ok(false);
    };
    let mut fields = resource.fields.iter();
    Ok(fields.all(|field| match params.get(field.name.post) {
        None => true,
        Some(value) => {
            let read = parse_value(field.kind, field.name.post, RawParam::Json(value));
            read.ok().as_ref() == record.get(field.name.post)
        }
    }))
}

fn is_deleted(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &Map<String, Value>,
) -> Result<bool, Error> {
    let found = ctx.find_record(resource, id_from_params(resource, params))?;
    Ok(found.is_none_or(|found| found.deleted))
}

/// Whether a line item has a criterion like the suggested one.
fn has_suggested_criterion(ctx: &mut AccountContext<'_, '_>, params: &Map<String, Value>) -> Result<bool, Error> {
    let item = id_from_params(&LINE_ITEM, params);
    let all = ctx.list_visible_records(&TARGETING_CRITERION, "line_item_id", item)?;
    let same = |one: &AdsRecord, name: &str| params.get(name).and_then(Value::as_str) == Some(one.text(name));
    let names = ["targeting_type", "targeting_value", "operator_type"];
    Ok(all.iter().any(|one| names.iter().all(|name| same(one, name))))
}

fn has_suggested_promotion(ctx: &mut AccountContext<'_, '_>, params: &Map<String, Value>) -> Result<bool, Error> {
    let item = id_from_params(&LINE_ITEM, params);
    let promoted = ctx.list_visible_records(&PROMOTED_POST, "line_item_id", item)?;
    let posts = params.get("post_ids").and_then(Value::as_array);
    let mut posts = posts.map(Vec::as_slice).unwrap_or_default().iter();
    Ok(posts.all(|post| {
        let post = post.as_str().and_then(|post| post.parse::<i64>().ok());
        promoted.iter().any(|one| one.int("post_id") == post)
    }))
}
