//! Targeting criteria: whom a line item is shown to.

mod combination_rules;

use ads_engine::account_context::unknown_record;
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, FeatureGate, FieldSpec, Kind, ListFilter, ParsedParams, RecordChange,
    Resource, ResourceVerb, ValidationRule, engine, parse_record_id,
};
use base::refusal::AdsProblem;
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;
use store::records;
use store::users::User;

use crate::option_catalog;
use crate::resources::app_lists::APP_LIST;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::categories::is_iab_category;
use crate::resources::custom_audiences;
use crate::resources::line_item_curated_categories::{self, MAX_EXCLUDED_PUBLISHERS};
use crate::resources::line_items::LINE_ITEM;
use crate::resources::promotable_users::PROMOTABLE_USER;
use crate::resources::{audience_targeting, hash_key, promotable_users};
use crate::targeting_values::{find_label, find_location_type};

pub static TARGETING_CRITERION: Resource = Resource {
    name: "targeting_criterion",
    id: VocabularyWord::same_in_both("targeting_criterion_id"),
    path: "targeting_criteria",
    label: "targeting criterion",
    not_found: "TARGETING_CRITERION_NOT_FOUND",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::one_of("targeting_type", TARGETING_TYPES)
            .label("Type")
            .required()
            .immutable()
            .requires_features(TYPE_GATES),
        FieldSpec::text("targeting_value", 1, 255)
            .label("Value")
            .help("A keyword, a location ID, a language such as en, AGE_18_TO_34, an audience ID or a user ID.")
            .required()
            .immutable(),
        FieldSpec::one_of("operator_type", &["EQ", "NE", "GTE", "LT"]).label("Operator").immutable().default_word("EQ"),
        FieldSpec::text("name", 0, 255).set_by_server(),
        // A hash, so that a duplicate is found without scanning the line item's criteria.
        FieldSpec::new("same", Kind::int(0, i64::MAX)).set_by_server().hidden(),
        FieldSpec::new("alike", Kind::int(0, i64::MAX)).set_by_server().hidden(),
        FieldSpec::new("audience", Kind::int(0, i64::MAX)).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM).required(),
        ListFilter::ids("targeting_criterion_ids", "id", &TARGETING_CRITERION),
        ListFilter::new("lang", "", Kind::text(2, 5)),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    max_batch_items: 500,
    batch_data_type: "targeting_criterion",
    rate_class: AdsRateClass::High,
    rules: &[
        ValidationRule::OnRecord(validate_operator),
        ValidationRule::OnRecord(validate_value),
        ValidationRule::InContext(validate_batch_only),
        ValidationRule::InContext(validate_option),
        ValidationRule::InContext(resolve_criterion_name),
        ValidationRule::InContext(resolve_audience),
        ValidationRule::InContext(enforce_criteria_limit),
    ],
    history_name: "TARGETING_CRITERIA",
    find_duplicate: Some(find_duplicate),
    after_change: Some(refresh_audience_reach),
    validate_batch: Some(combination_rules::validate_combinations),
    compute_fields: Some(location_type_fields),
    ..Resource::DEFAULT
};

/// Types that require a feature.
const TYPE_GATES: &[FeatureGate] = &[
    FeatureGate::new("AGE_TARGETING").for_values(&["AGE"]),
    FeatureGate::new("EVENT_TARGETING").for_values(&["EVENT"]),
    FeatureGate::new("ENGAGER_RETARGETING").for_values(&[
        "CAMPAIGN_ENGAGEMENT",
        "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
        "ENGAGEMENT_TYPE",
        "USER_ENGAGEMENT",
        "USER_ENGAGEMENT_LOOKALIKE",
    ]),
    FeatureGate::new("INSTALLED_APP_CATEGORY_TARGETING")
        .for_values(&["APP_STORE_CATEGORY", "APP_STORE_CATEGORY_LOOKALIKE"]),
];

