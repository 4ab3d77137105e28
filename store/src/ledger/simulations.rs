//! Periods for which events were simulated.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{insert, select, table};

table! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SimulatedPeriod in "ad_simulation" {
        pub account_id: i64,
        pub line_item_id: i64,
        pub seed: i64,
        /// Inclusive.
        pub from: Time as "simulated_from",
        /// Exclusive.
        pub until: Time as "simulated_until",
    }
}

/// Periods of an account's line items with a seed.
pub fn list_simulated_periods(tx: &mut Tx<'_>, account: i64, seed: i64) -> Result<Vec<SimulatedPeriod>, Fault> {
    let sql = select!(SimulatedPeriod, "WHERE account_id = $1 AND seed = $2 ORDER BY line_item_id, simulated_from");
    tx.query_rows(sql, &[account.into(), seed.into()])
}

/// Extends the period that ends where this one begins, if there is one.
pub fn record_simulated_period(tx: &mut Tx<'_>, period: &SimulatedPeriod) -> Result<(), Fault> {
    let sql = "UPDATE ad_simulation SET simulated_until = $1 WHERE account_id = $2 AND line_item_id = $3 AND seed = $4 \
               AND simulated_until = $5";
    let key = [period.account_id.into(), period.line_item_id.into(), period.seed.into(), period.from.into()];
    let args = [&[period.until.into()][..], &key].concat();
    if tx.execute(sql, &args)? > 0 {
        return Ok(());
    }
    insert!(tx, SimulatedPeriod, period)
}

/// Whether events of an account were simulated between two times.
pub fn has_simulated_events(tx: &mut Tx<'_>, account: i64, (from, to): (Time, Time)) -> Result<bool, Fault> {
    let sql =
        "SELECT 1 FROM ad_simulation WHERE account_id = $1 AND simulated_from < $2 AND simulated_until > $3 LIMIT 1";
    tx.row_exists(sql, &[account.into(), to.into(), from.into()])
}
