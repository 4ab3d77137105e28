//! `locum fsck`.

use std::process::ExitCode;

use serde_json::Value;

use instance::arguments::GlobalArgs;
use instance::command::{AdminCommand, FsckArgs, run_command};
use instance::command_error::CommandError;
use instance::output::{OutputOptions, describe_fsck};

pub(crate) fn run_fsck(common: &GlobalArgs, args: FsckArgs, output: OutputOptions) -> Result<ExitCode, CommandError> {
    let value = run_command(common, AdminCommand::Fsck(args), output)?;
    output.print_value_or_text(&value, || describe_fsck(&value));
    Ok(exit_code(&value))
}

pub(super) fn exit_code(value: &Value) -> ExitCode {
    if value.get("sound").and_then(Value::as_bool) == Some(true) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
