//! Daily recommendations: examines what each funding instrument pays for and stores possible improvements as a
//! tree of changes (contract ads §8.8).

mod audience_advice;
mod bid_advice;
mod change_tree;
mod performance_rules;

use std::sync::Arc;

use ads::resources::accounts::{self, ACCOUNT};
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::recommendations::RECOMMENDATION;
use ads_engine::{AccountContext, AdsConfig, AdsRecord, ParsedParams, engine};
use base::time::DAY_MS;
use base::{Error, Fault, Time, UserId};
use network::emails::EmailSite;
use serde_json::Value;
use store::{Tx, records};

use crate::emails;
use crate::evaluator::Evaluator;

/// A day in milliseconds.
/// Open recommendations expire, and dismissed ones are not repeated, for this long.
const RETENTION_MS: i64 = 14 * DAY_MS;
/// Days of statistics examined.
const LOOKBACK_DAYS: i64 = 7;
const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";

#[derive(Clone, Debug)]
struct RecommendationDraft {
    /// The rule and the entity the recommendation is about.
    subject: String,
    /// The estimated gain in micros of the account's currency.
    estimated_gain: i64,
    message: String,
    changes: Value,
}

/// A campaign of a funding instrument, with its line items.
struct CampaignTree {
    campaign: AdsRecord,
    line_items: Vec<AdsRecord>,
}

