//! Features enabled for an account.

use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use serde_json::{Value, json};

use crate::account_context::AccountContext;
use crate::declaration::{CustomOperation, FeatureGate, FieldSpec};
use crate::engine::ensure_valid_params;
use crate::field_kind::FieldKind;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;
use crate::resources::{CUSTOM_OPERATIONS, RESOURCES};

pub const ALL_FEATURES: &[&str] = &[
    "AGE_TARGETING",
    "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE",
    "AWARENESS_OBJECTIVE",
    "BRAND_TPN",
    "CHARGE_FOR_GOOD_CLICK",
    "CITY_TARGETING",
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
    "CPI_CHARGING",
    "DIRECT_MESSAGE_CARD",
    "DR_TAP",
    "ENGAGER_RETARGETING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "OPTIMIZED_WEBSITE_CONVERSIONS",
    "PREROLL_VIEWS_OBJECTIVE",
    "PROMOTED_MEDIA_POLLS",
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "SHARE_AUDIENCE_OUTSIDE_BUSINESS",
    "UNIVERSAL_LOOKALIKE",
    "VALIDATED_AGE_TARGETING",
    "VIDEO_APP_DOWNLOAD_CARD",
    "VIDEO_VIEWS_MIDROLL_OBJECTIVE",
    "VIDEO_VIEWS_OBJECTIVE",
    "WEBSITE_CLICKS_CPM_BILLING",
];

pub const DEFAULT_FEATURES: &[&str] = &[
    "CPI_CHARGING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "VIDEO_APP_DOWNLOAD_CARD",
];

const KEYS: FieldSpec = FieldSpec::new("feature_keys", FieldKind::SomeOf(ALL_FEATURES));

/// Whether accounts without a feature are refused.
pub const GATE_MODES: &[&str] = &["lenient", "strict"];

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsFeatures", "features", "Features that an account may use.", list_features)
        .params(&[KEYS]),
    CustomOperation::mutation(
        "POST",
        "addAdsFeatures",
        "features",
        "Sandbox only: gives an account features.",
        add_features,
    )
    .params(&[KEYS.required()])
    .sandbox_only(),
    CustomOperation::mutation(
        "DELETE",
        "removeAdsFeatures",
        "features",
        "Sandbox only: takes features from an account.",
        remove_features,
    )
    .params(&[KEYS.required()])
    .sandbox_only(),
];

fn list_features(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let mut all = granted_features(ctx)?;
    if params.has("feature_keys") {
        let requested = params.texts("feature_keys");
        all.retain(|feature| requested.contains(feature));
    }
    Ok(OperationOutput::from_value(&json!(all)))
}

fn add_features(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let mut all = granted_features(ctx)?;
    all.extend(params.texts("feature_keys"));
    set(ctx, all)
}

fn remove_features(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let removed = params.texts("feature_keys");
    let mut all = granted_features(ctx)?;
    all.retain(|feature| !removed.contains(feature));
    set(ctx, all)
}

fn granted_features(ctx: &AccountContext<'_, '_>) -> Result<Vec<String>, Error> {
    let account = &ctx.account()?.record;
    let mut all: Vec<String> = account.texts("features").into_iter().map(str::to_owned).collect();
    all.sort_unstable();
    Ok(all)
}

/// Replaces the features of an account; returns all that it has.
pub fn set(ctx: &mut AccountContext<'_, '_>, mut all: Vec<String>) -> Result<OperationOutput, Error> {
    all.sort_unstable();
    all.dedup();
    let mut account = ctx.account()?.record.clone();
    account.set("features", json!(all));
    account.updated_at = ctx.now();
    ctx.save_record(&account)?;
    Ok(OperationOutput::from_value(&Value::from(all)))
}

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
                let name = field.name.name_in(ctx.caller.speech);
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

/// Every gate with its resource or operation and its field, if it has one.
pub fn list_gates() -> Vec<(&'static str, &'static str, FeatureGate)> {
    let of_resources = RESOURCES.iter().flat_map(|of| {
        let whole = of.feature_gate.map(|gate| (of.name, "", gate));
        let fields = of.fields.iter().flat_map(|field| {
            let gates = field.gates.iter();
            gates.map(|gate| (of.name, field.name.post, *gate))
        });
        whole.into_iter().chain(fields)
    });
    let of_operations = CUSTOM_OPERATIONS.iter().copied().flatten().flat_map(|custom| {
        let whole = custom.feature_gate.map(|gate| (custom.id, "", gate));
        let params = custom.params.iter().flat_map(|field| {
            let gates = field.gates.iter();
            gates.map(|gate| (custom.id, field.name.post, *gate))
        });
        whole.into_iter().chain(params)
    });
    of_resources.chain(of_operations).collect()
}
