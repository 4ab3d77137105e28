//! Limits of budgets, and the amounts spent.

use std::collections::HashMap;

use ads_engine::AdsRecord;
use base::{Fault, Time};
use store::Tx;
use store::ledger::{self, AdEntity};

use crate::resources::funding_instruments::is_order;

const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";

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
    let total = if is_order(record) { "funded_amount_local_micro" } else { "credit_limit_local_micro" };
    let total = record.int(total);
    BudgetLimits { total, daily: None }
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

/// An amount in micros with at least two decimal places, such as `12.50`.
pub fn format_amount(micros: i64) -> String {
    let part = format!("{:06}", micros.rem_euclid(1_000_000));
    let part = part.trim_end_matches('0');
    format!("{}.{part:0<2}", micros.div_euclid(1_000_000))
}
