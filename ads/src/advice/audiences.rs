//! Audiences that are too narrow to spend a budget on.

use std::collections::BTreeMap;

use base::{Error, Time};
use network::insights::InsightsQuery;
use network::keywords::is_valid_keyword;
use serde_json::{Value, json};
use store::ads as changes;
use store::ledger::{self, AdEntity};

use super::tree::{changed, kept};
use super::{Advice, Branch, DAILY, DAY, DAYS, TOTAL};
use crate::choices;
use crate::desk::Desk;
use crate::evaluator::{Audience, Criterion, Operator, is_primary};
use crate::record::Record;
use crate::resources::servability;
use crate::resources::targeting_criteria::TARGETING_CRITERION;

/// How long a line item runs before it is looked at.
const SPELL: i64 = 3 * DAY;
const HOUR: i64 = 3_600_000;
/// Less of a budget, in hundredths, is hardly anything.
const HARDLY: i128 = 30;
/// Keywords that are asked about, and that are suggested.
const KEYWORDS: usize = 10;
/// How far back posts are looked at for related keywords.
const POSTS: i64 = 7 * DAY;
/// Changes of an entity that are looked at.
const CHANGES: i64 = 100;

/// Line items that have run for three days, spent hardly anything, and reach few.
pub(super) fn narrow(desk: &mut Desk<'_, '_>, branches: &[Branch]) -> Result<Vec<Advice>, Error> {
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.items {
            if let Some(advice) = of_item(desk, &branch.campaign, item)? {
                all.push(advice);
            }
        }
    }
    Ok(all)
}

fn of_item(
    desk: &mut Desk<'_, '_>,
    campaign: &Record,
    item: &Record,
) -> Result<Option<Advice>, Error> {
    if !has_run(desk, campaign, item)? {
        return Ok(None);
    }
    let (spent, budget) = spending(desk, campaign, item)?;
    if i128::from(spent) * 100 >= i128::from(budget) * HARDLY {
        return Ok(None);
    }
    let evaluator = desk.evaluator()?;
    let audience = Audience::of_line_item(desk, item.id)?;
    if audience.criteria.is_empty() {
        return Ok(None);
    }
    let count = evaluator.estimate(desk.tx, &audience)?.shown();
    if count >= desk.house.narrow {
        return Ok(None);
    }
    let mut wider = with_keywords(desk, item, &audience)?;
    if wider.as_ref().is_none_or(|(more, _)| *more <= count) {
        wider = without_one(desk, item, &audience)?;
    }
    let Some((more, below)) = wider.filter(|(more, _)| *more > count) else {
        return Ok(None);
    };
    let left = i128::from(budget.saturating_sub(spent).max(0));
    let gain = left * i128::from(more - count) / i128::from(more.max(1));
    let below = kept("line_items", item, &below);
    Ok(Some(Advice {
        subject: format!("narrow {}", item.id),
        gain: i64::try_from(gain).unwrap_or(i64::MAX),
        message: format!(
            "Less than {HARDLY}% of the budget was spent: the criteria reach few users"
        ),
        changes: kept("campaigns", campaign, &[below]),
    }))
}

/// Whether a line item has been running for three days, without a pause.
fn has_run(desk: &mut Desk<'_, '_>, campaign: &Record, item: &Record) -> Result<bool, Error> {
    let since = desk.now().plus_ms(-SPELL);
    let old = |record: &Record| record.created_at <= since;
    let started = item.time("start_time").is_none_or(|at| at <= since);
    if !old(campaign) || !old(item) || !started {
        return Ok(false);
    }
    let both = [campaign.clone(), item.clone()];
    let means = servability::means(desk, &both)?;
    let approval = desk.account()?.record.text("approval_status").to_owned();
    let state = servability::of_line_item(item, campaign, &approval, &means, desk.now());
    if state.effective != "RUNNING" {
        return Ok(false);
    }
    Ok(!was_switched(desk, "CAMPAIGN", campaign, since)?
        && !was_switched(desk, "LINE_ITEM", item, since)?)
}

/// Whether something was paused or let run since a moment.
fn was_switched(
    desk: &mut Desk<'_, '_>,
    entity: &str,
    record: &Record,
    since: Time,
) -> Result<bool, Error> {
    let wanted = changes::AdsChangeQuery {
        account: record.account_id,
        entity,
        entity_id: record.id,
        includes_children: false,
        from: since,
        to: desk.now().plus_ms(1),
        after: None,
        limit: CHANGES,
    };
    let all = changes::list_changes(desk.tx, &wanted)?;
    Ok(all.iter().any(|change| {
        let body: Value = serde_json::from_str(&change.body).unwrap_or_default();
        let changed = body.get("changes");
        changed.is_some_and(|changed| changed.get("entity_status").is_some())
    }))
}

