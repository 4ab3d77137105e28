//! Running the binary.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// For the same answers on machines with and without it.
const FFMPEG_SETTING: (&str, &str) = ("LOCUM_MEDIA__FFMPEG", "off");

/// The binary, with nothing of this shell's own configuration.
pub(crate) fn locum_command(folder: &Path) -> Command {
    clean_command(Command::new(binary()), folder)
}

/// The same, with so many descriptors at most.
pub(super) fn limited_locum_command(folder: &Path, max_descriptors: u64) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={max_descriptors}:{max_descriptors}")).arg(binary());
    clean_command(command, folder)
}

pub(super) fn binary() -> PathBuf {
    let named = std::env::var_os("LOCUM_BINARY").map(|path| std::fs::canonicalize(path).unwrap());
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_locum").into())
}

/// The binary, with a listening socket as a service manager passes it. While there is no data folder yet,
/// `LOCUM_PREVIOUS_BINARY` may name another version.
pub(crate) fn locum_command_with_socket(folder: &Path, socket: &TcpListener) -> Command {
    let previous = std::env::var_os("LOCUM_PREVIOUS_BINARY").filter(|_| !folder.join("data").exists());
    let mut command = Command::new("sh");
    command.args(["-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\" 3<&0 0< /dev/null"]);
    command.arg(previous.clone().map_or_else(binary, PathBuf::from));
    let mut command = clean_command(command, folder);
    if previous.is_some() {
        command.env_remove(FFMPEG_SETTING.0);
    }
    command.stdin(OwnedFd::from(socket.try_clone().unwrap()));
    command
}

fn clean_command(mut command: Command, folder: &Path) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LOCUM_") {
            command.env_remove(name);
        }
    }
    command.env(FFMPEG_SETTING.0, FFMPEG_SETTING.1);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end.
pub(crate) fn run_command<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> CommandOutput {
    let output = locum_command(folder).args(args).output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl CommandOutput {
    /// Its answer, once it ended well.
    pub(crate) fn json(&self) -> Value {
        self.assert_success();
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It ended well.
    pub(crate) fn assert_success(&self) -> &Self {
        self.assert_exit_code(0)
    }

    /// It ended with this code.
    pub(crate) fn assert_exit_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// It was refused, for an argument or for what there is.
    pub(crate) fn assert_refused(&self) -> &Self {
        assert!(matches!(self.code, 1 | 2), "{self:?}");
        self
    }
}

/// Ends a process once this one is gone, however that happens: statics are never dropped.
pub(crate) struct ProcessGuard(Child);

impl ProcessGuard {
    pub(crate) fn watch(pid: u32, folder: &Path) -> Self {
        Self::spawn("cat > /dev/null; kill -9 \"$1\" 2> /dev/null; rm -rf \"$0\"", folder, &[&pid.to_string()])
    }

    /// Removes a folder once this process is gone.
    pub(super) fn remove_later(folder: &Path) -> Self {
        Self::spawn("cat > /dev/null; rm -rf \"$0\"", folder, &[])
    }

    fn spawn(script: &str, folder: &Path, args: &[&str]) -> Self {
        let mut guard = Command::new("sh");
        guard.args(["-c", script]).arg(folder).args(args).stdin(Stdio::piped());
        guard.stdout(Stdio::null()).stderr(Stdio::null());
        Self(guard.spawn().unwrap())
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}
