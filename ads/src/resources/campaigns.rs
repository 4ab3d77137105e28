//! Campaigns.

use ads_engine::{
    AccountContext, AccountTimeZone, AdsRateClass, AdsRecord, CustomOperation, FieldRequirement, FieldSpec, JsonShape,
    Kind, ListFilter, OperationOutput, ParsedParams, RecordChange, RequiredRole, Resource, ResourceVerb,
    ValidationRule, engine,
};
use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Refusal, VocabularyWord};
use serde_json::{Value, json};
use store::ledger::AdEntity;
use store::records;

use crate::budget;
use crate::resources::bidding_rules::validate_amount;
use crate::resources::funding_instruments::{self, FUNDING_INSTRUMENT};
use crate::resources::line_items::{LINE_ITEM, campaign_limits};
use crate::resources::servability;

/// Line items paid by one funding instrument.
pub static CAMPAIGN: Resource = Resource {
    name: "campaign",
    id: VocabularyWord::same_in_both("campaign_id"),
    path: "campaigns",
    label: "campaign",
    not_found: "CAMPAIGN_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 255).label("Name").required(),
        FieldSpec::reference("funding_instrument_id", &FUNDING_INSTRUMENT).label("Funding").required(),
        FieldSpec::text("currency", 3, 3).set_by_server(),
        FieldSpec::one_of("budget_optimization", &["CAMPAIGN", "LINE_ITEM"])
            .label("Budget set by")
            .help("If set by line item, each line item has its own budget.")
            .advanced()
            .default_word("CAMPAIGN"),
        DAILY_BUDGET_FIELD,
        TOTAL_BUDGET_FIELD,
        FieldSpec::new("standard_delivery", Kind::BOOL),
        FieldSpec::one_of("entity_status", &["ACTIVE", "PAUSED", "DRAFT"]).label("Status").default_word("ACTIVE"),
        FieldSpec::text("purchase_order_number", 1, 50).label("Purchase order number").advanced(),
        FieldSpec::new("flights", Kind::custom(&JsonShape::new(servability::accept_any_shape)))
            .set_by_server()
            .hidden(),
        FieldSpec::new("ends", Kind::TIME).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::ids("campaign_ids", "id", &CAMPAIGN),
        ListFilter::ids("funding_instrument_ids", "funding_instrument_id", &FUNDING_INSTRUMENT),
    ],
    sort_fields: &["daily_budget_amount_local_micro", "total_budget_amount_local_micro", "standard_delivery"],
    // Those of the line items, in earlier versions of the API.
    constant_sorts: &["start_time", "end_time"],
    max_name_prefix: 255,
    has_drafts: true,
    max_batch_items: 40,
    rate_class: AdsRateClass::High,
    rules: &[
        ValidationRule::OnRecord(validate_daily_budget),
        ValidationRule::OnRecord(validate_delivery_level),
        ValidationRule::OnRecord(validate_status_transition),
        ValidationRule::OnReference("funding_instrument_id", validate_budget_present),
        ValidationRule::OnReference("funding_instrument_id", validate_amounts),
        ValidationRule::InContext(fill_defaults),
        ValidationRule::InContext(validate_budgets),
        ValidationRule::InContext(validate_line_item_limits),
        ValidationRule::InContext(enforce_campaign_limit),
    ],
    history_name: "CAMPAIGN",
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::put("activateAdsCampaign", "campaigns/{campaign_id}/activate", |ctx, params| {
        activate(ctx, &CAMPAIGN, params)
    })
    .summary("Makes a campaign active.")
    .requires_role(RequiredRole::CampaignWriter)
    .params(&[FieldSpec::reference("campaign_id", &CAMPAIGN).required().update(FieldRequirement::Required)])];

pub const DAILY_BUDGET_FIELD: FieldSpec = FieldSpec::money(DAILY_BUDGET)
    .label("Daily budget")
    .help("In the currency of the funding instrument, for example 20.00.");
pub const TOTAL_BUDGET_FIELD: FieldSpec =
    FieldSpec::money(TOTAL_BUDGET).label("Total budget").help("Optional. For the whole run.");
const DAILY_BUDGET: &str = "daily_budget_amount_local_micro";
const TOTAL_BUDGET: &str = "total_budget_amount_local_micro";

