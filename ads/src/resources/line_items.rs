//! Line items: what a campaign shows, to whom, when, and at what price.

mod advertiser;
pub mod campaign_limits;
pub mod objectives;

use std::collections::{HashMap, HashSet};

use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CURRENCIES, CustomOperation, FeatureGate, FieldRequirement, FieldSpec,
    Kind, ListFilter, RecordChange, RequiredRole, Resource, ResourceVerb, ValidationRule, feature_gates, history,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::{Value, json};
use store::records;

use crate::resources::account_apps;
use crate::resources::campaigns::{self, CAMPAIGN, validate_daily_below_total, validate_status_transition};
use crate::resources::categories::expand_business_categories;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::targeting_criteria::{self, KEYWORD_GROUP};
use crate::resources::{accounts, promotable_users, servability};
use objectives::{PRODUCTS, objective_rules};

pub use objectives::{GOALS, OBJECTIVES, PAY_BY, is_publisher_network, result_metric};

pub static LINE_ITEM: Resource = Resource {
    name: "line_item",
    id: VocabularyWord::same_in_both("line_item_id"),
    path: "line_items",
    label: "line item",
    not_found: "LINE_ITEM_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 255).label("Name"),
        FieldSpec::parent("campaign_id", &CAMPAIGN).required(),
        FieldSpec::reference("funding_instrument_id", &FUNDING_INSTRUMENT).set_by_server(),
        FieldSpec::one_of("currency", CURRENCIES).set_by_server(),
        FieldSpec::new("product_type", Kind::word(PRODUCTS)).label("Product type").required().immutable(),
        FieldSpec::one_of("objective", OBJECTIVES)
            .label("Objective")
            .required()
            .immutable()
            .requires_features(&[FeatureGate::new("PREROLL_VIEWS_OBJECTIVE").for_values(&["PREROLL_VIEWS"])]),
        FieldSpec::one_of("goal", GOALS).label("Goal").advanced(),
        FieldSpec::one_of("pay_by", PAY_BY).label("Pay by").kept_when_unset().advanced().requires_features(&[
            FeatureGate::new("WEBSITE_CLICKS_CPM_BILLING")
                .for_values(&["IMPRESSION"])
                .only_if_field("objective", "WEBSITE_CLICKS"),
        ]),
        FieldSpec::one_of("bid_strategy", &["AUTO", "MAX", "TARGET"]).label("Bid"),
        FieldSpec::new("placements", Kind::one_of(PLACEMENTS).list(1, PLACEMENTS.len()))
            .label("Placements")
            .required()
            .immutable(),
        FieldSpec::money(BID_AMOUNT)
            .label("Bid amount")
            .help("Per result. Needed unless the bid is automatic. For example 0.15."),
        FieldSpec::money("target_cpa_local_micro").set_by_server(),
        campaigns::DAILY_BUDGET_FIELD,
        campaigns::TOTAL_BUDGET_FIELD,
        FieldSpec::new("standard_delivery", Kind::BOOL).immutable(),
        FieldSpec::new("start_time", Kind::TIME).label("Starts").kept_when_unset(),
        FieldSpec::new("end_time", Kind::TIME).label("Ends"),
        FieldSpec::one_of("entity_status", &["ACTIVE", "PAUSED", "DRAFT"]).label("Status").default_word("ACTIVE"),
        FieldSpec::new("frequency_cap", Kind::int(1, 1_000_000))
            .label("Frequency cap")
            .advanced()
            .requires_features(&[FeatureGate::new("REACH_FREQUENCY_CAP")]),
        FieldSpec::new("duration_in_days", Kind::int(1, 30))
            .label("Frequency period in days")
            .help("1, 7 or 30.")
            .advanced(),
        FieldSpec::one_of("audience_expansion", &["BROAD", "DEFINED", "EXPANDED"]),
        FieldSpec::text("advertiser_domain", 1, 255).label("Advertiser’s domain").advanced(),
        FieldSpec::new("categories", Kind::text(1, 16).list(1, 100))
            .label("IAB categories")
            .help("Comma-separated, for example IAB17.")
            .advanced(),
        FieldSpec::new("advertiser_user_id", Kind::ID),
        FieldSpec::text("primary_web_event_tag", 1, 32).label("Web event tag").advanced(),
        FieldSpec::text("android_app_store_identifier", 1, 255).label("Android app").advanced(),
        FieldSpec::text("ios_app_store_identifier", 1, 255).label("iOS app").advanced(),
        FieldSpec::new("automatic_post_promotion", Kind::BOOL).legacy_name("automatic_tweet_promotion").set_by_server(),
        FieldSpec::one_of("creative_source", &["MANUAL"]).set_by_server().default_word("MANUAL"),
        FieldSpec::new("creatives", Kind::int(0, i64::MAX)).set_by_server().hidden().default_number(0),
        FieldSpec::new("serves", Kind::TIME).set_by_server().hidden(),
        // Set when none of the targeted audiences is large enough any more.
        FieldSpec::new("unreached", Kind::BOOL).set_by_server().hidden(),
        // Set while the line item needs keywords and targets none.
        FieldSpec::new("lacks_keywords", Kind::BOOL).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::ids("campaign_ids", "campaign_id", &CAMPAIGN),
        ListFilter::ids("funding_instrument_ids", "funding_instrument_id", &FUNDING_INSTRUMENT),
        ListFilter::ids("line_item_ids", "id", &LINE_ITEM),
    ],
    sort_fields: &[BID_AMOUNT, DAILY_BUDGET, TOTAL_BUDGET, "start_time", "end_time", "standard_delivery"],
    max_name_prefix: 255,
    has_drafts: true,
    max_batch_items: 40,
    rate_class: AdsRateClass::High,
    rules: &[
        ValidationRule::OnRecord(validate_time_range),
        ValidationRule::OnRecord(validate_daily_budget),
        ValidationRule::OnRecord(validate_status_transition),
        ValidationRule::OnRecord(objectives::validate_objective),
        ValidationRule::OnRecord(validate_objective_fields),
        ValidationRule::OnRecord(|change| validate_network_field(change, "advertiser_domain")),
        ValidationRule::OnRecord(|change| validate_network_field(change, "categories")),
        ValidationRule::OnRecord(objectives::validate_placements),
        ValidationRule::OnRecord(validate_frequency_cap),
        ValidationRule::OnRecord(advertiser::validate_categories),
        ValidationRule::OnRecord(advertiser::validate_domain),
        ValidationRule::OnReference("campaign_id", campaign_limits::validate_change),
        ValidationRule::InContext(validate_advertiser_user),
        ValidationRule::InContext(advertiser::validate_web_event_tag),
        ValidationRule::InContext(fill_defaults),
        ValidationRule::InContext(validate_siblings),
        ValidationRule::InContext(enforce_line_item_limit),
        ValidationRule::InContext(validate_budgets),
    ],
    history_name: "LINE_ITEM",
    after_change: Some(sync_apps_and_campaign),
    ..Resource::DEFAULT
};

