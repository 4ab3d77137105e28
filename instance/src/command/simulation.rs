//! `locum ads simulate`.

use std::ffi::OsString;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ads_delivery::evaluator::Evaluator;
use ads_delivery::simulation::{SimulatedCounts, Simulation, SimulationOptions, last_step_end};
use ads_engine::AdsConfig;
use base::time::HOUR_MS;
use base::{Error, Time};
use clap::Args;
use serde_json::{Value, json};
use store::Store;

use super::ads_accounts::{find_account, invalid_parameter};
use super::dispatch::run_command_with_arguments;
use super::{AdminCommand, AdsCommand};
use crate::Instance;
use crate::arguments::GlobalArgs;
use crate::command_error::CommandError;
use crate::output::exit_with_reader;

const MAX_HOURS: i64 = 90 * 24;
const MAX_VIEWERS: i64 = 100_000_000;

#[derive(Clone, Debug, Args)]
pub struct SimulateArgs {
    /// The id
    pub account: String,
    /// The number of hours to simulate, ending now
    #[arg(long, default_value_t = 24, conflicts_with = "days")]
    pub hours: i64,
    /// The number of days to simulate, instead of hours; at most 90
    #[arg(long)]
    pub days: Option<i64>,
    /// The seed: the same seed produces the same events, once
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The number of people in the audience
    #[arg(long, default_value_t = DEFAULT_VIEWERS)]
    pub viewers: i64,
    /// Continue as time passes, until interrupted
    #[arg(long)]
    pub follow: bool,
}

pub const DEFAULT_VIEWERS: i64 = 200_000;

impl SimulateArgs {
    /// Without `--follow`.
    fn to_arguments(&self) -> Vec<OsString> {
        let span = self.days.map_or_else(|| format!("--hours={}", self.hours), |days| format!("--days={days}"));
        let options = [span, format!("--seed={}", self.seed), format!("--viewers={}", self.viewers)];
        let command = ["ads", "simulate"].map(str::to_owned).into_iter();
        command.chain(options).chain([self.account.clone()]).map(OsString::from).collect()
    }

    fn hours(&self) -> Result<i64, Error> {
        let hours = self.days.map_or(self.hours, |days| days.saturating_mul(24));
        if !(1..=MAX_HOURS).contains(&hours) {
            let message = format!("The time to simulate must be between 1 and {MAX_HOURS} hours");
            let name = if self.days.is_some() { "days" } else { "hours" };
            return Err(invalid_parameter(name, &self.days.unwrap_or(self.hours).to_string(), &message));
        }
        if !(1..=MAX_VIEWERS).contains(&self.viewers) {
            let message = format!("The number of viewers must be between 1 and {MAX_VIEWERS}");
            return Err(invalid_parameter("viewers", &self.viewers.to_string(), &message));
        }
        Ok(hours)
    }
}

pub(super) async fn simulate(instance: &Instance, args: SimulateArgs) -> Result<Value, Error> {
    let hours = args.hours()?;
    let evaluator = Evaluator::new(instance.search_backend.clone());
    let config = instance.settings.ads_config();
    let report = run_simulation(&instance.store, (evaluator, config), args, hours).await?;
    instance.write(|_| Ok(())).await?;
    Ok(report)
}

/// Simulates the hours before now, a transaction for each of the account's days.
pub async fn run_simulation(
    store: &Store,
    (evaluator, config): (Arc<Evaluator>, AdsConfig),
    args: SimulateArgs,
    hours: i64,
) -> Result<Value, Error> {
    let options = SimulationOptions { seed: args.seed, viewers: args.viewers };
    let name = args.account;
    let load = move |tx: &mut store::Tx<'_>| {
        let account = find_account(tx, &name)?;
        let until = last_step_end(tx.now());
        let simulation = Simulation::load(tx, (&evaluator, &config), &account, options)?;
        Ok((account.formatted_id(), simulation, (until.plus_ms(-hours * HOUR_MS), until)))
    };
    let (account, simulation, span) = store.read(load).await?;
    let simulation = Arc::new(simulation);
    let mut counts = SimulatedCounts::default();
    for part in simulation.split_by_day(span) {
        let simulation = Arc::clone(&simulation);
        counts = counts.plus(store.write(move |tx| simulation.simulate(tx, part)).await?);
    }
    Ok(json!({
        "account": account,
        "line_items": simulation.line_item_count(),
        "events": counts.rows,
        "impressions": counts.impressions,
        "viewers": args.viewers,
        "seed": args.seed,
        "from": span.0.to_string(),
        "until": span.1.to_string(),
    }))
}

/// How often the world's clock is asked for; it may run faster than this machine's.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// Simulates, and then each step of the world's time after it has passed; returns only with an error.
pub fn follow_and_print(common: &GlobalArgs, mut args: SimulateArgs) -> Result<(), CommandError> {
    exit_with_reader()?;
    let output = common.output_options();
    args.follow = false;
    let mut reached = None;
    loop {
        let command = AdminCommand::Ads(AdsCommand::Simulate(args.clone()));
        let counts = run_command_with_arguments(common, command, args.to_arguments(), output)?;
        let until = counts.get("until").and_then(Value::as_str).and_then(Time::parse);
        if until != reached {
            output.print_value(&counts);
        }
        let passed = until.zip(reached).map_or(0, |(until, reached)| (until.ms() - reached.ms()) / HOUR_MS);
        reached = until;
        args.days = None;
        if passed > args.hours {
            // What was simulated before is left out.
            args.hours = (passed + 1).min(MAX_HOURS);
            continue;
        }
        args.hours = 1;
        thread::sleep(FOLLOW_INTERVAL);
    }
}