pub const TARGETING_TYPES: &[&str] = &[
    "AGE",
    "APP_LIST",
    "APP_STORE_CATEGORY",
    "APP_STORE_CATEGORY_LOOKALIKE",
    "BROAD_KEYWORD",
    "CAMPAIGN_ENGAGEMENT",
    "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
    "CONTENT_PUBLISHER_USER",
    "CONVERSATION",
    "CUSTOM_AUDIENCE",
    "CUSTOM_AUDIENCE_EXPANDED",
    "DEVICE",
    "ENGAGEMENT_TYPE",
    "EVENT",
    "EXACT_KEYWORD",
    "FOLLOWERS_OF_USER",
    "GENDER",
    "IAB_CATEGORY",
    "INTEREST",
    "LANGUAGE",
    "LIVE_TV_EVENT",
    "LOCATION",
    "NETWORK_ACTIVATION_DURATION",
    "NETWORK_OPERATOR",
    "PHRASE_KEYWORD",
    "PLATFORM",
    "PLATFORM_VERSION",
    "SIMILAR_TO_FOLLOWERS_OF_USER",
    "TV_SHOW",
    "UNORDERED_KEYWORD",
    "USER_ENGAGEMENT",
    "USER_ENGAGEMENT_LOOKALIKE",
    "WIFI_ONLY",
];

/// Age segments (contract ads §9.4).
pub const AGE_BUCKETS: &[&str] = &[
    "AGE_13_TO_24",
    "AGE_13_TO_34",
    "AGE_13_TO_49",
    "AGE_13_TO_54",
    "AGE_OVER_13",
    "AGE_18_TO_34",
    "AGE_18_TO_49",
    "AGE_18_TO_54",
    "AGE_OVER_18",
    "AGE_21_TO_34",
    "AGE_21_TO_49",
    "AGE_21_TO_54",
    "AGE_OVER_21",
    "AGE_25_TO_49",
    "AGE_25_TO_54",
    "AGE_OVER_25",
    "AGE_35_TO_49",
    "AGE_35_TO_54",
    "AGE_OVER_35",
    "AGE_OVER_50",
];

pub const ENGAGEMENT_TYPES: &[&str] =
    &["IMPRESSION", "ENGAGEMENT", "VIDEO_VIEW", "VIDEO_VIEW_PARTIAL", "VIDEO_VIEW_COMPLETE"];

/// The operators of a targeting type.
pub fn allowed_operators(kind: &str) -> &'static [&'static str] {
    match kind {
        kind if kind.ends_with("_KEYWORD") => &["EQ", "NE"],
        "CUSTOM_AUDIENCE" | "IAB_CATEGORY" => &["EQ", "NE"],
        "PLATFORM_VERSION" => &["EQ", "GTE"],
        "NETWORK_ACTIVATION_DURATION" => &["LT", "GTE"],
        "APP_LIST" | "CONTENT_PUBLISHER_USER" => &["NE"],
        _ => &["EQ"],
    }
}

fn validate_operator(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    let (kind, operator) = (record.text("targeting_type"), record.text("operator_type"));
    let allowed = allowed_operators(kind);
    if allowed.contains(&operator) {
        return Ok(());
    }
    let message = format!("{kind} takes {}, not {operator}", allowed.join(", "));
    Err(AdsProblem::invalid_attribute("operator_type", message))
}

fn validate_value(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    validate_targeting_value(record.text("targeting_type"), record.text("targeting_value"))
}

