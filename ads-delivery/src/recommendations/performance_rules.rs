//! Recommendations from the ledger of the last days.

use std::collections::{BTreeMap, HashMap};

use ads::resources::bidding_rules::bid_bounds;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::promotable_users;
use ads::resources::promoted_posts::{PROMOTED_POST, require_promotable, suits_line_item};
use ads_engine::{AccountContext, AccountTimeZone, AdsRecord};
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, PostId, Time, UserId};
use serde_json::{Value, json};
use store::ads::{AdsChangeQuery, AdsChangeRecord, list_changes};
use store::ledger::{self, AdEntity, Metric, MetricSums};
use store::posts::{self, PageRange, Post};

use super::change_tree::{change_node, unchanged_node};
use super::{CampaignTree, DAILY, LOOKBACK_DAYS, RecommendationDraft, TOTAL};

/// A budget is small if it was exhausted early on this many days.
const MIN_EARLY_DAYS: i64 = 3;
/// Early means before 14:00.
const EARLY_CUTOFF_BEFORE_MIDNIGHT_MS: i64 = 10 * HOUR_MS;
/// A rate from fewer impressions is not significant.
const MIN_IMPRESSIONS: i64 = 100;
/// The first and the last period of a creative that are compared.
const FRESH_PERIOD_MS: i64 = 3 * DAY_MS;
/// A line item without creatives is reported after this time.
const IDLE_PERIOD_MS: i64 = 2 * DAY_MS;
/// Changes of a campaign examined.
const MAX_CHANGES: i64 = 1000;
/// Posts of an author examined.
const MAX_POSTS: i64 = 100;

/// Finds daily budgets exhausted before 14:00, on whole days since they were last changed.
pub(super) fn find_small_budgets(
    ctx: &mut AccountContext<'_, '_>,
    branches: &[CampaignTree],
) -> Result<Vec<RecommendationDraft>, Error> {
    let zone = AccountTimeZone::from_name(ctx.account()?.record.text("timezone"));
    let ids: Vec<i64> = branches.iter().map(|branch| branch.campaign.id).collect();
    let mut mornings: Vec<(Time, HashMap<i64, i64>)> = Vec::new();
    let mut day = zone.day_bounds(ctx.now());
    for _ in 0..LOOKBACK_DAYS {
        day = zone.day_bounds(day.0.plus_ms(-1));
        let morning = (day.0, day.1.plus_ms(-EARLY_CUTOFF_BEFORE_MIDNIGHT_MS));
        let spent = ledger::spend_between(ctx.tx, AdEntity::Campaign, &ids, morning)?;
        mornings.push((day.0, spent.into_iter().collect()));
    }
    let mut all = Vec::new();
    for CampaignTree { campaign, .. } in branches {
        let Some(daily) = campaign.int(DAILY) else {
            continue;
        };
        let early = count_early_days(ctx, (campaign, daily), &mornings)?;
        let Some(raised) = raised_daily_budget(campaign, daily) else {
            continue;
        };
        if early < MIN_EARLY_DAYS || campaign.text("entity_status") != "ACTIVE" {
            continue;
        }
        let params = json!({ "campaign_id": campaign.formatted_id(), DAILY: raised });
        all.push(RecommendationDraft {
            subject: format!("budget {}", campaign.id),
            estimated_gain: raised.saturating_sub(daily).saturating_mul(early),
            message: format!("Daily budget ran out before 14:00 on {early} of the last {LOOKBACK_DAYS} days"),
            changes: change_node("campaigns", "Update", &params),
        });
    }
    Ok(all)
}

/// How often a daily budget (micros) was spent in a morning of a day that began with it. Days are given with what
/// campaigns spent in the morning, latest first.
fn count_early_days(
    ctx: &mut AccountContext<'_, '_>,
    (campaign, daily): (&AdsRecord, i64),
    mornings: &[(Time, HashMap<i64, i64>)],
) -> Result<i64, Error> {
    let is_spent = |spend: &HashMap<i64, i64>| spend.get(&campaign.id).copied().unwrap_or(0) >= daily;
    let mut days: Vec<Time> = mornings.iter().filter(|(_, spend)| is_spent(spend)).map(|(day, _)| *day).collect();
    if let Some(first) = days.last()
        && let Some(changed) = find_last_change(ctx, (CAMPAIGN.history_name, campaign), DAILY, *first)?
    {
        days.retain(|day| *day >= changed);
    }
    Ok(i64::try_from(days.len()).unwrap_or(0))
}

