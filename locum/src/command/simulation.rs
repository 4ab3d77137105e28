//! `locum ads simulate`.

use std::sync::Arc;

use ads_delivery::evaluator::Evaluator;
use ads_delivery::simulation;
use base::Error;
use serde_json::{Value, json};

use super::ads_accounts::{find_account, invalid_parameter};
use crate::instance::Instance;

const MAX_HOURS: i64 = 90 * 24;

pub(super) async fn simulate(instance: &Instance, account: String, hours: i64, seed: u64) -> Result<Value, Error> {
    if !(1..=MAX_HOURS).contains(&hours) {
        let message = format!("The number of hours must be between 1 and {MAX_HOURS}");
        return Err(invalid_parameter("hours", &hours.to_string(), &message));
    }
    let evaluator = Evaluator::new(instance.search_backend.clone());
    let find = move |tx: &mut store::Tx<'_>| {
        let account = find_account(tx, &account)?;
        let plays = simulation::load_simulated_items(tx, &evaluator, &account)?;
        Ok((account, plays, simulation::past_hours(tx.now(), hours)))
    };
    let (account, plays, hours) = instance.store.read(find).await?;
    let (written, items) = (account.formatted_id(), plays.len());
    let (account, plays) = (Arc::new(account), Arc::new(plays));
    let mut events = 0;
    for hour in hours {
        let (account, plays) = (Arc::clone(&account), Arc::clone(&plays));
        let play = move |tx: &mut store::Tx<'_>| Ok(simulation::simulate_hour(tx, &account, &plays, (hour, seed))?);
        events += instance.store.write(play).await?;
    }
    Ok(json!({ "account": written, "line_items": items, "events": events, "seed": seed }))
}