pub fn validate_targeting_value(kind: &str, value: &str) -> Result<(), AdsProblem> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let sound = match kind {
        "AGE" => AGE_BUCKETS.contains(&value),
        "GENDER" => ["1", "2"].contains(&value),
        "WIFI_ONLY" => value == "1",
        "ENGAGEMENT_TYPE" => ENGAGEMENT_TYPES.contains(&value),
        "LOCATION" => value.len() == 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "IAB_CATEGORY" => is_iab_category(value),
        "PLATFORM" => ["0", "1", "2", "3", "4"].contains(&value),
        "FOLLOWERS_OF_USER"
        | "SIMILAR_TO_FOLLOWERS_OF_USER"
        | "CONTENT_PUBLISHER_USER"
        | "NETWORK_ACTIVATION_DURATION"
        | "INTEREST" => digits && value.len() < 20,
        _ => !value.trim().is_empty(),
    };
    if sound {
        return Ok(());
    }
    let code = if kind == "IAB_CATEGORY" { "INVALID_IAB_CATEGORY" } else { "INVALID_PARAMETER" };
    Err(unknown_value(kind, value).with_code(code))
}

/// Types that are accepted in complete sets only.
pub const BATCH_ONLY_TYPES: &[&str] = &["IAB_CATEGORY", "CONTENT_PUBLISHER_USER"];

fn validate_batch_only(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let kind = change.record.text("targeting_type");
    if change.verb == ResourceVerb::Delete || ctx.batch.is_some() || !BATCH_ONLY_TYPES.contains(&kind) {
        return Ok(());
    }
    let message = format!("Criteria of {kind} are made in a batch only");
    let problem = AdsProblem::invalid_parameter("targeting_type", kind, message);
    Err(problem.with_code("INVALID_TARGETING_TYPE").into())
}

fn validate_option(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    write_option_in_lower_case(ctx, &mut change.record)?;
    let record = &change.record;
    let (kind, value) = (record.text("targeting_type"), record.text("targeting_value"));
    if let Some(found) = require_option(ctx, kind, value)? {
        let id = found.formatted_id();
        let name = match find_promotable_username(ctx, &found)? {
            Some(username) => username,
            None => found.text("name").to_owned(),
        };
        change.record.set("targeting_value", id);
        change.record.set("name", name);
    }
    Ok(())
}

/// Ids are read without case. Operators may have added options whose ids have capitals.
fn write_option_in_lower_case(ctx: &mut AccountContext<'_, '_>, record: &mut AdsRecord) -> Result<(), Error> {
    let (kind, value) = (record.text("targeting_type"), record.text("targeting_value"));
    let lower = value.to_ascii_lowercase();
    if lower != value && is_listed_type(kind) && find_label(ctx.tx, kind, &lower)?.is_some() {
        record.set("targeting_value", lower);
    }
    Ok(())
}

/// Requires a listed option, a known place, or a record of the account, which is returned.
pub fn require_option(ctx: &mut AccountContext<'_, '_>, kind: &str, value: &str) -> Result<Option<AdsRecord>, Error> {
    let own = match kind.strip_suffix("_LOOKALIKE").unwrap_or(kind) {
        "CAMPAIGN_ENGAGEMENT" => &CAMPAIGN,
        "USER_ENGAGEMENT" => &PROMOTABLE_USER,
        "APP_LIST" => &APP_LIST,
        one if is_listed_type(one) => {
            if find_label(ctx.tx, one, value)?.is_some() {
                return Ok(None);
            }
            return Err(unknown_value(kind, value).into());
        }
        _ => return Ok(None),
    };
    let id = parse_record_id(own.id_format, "targeting_value", value)?;
    let found = ctx.find_record(own, id)?.filter(|found| !found.deleted);
    found.map(Some).ok_or_else(|| unknown_record(own, "targeting_value", value).into())
}

fn is_listed_type(kind: &str) -> bool {
    ["LOCATION", "LANGUAGE", "LIVE_TV_EVENT"].contains(&kind) || option_catalog::OPTION_TYPES.contains(&kind)
}

fn unknown_value(kind: &str, value: &str) -> AdsProblem {
    let message = format!("\"{value}\" is not a value of {kind}");
    AdsProblem::invalid_parameter("targeting_value", value.to_owned(), message)
}