const BID_AMOUNT: &str = "bid_amount_local_micro";
const DAILY_BUDGET: &str = "daily_budget_amount_local_micro";
const TOTAL_BUDGET: &str = "total_budget_amount_local_micro";
const MAX_PER_CAMPAIGN: usize = 100;

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::put("activateAdsLineItem", "line_items/{line_item_id}/activate", |ctx, params| {
        campaigns::activate(ctx, &LINE_ITEM, params)
    })
    .summary("Makes a line item active.")
    .requires_role(RequiredRole::CampaignWriter)
    .params(&[FieldSpec::reference("line_item_id", &LINE_ITEM).required().update(FieldRequirement::Required)])];

pub const PLACEMENTS: &[&str] = &[
    "ALL_ON_TWITTER",
    "PUBLISHER_NETWORK",
    "SPOTLIGHT",
    "TAP_BANNER",
    "TAP_FULL",
    "TAP_FULL_LANDSCAPE",
    "TAP_MRECT",
    "TAP_NATIVE",
    "TREND",
    "TWITTER_PROFILE",
    "TWITTER_REPLIES",
    "TWITTER_SEARCH",
    "TWITTER_TIMELINE",
];

fn validate_time_range(change: &RecordChange) -> Result<(), AdsProblem> {
    if change.changes_field("start_time") || change.changes_field("end_time") {
        return require_end_after_start(&change.record);
    }
    Ok(())
}

fn require_end_after_start(record: &AdsRecord) -> Result<(), AdsProblem> {
    match (record.int("start_time"), record.int("end_time")) {
        (Some(start), Some(end)) if end <= start => {
            let message = "The end time must be after the start time";
            Err(AdsProblem::invalid_attribute("end_time", message))
        }
        _ => Ok(()),
    }
}

fn validate_daily_budget(change: &RecordChange) -> Result<(), AdsProblem> {
    validate_daily_below_total(&change.record)
}

