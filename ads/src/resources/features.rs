//! Features that an account may use.

use base::Stop;
use base::refusal::Problem;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::declare::{Custom, Field};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::Kind;

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

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Stop> {
    checked(given)?;
    let mut all = granted(desk)?;
    if given.has("feature_keys") {
        let asked = given.texts("feature_keys");
        all.retain(|feature| asked.contains(feature));
    }
    Ok(Answer::one(&json!(all)))
}

fn add(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Stop> {
    checked(given)?;
    let mut all = granted(desk)?;
    all.extend(given.texts("feature_keys"));
    set(desk, all)
}

fn remove(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Stop> {
    checked(given)?;
    let gone = given.texts("feature_keys");
    let mut all = granted(desk)?;
    all.retain(|feature| !gone.contains(feature));
    set(desk, all)
}

fn granted(desk: &Desk<'_, '_>) -> Result<Vec<String>, Stop> {
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
pub fn set(desk: &mut Desk<'_, '_>, mut all: Vec<String>) -> Result<Answer, Stop> {
    all.sort_unstable();
    all.dedup();
    let mut account = desk.account()?.record.clone();
    account.set("features", json!(all));
    account.updated_at = desk.now();
    desk.keep(&account)?;
    Ok(Answer::one(&Value::from(all)))
}

/// Whether the account has a feature.
pub fn has(desk: &Desk<'_, '_>, feature: &str) -> Result<bool, Stop> {
    Ok(desk.account()?.record.has("features", feature))
}

/// Refuses what only accounts with a feature may do.
pub fn need(desk: &Desk<'_, '_>, feature: &str) -> Result<(), Stop> {
    if has(desk, feature)? {
        return Ok(());
    }
    let message = format!("This account does not have the feature {feature}");
    Err(Problem::new("FEATURE_NOT_AVAILABLE", message).into())
}
