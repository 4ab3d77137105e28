//! The rules of the filtered stream (contract core §9.2).

use std::collections::HashSet;

use base::{Error, Refusal, Time};
use network::rules::{self as network_rules, AddedRules};
use query::{AccessTier, QueryDialect};
use serde_json::{Map, Value, json};
use store::Tx;
use store::rules::{self as stored, StreamProduct, StreamRule};
use view::{ObjectKind, RuleCount};
use web::body;
use web::error_formats;
use web::pagination::{PageDirection, PageTokens};
use web::request_context::{HttpReply, RequestContext};

use super::rules;

const ADD: &str = "add";
const DELETE: &str = "delete";
const IDS: &str = "ids";
const VALUES: &str = "values";
const STREAM: StreamProduct = StreamProduct::Stream;

/// `GET /2/posts/search/stream/rules`: all, oldest first, or those with these ids, in their order.
pub(crate) async fn list_rules(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let mut seen = HashSet::new();
    let ids: Vec<i64> = call.query_ids::<()>("ids").iter().map(|id| id.get()).filter(|id| seen.insert(*id)).collect();
    let page = call.page_request()?;
    let (after, limit) = (page.after.map_or(0, |keys| keys.first()), page.fetch_limit());
    let find = call.read(move |tx| {
        if ids.is_empty() {
            return Ok(stored::list_by_app(tx, app, STREAM, after, limit)?);
        }
        let start = ids.iter().position(|id| *id == after).map_or(0, |at| at + 1);
        Ok(network_rules::find_existing(tx, app, STREAM, ids.get(start..).unwrap_or_default())?)
    });
    let mut found = find.await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let last = found.last().filter(|_| more);
    let tokens = PageTokens { next: last.map(|rule| page.page_token(PageDirection::Next, rule.id)), previous: None };
    respond_rules(&call, &found, tokens)
}

fn respond_rules(call: &RequestContext, found: &[StreamRule], tokens: PageTokens) -> Result<HttpReply, Error> {
    let mut meta = tokens.to_meta(found.len());
    meta.insert("sent".to_owned(), json!(sent_time(call)));
    let mut body = Map::new();
    if !found.is_empty() {
        let data = found.iter().map(rules::rule_json).collect();
        body.insert("data".to_owned(), data);
    }
    body.insert("meta".to_owned(), Value::Object(meta));
    call.respond_json(&Value::Object(body))
}

fn sent_time(call: &RequestContext) -> String {
    let now: Time = call.now();
    now.to_string()
}

/// `POST /2/posts/search/stream/rules`: adds rules, deletes some or deletes all.
pub(crate) async fn update_rules(call: RequestContext) -> Result<HttpReply, Error> {
    let (body, all) = (call.body(), call.query_flag("delete_all"));
    let requested = [all, body.has(ADD), body.has(DELETE)];
    if requested.iter().filter(|one| **one).count() != 1 {
        let message = "The request must have exactly one of `add`, `delete` and `delete_all`";
        return Err(body::invalid_body(message).into());
    }
    if body.has(ADD) {
        add_rules(&call).await
    } else if all {
        delete_all_rules(&call).await
    } else {
        delete_rules(&call).await
    }
}

async fn add_rules(call: &RequestContext) -> Result<HttpReply, Error> {
    let (app, dry_run) = (call.require_caller()?.app_id, call.query_flag("dry_run"));
    let dialect = rules::dialect(call, query::QueryProduct::Stream)?;
    if call.body().value_array(ADD).is_empty() {
        return Err(body::invalid_body("`add` must name at least one rule").into());
    }
    let (new, mut refused) = rules::parse_rules(call.body().object_array(ADD), dialect)?;
    let invalid = refused.len();
    let (mut added, mut unknown) = (AddedRules::default(), Vec::new());
    if !new.is_empty() {
        let max = dialect.max_rules();
        let add = call.write(move |tx| {
            let added = network_rules::add(tx, app, STREAM, max, &new, dry_run)?;
            Ok((added, rules::list_unknown_terms(tx, &new, dialect)?))
        });
        (added, unknown) = add.await?;
    }
    let duplicates = added.duplicates.len();
    let summary = json!({
        "created": added.rules.len(),
        "not_created": duplicates + invalid,
        "valid": added.rules.len() + duplicates,
        "invalid": invalid,
    });
    // If no rule can be added, the public service answers with 200.
    let none_valid = added.rules.is_empty() && duplicates == 0;
    let status = if none_valid { 200 } else { call.endpoint().success_status };
    refused.extend(added.duplicates);
    let errors = (!refused.is_empty()).then(|| rules::errors_json(call, &refused));
    let reply = change_reply(call, status, &added.rules, &summary, errors);
    Ok(rules::warn_of_unknown_terms(reply, &unknown))
}

