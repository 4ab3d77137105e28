//! What must hold of a line item's criteria together, after all changes of a request are made.

use std::collections::{BTreeMap, BTreeSet};

use base::Error;
use base::refusal::AdsProblem;
use serde_json::Value;

use super::of_kind;
use crate::change::Change;
use crate::choices;
use crate::declare::Verb;
use crate::desk::Desk;
use crate::record::Record;
use crate::resources::categories::astray;
use crate::resources::targeting_options::country_of;

/// A rule, and the types of criteria that it is about.
struct Together {
    types: &'static [&'static str],
    /// Criteria that cannot be there with the others, and why.
    wrong: fn(&mut Desk<'_, '_>, i64) -> Result<Wrong, Error>,
}

type Wrong = Vec<(i64, AdsProblem)>;

const RULES: &[Together] = &[
    Together {
        types: &["TV_SHOW", "LOCATION"],
        wrong: shows_are_seen_there,
    },
    Together {
        types: &[
            "CAMPAIGN_ENGAGEMENT",
            "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
            "USER_ENGAGEMENT",
            "USER_ENGAGEMENT_LOOKALIKE",
            "ENGAGEMENT_TYPE",
        ],
        wrong: engagement_is_of_some_type,
    },
    Together {
        types: &["PLATFORM", "DEVICE"],
        wrong: platforms_are_no_broader_than_devices,
    },
    Together {
        types: &["IAB_CATEGORY"],
        wrong: content_is_whole,
    },
];

/// What is wrong with each of some changes, by what their line items' criteria have become.
pub(super) fn fit(
    desk: &mut Desk<'_, '_>,
    changes: &[Change],
) -> Result<Vec<Vec<AdsProblem>>, Error> {
    let mut by_item: BTreeMap<i64, Vec<(usize, &Change)>> = BTreeMap::new();
    for (place, change) in changes.iter().enumerate() {
        let item = change.record.int("line_item_id").unwrap_or(0);
        by_item.entry(item).or_default().push((place, change));
    }
    let mut all: Vec<Vec<AdsProblem>> = changes.iter().map(|_| Vec::new()).collect();
    for (item, own) in by_item {
        for rule in RULES {
            let touched = own.iter().filter(|(_, change)| {
                let kind = change.record.text("targeting_type");
                rule.types.contains(&kind)
            });
            let touched: Vec<(usize, &Change)> = touched.copied().collect();
            if touched.is_empty() {
                continue;
            }
            for (place, problem) in blame(&touched, (rule.wrong)(desk, item)?) {
                if let Some(problems) = all.get_mut(place) {
                    problems.push(problem);
                }
            }
        }
    }
    Ok(all)
}

/// Which changes what is wrong follows from: those that made it; where it was there before, those
/// that took away what it needs.
fn blame(touched: &[(usize, &Change)], wrong: Wrong) -> Blamed {
    let maker = |criterion: i64| {
        let mut makers = touched
            .iter()
            .filter(|(_, change)| change.verb != Verb::Delete);
        let found = makers.find(|(_, change)| change.record.id == criterion);
        found.map(|(place, _)| *place)
    };
    let made: Blamed = wrong
        .iter()
        .filter_map(|(criterion, problem)| Some((maker(*criterion)?, problem.clone())))
        .collect();
    if !made.is_empty() {
        return made;
    }
    let Some((_, first)) = wrong.into_iter().next() else {
        return Vec::new();
    };
    let all = touched.iter().map(|(place, _)| (*place, first.clone()));
    all.collect()
}

type Blamed = Vec<(usize, AdsProblem)>;

fn at_value(one: &Record, message: impl Into<String>) -> (i64, AdsProblem) {
    let problem = AdsProblem::invalid_attribute("targeting_value", message);
    (one.id, problem)
}

