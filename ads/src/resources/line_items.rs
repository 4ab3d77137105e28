//! Line items: what a campaign shows, to whom, when, and at what price.

mod objectives;

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, VocabularyWord};
use serde_json::{Value, json};
use store::records;

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Custom, Field, Filter, Gate, Need, Often, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::account_apps;
use crate::resources::bidding::{CURRENCIES, is_bid, is_whole};
use crate::resources::campaigns::{self, CAMPAIGN, not_draft_again, within_total};
use crate::resources::categories::of_businesses;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::{accounts, features, promotable_users, servability, targeting_criteria};
use objectives::of_objective;
pub use objectives::{GOALS, OBJECTIVES, PAY_BY};

/// A line item.
pub static LINE_ITEM: Resource = Resource {
    name: "line_item",
    id: VocabularyWord::same_in_both("line_item_id"),
    path: "line_items",
    about: "line item",
    not_found: "LINE_ITEM_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 255),
        Field::parent("campaign_id", &CAMPAIGN).required(),
        Field::reference("funding_instrument_id", &FUNDING_INSTRUMENT).kept(),
        Field::one_of("currency", CURRENCIES).kept(),
        Field::new("product_type", Kind::Word(PRODUCTS))
            .required()
            .fixed(),
        Field::one_of("objective", OBJECTIVES)
            .required()
            .fixed()
            .gated(&[Gate::new("PREROLL_VIEWS_OBJECTIVE").of(&["PREROLL_VIEWS"])]),
        Field::one_of("goal", GOALS),
        Field::one_of("pay_by", PAY_BY).gated(&[Gate::new("WEBSITE_CLICKS_CPM_BILLING")
            .of(&["IMPRESSION"])
            .beside("objective", "WEBSITE_CLICKS")]),
        Field::one_of("bid_strategy", &["AUTO", "MAX", "TARGET"]),
        Field::new("placements", Kind::SomeOf(PLACEMENTS))
            .required()
            .fixed(),
        Field::money(BID),
        Field::money("target_cpa_local_micro").kept(),
        Field::money(DAILY),
        Field::money(TOTAL),
        Field::new("standard_delivery", Kind::Bool).fixed(),
        Field::new("start_time", Kind::Time),
        Field::new("end_time", Kind::Time),
        Field::one_of("entity_status", &["ACTIVE", "PAUSED", "DRAFT"]).or("ACTIVE"),
        Field::new("frequency_cap", Kind::Int(1, 1_000_000))
            .gated(&[Gate::new("REACH_FREQUENCY_CAP")]),
        Field::new("duration_in_days", Kind::Int(1, 30)),
        Field::one_of("audience_expansion", &["BROAD", "DEFINED", "EXPANDED"]),
        Field::text("advertiser_domain", 1, 255),
        Field::new("categories", Kind::Texts(100, 16)),
        Field::new("advertiser_user_id", Kind::User),
        Field::text("primary_web_event_tag", 1, 32),
        Field::text("android_app_store_identifier", 1, 255),
        Field::text("ios_app_store_identifier", 1, 255),
        Field::new("automatic_post_promotion", Kind::Bool)
            .older("automatic_tweet_promotion")
            .kept(),
        Field::one_of("creative_source", &["MANUAL"])
            .kept()
            .or("MANUAL"),
        Field::new("creatives", Kind::Int(0, i64::MAX))
            .kept()
            .hidden()
            .or_number(0),
        Field::new("serves", Kind::Time).kept().hidden(),
        // It targets audiences, and none of them comes to enough people any more.
        Field::new("unreached", Kind::Bool).kept().hidden(),
    ],
    filters: &[
        Filter::ids("campaign_ids", "campaign_id", &CAMPAIGN),
        Filter::ids(
            "funding_instrument_ids",
            "funding_instrument_id",
            &FUNDING_INSTRUMENT,
        ),
        Filter::ids("line_item_ids", "id", &LINE_ITEM),
    ],
    sorts: &[BID, DAILY, TOTAL, "start_time", "end_time"],
    prefix: 255,
    drafts: true,
    batch: 40,
    often: Often::More,
    rules: &[
        Rule::Own(ends_after_it_starts),
        Rule::Own(within_its_total),
        Rule::Own(not_draft_again),
        Rule::Own(objectives::suits),
        Rule::Own(has_what_its_objective_needs),
        Rule::Own(has_legal_placements),
        Rule::Own(caps_what_can_be_capped),
        Rule::Beside("campaign_id", keeps_within_its_campaign),
        Rule::Within(is_for_a_user_of_the_account),
        Rule::Within(fill),
        Rule::Within(is_like_its_siblings),
        Rule::Within(is_one_of_so_many),
        Rule::Within(covers_what_is_spent),
    ],
    history: "LINE_ITEM",
    after: Some(after),
    ..Resource::DEFAULT
};