fn validate_objective_fields(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    let objective = record.text("objective");
    let has_app =
        ["android_app_store_identifier", "ios_app_store_identifier"].iter().any(|name| record.get(name).is_some());
    if objective.starts_with("APP_") && !has_app {
        return Err(field_needed("android_app_store_identifier", objective));
    }
    let converts = record.text("goal") == "WEBSITE_CONVERSIONS";
    if converts && record.text("primary_web_event_tag").is_empty() {
        return Err(field_needed("primary_web_event_tag", "WEBSITE_CONVERSIONS"));
    }
    Ok(())
}

fn field_needed(name: &'static str, why: &str) -> AdsProblem {
    AdsProblem::at_parameter(name, "INCLUSIVE_PARAMETERS", format!("{name} is needed for {why}"))
}

/// Requires a field of line items with placements in other apps. Older ones may be without it.
fn validate_network_field(change: &RecordChange, name: &'static str) -> Result<(), AdsProblem> {
    let record = &change.record;
    if !change.is_new() && !change.changes_field(name) {
        return Ok(());
    }
    let outside = record.texts("placements").into_iter().any(is_publisher_network);
    if outside && record.text(name).is_empty() && record.items(name).is_empty() {
        return Err(field_needed(name, "PUBLISHER_NETWORK"));
    }
    Ok(())
}

fn validate_frequency_cap(change: &RecordChange) -> Result<(), AdsProblem> {
    let record = &change.record;
    let days = record.int("duration_in_days");
    if days.is_some_and(|days| ![1, 7, 30].contains(&days)) {
        let days = days.unwrap_or(0);
        let message = format!("Expected one of 1, 7, 30, got \"{days}\" for duration_in_days");
        return Err(AdsProblem::invalid_parameter("duration_in_days", days, message));
    }
    if record.get("frequency_cap").is_none() {
        return Ok(());
    }
    let objective = record.text("objective");
    if !["REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS"].contains(&objective) {
        let message = format!("{objective} has no frequency cap");
        return Err(AdsProblem::invalid_attribute("frequency_cap", message));
    }
    if days.is_none() {
        return Err(AdsProblem::at_parameter(
            "duration_in_days",
            "INCLUSIVE_PARAMETERS",
            "frequency_cap needs duration_in_days",
        ));
    }
    Ok(())
}

/// The advertised user must be promotable by the account.
fn validate_advertiser_user(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    const NAME: &str = "advertiser_user_id";
    let user = change.record.int(NAME).filter(|_| change.was_sent(NAME));
    let Some(user) = user.filter(|_| change.verb != ResourceVerb::Delete && change.changes_field(NAME)) else {
        return Ok(());
    };
    if promotable_users::find_by_user(ctx, base::UserId::new(user))?.is_some() {
        return Ok(());
    }
    let message = format!("The user {user} is not promoted by this account");
    Err(AdsProblem::invalid_attribute(NAME, message).with_code("INVALID_USER_ID").into())
}

/// Sets fields derived from the campaign, the objective and the account.
fn fill_defaults(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    let now = ctx.now();
    if change.is_new() {
        let id = change.record.int("campaign_id").unwrap_or(0);
        let campaign = ctx.require_record(&CAMPAIGN, id)?;
        change.record.set("currency", campaign.text("currency").to_owned());
        change.record.set("funding_instrument_id", campaign.int("funding_instrument_id"));
        if campaign.text("budget_optimization") == "LINE_ITEM" && change.record.get("standard_delivery").is_none() {
            change.record.set("standard_delivery", 1);
        }
    }
    if change.record.get("advertiser_user_id").is_none() {
        let full = promotable_users::find_own_user(ctx)?;
        change.record.set("advertiser_user_id", full.map(base::Id::get));
    }
    let record = &mut change.record;
    let rules = objective_rules(record.text("objective"));
    let payments = objectives::allowed_payments(record);
    for (name, value) in [("goal", rules.goals), ("pay_by", payments), ("bid_strategy", rules.strategies)] {
        if record.get(name).is_some() {
            continue;
        }
        for value in value {
            if feature_gates::may_set_value(ctx, record, name, value)? {
                record.set(name, *value);
                break;
            }
        }
    }
    if record.text("bid_strategy") == "AUTO" {
        record.set(BID_AMOUNT, Value::Null);
    } else if record.get(BID_AMOUNT).is_none() {
        return Err(AdsProblem::missing_parameter(BID_AMOUNT).into());
    }
    if record.text("objective") == "PREROLL_VIEWS" {
        let Some(all) = expand_business_categories(&record.texts("categories")) else {
            let message = "PREROLL_VIEWS needs the categories of one or two kinds of business";
            return Err(AdsProblem::invalid_attribute("categories", message).into());
        };
        record.set("categories", json!(all));
    }
    if record.get("start_time").is_none() {
        record.set("start_time", now.ms() / 1000 * 1000);
        require_end_after_start(record)?;
    }
    if change.verb == ResourceVerb::Create && objectives::needs_keywords(record) {
        record.set("lacks_keywords", 1);
    }
    update_serves_until(record);
    Ok(())
}

