//! `locum stream`.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::stream_tail::{self, StreamTailArgs};
use super::{call_control_api, write_query};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum StreamCommand {
    /// List open connections, and the last ones that ended
    List {
        /// The app: id, API key, client id or name [default: all apps]
        #[arg(long)]
        app: Option<String>,
    },
    /// End connections
    Kill(StreamKillArgs),
    /// Open a stream and print each message in a line
    Tail(StreamTailArgs),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct StreamKillArgs {
    /// The id of the connection, as in `stream list`
    #[arg(required_unless_present_any = ["app", "all"], conflicts_with_all = ["app", "all"])]
    id: Option<String>,
    /// End all connections of an app: id, API key, client id or name
    #[arg(long, conflicts_with = "all")]
    app: Option<String>,
    /// End all connections
    #[arg(long)]
    all: bool,
    /// What the client is told: force-disconnect, operational-disconnect, slow-reader,
    /// client-application-state-degraded or internal-error
    #[arg(long, default_value = "force-disconnect")]
    reason: String,
}

pub(crate) fn run_stream_command(common: &GlobalArgs, command: &StreamCommand) -> Result<(), CommandError> {
    let output = common.output_options();
    match command {
        StreamCommand::List { app } => {
            let path = format!("/streams{}", write_query(&[("app", app.as_deref())]));
            let value = call_control_api(common, Method::GET, &path, None)?;
            output.print_value(&if output.json { value } else { shorten_streams(&value) });
        }
        StreamCommand::Kill(args) => {
            let id = args.id.as_deref().map(|id| format!("/{}", base::percent::encode(id))).unwrap_or_default();
            let query = write_query(&[("app", args.app.as_deref()), ("reason", Some(&args.reason))]);
            output.print_value(&call_control_api(common, Method::DELETE, &format!("/streams{id}{query}"), None)?);
        }
        StreamCommand::Tail(args) => stream_tail::print_stream(common, args)?,
    }
    Ok(())
}

/// The columns that people read.
fn shorten_streams(value: &Value) -> Value {
    let rows = |list: &str, columns: &[(&str, &str)]| {
        let rows = value[list].as_array().into_iter().flatten().map(|row| {
            let cells = columns.iter().map(|(name, member)| ((*name).to_owned(), row[*member].clone()));
            Value::Object(cells.collect())
        });
        Value::Array(rows.collect())
    };
    let common =
        [("id", "id"), ("name", "app"), ("path", "endpoint"), ("connected_at", "connected_at"), ("sent", "sent")];
    let open = [&common[..], &[("buffered_bytes", "buffered_bytes"), ("heartbeat_age_ms", "heartbeat_age_ms")]];
    let ended = [&common[..], &[("ended_at", "ended_at"), ("reason", "reason")]];
    json!({"open": rows("open", &open.concat()), "ended": rows("ended", &ended.concat())})
}
