//! `locum health`.

use std::time::Duration;

use serde_json::json;

use instance::arguments::{GlobalArgs, HealthArgs};
use instance::command::{ControlEndpoint, get_within};
use instance::command_error::CommandError;
use instance::output::OutputOptions;

/// A frozen server answers nothing; the check itself takes two seconds at most.
const LIMIT: Duration = Duration::from_secs(10);

pub(crate) fn check_health(common: &GlobalArgs, args: HealthArgs, output: OutputOptions) -> Result<(), CommandError> {
    let path = if args.ready { "/readyz" } else { "/livez" };
    let place = match &common.url {
        Some(url) => {
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            address_endpoint(authority.trim_end_matches('/'))
        }
        None => find_endpoint(common)?,
    };
    let (status, body) = get_within(&place, path, LIMIT)?;
    let text = String::from_utf8_lossy(&body).trim().to_owned();
    if status != 200 {
        return Err(CommandError::Failed(format!("{path} responded with {status}: {text}")));
    }
    output.print_value(&json!({"path": path, "status": status, "says": text}));
    Ok(())
}

/// The control socket: the public port may accept TLS only.
fn find_endpoint(common: &GlobalArgs) -> Result<ControlEndpoint, CommandError> {
    let folder = common.load_settings()?.core.data_dir;
    let endpoint = ControlEndpoint::data_folder_socket(&folder);
    if !endpoint.is_reachable() {
        return Err(CommandError::Unreachable(format!("no server is running on {}", folder.display())));
    }
    Ok(endpoint)
}

fn address_endpoint(authority: &str) -> ControlEndpoint {
    ControlEndpoint::Address { authority: authority.to_owned(), token: None, world: None }
}
