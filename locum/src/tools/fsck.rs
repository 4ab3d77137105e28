//! `locum fsck`.

use std::process::ExitCode;

use serde_json::Value;

use crate::arguments::GlobalArgs;
use crate::command::{AdminCommand, run_command};
use crate::command_error::CommandError;
use crate::output::OutputOptions;

pub(crate) fn run_fsck(common: &GlobalArgs, output: OutputOptions) -> Result<ExitCode, CommandError> {
    let value = run_command(common, AdminCommand::Fsck, output)?;
    output.print_value(&value);
    Ok(exit_code(&value))
}

pub(super) fn exit_code(value: &Value) -> ExitCode {
    if value.get("sound").and_then(Value::as_bool) == Some(true) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
