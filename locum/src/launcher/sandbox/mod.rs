//! The sandbox of `locum run` on Linux: namespaces in which only the emulated hosts are reachable.

mod browser_policy;
mod descriptors;
mod enter;
mod plan;
mod relay;
mod system_files;

pub(crate) use enter::enter_sandbox;

use std::ffi::OsString;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base::Fault;
use rustix::fs::Mode;
use tempfile::TempDir;
use tokio::net::UnixListener;

use self::descriptors::{ReceivedSockets, receive_sockets};
use self::plan::{SOCKET_NAME, SandboxPlan};
use super::child_process::ChildProcess;
use super::intercept_variables::EnvironmentChanges;
use super::trust_files::TrustFiles;
use instance::command_error::CommandError;
use instance::{ListeningAddresses, shorten_socket_path};

/// How long the child may take to enter the sandbox.
const SETUP_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Sandbox<'a> {
    pub(super) server: &'a ListeningAddresses,
    pub(super) files: &'a TrustFiles,
    pub(super) hosts: &'a [String],
}

pub(super) enum SandboxStart {
    Ready(ReadySandbox),
    /// The reason.
    Refused(String),
}

/// A child that waits inside for the permission to execute the program.
pub(super) struct ReadySandbox {
    child: ChildProcess,
    socket: UnixStream,
    // The files of the plan; what is mounted stays.
    _folder: TempDir,
}

impl ReadySandbox {
    pub(super) fn execute_program(mut self) -> Result<ChildProcess, CommandError> {
        self.socket.write_all(&[1]).map_err(Fault::context("starting the program in the sandbox"))?;
        Ok(self.child)
    }
}

impl Sandbox<'_> {
    pub(super) async fn start(
        &self,
        command: &[OsString],
        changes: &EnvironmentChanges,
        umask: Mode,
    ) -> Result<SandboxStart, CommandError> {
        let folder = tempfile::Builder::new().prefix("locum-run-").tempdir();
        let folder = folder.map_err(Fault::context("creating a temporary folder"))?;
        let targets = self.relayed_ports();
        let mounts = system_files::write_files(folder.path(), self.files, self.hosts)?;
        SandboxPlan { mounts, ports: targets.iter().map(|(port, _)| *port).collect() }.write(folder.path())?;
        let socket = UnixListener::bind(shorten_socket_path(&folder.path().join(SOCKET_NAME)));
        let socket = socket.map_err(Fault::context("the socket of the sandbox"))?;
        let mut child = ChildProcess::spawn(enter_command(folder.path(), command, changes)?, umask)
            .map_err(Fault::context("starting the sandbox"))?;
        let stream = tokio::select! {
            accepted = socket.accept() => accepted.map_err(Fault::context("the socket of the sandbox"))?.0,
            status = child.wait() => return Ok(SandboxStart::Refused(format!("it ended: {}", status?))),
        };
        let socket = into_blocking(stream).map_err(Fault::context("the socket of the sandbox"))?;
        match receive_sockets(&socket).map_err(Fault::context("the sockets of the sandbox"))? {
            ReceivedSockets::Failed(reason) => Ok(SandboxStart::Refused(reason)),
            ReceivedSockets::Listening(sockets) => {
                let pairs = sockets.into_iter().zip(targets.into_iter().map(|(_, target)| target));
                child.tasks = relay::start(pairs).map_err(Fault::context("relaying connections"))?;
                Ok(SandboxStart::Ready(ReadySandbox { child, socket, _folder: folder }))
            }
        }
    }

    /// The ports on the loopback address inside, and where they lead.
    fn relayed_ports(&self) -> Vec<(u16, SocketAddr)> {
        let public = self.server.local_addr();
        let mut ports = vec![(443, public), (80, public)];
        let own = [Some(public), self.server.ads_sandbox_addr(), self.server.control];
        for address in own.into_iter().flatten() {
            if ports.iter().all(|(port, _)| *port != address.port()) {
                ports.push((address.port(), address));
            }
        }
        ports
    }
}

fn enter_command(folder: &Path, command: &[OsString], changes: &EnvironmentChanges) -> Result<Command, CommandError> {
    let mut enter = Command::new(std::env::current_exe().map_err(Fault::context("finding the binary"))?);
    enter.arg("enter-sandbox").arg(folder).arg("--").args(command);
    changes.apply(&mut enter);
    Ok(enter)
}

fn into_blocking(stream: tokio::net::UnixStream) -> std::io::Result<UnixStream> {
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SETUP_TIMEOUT))?;
    Ok(stream)
}
