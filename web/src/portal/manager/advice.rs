//! Recommendations: what could do better, what following it would change, and a button that does it.

use std::cmp::Reverse;

use ads::AdsCaller;
use ads::access::RequiredRole;
use ads::account_context::AccountContext as Records;
use ads::recommendations;
use ads::resources::recommendations::RECOMMENDATION;
use base::refusal::AdsProblem;
use base::{Error, PostId, Vocabulary};
use pages::manager::{Act, AdsManager, Block, Cell, Empty, Row, Table};
use serde_json::{Map, Value, json};
use store::Tx;

use super::ask::{Desk, items, text};
use super::forms::Plan;
use super::line_items::name_of;
use super::words::{money, said};
use super::{account, column};

/// What nodes of a tree are about: the kind, the path of one, and the parameter that names it.
const KINDS: &[(&str, &str, &str)] = &[
    ("campaigns", "campaigns/{}", "campaign_id"),
    ("line_items", "line_items/{}", "line_item_id"),
    ("promoted_posts", "promoted_<posts>/{}", "promoted_post_id"),
    (
        "targeting_criteria",
        "targeting_criteria/{}",
        "targeting_criterion_id",
    ),
];

/// Whether there are any for the account.
fn is_open(desk: &Desk) -> bool {
    desk.may("GET", "recommendations") && !desk.account.has("refused", "RECOMMENDATIONS")
}

/// All that are open.
pub(super) fn list(tx: &mut Tx<'_>, desk: &Desk) -> Result<AdsManager, Error> {
    let mut blocks = Vec::new();
    if is_open(desk) {
        let found = desk.list(tx, "recommendations", &[])?;
        for one in &found.rows {
            let whole = desk.one(tx, "recommendations/{}", text(one, "id"))?;
            blocks.push(block(tx, desk, &whole)?);
        }
    }
    if blocks.is_empty() {
        blocks.push(Block::Empty(Empty {
            title: "Nothing to recommend".to_owned(),
            text: "Once a day it is looked at what is promoted. What could do better stands here, \
                   with a button that does it."
                .to_owned(),
            link: None,
        }));
    }
    Ok(AdsManager {
        heading: "Recommendations".to_owned(),
        lead: "What could do better, by the figures of the last days.".to_owned(),
        blocks,
        ..AdsManager::default()
    })
}

fn block(tx: &mut Tx<'_>, desk: &Desk, one: &Value) -> Result<Block, Error> {
    let mut rows = Vec::new();
    for node in &changes(one.get("changes").unwrap_or(&Value::Null)) {
        rows.extend(told(tx, desk, node)?);
    }
    let id = text(one, "id");
    let instrument = text(one, "funding_instrument_id");
    let pays = [("funding_instrument_ids", instrument.to_owned())];
    let pays = desk.list(tx, "funding_instruments", &pays)?;
    let pays = pays.rows.first().map(account::instrument);
    let act = |text, act: &str| Act {
        text,
        path: desk.path(&format!("/recommendations/{id}/{act}")),
        sends: vec![("next", desk.path("/recommendations"))],
        first: act == "apply",
    };
    let acts = vec![act("Apply", "apply"), act("Dismiss", "dismiss")];
    Ok(Block::Table(Table {
        title: text(one, "message").to_owned(),
        lead: match pays {
            Some(pays) => format!("Of what {pays} pays for. Applying it changes this:"),
            None => "Applying it changes this:".to_owned(),
        },
        columns: ["What", "Now", "Then"].map(column).into(),
        rows,
        acts: if RequiredRole::CampaignWriter.allows_role(desk.role) {
            acts
        } else {
            Vec::new()
        },
        ..Table::default()
    }))
}

/// The nodes of a tree that change something.
fn changes(node: &Value) -> Vec<Value> {
    let nodes = match node {
        Value::Array(nodes) => nodes.as_slice(),
        node => std::slice::from_ref(node),
    };
    let mut all = Vec::new();
    for node in nodes {
        if node.get("operation_type").is_some_and(Value::is_string) {
            all.push(node.clone());
        }
        for below in items(node, "dependent_entities") {
            all.extend(changes(below));
        }
    }
    all
}