fn find_promotable_username(ctx: &mut AccountContext<'_, '_>, found: &AdsRecord) -> Result<Option<String>, Error> {
    if found.resource.name != PROMOTABLE_USER.name {
        return Ok(None);
    }
    let user = UserId::new(found.int("user_id").unwrap_or(0));
    Ok(store::users::find_by_id(ctx.tx, user)?.map(|user| user.username))
}

/// Followers can only be targeted of the account's own user.
fn resolve_criterion_name(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let kind = change.record.text("targeting_type").to_owned();
    let value = change.record.text("targeting_value").to_owned();
    if change.record.get("name").is_some() {
        return Ok(());
    }
    let name = match find_named_user(ctx, &kind, &value)? {
        Some(user) => user.username,
        None => find_label(ctx.tx, &kind, &value)?.unwrap_or(value),
    };
    change.record.set("name", name);
    Ok(())
}

/// The user a criterion names, if its type names one: an existing user, and for followers the account's own.
pub fn find_named_user(ctx: &mut AccountContext<'_, '_>, kind: &str, value: &str) -> Result<Option<User>, Error> {
    if !(kind.ends_with("OF_USER") || kind == "CONTENT_PUBLISHER_USER") {
        return Ok(None);
    }
    let user = UserId::parse(value).unwrap_or_else(|| UserId::new(0));
    let own = kind != "FOLLOWERS_OF_USER" || promotable_users::find_own_user(ctx)? == Some(user);
    let found = store::users::find_by_id(ctx.tx, user)?.filter(|_| own);
    if found.is_some() {
        return Ok(found);
    }
    let message = format!("The user {value} cannot be targeted by this account");
    Err(AdsProblem::invalid_attribute("targeting_value", message).with_code("INVALID_USER_ID").into())
}

fn max_criteria(kind: &str) -> i64 {
    match kind {
        kind if kind.ends_with("_KEYWORD") => 1000,
        "LOCATION" => 2000,
        "INTEREST" | "SIMILAR_TO_FOLLOWERS_OF_USER" => 100,
        "AGE" | "EVENT" => 1,
        "CONTENT_PUBLISHER_USER" => 50,
        _ => i64::MAX,
    }
}

fn enforce_criteria_limit(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        ctx.criteria_counts.clear();
        return Ok(());
    }
    let record = &change.record;
    let kind = record.text("targeting_type").to_owned();
    let group = if kind.ends_with("_KEYWORD") { KEYWORD_GROUP } else { kind.as_str() };
    let item = record.int("line_item_id").unwrap_or(0);
    let alike = group_key(item, group);
    let value = record.text("targeting_value").to_lowercase();
    let same = hash_key(&[&item.to_string(), &kind, &value, record.text("operator_type")]);
    change.record.set("same", same);
    change.record.set("alike", alike);
    let curated = line_item_curated_categories::find_by_line_item(ctx, item)?.is_some();
    if kind == "IAB_CATEGORY" && curated {
        let message = "The line item has a curated category already";
        return Err(AdsProblem::invalid_attribute("targeting_type", message).into());
    }
    let limit = match kind.as_str() {
        "CONTENT_PUBLISHER_USER" if curated => MAX_EXCLUDED_PUBLISHERS,
        other => max_criteria(other),
    };
    let account = ctx.account_id()?;
    let count = |ctx: &mut AccountContext<'_, '_>, field, value| {
        records::count_by_field(ctx.tx, TARGETING_CRITERION.name, account, (field, value))
    };
    if count(ctx, "same", same)? > 0 {
        return Ok(());
    }
    // A batch counts once, after its deletions.
    let there = match ctx.criteria_counts.get(&alike) {
        Some(there) => *there,
        None => count(ctx, "alike", alike)?,
    };
    if there < limit {
        ctx.criteria_counts.insert(alike, there + 1);
        return Ok(());
    }
    let what = if kind.ends_with("_KEYWORD") { "keywords of all types" } else { &format!("criteria of {kind}") };
    let message = format!("A line item has at most {limit} {what}");
    Err(AdsProblem::invalid_attribute("targeting_type", message).into())
}

