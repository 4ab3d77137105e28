//! Limits of budgets, and the amounts spent.

use std::collections::HashMap;

use ads_engine::AdsRecord;
use base::{Fault, Time};
use store::Tx;
use store::ledger::{self, AdEntity};

use crate::resources::bidding_rules::bid_bounds;
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
    format_all_places(micros, 2)
}

/// Micros of a currency with at least its decimal places, such as `12.50 USD`.
pub fn format_exact_money(micros: i64, currency: &str) -> String {
    format!("{} {currency}", format_all_places(micros, decimal_places(currency)))
}

fn format_all_places(micros: i64, min_places: usize) -> String {
    let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let part = format!("{:06}", micros % 1_000_000);
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() && min_places == 0 { "" } else { "." };
    format!("{sign}{}{point}{part:0<min_places$}", micros / 1_000_000)
}

fn decimal_places(currency: &str) -> usize {
    match bid_bounds(currency).step {
        1_000_000 => 0,
        1_000 => 3,
        _ => 2,
    }
}

/// Micros of a currency, rounded to its decimal places, such as `1,234.50 EUR`.
pub fn format_money(micros: i64, currency: &str) -> String {
    let coin = bid_bounds(currency).step;
    let coins = micros.saturating_add(coin / 2).div_euclid(coin);
    let (per_unit, places) = (1_000_000 / coin, decimal_places(currency));
    let sign = if coins < 0 { "-" } else { "" };
    let (units, part) = (format_integer(coins.abs() / per_unit), coins.abs() % per_unit);
    if places == 0 {
        return format!("{sign}{units} {currency}");
    }
    format!("{sign}{units}.{part:0places$} {currency}")
}

/// With commas between thousands.
pub fn format_integer(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::{format_amount, format_exact_money, format_money};

    #[test]
    fn money_has_the_decimal_places_of_its_currency() {
        for (micros, currency, text) in [
            (1_234_567_890_000, "EUR", "1,234,567.89 EUR"),
            (-5_000, "EUR", "0.00 EUR"),
            (5_000, "EUR", "0.01 EUR"),
            (-12_340_000, "EUR", "-12.34 EUR"),
            (12_300_000, "USD", "12.30 USD"),
            (1_499_999, "JPY", "1 JPY"),
            (-40_000_000, "JPY", "-40 JPY"),
            (5_125_000, "KWD", "5.125 KWD"),
            (1_234_567_890, "TND", "1,234.568 TND"),
        ] {
            assert_eq!(format_money(micros, currency), text);
        }
    }

    #[test]
    fn exact_amounts_have_all_their_decimal_places() {
        for (micros, currency, text) in [
            (12_300_000, "USD", "12.30 USD"),
            (0, "USD", "0.00 USD"),
            (1_234_567, "USD", "1.234567 USD"),
            (40_000_000, "JPY", "40 JPY"),
            (40_500_000, "JPY", "40.5 JPY"),
            (-12_340_000, "USD", "-12.34 USD"),
            (5_100_000, "KWD", "5.100 KWD"),
        ] {
            assert_eq!(format_exact_money(micros, currency), text);
        }
        assert_eq!(format_amount(20_000_000), "20.00");
    }
}
