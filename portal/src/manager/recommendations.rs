//! Recommendations: what they would change, and applying or dismissing them.

use ads_engine::{OperationOutput, RecordView, RequiredRole, Resource, parse_record_id};
use std::cmp::Reverse;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads::resources::recommendations::RECOMMENDATION;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads_delivery::recommendations;
use base::refusal::AdsProblem;
use base::{Error, PostId};
use pages::manager::{ActionButton, AdsManagerPage, DataTable, EmptyState, PageBlock, TableCell, TableRow};
use serde_json::{Map, Value, json};
use store::Tx;

use super::choices::instrument_label;
use super::forms::{FormDefinition, SubmittedFields};
use super::labels::{format_money, post_excerpt, record_name, value_label, word_label};
use super::request::{ManagerAccount, json_array, json_text};
use super::tables::text_column;

/// The entity types of nodes, and their resources.
static NODE_KINDS: &[(&str, &Resource)] = &[
    ("campaigns", &CAMPAIGN),
    ("line_items", &LINE_ITEM),
    ("promoted_posts", &PROMOTED_POST),
    ("targeting_criteria", &TARGETING_CRITERION),
];

fn is_available(ctx: &ManagerAccount) -> bool {
    ctx.may_call("GET", "recommendations") && !ctx.record.has("refused", "RECOMMENDATIONS")
}

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let mut blocks = Vec::new();
    if is_available(ctx) {
        for one in &ctx.list(tx, &RECOMMENDATION, Value::Null)?.rows {
            blocks.push(recommendation_block(tx, ctx, one)?);
        }
    }
    if blocks.is_empty() {
        blocks.push(PageBlock::Empty(EmptyState::new(
            "No recommendations",
            "Campaigns are reviewed daily. Suggested improvements appear here and can be applied with one click.",
            None,
        )));
    }
    Ok(AdsManagerPage {
        heading: "Recommendations".to_owned(),
        lead: "Suggested improvements, based on recent statistics.".to_owned(),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn recommendation_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, one: &RecordView) -> Result<PageBlock, Error> {
    let mut rows = Vec::new();
    for node in changed_nodes(one.get("changes").unwrap_or(&Value::Null)) {
        rows.extend(change_rows(tx, ctx, node)?);
    }
    let id = one.id();
    let pays = json!({ "funding_instrument_ids": [one.rendered_text("funding_instrument_id")] });
    let pays = ctx.list(tx, &FUNDING_INSTRUMENT, pays)?;
    let pays = pays.rows.first().map(instrument_label);
    let act = |text, act: &str| ActionButton {
        text,
        path: ctx.page_path(&format!("/recommendations/{id}/{act}")),
        hidden: vec![("next", ctx.page_path("/recommendations"))],
        is_primary: act == "apply",
    };
    let acts = vec![act("Apply", "apply"), act("Dismiss", "dismiss")];
    Ok(PageBlock::Table(DataTable {
        title: one.text("message").to_owned(),
        lead: match pays {
            Some(pays) => format!("For campaigns funded by {pays}. Applying it makes these changes:"),
            None => "Applying it makes these changes:".to_owned(),
        },
        columns: ["Change", "Current", "New"].map(text_column).into(),
        rows,
        action_buttons: if RequiredRole::CampaignWriter.allows_role(ctx.role) { acts } else { Vec::new() },
        ..DataTable::default()
    }))
}

/// The nodes of a tree that have an operation.
fn changed_nodes(node: &Value) -> Vec<&Value> {
    let nodes = match node {
        Value::Array(nodes) => nodes.as_slice(),
        node => std::slice::from_ref(node),
    };
    let mut all = Vec::new();
    for node in nodes {
        if node.get("operation_type").is_some_and(Value::is_string) {
            all.push(node);
        }
        for below in json_array(node, "dependent_entities") {
            all.extend(changed_nodes(below));
        }
    }
    all
}

fn node_params(node: &Value) -> Map<String, Value> {
    let params = node.get("params").and_then(Value::as_object);
    params.cloned().unwrap_or_default()
}

fn node_resource(node: &Value) -> Option<&'static Resource> {
    let kind = json_text(node, "entity_type");
    NODE_KINDS.iter().find(|(known, _)| *known == kind).map(|(_, resource)| *resource)
}

