//! `locum world`.

use clap::Subcommand;
use http::Method;
use serde_json::{Value, json};

use super::{call_control_api, segment, text_of};
use crate::worlds::MAIN_WORLD;
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;
use instance::config::is_world_file;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Create a world and print its keys
    Create {
        /// Lowercase letters, digits and hyphens; the world answers at `NAME.localhost`
        name: String,
        /// What it is a copy of: demo, ads, empty, a snapshot or a world file (.jsonl or .toml)
        #[arg(long, default_value = "demo")]
        from: String,
    },
    /// List the worlds
    List,
    /// Print the keys of a world
    Env {
        /// The world
        name: String,
    },
    /// Remove a world and everything in it
    Rm {
        /// The world
        name: String,
    },
}

pub(crate) fn run_world_command(common: &GlobalArgs, command: &WorldCommand) -> Result<(), CommandError> {
    let output = common.output_options();
    match command {
        WorldCommand::Create { name, from } => {
            let from = if is_world_file(from) { absolute_path(from)? } else { from.clone() };
            let body = json!({ "name": name, "from": from });
            let value = call_control_api(common, Method::POST, "/worlds", Some(&body))?;
            output.print_value_or_text(&value, || render_keys(&value));
        }
        WorldCommand::List => {
            let value = call_control_api(common, Method::GET, "/worlds", None)?;
            output.print_value_or_text(&value, || render_list(&value));
        }
        WorldCommand::Env { name } => {
            let value = find_keys(common, name)?;
            output.print_value_or_text(&value, || render_keys(&value));
        }
        WorldCommand::Rm { name } => {
            let value = call_control_api(common, Method::DELETE, &format!("/worlds/{}", segment(name)), None)?;
            output.print_value_or_text(&value, || format!("removed {name}"));
        }
    }
    Ok(())
}

fn find_keys(common: &GlobalArgs, name: &str) -> Result<Value, CommandError> {
    call_control_api(common, Method::GET, &format!("/worlds/{}/keys", segment(name)), None)
}

/// As `dev.env` has them, of the world of a running server that is meant.
pub(crate) fn world_variables(common: &GlobalArgs) -> Result<Vec<(String, String)>, CommandError> {
    let value = find_keys(common, common.world.as_deref().unwrap_or(MAIN_WORLD))?;
    let variables = value.get("variables").and_then(Value::as_object).into_iter().flatten();
    Ok(variables.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect())
}

/// The server has another working directory.
fn absolute_path(file: &str) -> Result<String, CommandError> {
    let path = std::path::absolute(file).map_err(|error| CommandError::Usage(format!("{file}: {error}")))?;
    Ok(path.display().to_string())
}

/// As in `dev.env`.
fn render_keys(value: &Value) -> String {
    let variables = value.get("variables").and_then(Value::as_object).into_iter().flatten();
    let lines = variables.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
    lines.collect::<Vec<_>>().join("\n")
}

fn render_list(value: &Value) -> String {
    let lines = value.as_array().into_iter().flatten().map(|world| {
        let is_open = world.get("is_open").and_then(Value::as_bool) == Some(true);
        let state = if is_open { "open" } else { "closed" };
        format!("{}  {}  from {}  {state}", text_of(world, "name"), text_of(world, "base_url"), text_of(world, "from"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
