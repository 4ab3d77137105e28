//! Recommendations for audiences too narrow to spend their budget.

use std::collections::BTreeMap;

use ads::option_catalog;
use ads::resources::servability;
use ads::resources::targeting_criteria::TARGETING_CRITERION;
use ads_engine::{AccountContext, AdsRecord};
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, Time};
use post_search::insights::InsightsQuery;
use post_search::keywords::is_valid_keyword;
use serde_json::{Value, json};
use store::ledger::{self, AdEntity};

use super::change_tree::{change_node, unchanged_node};
use super::performance_rules::find_last_change;
use super::{CampaignTree, DAILY, LOOKBACK_DAYS, RecommendationDraft, TOTAL};
use crate::evaluator::{CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion, is_primary_type};

/// A line item must have run this long to be examined.
const MIN_RUNTIME_MS: i64 = 3 * DAY_MS;
/// Spending below this percentage of the budget counts as low.
const LOW_SPEND_PERCENT: i128 = 30;
/// The maximum number of keywords used and suggested.
const MAX_KEYWORDS: usize = 10;
/// The age of posts searched for related keywords.
const POST_LOOKBACK_MS: i64 = 7 * DAY_MS;

/// Finds line items that ran for three days, spent little and reach few users.
pub(super) fn find_narrow_audiences(
    ctx: &mut AccountContext<'_, '_>,
    branches: &[CampaignTree],
) -> Result<Vec<RecommendationDraft>, Error> {
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.line_items {
            if let Some(advice) = recommend_wider_audience(ctx, &branch.campaign, item)? {
                all.push(advice);
            }
        }
    }
    Ok(all)
}

fn recommend_wider_audience(
    ctx: &mut AccountContext<'_, '_>,
    campaign: &AdsRecord,
    item: &AdsRecord,
) -> Result<Option<RecommendationDraft>, Error> {
    if !has_run_unpaused(ctx, campaign, item)? {
        return Ok(None);
    }
    let (spent, budget) = spent_and_available(ctx, campaign, item)?;
    if i128::from(spent) * 100 >= i128::from(budget) * LOW_SPEND_PERCENT {
        return Ok(None);
    }
    let evaluator = Evaluator::from_context(ctx)?;
    let audience = TargetedAudience::from_line_item(ctx, item.id)?;
    if audience.criteria.is_empty() {
        return Ok(None);
    }
    let count = evaluator.estimate(ctx.tx, &audience)?.displayed_count();
    if count >= ctx.config.narrow_audience_size {
        return Ok(None);
    }
    let mut wider = expand_by_keywords(ctx, item, &audience)?;
    if wider.as_ref().is_none_or(|(more, _)| *more <= count) {
        wider = expand_by_dropping_criterion(ctx, item, &audience)?;
    }
    let Some((more, below)) = wider.filter(|(more, _)| *more > count) else {
        return Ok(None);
    };
    let remaining = i128::from(budget.saturating_sub(spent).max(0));
    let gain = remaining * i128::from(more - count) / i128::from(more.max(1));
    let below = unchanged_node("line_items", item, &below);
    Ok(Some(RecommendationDraft {
        subject: format!("narrow {}", item.id),
        estimated_gain: i64::try_from(gain).unwrap_or(i64::MAX),
        message: format!("Less than {LOW_SPEND_PERCENT}% of the budget was spent: the criteria reach few users"),
        changes: unchanged_node("campaigns", campaign, &[below]),
    }))
}

/// Whether a line item has been running for three days without a pause.
fn has_run_unpaused(ctx: &mut AccountContext<'_, '_>, campaign: &AdsRecord, item: &AdsRecord) -> Result<bool, Error> {
    let since = ctx.now().plus_ms(-MIN_RUNTIME_MS);
    let old = |record: &AdsRecord| record.created_at <= since;
    let started = item.time("start_time").is_none_or(|at| at <= since);
    if !old(campaign) || !old(item) || !started {
        return Ok(false);
    }
    let both = [campaign.clone(), item.clone()];
    let resources = servability::load_delivery_resources(ctx, &both)?;
    let approval = ctx.account()?.record.text("approval_status").to_owned();
    let state = servability::line_item_servability(item, campaign, &approval, &resources, ctx.now());
    if state.effective != "RUNNING" {
        return Ok(false);
    }
    // Neither was paused or resumed.
    let mut changed = |record| find_last_change(ctx, record, "entity_status", since);
    Ok(changed(("CAMPAIGN", campaign))?.is_none() && changed(("LINE_ITEM", item))?.is_none())
}

