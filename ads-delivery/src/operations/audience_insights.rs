//! Who an audience is: shares of ages, genders, languages, countries and platforms, from the sets that targeting uses.

use ads::gazetteer::gazetteer;
use ads::resources::app_event_tags::APP_EVENT_TAG;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads::resources::promotable_users::{self, PROMOTABLE_USER};
use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads::targeting_values::PLATFORMS;
use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CustomOperation, FieldSpec, OperationOutput, ParsedParams, RequiredRole,
    Resource, parse_record_id,
};
use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Map, Value, json};
use store::records;

use crate::evaluator::{CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion};

const AUDIENCE_TYPES: &[&str] = &["ALL_ON_TWITTER", "APP", "CAMPAIGN", "ORGANIC"];
const INTERACTIONS: &[&str] = &["CONVERSION", "ENGAGEMENT", "IMPRESSION"];
/// Campaigns and audiences that are combined.
const MAX_SOURCES: usize = 200;
/// Values shown of one characteristic.
const MAX_VALUES: usize = 50;

pub(super) static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsAudienceInsights", "/insights/accounts/{account_id}", show_insights)
        .summary("Characteristics of the people in an audience, in percent.")
        .requires_role(RequiredRole::CampaignReader)
        .rate_limited(AdsRateClass::AudienceInsights)
        .params(&[
            FieldSpec::one_of("audience_type", AUDIENCE_TYPES).required(),
            FieldSpec::text("audience_value", 1, 64),
            FieldSpec::one_of("interaction_type", INTERACTIONS),
        ]),
    CustomOperation::get(
        "getAdsAvailableAudiences",
        "/insights/accounts/{account_id}/available_audiences",
        list_available_audiences,
    )
    .summary("The audiences that there are insights of.")
    .requires_role(RequiredRole::CampaignReader)
    .rate_limited(AdsRateClass::AudienceInsights),
];

/// A characteristic, and the criteria of its values with their names.
type Characteristic = (&'static str, &'static str, Vec<(String, String)>);

fn characteristics() -> Vec<Characteristic> {
    let pairs = |all: &[(&str, &str)]| all.iter().map(|(value, name)| ((*value).into(), (*name).into())).collect();
    let countries = gazetteer().all().iter().filter(|place| place.kind == "COUNTRIES");
    vec![
        (
            "age",
            "AGE",
            pairs(&[
                ("AGE_13_TO_24", "13 to 24"),
                ("AGE_25_TO_34", "25 to 34"),
                ("AGE_35_TO_49", "35 to 49"),
                ("AGE_OVER_50", "50 and up"),
            ]),
        ),
        ("gender", "GENDER", pairs(&[("1", "Male"), ("2", "Female")])),
        ("language", "LANGUAGE", LANGUAGES.iter().map(|code| ((*code).to_owned(), (*code).to_owned())).collect()),
        ("country", "LOCATION", countries.map(|place| (place.id.clone(), place.name.to_owned())).collect()),
        (
            "device",
            "PLATFORM",
            // Nobody is known to have a BlackBerry.
            PLATFORMS
                .iter()
                .filter(|(id, _)| *id != "2")
                .map(|(id, name)| ((*id).to_owned(), (*name).to_owned()))
                .collect(),
        ),
    ]
}

const LANGUAGES: &[&str] = &[
    "ar", "da", "de", "en", "es", "fi", "fr", "hi", "id", "it", "ja", "ko", "nl", "no", "pl", "pt", "ru", "sv", "tr",
    "uk", "zh",
];

fn criterion(kind: &str, value: String) -> TargetingCriterion {
    TargetingCriterion { kind: kind.to_owned(), value, operator: CriterionOperator::Eq }
}

fn show_insights(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let mut audience = TargetedAudience::from_account(ctx)?;
    audience.criteria = audience_criteria(ctx, params)?;
    let everyone = params.text("audience_type") == Some("ALL_ON_TWITTER");
    let evaluator = Evaluator::from_context(ctx)?;
    // An audience without a source has nobody in it, while one without criteria is everyone.
    let total = if audience.criteria.is_empty() && !everyone {
        0
    } else {
        evaluator.estimate(ctx.tx, &audience)?.displayed_count()
    };
    let mut data = Map::new();
    for (name, kind, values) in characteristics() {
        let mut results = Vec::new();
        for (value, label) in values {
            if total == 0 {
                break;
            }
            let mut part = audience.clone();
            part.criteria.push(criterion(kind, value.clone()));
            let estimate = evaluator.estimate(ctx.tx, &part)?;
            let count = estimate.displayed_count().min(total);
            if count > 0 && estimate.ignored_types.is_empty() {
                results.push((count, label, value));
            }
        }
        results.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.2.cmp(&other.2)));
        results.truncate(MAX_VALUES);
        let shown = results.iter().map(
            |(count, label, value)| json!({ "name": label, "value": value, "percentage": percentage(*count, total) }),
        );
        data.insert(name.to_owned(), json!({ "results": shown.collect::<Vec<Value>>() }));
    }
    Ok(OperationOutput::from_value(data.into()))
}