/// Activates a campaign or line item without other changes.
pub fn activate(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    engine::ensure_valid_params(params)?;
    let id = engine::path_record_id(resource, params)?;
    let mut change = ParsedParams::default();
    change.insert("entity_status", "ACTIVE".into());
    let record = engine::update(ctx, resource, id, &change)?;
    OperationOutput::from_record(ctx, record)
}

fn validate_daily_budget(change: &RecordChange) -> Result<(), AdsProblem> {
    validate_daily_below_total(&change.record)
}

/// A daily budget must not exceed the total budget.
pub fn validate_daily_below_total(record: &AdsRecord) -> Result<(), AdsProblem> {
    match (record.int(DAILY_BUDGET), record.int(TOTAL_BUDGET)) {
        (Some(daily), Some(total)) if daily > total => {
            let message = "The daily budget must not be above the total budget";
            Err(AdsProblem::invalid_attribute(DAILY_BUDGET, message))
        }
        _ => Ok(()),
    }
}

fn validate_delivery_level(change: &RecordChange) -> Result<(), AdsProblem> {
    let by_line_item = change.record.text("budget_optimization") == "LINE_ITEM";
    if by_line_item && change.was_sent("standard_delivery") && change.record.get("standard_delivery").is_some() {
        let message = "Delivery is set on the line items of this campaign";
        return Err(AdsProblem::invalid_attribute("standard_delivery", message));
    }
    Ok(())
}

/// A record cannot become a draft again, and always has a status.
pub fn validate_status_transition(change: &RecordChange) -> Result<(), AdsProblem> {
    let was = change.before.as_ref().map(|before| before.text("entity_status"));
    let is = change.record.text("entity_status");
    if is.is_empty() || is == "DRAFT" && was.is_some_and(|was| was != "DRAFT") {
        let message = format!("Expected one of ACTIVE, PAUSED, got \"{is}\" for entity_status");
        return Err(AdsProblem::invalid_parameter("entity_status", is, message));
    }
    Ok(())
}

fn validate_budget_present(change: &RecordChange, instrument: &AdsRecord) -> Result<(), AdsProblem> {
    let record = &change.record;
    // Empty means by campaign.
    let needed = record.text("budget_optimization") != "LINE_ITEM" && !funding_instruments::is_order(instrument);
    if !needed || record.get(DAILY_BUDGET).is_some() {
        return Ok(());
    }
    // A daily budget may be kept when switching to a budget for all line items.
    if change.is_new() {
        return Err(AdsProblem::missing_parameter(DAILY_BUDGET));
    }
    if record.get(TOTAL_BUDGET).is_none() {
        let message = "A campaign needs a daily or a total budget";
        return Err(AdsProblem::invalid_attribute(DAILY_BUDGET, message));
    }
    Ok(())
}

fn validate_amounts(change: &RecordChange, instrument: &AdsRecord) -> Result<(), AdsProblem> {
    let currency = instrument.text("currency");
    validate_amount(DAILY_BUDGET, change.record.int(DAILY_BUDGET), currency)?;
    validate_amount(TOTAL_BUDGET, change.record.int(TOTAL_BUDGET), currency)
}

/// Sets fields derived from the funding instrument and the budgets.
fn fill_defaults(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return Ok(());
    }
    if change.is_new() {
        let id = change.record.int("funding_instrument_id").unwrap_or(0);
        let instrument = ctx.require_record(&FUNDING_INSTRUMENT, id)?;
        change.record.set("currency", instrument.text("currency").to_owned());
        change.record.set("flights", json!([]));
    }
    let record = &mut change.record;
    if record.text("budget_optimization").is_empty() {
        record.set("budget_optimization", "CAMPAIGN");
    }
    if record.text("budget_optimization") == "LINE_ITEM" {
        record.set("standard_delivery", Value::Null);
    } else if record.get("standard_delivery").is_none() {
        record.set("standard_delivery", 1);
    }
    Ok(())
}

/// Campaigns count as active unless they are drafts or all their line items have ended.
fn enforce_campaign_limit(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let counts = |record: &AdsRecord| !record.deleted && record.text("entity_status") != "DRAFT";
    let before = change.before.as_ref().is_some_and(counts);
    if change.verb == ResourceVerb::Delete || before || !counts(&change.record) {
        return Ok(());
    }
    let account = ctx.account()?.record.clone();
    let limit = account.int("campaign_limit").unwrap_or(200);
    // A batch counts once, after its deletions.
    let live = match ctx.live_campaigns {
        Some(live) => live,
        None => count_live_campaigns(ctx, account.id)?,
    };
    if live < limit {
        ctx.live_campaigns = Some(live + 1);
        return Ok(());
    }
    let message = format!("The account has {live} active campaigns, and its limit is {limit}");
    let problem = AdsProblem { location: ProblemLocation::Request, ..AdsProblem::new("TOO_MANY_CAMPAIGNS", message) };
    Err(problem.into())
}

