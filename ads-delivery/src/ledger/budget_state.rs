//! Budgets and the remaining amounts.

use std::collections::HashMap;

use ads::budget::{BudgetLimits, budget_limits};
use ads_engine::AdsRecord;
use base::{Fault, Time};
use store::Tx;
use store::ledger::{self, AdEntity};

/// A budget's limits and the amounts spent.
#[derive(Clone, Debug, Default)]
pub(super) struct BudgetState {
    entity: Option<(AdEntity, i64)>,
    limits: BudgetLimits,
    spent: i64,
    spent_by_day: HashMap<Time, i64>,
}

pub(super) fn load_budgets(
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
    /// What is left of the total budget and of the budget of the day, whichever is less, in micros; at most 0 when
    /// exhausted, and `None` without limits.
    pub(super) fn remaining(&mut self, tx: &mut Tx<'_>, day: (Time, Time)) -> Result<Option<i64>, Fault> {
        let total = self.limits.total.map(|limit| limit.saturating_sub(self.spent));
        let (Some(limit), Some((entity, id))) = (self.limits.daily, self.entity) else {
            return Ok(total);
        };
        let spent = if let Some(spent) = self.spent_by_day.get(&day.0) {
            *spent
        } else {
            let found = ledger::spend_between(tx, entity, &[id], day)?;
            let spent = found.first().map_or(0, |(_, spent)| *spent);
            self.spent_by_day.insert(day.0, spent);
            spent
        };
        let daily = limit.saturating_sub(spent);
        Ok(Some(total.map_or(daily, |total| total.min(daily))))
    }

    pub(super) fn spend(&mut self, day: Time, amount: i64) {
        self.spent = self.spent.saturating_add(amount);
        if let Some(spent) = self.spent_by_day.get_mut(&day) {
            *spent = spent.saturating_add(amount);
        }
    }
}
