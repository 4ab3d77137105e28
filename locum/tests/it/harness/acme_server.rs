//! An ACME server of one test: Pebble, which validates on a port that it is told.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rcgen::{CertificateParams, KeyPair};
use serde_json::json;
use tempfile::TempDir;

use super::process::ProcessGuard;
use super::tls_client::{exchange_to_close, start_tls, trusting_config};
use super::{free_address, wait_until};

const PROGRAM: &str = "/usr/bin/pebble";

pub(crate) struct AcmeServer {
    port: u16,
    management_port: u16,
    folder: TempDir,
    process: Option<(ProcessGuard, Child)>,
}

impl AcmeServer {
    /// Not started yet; it will look for challenges at the address, and its certificates last so many seconds. None
    /// where it is not installed, which fails if all tests must run.
    pub(crate) fn prepare(validated: SocketAddr, lifetime_secs: u64) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            assert!(std::env::var_os("LOCUM_FULL_TESTS").is_none(), "{PROGRAM} is not installed");
            eprintln!("{PROGRAM} is not installed: not run");
            return None;
        }
        let [port, management_port] = [0; 2].map(|_| free_address().port());
        let server = Self { port, management_port, folder: TempDir::new().unwrap(), process: None };
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(server.path("server.key"), key.serialize_pem()).unwrap();
        std::fs::write(server.authority_file(), params.self_signed(&key).unwrap().pem()).unwrap();
        let configuration = json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management_port}"),
            "certificate": server.authority_file(),
            "privateKey": server.path("server.key"),
            "httpPort": 1,
            "tlsPort": validated.port(),
            "certificateValidityPeriod": lifetime_secs,
        }});
        std::fs::write(server.path("pebble.json"), configuration.to_string()).unwrap();
        Some(server)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Without the accounts that it had, and with another root certificate.
    pub(crate) fn restart(&mut self) {
        self.stop();
        let mut command = Command::new(PROGRAM);
        command.arg("-config").arg(self.path("pebble.json")).current_dir(self.folder.path());
        command.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0").stdin(Stdio::null());
        let log = std::fs::File::create(self.path("log")).unwrap();
        let child = command.stderr(log.try_clone().unwrap()).stdout(log).spawn().unwrap();
        self.process = Some((ProcessGuard::watch(child.id(), &self.path("none")), child));
        wait_until("the ACME server listens", || TcpStream::connect(("127.0.0.1", self.management_port)).is_ok());
        wait_until("the ACME server listens", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
        let root = self.fetch_root();
        std::fs::write(self.root_file(), root).unwrap();
    }

    pub(crate) fn stop(&mut self) {
        if let Some((guard, mut child)) = self.process.take() {
            drop(guard);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn directory_url(&self) -> String {
        format!("https://localhost:{}/dir", self.port)
    }

    /// The certificate of its own listener.
    pub(crate) fn authority_file(&self) -> PathBuf {
        self.path("server.pem")
    }

    /// What clients must trust to trust the certificates that it issues.
    pub(crate) fn root_file(&self) -> PathBuf {
        self.path("root.pem")
    }

    /// Since its last start.
    pub(crate) fn issued_count(&self) -> usize {
        self.log().matches("Issued certificate serial").count()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }

    fn fetch_root(&self) -> String {
        let stream = TcpStream::connect(("127.0.0.1", self.management_port)).unwrap();
        let mut stream = start_tls(&trusting_config(&self.authority_file()), "localhost", stream).unwrap();
        let request = "GET /roots/0 HTTP/1.0\r\nHost: localhost\r\n\r\n";
        let response = exchange_to_close(&mut stream, request);
        response.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

impl Drop for AcmeServer {
    fn drop(&mut self) {
        self.stop();
    }
}