/// The funding instrument that is due first.
pub fn due_funding_instrument(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now().ms();
    let rows = records::list_due(tx, FUNDING_INSTRUMENT.name, "advise_at", now, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// When the next funding instrument is due that is not due yet.
pub fn next_funding_instrument(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now().ms();
    Ok(records::next_due(tx, FUNDING_INSTRUMENT.name, "advise_at", now)?.map(Time::from_ms))
}

/// The dependencies of the rules and of the emails about their results.
#[derive(Clone, Debug)]
pub struct RecommendationEngine {
    pub evaluator: Arc<Evaluator>,
    pub config: AdsConfig,
    pub site: EmailSite,
}

/// Possible improvements for a funding instrument.
#[derive(Clone, Debug, Default)]
pub struct RecommendationDrafts(Vec<RecommendationDraft>);

impl RecommendationEngine {
    /// Examines a funding instrument. Takes time but writes nothing, so that no writer waits for it.
    pub fn find_improvements(&self, tx: &mut Tx<'_>, id: i64) -> Result<RecommendationDrafts, Error> {
        let Some((mut ctx, instrument)) = self.instrument_context(tx, id)? else {
            return Ok(RecommendationDrafts::default());
        };
        let live = !instrument.deleted && instrument.text("entity_status") == "ACTIVE";
        if !live || accounts::require_opt_in_feature(&ctx, "RECOMMENDATIONS").is_err() {
            return Ok(RecommendationDrafts::default());
        }
        Ok(RecommendationDrafts(draft_recommendations(&mut ctx, id)?))
    }

    /// Stores the recommendations and schedules the next run a day later. Does nothing if another node was
    /// faster than `due`.
    pub fn publish_findings(
        &self,
        tx: &mut Tx<'_>,
        id: i64,
        due: bool,
        drafts: &RecommendationDrafts,
    ) -> Result<(), Error> {
        let Some(row) = records::find_by_id(tx, FUNDING_INSTRUMENT.name, id)? else {
            return Ok(());
        };
        records::lock(tx, ACCOUNT.name, row.account_id)?;
        records::lock(tx, FUNDING_INSTRUMENT.name, id)?;
        let Some((mut ctx, mut instrument)) = self.instrument_context(tx, id)? else {
            return Ok(());
        };
        let now = ctx.now();
        if due && instrument.time("advise_at").is_none_or(|at| at > now) {
            return Ok(());
        }
        instrument.set("advise_at", now.ms().saturating_add(DAY_MS));
        ctx.save_record(&instrument)?;
        if let Some(new) = reconcile_recommendations(&mut ctx, id, &drafts.0)? {
            emails::queue_improvement_email(&mut ctx, &self.site, &new)?;
        }
        Ok(())
    }

    fn instrument_context<'t, 'c>(
        &self,
        tx: &'t mut Tx<'c>,
        id: i64,
    ) -> Result<Option<(AccountContext<'t, 'c>, AdsRecord)>, Error> {
        let Some(instrument) = AdsRecord::find(tx, &FUNDING_INSTRUMENT, id)? else {
            return Ok(None);
        };
        let Some(account) = accounts::find(tx, instrument.account_id)? else {
            return Ok(None);
        };
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
        ctx.evaluator = Some(self.evaluator.clone());
        ctx.config.clone_from(&self.config);
        Ok(Some((ctx, instrument)))
    }
}

pub fn funding_instrument_ids(tx: &mut Tx<'_>, account: i64) -> Result<Vec<i64>, Fault> {
    let rows = records::list_by_account(tx, FUNDING_INSTRUMENT.name, account)?;
    Ok(rows.iter().map(|row| row.id).collect())
}

/// Drafts for a funding instrument, highest gain first.
fn draft_recommendations(ctx: &mut AccountContext<'_, '_>, instrument: i64) -> Result<Vec<RecommendationDraft>, Error> {
    let mut branches = Vec::new();
    for campaign in ctx.list_visible_records(&CAMPAIGN, "funding_instrument_id", instrument)? {
        let items = ctx.list_visible_records(&LINE_ITEM, "campaign_id", campaign.id)?;
        branches.push(CampaignTree { campaign, line_items: items });
    }
    let mut all = performance_rules::find_small_budgets(ctx, &branches)?;
    all.extend(audience_advice::find_narrow_audiences(ctx, &branches)?);
    all.extend(bid_advice::find_low_bids(ctx, &branches)?);
    all.extend(performance_rules::find_tired_creatives(ctx, &branches)?);
    all.extend(performance_rules::find_items_without_creatives(ctx, &branches)?);
    all.sort_by(|one, other| (other.estimated_gain, &one.subject).cmp(&(one.estimated_gain, &other.subject)));
    Ok(all)
}

/// Compares stored recommendations with the drafts: marks applied and expired ones, and returns new ones.
fn reconcile_recommendations(
    ctx: &mut AccountContext<'_, '_>,
    instrument: i64,
    drafts: &[RecommendationDraft],
) -> Result<Option<AdsRecord>, Error> {
    let now = ctx.now();
    let existing = ctx.list_records(&RECOMMENDATION, "funding_instrument_id", instrument)?;
    let still: Vec<String> = drafts.iter().map(|one| one.subject.clone()).collect();
    let best = drafts.iter().find(|advice| {
        !existing.iter().any(|one| {
            let turned_down = one.flag("refused") && one.updated_at.plus_ms(RETENTION_MS) > now;
            turned_down && one.text("subject") == advice.subject
        })
    });
    let mut holds = false;
    for pending in existing.iter().filter(|one| one.text("status") == "PENDING") {
        let changes = pending.get("changes").cloned().unwrap_or_default();
        let status = if change_tree::is_tree_applied(ctx, &changes)? {
            "APPLIED"
        } else {
            let subject = pending.text("subject");
            let is_best = best.as_ref().is_some_and(|best| best.subject == subject);
            let old = pending.created_at.plus_ms(RETENTION_MS) <= now;
            holds |= is_best;
            if is_best && !old {
                continue;
            }
            if old || !still.iter().any(|one| one == subject) {
                "EXPIRED"
            } else {
                // A different recommendation has a higher gain.
                "DISMISSED"
            }
        };
        set_recommendation_status(ctx, pending.clone(), status)?;
    }
    let Some(best) = best.filter(|_| !holds).cloned() else {
        return Ok(None);
    };
    let mut params = ParsedParams::default();
    params.insert("funding_instrument_id", instrument.into());
    params.insert("status", "PENDING".into());
    params.insert("message", best.message.into());
    params.insert("subject", best.subject.into());
    params.insert("changes", best.changes);
    engine::create(ctx, &RECOMMENDATION, &params).map(Some)
}

fn set_recommendation_status(
    ctx: &mut AccountContext<'_, '_>,
    mut record: AdsRecord,
    status: &str,
) -> Result<(), Error> {
    record.set("status", status);
    record.updated_at = ctx.now();
    ctx.save_record(&record)
}

/// Dismisses a recommendation; returns false if there is none.
pub fn dismiss(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<bool, Error> {
    let found = ctx.find_record(&RECOMMENDATION, id)?;
    let Some(mut record) = found.filter(|one| one.text("status") == "PENDING") else {
        return Ok(false);
    };
    record.set("refused", 1);
    set_recommendation_status(ctx, record, "DISMISSED")?;
    Ok(true)
}

/// Marks a recommendation as applied; returns false if part of it has not been applied.
pub fn mark_as_applied(ctx: &mut AccountContext<'_, '_>, id: i64) -> Result<bool, Error> {
    let found = ctx.find_record(&RECOMMENDATION, id)?;
    let Some(record) = found.filter(|one| one.text("status") == "PENDING") else {
        return Ok(false);
    };
    let changes = record.get("changes").cloned().unwrap_or_default();
    if !change_tree::is_tree_applied(ctx, &changes)? {
        return Ok(false);
    }
    set_recommendation_status(ctx, record, "APPLIED")?;
    Ok(true)
}
