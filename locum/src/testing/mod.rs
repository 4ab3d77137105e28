//! Commands for testers, which call the control API of a running development server: one file for each group.

mod clock;
#[expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]
mod cost;
mod fault_file;
mod faults;
#[expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]
mod limits;
#[expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]
mod log;
mod snapshots;
mod stream_tail;
mod streams;
#[expect(clippy::indexing_slicing, reason = "a member that a JSON value lacks is null")]
mod traffic;
mod worlds;

use clock::{ClockCommand, run_clock_command};
use cost::{CostArgs, run_cost_command};
use faults::{FaultCommand, run_fault_command};
use limits::{LimitsCommand, run_limits_command};
use log::{LogArgs, run_log_command};
use snapshots::{SnapshotCommand, run_reset, run_snapshot_command};
use streams::{StreamCommand, run_stream_command};
use traffic::{SimCommand, run_sim_command};
pub(crate) use worlds::world_variables;
use worlds::{WorldCommand, run_world_command};

use std::process::ExitCode;

use bytes::Bytes;
use clap::Subcommand;
use http::Method;
use serde_json::Value;

use instance::arguments::GlobalArgs;
use instance::command::{ControlEndpoint, send_request};
use instance::command_error::CommandError;
use instance::config::RunMode;

#[derive(Debug, Subcommand)]
pub(crate) enum TestingCommand {
    /// Show, stop or move the clock of a development server
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Make requests, streams and deliveries of a development server fail
    #[command(subcommand)]
    Fault(FaultCommand),
    /// Show, change, use up and reset the rate limits of a development server
    #[command(subcommand)]
    Limits(LimitsCommand),
    /// List, end and read the streams of a development server
    #[command(subcommand)]
    Stream(StreamCommand),
    /// Simulate what people do on a development server
    #[command(subcommand)]
    Sim(SimCommand),
    /// Show the requests that a development server has received, or assert something about them
    Log(LogArgs),
    /// Show what the calls would have cost by the public price list
    Cost(CostArgs),
    /// Return a development server's world to its seed
    Reset,
    /// Save the world of a development server, and return to it
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Manage isolated worlds beside the main one of a development server
    #[command(subcommand)]
    World(WorldCommand),
}

pub(crate) fn run_testing_command(common: &GlobalArgs, command: &TestingCommand) -> Result<ExitCode, CommandError> {
    match command {
        TestingCommand::Clock(command) => run_clock_command(common, command)?,
        TestingCommand::Fault(command) => run_fault_command(common, command)?,
        TestingCommand::Limits(command) => run_limits_command(common, command)?,
        TestingCommand::Stream(command) => run_stream_command(common, command)?,
        TestingCommand::Sim(command) => run_sim_command(common, command)?,
        TestingCommand::Log(args) => return run_log_command(common, args),
        TestingCommand::Cost(args) => run_cost_command(common, args)?,
        TestingCommand::Reset => run_reset(common)?,
        TestingCommand::Snapshot(command) => run_snapshot_command(common, command)?,
        TestingCommand::World(command) => run_world_command(common, command)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Calls `/control/v1` followed by `path`. Returns the response's `data`. Arguments that the server refuses as invalid are
/// usage errors.
pub(crate) fn call_control_api(
    common: &GlobalArgs,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, CommandError> {
    let (status, bytes) = exchange(common, method, path, body)?;
    read_data(status, &bytes).ok_or_else(|| refused_request(status, &bytes))
}

fn exchange(
    common: &GlobalArgs,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Bytes), CommandError> {
    let endpoint = find_server(common)?;
    let body = body.map(|value| value.to_string().into_bytes()).unwrap_or_default();
    send_request(&endpoint, method, &format!("/control/v1{path}"), body)
}

fn read_data(status: u16, body: &[u8]) -> Option<Value> {
    let mut answer: Value = serde_json::from_slice(body).unwrap_or_default();
    (200..300).contains(&status).then(|| answer.get_mut("data").map(Value::take).unwrap_or_default())
}

fn refused_request(status: u16, body: &[u8]) -> CommandError {
    let text = refusal_text(status, body);
    if status == 400 { CommandError::Usage(text) } else { CommandError::Failed(text) }
}

fn refusal_text(status: u16, body: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    error_message(&answer).unwrap_or_else(|| format!("{status}: {}", String::from_utf8_lossy(body).trim()))
}

/// The query string of the parameters that have values.
fn write_query(pairs: &[(&str, Option<&str>)]) -> String {
    let given =
        pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", base::percent::encode(value.as_ref()?))));
    let given: Vec<String> = given.collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// A name as part of a path.
fn segment(name: &str) -> String {
    base::percent::encode(name).into_owned()
}

fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Of a problem document: what each parameter's error says, or the detail.
fn error_message(answer: &Value) -> Option<String> {
    let errors = answer.get("errors").and_then(Value::as_array);
    let messages = errors.into_iter().flatten().filter_map(|error| error.get("message")?.as_str());
    let messages: Vec<_> = messages.collect();
    if messages.is_empty() { answer.get("detail")?.as_str().map(str::to_owned) } else { Some(messages.join("\n")) }
}

fn find_server(common: &GlobalArgs) -> Result<ControlEndpoint, CommandError> {
    if common.is_remote() {
        return ControlEndpoint::from_url_flag(common);
    }
    let settings = common.load_settings()?;
    if settings.mode != RunMode::Dev {
        return Err(CommandError::WrongMode("only a development server has testing tools".to_owned()));
    }
    let endpoint = ControlEndpoint::data_folder_socket(&settings.core.data_dir).with_world(common.world.as_ref());
    if endpoint.is_reachable() {
        return Ok(endpoint);
    }
    let folder = settings.core.data_dir.display();
    Err(CommandError::Unreachable(format!("no server is running on {folder}: start `locum dev`")))
}
