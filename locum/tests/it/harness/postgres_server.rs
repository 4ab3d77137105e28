//! A PostgreSQL server that one test may crash.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// Controls the server on lines of its input, and stops it at the end of its input.
const SCRIPT: &str = "set -euo pipefail; . \"$1\"; trap stop_postgres EXIT; start_postgres \"$2\"; \
                      echo \"$postgres_url\"; while read -r; do crash_postgres; echo started; done";

pub(crate) struct PostgresServer {
    pub(crate) url: String,
    shell: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl PostgresServer {
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().unwrap();
        make_accessible(&folder);
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../scripts/postgres.sh");
        let mut command = Command::new("bash");
        command.args(["-c", SCRIPT, "bash"]).arg(script).arg(folder.path());
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (shell.stdin.take(), BufReader::new(shell.stdout.take().unwrap()));
        let mut server = Self { url: String::new(), shell, input, output, _folder: folder };
        server.url = server.read_line();
        server
    }

    /// Stops the server without a checkpoint and starts it again.
    pub(crate) fn crash_and_restart(&mut self) {
        self.input.as_ref().unwrap().write_all(b"\n").unwrap();
        assert_eq!(self.read_line(), "started");
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

/// The server runs as another user.
fn make_accessible(folder: &TempDir) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _status = self.shell.wait();
    }
}