/// When a field of a record changed last, if it did since a time.
pub(super) fn find_last_change(
    ctx: &mut AccountContext<'_, '_>,
    (entity, record): (&str, &AdsRecord),
    field: &str,
    since: Time,
) -> Result<Option<Time>, Error> {
    let query = AdsChangeQuery {
        account: record.account_id,
        entity,
        entity_id: record.id,
        includes_children: false,
        user: None,
        from: since,
        to: ctx.now().plus_ms(1),
        after: None,
        limit: MAX_CHANGES,
    };
    let is_of_field = |change: &AdsChangeRecord| {
        let body: Value = serde_json::from_str(&change.body).unwrap_or_default();
        body.get("changes").is_some_and(|changes| changes.get(field).is_some())
    };
    let changes = list_changes(ctx.tx, &query)?;
    Ok(changes.iter().find(|change| is_of_field(change)).map(|change| change.at))
}

/// A quarter more than `daily` (micros), rounded to the currency's step and within the total; `None` if that
/// is not higher.
fn raised_daily_budget(campaign: &AdsRecord, daily: i64) -> Option<i64> {
    let step = bid_bounds(campaign.text("currency")).step;
    let raised = daily.saturating_add(daily / 4);
    let raised = raised.saturating_add(step - 1) / step * step;
    let raised = campaign.int(TOTAL).map_or(raised, |total| raised.min(total));
    (raised > daily).then_some(raised)
}

struct PromotedCreative<'b> {
    campaign_tree: &'b CampaignTree,
    line_item: &'b AdsRecord,
    promoted: AdsRecord,
}

/// Engagements per impression in millionths; `None` with too few impressions.
fn engagement_rate(sums: &MetricSums) -> Option<i64> {
    let impressions = sums.get(Metric::Impressions);
    let engagements = sums.get(Metric::Engagements).saturating_mul(1_000_000);
    (impressions >= MIN_IMPRESSIONS).then(|| engagements / impressions)
}

/// Finds posts that perform half as well as at first while another one performs better.
pub(super) fn find_tired_creatives(
    ctx: &mut AccountContext<'_, '_>,
    branches: &[CampaignTree],
) -> Result<Vec<RecommendationDraft>, Error> {
    let now = ctx.now();
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.line_items {
            for promoted in ctx.list_visible_records(&PROMOTED_POST, "line_item_id", item.id)? {
                all.push(PromotedCreative { campaign_tree: branch, line_item: item, promoted });
            }
        }
    }
    let ids: Vec<i64> = all.iter().map(|one| one.promoted.id).collect();
    let week = load_sums(ctx, &ids, (now.plus_ms(-LOOKBACK_DAYS * DAY_MS), now))?;
    let lately = load_sums(ctx, &ids, (now.plus_ms(-FRESH_PERIOD_MS), now))?;
    let mut found = Vec::new();
    for one in &all {
        let (id, begun) = (one.promoted.id, one.promoted.created_at);
        let Some(last) = lately.get(&id).and_then(engagement_rate) else {
            continue;
        };
        if begun.plus_ms(2 * FRESH_PERIOD_MS) > now {
            continue;
        }
        let first = load_sums(ctx, &[id], (begun, begun.plus_ms(FRESH_PERIOD_MS)))?;
        let first = first.get(&id).and_then(engagement_rate);
        if first.is_none_or(|first| first == 0 || last.saturating_mul(2) > first) {
            continue;
        }
        if let Some((post, rate)) = find_better_post(ctx, one, &all, &week, last)? {
            let charge = week.get(&id).map_or(0, |sums| sums.get(Metric::Charge));
            found.push(RecommendationDraft {
                subject: format!("tired {id}"),
                estimated_gain: charge.saturating_mul(rate.saturating_sub(last)) / rate.max(1),
                message: "A post is engaged with half as often as in its first 3 days".to_owned(),
                changes: replace_creative_change(one, post),
            });
        }
    }
    Ok(found)
}