const NEVER: i64 = i64::MAX;

/// Computes until when the line item may serve as far as it depends on itself; candidates are found by it. Those of
/// sandbox accounts never serve.
fn update_serves_until(record: &mut AdsRecord) {
    let is_production = record.account_id > accounts::PRODUCTION_ID_BASE;
    let serves = is_production && record.text("entity_status") == "ACTIVE" && servability::is_complete(record);
    let until = record.int("end_time").unwrap_or(NEVER);
    record.set("serves", serves.then_some(until));
}

/// Limits the line items of an account that are not drafts and have not ended.
fn enforce_line_item_limit(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let now = ctx.now().ms();
    let has_ended = |record: &AdsRecord| record.int("end_time").is_some_and(|end| end <= now);
    let counts = |record: &AdsRecord| !record.deleted && record.text("entity_status") != "DRAFT" && !has_ended(record);
    let before = change.before.as_ref().is_some_and(counts);
    if change.verb == ResourceVerb::Delete || before || !counts(&change.record) {
        return Ok(());
    }
    let account = &ctx.account()?.record;
    let (account, limit) = (account.id, account.int("line_item_limit"));
    let limit = limit.unwrap_or(accounts::MAX_LINE_ITEMS);
    let all = records::count(ctx.tx, LINE_ITEM.name, account)?;
    let over = records::count_up_to(ctx.tx, LINE_ITEM.name, account, "end_time", now)?;
    if all - over < limit {
        return Ok(());
    }
    let message = format!("The account has {limit} active line items, which is its limit");
    Err(AdsProblem::new("TOO_MANY_LINE_ITEMS", message).into())
}

/// Line items of a campaign share objective and product, and their number is limited.
fn validate_siblings(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb != ResourceVerb::Create {
        return Ok(());
    }
    let campaign = change.record.int("campaign_id").unwrap_or(0);
    let siblings = ctx.list_undeleted_records(&LINE_ITEM, "campaign_id", campaign)?;
    if siblings.len() >= MAX_PER_CAMPAIGN {
        let message = format!("The campaign has {MAX_PER_CAMPAIGN} line items, which is its limit");
        return Err(AdsProblem::new("TOO_MANY_LINE_ITEMS", message).into());
    }
    for (name, what) in [("objective", "objectives"), ("product_type", "product types")] {
        if siblings.iter().any(|item| item.text(name) != change.record.text(name)) {
            let message = format!(
                "Line items with different {what} are not allowed under the same campaign \
                 (campaign_id={campaign})"
            );
            return Err(AdsProblem::invalid_attribute(name, message).into());
        }
    }
    Ok(())
}

