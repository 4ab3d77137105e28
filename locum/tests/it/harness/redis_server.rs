//! A Valkey or Redis server of one test.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::process::ProcessGuard;
use super::{free_address, wait_until};

pub(crate) const REDIS_PASSWORD: &str = "secret-of-the-limits";
const CERTIFICATE_SCRIPT: &str = "set -e
    new_key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -subj /CN=$1 \"${@:2}\"; }
    new_key ca -x509 -days 30 -out ca.pem
    new_key server -out server.csr
    echo subjectAltName=DNS:localhost > names
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.pem";

pub(crate) struct RedisServer {
    program: &'static str,
    port: u16,
    tls_port: u16,
    folder: TempDir,
    process: Option<(ProcessGuard, Child)>,
}

impl RedisServer {
    /// None where neither is installed, which fails if all tests must run.
    pub(crate) fn start() -> Option<Self> {
        let is_installed = |program: &&str| Path::new("/usr/bin").join(program).exists();
        let Some(program) = ["valkey-server", "redis-server"].into_iter().find(is_installed) else {
            assert!(std::env::var_os("LOCUM_FULL_TESTS").is_none(), "no Valkey or Redis is installed");
            eprintln!("no Valkey or Redis is installed: not run");
            return None;
        };
        let [port, tls_port] = [0; 2].map(|_| free_address().port());
        let folder = TempDir::new().unwrap();
        let made = Command::new("bash").args(["-c", CERTIFICATE_SCRIPT]).current_dir(folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut server = Self { program, port, tls_port, folder, process: None };
        server.restart();
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://:{REDIS_PASSWORD}@127.0.0.1:{}/0", self.port)
    }

    pub(crate) fn tls_url(&self) -> String {
        format!("rediss://:{REDIS_PASSWORD}@localhost:{}/0", self.tls_port)
    }

    /// The certificate of the authority that signed the server's.
    pub(crate) fn authority_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Without the keys that it had.
    pub(crate) fn restart(&mut self) {
        let mut command = Command::new(self.program);
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &self.port.to_string()]);
        command.args(["--tls-port", &self.tls_port.to_string(), "--tls-auth-clients", "no"]);
        command.args(["--tls-cert-file", "server.pem", "--tls-key-file", "server.key", "--tls-ca-cert-file", "ca.pem"]);
        command.args(["--requirepass", REDIS_PASSWORD]).current_dir(self.folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.process = Some((ProcessGuard::watch(child.id(), &self.folder.path().join("none")), child));
        wait_until("the server answers", || self.try_run("DBSIZE").is_some());
    }

    pub(crate) fn stop(&mut self) {
        if let Some((guard, mut child)) = self.process.take() {
            drop(guard);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn count_keys(&self) -> i64 {
        self.run("DBSIZE")
    }

    /// A command that answers with a number.
    pub(crate) fn run(&self, command: &str) -> i64 {
        self.try_run(command).expect("the server answers with a number")
    }

    fn try_run(&self, command: &str) -> Option<i64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(stream, "AUTH {REDIS_PASSWORD}\r\n{command}\r\n").ok()?;
        let mut lines = BufReader::new(stream).lines();
        lines.next()?.ok()?;
        lines.next()?.ok()?.strip_prefix(':')?.parse().ok()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}