fn change_row(what: String, now: String, then: String) -> TableRow {
    TableRow {
        name: what.clone(),
        cells: vec![TableCell::from_text(what), TableCell::from_text(now), TableCell::from_text(then)],
        ..TableRow::default()
    }
}

/// Rows of what changes, its current and its new value.
fn change_rows(tx: &mut Tx<'_>, ctx: &ManagerAccount, node: &Value) -> Result<Vec<TableRow>, Error> {
    let params = node_params(node);
    let word = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let verb = json_text(node, "operation_type");
    let Some(resource) = node_resource(node) else {
        let kind = word_label(json_text(node, "entity_type"));
        return Ok(vec![change_row(kind, "–".to_owned(), word_label(verb))]);
    };
    let now = match word(resource.id.post) {
        "" => None,
        id => match ctx.get(tx, resource, id) {
            Ok(now) => Some(now),
            // It has been deleted since.
            Err(Error::Refused(_)) => None,
            Err(other) => return Err(other),
        },
    };
    if verb.eq_ignore_ascii_case("update") {
        return Ok(changed_fields(resource, &params, now.as_ref()));
    }
    let known = now.as_ref().map(|now| now.rendered_text("line_item_id")).filter(|_| word("line_item_id").is_empty());
    let item = match known.unwrap_or_else(|| word("line_item_id").to_owned()).as_str() {
        "" => String::new(),
        item => record_name(&ctx.get(tx, &LINE_ITEM, item)?),
    };
    if resource.name == PROMOTED_POST.name {
        return promoted_post_rows(tx, &params, now.as_ref(), &item);
    }
    let criterion = |kind: &str, value: &str| format!("{}: {value}", word_label(kind));
    let what = format!("{item}: targeting");
    let (kind, value) = ("targeting_type", "targeting_value");
    Ok(vec![if verb.eq_ignore_ascii_case("delete") {
        let text = |name| now.as_ref().map_or("", |now| now.text(name));
        change_row(what, criterion(text(kind), text(value)), "Not targeted".to_owned())
    } else {
        change_row(what, "–".to_owned(), criterion(word(kind), word(value)))
    }])
}

fn promoted_post_rows(
    tx: &mut Tx<'_>,
    params: &Map<String, Value>,
    now: Option<&RecordView>,
    item: &str,
) -> Result<Vec<TableRow>, Error> {
    let ids = match now {
        Some(now) => now.int("post_id").map(PostId::new).into_iter().collect(),
        None => node_posts(params),
    };
    let posts = store::posts::find_by_ids(tx, &ids)?;
    let rows = ids.iter().map(|id| {
        let post = posts.iter().find(|post| post.id == *id);
        let text = post.map_or_else(|| format!("Post {id}"), |post| post_excerpt(post, 140));
        let what = format!("{item}: promoted post");
        match now {
            Some(_) => change_row(what, text, "Not promoted".to_owned()),
            None => change_row(what, "–".to_owned(), text),
        }
    });
    Ok(rows.collect())
}

fn node_posts(params: &Map<String, Value>) -> Vec<PostId> {
    let posts = params.get("post_ids").and_then(Value::as_array).into_iter().flatten();
    posts.filter_map(|post| PostId::parse(post.as_str()?)).collect()
}

