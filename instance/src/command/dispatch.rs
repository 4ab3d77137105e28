//! Runs a command on the server that has the data directory open, or in this process if there is none.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use store::NodePurpose;

use super::request::{CommandRequest, LocalInputs, describe_command};
use super::simulation::follow_and_print;
use super::{AdminCommand, AdsCommand, CommandAnswer, ControlEndpoint, client, execute};
use crate::CreatePolicy;
use crate::arguments::GlobalArgs;
use crate::backup::BackupManifest;
use crate::command_error::CommandError;
use crate::config::RunMode;
use crate::output::{OutputOptions, TerminalProgress, print_diagnostic};

/// Another command locks a SQLite file only briefly.
const LOCK_RETRIES: u32 = 50;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(100);

pub fn run_and_print(common: &GlobalArgs, command: AdminCommand) -> Result<(), CommandError> {
    if let AdminCommand::Ads(AdsCommand::Simulate(args)) = &command
        && args.follow
    {
        return follow_and_print(common, args.clone());
    }
    let output = common.output_options();
    let lists_nodes = matches!(command, AdminCommand::Node(super::nodes::NodeCommand::List));
    let ads = if let AdminCommand::Ads(ads) = &command { Some(ads.clone()) } else { None };
    let (next_step, describe) = (command.next_step(), command.describe_result());
    let mut value = run_command(common, command, output)?;
    match ads.filter(|_| !output.json).and_then(|ads| ads.render_text(&mut value)) {
        Some(text) => output.print_text(&text),
        None => match describe {
            Some(describe) => output.print_value_or_text(&value, || describe(&value)),
            None => output.print_value(&value),
        },
    }
    if let Some(hint) = next_step.filter(|_| !output.json && !output.quiet).and_then(|describe| describe(&value)) {
        print_diagnostic(&hint);
    }
    if lists_nodes {
        for role in super::nodes::missing_roles(&value) {
            print_diagnostic(&format!("warning: no live node has the role {role}"));
        }
    }
    Ok(())
}

/// Runs the command of this process.
pub fn run_command(common: &GlobalArgs, command: AdminCommand, output: OutputOptions) -> Result<Value, CommandError> {
    run_command_with_arguments(common, command, std::env::args_os().skip(1).collect(), output)
}

/// `arguments` are what `command` was or would be parsed from.
pub(super) fn run_command_with_arguments(
    common: &GlobalArgs,
    mut command: AdminCommand,
    arguments: Vec<OsString>,
    output: OutputOptions,
) -> Result<Value, CommandError> {
    let mut inputs = LocalInputs::of_caller()?;
    command.read_local_inputs(&mut inputs)?;
    let bar = TerminalProgress::new(output, command.progress_label());
    let description = describe_command(&arguments);
    let forward = |server: &ControlEndpoint| send_to_server(server, CommandRequest::new(arguments, inputs)?);
    let value = execute_or_forward(common, (&command, description), forward, &bar);
    bar.clear();
    value
}

fn execute_or_forward(
    common: &GlobalArgs,
    (command, description): (&AdminCommand, Value),
    forward: impl FnOnce(&ControlEndpoint) -> Result<Value, CommandError>,
    bar: &TerminalProgress,
) -> Result<Value, CommandError> {
    if common.is_remote() {
        return forward(&ControlEndpoint::from_url_flag(common)?);
    }
    let settings = Arc::new(common.load_settings()?);
    if let Some(world) = common.world.as_ref().filter(|_| settings.mode == RunMode::Serve) {
        return Err(CommandError::WrongMode(format!("--world {world}: a production server has one world")));
    }
    let dev_only = match command {
        AdminCommand::Trigger(_) => Some(super::trigger::DEV_ONLY),
        AdminCommand::Metrics(_) => Some(super::metrics::DEV_ONLY),
        _ => None,
    };
    if let Some(reason) = dev_only.filter(|_| settings.mode != RunMode::Dev) {
        return Err(CommandError::WrongMode(reason.to_owned()));
    }
    let control = ControlEndpoint::data_folder_socket(&settings.core.data_dir).with_world(common.world.as_ref());
    let mut tries = 0;
    loop {
        if control.is_reachable() {
            let Some(path) = command.output_path() else { return forward(&control) };
            // The server may look at another file system.
            if path.is_file() {
                super::output_file::ensure_new_file(path)?;
            }
            let value = forward(&control)?;
            return ensure_written(path, &value).map(|()| value);
        }
        if let Some(world) = &common.world {
            return Err(CommandError::Unreachable(format!(
                "the world {world} needs a running server: start `locum dev`"
            )));
        }
        let progress = Arc::new(bar.clone());
        match crate::open(Arc::clone(&settings), CreatePolicy::RequireExisting, NodePurpose::Command, progress) {
            Ok(instance) => {
                let value = crate::block_on(execute(instance.clone(), command.clone(), description));
                instance.store.close();
                return Ok(value?);
            }
            Err(CommandError::Locked(_)) if tries < LOCK_RETRIES => {
                tries += 1;
                thread::sleep(LOCK_RETRY_DELAY);
            }
            Err(error) => return Err(error),
        }
    }
}

/// A server may have a file system of its own.
fn ensure_written(path: &Path, report: &Value) -> Result<(), CommandError> {
    let backup = report.get("backup").and_then(Value::as_str).filter(|_| path.is_dir());
    let written = backup.map_or_else(|| path.to_owned(), |id| path.join(BackupManifest::object_name(id)));
    if !matches!(written.try_exists(), Ok(false)) {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "the server has written {0}, but {0} does not exist here: the server has another file system there, as with \
         PrivateTmp= of systemd; name a folder that both see, such as one in the data directory",
        written.display()
    )))
}

fn send_to_server(control: &ControlEndpoint, request: CommandRequest) -> Result<Value, CommandError> {
    let body = serde_json::to_vec(&request)
        .map_err(|error| CommandError::Failed(format!("failed to encode the command: {error}")))?;
    let (status, body) = client::post_json(control, "/_control/command", body)?;
    if status != 200 {
        let text = String::from_utf8_lossy(&body);
        if status == 421 {
            return Err(CommandError::WrongMode(text.trim().to_owned()));
        }
        return Err(CommandError::Failed(format!("the server responded with {status}: {text}")));
    }
    serde_json::from_slice::<CommandAnswer>(&body)
        .map_err(|error| CommandError::Failed(format!("failed to decode the server's response: {error}")))?
        .into()
}