/// With two decimals.
fn percentage(count: u64, total: u64) -> f64 {
    let hundredths = u128::from(count) * 10_000 / u128::from(total.max(1));
    f64::from(u32::try_from(hundredths).unwrap_or(10_000)) / 100.0
}

fn audience_criteria(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<Vec<TargetingCriterion>, Error> {
    let interaction = params.text("interaction_type");
    let value = params.text("audience_value");
    match params.text("audience_type") {
        Some("APP") => {
            let app = value.ok_or_else(|| AdsProblem::missing_parameter("audience_value"))?;
            tag_audiences(ctx, &APP_EVENT_TAG, Some(app))
        }
        Some("CAMPAIGN") => {
            let interaction = interaction.ok_or_else(|| AdsProblem::missing_parameter("interaction_type"))?;
            if interaction == "CONVERSION" {
                return tag_audiences(ctx, &WEB_EVENT_TAG, None);
            }
            let mut criteria: Vec<TargetingCriterion> = campaign_ids(ctx, value)?
                .into_iter()
                .map(|id| criterion("CAMPAIGN_ENGAGEMENT", CAMPAIGN.id_format.format(id)))
                .collect();
            if !criteria.is_empty() {
                criteria.push(criterion("ENGAGEMENT_TYPE", interaction.to_owned()));
            }
            Ok(criteria)
        }
        Some("ORGANIC") => {
            let users = promotable_users::list_all(ctx)?;
            Ok(users
                .iter()
                .map(|user| criterion("USER_ENGAGEMENT", PROMOTABLE_USER.id_format.format(user.id)))
                .collect())
        }
        _ => Ok(Vec::new()),
    }
}

fn campaign_ids(ctx: &mut AccountContext<'_, '_>, value: Option<&str>) -> Result<Vec<i64>, Error> {
    if let Some(value) = value {
        let id = parse_record_id(CAMPAIGN.id_format, "audience_value", value)?;
        return Ok(vec![ctx.require_record(&CAMPAIGN, id)?.id]);
    }
    let account = ctx.account_id()?;
    let mut ids = records::list_ids_by_account(ctx.tx, CAMPAIGN.name, account)?;
    ids.reverse();
    ids.truncate(MAX_SOURCES);
    Ok(ids)
}

/// The audiences of the account's tags, or of the tags of one app.
fn tag_audiences(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    app: Option<&str>,
) -> Result<Vec<TargetingCriterion>, Error> {
    let account = ctx.account_id()?;
    let mut criteria = Vec::new();
    for row in records::list_by_account(ctx.tx, resource.name, account)? {
        let tag = AdsRecord::from_stored(resource, row)?;
        let fits = app.is_none_or(|app| tag.text("app_store_identifier") == app);
        if let Some(id) = tag.int("audience_id").filter(|_| fits && criteria.len() < MAX_SOURCES) {
            criteria.push(criterion("CUSTOM_AUDIENCE", CUSTOM_AUDIENCE.id_format.format(id)));
        }
    }
    Ok(criteria)
}

fn list_available_audiences(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let account = ctx.account_id()?;
    let entry = |kind: &str, value: Option<String>, interaction: Option<&str>| json!({ "audience_type": kind, "audience_value": value, "interaction_type": interaction });
    let mut all = vec![entry("ALL_ON_TWITTER", None, None)];
    if !promotable_users::list_all(ctx)?.is_empty() {
        all.push(entry("ORGANIC", None, Some("ENGAGEMENT")));
    }
    if !campaign_ids(ctx, None)?.is_empty() {
        all.extend(["IMPRESSION", "ENGAGEMENT"].map(|interaction| entry("CAMPAIGN", None, Some(interaction))));
    }
    if !tag_audiences(ctx, &WEB_EVENT_TAG, None)?.is_empty() {
        all.push(entry("CAMPAIGN", None, Some("CONVERSION")));
    }
    let mut apps: Vec<String> = Vec::new();
    for row in records::list_by_account(ctx.tx, APP_EVENT_TAG.name, account)? {
        let tag = AdsRecord::from_stored(&APP_EVENT_TAG, row)?;
        let app = tag.text("app_store_identifier").to_owned();
        if tag.int("audience_id").is_some() && !apps.contains(&app) {
            apps.push(app);
        }
    }
    all.extend(apps.into_iter().map(|app| entry("APP", Some(app), Some("CONVERSION"))));
    Ok(OperationOutput::from_value(all.into()))
}