fn params(node: &Value) -> Map<String, Value> {
    let params = node.get("params").and_then(Value::as_object);
    params.cloned().unwrap_or_default()
}

fn kind_of(node: &Value) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let kind = text(node, "entity_type");
    KINDS.iter().find(|(known, ..)| *known == kind)
}

fn row(what: String, now: String, then: String) -> Row {
    Row {
        name: what.clone(),
        cells: vec![Cell::of(what), Cell::of(now), Cell::of(then)],
        acts: Vec::new(),
    }
}

/// What a node changes, in words: what it is, what it is now, and what it would be.
fn told(tx: &mut Tx<'_>, desk: &Desk, node: &Value) -> Result<Vec<Row>, Error> {
    let params = params(node);
    let word = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let Some((kind, path, id)) = kind_of(node) else {
        let (kind, verb) = (text(node, "entity_type"), text(node, "operation_type"));
        return Ok(vec![row(said(kind), "–".to_owned(), said(verb))]);
    };
    let now = match word(id) {
        "" => Value::Null,
        id => match desk.one(tx, path, id) {
            Ok(now) => now,
            // It is gone meanwhile.
            Err(Error::Refused(_)) => Value::Null,
            Err(other) => return Err(other),
        },
    };
    let verb = text(node, "operation_type").to_ascii_lowercase();
    if verb == "update" {
        let all = updated(&params, &now, id).into_iter();
        let of = |name: String| format!("{}: {name}", called(kind, &now));
        return Ok(all
            .map(|(name, now, then)| row(of(name), now, then))
            .collect());
    }
    let item = match (word("line_item_id"), text(&now, "line_item_id")) {
        ("", "") => String::new(),
        ("", item) | (item, _) => name_of(&desk.one(tx, "line_items/{}", item)?),
    };
    if *kind == "promoted_posts" {
        return posts(tx, &params, &now, &item);
    }
    let criterion = |kind: &str, value: &str| format!("{}: {value}", said(kind));
    let what = format!("{item}: targeting");
    let (kind, value) = ("targeting_type", "targeting_value");
    Ok(vec![if verb == "delete" {
        let gone = criterion(text(&now, kind), text(&now, value));
        row(what, gone, "Not targeted".to_owned())
    } else {
        row(what, "–".to_owned(), criterion(word(kind), word(value)))
    }])
}

/// What changes of the posts of a line item.
fn posts(
    tx: &mut Tx<'_>,
    params: &Map<String, Value>,
    now: &Value,
    item: &str,
) -> Result<Vec<Row>, Error> {
    let what = format!("{item}: a promoted post");
    if !now.is_null() {
        let post = words_of(tx, text(now, "post_id"))?;
        return Ok(vec![row(what, post, "Not promoted".to_owned())]);
    }
    let mut rows = Vec::new();
    let posts = params.get("post_ids").and_then(Value::as_array);
    for post in posts.into_iter().flatten().filter_map(Value::as_str) {
        let post = words_of(tx, post)?;
        rows.push(row(what.clone(), "–".to_owned(), post));
    }
    Ok(rows)
}

fn called(kind: &str, now: &Value) -> String {
    match (kind, text(now, "name")) {
        ("line_items", _) => name_of(now),
        (_, "") => said(kind),
        (_, name) => name.to_owned(),
    }
}

/// What is changed of something: its name, before and after.
fn updated(params: &Map<String, Value>, now: &Value, id: &str) -> Vec<(String, String, String)> {
    let currency = text(now, "currency");
    let others = params.iter().filter(|(name, _)| *name != id);
    let all = others.map(|(name, new)| {
        let written = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "–".to_owned(),
            Some(Value::Number(micros)) if name.ends_with("_micro") => {
                money(micros.as_i64().unwrap_or(0), currency)
            }
            Some(Value::String(word)) if account::is_word(word) => said(word),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let plain = said(&name.replace("_amount_local_micro", ""));
        (plain, written(now.get(name)), written(Some(new)))
    });
    all.collect()
}

