//! What could do better, by the ledger of the last days.

use std::collections::HashMap;

use base::{Error, PostId, Time, UserId};
use serde_json::{Value, json};
use store::ledger::{self, AdEntity, Metric, MetricSums, Placement};
use store::posts::{self, PageRange, Post};

use super::tree::{changed, kept};
use super::{Advice, Branch, DAILY, DAY, DAYS, TOTAL};
use crate::desk::Desk;
use crate::record::Record;
use crate::resources::bidding::bounds;
use crate::resources::promotable_users;
use crate::resources::promoted_posts::{PROMOTED_POST, promotable, suits};
use crate::zone::Zone;

const HOUR: i64 = 3_600_000;
/// On so many of them a budget was used up early before it is said to be small.
const EARLY: i64 = 3;
/// From two in the afternoon until midnight.
const AFTERNOON: i64 = 10 * HOUR;
/// A rate of fewer impressions says little.
const IMPRESSIONS: i64 = 100;
/// The first days of a creative, and its last.
const SPELL: i64 = 3 * DAY;
/// How long a line item has nothing to show before that is said.
const PATIENCE: i64 = 2 * DAY;
/// Posts of an author that are looked at.
const POSTS: i64 = 100;

/// Budgets that are used up before two in the afternoon.
pub(super) fn small_budgets(
    desk: &mut Desk<'_, '_>,
    branches: &[Branch],
) -> Result<Vec<Advice>, Error> {
    let zone = Zone::named(desk.account()?.record.text("timezone"));
    let ids: Vec<i64> = branches.iter().map(|branch| branch.campaign.id).collect();
    let mut mornings: Vec<HashMap<i64, i64>> = Vec::new();
    let mut day = zone.day(desk.now());
    for _ in 0..DAYS {
        day = zone.day(day.0.plus_ms(-1));
        let morning = (day.0, day.1.plus_ms(-AFTERNOON));
        let spent = ledger::spend_between(desk.tx, AdEntity::Campaign, &ids, morning)?;
        mornings.push(spent.into_iter().collect());
    }
    let mut all = Vec::new();
    for Branch { campaign, .. } in branches {
        let Some(daily) = campaign.int(DAILY) else {
            continue;
        };
        let spent =
            |morning: &&HashMap<i64, i64>| morning.get(&campaign.id).copied().unwrap_or(0) >= daily;
        let early = i64::try_from(mornings.iter().filter(spent).count()).unwrap_or(0);
        let Some(more) = raised(campaign, daily) else {
            continue;
        };
        if early < EARLY || campaign.text("entity_status") != "ACTIVE" {
            continue;
        }
        let params = json!({ "campaign_id": campaign.written_id(), DAILY: more });
        all.push(Advice {
            subject: format!("budget {}", campaign.id),
            gain: more.saturating_sub(daily).saturating_mul(early),
            message: format!(
                "Daily budget ran out before 14:00 on {early} of the last {DAYS} days"
            ),
            changes: changed("campaigns", "Update", &params),
        });
    }
    Ok(all)
}

/// A quarter more, in amounts that the currency has and within the total; none if that is no more.
fn raised(campaign: &Record, daily: i64) -> Option<i64> {
    let step = bounds(campaign.text("currency")).step;
    let more = daily.saturating_add(daily / 4);
    let more = more.saturating_add(step - 1) / step * step;
    let more = campaign.int(TOTAL).map_or(more, |total| more.min(total));
    (more > daily).then_some(more)
}

/// A post that is promoted, its line item and campaign.
struct Shown<'b> {
    branch: &'b Branch,
    item: &'b Record,
    promoted: Record,
}

/// How often something was shown, and how often anything was done with it.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    shown: i64,
    done: i64,
    charge: i64,
}

impl Rate {
    /// In millionths; none where it was shown too seldom.
    fn millionths(self) -> Option<i64> {
        let done = self.done.saturating_mul(1_000_000);
        (self.shown >= IMPRESSIONS).then(|| done / self.shown)
    }
}

/// Posts that do half as well as at first, where another one does better.
pub(super) fn tired_creatives(
    desk: &mut Desk<'_, '_>,
    branches: &[Branch],
) -> Result<Vec<Advice>, Error> {
    let now = desk.now();
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.items {
            for promoted in desk.shown(&PROMOTED_POST, "line_item_id", item.id)? {
                all.push(Shown {
                    branch,
                    item,
                    promoted,
                });
            }
        }
    }
    let ids: Vec<i64> = all.iter().map(|one| one.promoted.id).collect();
    let week = rates(desk, &ids, (now.plus_ms(-DAYS * DAY), now))?;
    let lately = rates(desk, &ids, (now.plus_ms(-SPELL), now))?;
    let mut found = Vec::new();
    for one in &all {
        let (id, begun) = (one.promoted.id, one.promoted.created_at);
        let Some(last) = lately.get(&id).and_then(|rate| rate.millionths()) else {
            continue;
        };
        if begun.plus_ms(2 * SPELL) > now {
            continue;
        }
        let first = rates(desk, &[id], (begun, begun.plus_ms(SPELL)))?;
        let first = first.get(&id).and_then(|rate| rate.millionths());
        if first.is_none_or(|first| first == 0 || last.saturating_mul(2) > first) {
            continue;
        }
        if let Some((post, rate)) = better(desk, one, &all, &week, last)? {
            let charge = week.get(&id).map_or(0, |rate| rate.charge);
            found.push(Advice {
                subject: format!("tired {id}"),
                gain: charge.saturating_mul(rate.saturating_sub(last)) / rate.max(1),
                message: "A post is engaged with half as often as in its first 3 days".to_owned(),
                changes: instead(one, post),
            });
        }
    }
    Ok(found)
}