/// What was spent in the last days of the budget that a line item has, or its campaign, and what
/// could have been.
fn spending(
    desk: &mut Desk<'_, '_>,
    campaign: &Record,
    item: &Record,
) -> Result<(i64, i64), Error> {
    let now = desk.now();
    let begun = item
        .int("start_time")
        .unwrap_or(0)
        .max(item.created_at.ms());
    let days = ((now.ms() - begun) / DAY).clamp(1, DAYS);
    let own = item.get(DAILY).is_some() || item.get(TOTAL).is_some();
    let (entity, of) = if own {
        (AdEntity::LineItem, item)
    } else {
        (AdEntity::Campaign, campaign)
    };
    let from = (now.ms() - days * DAY).div_euclid(HOUR) * HOUR;
    let span = (Time::from_ms(from), now.plus_ms(1));
    let spent = ledger::spend_between(desk.tx, entity, &[of.id], span)?;
    let spent = spent.first().map_or(0, |(_, spent)| *spent);
    let daily = of.int(DAILY).map(|daily| daily.saturating_mul(days));
    // A total is for the whole flight; without an end it is there to be spent at once.
    let total = of.int(TOTAL).map(|total| match item.int("end_time") {
        Some(end) if end > begun => {
            let part = i128::from(total) * i128::from(days * DAY) / i128::from(end - begun);
            i64::try_from(part).unwrap_or(total).min(total)
        }
        _ => total,
    });
    let budget = daily.into_iter().chain(total).min();
    Ok((spent, budget.unwrap_or(0)))
}

/// How many are reached, and the changes that lead to it.
type Wider = Option<(u64, Vec<Value>)>;

/// With what is written beside the keywords of a line item.
fn with_keywords(
    desk: &mut Desk<'_, '_>,
    item: &Record,
    audience: &Audience,
) -> Result<Wider, Error> {
    let evaluator = desk.evaluator()?;
    let Ok(search) = evaluator.search() else {
        return Ok(None);
    };
    let keyword = |one: &&Criterion| one.kind.ends_with("_KEYWORD");
    let all = || audience.criteria.iter().filter(keyword);
    let of = |operator: Operator| -> Vec<String> {
        let some = all().filter(|one| one.operator == operator);
        let some = some.map(|one| one.value.clone());
        some.filter(|one| is_valid_keyword(one))
            .take(KEYWORDS)
            .collect()
    };
    let Some(first) = all().find(|one| one.operator == Operator::Eq) else {
        return Ok(None);
    };
    let keywords = of(Operator::Eq);
    if keywords.is_empty() {
        return Ok(None);
    }
    let wanted = InsightsQuery {
        keywords,
        negatives: of(Operator::Ne),
        since: desk.now().plus_ms(-POSTS),
        until: desk.now(),
        country: None,
        blocked: choices::blocked(desk.tx)?,
    };
    let related = evaluator
        .insights
        .find_related_keywords(desk.tx, &search.snapshot(), &wanted)?;
    let known = |word: &&String| all().any(|one| one.value.eq_ignore_ascii_case(word));
    let new: Vec<&String> = related
        .iter()
        .filter(|word| !known(word) && is_valid_keyword(word))
        .take(KEYWORDS)
        .collect();
    let mut wider = audience.clone();
    wider.criteria.extend(new.iter().map(|word| Criterion {
        kind: first.kind.clone(),
        value: (*word).clone(),
        operator: Operator::Eq,
    }));
    let count = evaluator.estimate(desk.tx, &wider)?.shown();
    let below = new.iter().map(|word| {
        let params = json!({
            "line_item_id": item.written_id(),
            "targeting_type": first.kind,
            "targeting_value": word,
            "operator_type": "EQ",
        });
        changed("targeting_criteria", "Create", &params)
    });
    Ok(Some((count, below.collect())))
}

/// Without the one of the criteria that all must hold which keeps most users out.
fn without_one(
    desk: &mut Desk<'_, '_>,
    item: &Record,
    audience: &Audience,
) -> Result<Wider, Error> {
    let evaluator = desk.evaluator()?;
    let mut by_kind: BTreeMap<&str, Vec<&Criterion>> = BTreeMap::new();
    for one in &audience.criteria {
        // The type of an engagement says which one is meant, and stands for no one by itself.
        let meant = one.kind == "ENGAGEMENT_TYPE" || is_primary(&one.kind);
        if !meant && one.operator != Operator::Ne {
            by_kind.entry(&one.kind).or_default().push(one);
        }
    }
    let mut best: Option<(u64, &Criterion)> = None;
    for some in by_kind.values() {
        // Of several values of a type any suffices: to take one away makes fewer of them.
        let [only] = some.as_slice() else {
            continue;
        };
        let mut wider = audience.clone();
        wider.criteria.retain(|one| one != *only);
        let count = evaluator.estimate(desk.tx, &wider)?.shown();
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, only));
        }
    }
    let Some((count, criterion)) = best else {
        return Ok(None);
    };
    let records = desk.shown(&TARGETING_CRITERION, "line_item_id", item.id)?;
    let record = records.iter().find(|one| {
        one.text("targeting_type") == criterion.kind
            && one.text("targeting_value") == criterion.value
    });
    Ok(record.map(|record| {
        let params = json!({ "targeting_criterion_id": record.written_id() });
        let gone = changed("targeting_criteria", "Delete", &params);
        (count, vec![gone])
    }))
}