fn words_of(tx: &mut Tx<'_>, post: &str) -> Result<String, Error> {
    let known = match PostId::parse(post) {
        Some(id) => store::posts::find_by_id(tx, id)?,
        None => None,
    };
    let words = known.map(|post| post.text.chars().take(140).collect());
    Ok(words.unwrap_or_else(|| format!("Post {post}")))
}

/// The buttons.
pub(super) fn plan(desk: &Desk, id: &str, act: &str) -> Plan {
    let applies = act == "apply";
    Plan {
        ids: vec![id.to_owned()],
        submit: "",
        who: Some(RequiredRole::CampaignWriter),
        work: Some(if applies { apply } else { dismiss }),
        done: if applies { "applied" } else { "dismissed" },
        ..Plan::at(desk, "/recommendations")
    }
}

/// Does everything of the tree, what is deleted first: all of it, or nothing.
fn apply(
    tx: &mut Tx<'_>,
    desk: &Desk,
    plan: &Plan,
    _: &super::stand::Sent,
) -> Result<Value, Error> {
    let id = plan.ids.first().map(String::as_str).unwrap_or_default();
    let one = desk.one(tx, "recommendations/{}", id)?;
    if text(&one, "status") != "PENDING" {
        let message = "The recommendation is not open any longer";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    let mut nodes = changes(one.get("changes").unwrap_or(&Value::Null));
    nodes.sort_by_key(|node| Reverse(text(node, "operation_type").eq_ignore_ascii_case("delete")));
    let (posts, others): (Vec<Value>, Vec<Value>) = nodes
        .into_iter()
        .partition(|node| text(node, "entity_type") == "promoted_posts");
    for node in &posts {
        promoted(tx, desk, node)?;
    }
    for (kind, ..) in KINDS.iter().filter(|(kind, ..)| *kind != "promoted_posts") {
        let same = others
            .iter()
            .filter(|node| text(node, "entity_type") == *kind);
        let batch: Vec<Value> = same
            .map(|node| {
                let verb = text(node, "operation_type");
                json!({ "operation_type": verb, "params": params(node) })
            })
            .collect();
        if !batch.is_empty() {
            let path = format!("/12/batch/accounts/{{}}/{kind}");
            desk.tell(tx, "POST", &path, &[], batch.into())?;
        }
    }
    let mut records = records(tx, desk)?;
    recommendations::mark_as_applied(&mut records, RECOMMENDATION.id_format.parse("id", id)?)?;
    Ok(one)
}

/// Posts have no batch: each operation is its own.
fn promoted(tx: &mut Tx<'_>, desk: &Desk, node: &Value) -> Result<(), Error> {
    let params = params(node);
    let word = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    if text(node, "operation_type").eq_ignore_ascii_case("delete") {
        let id = word("promoted_post_id");
        desk.ask(tx, "DELETE", "promoted_<posts>/{}", &[id], &[])?;
        return Ok(());
    }
    let posts = params.get("post_ids").and_then(Value::as_array);
    let posts: Vec<&str> = posts
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let pairs = [
        ("line_item_id", word("line_item_id").to_owned()),
        ("post_ids", posts.join(",")),
    ];
    desk.ask(tx, "POST", "promoted_<posts>", &[], &pairs)?;
    Ok(())
}

/// The records of the account, for somebody who works on its campaigns.
fn records<'t, 'c>(tx: &'t mut Tx<'c>, desk: &Desk) -> Result<Records<'t, 'c>, Error> {
    let caller = AdsCaller {
        user: desk.asking.user,
        app: None,
        speech: Vocabulary::Post,
        sandbox: desk.account.flag("sandbox"),
    };
    let mut records = Records::new(tx, caller);
    records.open_account(desk.account.id, RequiredRole::CampaignWriter, true, false)?;
    Ok(records)
}

fn dismiss(
    tx: &mut Tx<'_>,
    desk: &Desk,
    plan: &Plan,
    _: &super::stand::Sent,
) -> Result<Value, Error> {
    let mut records = records(tx, desk)?;
    let id = plan.ids.first().map(String::as_str).unwrap_or_default();
    let id = RECOMMENDATION.id_format.parse("id", id)?;
    if recommendations::dismiss(&mut records, id)? {
        return Ok(Value::Null);
    }
    let message = "The recommendation is not open any longer";
    Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into())
}