/// What is changed, with its current and its new value.
fn changed_fields(resource: &Resource, params: &Map<String, Value>, now: Option<&RecordView>) -> Vec<TableRow> {
    let currency = now.map_or("", |now| now.text("currency"));
    let owner = match now {
        Some(now) if resource.name == LINE_ITEM.name || !now.text("name").is_empty() => record_name(now),
        _ => word_label(resource.path),
    };
    let written = |name: &str, value: Option<&Value>| match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::Number(micros)) if name.ends_with("_micro") => format_money(micros.as_i64().unwrap_or(0), currency),
        Some(value) => value_label(name, value),
    };
    let others = params.iter().filter(|(name, _)| *name != resource.id.post);
    let rows = others.map(|(name, new)| {
        let plain = word_label(&name.replace("_amount_local_micro", ""));
        let before = now.and_then(|now| now.rendered(name));
        change_row(format!("{owner}: {plain}"), written(name, before.as_ref()), written(name, Some(new)))
    });
    rows.collect()
}

pub(super) fn action_form(ctx: &ManagerAccount, id: &str, act: &str) -> FormDefinition {
    let applies = act == "apply";
    FormDefinition {
        ids: vec![id.to_owned()],
        submit: "",
        required_access: Some(RequiredRole::CampaignWriter),
        handler: Some(if applies { apply } else { dismiss }),
        done_code: if applies { "applied" } else { "dismissed" },
        ..FormDefinition::new(ctx, "/recommendations")
    }
}

/// Applies the whole tree or nothing, deletions first.
fn apply(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    _: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let id = form.ids.first().map(String::as_str).unwrap_or_default();
    let one = ctx.get(tx, &RECOMMENDATION, id)?;
    if one.text("status") != "PENDING" {
        return Err(no_longer_open());
    }
    let mut nodes = changed_nodes(one.get("changes").unwrap_or(&Value::Null));
    nodes.sort_by_key(|node| Reverse(is_deletion(node)));
    for (kind, _) in NODE_KINDS.iter().filter(|(_, resource)| resource.name == PROMOTED_POST.name) {
        for node in nodes.iter().filter(|node| json_text(node, "entity_type") == *kind) {
            apply_promoted_post(tx, ctx, node)?;
        }
    }
    for (kind, resource) in NODE_KINDS.iter().filter(|(_, resource)| resource.max_batch_items > 0) {
        let same = nodes.iter().filter(|node| json_text(node, "entity_type") == *kind);
        let batch: Vec<Value> = same
            .map(|node| json!({ "operation_type": node.get("operation_type"), "params": node_params(node) }))
            .collect();
        if !batch.is_empty() {
            let path = format!("/12/batch/accounts/{{}}/{}", resource.path);
            ctx.call(tx, ("POST", &path), &[], batch.into())?;
        }
    }
    let mut records = ctx.open_context(tx, RequiredRole::CampaignWriter, true)?;
    recommendations::mark_as_applied(&mut records, one.record.id)?;
    Ok(OperationOutput::default())
}

fn no_longer_open() -> Error {
    AdsProblem::new("ACTION_NOT_ALLOWED", "The recommendation is no longer open").into()
}

fn is_deletion(node: &Value) -> bool {
    json_text(node, "operation_type").eq_ignore_ascii_case("delete")
}

/// Promoted posts have no batch operation.
fn apply_promoted_post(tx: &mut Tx<'_>, ctx: &ManagerAccount, node: &Value) -> Result<(), Error> {
    let params = node_params(node);
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    if is_deletion(node) {
        let id = text(PROMOTED_POST.id.post);
        ctx.call(tx, ("DELETE", "promoted_<posts>/{}"), &[id], Value::Null)?;
        return Ok(());
    }
    let params = json!({ "line_item_id": text("line_item_id"), "post_ids": params.get("post_ids") });
    ctx.call(tx, ("POST", PROMOTED_POST.path), &[], params)?;
    Ok(())
}

fn dismiss(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    _: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let mut records = ctx.open_context(tx, RequiredRole::CampaignWriter, true)?;
    let id = form.ids.first().map(String::as_str).unwrap_or_default();
    let id = parse_record_id(RECOMMENDATION.id_format, "id", id)?;
    if recommendations::dismiss(&mut records, id)? { Ok(OperationOutput::default()) } else { Err(no_longer_open()) }
}
