//! Binding of the listeners, and `server.json`, which tells other processes where they are.

use std::io;
use std::net::SocketAddr;

use base::Rng;
use edge::Listener;
use listenfd::ListenFd;

use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings, local_url};
use instance::{ListeningAddresses, shorten_socket_path, write_private};

pub(super) struct BoundSockets {
    pub(super) public: Listener,
    pub(super) redirect: Option<Listener>,
    pub(super) sandbox: Option<Listener>,
    pub(super) control: Option<Listener>,
    pub(super) local: Listener,
    pub(super) cluster: Option<ClusterSocket>,
    pub(super) listening: ListeningAddresses,
    pub(super) token: String,
}

/// Where other nodes reach this one.
pub(super) struct ClusterSocket {
    pub(super) listener: Listener,
    /// `host:port`.
    pub(super) address: String,
}

/// Must be called inside a Tokio runtime.
pub(super) fn bind(settings: &ServerSettings) -> Result<BoundSockets, CommandError> {
    let public = bind_public(settings)?;
    let addr = public.local_addr().unwrap_or(settings.listen.addr);
    let sandbox = settings.listen.ads_sandbox_port.map(|port| bind_sandbox(settings, addr, port));
    let sandbox = sandbox.transpose()?;
    let redirect = settings.tls.redirect_addr.map(bind_redirect).transpose()?;
    let control = settings.listen.control_addr.map(|addr| bind_control(settings, addr));
    let control = control.transpose()?;
    let cluster = settings.cluster.listen.map(|addr| bind_cluster(settings, addr)).transpose()?;
    let path = settings.core.data_dir.join("control.sock");
    let local = edge::bind_unix(&shorten_socket_path(&path))
        .map_err(|error| CommandError::Failed(format!("{}: {error}", path.display())))?;
    let token = Rng::Os.random_token(43)?;
    write_private(&settings.core.data_dir.join("control.token"), &format!("{token}\n"))?;
    let listening = ListeningAddresses {
        pid: std::process::id(),
        addr,
        control: control.as_ref().and_then(Listener::local_addr),
        redirect: redirect.as_ref().and_then(Listener::local_addr),
        base_url: settings.public_url(addr),
        ads_sandbox: sandbox.as_ref().and_then(Listener::local_addr).map(local_url),
        world: None,
    };
    Ok(BoundSockets { public, redirect, sandbox, control, local, cluster, listening, token })
}

/// A development server ignores sockets of the service manager, because `core.expose` says nothing about them.
fn bind_public(settings: &ServerSettings) -> Result<Listener, CommandError> {
    if settings.mode == RunMode::Serve
        && let Some(listener) = inherited_listener()?
    {
        return Ok(listener);
    }
    let addr = settings.listen.addr;
    edge::bind(addr).map_err(|error| bind_error(addr, &error))
}

/// Before work that would be in vain.
pub(crate) fn check_public_address(settings: &ServerSettings) -> Result<(), CommandError> {
    let addr = settings.listen.addr;
    std::net::TcpListener::bind(addr).map(drop).map_err(|error| bind_error(addr, &error))
}

fn bind_error(addr: SocketAddr, error: &io::Error) -> CommandError {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "; another program has this port, choose one with --port",
        _ => "",
    };
    CommandError::Failed(format!("listen.addr {addr}: {error}{hint}"))
}

/// The socket that a service manager opened for the public listener (`sd_listen_fds(3)`). It outlives this process, so
/// that connections wait for the next one instead of being refused.
fn inherited_listener() -> Result<Option<Listener>, CommandError> {
    let failed = |error| CommandError::Failed(format!("the socket of the service manager (LISTEN_FDS): {error}"));
    let mut sockets = ListenFd::from_env();
    if sockets.len() > 1 {
        let text = format!("the service manager passes {} sockets (LISTEN_FDS); expected one", sockets.len());
        return Err(CommandError::Usage(text));
    }
    let Some(socket) = sockets.take_tcp_listener(0).map_err(failed)? else {
        return Ok(None);
    };
    Listener::from_std(socket).map(Some).map_err(failed)
}

fn bind_redirect(addr: SocketAddr) -> Result<Listener, CommandError> {
    edge::bind(addr).map_err(|error| CommandError::Failed(format!("tls.redirect_addr {addr}: {error}")))
}

fn bind_sandbox(settings: &ServerSettings, public: SocketAddr, port: u16) -> Result<Listener, CommandError> {
    let addr = SocketAddr::new(public.ip(), port);
    bind_or_any_port(addr, settings.sandbox_port_may_change)
        .map_err(|error| CommandError::Failed(format!("listen.ads_sandbox_port {addr}: {error}")))
}

fn bind_cluster(settings: &ServerSettings, addr: SocketAddr) -> Result<ClusterSocket, CommandError> {
    let bound = edge::bind(addr);
    let listener = bound.map_err(|error| CommandError::Failed(format!("cluster.listen {addr}: {error}")))?;
    let own = listener.local_addr().unwrap_or(addr).to_string();
    Ok(ClusterSocket { listener, address: settings.cluster.advertise.clone().unwrap_or(own) })
}

fn bind_control(settings: &ServerSettings, addr: SocketAddr) -> Result<Listener, CommandError> {
    bind_or_any_port(addr, settings.control_port_may_change)
        .map_err(|error| CommandError::Failed(format!("listen.control_addr {addr}: {error}")))
}

/// Falls back to a free port if the default port is taken and none was requested.
fn bind_or_any_port(addr: SocketAddr, port_may_change: bool) -> io::Result<Listener> {
    edge::bind(addr).or_else(
        |error| {
            if port_may_change { edge::bind(SocketAddr::new(addr.ip(), 0)) } else { Err(error) }
        },
    )
}
