//! `locum sim traffic`.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::call_control_api;
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;
use instance::config::parse_duration;

const PATH: &str = "/traffic";
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The longest run that the server accepts.
const MAX_SECONDS: u64 = 86_400;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Let people post, reply, like, repost and follow until the time is over or Ctrl-C
    Traffic(TrafficArgs),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct TrafficArgs {
    /// Actions per second, from 1 to 200
    #[arg(long, default_value_t = 5)]
    rate: i64,
    /// How long: 30s, 10m, 2h [default: until Ctrl-C, at most 24h]
    #[arg(long = "for", value_name = "DURATION")]
    duration: Option<String>,
    /// The same seed in the same world at the same time produces the same actions
    #[arg(long, default_value_t = 1)]
    seed: i64,
}

pub(crate) fn run_sim_command(common: &GlobalArgs, command: &SimCommand) -> Result<(), CommandError> {
    let SimCommand::Traffic(args) = command;
    let body = json!({"rate": args.rate, "seconds": traffic_seconds(args)?, "seed": args.seed});
    let interrupts = watch_interrupts()?;
    call_control_api(common, Method::POST, PATH, Some(&body))?;
    let report = wait_for_end(common, &interrupts)?;
    common.output_options().print_value(&report);
    match report["state"].as_str() {
        Some("failed") => Err(CommandError::Failed("the traffic failed; see the log of the server".to_owned())),
        _ => Ok(()),
    }
}

fn traffic_seconds(args: &TrafficArgs) -> Result<u64, CommandError> {
    let Some(text) = &args.duration else { return Ok(MAX_SECONDS) };
    let duration = parse_duration(text).filter(|duration| duration.subsec_nanos() == 0);
    let seconds = duration.map(|duration| duration.as_secs()).filter(|seconds| (1..=MAX_SECONDS).contains(seconds));
    seconds.ok_or_else(|| {
        CommandError::Usage(format!("--for {text}: expected whole seconds from 1s to 24h, such as 30s, 10m or 2h"))
    })
}

/// Stops the traffic at a signal.
fn wait_for_end(common: &GlobalArgs, interrupts: &Receiver<()>) -> Result<Value, CommandError> {
    loop {
        match interrupts.recv_timeout(POLL_INTERVAL) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                return call_control_api(common, Method::DELETE, PATH, None);
            }
        }
        let report = call_control_api(common, Method::GET, PATH, None)?;
        if report["state"] != "running" {
            return Ok(report);
        }
    }
}

/// Receives SIGINT and SIGTERM, which no longer end this process.
fn watch_interrupts() -> Result<Receiver<()>, CommandError> {
    let failed = |error: std::io::Error| CommandError::Failed(format!("watching for signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate) = {
        let _context = runtime.enter();
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
    };
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        // The command may have ended meanwhile.
        let _ended = sender.send(());
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::{TrafficArgs, traffic_seconds};

    #[test]
    fn traffic_lasts_whole_seconds_up_to_a_day() {
        let seconds = |text: &str| traffic_seconds(&TrafficArgs { rate: 1, duration: Some(text.to_owned()), seed: 1 });
        assert_eq!(seconds("2m").unwrap(), 120);
        for text in ["0s", "25h", "1500ms", "soon"] {
            let refused = seconds(text).unwrap_err();
            assert!(format!("{refused:?}").contains("from 1s to 24h"), "{refused:?}");
        }
    }
}
