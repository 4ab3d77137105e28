//! `locum fsck`.

use std::process::ExitCode;

use serde_json::Value;

use crate::cli::{Common, Output};
use crate::command::{Command, done};
use crate::exit::Exit;

/// Counts everything again; differences are a failure.
pub(crate) fn fsck(common: &Common, output: Output) -> Result<ExitCode, Exit> {
    let value = done(common, Command::Fsck, output)?;
    output.value(&value);
    Ok(code(&value))
}

/// Success, when a count found no difference.
pub(super) fn code(value: &Value) -> ExitCode {
    if value.get("sound").and_then(Value::as_bool) == Some(true) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