const BID: &str = "bid_amount_local_micro";
const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";
/// Line items of one campaign.
const PER_CAMPAIGN: usize = 100;

/// What can be done with them beside that.
pub static OPERATIONS: &[Custom] = &[Custom::change(
    "PUT",
    "activateAdsLineItem",
    "line_items/{line_item_id}/activate",
    "Makes a line item active.",
    |desk, given| campaigns::activate(desk, &LINE_ITEM, given),
)
.who(Who::CampaignWriter)
.params(&[Field::reference("line_item_id", &LINE_ITEM)
    .required()
    .update(Need::Must)])];

/// What a line item sells.
pub const PRODUCTS: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("MEDIA"),
    VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
    VocabularyWord::new("PROMOTED_POSTS", "PROMOTED_TWEETS"),
];

/// Where a line item may be shown.
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

fn ends_after_it_starts(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    match (record.int("start_time"), record.int("end_time")) {
        (Some(start), Some(end)) if end <= start => {
            let message = "The end time must be after the start time";
            Err(AdsProblem::invalid_attribute("end_time", message))
        }
        _ => Ok(()),
    }
}

fn within_its_total(change: &Change) -> Result<(), AdsProblem> {
    within_total(&change.record)
}

fn has_what_its_objective_needs(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let needs = |name: &'static str, why: &str| -> Result<(), AdsProblem> {
        let problem = AdsProblem {
            location: ProblemLocation::Parameter(name.into()),
            ..AdsProblem::new(
                "INCLUSIVE_PARAMETERS",
                format!("{name} is needed for {why}"),
            )
        };
        Err(problem)
    };
    let objective = record.text("objective");
    let has_app = ["android_app_store_identifier", "ios_app_store_identifier"]
        .iter()
        .any(|name| record.get(name).is_some());
    if objective.starts_with("APP_") && !has_app {
        return needs("android_app_store_identifier", objective);
    }
    if record.has("placements", "PUBLISHER_NETWORK") {
        if record.text("advertiser_domain").is_empty() {
            return needs("advertiser_domain", "PUBLISHER_NETWORK");
        }
        if record.items("categories").is_empty() {
            return needs("categories", "PUBLISHER_NETWORK");
        }
    }
    let converts = record.text("goal") == "WEBSITE_CONVERSIONS";
    if converts && record.text("primary_web_event_tag").is_empty() {
        return needs("primary_web_event_tag", "WEBSITE_CONVERSIONS");
    }
    Ok(())
}

fn has_legal_placements(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let placements = record.texts("placements");
    let refuse = |message: String| {
        Err(AdsProblem::invalid_attribute("placements", message)
            .with_code("INVALID_PLACEMENT_TYPE"))
    };
    if placements == ["TWITTER_PROFILE"] {
        return refuse("TWITTER_PROFILE needs another placement beside it".to_owned());
    }
    let seen = |placement: &&str| matches!(*placement, "TWITTER_TIMELINE" | "ALL_ON_TWITTER");
    if record.text("objective") == "REACH" && !placements.iter().any(seen) {
        return refuse("REACH needs TWITTER_TIMELINE or ALL_ON_TWITTER".to_owned());
    }
    let account = record.text("product_type") == "PROMOTED_ACCOUNT";
    if account && !placements.iter().all(seen) {
        return refuse("A promoted account is shown in timelines only".to_owned());
    }
    if record.text("objective") == "PREROLL_VIEWS" && record.text("product_type") != "MEDIA" {
        let message = "PREROLL_VIEWS needs the product type MEDIA";
        return Err(AdsProblem::invalid_attribute("product_type", message));
    }
    Ok(())
}

fn caps_what_can_be_capped(change: &Change) -> Result<(), AdsProblem> {
    let record = &change.record;
    let days = record.int("duration_in_days");
    if days.is_some_and(|days| ![1, 7, 30].contains(&days)) {
        let days = days.unwrap_or(0);
        let message = format!("Expected one of 1, 7, 30, got \"{days}\" for duration_in_days");
        return Err(AdsProblem::invalid_parameter(
            "duration_in_days",
            days,
            message,
        ));
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
        let problem = AdsProblem {
            location: ProblemLocation::Parameter("duration_in_days".into()),
            ..AdsProblem::new(
                "INCLUSIVE_PARAMETERS",
                "frequency_cap needs duration_in_days",
            )
        };
        return Err(problem);
    }
    Ok(())
}