fn count_live_campaigns(ctx: &mut AccountContext<'_, '_>, account: i64) -> Result<i64, Error> {
    let now = ctx.now().ms();
    let all = records::count(ctx.tx, CAMPAIGN.name, account)?;
    let over = records::count_up_to(ctx.tx, CAMPAIGN.name, account, "ends", now)?;
    Ok(all - over)
}

fn validate_budgets(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    validate_budgets_cover_spend(ctx, change, AdEntity::Campaign)
}

/// The total budget cannot be set below the amount already spent, nor the daily budget below that of the account's
/// current day.
pub fn validate_budgets_cover_spend(
    ctx: &mut AccountContext<'_, '_>,
    change: &RecordChange,
    entity: AdEntity,
) -> Result<(), Error> {
    let sets = |name| change.changes_field(name) && change.record.get(name).is_some();
    if change.verb != ResourceVerb::Update || ![DAILY_BUDGET, TOTAL_BUDGET].into_iter().any(sets) {
        return Ok(());
    }
    let day = AccountTimeZone::from_name(ctx.account()?.record.text("timezone")).day_bounds(ctx.now());
    let spent = budget::load_spent(ctx.tx, entity, &[change.record.id], day)?;
    let spent = spent.get(&change.record.id).copied().unwrap_or_default();
    let mut problems = Vec::new();
    for (name, spent) in [(TOTAL_BUDGET, spent.total), (DAILY_BUDGET, spent.today)] {
        if sets(name) && change.record.int(name).is_some_and(|budget| budget < spent) {
            let problem = AdsProblem::invalid_attribute(name, format!("{spent} of this budget is spent already"));
            problems.push(problem.with_code("SPEND_EXCEEDS_BUDGET"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::from(problems).into()) }
}

/// Its line items keep to the limits that a campaign sets (contract ads §4.5).
fn validate_line_item_limits(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let limits = ["budget_optimization", DAILY_BUDGET, TOTAL_BUDGET];
    if change.verb != ResourceVerb::Update || !limits.into_iter().any(|name| change.changes_field(name)) {
        return Ok(());
    }
    for item in ctx.list_undeleted_records(&LINE_ITEM, "campaign_id", change.record.id)? {
        let mut violations = campaign_limits::violations(&item, &change.record);
        let violation = violations.find(|(_, limit, _)| change.changes_field(limit));
        if let Some((name, limit, _)) = violation {
            let message = format!("The {name} of the line item {} does not allow this", item.formatted_id());
            return Err(AdsProblem::invalid_attribute(limit, message).into());
        }
    }
    Ok(())
}

/// Updates a campaign's summary of its line items after one of them changed.
pub fn update_campaign_summary(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<(), Error> {
    // All line items of a deleted campaign are hidden; it keeps its summary.
    let Some(mut campaign) = ctx.find_record(&CAMPAIGN, id)?.filter(|campaign| !campaign.deleted) else {
        return Ok(());
    };
    let items = ctx.list_undeleted_records(&LINE_ITEM, "campaign_id", id)?;
    let live: Vec<&AdsRecord> = items.iter().collect();
    campaign.set("flights", servability::flights_to_json(&live));
    let end = servability::campaign_end(&campaign);
    campaign.set("ends", end);
    ctx.save_record(&campaign)
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    campaigns: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let now = ctx.now();
    let approval = ctx.account()?.record.text("approval_status").to_owned();
    let resources = servability::load_delivery_resources(ctx, campaigns)?;
    let fields = |campaign: &AdsRecord| {
        let state = servability::campaign_servability(campaign, &approval, &resources, now);
        vec![
            ("servable", state.servable_value()),
            ("reasons_not_servable", json!(state.reasons)),
            ("effective_status", state.effective.into()),
            // Legacy members.
            ("frequency_cap", Value::Null),
            ("duration_in_days", Value::Null),
        ]
    };
    Ok(campaigns.iter().map(fields).collect())
}
