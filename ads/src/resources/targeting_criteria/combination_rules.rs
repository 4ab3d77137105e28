//! Rules for the criteria of a line item as a whole, checked after all changes of a request, and what the line item
//! records of its criteria.

use std::collections::{BTreeMap, BTreeSet};

use ads_engine::{AccountContext, AdsRecord, RecordChange, ResourceVerb};
use base::Error;
use base::refusal::AdsProblem;
use serde_json::Value;

use super::list_by_type;
use crate::option_catalog;
use crate::resources::categories::incomplete_content_categories;
use crate::resources::{line_item_curated_categories, line_items};
use crate::targeting_values::find_country;

struct CombinationRule {
    types: &'static [&'static str],
    /// Returns the criteria that violate the rule, with reasons.
    check: fn(&mut AccountContext<'_, '_>, i64) -> Result<CombinationProblems, Error>,
}

type CombinationProblems = Vec<(i64, AdsProblem)>;

const RULES: &[CombinationRule] = &[
    CombinationRule { types: &["TV_SHOW", "LOCATION"], check: check_tv_show_locations },
    CombinationRule { types: &["LOCATION"], check: check_curated_category_locations },
    CombinationRule {
        types: &[
            "CAMPAIGN_ENGAGEMENT",
            "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
            "USER_ENGAGEMENT",
            "USER_ENGAGEMENT_LOOKALIKE",
            "ENGAGEMENT_TYPE",
        ],
        check: check_engagement_type,
    },
    CombinationRule { types: &["PLATFORM", "DEVICE"], check: check_platform_device_overlap },
    CombinationRule { types: &["IAB_CATEGORY"], check: check_whole_content_categories },
];

/// The problems of each change, given the line items' resulting criteria.
pub(super) fn validate_combinations(
    ctx: &mut AccountContext<'_, '_>,
    changes: &[RecordChange],
) -> Result<Vec<Vec<AdsProblem>>, Error> {
    let mut by_item: BTreeMap<i64, Vec<(usize, &RecordChange)>> = BTreeMap::new();
    for (place, change) in changes.iter().enumerate() {
        let item = change.record.int("line_item_id").unwrap_or(0);
        by_item.entry(item).or_default().push((place, change));
    }
    let mut all: Vec<Vec<AdsProblem>> = changes.iter().map(|_| Vec::new()).collect();
    for (item, own) in by_item {
        if own.iter().any(|(_, change)| change.record.text("targeting_type").ends_with("_KEYWORD")) {
            line_items::update_lacks_keywords(ctx, item)?;
        }
        for rule in RULES {
            let touched = own.iter().filter(|(_, change)| {
                let kind = change.record.text("targeting_type");
                rule.types.contains(&kind)
            });
            let touched: Vec<(usize, &RecordChange)> = touched.copied().collect();
            if touched.is_empty() {
                continue;
            }
            for (place, problem) in assign_problems(&touched, (rule.check)(ctx, item)?) {
                if let Some(problems) = all.get_mut(place) {
                    problems.push(problem);
                }
            }
        }
    }
    Ok(all)
}

/// Assigns each problem to the changes that cause it: those that added the criterion, or else those that
/// removed what it requires.
fn assign_problems(touched: &[(usize, &RecordChange)], wrong: CombinationProblems) -> AssignedProblems {
    let maker = |criterion: i64| {
        let mut makers = touched.iter().filter(|(_, change)| change.verb != ResourceVerb::Delete);
        let found = makers.find(|(_, change)| change.record.id == criterion);
        found.map(|(place, _)| *place)
    };
    let made: AssignedProblems =
        wrong.iter().filter_map(|(criterion, problem)| Some((maker(*criterion)?, problem.clone()))).collect();
    if !made.is_empty() {
        return made;
    }
    let Some((_, first)) = wrong.into_iter().next() else {
        return Vec::new();
    };
    let all = touched.iter().map(|(place, _)| (*place, first.clone()));
    all.collect()
}

type AssignedProblems = Vec<(usize, AdsProblem)>;

fn value_problem(one: &AdsRecord, message: impl Into<String>) -> (i64, AdsProblem) {
    let problem = AdsProblem::invalid_attribute("targeting_value", message);
    (one.id, problem)
}