/// The best performing post of the account, and its rate.
fn find_better_post(
    ctx: &mut AccountContext<'_, '_>,
    creative: &PromotedCreative<'_>,
    all: &[PromotedCreative<'_>],
    week: &BTreeMap<i64, MetricSums>,
    last: i64,
) -> Result<Option<(i64, i64)>, Error> {
    let own: Vec<Option<i64>> = all
        .iter()
        .filter(|other| other.line_item.id == creative.line_item.id)
        .map(|other| other.promoted.int("post_id"))
        .collect();
    let mut best: Option<(i64, i64)> = None;
    for other in all {
        let rate = week.get(&other.promoted.id).and_then(engagement_rate);
        let (Some(rate), Some(post)) = (rate, other.promoted.int("post_id")) else {
            continue;
        };
        let known = best.is_some_and(|(_, most)| most >= rate);
        if rate <= last || known || own.contains(&Some(post)) {
            continue;
        }
        if may_promote(ctx, creative.line_item, post)? {
            best = Some((post, rate));
        }
    }
    Ok(best)
}

fn replace_creative_change(creative: &PromotedCreative<'_>, post: i64) -> Value {
    let deletion = json!({ "promoted_post_id": creative.promoted.formatted_id() });
    let below = [change_node("promoted_posts", "Delete", &deletion), promote_post_change(creative.line_item, post)];
    let item = unchanged_node("line_items", creative.line_item, &below);
    unchanged_node("campaigns", &creative.campaign_tree.campaign, &[item])
}

fn promote_post_change(item: &AdsRecord, post: i64) -> Value {
    let params = json!({ "line_item_id": item.formatted_id(), "post_ids": [post.to_string()] });
    change_node("promoted_posts", "Create", &params)
}

fn may_promote(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord, post: i64) -> Result<bool, Error> {
    match require_promotable(ctx, item, PostId::new(post)) {
        Ok(_) => Ok(true),
        Err(Error::Refused(_)) => Ok(false),
        Err(failed) => Err(failed),
    }
}

/// By promoted post.
fn load_sums(
    ctx: &mut AccountContext<'_, '_>,
    ids: &[i64],
    span: (Time, Time),
) -> Result<BTreeMap<i64, MetricSums>, Error> {
    Ok(ledger::sums_between(ctx.tx, AdEntity::PromotedPost, ids, span)?)
}

/// Finds line items without creatives for two days.
pub(super) fn find_items_without_creatives(
    ctx: &mut AccountContext<'_, '_>,
    branches: &[CampaignTree],
) -> Result<Vec<RecommendationDraft>, Error> {
    let before = ctx.now().plus_ms(-IDLE_PERIOD_MS);
    let mut posts: Option<Vec<Post>> = None;
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.line_items {
            let sells = item.text("product_type") == "PROMOTED_POSTS";
            let empty = item.int("creatives").unwrap_or(0) == 0 && item.created_at <= before;
            if !sells || !empty || item.text("entity_status") != "ACTIVE" {
                continue;
            }
            let deletion = ctx.list_records(&PROMOTED_POST, "line_item_id", item.id)?;
            if deletion.iter().any(|one| one.updated_at > before) {
                continue;
            }
            let known = match posts.take() {
                Some(known) => known,
                None => popular_organic_posts(ctx)?,
            };
            let known = posts.insert(known);
            for post in known.iter() {
                let id = post.id.get();
                if suits_line_item(ctx.tx, post, item)? && may_promote(ctx, item, id)? {
                    all.push(recommend_first_creative(branch, item, id));
                    break;
                }
            }
        }
    }
    Ok(all)
}

fn recommend_first_creative(branch: &CampaignTree, item: &AdsRecord, post: i64) -> RecommendationDraft {
    let campaign = &branch.campaign;
    let budget = |record: &AdsRecord| record.int(DAILY).or(record.int(TOTAL));
    let daily = budget(item).or(budget(campaign)).unwrap_or(1);
    let below = unchanged_node("line_items", item, &[promote_post_change(item, post)]);
    RecommendationDraft {
        subject: format!("empty {}", item.id),
        estimated_gain: daily.saturating_mul(LOOKBACK_DAYS),
        message: "A line item has had nothing to show for 2 days".to_owned(),
        changes: unchanged_node("campaigns", campaign, &[below]),
    }
}

/// Public posts of the account's own user, most engaged first.
fn popular_organic_posts(ctx: &mut AccountContext<'_, '_>) -> Result<Vec<Post>, Error> {
    let Some(full): Option<UserId> = promotable_users::find_own_user(ctx)? else {
        return Ok(Vec::new());
    };
    let span = PageRange {
        above: 0,
        below: i64::MAX,
        ascending: false,
        limit: MAX_POSTS,
        without_replies: true,
        without_reposts: true,
    };
    let mut all = posts::page_by_author(ctx.tx, full, &span)?;
    all.retain(|post| !post.nullcast && post.repost_of_id.is_none());
    all.sort_by_key(|post| {
        let done = post.like_count + post.repost_count + post.reply_count + post.quote_count;
        std::cmp::Reverse((done, post.id))
    });
    Ok(all)
}
