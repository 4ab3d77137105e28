//! Sentences about what is wrong with a field of a form, for people who do not know the API.

use ads_engine::ValueKind;
use base::refusal::AdsProblem;
use pages::manager::FormInputKind;

/// In every currency, the least bid is at most this and the highest at least this.
const ONE_UNIT_MICROS: i64 = 1_000_000;

/// `name` is that of the parameter; `declared` is the kind of the resource's field, if it is one.
pub(super) fn describe_problem(
    problem: &AdsProblem,
    name: &str,
    declared: Option<ValueKind>,
    input: &FormInputKind,
) -> String {
    let message = problem.message.as_str();
    let is_mismatch = message.starts_with("Expected ");
    match (problem.code, declared, input) {
        ("MISSING_PARAMETER", ..) => "This field is required.".to_owned(),
        ("INVALID_DENOMINATION", ..) => "Enter an amount with no more decimal places than the currency has.".to_owned(),
        (_, _, FormInputKind::Amount) if is_mismatch => {
            let micros: Option<i64> = problem.value.as_deref().and_then(|value| value.parse().ok());
            let is_high = micros.is_some_and(|micros| micros > ONE_UNIT_MICROS);
            format!("The amount is too {}.", if is_high { "high" } else { "low" })
        }
        (_, Some(ValueKind::Int(min, max)), _) if message.starts_with("Expected Integer") => {
            format!("Enter a whole number from {min} to {max}.")
        }
        (_, Some(ValueKind::Text(min, max)), _) if message.starts_with("Expected String") => {
            format!("Enter {min} to {max} characters.")
        }
        (_, Some(ValueKind::Url), _) if is_mismatch => {
            "Enter a whole URL, such as https://example.com/page.".to_owned()
        }
        (_, _, FormInputKind::Timestamp) => to_sentence(&message.replacen(name, "The time", 1)),
        _ if is_mismatch => to_sentence(message.rsplit_once(", got ").map_or(message, |(expected, _)| expected)),
        _ => to_sentence(message),
    }
}

pub(super) fn to_sentence(message: &str) -> String {
    format!("{}.", message.trim_end_matches('.'))
}
