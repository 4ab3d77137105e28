//! Recommendations: what they would change, and applying or dismissing them.

use std::cmp::Reverse;

use ads::resources::accounts::ACCOUNT;
use ads::resources::recommendations::RECOMMENDATION;
use ads_delivery::recommendations;
use ads_engine::{AccountContext, AdsCaller, RequiredRole};
use base::refusal::AdsProblem;
use base::{Error, PostId, Vocabulary};
use pages::manager::{ActionButton, AdsManagerPage, DataTable, EmptyState, PageBlock, TableCell, TableRow};
use serde_json::{Map, Value, json};
use store::Tx;

use super::forms::FormDefinition;
use super::labels::{format_money, value_label, word_label};
use super::line_items::line_item_name;
use super::request::{ManagerAccount, json_array, json_text};
use super::{account, text_column};

/// Entity type, path of one entity, and the parameter with its ID.
const NODE_KINDS: &[(&str, &str, &str)] = &[
    ("campaigns", "campaigns/{}", "campaign_id"),
    ("line_items", "line_items/{}", "line_item_id"),
    ("promoted_posts", "promoted_<posts>/{}", "promoted_post_id"),
    ("targeting_criteria", "targeting_criteria/{}", "targeting_criterion_id"),
];

fn is_available(ctx: &ManagerAccount) -> bool {
    ctx.may_call("GET", "recommendations") && !ctx.record.has("refused", "RECOMMENDATIONS")
}