fn change_reply(
    call: &RequestContext,
    status: u16,
    added: &[StreamRule],
    summary: &Value,
    errors: Option<Value>,
) -> HttpReply {
    let mut body = Map::new();
    if !added.is_empty() {
        let data = added.iter().map(rules::rule_json).collect();
        body.insert("data".to_owned(), data);
    }
    let meta = json!({ "sent": sent_time(call), "summary": summary });
    body.insert("meta".to_owned(), meta);
    if let Some(errors) = errors {
        body.insert("errors".to_owned(), errors);
    }
    HttpReply::json(status, &Value::Object(body))
}

/// Rules deleted per transaction.
const DELETE_BATCH: i64 = 1_000;

async fn delete_all_rules(call: &RequestContext) -> Result<HttpReply, Error> {
    let (app, dry_run) = (call.require_caller()?.app_id, call.query_flag("dry_run"));
    let mut deleted = 0;
    if dry_run {
        let count = call.read(move |tx| Ok(stored::count(tx, app, STREAM)?));
        deleted = usize::try_from(count.await?).unwrap_or(0);
    } else {
        let some = move |tx: &mut Tx<'_>| {
            let found = stored::list_by_app(tx, app, STREAM, 0, DELETE_BATCH)?;
            let ids: Vec<i64> = found.iter().map(|rule| rule.id).collect();
            network_rules::remove(tx, app, STREAM, &ids)
        };
        loop {
            match call.write(some).await? {
                0 => break,
                more => deleted += more,
            }
        }
    }
    let summary = json!({ "deleted": deleted, "not_deleted": 0 });
    Ok(change_reply(call, 200, &[], &summary, None))
}

async fn delete_rules(call: &RequestContext) -> Result<HttpReply, Error> {
    let (app, dry_run) = (call.require_caller()?.app_id, call.query_flag("dry_run"));
    let selector = call.body().optional_object(DELETE);
    let selector = selector.filter(|selector| selector.has(IDS) != selector.has(VALUES));
    let Some(selector) = selector else {
        let message = "`delete` must have exactly one of `ids` and `values`";
        return Err(body::invalid_body(message).into());
    };
    let requested = selector.value_array(IDS).len() + selector.value_array(VALUES).len();
    if requested == 0 {
        return Err(body::invalid_body("`delete` must name at least one rule").into());
    }
    let ids: Vec<i64> = selector.id_array::<()>(IDS).iter().map(|id| id.get()).collect();
    // Rules added at a higher access level can be removed.
    let dialect = QueryDialect::new(query::QueryProduct::Stream, AccessTier::Enterprise);
    let values = selector.text_array(VALUES);
    let values: Vec<String> = values.filter_map(|value| rules::canonical_form(value, dialect).ok()).collect();
    let work = move |tx: &mut Tx<'_>| {
        let mut all = network_rules::find_ids_by_canonical(tx, app, STREAM, &values)?;
        all.extend(&ids);
        if dry_run {
            Ok(network_rules::find_existing(tx, app, STREAM, &all)?.len())
        } else {
            network_rules::remove(tx, app, STREAM, &all)
        }
    };
    let deleted = call.write(work).await?;
    let missing = requested.saturating_sub(deleted);
    let summary = json!({ "deleted": deleted, "not_deleted": missing });
    let errors = (missing > 0).then(|| missing_rules_error(call, missing));
    Ok(change_reply(call, 200, &[], &summary, errors))
}

fn missing_rules_error(call: &RequestContext, missing: usize) -> Value {
    let mut problem =
        error_formats::render_partial_error(&Refusal::InvalidParameters(Vec::new()), &call.state.problem_base);
    let each = json!({ "message": "Rule does not exist", "parameters": {} });
    if let Some(members) = problem.as_object_mut() {
        members.insert("errors".to_owned(), json!(vec![each; missing]));
    }
    json!([problem])
}

pub(crate) async fn get_counts(call: RequestContext) -> Result<HttpReply, Error> {
    let app = call.require_caller()?.app_id;
    let max = rules::dialect(&call, query::QueryProduct::Stream)?.max_rules();
    let count = call.read(move |tx| Ok(stored::count(tx, app, STREAM)?)).await?;
    let shown = RuleCount { app: app.get(), count, limit: i64::try_from(max).unwrap_or(i64::MAX) };
    let request = call.render_request(ObjectKind::RULES_COUNT);
    call.respond(&view::render_rules_count(&request, shown))
}
