//! An S3-compatible server with one bucket, in memory.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::process::ProcessGuard;
use super::wait_until;

pub(crate) struct BucketServer {
    child: Child,
    _guard: ProcessGuard,
    pub(crate) url: String,
}

impl BucketServer {
    /// None where moto is not installed, which fails if all tests must run.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        let python = |args: &[&str]| {
            let mut command = Command::new("python3");
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        if !python(&["-c", "import moto.server"]).status().is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("LOCUM_FULL_TESTS").is_none(), "moto is not installed");
            eprintln!("moto is not installed: not run");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let args = ["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()];
        let child = python(&args).current_dir(folder).spawn().unwrap();
        let guard = ProcessGuard::watch(child.id(), &folder.join("bucket"));
        let server = Self { child, _guard: guard, url: format!("http://127.0.0.1:{port}") };
        wait_until("the bucket is there", || ureq::put(format!("{}/media", server.url)).send_empty().is_ok());
        Some(server)
    }

    /// The names of the objects, as the server lists them.
    pub(crate) fn list_objects(&self) -> String {
        let mut listed = ureq::get(format!("{}/media?list-type=2", self.url)).call().unwrap();
        listed.body_mut().read_to_string().unwrap()
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
