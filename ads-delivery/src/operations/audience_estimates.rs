//! Audience size estimates for criteria (contract ads §8.2).

use ads::resources::custom_audiences::require_targetable;
use ads::resources::targeting_criteria::{TARGETING_TYPES, find_named_user, require_option, validate_targeting_value};
use ads_engine::{
    AccountContext, CustomOperation, FieldSpec, JsonShape, Kind, OperationOutput, ParsedParams, RequiredRole,
};
use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Value, json};

use crate::evaluator::{CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion, is_primary_type};
use crate::size_disclosure::DisclosedSize;

const MAX_CRITERIA: usize = 1_000;
const CRITERIA: &str = "targeting_criteria";

pub(super) static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("estimateAdsAudience", "audience_estimate", estimate_audience)
        .summary("How many users some criteria reach.")
        .read_by_post()
        .requires_role(RequiredRole::Planner)
        .takes_json()
        .uses_search()
        .aliases(&["audience_summary"])
        .params(&[
            FieldSpec::new(CRITERIA, Kind::custom(&JsonShape::new(accept_any_shape))),
            FieldSpec::one_of("operator_type", &["EQ", "NE"]),
        ])];

/// Items are validated one by one.
#[expect(clippy::unnecessary_wraps, reason = "the signature of shape validators")]
fn accept_any_shape(value: &Value) -> Result<Value, AdsProblem> {
    Ok(value.clone())
}

fn estimate_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut audience = TargetedAudience::from_account(ctx)?;
    audience.criteria = parse_criteria(ctx, params)?;
    let evaluator = Evaluator::from_context(ctx)?;
    let estimate = evaluator.estimate(ctx.tx, &audience)?;
    let exact = ctx.account()?.record.text("estimate") == "exact";
    let (min, max) = match estimate.disclosed_size {
        DisclosedSize::Exact(count) if exact => (count, count),
        DisclosedSize::Exact(count) | DisclosedSize::Approximate(count) => size_range(count),
        DisclosedSize::FewerThan(count) => (0, count),
    };
    let mut output = OperationOutput::from_value(json!({ "audience_size": { "min": min, "max": max } }));
    // Criteria are not echoed.
    output.echo_params.insert(CRITERIA.to_owned(), Value::Null);
    if !estimate.ignored_types.is_empty() {
        let names: Vec<String> = estimate.ignored_types.into_iter().collect();
        output.headers.push(("x-estimate-ignored", names.join(",")));
    }
    Ok(output)
}

/// Five percent below and above.
fn size_range(count: i64) -> (i64, i64) {
    let min = count.saturating_mul(95) / 100;
    let max = count.saturating_mul(105).saturating_add(99) / 100;
    (min, max)
}

fn missing_criteria(message: &str) -> AdsProblem {
    AdsProblem { message: message.to_owned(), ..AdsProblem::missing_parameter(CRITERIA.to_owned()) }
}