/// A show is targeted where it can be seen: the line item targets a place in one of its markets.
fn shows_are_seen_there(desk: &mut Desk<'_, '_>, item: i64) -> Result<Wrong, Error> {
    let shows = of_kind(desk, item, "TV_SHOW")?;
    if shows.is_empty() {
        return Ok(Vec::new());
    }
    let mut countries = BTreeSet::new();
    for place in of_kind(desk, item, "LOCATION")? {
        countries.extend(country_of(desk.tx, place.text("targeting_value"))?);
    }
    let mut wrong = Vec::new();
    for show in &shows {
        if countries.is_empty() {
            let (id, problem) = at_value(show, "The line item must target a location first");
            wrong.push((id, problem.with_code("INVALID_TV_SHOW_LOCATIONS")));
            continue;
        }
        let choice = choices::find(desk.tx, "TV_SHOW", show.text("targeting_value"))?;
        let is_seen = choice.is_none_or(|choice| {
            let locales = choice.texts("locales").into_iter();
            let mut markets = locales.filter_map(|locale| locale.split('-').nth(1));
            markets.any(|market| countries.contains(&market.to_ascii_uppercase()))
        });
        if !is_seen {
            let message = "The show is seen in none of the locations that the line item targets";
            let (id, problem) = at_value(show, message);
            wrong.push((id, problem.with_code("TV_SHOW_OUTSIDE_MARKET")));
        }
    }
    Ok(wrong)
}

fn engagement_is_of_some_type(desk: &mut Desk<'_, '_>, item: i64) -> Result<Wrong, Error> {
    if !of_kind(desk, item, "ENGAGEMENT_TYPE")?.is_empty() {
        return Ok(Vec::new());
    }
    let mut wrong = Vec::new();
    for kind in [
        "CAMPAIGN_ENGAGEMENT",
        "CAMPAIGN_ENGAGEMENT_LOOKALIKE",
        "USER_ENGAGEMENT",
        "USER_ENGAGEMENT_LOOKALIKE",
    ] {
        let message = format!("{kind} needs an ENGAGEMENT_TYPE at the line item");
        let problem = AdsProblem::invalid_attribute("targeting_type", message);
        let all = of_kind(desk, item, kind)?.into_iter();
        wrong.extend(all.map(|one| (one.id, problem.clone())));
    }
    Ok(wrong)
}

/// The platform that a device runs, as criteria name it; none where that is not known.
pub(super) fn platform_of(
    desk: &mut Desk<'_, '_>,
    device: &str,
) -> Result<Option<&'static str>, Error> {
    let choice = choices::find(desk.tx, "DEVICE", device)?;
    let details = choice.map(|choice| choice.details).unwrap_or_default();
    let system = details.get("os_type").and_then(Value::as_str);
    Ok(match system.map(str::to_ascii_uppercase).as_deref() {
        Some("IOS") => Some("0"),
        Some("ANDROID") => Some("1"),
        _ => None,
    })
}

fn platforms_are_no_broader_than_devices(
    desk: &mut Desk<'_, '_>,
    item: i64,
) -> Result<Wrong, Error> {
    let platforms = of_kind(desk, item, "PLATFORM")?;
    if platforms.is_empty() {
        return Ok(Vec::new());
    }
    let mut wrong = Vec::new();
    for device in of_kind(desk, item, "DEVICE")? {
        let narrow = platform_of(desk, device.text("targeting_value"))?;
        let broader = platforms
            .iter()
            .filter(|platform| Some(platform.text("targeting_value")) == narrow);
        for platform in broader {
            let message = "The line item targets a platform, or single devices of it, and not both";
            wrong.push(at_value(platform, message));
            wrong.push(at_value(&device, message));
        }
    }
    Ok(wrong)
}

/// Categories of content are targeted, or left out, as whole sets.
fn content_is_whole(desk: &mut Desk<'_, '_>, item: i64) -> Result<Wrong, Error> {
    let all = of_kind(desk, item, "IAB_CATEGORY")?;
    let mut wrong = Vec::new();
    for operator in ["EQ", "NE"] {
        let same = |one: &&Record| one.text("operator_type") == operator;
        let values: Vec<&str> = all
            .iter()
            .filter(same)
            .map(|one| one.text("targeting_value"))
            .collect();
        let astray = astray(&values);
        let parts = all
            .iter()
            .filter(same)
            .filter(|one| astray.contains(&one.text("targeting_value")));
        wrong.extend(parts.map(|one| {
            let message = "All categories of a kind of content are targeted together";
            at_value(one, message)
        }));
    }
    Ok(wrong)
}
