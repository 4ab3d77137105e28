//! Listening sockets.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::socket_stream::SocketStream;
use crate::stats::ListenerStats;

const BACKLOG: u32 = 4096;
/// In bytes; Linux doubles it. Without it, the kernel would keep up to 4 MB for each client that does not read.
const SEND_BUFFER: u32 = 256 * 1024;

#[derive(Debug)]
pub struct Listener {
    socket: ListenerSocket,
    stats: Arc<ListenerStats>,
}

#[derive(Debug)]
enum ListenerSocket {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// Binds a TCP socket; port 0 selects a free one. Must run inside a Tokio runtime.
pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?; // accepted sockets inherit it
    socket.bind(addr)?;
    Ok(Listener::from_socket(ListenerSocket::Tcp(socket.listen(BACKLOG)?)))
}

/// Binds a Unix socket with mode 0600, replacing one that nobody serves any more. The file is
/// removed on drop. Must run inside a Tokio runtime.
pub fn bind_unix(path: &Path) -> io::Result<Listener> {
    remove_stale_socket(path)?;
    let socket = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(Listener::from_socket(ListenerSocket::Unix(socket, path.to_owned())))
}

fn remove_stale_socket(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => Err(io::ErrorKind::AddrInUse.into()),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

impl Listener {
    /// Uses a socket bound elsewhere, such as by the previous process.
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let send_buffer = usize::try_from(SEND_BUFFER).unwrap_or(usize::MAX);
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, send_buffer)?;
        Ok(Self::from_socket(ListenerSocket::Tcp(TcpListener::from_std(listener)?)))
    }

    /// With the actual port; `None` for a Unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.socket {
            ListenerSocket::Tcp(listener) => listener.local_addr().ok(),
            ListenerSocket::Unix(..) => None,
        }
    }

    pub fn stats(&self) -> Arc<ListenerStats> {
        Arc::clone(&self.stats)
    }

    pub(crate) async fn accept(&self) -> io::Result<(SocketStream, Option<SocketAddr>)> {
        match &self.socket {
            ListenerSocket::Tcp(listener) => {
                let (stream, addr) = listener.accept().await?;
                let _best_effort = stream.set_nodelay(true);
                let addr = SocketAddr::new(addr.ip().to_canonical(), addr.port());
                Ok((SocketStream::Tcp(stream), Some(addr)))
            }
            ListenerSocket::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((SocketStream::Unix(stream), None))
            }
        }
    }

    fn from_socket(socket: ListenerSocket) -> Self {
        Self { socket, stats: Arc::default() }
    }
}

impl Drop for ListenerSocket {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _already_gone = fs::remove_file(path);
        }
    }
}
