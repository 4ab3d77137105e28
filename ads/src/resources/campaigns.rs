//! Campaigns.

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, VocabularyWord};
use serde_json::{Value, json};
use store::ledger::AdEntity;
use store::records;

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Filter, Need, Often, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::engine;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::bidding::is_whole;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::servability;

/// A campaign: line items that one instrument pays for.
pub static CAMPAIGN: Resource = Resource {
    name: "campaign",
    id: VocabularyWord::same_in_both("campaign_id"),
    path: "campaigns",
    about: "campaign",
    not_found: "CAMPAIGN_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 255).required(),
        Field::reference("funding_instrument_id", &FUNDING_INSTRUMENT).required(),
        Field::text("currency", 3, 3).kept(),
        Field::one_of("budget_optimization", &["CAMPAIGN", "LINE_ITEM"]).or("CAMPAIGN"),
        Field::money(DAILY),
        Field::money(TOTAL),
        Field::new("standard_delivery", Kind::Bool),
        Field::one_of("entity_status", &["ACTIVE", "PAUSED", "DRAFT"]).or("ACTIVE"),
        Field::text("purchase_order_number", 1, 50),
        Field::new("flights", Kind::Shape(servability::untouched))
            .kept()
            .hidden(),
        Field::new("ends", Kind::Time).kept().hidden(),
    ],
    filters: &[
        Filter::ids("campaign_ids", "id", &CAMPAIGN),
        Filter::ids(
            "funding_instrument_ids",
            "funding_instrument_id",
            &FUNDING_INSTRUMENT,
        ),
    ],
    sorts: &[
        "daily_budget_amount_local_micro",
        "total_budget_amount_local_micro",
        "standard_delivery",
    ],
    prefix: 255,
    drafts: true,
    batch: 40,
    often: Often::More,
    rules: &[
        Rule::Own(keeps_its_daily_budget_within_the_total),
        Rule::Own(leaves_budgets_to_one_level),
        Rule::Own(is_never_a_draft_again),
        Rule::Beside("funding_instrument_id", has_a_daily_budget),
        Rule::Beside("funding_instrument_id", has_whole_amounts),
        Rule::Within(fill),
        Rule::Within(covers_what_is_spent),
        Rule::Within(keep_the_limit),
    ],
    history: "CAMPAIGN",
    computed: Some(computed),
    ..Resource::DEFAULT
};

/// What can be done with them beside that.
pub static OPERATIONS: &[Custom] = &[Custom::change(
    "PUT",
    "activateAdsCampaign",
    "campaigns/{campaign_id}/activate",
    "Makes a campaign active.",
    |desk, given| activate(desk, &CAMPAIGN, given),
)
.who(Who::CampaignWriter)
.params(&[Field::reference("campaign_id", &CAMPAIGN)
    .required()
    .update(Need::Must)])];

const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";

/// Makes a campaign or a line item active: a change of its status, and of nothing else.
pub fn activate(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
) -> Result<Answer, Error> {
    engine::checked(given)?;
    let id = engine::id_of(of, given)?;
    let mut change = Given::default();
    change.put("entity_status", "ACTIVE".into());
    let record = engine::update(desk, of, id, &change)?;
    Ok(Answer::raw(engine::show_one(desk, &record)?))
}

fn keeps_its_daily_budget_within_the_total(change: &Change) -> Result<(), AdsProblem> {
    within_total(&change.record)
}

/// A daily budget is not above the total one: of a campaign, and of a line item.
pub fn within_total(record: &Record) -> Result<(), AdsProblem> {
    match (record.int(DAILY), record.int(TOTAL)) {
        (Some(daily), Some(total)) if daily > total => {
            let message = "The daily budget must not be above the total budget";
            Err(AdsProblem::invalid_attribute(DAILY, message))
        }
        _ => Ok(()),
    }
}

fn leaves_budgets_to_one_level(change: &Change) -> Result<(), AdsProblem> {
    let by_line_item = change.record.text("budget_optimization") == "LINE_ITEM";
    if by_line_item
        && change.sent("standard_delivery")
        && change.record.get("standard_delivery").is_some()
    {
        let message = "Delivery is set on the line items of this campaign";
        return Err(AdsProblem::invalid_attribute("standard_delivery", message));
    }
    Ok(())
}

fn is_never_a_draft_again(change: &Change) -> Result<(), AdsProblem> {
    not_draft_again(change)
}

/// What was no draft does not become one; nothing is without a status.
pub fn not_draft_again(change: &Change) -> Result<(), AdsProblem> {
    let was = change
        .before
        .as_ref()
        .map(|before| before.text("entity_status"));
    let is = change.record.text("entity_status");
    if is.is_empty() || is == "DRAFT" && was.is_some_and(|was| was != "DRAFT") {
        let message = format!("Expected one of ACTIVE, PAUSED, got \"{is}\" for entity_status");
        return Err(AdsProblem::invalid_parameter("entity_status", is, message));
    }
    Ok(())
}

