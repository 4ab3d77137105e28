//! Features that an account may use.

use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Gate};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::{CUSTOM, RESOURCES};

/// Every feature.
pub const ALL: &[&str] = &[
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

/// Those of a new account.
pub const FRESH: &[&str] = &[
    "CPI_CHARGING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "VIDEO_APP_DOWNLOAD_CARD",
];

const KEYS: Field = Field::new("feature_keys", Kind::SomeOf(ALL));

/// Whether accounts are held to their features.
pub const GATES: &[&str] = &["lenient", "strict"];

/// What can be done with them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsFeatures",
        "features",
        "Features that an account may use.",
        list,
    )
    .params(&[KEYS]),
    Custom::change(
        "POST",
        "addAdsFeatures",
        "features",
        "Sandbox only: gives an account features.",
        add,
    )
    .params(&[KEYS.required()])
    .in_sandbox(),
    Custom::change(
        "DELETE",
        "removeAdsFeatures",
        "features",
        "Sandbox only: takes features from an account.",
        remove,
    )
    .params(&[KEYS.required()])
    .in_sandbox(),
];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let mut all = granted(desk)?;
    if given.has("feature_keys") {
        let asked = given.texts("feature_keys");
        all.retain(|feature| asked.contains(feature));
    }
    Ok(Answer::one(&json!(all)))
}

fn add(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let mut all = granted(desk)?;
    all.extend(given.texts("feature_keys"));
    set(desk, all)
}

fn remove(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let gone = given.texts("feature_keys");
    let mut all = granted(desk)?;
    all.retain(|feature| !gone.contains(feature));
    set(desk, all)
}

fn granted(desk: &Desk<'_, '_>) -> Result<Vec<String>, Error> {
    let account = &desk.account()?.record;
    let mut all: Vec<String> = account
        .texts("features")
        .into_iter()
        .map(str::to_owned)
        .collect();
    all.sort_unstable();
    Ok(all)
}

/// Gives an account these features and no others; all that it then has.
pub fn set(desk: &mut Desk<'_, '_>, mut all: Vec<String>) -> Result<Answer, Error> {
    all.sort_unstable();
    all.dedup();
    let mut account = desk.account()?.record.clone();
    account.set("features", json!(all));
    account.updated_at = desk.now();
    desk.keep(&account)?;
    Ok(Answer::one(&Value::from(all)))
}

/// Whether the account may pass a gate: it has the feature, or is not held to it.
pub fn is_open(desk: &Desk<'_, '_>, gate: &Gate) -> Result<bool, Error> {
    let account = &desk.account()?.record;
    let held = gate.always || account.text("feature_gates") == "strict";
    Ok(!held || account.has("features", gate.feature))
}

/// Refuses what a gate keeps the account from.
pub fn pass(desk: &Desk<'_, '_>, gate: &Gate, at: ProblemLocation) -> Result<(), Error> {
    if is_open(desk, gate)? {
        return Ok(());
    }
    Err(closed(gate, at).into())
}

fn closed(gate: &Gate, at: ProblemLocation) -> AdsProblem {
    let feature = gate.feature;
    let message = match &at {
        ProblemLocation::Request => format!("This account does not have the feature {feature}"),
        ProblemLocation::Parameter(name) | ProblemLocation::Attribute(name) => {
            format!("This account does not have the feature {feature}, which {name} needs")
        }
    };
    AdsProblem {
        location: at,
        ..AdsProblem::new("FEATURE_NOT_AVAILABLE", message)
    }
}

/// Whether a gate stands at a value of a record's field.
fn stands_at(gate: &Gate, record: &Record, value: &Value) -> bool {
    let beside = gate.beside;
    let is_one = gate.values.is_empty()
        || match value {
            Value::Array(items) => items.iter().any(|item| is_among(gate, item)),
            one => is_among(gate, one),
        };
    is_one && beside.is_none_or(|(field, text)| record.text(field) == text)
}

fn is_among(gate: &Gate, value: &Value) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| gate.values.contains(&text))
}

/// What a change sets that the account does not have the feature for.
pub fn missing(desk: &Desk<'_, '_>, change: &Change) -> Result<Vec<AdsProblem>, Error> {
    let record = &change.record;
    let mut problems = Vec::new();
    if let Some(gate) = &record.of.gate
        && !is_open(desk, gate)?
    {
        problems.push(closed(gate, ProblemLocation::Request));
    }
    for field in record.of.fields {
        let name = field.name.post;
        let value = record.get(name).filter(|_| change.changes(name));
        let Some(value) = value else { continue };
        for gate in field.gates {
            if stands_at(gate, record, value) && !is_open(desk, gate)? {
                let name = field.name.name_in(desk.caller.speech);
                problems.push(closed(gate, ProblemLocation::Parameter(name.into())));
            }
        }
    }
    Ok(problems)
}

/// Whether a record of the account may have a value in a field: what is filled in passes the same
/// gates as what is sent.
pub fn may_have(
    desk: &Desk<'_, '_>,
    record: &Record,
    name: &str,
    value: &str,
) -> Result<bool, Error> {
    let value = Value::from(value);
    for gate in record.of.field(name).map_or(&[][..], |field| field.gates) {
        if stands_at(gate, record, &value) && !is_open(desk, gate)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every gate, with where it stands: a resource or an operation by its name, and a field of it or
/// nothing.
pub fn gates() -> Vec<(&'static str, &'static str, Gate)> {
    let of_resources = RESOURCES.iter().flat_map(|of| {
        let whole = of.gate.map(|gate| (of.name, "", gate));
        let fields = of.fields.iter().flat_map(|field| {
            let gates = field.gates.iter();
            gates.map(|gate| (of.name, field.name.post, *gate))
        });
        whole.into_iter().chain(fields)
    });
    let of_operations = CUSTOM.iter().copied().flatten().flat_map(|custom| {
        let whole = custom.gate.map(|gate| (custom.id, "", gate));
        let params = custom.params.iter().flat_map(|field| {
            let gates = field.gates.iter();
            gates.map(|gate| (custom.id, field.name.post, *gate))
        });
        whole.into_iter().chain(params)
    });
    of_resources.chain(of_operations).collect()
}
