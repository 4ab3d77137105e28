//! Features enabled for an account.

use ads_engine::engine::ensure_valid_params;
use ads_engine::{AccountContext, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams};
use base::Error;
use serde_json::{Value, json};

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

const KEYS: FieldSpec = FieldSpec::new("feature_keys", Kind::one_of(ALL_FEATURES).list(1, ALL_FEATURES.len()));

/// Whether accounts without a feature are refused.
pub const GATE_MODES: &[&str] = &["lenient", "strict"];

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsFeatures", "features", list_features)
        .summary("Features that an account may use.")
        .params(&[KEYS]),
    CustomOperation::post("addAdsFeatures", "features", add_features)
        .summary("Sandbox only: gives an account features.")
        .params(&[KEYS.required()])
        .sandbox_only(),
    CustomOperation::delete("removeAdsFeatures", "features", remove_features)
        .summary("Sandbox only: takes features from an account.")
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
    Ok(OperationOutput::from_value(json!(all)))
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
    Ok(OperationOutput::from_value(Value::from(all)))
}
