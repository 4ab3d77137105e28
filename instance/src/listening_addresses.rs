//! `server.json`, which tells other processes where a server listens.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use base::Fault;
use serde::{Deserialize, Serialize};
use web::WorldAddress;

use crate::write_private;

/// The limit of `sockaddr_un`, with some margin.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// The contents of `server.json` in the data directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListeningAddresses {
    pub pid: u32,
    pub addr: SocketAddr,
    pub control: Option<SocketAddr>,
    /// Where plain HTTP is redirected.
    #[serde(default)]
    pub redirect: Option<SocketAddr>,
    pub base_url: String,
    #[serde(default)]
    pub ads_sandbox: Option<String>,
    #[serde(skip)]
    pub world: Option<WorldAddress>,
}

impl ListeningAddresses {
    fn file_path(folder: &Path) -> PathBuf {
        folder.join("server.json")
    }

    /// Where clients on this machine reach the public listener.
    pub fn local_addr(&self) -> SocketAddr {
        let mut addr = self.addr;
        if addr.ip().is_unspecified() {
            addr.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        addr
    }

    /// Of the listener that serves nothing but the sandbox of the Ads API.
    pub fn ads_sandbox_addr(&self) -> Option<SocketAddr> {
        self.ads_sandbox.as_ref()?.strip_prefix("http://")?.parse().ok()
    }

    /// `None` if no server has run on this directory.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(Self::file_path(folder)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub fn write(&self, folder: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string(self).map_err(Fault::context("server.json"))?;
        write_private(&Self::file_path(folder), &format!("{text}\n"))
    }

    pub fn remove(folder: &Path) {
        let _gone = std::fs::remove_file(Self::file_path(folder));
    }
}

/// Shortens a socket path that does not fit into `sockaddr_un`, through `/proc/self/fd` of its directory. The file
/// descriptor stays open for the life of the process. Other systems than Linux have no such paths: there, a socket in
/// too deep a folder is an error.
pub fn shorten_socket_path(path: &Path) -> PathBuf {
    use std::os::fd::AsRawFd;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES || cfg!(not(target_os = "linux")) {
        return path.to_owned();
    }
    let Ok(open) = std::fs::File::open(folder) else {
        return path.to_owned();
    };
    let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(name);
    std::mem::forget(open);
    short
}