/// Posts of a line item for an account appear in the timeline (contract ads §4.12).
pub(super) fn add_timeline_placement(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<(), Error> {
    const TIMELINE: &str = "TWITTER_TIMELINE";
    let before = ctx.require_record(&LINE_ITEM, id)?;
    if before.has("placements", TIMELINE) {
        return Ok(());
    }
    let mut record = before.clone();
    let placements = [before.texts("placements"), vec![TIMELINE]].concat();
    record.set("placements", json!(placements));
    record.updated_at = ctx.now();
    ctx.save_record(&record)?;
    let sent_fields = vec!["placements"];
    history::record_history(
        ctx,
        &RecordChange { verb: ResourceVerb::Update, record, before: Some(before), sent_fields },
    )
}

fn validate_budgets(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    campaigns::validate_budgets_cover_spend(ctx, change, store::ledger::AdEntity::LineItem)
}

fn sync_apps_and_campaign(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let record = &change.record;
    for (system, platform, name) in
        [("Android", "1", "android_app_store_identifier"), ("iOS", "0", "ios_app_store_identifier")]
    {
        account_apps::ensure_app(ctx, system, record.text(name))?;
        if change.verb == ResourceVerb::Delete || !change.changes_field(name) {
            continue;
        }
        // App ads target the platform of the app.
        if record.get(name).is_some() {
            targeting_criteria::add_platform(ctx, record.id, platform)?;
        } else if !change.is_new() {
            targeting_criteria::remove_platform(ctx, record.id, platform)?;
        }
    }
    campaigns::update_campaign_summary(ctx, change.record.int("campaign_id").unwrap_or(0))
}

/// Of creatives, which cannot be paused.
pub const CREATIVE_STATUS: FieldSpec =
    FieldSpec::one_of("entity_status", &["ACTIVE"]).set_by_server().default_word("ACTIVE");

/// The creative of the same line item with the same values in `fields`.
pub fn find_same_creative(
    ctx: &mut AccountContext<'_, '_>,
    record: &AdsRecord,
    fields: &[&str],
) -> Result<Option<AdsRecord>, Error> {
    let item = record.int("line_item_id").unwrap_or(0);
    let all = ctx.list_records(record.resource, "line_item_id", item)?;
    let is_same = |other: &AdsRecord| fields.iter().all(|field| other.get(field) == record.get(field));
    Ok(all.into_iter().find(is_same))
}

/// Updates a line item's count of creatives after a change of one.
pub fn recount_creatives(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    let id = change.record.int("line_item_id").unwrap_or(0);
    let Some(mut item) = ctx.find_record(&LINE_ITEM, id)? else {
        return Ok(());
    };
    let account = ctx.account_id()?;
    let mut creatives = 0;
    for kind in objectives::creative_resources(&item) {
        creatives += records::count_by_field(ctx.tx, kind, account, ("line_item_id", id))?;
    }
    if item.int("creatives") == Some(creatives) {
        return Ok(());
    }
    item.set("creatives", creatives);
    update_serves_until(&mut item);
    ctx.save_record(&item)?;
    campaigns::update_campaign_summary(ctx, item.int("campaign_id").unwrap_or(0))
}

/// Records whether a line item has no targetable audience left.
pub fn set_unreached(ctx: &mut AccountContext<'_, '_>, id: i64, unreached: bool) -> Result<(), Error> {
    set_targeting_flag(ctx, id, "unreached", unreached)
}

/// Records whether a line item that needs keywords targets some.
pub fn update_lacks_keywords(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<(), Error> {
    if !ctx.find_record(&LINE_ITEM, id)?.is_some_and(|item| objectives::needs_keywords(&item)) {
        return Ok(());
    }
    let keywords = targeting_criteria::list_by_type(ctx, id, KEYWORD_GROUP)?;
    let lacks = !keywords.iter().any(|one| one.text("operator_type") == "EQ");
    set_targeting_flag(ctx, id, "lacks_keywords", lacks)
}

fn set_targeting_flag(
    ctx: &mut AccountContext<'_, '_>,
    id: i64,
    name: &'static str,
    is_set: bool,
) -> Result<(), Error> {
    let Some(mut item) = ctx.find_record(&LINE_ITEM, id)? else {
        return Ok(());
    };
    if item.flag(name) == is_set {
        return Ok(());
    }
    item.set(name, i64::from(is_set));
    update_serves_until(&mut item);
    ctx.save_record(&item)?;
    campaigns::update_campaign_summary(ctx, item.int("campaign_id").unwrap_or(0))
}

pub fn require_product_type(item: &AdsRecord, products: &[&str], what: &str) -> Result<(), AdsProblem> {
    if products.contains(&item.text("product_type")) {
        return Ok(());
    }
    let message = format!("A line item of this product type does not take {what}");
    Err(AdsProblem::invalid_attribute("line_item_id", message).with_code("INCOMPATIBLE_LINE_ITEM"))
}

/// The states of line items of an account, in order.
pub fn line_item_states(
    ctx: &mut AccountContext<'_, '_>,
    items: &[&AdsRecord],
) -> Result<Vec<servability::Servability>, Error> {
    let ids: HashSet<i64> = items.iter().filter_map(|item| item.int("campaign_id")).collect();
    let mut all = ctx.find_records(&CAMPAIGN, &Vec::from_iter(ids))?;
    let campaigns: HashMap<i64, AdsRecord> = all.iter().map(|one| (one.id, one.clone())).collect();
    all.extend(items.iter().map(|item| (*item).clone()));
    let resources = servability::load_delivery_resources(ctx, &all)?;
    let (approval, now) = (ctx.account()?.record.text("approval_status").to_owned(), ctx.now());
    let states = items.iter().filter_map(|item| {
        let campaign = campaigns.get(&item.int("campaign_id")?)?;
        Some(servability::line_item_servability(item, campaign, &approval, &resources, now))
    });
    Ok(states.collect())
}
