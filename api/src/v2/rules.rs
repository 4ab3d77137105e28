//! Parsing and rendering of stream rules.

use base::{Error, Fault, Refusal};
use http::{HeaderName, HeaderValue};
use identity::apps::AccessLevel;
use network::annotations;
use network::rules::NewStreamRule;
use query::{AccessTier, QueryDialect, QueryError, QueryProduct};
use serde_json::{Value, json};
use store::Tx;
use store::rules::StreamRule;
use web::body::BodyMembers;
use web::error_formats;
use web::request_context::{HttpReply, RequestContext};

const VALUE: &str = "value";
const TAG: &str = "tag";
/// No documented answer has a place for warnings, and strict clients refuse unknown members.
const WARNING: HeaderName = HeaderName::from_static("x-locum-warning");
/// In bytes; the rest is cut off.
const WARNING_LENGTH: usize = 1_000;

pub(super) fn is_enterprise(call: &RequestContext) -> Result<bool, Error> {
    Ok(call.require_caller()?.app.access_level == AccessLevel::Enterprise)
}

pub(super) fn enterprise_required() -> Error {
    Refusal::NotEnrolled { required: AccessLevel::Enterprise.name() }.into()
}

/// The query language at the calling app's access level.
pub(super) fn dialect(call: &RequestContext, product: QueryProduct) -> Result<QueryDialect, Error> {
    let level = if is_enterprise(call)? { AccessTier::Enterprise } else { AccessTier::SelfServe };
    Ok(QueryDialect::new(product, level))
}

/// The valid rules, and the refusals of the others.
pub(super) fn parse_rules<'b>(
    members: impl Iterator<Item = BodyMembers<'b>>,
    dialect: QueryDialect,
) -> Result<(Vec<NewStreamRule>, Vec<Refusal>), Error> {
    let (mut new, mut refused) = (Vec::new(), Vec::new());
    for member in members {
        let value = member.required_text(VALUE)?;
        match canonical_form(value, dialect) {
            Ok(canonical) => new.push(NewStreamRule {
                canonical,
                tag: member.optional_text(TAG).unwrap_or_default().to_owned(),
                value: value.to_owned(),
            }),
            Err(refusal) => refused.push(refusal),
        }
    }
    Ok((new, refused))
}

/// Equal for rules that mean the same.
pub(super) fn canonical_form(value: &str, dialect: QueryDialect) -> Result<String, Refusal> {
    let parsed = query::parse(value, dialect);
    parsed.map(|query| query.to_string()).map_err(|problems| Refusal::InvalidRule {
        value: value.to_owned(),
        details: problems.details(),
        too_long: matches!(problems, QueryError::TooLong { .. }),
    })
}

/// Terms of the rules which name an entity or a domain that is not in the catalogue of annotations.
pub(super) fn list_unknown_terms(
    tx: &mut Tx<'_>,
    new: &[NewStreamRule],
    dialect: QueryDialect,
) -> Result<Vec<String>, Fault> {
    let mut unknown = Vec::new();
    for rule in new.iter().filter(|rule| rule.canonical.contains("context:") || rule.canonical.contains("entity:")) {
        if let Ok(parsed) = query::parse(&rule.value, dialect) {
            unknown.extend(annotations::list_unknown_terms(tx, &parsed)?);
        }
    }
    Ok(unknown)
}

/// A header that names the terms, if there are any.
pub(super) fn warn_of_unknown_terms(reply: HttpReply, unknown: &[String]) -> HttpReply {
    if unknown.is_empty() {
        return reply;
    }
    let text = format!("not in the catalogue of annotations: {}", unknown.join(", "));
    let text: String = text.chars().flat_map(char::escape_default).take(WARNING_LENGTH).collect();
    match HeaderValue::from_str(&text.replace("\\\"", "\"").replace("\\'", "'")) {
        Ok(value) => reply.header(WARNING, value),
        Err(_) => reply,
    }
}

pub(super) fn errors_json(call: &RequestContext, refused: &[Refusal]) -> Value {
    let base = &call.state.problem_base;
    refused.iter().map(|one| error_formats::render_partial_error(one, base)).collect()
}

pub(super) fn rule_json(rule: &StreamRule) -> Value {
    let mut shown = json!({ "id": rule.id.to_string(), "value": rule.value });
    if !rule.tag.is_empty()
        && let Some(members) = shown.as_object_mut()
    {
        members.insert("tag".to_owned(), json!(rule.tag));
    }
    shown
}
