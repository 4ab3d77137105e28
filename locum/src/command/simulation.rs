//! `locum ads simulate`.

use std::sync::Arc;

use ads::evaluator::Evaluator;
use ads::simulation;
use base::Error;
use serde_json::{Value, json};

use super::ads::{account_of, wrong};
use crate::world::World;

/// Hours of one call.
const MOST: i64 = 90 * 24;

/// Makes up what happens to what an account promotes, hour by hour.
pub(super) async fn simulate(
    world: &World,
    account: String,
    hours: i64,
    seed: u64,
) -> Result<Value, Error> {
    if !(1..=MOST).contains(&hours) {
        let message = format!("Between 1 and {MOST} hours are simulated");
        return Err(wrong("hours", &hours.to_string(), &message));
    }
    let evaluator = Evaluator::new(world.search.clone());
    let look = move |tx: &mut store::Tx<'_>| {
        let account = account_of(tx, &account)?;
        let plays = simulation::load_simulated_items(tx, &evaluator, &account)?;
        Ok((account, plays, simulation::past_hours(tx.now(), hours)))
    };
    let (account, plays, hours) = world.store.read(look).await?;
    let (written, items) = (account.formatted_id(), plays.len());
    let (account, plays) = (Arc::new(account), Arc::new(plays));
    let mut events = 0;
    for hour in hours {
        let (account, plays) = (Arc::clone(&account), Arc::clone(&plays));
        let play = move |tx: &mut store::Tx<'_>| {
            Ok(simulation::simulate_hour(
                tx,
                &account,
                &plays,
                (hour, seed),
            )?)
        };
        events += world.store.write(play).await?;
    }
    Ok(json!({ "account": written, "line_items": items, "events": events, "seed": seed }))
}