fn keeps_within_its_campaign(change: &Change, campaign: &Record) -> Result<(), AdsProblem> {
    let record = &change.record;
    let shares = campaign.text("budget_optimization") != "LINE_ITEM";
    let currency = campaign.text("currency");
    for name in [DAILY, TOTAL] {
        if shares && record.get(name).is_some() {
            let message = "The budget is set on the campaign";
            return Err(AdsProblem::invalid_attribute(name, message));
        }
        is_whole(name, record.int(name), currency)?;
    }
    is_bid(BID, record.int(BID), currency)?;
    let above = |name: &'static str, of: &Record, than: &str| {
        let amount = record.int(name).unwrap_or(0);
        of.int(than).is_some_and(|most| amount > most)
    };
    if above(TOTAL, campaign, TOTAL) {
        let message = "The total budget must not be above the campaign's";
        return Err(AdsProblem::invalid_attribute(TOTAL, message));
    }
    if above(BID, campaign, DAILY) || above(BID, campaign, TOTAL) {
        let message = "The bid must not be above the campaign's budget";
        return Err(AdsProblem::invalid_attribute(BID, message));
    }
    Ok(())
}

/// What is advertised is somebody's whom the account may promote.
fn is_for_a_user_of_the_account(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    const NAME: &str = "advertiser_user_id";
    let user = change.record.int(NAME).filter(|_| change.sent(NAME));
    let Some(user) = user.filter(|_| change.verb != Verb::Delete && change.changes(NAME)) else {
        return Ok(());
    };
    if promotable_users::of_user(desk, base::UserId::new(user))?.is_some() {
        return Ok(());
    }
    let message = format!("The user {user} is not promoted by this account");
    Err(AdsProblem::invalid_attribute(NAME, message)
        .with_code("INVALID_USER_ID")
        .into())
}

/// What follows from the campaign, the objective and the account.
fn fill(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    let now = desk.now();
    if change.is_new() {
        let id = change.record.int("campaign_id").unwrap_or(0);
        let campaign = desk.need(&CAMPAIGN, id)?;
        change
            .record
            .set("currency", campaign.text("currency").to_owned());
        change.record.set(
            "funding_instrument_id",
            campaign.int("funding_instrument_id"),
        );
    }
    if change.record.get("advertiser_user_id").is_none() {
        let full = promotable_users::full(desk)?;
        change
            .record
            .set("advertiser_user_id", full.map(base::Id::get));
    }
    let record = &mut change.record;
    let usual = of_objective(record.text("objective"));
    for (name, value) in [
        ("goal", usual.goals),
        ("pay_by", usual.pay_by),
        ("bid_strategy", usual.strategies),
    ] {
        if record.get(name).is_some() {
            continue;
        }
        for value in value {
            if features::may_have(desk, record, name, value)? {
                record.set(name, *value);
                break;
            }
        }
    }
    if record.text("bid_strategy") == "AUTO" {
        record.set(BID, Value::Null);
    } else if record.get(BID).is_none() {
        return Err(AdsProblem::missing_parameter(BID).into());
    }
    if record.text("objective") == "PREROLL_VIEWS" {
        let Some(all) = of_businesses(&record.texts("categories")) else {
            let message = "PREROLL_VIEWS needs the categories of one or two kinds of business";
            return Err(AdsProblem::invalid_attribute("categories", message).into());
        };
        record.set("categories", json!(all));
    }
    if record.get("start_time").is_none() {
        record.set("start_time", now.ms() / 1000 * 1000);
    }
    note_service(record);
    Ok(())
}

/// Later than any end.
const NEVER: i64 = i64::MAX;

/// Notes until when a line item may be served as far as it depends on itself: those that may are
/// found by that.
fn note_service(record: &mut Record) {
    let serves = record.text("entity_status") == "ACTIVE" && servability::is_complete(record);
    let until = record.int("end_time").unwrap_or(NEVER);
    record.set("serves", serves.then_some(until));
}

