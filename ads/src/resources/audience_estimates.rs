//! How many users criteria reach (contract §8.2).

use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Value, json};

use super::custom_audiences::targetable;
use super::targeting_criteria::{TYPES, named, sound};
use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field};
use crate::desk::Desk;
use crate::discretion::Told;
use crate::evaluator::{Audience, Criterion, Operator, is_primary};
use crate::given::Given;
use crate::kind::Kind;

/// What criteria may be asked about at once.
const MOST: usize = 1_000;
const CRITERIA: &str = "targeting_criteria";

/// The estimate.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "estimateAdsAudience",
    "audience_estimate",
    "How many users some criteria reach.",
    estimate,
)
.posts()
.who(Who::Planner)
.json()
.searching()
.aliases(&["audience_summary"])
.params(&[
    Field::new(CRITERIA, Kind::Shape(any_shape)),
    Field::one_of("operator_type", &["EQ", "NE"]),
])];

/// What it is made of is looked at item by item.
#[expect(clippy::unnecessary_wraps, reason = "shapes may refuse")]
fn any_shape(value: &Value) -> Result<Value, AdsProblem> {
    Ok(value.clone())
}

fn estimate(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let mut audience = Audience::of_account(desk)?;
    audience.criteria = criteria(desk, given)?;
    let evaluator = desk.evaluator()?;
    let estimate = evaluator.estimate(desk.tx, &audience)?;
    let exact = desk.account()?.record.text("estimate") == "exact";
    let (min, max) = match estimate.told {
        Told::Exactly(count) if exact => (count, count),
        Told::Exactly(count) | Told::About(count) => around(count),
        Told::Fewer(count) => (0, count),
    };
    let mut answer = Answer::one(&json!({ "audience_size": { "min": min, "max": max } }));
    // Criteria are not told back.
    answer.echo.insert(CRITERIA.to_owned(), Value::Null);
    if !estimate.ignored.is_empty() {
        let names: Vec<String> = estimate.ignored.into_iter().collect();
        answer.headers.push(("x-estimate-ignored", names.join(",")));
    }
    Ok(answer)
}

/// A twentieth below and above.
fn around(count: i64) -> (i64, i64) {
    let least = count.saturating_mul(95) / 100;
    let most = count.saturating_mul(105).saturating_add(99) / 100;
    (least, most)
}

fn missing(message: &str) -> AdsProblem {
    AdsProblem {
        message: message.to_owned(),
        ..AdsProblem::missing_parameter(CRITERIA.to_owned())
    }
}

/// What is asked: the items of the body's list, or of the body that is one.
fn criteria(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Vec<Criterion>, Error> {
    let mut problems = given.problems.clone();
    let usual = match usual(given) {
        Ok(usual) => usual,
        Err(problem) => {
            problems.push(problem);
            Operator::Eq
        }
    };
    let items = match &given.json {
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
    if items.len() > MOST {
        let message = format!("At most {MOST} criteria are estimated together");
        return Err(AdsProblem::new("REQUEST_TOO_COMPLEX", message).into());
    }
    let mut all = Vec::new();
    for item in items {
        match read(item, usual) {
            Ok(criterion) => all.push(criterion),
            Err(mut found) => problems.append(&mut found),
        }
    }
    if problems.is_empty() {
        let asked = |one: &Criterion| is_primary(&one.kind) && one.operator == Operator::Eq;
        if all.is_empty() {
            problems.push(AdsProblem::missing_parameter(CRITERIA));
        } else if !all.iter().any(asked) {
            problems.push(missing("At least one primary criterion is required"));
        }
    }
    if !problems.is_empty() {
        return Err(base::Refusal::from(problems).into());
    }
    for one in &all {
        named(desk, &one.kind, &one.value)?;
        if one.kind.starts_with("CUSTOM_AUDIENCE") {
            // How many a few members come to would tell who of them is here.
            targetable(desk, &one.value)?;
        }
    }
    Ok(all)
}

/// How values are meant that say nothing of it themselves.
fn usual(given: &Given) -> Result<Operator, AdsProblem> {
    let beside = given
        .beside
        .iter()
        .find(|(name, _)| name == "operator_type");
    let text = given
        .text("operator_type")
        .or(beside.map(|(_, text)| text.as_str()));
    text.map_or(Ok(Operator::Eq), operator)
}

fn operator(text: &str) -> Result<Operator, AdsProblem> {
    let known = Operator::parse(text).filter(|one| matches!(one, Operator::Eq | Operator::Ne));
    known.ok_or_else(|| {
        let message = format!("Expected one of EQ, NE, got \"{text}\" for operator_type");
        let shown: String = text.chars().take(100).collect();
        AdsProblem::invalid_parameter("operator_type", shown, message)
    })
}

fn read(item: &Value, usual: Operator) -> Result<Criterion, Vec<AdsProblem>> {
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
        if !TYPES.contains(&kind.as_str()) {
            let message = format!("\"{kind}\" is no type of criteria");
            problems.push(AdsProblem::invalid_parameter(
                "targeting_type",
                kind.clone(),
                message,
            ));
        } else if value.chars().count() > 255 || value.contains('\0') {
            let message = "A value has at most 255 characters";
            let shown: String = value.chars().take(100).filter(|one| *one != '\0').collect();
            problems.push(AdsProblem::invalid_parameter(
                "targeting_value",
                shown,
                message,
            ));
        } else if let Err(problem) = sound(&kind, &value) {
            problems.push(problem);
        }
    }
    let operator = match item.get("operator_type") {
        None | Some(Value::Null) => Ok(usual),
        Some(Value::String(text)) => operator(text),
        Some(other) => operator(&other.to_string()),
    };
    match (operator, problems.is_empty()) {
        (Ok(operator), true) => Ok(Criterion {
            kind,
            value,
            operator,
        }),
        (operator, _) => {
            problems.extend(operator.err());
            Err(problems)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn the_estimate_is_a_twentieth_wide() {
        assert_eq!(around(0), (0, 0));
        assert_eq!(around(1), (0, 2));
        assert_eq!(around(100), (95, 105));
        assert_eq!(around(1_000), (950, 1_050));
        assert_eq!(around(1_001), (950, 1_052));
    }
}
