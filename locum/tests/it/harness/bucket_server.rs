//! An S3-compatible server with one bucket, in memory.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::process::ProcessGuard;
use super::{free_address, wait_until};

/// The server demands a signature for private objects, and does not check it.
const UNCHECKED_SIGNATURE: &str = "AWS me:signature";

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
        let port = free_address().port();
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

impl BucketServer {
    /// The keys with which nodes use `s3://media/here`, at the address of the server or of a proxy.
    pub(crate) fn settings(folder: &Path, endpoint: &str) -> Vec<String> {
        let secret = folder.join("secret");
        std::fs::write(&secret, "a secret").unwrap();
        std::fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        vec![
            "media.s3_url=s3://media/here".to_owned(),
            format!("media.s3_endpoint={endpoint}"),
            "media.s3_access_key=me".to_owned(),
            format!("media.s3_secret_key_file={}", secret.display()),
            "media.danger_plain_s3=true".to_owned(),
        ]
    }

    /// The names of the first thousand objects.
    pub(crate) fn object_names(&self) -> Vec<String> {
        let listed = self.list_objects();
        let names = listed.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        names.map(str::to_owned).collect()
    }

    /// None if there is no such object.
    pub(crate) fn read_object(&self, name: &str) -> Option<Vec<u8>> {
        let request = ureq::get(self.object_url(name)).header("authorization", UNCHECKED_SIGNATURE);
        Some(request.call().ok()?.body_mut().read_to_vec().unwrap())
    }

    pub(crate) fn write_object(&self, name: &str, content: &[u8]) {
        let request = ureq::put(self.object_url(name)).header("authorization", UNCHECKED_SIGNATURE);
        request.send(content).unwrap();
    }

    pub(crate) fn delete_object(&self, name: &str) {
        let request = ureq::delete(self.object_url(name)).header("authorization", UNCHECKED_SIGNATURE);
        request.call().unwrap();
    }

    fn object_url(&self, name: &str) -> String {
        format!("{}/media/{name}", self.url)
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