fn has_a_daily_budget(change: &Change, instrument: &Record) -> Result<(), AdsProblem> {
    let record = &change.record;
    let needed = record.text("budget_optimization") == "CAMPAIGN"
        && !matches!(
            instrument.text("type"),
            "INSERTION_ORDER" | "PARTNER_MANAGED"
        );
    if !needed || record.get(DAILY).is_some() {
        return Ok(());
    }
    // One that had a budget for each day may go on with one for all of them.
    if change.is_new() {
        return Err(AdsProblem::missing_parameter(DAILY));
    }
    if record.get(TOTAL).is_none() {
        let message = "A campaign needs a daily or a total budget";
        return Err(AdsProblem::invalid_attribute(DAILY, message));
    }
    Ok(())
}

fn has_whole_amounts(change: &Change, instrument: &Record) -> Result<(), AdsProblem> {
    let currency = instrument.text("currency");
    is_whole(DAILY, change.record.int(DAILY), currency)?;
    is_whole(TOTAL, change.record.int(TOTAL), currency)
}

/// What follows from the instrument and from how budgets are set.
fn fill(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    if change.is_new() {
        let id = change.record.int("funding_instrument_id").unwrap_or(0);
        let instrument = desk.need(&FUNDING_INSTRUMENT, id)?;
        change
            .record
            .set("currency", instrument.text("currency").to_owned());
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

/// Active campaigns are those that are no draft and whose line items have not all ended.
fn keep_the_limit(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let counts = |record: &Record| !record.deleted && record.text("entity_status") != "DRAFT";
    let before = change.before.as_ref().is_some_and(counts);
    if change.verb == Verb::Delete || before || !counts(&change.record) {
        return Ok(());
    }
    let account = desk.account()?.record.clone();
    let limit = account.int("campaign_limit").unwrap_or(200);
    // A batch counts once: what it deletes was deleted before.
    let live = match desk.live_campaigns {
        Some(live) => live,
        None => live(desk, account.id)?,
    };
    if live < limit {
        desk.live_campaigns = Some(live + 1);
        return Ok(());
    }
    let message = format!("The account has {limit} active campaigns, which is its limit");
    let problem = AdsProblem {
        location: ProblemLocation::Request,
        ..AdsProblem::new("TOO_MANY_CAMPAIGNS", message)
    };
    Err(problem.into())
}

/// How many campaigns of an account have not ended.
fn live(desk: &mut Desk<'_, '_>, account: i64) -> Result<i64, Error> {
    let now = desk.now().ms();
    let all = records::count(desk.tx, CAMPAIGN.name, account)?;
    let over = records::count_up_to(desk.tx, CAMPAIGN.name, account, "ends", now)?;
    Ok(all - over)
}

fn covers_what_is_spent(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    covers(desk, change, AdEntity::Campaign)
}

/// A total budget is not set below what was spent of it: of a campaign, and of a line item.
pub fn covers(desk: &mut Desk<'_, '_>, change: &Change, entity: AdEntity) -> Result<(), Error> {
    if change.verb != Verb::Update || !change.changes(TOTAL) {
        return Ok(());
    }
    let Some(total) = change.record.int(TOTAL) else {
        return Ok(());
    };
    let spent = store::ledger::total_spend(desk.tx, entity, &[change.record.id])?;
    let spent = spent.first().map_or(0, |(_, spent)| *spent);
    if spent <= total {
        return Ok(());
    }
    let message = format!("{spent} of this budget is spent already");
    let problem = AdsProblem::invalid_attribute(TOTAL, message);
    Err(problem.with_code("SPEND_EXCEEDS_BUDGET").into())
}

/// Writes down what a campaign's line items come to, after one of them changed.
pub fn sum_up(desk: &mut Desk<'_, '_>, id: i64) -> Result<(), Error> {
    let Some(mut campaign) = desk.find(&CAMPAIGN, id)? else {
        return Ok(());
    };
    let items = desk.with(&LINE_ITEM, "campaign_id", id)?;
    let live: Vec<&Record> = items.iter().filter(|item| !item.deleted).collect();
    campaign.set("flights", servability::flights(&live));
    let ends: Option<Vec<i64>> = live.iter().map(|item| item.int("end_time")).collect();
    let ends = ends.and_then(|ends| ends.into_iter().max());
    campaign.set("ends", ends);
    desk.keep(&campaign)
}

fn computed(
    desk: &mut Desk<'_, '_>,
    campaigns: &[Record],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let now = desk.now();
    let approval = desk.account()?.record.text("approval_status").to_owned();
    let means = servability::means(desk, campaigns)?;
    let of = |campaign: &Record| {
        let state = servability::of_campaign(campaign, &approval, &means, now);
        vec![
            ("servable", state.servable()),
            ("reasons_not_servable", json!(state.reasons)),
            ("effective_status", state.effective.into()),
            // Of older versions.
            ("frequency_cap", Value::Null),
            ("duration_in_days", Value::Null),
        ]
    };
    Ok(campaigns.iter().map(of).collect())
}
