//! Readiness notifications to the parent process and the service manager.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use base::Fault;

/// Writes one line with the server's address to a file descriptor inherited from the parent process.
pub(super) fn notify_ready_fd(number: i32, line: &str) -> Result<(), Fault> {
    let mut pipe = OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/fd/{number}"))
        .map_err(Fault::context("opening --ready-fd"))?;
    writeln!(pipe, "{line}").map_err(Fault::context("writing to --ready-fd"))
}

/// Does nothing if there is no service manager.
pub(super) fn notify_service_manager(state: &str) {
    let Ok(name) = std::env::var("NOTIFY_SOCKET") else {
        return;
    };
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let sent = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "failed to notify the service manager");
    }
}
