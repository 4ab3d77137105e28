//! The program as a child process, and the exit codes of a shell.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};

use base::Fault;
use rustix::fs::Mode;
use rustix::process::{Pid, umask};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use instance::command_error::CommandError;

const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Added to the number of the signal that ended the program.
const SIGNALED: i32 = 128;

pub(super) struct ChildProcess {
    pub(super) pid: Pid,
    exit: oneshot::Receiver<io::Result<ExitStatus>>,
    /// Stopped when the program has ended.
    pub(super) tasks: JoinSet<()>,
}

impl ChildProcess {
    pub(super) fn spawn(mut command: Command, inherited: Mode) -> io::Result<Self> {
        let own = umask(inherited);
        let spawned = command.spawn();
        umask(own);
        let child = spawned?;
        let pid = Pid::from_child(&child);
        let (sender, exit) = oneshot::channel();
        std::thread::Builder::new().name("program".to_owned()).spawn(move || send_exit(child, sender))?;
        Ok(Self { pid, exit, tasks: JoinSet::new() })
    }

    pub(super) async fn wait(&mut self) -> Result<ExitStatus, Fault> {
        let waited = (&mut self.exit).await.unwrap_or_else(|closed| Err(io::Error::other(closed)));
        waited.map_err(Fault::context("waiting for the program"))
    }

    pub(super) async fn exit_code(mut self) -> Result<ExitCode, CommandError> {
        let status = self.wait().await?;
        let code = status.code().unwrap_or_else(|| SIGNALED + status.signal().unwrap_or_default());
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
    }
}

fn send_exit(mut child: Child, sender: oneshot::Sender<io::Result<ExitStatus>>) {
    let _nobody_waits = sender.send(child.wait());
}

pub(super) fn execution_error(program: &OsStr, error: &io::Error) -> CommandError {
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => CommandError::Program(NOT_FOUND, format!("{program}: command not found")),
        _ => CommandError::Program(NOT_EXECUTABLE, format!("{program}: {error}")),
    }
}

pub(super) fn missing_program() -> CommandError {
    CommandError::Usage("no program is given".to_owned())
}
