//! Checks of feature gates against the features of the account.

use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use serde_json::Value;

use crate::account_context::AccountContext;
use crate::declaration::FeatureGate;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;

/// Whether the account has the gate's feature or is exempt.
pub fn is_gate_open(ctx: &AccountContext<'_, '_>, gate: &FeatureGate) -> Result<bool, Error> {
    let account = &ctx.account()?.record;
    let is_enforced = gate.applies_to_all_accounts || account.text("feature_gates") == "strict";
    Ok(!is_enforced || account.has("features", gate.feature))
}

pub fn require_gate(ctx: &AccountContext<'_, '_>, gate: &FeatureGate, location: ProblemLocation) -> Result<(), Error> {
    if is_gate_open(ctx, gate)? {
        return Ok(());
    }
    Err(gate_closed_problem(gate, location).into())
}

fn gate_closed_problem(gate: &FeatureGate, location: ProblemLocation) -> AdsProblem {
    let feature = gate.feature;
    let message = match &location {
        ProblemLocation::Request => format!("This account does not have the feature {feature}"),
        ProblemLocation::Parameter(name) | ProblemLocation::Attribute(name) => {
            format!("This account does not have the feature {feature}, which {name} needs")
        }
    };
    AdsProblem { location, ..AdsProblem::new("FEATURE_NOT_AVAILABLE", message) }
}

/// Whether a gate applies to a value of a record's field.
fn gate_applies(gate: &FeatureGate, record: &AdsRecord, value: &Value) -> bool {
    let condition = gate.condition;
    let is_one = gate.values.is_empty()
        || match value {
            Value::Array(items) => items.iter().any(|item| is_gated_value(gate, item)),
            one => is_gated_value(gate, one),
        };
    is_one && condition.is_none_or(|(field, text)| record.text(field) == text)
}

fn is_gated_value(gate: &FeatureGate, value: &Value) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| gate.values.contains(&text))
}

/// The problems of a change that sets values without the required features.
pub fn check_gates(ctx: &AccountContext<'_, '_>, change: &RecordChange) -> Result<Vec<AdsProblem>, Error> {
    let record = &change.record;
    let mut problems = Vec::new();
    if let Some(gate) = &record.resource.feature_gate
        && !is_gate_open(ctx, gate)?
    {
        problems.push(gate_closed_problem(gate, ProblemLocation::Request));
    }
    for field in record.resource.fields {
        let name = field.name.post;
        let value = record.get(name).filter(|_| change.changes_field(name));
        let Some(value) = value else { continue };
        for gate in field.gates {
            if gate_applies(gate, record, value) && !is_gate_open(ctx, gate)? {
                let name = field.name.name_in(ctx.caller.vocabulary);
                problems.push(gate_closed_problem(gate, ProblemLocation::Parameter(name.into())));
            }
        }
    }
    Ok(problems)
}

/// Whether a field of a record may have a value: defaults pass the same gates as sent values.
pub fn may_set_value(ctx: &AccountContext<'_, '_>, record: &AdsRecord, name: &str, value: &str) -> Result<bool, Error> {
    let value = Value::from(value);
    for gate in record.resource.field(name).map_or(&[][..], |field| field.gates) {
        if gate_applies(gate, record, &value) && !is_gate_open(ctx, gate)? {
            return Ok(false);
        }
    }
    Ok(true)
}
