//! Running the binary.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// The binary, with nothing of this shell's own configuration.
pub(crate) fn locum(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locum"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LOCUM_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command to its end.
pub(crate) fn run<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Ran {
    let output = locum(folder).args(args).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ran {
    /// Its answer, once it ended well.
    pub(crate) fn json(&self) -> Value {
        self.well();
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It ended well.
    pub(crate) fn well(&self) -> &Self {
        self.ends(0)
    }

    /// It ended with this code.
    pub(crate) fn ends(&self, code: i32) -> &Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }
}

/// Ends a process once this one is gone, however that happens: statics are never dropped.
pub(crate) struct Guard(Child);

impl Guard {
    pub(crate) fn over(pid: u32, folder: &Path) -> Self {
        let script = "cat > /dev/null; kill -9 \"$0\" 2> /dev/null; rm -rf \"$1\"";
        let mut guard = Command::new("sh");
        guard
            .args(["-c", script, &pid.to_string()])
            .arg(folder)
            .stdin(Stdio::piped());
        guard.stdout(Stdio::null()).stderr(Stdio::null());
        Self(guard.spawn().unwrap())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}
