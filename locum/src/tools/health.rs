//! `locum health`.

use serde_json::json;

use crate::arguments::{GlobalArgs, HealthArgs};
use crate::command::{ControlEndpoint, get};
use crate::command_error::CommandError;
use crate::output::OutputOptions;
use crate::runtime::ListeningAddresses;

pub(crate) fn check_health(common: &GlobalArgs, args: HealthArgs, output: OutputOptions) -> Result<(), CommandError> {
    let path = if args.ready { "/readyz" } else { "/livez" };
    let place = match &common.url {
        Some(url) => {
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            address_endpoint(authority.trim_end_matches('/'))
        }
        None => find_endpoint(common)?,
    };
    let (status, body) = get(&place, path)?;
    let text = String::from_utf8_lossy(&body).trim().to_owned();
    if status != 200 {
        return Err(CommandError::Failed(format!("{path} responded with {status}: {text}")));
    }
    output.print_value(&json!({"path": path, "status": status, "says": text}));
    Ok(())
}

fn find_endpoint(common: &GlobalArgs) -> Result<ControlEndpoint, CommandError> {
    let folder = common.load_settings()?.core.data_dir;
    let listening = ListeningAddresses::read(&folder)
        .ok_or_else(|| CommandError::Unreachable(format!("no server is running on {}", folder.display())))?;
    let mut addr = listening.addr;
    if addr.ip().is_unspecified() {
        addr.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    Ok(address_endpoint(&addr.to_string()))
}

fn address_endpoint(authority: &str) -> ControlEndpoint {
    ControlEndpoint::Address { authority: authority.to_owned(), token: None }
}