pub(super) fn list(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<AdsManagerPage, Error> {
    let mut blocks = Vec::new();
    if is_available(ctx) {
        let found = ctx.list_entities(tx, "recommendations", &[])?;
        for one in &found.rows {
            let whole = ctx.get_entity(tx, "recommendations/{}", json_text(one, "id"))?;
            blocks.push(recommendation_block(tx, ctx, &whole)?);
        }
    }
    if blocks.is_empty() {
        blocks.push(PageBlock::Empty(EmptyState {
            title: "No recommendations".to_owned(),
            text: "Campaigns are reviewed daily. Suggested improvements appear here and can be \
                   applied with one click."
                .to_owned(),
            link: None,
        }));
    }
    Ok(AdsManagerPage {
        heading: "Recommendations".to_owned(),
        lead: "Suggested improvements, based on recent statistics.".to_owned(),
        blocks,
        ..AdsManagerPage::default()
    })
}

fn recommendation_block(tx: &mut Tx<'_>, ctx: &ManagerAccount, one: &Value) -> Result<PageBlock, Error> {
    let mut rows = Vec::new();
    for node in &changed_nodes(one.get("changes").unwrap_or(&Value::Null)) {
        rows.extend(change_rows(tx, ctx, node)?);
    }
    let id = json_text(one, "id");
    let instrument = json_text(one, "funding_instrument_id");
    let pays = [("funding_instrument_ids", instrument.to_owned())];
    let pays = ctx.list_entities(tx, "funding_instruments", &pays)?;
    let pays = pays.rows.first().map(account::instrument_label);
    let act = |text, act: &str| ActionButton {
        text,
        path: ctx.page_path(&format!("/recommendations/{id}/{act}")),
        hidden: vec![("next", ctx.page_path("/recommendations"))],
        is_primary: act == "apply",
    };
    let acts = vec![act("Apply", "apply"), act("Dismiss", "dismiss")];
    Ok(PageBlock::Table(DataTable {
        title: json_text(one, "message").to_owned(),
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
fn changed_nodes(node: &Value) -> Vec<Value> {
    let nodes = match node {
        Value::Array(nodes) => nodes.as_slice(),
        node => std::slice::from_ref(node),
    };
    let mut all = Vec::new();
    for node in nodes {
        if node.get("operation_type").is_some_and(Value::is_string) {
            all.push(node.clone());
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

fn node_kind(node: &Value) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let kind = json_text(node, "entity_type");
    NODE_KINDS.iter().find(|(known, ..)| *known == kind)
}

fn change_row(what: String, now: String, then: String) -> TableRow {
    TableRow {
        name: what.clone(),
        cells: vec![TableCell::from_text(what), TableCell::from_text(now), TableCell::from_text(then)],
        action_buttons: Vec::new(),
    }
}

/// Rows of what changes, its current and its new value.
fn change_rows(tx: &mut Tx<'_>, ctx: &ManagerAccount, node: &Value) -> Result<Vec<TableRow>, Error> {
    let params = node_params(node);
    let word = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let Some((kind, path, id)) = node_kind(node) else {
        let (kind, verb) = (json_text(node, "entity_type"), json_text(node, "operation_type"));
        return Ok(vec![change_row(word_label(kind), "–".to_owned(), word_label(verb))]);
    };
    let now = match word(id) {
        "" => Value::Null,
        id => match ctx.get_entity(tx, path, id) {
            Ok(now) => now,
            // It has been deleted since.
            Err(Error::Refused(_)) => Value::Null,
            Err(other) => return Err(other),
        },
    };
    let verb = json_text(node, "operation_type").to_ascii_lowercase();
    if verb == "update" {
        let all = changed_fields(&params, &now, id).into_iter();
        let of = |name: String| format!("{}: {name}", entity_name(kind, &now));
        return Ok(all.map(|(name, now, then)| change_row(of(name), now, then)).collect());
    }
    let item = match (word("line_item_id"), json_text(&now, "line_item_id")) {
        ("", "") => String::new(),
        ("", item) | (item, _) => line_item_name(&ctx.get_entity(tx, "line_items/{}", item)?),
    };
    if *kind == "promoted_posts" {
        return promoted_post_rows(tx, &params, &now, &item);
    }
    let criterion = |kind: &str, value: &str| format!("{}: {value}", word_label(kind));
    let what = format!("{item}: targeting");
    let (kind, value) = ("targeting_type", "targeting_value");
    Ok(vec![if verb == "delete" {
        let gone = criterion(json_text(&now, kind), json_text(&now, value));
        change_row(what, gone, "Not targeted".to_owned())
    } else {
        change_row(what, "–".to_owned(), criterion(word(kind), word(value)))
    }])
}

fn promoted_post_rows(
    tx: &mut Tx<'_>,
    params: &Map<String, Value>,
    now: &Value,
    item: &str,
) -> Result<Vec<TableRow>, Error> {
    let what = format!("{item}: promoted post");
    if !now.is_null() {
        let post = post_text(tx, json_text(now, "post_id"))?;
        return Ok(vec![change_row(what, post, "Not promoted".to_owned())]);
    }
    let mut rows = Vec::new();
    let posts = params.get("post_ids").and_then(Value::as_array);
    for post in posts.into_iter().flatten().filter_map(Value::as_str) {
        let post = post_text(tx, post)?;
        rows.push(change_row(what.clone(), "–".to_owned(), post));
    }
    Ok(rows)
}

fn entity_name(kind: &str, now: &Value) -> String {
    match (kind, json_text(now, "name")) {
        ("line_items", _) => line_item_name(now),
        (_, "") => word_label(kind),
        (_, name) => name.to_owned(),
    }
}

/// Name, current and new value of each changed field.
fn changed_fields(params: &Map<String, Value>, now: &Value, id: &str) -> Vec<(String, String, String)> {
    let currency = json_text(now, "currency");
    let others = params.iter().filter(|(name, _)| *name != id);
    let all = others.map(|(name, new)| {
        let written = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "–".to_owned(),
            Some(Value::Number(micros)) if name.ends_with("_micro") => {
                format_money(micros.as_i64().unwrap_or(0), currency)
            }
            Some(value) => value_label(name, value),
        };
        let plain = word_label(&name.replace("_amount_local_micro", ""));
        (plain, written(now.get(name)), written(Some(new)))
    });
    all.collect()
}

fn post_text(tx: &mut Tx<'_>, post: &str) -> Result<String, Error> {
    let known = match PostId::parse(post) {
        Some(id) => store::posts::find_by_id(tx, id)?,
        None => None,
    };
    let words = known.map(|post| post.text.chars().take(140).collect());
    Ok(words.unwrap_or_else(|| format!("Post {post}")))
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
    plan: &FormDefinition,
    _: &super::route::SubmittedFields,
) -> Result<Value, Error> {
    let id = plan.ids.first().map(String::as_str).unwrap_or_default();
    let one = ctx.get_entity(tx, "recommendations/{}", id)?;
    if json_text(&one, "status") != "PENDING" {
        let message = "The recommendation is no longer open";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    let mut nodes = changed_nodes(one.get("changes").unwrap_or(&Value::Null));
    nodes.sort_by_key(|node| Reverse(json_text(node, "operation_type").eq_ignore_ascii_case("delete")));
    let (posts, others): (Vec<Value>, Vec<Value>) =
        nodes.into_iter().partition(|node| json_text(node, "entity_type") == "promoted_posts");
    for node in &posts {
        apply_promoted_post(tx, ctx, node)?;
    }
    for (kind, ..) in NODE_KINDS.iter().filter(|(kind, ..)| *kind != "promoted_posts") {
        let same = others.iter().filter(|node| json_text(node, "entity_type") == *kind);
        let batch: Vec<Value> = same
            .map(|node| {
                let verb = json_text(node, "operation_type");
                json!({ "operation_type": verb, "params": node_params(node) })
            })
            .collect();
        if !batch.is_empty() {
            let path = format!("/12/batch/accounts/{{}}/{kind}");
            ctx.call_api_json(tx, "POST", &path, &[], batch.into())?;
        }
    }
    let mut records = open_records(tx, ctx)?;
    recommendations::mark_as_applied(&mut records, RECOMMENDATION.id_format.parse("id", id)?)?;
    Ok(one)
}

/// Promoted posts have no batch operation.
fn apply_promoted_post(tx: &mut Tx<'_>, ctx: &ManagerAccount, node: &Value) -> Result<(), Error> {
    let params = node_params(node);
    let word = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    if json_text(node, "operation_type").eq_ignore_ascii_case("delete") {
        let id = word("promoted_post_id");
        ctx.call_api(tx, "DELETE", "promoted_<posts>/{}", &[id], &[])?;
        return Ok(());
    }
    let posts = params.get("post_ids").and_then(Value::as_array);
    let posts: Vec<&str> = posts.into_iter().flatten().filter_map(Value::as_str).collect();
    let pairs = [("line_item_id", word("line_item_id").to_owned()), ("post_ids", posts.join(","))];
    ctx.call_api(tx, "POST", "promoted_<posts>", &[], &pairs)?;
    Ok(())
}

fn open_records<'t, 'c>(tx: &'t mut Tx<'c>, ctx: &ManagerAccount) -> Result<AccountContext<'t, 'c>, Error> {
    let caller =
        AdsCaller { user: ctx.request.user, app: None, speech: Vocabulary::Post, sandbox: ctx.record.flag("sandbox") };
    let mut records = AccountContext::new(tx, caller);
    records.open_account((&ACCOUNT, ctx.record.id), RequiredRole::CampaignWriter, true, false)?;
    Ok(records)
}

fn dismiss(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    plan: &FormDefinition,
    _: &super::route::SubmittedFields,
) -> Result<Value, Error> {
    let mut records = open_records(tx, ctx)?;
    let id = plan.ids.first().map(String::as_str).unwrap_or_default();
    let id = RECOMMENDATION.id_format.parse("id", id)?;
    if recommendations::dismiss(&mut records, id)? {
        return Ok(Value::Null);
    }
    let message = "The recommendation is no longer open";
    Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into())
}
