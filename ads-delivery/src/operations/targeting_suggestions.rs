//! Targeting suggestions based on existing criteria (contract ads §4.6).

use crate::evaluator::Evaluator;
use ads::option_catalog;
use ads_engine::engine::ensure_valid_params;
use ads_engine::{AccountContext, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams, RequiredRole};
use base::refusal::AdsProblem;
use base::{Error, UserId};
use post_search::insights::InsightsQuery;
use post_search::keywords::is_valid_keyword;
use serde_json::{Value, json};
use store::users::UserState;

/// Input values per request.
const MAX_VALUES: usize = 10;
/// The age of posts examined.
const LOOKBACK_MS: i64 = 7 * 86_400_000;

pub(super) static OPERATIONS: &[CustomOperation] = &[CustomOperation::get(
    "getAdsTargetingSuggestions",
    "targeting_suggestions",
    list_suggestions,
)
.summary(
    "Keywords that often occur together with given ones, or users who are followed by the same people as given ones.",
)
.requires_role(RequiredRole::CampaignReader)
.uses_search()
.params(&[
    FieldSpec::one_of("suggestion_type", &["KEYWORD", "USER_ID"]).required(),
    FieldSpec::new("targeting_values", Kind::text(1, 255).list(1, MAX_VALUES)).required(),
    FieldSpec::new("count", Kind::int(1, 50)).default_number(30),
])];

fn list_suggestions(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let kind = params.text("suggestion_type").unwrap_or_default().to_owned();
    let values = params.texts("targeting_values");
    let mut found = if kind == "KEYWORD" { suggest_keywords(ctx, values)? } else { suggest_users(ctx, &values)? };
    let count = params.int("count").unwrap_or(30);
    found.truncate(usize::try_from(count).unwrap_or(0));
    let rows = found.into_iter();
    let rows: Vec<Value> = rows.map(|value| json!({ "suggestion_type": kind, "suggestion_value": value })).collect();
    Ok(OperationOutput::from_value(rows.into()).as_last_page())
}

/// Keywords used together with these recently.
fn suggest_keywords(ctx: &mut AccountContext<'_, '_>, keywords: Vec<String>) -> Result<Vec<String>, Error> {
    if let Some(empty) = keywords.iter().find(|text| !is_valid_keyword(text)) {
        let message = format!("\"{empty}\" contains no word, for targeting_values");
        return Err(AdsProblem::invalid_parameter("targeting_values", empty, message).into());
    }
    let query = InsightsQuery {
        keywords,
        negatives: Vec::new(),
        since: ctx.now().plus_ms(-LOOKBACK_MS),
        until: ctx.now(),
        country: None,
        blocked: option_catalog::list_blocked_keywords(ctx.tx)?,
    };
    let evaluator = Evaluator::from_context(ctx)?;
    let index = evaluator.search_index()?;
    let related = evaluator.insights.find_related_keywords(ctx.tx, &*index, &query)?;
    Ok(related.to_vec())
}

/// Users often followed by the followers of these.
fn suggest_users(ctx: &mut AccountContext<'_, '_>, values: &[String]) -> Result<Vec<String>, Error> {
    let mut ids = Vec::with_capacity(values.len());
    for value in values {
        let known = UserId::parse(value);
        let known = match known {
            Some(id) => store::users::find_by_id(ctx.tx, id)?,
            None => None,
        };
        let Some(user) = known.filter(|user| user.state == UserState::Active) else {
            let message = format!("\"{value}\" is not the id of a user, for targeting_values");
            return Err(AdsProblem::invalid_parameter("targeting_values", value, message).into());
        };
        ids.push(user.id.get());
    }
    let evaluator = Evaluator::from_context(ctx)?;
    let viewer = ctx.caller.user.get();
    let mut found = Vec::new();
    for id in evaluator.commonly_followed_accounts(ctx.tx, &ids, viewer)? {
        let user = store::users::find_by_id(ctx.tx, UserId::new(id))?;
        if user.is_some_and(|user| user.is_public()) {
            found.push(id.to_string());
        }
    }
    Ok(found)
}
