//! Budgets and the remaining amounts.

use std::collections::HashMap;

use ads_engine::AdsRecord;
use base::{Fault, Time};
use store::Tx;
use store::ledger::{self, AdEntity};

const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";

/// A budget's limits and the amounts spent.
#[derive(Clone, Debug, Default)]
pub struct BudgetState {
    entity: Option<(AdEntity, i64)>,
    limits: BudgetLimits,
    spent: i64,
    spent_by_day: HashMap<Time, i64>,
}

/// Limits in micros of the account's currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    pub total: Option<i64>,
    pub daily: Option<i64>,
}

pub fn budget_limits(entity: AdEntity, record: &AdsRecord) -> BudgetLimits {
    if entity != AdEntity::Funding {
        return BudgetLimits { total: record.int(TOTAL), daily: record.int(DAILY) };
    }
    let total = match record.text("type") {
        "INSERTION_ORDER" | "PARTNER_MANAGED" => record.int("funded_amount_local_micro"),
        _ => record.int("credit_limit_local_micro"),
    };
    BudgetLimits { total, daily: None }
}

pub fn load_budgets(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    records: &HashMap<i64, AdsRecord>,
    budgets: &mut HashMap<(AdEntity, i64), BudgetState>,
) -> Result<(), Fault> {
    let ids: Vec<i64> = records.keys().copied().collect();
    let spent: HashMap<i64, i64> = ledger::total_spend(tx, entity, &ids)?.into_iter().collect();
    for (id, record) in records {
        let budget = BudgetState {
            entity: Some((entity, *id)),
            limits: budget_limits(entity, record),
            spent: spent.get(id).copied().unwrap_or(0),
            spent_by_day: HashMap::new(),
        };
        budgets.insert((entity, *id), budget);
    }
    Ok(())
}

impl BudgetState {
    /// Whether the total budget or the budget of the day is exhausted.
    pub fn is_empty(&mut self, tx: &mut Tx<'_>, day: (Time, Time)) -> Result<bool, Fault> {
        if self.limits.total.is_some_and(|limit| self.spent >= limit) {
            return Ok(true);
        }
        let (Some(limit), Some((entity, id))) = (self.limits.daily, self.entity) else {
            return Ok(false);
        };
        if let Some(spent) = self.spent_by_day.get(&day.0) {
            return Ok(*spent >= limit);
        }
        let found = ledger::spend_between(tx, entity, &[id], day)?;
        let spent = found.first().map_or(0, |(_, spent)| *spent);
        self.spent_by_day.insert(day.0, spent);
        Ok(spent >= limit)
    }

    pub fn spend(&mut self, day: Time, amount: i64) {
        self.spent = self.spent.saturating_add(amount);
        if let Some(spent) = self.spent_by_day.get_mut(&day) {
            *spent = spent.saturating_add(amount);
        }
    }
}

/// Amounts spent, in micros of the account's currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetSpent {
    pub total: i64,
    /// On the account's current day.
    pub today: i64,
}

impl BudgetLimits {
    /// Whether nothing may be spent any more.
    pub fn are_exhausted(self, spent: BudgetSpent) -> bool {
        self.total.is_some_and(|limit| spent.total >= limit) || self.daily.is_some_and(|limit| spent.today >= limit)
    }
}

/// Amounts spent by each entity, in total and on a day; entities that spent nothing are omitted.
pub fn load_spent(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    day: (Time, Time),
) -> Result<HashMap<i64, BudgetSpent>, Fault> {
    let mut all: HashMap<i64, BudgetSpent> = HashMap::new();
    for (id, total) in ledger::total_spend(tx, entity, ids)? {
        all.entry(id).or_default().total = total;
    }
    // Entities that never spent anything did not spend today.
    let spenders: Vec<i64> = all.keys().copied().collect();
    for (id, today) in ledger::spend_between(tx, entity, &spenders, day)? {
        all.entry(id).or_default().today = today;
    }
    Ok(all)
}
