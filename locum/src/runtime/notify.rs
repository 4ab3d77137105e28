//! Readiness notifications to the parent process and the service manager.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::{SocketAddr, UnixDatagram};

use base::Fault;

/// Writes one line with the server's address to a file descriptor inherited from the parent process.
pub(super) fn notify_ready_fd(number: i32, line: &str) -> Result<(), Fault> {
    let mut pipe = OpenOptions::new()
        .write(true)
        .open(format!("/dev/fd/{number}"))
        .map_err(Fault::context("opening --ready-fd"))?;
    writeln!(pipe, "{line}").map_err(Fault::context("writing to --ready-fd"))
}

/// Does nothing if there is no service manager.
pub(super) fn notify_service_manager(state: &str) {
    let Ok(name) = std::env::var("NOTIFY_SOCKET") else {
        return;
    };
    let sent =
        socket_address(&name).and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "failed to notify the service manager");
    }
}

/// `@` begins the name of a socket without a file, see `sd_notify(3)`.
#[cfg(target_os = "linux")]
fn socket_address(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    name.strip_prefix('@').map_or_else(|| SocketAddr::from_pathname(name), SocketAddr::from_abstract_name)
}

#[cfg(not(target_os = "linux"))]
fn socket_address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}