/// The amounts spent and spendable in the last days from the budget of a line item or its campaign, in micros.
fn spent_and_available(
    ctx: &mut AccountContext<'_, '_>,
    campaign: &AdsRecord,
    item: &AdsRecord,
) -> Result<(i64, i64), Error> {
    let now = ctx.now();
    let started = item.int("start_time").unwrap_or(0).max(item.created_at.ms());
    let days = ((now.ms() - started) / DAY_MS).clamp(1, LOOKBACK_DAYS);
    let own = item.get(DAILY).is_some() || item.get(TOTAL).is_some();
    let (entity, values) = if own { (AdEntity::LineItem, item) } else { (AdEntity::Campaign, campaign) };
    let from = (now.ms() - days * DAY_MS).div_euclid(HOUR_MS) * HOUR_MS;
    let span = (Time::from_ms(from), now.plus_ms(1));
    let spent = ledger::spend_between(ctx.tx, entity, &[values.id], span)?;
    let spent = spent.first().map_or(0, |(_, spent)| *spent);
    let daily = values.int(DAILY).map(|daily| daily.saturating_mul(days));
    // A total budget covers the whole flight; without an end it may be spent at once.
    let total = values.int(TOTAL).map(|total| match item.int("end_time") {
        Some(end) if end > started => {
            let part = i128::from(total) * i128::from(days * DAY_MS) / i128::from(end - started);
            i64::try_from(part).unwrap_or(total).min(total)
        }
        _ => total,
    });
    let budget = daily.into_iter().chain(total).min();
    Ok((spent, budget.unwrap_or(0)))
}

/// The new audience size, and the changes that lead to it.
type AudienceExpansion = Option<(u64, Vec<Value>)>;

/// Adds keywords that are often used together with those of the line item.
fn expand_by_keywords(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    audience: &TargetedAudience,
) -> Result<AudienceExpansion, Error> {
    let evaluator = Evaluator::from_context(ctx)?;
    if !evaluator.has_search() {
        return Ok(None);
    }
    let keyword = |one: &&TargetingCriterion| one.kind.ends_with("_KEYWORD");
    let all = || audience.criteria.iter().filter(keyword);
    let values = |operator: CriterionOperator| -> Vec<String> {
        let some = all().filter(|one| one.operator == operator);
        let some = some.map(|one| one.value.clone());
        some.filter(|one| is_valid_keyword(one)).take(MAX_KEYWORDS).collect()
    };
    let Some(first) = all().find(|one| one.operator == CriterionOperator::Eq) else {
        return Ok(None);
    };
    let keywords = values(CriterionOperator::Eq);
    if keywords.is_empty() {
        return Ok(None);
    }
    let query = InsightsQuery {
        keywords,
        negatives: values(CriterionOperator::Ne),
        since: ctx.now().plus_ms(-POST_LOOKBACK_MS),
        until: ctx.now(),
        country: None,
        blocked: option_catalog::list_blocked_keywords(ctx.tx)?,
    };
    let related = evaluator.insights.find_related_keywords(ctx.tx, &*evaluator.search_index()?, &query)?;
    let known = |word: &&String| all().any(|one| one.value.eq_ignore_ascii_case(word));
    let new: Vec<&String> =
        related.iter().filter(|word| !known(word) && is_valid_keyword(word)).take(MAX_KEYWORDS).collect();
    let mut wider = audience.clone();
    wider.criteria.extend(new.iter().map(|word| TargetingCriterion {
        kind: first.kind.clone(),
        value: (*word).clone(),
        operator: CriterionOperator::Eq,
    }));
    let count = evaluator.estimate(ctx.tx, &wider)?.displayed_count();
    let below = new.iter().map(|word| {
        let params = json!({
            "line_item_id": item.formatted_id(),
            "targeting_type": first.kind,
            "targeting_value": word,
            "operator_type": "EQ",
        });
        change_node("targeting_criteria", "Create", &params)
    });
    Ok(Some((count, below.collect())))
}

/// Drops the required criterion that excludes the most users.
fn expand_by_dropping_criterion(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    audience: &TargetedAudience,
) -> Result<AudienceExpansion, Error> {
    let evaluator = Evaluator::from_context(ctx)?;
    let mut by_kind: BTreeMap<&str, Vec<&TargetingCriterion>> = BTreeMap::new();
    for one in &audience.criteria {
        // An engagement type qualifies other criteria and selects nobody by itself.
        let is_alternative = one.kind == "ENGAGEMENT_TYPE" || is_primary_type(&one.kind);
        if !is_alternative && one.operator != CriterionOperator::Ne {
            by_kind.entry(&one.kind).or_default().push(one);
        }
    }
    let mut best: Option<(u64, &TargetingCriterion)> = None;
    for some in by_kind.values() {
        // Several values of a type are alternatives; dropping one would shrink the audience.
        let [only] = some.as_slice() else {
            continue;
        };
        let mut wider = audience.clone();
        wider.criteria.retain(|one| one != *only);
        let count = evaluator.estimate(ctx.tx, &wider)?.displayed_count();
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, only));
        }
    }
    let Some((count, criterion)) = best else {
        return Ok(None);
    };
    let records = ctx.list_visible_records(&TARGETING_CRITERION, "line_item_id", item.id)?;
    let record = records
        .iter()
        .find(|one| one.text("targeting_type") == criterion.kind && one.text("targeting_value") == criterion.value);
    Ok(record.map(|record| {
        let params = json!({ "targeting_criterion_id": record.formatted_id() });
        let deletion = change_node("targeting_criteria", "Delete", &params);
        (count, vec![deletion])
    }))
}
