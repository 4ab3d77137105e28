//! Rules of the powerstream.

use base::{Error, Refusal};
use network::rules as network_rules;
use query::{AccessTier, QueryDialect};
use serde_json::{Map, Value, json};
use store::rules::{self as stored, StreamProduct, StreamRule};
use web::body;
use web::request_context::{HttpReply, RequestContext};

use super::rules;

const RULES: &str = "rules";
const IDS: &str = "ids";

/// `GET /2/powerstream/rules`: all, oldest first.
pub(crate) async fn list_rules(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, max) = (call.require_caller()?.app_id, dialect(&call)?.max_rules());
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let found = call.read(move |tx| Ok(stored::list_by_app(tx, app, StreamProduct::Powerstream, 0, max)?)).await?;
    call.respond_data(rules_json(&found))
}

/// `POST /2/powerstream/rules`: adds the rules that are valid and new, and reports the others.
pub(crate) async fn add_rules(call: RequestContext) -> Result<HttpReply, Error> {
    // Rules added at a higher access level are listed and removed at any.
    if !rules::is_enterprise(&call)? {
        return Err(rules::enterprise_required());
    }
    let (app, dialect) = (call.require_caller()?.app_id, dialect(&call)?);
    let (new, mut refused) = rules::parse_rules(call.body().object_array(RULES), dialect)?;
    // No rule can be added (contract core §9.2).
    if new.is_empty() {
        return Ok(rules_reply(&call, 200, &[], &refused));
    }
    let (added, unknown) = call
        .write(move |tx| {
            let max = dialect.max_rules();
            let added = network_rules::add(tx, app, StreamProduct::Powerstream, max, &new, false)?;
            Ok((added, rules::list_unknown_terms(tx, &new, dialect)?))
        })
        .await?;
    refused.extend(added.duplicates);
    let status = call.endpoint().success_status;
    let reply = rules_reply(&call, status, &added.rules, &refused);
    Ok(rules::warn_of_unknown_terms(reply, &unknown))
}

/// `DELETE /2/powerstream/rules`: by id, or by value whatever the tag.
pub(crate) async fn delete_rules(call: RequestContext) -> Result<HttpReply, Error> {
    let (app, body) = (call.require_caller()?.app_id, call.body());
    if body.has(RULES) == body.has(IDS) {
        let message = "The body must have exactly one of `rules` and `ids`";
        return Err(body::invalid_body(message).into());
    }
    let ids: Vec<i64> = body.id_array::<()>(IDS).iter().map(|id| id.get()).collect();
    let dialect = QueryDialect::new(query::QueryProduct::Powerstream, AccessTier::Enterprise);
    let (known, _) = rules::parse_rules(body.object_array(RULES), dialect)?;
    let values: Vec<String> = known.into_iter().map(|rule| rule.canonical).collect();
    let requested = body.value_array(RULES).len().max(ids.len());
    let deleted = call
        .write(move |tx| {
            let by_id = network_rules::remove(tx, app, StreamProduct::Powerstream, &ids)?;
            let by_value = network_rules::remove_by_canonical(tx, app, StreamProduct::Powerstream, &values)?;
            Ok(by_id.saturating_add(by_value))
        })
        .await?;
    let not_deleted = requested.saturating_sub(deleted);
    call.respond_data(json!({ "deleted": deleted, "not_deleted": not_deleted }))
}

fn dialect(call: &RequestContext) -> Result<QueryDialect, Error> {
    rules::dialect(call, query::QueryProduct::Powerstream)
}

fn rules_reply(call: &RequestContext, status: u16, added: &[StreamRule], refused: &[Refusal]) -> HttpReply {
    let mut body = Map::new();
    if !added.is_empty() {
        body.insert("data".to_owned(), rules_json(added));
    }
    if !refused.is_empty() {
        body.insert("errors".to_owned(), rules::errors_json(call, refused));
    }
    HttpReply::json(status, &Value::Object(body))
}

fn rules_json(rules: &[StreamRule]) -> Value {
    json!({ "rules": rules.iter().map(rules::rule_json).collect::<Value>() })
}
