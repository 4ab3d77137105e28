//! `locum health`.

use serde_json::json;

use crate::cli::{Common, HealthArgs, Output};
use crate::command::{Where, get};
use crate::exit::Exit;
use crate::run::Listening;

/// Asks the running server whether it lives, or whether it can serve.
pub(crate) fn health(common: &Common, args: HealthArgs, output: Output) -> Result<(), Exit> {
    let path = if args.ready { "/readyz" } else { "/livez" };
    let place = match &common.url {
        Some(url) => {
            let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            address(authority.trim_end_matches('/'))
        }
        None => found(common)?,
    };
    let (status, body) = get(&place, path)?;
    let said = String::from_utf8_lossy(&body).trim().to_owned();
    if status != 200 {
        return Err(Exit::Failed(format!("{path} answered {status}: {said}")));
    }
    output.value(&json!({"path": path, "status": status, "says": said}));
    Ok(())
}

fn found(common: &Common) -> Result<Where, Exit> {
    let folder = common.settings()?.data_dir;
    let listening = Listening::read(&folder)
        .ok_or_else(|| Exit::Unreachable(format!("no server runs on {}", folder.display())))?;
    let mut addr = listening.addr;
    if addr.ip().is_unspecified() {
        addr.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    Ok(address(&addr.to_string()))
}

fn address(authority: &str) -> Where {
    Where::Address {
        authority: authority.to_owned(),
        token: None,
    }
}