/// A TV show requires a location in one of its markets.
fn check_tv_show_locations(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<CombinationProblems, Error> {
    let shows = list_by_type(ctx, item, "TV_SHOW")?;
    if shows.is_empty() {
        return Ok(Vec::new());
    }
    let mut countries = BTreeSet::new();
    for place in list_by_type(ctx, item, "LOCATION")? {
        countries.extend(find_country(ctx.tx, place.text("targeting_value"))?);
    }
    let mut wrong = Vec::new();
    for show in &shows {
        if countries.is_empty() {
            let (id, problem) = value_problem(show, "The line item must target a location first");
            wrong.push((id, problem.with_code("INVALID_TV_SHOW_LOCATIONS")));
            continue;
        }
        let choice = option_catalog::find(ctx.tx, "TV_SHOW", show.text("targeting_value"))?;
        let is_seen = choice.is_none_or(|choice| {
            let locales = choice.detail_texts("locales").into_iter();
            let mut markets = locales.filter_map(|locale| locale.split('-').nth(1));
            markets.any(|market| countries.contains(&market.to_ascii_uppercase()))
        });
        if !is_seen {
            let message = "The show is seen in none of the locations that the line item targets";
            let (id, problem) = value_problem(show, message);
            wrong.push((id, problem.with_code("TV_SHOW_OUTSIDE_MARKET")));
        }
    }
    Ok(wrong)
}

/// A curated category requires a location in one of its countries.
fn check_curated_category_locations(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<CombinationProblems, Error> {
    let Some(category) = line_item_curated_categories::find_outside_countries(ctx, item)? else {
        return Ok(Vec::new());
    };
    let codes = category.texts("country_codes").join(", ");
    let message = format!("The curated category of the line item needs a location in one of {codes}");
    // No criterion is at fault: the problem is that of every change of locations.
    Ok(vec![(0, AdsProblem::invalid_attribute("targeting_value", message))])
}

fn check_engagement_type(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<CombinationProblems, Error> {
    if !list_by_type(ctx, item, "ENGAGEMENT_TYPE")?.is_empty() {
        return Ok(Vec::new());
    }
    let mut wrong = Vec::new();
    for kind in ["CAMPAIGN_ENGAGEMENT", "CAMPAIGN_ENGAGEMENT_LOOKALIKE", "USER_ENGAGEMENT", "USER_ENGAGEMENT_LOOKALIKE"]
    {
        let message = format!("{kind} needs an ENGAGEMENT_TYPE at the line item");
        let problem = AdsProblem::invalid_attribute("targeting_type", message);
        let all = list_by_type(ctx, item, kind)?.into_iter();
        wrong.extend(all.map(|one| (one.id, problem.clone())));
    }
    Ok(wrong)
}

/// The platform of a device, as criteria name it; `None` if it is unknown.
pub(super) fn device_platform(ctx: &mut AccountContext<'_, '_>, device: &str) -> Result<Option<&'static str>, Error> {
    let choice = option_catalog::find(ctx.tx, "DEVICE", device)?;
    let details = choice.map(|choice| choice.details).unwrap_or_default();
    let system = details.get("os_type").and_then(Value::as_str);
    Ok(match system.map(str::to_ascii_uppercase).as_deref() {
        Some("IOS") => Some("0"),
        Some("ANDROID") => Some("1"),
        _ => None,
    })
}

fn check_platform_device_overlap(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<CombinationProblems, Error> {
    let platforms = list_by_type(ctx, item, "PLATFORM")?;
    if platforms.is_empty() {
        return Ok(Vec::new());
    }
    let mut wrong = Vec::new();
    for device in list_by_type(ctx, item, "DEVICE")? {
        let narrow = device_platform(ctx, device.text("targeting_value"))?;
        let broader = platforms.iter().filter(|platform| Some(platform.text("targeting_value")) == narrow);
        for platform in broader {
            let message = "The line item targets a platform, or single devices of it, and not both";
            wrong.push(value_problem(platform, message));
            wrong.push(value_problem(&device, message));
        }
    }
    Ok(wrong)
}

/// Content categories are targeted or excluded as complete sets.
fn check_whole_content_categories(ctx: &mut AccountContext<'_, '_>, item: i64) -> Result<CombinationProblems, Error> {
    let all = list_by_type(ctx, item, "IAB_CATEGORY")?;
    let mut wrong = Vec::new();
    for operator in ["EQ", "NE"] {
        let same = |one: &&AdsRecord| one.text("operator_type") == operator;
        let values: Vec<&str> = all.iter().filter(same).map(|one| one.text("targeting_value")).collect();
        let astray = incomplete_content_categories(&values);
        let parts = all.iter().filter(same).filter(|one| astray.contains(&one.text("targeting_value")));
        wrong.extend(parts.map(|one| {
            let message = "All categories of a kind of content are targeted together";
            value_problem(one, message)
        }));
    }
    Ok(wrong)
}
