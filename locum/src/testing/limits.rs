//! `locum limits`.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::{call_control_api, write_query};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LimitsCommand {
    /// Show the mode of rate limits, and the windows in which calls were counted
    Show(LimitTargetArgs),
    /// Reject no requests; the headers still show the limits
    Off,
    /// Apply the published limits
    Table,
    /// Apply the published limits, except to the reference lists of the Ads API
    Relaxed,
    /// Multiply the published limits
    Scale {
        /// The factor, from 1
        factor: u32,
    },
    /// Use up the window of an endpoint, so that the next call is answered with 429
    Exhaust {
        /// Method and path, such as "GET /2/users/me", or the operation id
        endpoint: String,
        /// The app: id, API key, client id or name [default: all apps]
        #[arg(long)]
        app: Option<String>,
        /// The user: @username or id [default: the app itself, and all users with a token]
        #[arg(long)]
        user: Option<String>,
        /// The window in seconds, such as 86400 [default: the one in the x-rate-limit headers]
        #[arg(long, value_name = "SECONDS")]
        window: Option<u32>,
    },
    /// Forget the calls that were counted: all, or those of an endpoint, app or user
    Reset(LimitTargetArgs),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LimitTargetArgs {
    /// Method and path, such as "GET /2/users/me", or the operation id
    endpoint: Option<String>,
    /// The app: id, API key, client id or name
    #[arg(long)]
    app: Option<String>,
    /// The user: @username or id
    #[arg(long)]
    user: Option<String>,
}

impl LimitTargetArgs {
    fn pairs(&self) -> [(&'static str, Option<&str>); 3] {
        [("endpoint", self.endpoint.as_deref()), ("app", self.app.as_deref()), ("user", self.user.as_deref())]
    }
}

pub(crate) fn run_limits_command(common: &GlobalArgs, command: &LimitsCommand) -> Result<(), CommandError> {
    let post = |path: &str, body: Value| call_control_api(common, Method::POST, path, Some(&body));
    let value = match command {
        LimitsCommand::Show(target) => {
            call_control_api(common, Method::GET, &format!("/limits{}", write_query(&target.pairs())), None)?
        }
        LimitsCommand::Off => post("/limits/mode", json!({"mode": "off"}))?,
        LimitsCommand::Table => post("/limits/mode", json!({"mode": "table"}))?,
        LimitsCommand::Relaxed => post("/limits/mode", json!({"mode": "relaxed"}))?,
        LimitsCommand::Scale { factor } => post("/limits/mode", json!({"mode": "scale", "factor": factor}))?,
        LimitsCommand::Exhaust { endpoint, app, user, window } => {
            let named = [("endpoint", Some(endpoint.as_str())), ("app", app.as_deref()), ("user", user.as_deref())];
            let mut body = write_body(&named);
            if let Some(seconds) = window {
                body["window_seconds"] = json!(seconds);
            }
            post("/limits/exhaust", body)?
        }
        LimitsCommand::Reset(target) => post("/limits/reset", write_body(&target.pairs()))?,
    };
    let output = common.output_options();
    output.print_value(&if output.json { value } else { shorten_windows(value) });
    Ok(())
}

fn write_body(pairs: &[(&'static str, Option<&str>)]) -> Value {
    let given = pairs.iter().filter_map(|(name, value)| Some(((*name).to_owned(), Value::from(*value.as_ref()?))));
    Value::Object(given.collect())
}

/// The columns that people read.
fn shorten_windows(mut value: Value) -> Value {
    let windows = value.get_mut("windows").and_then(Value::as_array_mut);
    for window in windows.into_iter().flatten() {
        *window = json!({
            "path": window["operation"],
            "name": window["subject"],
            "seconds": window["window_seconds"],
            "limit": window["limit"],
            "remaining": window["remaining"],
            "resets_at": window["resets_at"],
        });
    }
    value
}
