//! The listeners, and the names that others find them by.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use base::{Fault, Rng};
use edge::Listener;
use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;
use crate::config::{ServerSettings, local_url};
use crate::instance::write_private;

/// Longer names do not fit into a socket's address.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// Where a running server listens, as `server.json` in the data folder says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ListeningAddresses {
    /// Its process.
    pub(crate) pid: u32,
    /// Where clients come to.
    pub(crate) addr: SocketAddr,
    /// Where administration comes to, beside the socket.
    pub(crate) control: Option<SocketAddr>,
    /// The address that clients use.
    pub(crate) base_url: String,
    /// The address of the second port, where the sandbox of the advertising interface is.
    #[serde(default)]
    pub(crate) ads_sandbox: Option<String>,
}

impl ListeningAddresses {
    fn file_path(folder: &Path) -> PathBuf {
        folder.join("server.json")
    }

    /// What a folder's server says; none when none runs or ran.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(Self::file_path(folder)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Says it.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string(self).map_err(Fault::context("server.json"))?;
        write_private(&Self::file_path(folder), &format!("{text}\n"))
    }

    /// The server is gone.
    pub(super) fn remove(folder: &Path) {
        let _gone = std::fs::remove_file(Self::file_path(folder));
    }
}

/// Every listener, bound.
pub(super) struct BoundSockets {
    pub(super) public: Listener,
    /// The second port, of the advertising interface's sandbox.
    pub(super) sandbox: Option<Listener>,
    pub(super) control: Option<Listener>,
    pub(super) local: Listener,
    pub(super) listening: ListeningAddresses,
    /// What opens the control interface.
    pub(super) token: String,
}

/// Binds every listener. Needs a runtime around it.
pub(super) fn bind(settings: &ServerSettings) -> Result<BoundSockets, CommandError> {
    let public = edge::bind(settings.addr)
        .map_err(|error| CommandError::Failed(format!("listen.addr {}: {error}", settings.addr)))?;
    let addr = public.local_addr().unwrap_or(settings.addr);
    let sandbox = settings.ads_sandbox_port.map(|port| bind_sandbox(addr, port));
    let sandbox = sandbox.transpose()?;
    let control = settings.control_addr.map(|addr| bind_control(settings, addr));
    let control = control.transpose()?;
    let path = settings.data_dir.join("control.sock");
    let local = edge::bind_unix(&shorten_socket_path(&path))
        .map_err(|error| CommandError::Failed(format!("{}: {error}", path.display())))?;
    let token = Rng::Os.random_token(43)?;
    write_private(&settings.data_dir.join("control.token"), &format!("{token}\n"))?;
    let listening = ListeningAddresses {
        pid: std::process::id(),
        addr,
        control: control.as_ref().and_then(Listener::local_addr),
        base_url: settings.public_url(addr),
        ads_sandbox: sandbox.as_ref().and_then(Listener::local_addr).map(local_url),
    };
    Ok(BoundSockets {
        public,
        sandbox,
        control,
        local,
        listening,
        token,
    })
}

/// The second port, at the same address as the first.
fn bind_sandbox(beside: SocketAddr, port: u16) -> Result<Listener, CommandError> {
    let addr = SocketAddr::new(beside.ip(), port);
    edge::bind(addr).map_err(|error| CommandError::Failed(format!("listen.ads_sandbox_port {addr}: {error}")))
}

/// The control port; another when the usual one is taken and nobody asked for it.
fn bind_control(settings: &ServerSettings, addr: SocketAddr) -> Result<Listener, CommandError> {
    let bound = edge::bind(addr).or_else(|error| {
        if settings.control_port_may_change {
            edge::bind(SocketAddr::new(addr.ip(), 0))
        } else {
            Err(error)
        }
    });
    bound.map_err(|error| CommandError::Failed(format!("listen.control_addr {addr}: {error}")))
}

/// A socket's path in a form that fits into an address, however deep its folder lies: through a
/// link of the folder in `/proc`, which stays open for as long as the process lives.
pub(crate) fn shorten_socket_path(path: &Path) -> PathBuf {
    use std::os::fd::AsRawFd;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        return path.to_owned();
    }
    let Ok(open) = std::fs::File::open(folder) else {
        return path.to_owned();
    };
    let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(name);
    std::mem::forget(open);
    short
}