/// Keywords of all types count together.
pub const KEYWORD_GROUP: &str = "KEYWORD";

/// A hash of a line item and criterion type, or [`KEYWORD_GROUP`].
pub fn group_key(item: i64, kind: &str) -> i64 {
    hash_key(&[&item.to_string(), kind])
}

pub fn list_by_type(ctx: &mut AccountContext<'_, '_>, item: i64, kind: &str) -> Result<Vec<AdsRecord>, Error> {
    ctx.list_visible_records(&TARGETING_CRITERION, "alike", group_key(item, kind))
}

/// Requires an audience that the account owns or may use, and that is large enough.
fn resolve_audience(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let kind = change.record.text("targeting_type").to_owned();
    if change.verb == ResourceVerb::Delete || !kind.starts_with("CUSTOM_AUDIENCE") {
        return Ok(());
    }
    let value = change.record.text("targeting_value").to_owned();
    let audience = custom_audiences::require_targetable(ctx, &value)?;
    let id = audience.id;
    let other = if kind == "CUSTOM_AUDIENCE" { "CUSTOM_AUDIENCE_EXPANDED" } else { "CUSTOM_AUDIENCE" };
    let item = change.record.int("line_item_id").unwrap_or(0);
    let others = ctx.list_visible_records(&TARGETING_CRITERION, "alike", group_key(item, other))?;
    if others.iter().any(|one| one.int("audience") == Some(id)) {
        let message = "A line item targets an audience or those who are like it, and not both";
        return Err(AdsProblem::invalid_attribute("targeting_value", message).into());
    }
    let record = &mut change.record;
    record.set("targeting_value", audience.formatted_id());
    record.set("name", audience.text("name").to_owned());
    record.set("audience", id);
    Ok(())
}

/// Targets a platform required by another change, unless devices of it are targeted.
pub fn add_platform(ctx: &mut AccountContext<'_, '_>, item: i64, platform: &str) -> Result<(), Error> {
    for device in list_by_type(ctx, item, "DEVICE")? {
        let value = device.text("targeting_value");
        if combination_rules::device_platform(ctx, value)? == Some(platform) {
            return Ok(());
        }
    }
    let mut params = ParsedParams::default();
    params.insert("line_item_id", item.into());
    params.insert("targeting_type", "PLATFORM".into());
    params.insert("targeting_value", platform.into());
    engine::create(ctx, &TARGETING_CRITERION, &params).map(|_| ())
}

/// Ends the targeting of a platform that [`add_platform`] began.
pub fn remove_platform(ctx: &mut AccountContext<'_, '_>, item: i64, platform: &str) -> Result<(), Error> {
    for criterion in list_by_type(ctx, item, "PLATFORM")? {
        if criterion.text("targeting_value") == platform && criterion.text("operator_type") == "EQ" {
            engine::delete(ctx, &TARGETING_CRITERION, criterion.id)?;
        }
    }
    Ok(())
}

fn refresh_audience_reach(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let record = &change.record;
    if record.get("audience").is_none() {
        return Ok(());
    }
    audience_targeting::refresh_line_item_reach(ctx, record.int("line_item_id").unwrap_or(0))
}

/// Sets the location type of places.
fn location_type_fields(
    ctx: &mut AccountContext<'_, '_>,
    all: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let mut members = Vec::with_capacity(all.len());
    for one in all {
        let mut extra = Vec::new();
        if one.text("targeting_type") == "LOCATION" {
            let kind = find_location_type(ctx.tx, one.text("targeting_value"))?;
            extra.push(("location_type", kind.into()));
        }
        members.push(extra);
    }
    Ok(members)
}

fn find_duplicate(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<Option<AdsRecord>, Error> {
    let same = record.int("same").unwrap_or(0);
    let all = ctx.list_visible_records(&TARGETING_CRITERION, "same", same)?;
    Ok(all.into_iter().next())
}
