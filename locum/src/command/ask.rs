//! Who does a command: the server that has the data folder, or this process when there is none.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Answer, Command, Where, client, execute};
use crate::cli::{Bar, Common, Output};
use crate::config::Mode;
use crate::exit::Exit;
use crate::world::{COMMANDS_NODE, Creating};

/// Another command holds a SQLite file only for a moment.
const PATIENCE: u32 = 50;
const REST: Duration = Duration::from_millis(100);

/// Has a command done and shows what came of it.
pub(crate) fn ask(common: &Common, command: Command) -> Result<(), Exit> {
    let output = Output::of(common);
    let value = done(common, command, output)?;
    output.value(&value);
    Ok(())
}

/// Has a command done.
pub(crate) fn done(common: &Common, mut command: Command, output: Output) -> Result<Value, Exit> {
    command.prepare()?;
    let bar = Bar::new(output, command.name());
    let value = settle(common, &command, &bar);
    bar.clear();
    value
}

fn settle(common: &Common, command: &Command, bar: &Bar) -> Result<Value, Exit> {
    if common.is_remote() {
        return send(&Where::remote(common)?, command);
    }
    let settings = Arc::new(common.settings()?);
    if matches!(command, Command::Trigger(_)) && settings.mode != Mode::Dev {
        return Err(Exit::Mode(super::trigger::NOT_HERE.to_owned()));
    }
    let control = Where::socket(&settings.data_dir);
    let mut tries = 0;
    loop {
        if control.is_served() {
            return send(&control, command);
        }
        let progress = Arc::new(bar.clone());
        match crate::world::open(
            Arc::clone(&settings),
            Creating::Refused,
            COMMANDS_NODE,
            progress,
        ) {
            Ok(world) => {
                let value = crate::world::wait(execute(&world, command.clone()));
                world.close();
                return Ok(value?);
            }
            Err(exit) if tries < PATIENCE && exit.message().contains("another process has") => {
                tries += 1;
                thread::sleep(REST);
            }
            Err(exit) if exit.message().contains("another process has") => {
                return Err(Exit::Unreachable(exit.message().to_owned()));
            }
            Err(exit) => return Err(exit),
        }
    }
}

fn send(control: &Where, command: &Command) -> Result<Value, Exit> {
    let body = serde_json::to_vec(command)
        .map_err(|error| Exit::Failed(format!("writing the command: {error}")))?;
    let (status, body) = client::post(control, "/_control/command", body)?;
    if status != 200 {
        let text = String::from_utf8_lossy(&body);
        return Err(Exit::Failed(format!(
            "the server answered {status}: {text}"
        )));
    }
    serde_json::from_slice::<Answer>(&body)
        .map_err(|error| Exit::Failed(format!("the server's answer cannot be read: {error}")))?
        .into()
}