/// Parses the criteria: the items of the body's list, or of a body that is a list.
fn parse_criteria(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<Vec<TargetingCriterion>, Error> {
    let mut problems = params.problems.clone();
    let default = match default_operator(params) {
        Ok(default) => default,
        Err(problem) => {
            problems.push(problem);
            CriterionOperator::Eq
        }
    };
    let items = match &params.json {
        Some(Value::Array(items)) => Some(items),
        Some(body) => match body.get(CRITERIA) {
            Some(Value::Array(items)) => Some(items),
            None | Some(Value::Null) => None,
            Some(other) => {
                let message = format!("Expected an array of criteria, got {other}");
                let shown: String = other.to_string().chars().take(100).collect();
                problems.push(AdsProblem::invalid_parameter(CRITERIA, shown, message));
                None
            }
        },
        None => None,
    };
    let items = items.map(Vec::as_slice).unwrap_or_default();
    if items.len() > MAX_CRITERIA {
        let message = format!("At most {MAX_CRITERIA} criteria are estimated together");
        return Err(AdsProblem::new("REQUEST_TOO_COMPLEX", message).into());
    }
    let mut all = Vec::new();
    for item in items {
        match parse_criterion(item, default) {
            Ok(criterion) => all.push(criterion),
            Err(mut found) => problems.append(&mut found),
        }
    }
    if problems.is_empty() {
        let is_included =
            |one: &TargetingCriterion| is_primary_type(&one.kind) && one.operator == CriterionOperator::Eq;
        if all.is_empty() {
            problems.push(AdsProblem::missing_parameter(CRITERIA));
        } else if !all.iter().any(is_included) {
            problems.push(missing_criteria("At least one primary criterion is required"));
        }
    }
    if !problems.is_empty() {
        return Err(base::Refusal::from(problems).into());
    }
    for one in &all {
        require_option(ctx, &one.kind, &one.value)?;
        find_named_user(ctx, &one.kind, &one.value)?;
        if one.kind.starts_with("CUSTOM_AUDIENCE") {
            // The size of a small audience would reveal which members are users.
            require_targetable(ctx, &one.value)?;
        }
    }
    Ok(all)
}

/// The operator of criteria that have none of their own.
fn default_operator(params: &ParsedParams) -> Result<CriterionOperator, AdsProblem> {
    let operator = params.query_pairs.iter().find(|(name, _)| name == "operator_type");
    let text = params.text("operator_type").or(operator.map(|(_, text)| text.as_str()));
    text.map_or(Ok(CriterionOperator::Eq), parse_operator)
}

fn parse_operator(text: &str) -> Result<CriterionOperator, AdsProblem> {
    let known =
        CriterionOperator::parse(text).filter(|one| matches!(one, CriterionOperator::Eq | CriterionOperator::Ne));
    known.ok_or_else(|| {
        let message = format!("Expected one of EQ, NE, got \"{text}\" for operator_type");
        let shown: String = text.chars().take(100).collect();
        AdsProblem::invalid_parameter("operator_type", shown, message)
    })
}

fn parse_criterion(item: &Value, default: CriterionOperator) -> Result<TargetingCriterion, Vec<AdsProblem>> {
    let mut problems = Vec::new();
    let mut text = |name: &'static str| {
        let text = match item.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        if text.is_empty() {
            problems.push(AdsProblem::missing_parameter(name));
        }
        text
    };
    let (kind, value) = (text("targeting_type"), text("targeting_value"));
    let kind = kind.to_ascii_uppercase();
    if problems.is_empty() {
        if !TARGETING_TYPES.contains(&kind.as_str()) {
            let message = format!("\"{kind}\" is not a type of criteria");
            problems.push(AdsProblem::invalid_parameter("targeting_type", kind.clone(), message));
        } else if value.chars().count() > 255 || value.contains('\0') {
            let message = "A value has at most 255 characters";
            let shown: String = value.chars().take(100).filter(|one| *one != '\0').collect();
            problems.push(AdsProblem::invalid_parameter("targeting_value", shown, message));
        } else if let Err(problem) = validate_targeting_value(&kind, &value) {
            problems.push(problem);
        }
    }
    let operator = match item.get("operator_type") {
        None | Some(Value::Null) => Ok(default),
        Some(Value::String(text)) => parse_operator(text),
        Some(other) => parse_operator(&other.to_string()),
    };
    match (operator, problems.is_empty()) {
        (Ok(operator), true) => Ok(TargetingCriterion { kind, value, operator }),
        (operator, _) => {
            problems.extend(operator.err());
            Err(problems)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::size_range;

    #[test]
    fn the_estimate_is_a_twentieth_wide() {
        assert_eq!(size_range(0), (0, 0));
        assert_eq!(size_range(1), (0, 2));
        assert_eq!(size_range(100), (95, 105));
        assert_eq!(size_range(1_000), (950, 1_050));
        assert_eq!(size_range(1_001), (950, 1_052));
    }
}