/// The post of the account that does best of those that do better, and its rate.
fn better(
    desk: &mut Desk<'_, '_>,
    one: &Shown<'_>,
    all: &[Shown<'_>],
    week: &HashMap<i64, Rate>,
    last: i64,
) -> Result<Option<(i64, i64)>, Error> {
    let own: Vec<Option<i64>> = all
        .iter()
        .filter(|other| other.item.id == one.item.id)
        .map(|other| other.promoted.int("post_id"))
        .collect();
    let mut best: Option<(i64, i64)> = None;
    for other in all {
        let rate = week
            .get(&other.promoted.id)
            .and_then(|rate| rate.millionths());
        let (Some(rate), Some(post)) = (rate, other.promoted.int("post_id")) else {
            continue;
        };
        let known = best.is_some_and(|(_, most)| most >= rate);
        if rate <= last || known || own.contains(&Some(post)) {
            continue;
        }
        if may_promote(desk, one.item, post)? {
            best = Some((post, rate));
        }
    }
    Ok(best)
}

fn instead(one: &Shown<'_>, post: i64) -> Value {
    let gone = json!({ "promoted_post_id": one.promoted.written_id() });
    let below = [
        changed("promoted_posts", "Delete", &gone),
        promotes(one.item, post),
    ];
    let item = kept("line_items", one.item, &below);
    kept("campaigns", &one.branch.campaign, &[item])
}

fn promotes(item: &Record, post: i64) -> Value {
    let params = json!({ "line_item_id": item.written_id(), "post_ids": [post.to_string()] });
    changed("promoted_posts", "Create", &params)
}

fn may_promote(desk: &mut Desk<'_, '_>, item: &Record, post: i64) -> Result<bool, Error> {
    match promotable(desk, item, PostId::new(post)) {
        Ok(_) => Ok(true),
        Err(Error::Refused(_)) => Ok(false),
        Err(failed) => Err(failed),
    }
}

fn rates(
    desk: &mut Desk<'_, '_>,
    ids: &[i64],
    span: (Time, Time),
) -> Result<HashMap<i64, Rate>, Error> {
    let mut all: HashMap<i64, Rate> = HashMap::new();
    let groups = [
        Placement::AllOn,
        Placement::Publishers,
        Placement::Spotlight,
        Placement::Trend,
    ];
    for group in groups {
        for (id, _, sums) in ledger::hourly_sums(desk.tx, AdEntity::PromotedPost, ids, span, group)?
        {
            let sums: &MetricSums = &sums;
            let rate = all.entry(id).or_default();
            rate.shown = rate.shown.saturating_add(sums.get(Metric::Impressions));
            rate.done = rate.done.saturating_add(sums.get(Metric::Engagements));
            rate.charge = rate.charge.saturating_add(sums.get(Metric::Charge));
        }
    }
    Ok(all)
}

/// Line items that have had nothing to show for two days.
pub(super) fn nothing_to_serve(
    desk: &mut Desk<'_, '_>,
    branches: &[Branch],
) -> Result<Vec<Advice>, Error> {
    let before = desk.now().plus_ms(-PATIENCE);
    let mut posts: Option<Vec<Post>> = None;
    let mut all = Vec::new();
    for branch in branches {
        for item in &branch.items {
            let sells = item.text("product_type") == "PROMOTED_POSTS";
            let empty = item.int("creatives").unwrap_or(0) == 0 && item.created_at <= before;
            if !sells || !empty || item.text("entity_status") != "ACTIVE" {
                continue;
            }
            let gone = desk.with(&PROMOTED_POST, "line_item_id", item.id)?;
            if gone.iter().any(|one| one.updated_at > before) {
                continue;
            }
            let known = match posts.take() {
                Some(known) => known,
                None => organic(desk)?,
            };
            let known = posts.insert(known);
            let fits = known.iter().filter(|post| suits(post, item));
            for post in fits.map(|post| post.id.get()).collect::<Vec<_>>() {
                if may_promote(desk, item, post)? {
                    all.push(empty_item(branch, item, post));
                    break;
                }
            }
        }
    }
    Ok(all)
}

fn empty_item(branch: &Branch, item: &Record, post: i64) -> Advice {
    let campaign = &branch.campaign;
    let budget = |record: &Record| record.int(DAILY).or(record.int(TOTAL));
    let daily = budget(item).or(budget(campaign)).unwrap_or(1);
    let below = kept("line_items", item, &[promotes(item, post)]);
    Advice {
        subject: format!("empty {}", item.id),
        gain: daily.saturating_mul(DAYS),
        message: "A line item has had nothing to show for 2 days".to_owned(),
        changes: kept("campaigns", campaign, &[below]),
    }
}

/// Posts of the account's own user that were made for everyone, those that most was done with first.
fn organic(desk: &mut Desk<'_, '_>) -> Result<Vec<Post>, Error> {
    let Some(full): Option<UserId> = promotable_users::full(desk)? else {
        return Ok(Vec::new());
    };
    let span = PageRange {
        above: 0,
        below: i64::MAX,
        ascending: false,
        limit: POSTS,
        without_replies: true,
        without_reposts: true,
    };
    let mut all = posts::page_by_author(desk.tx, full, &span)?;
    all.retain(|post| !post.nullcast && post.repost_of_id.is_none());
    all.sort_by_key(|post| {
        let done = post.like_count + post.repost_count + post.reply_count + post.quote_count;
        std::cmp::Reverse((done, post.id))
    });
    Ok(all)
}