/// An account has only so many line items that are no drafts.
fn is_one_of_so_many(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let counts = |record: &Record| !record.deleted && record.text("entity_status") != "DRAFT";
    let before = change.before.as_ref().is_some_and(counts);
    if change.verb == Verb::Delete || before || !counts(&change.record) {
        return Ok(());
    }
    let account = &desk.account()?.record;
    let (account, limit) = (account.id, account.int("line_item_limit"));
    let limit = limit.unwrap_or(accounts::MOST_LINE_ITEMS);
    if records::count(desk.tx, LINE_ITEM.name, account)? < limit {
        return Ok(());
    }
    let message = format!("The account has {limit} active line items, which is its limit");
    Err(AdsProblem::new("TOO_MANY_LINE_ITEMS", message).into())
}

/// Line items of a campaign have one objective and sell one product; there are only so many.
fn is_like_its_siblings(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb != Verb::Create {
        return Ok(());
    }
    let campaign = change.record.int("campaign_id").unwrap_or(0);
    let siblings = desk.with(&LINE_ITEM, "campaign_id", campaign)?;
    let live: Vec<&Record> = siblings.iter().filter(|item| !item.deleted).collect();
    if live.len() >= PER_CAMPAIGN {
        let message = format!("The campaign has {PER_CAMPAIGN} line items, which is its limit");
        return Err(AdsProblem::new("TOO_MANY_LINE_ITEMS", message).into());
    }
    for (name, what) in [
        ("objective", "objectives"),
        ("product_type", "product types"),
    ] {
        if live
            .iter()
            .any(|item| item.text(name) != change.record.text(name))
        {
            let message = format!(
                "Line items with different {what} are not allowed under the same campaign \
                 (campaign_id={campaign})"
            );
            return Err(AdsProblem::invalid_attribute(name, message).into());
        }
    }
    Ok(())
}

fn covers_what_is_spent(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    campaigns::covers(desk, change, store::ledger::AdEntity::LineItem)
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    let record = &change.record;
    for (system, platform, name) in [
        ("Android", "1", "android_app_store_identifier"),
        ("iOS", "0", "ios_app_store_identifier"),
    ] {
        account_apps::note(desk, system, record.text(name))?;
        let is_set = change.verb != Verb::Delete && record.get(name).is_some();
        if is_set && change.changes(name) {
            // An app is for those whose devices it runs on.
            targeting_criteria::add_platform(desk, record.id, platform)?;
        }
    }
    campaigns::sum_up(desk, change.record.int("campaign_id").unwrap_or(0))
}

/// Counts what a line item shows, after that changed.
pub fn count_creatives(desk: &mut Desk<'_, '_>, id: i64) -> Result<(), Error> {
    let Some(mut item) = desk.find(&LINE_ITEM, id)? else {
        return Ok(());
    };
    let account = desk.account_id()?;
    let mut creatives = 0;
    for kind in ["promoted_post", "promoted_account", "media_creative"] {
        creatives += records::count_by_field(desk.tx, kind, account, ("line_item_id", id))?;
    }
    if item.int("creatives") == Some(creatives) {
        return Ok(());
    }
    item.set("creatives", creatives);
    note_service(&mut item);
    desk.keep(&item)?;
    campaigns::sum_up(desk, item.int("campaign_id").unwrap_or(0))
}

/// Notes whether a line item has nobody left whom it could be shown to.
pub fn set_unreached(desk: &mut Desk<'_, '_>, id: i64, unreached: bool) -> Result<(), Error> {
    let Some(mut item) = desk.find(&LINE_ITEM, id)? else {
        return Ok(());
    };
    if item.flag("unreached") == unreached {
        return Ok(());
    }
    item.set("unreached", i64::from(unreached));
    note_service(&mut item);
    desk.keep(&item)?;
    campaigns::sum_up(desk, item.int("campaign_id").unwrap_or(0))
}

/// Adds a placement that follows from something else.
pub fn add_placement(desk: &mut Desk<'_, '_>, item: &Record, placement: &str) -> Result<(), Error> {
    if item.has("placements", placement) || item.has("placements", "ALL_ON_TWITTER") {
        return Ok(());
    }
    let Some(mut item) = desk.find(&LINE_ITEM, item.id)? else {
        return Ok(());
    };
    let mut placements: Vec<&str> = item.texts("placements");
    placements.push(placement);
    let placements = json!(placements);
    item.set("placements", placements);
    item.updated_at = desk.now();
    desk.keep(&item)
}

/// Refuses line items that sell something else.
pub fn sells(item: &Record, products: &[&str], what: &str) -> Result<(), AdsProblem> {
    if products.contains(&item.text("product_type")) {
        return Ok(());
    }
    let message = format!("A line item of this product type does not take {what}");
    Err(AdsProblem::invalid_attribute("line_item_id", message).with_code("INCOMPATIBLE_LINE_ITEM"))
}
