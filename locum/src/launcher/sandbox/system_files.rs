//! Files of the system that the sandbox replaces.

use std::fs;
use std::path::{Path, PathBuf};

use base::Fault;

use super::browser_policy;
use super::plan::BindMount;
use crate::launcher::trust_files::TrustFiles;

/// Debian, Fedora, SUSE and Alpine.
const BUNDLES: [&str; 7] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/cert.pem",
];
const JAVA_STORES: [&str; 2] = ["/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts"];
/// Of Chromium, Chrome and Edge.
const BROWSER_SETTINGS: [&str; 4] = ["/etc/chromium", "/etc/chromium-browser", "/etc/opt/chrome", "/etc/opt/edge"];
/// Services that would look up names outside.
const NAME_SERVICE_SOCKETS: [&str; 2] = ["/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"];
/// Nothing answers there, so look-ups fail at once.
const RESOLVER: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";

/// Files that the system does not have are left out.
pub(super) fn write_files(folder: &Path, trust: &TrustFiles, hosts: &[String]) -> Result<Vec<BindMount>, Fault> {
    let mut mounts = Vec::new();
    let mut replace = |source: &Path, target: &Path| {
        // Links are followed now, because a mount may hide where they lead.
        let Ok(target) = fs::canonicalize(target) else { return };
        if mounts.iter().all(|mount: &BindMount| mount.target != target) {
            mounts.push(BindMount { source: source.to_owned(), target });
        }
    };
    let files = [
        ("hosts", hosts_file(hosts)),
        ("resolv.conf", RESOLVER.to_owned()),
        ("nsswitch.conf", name_service_file(&fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default())),
    ];
    for (name, text) in files {
        let source = folder.join(name);
        fs::write(&source, text).map_err(Fault::context("writing the files of the sandbox"))?;
        replace(&source, &Path::new("/etc").join(name));
    }
    for socket in NAME_SERVICE_SOCKETS {
        replace(Path::new("/dev/null"), Path::new(socket));
    }
    for bundle in BUNDLES {
        replace(&trust.bundle, Path::new(bundle));
    }
    for settings in BROWSER_SETTINGS.iter().map(Path::new).filter(|settings| settings.is_dir()) {
        replace(&browser_policy::write_settings(settings, trust)?, settings);
    }
    for store in JAVA_STORES.iter().map(PathBuf::from).chain(java_homes()) {
        replace(&trust.java, &store);
    }
    Ok(mounts)
}

fn hosts_file(hosts: &[String]) -> String {
    let mut text = "127.0.0.1 localhost ads-api-sandbox.localhost\n::1 localhost\n".to_owned();
    let own = rustix::system::uname();
    let own = own.nodename().to_string_lossy();
    for host in hosts.iter().map(String::as_str).chain([own.as_ref()]) {
        text.push_str("127.0.0.1 ");
        text.push_str(host);
        text.push('\n');
    }
    text
}

/// Names are looked up in the hosts file only.
fn name_service_file(original: &str) -> String {
    let others = original.lines().filter(|line| !line.trim_start().starts_with("hosts:"));
    others.chain(["hosts: files"]).fold(String::new(), |text, line| text + line + "\n")
}

/// The trust stores of the Java that `JAVA_HOME` names, and of the one in `PATH`.
fn java_homes() -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let binary = std::env::split_paths(&folders).find_map(|folder| fs::canonicalize(folder.join("java")).ok());
    let installed = binary.and_then(|binary| Some(binary.parent()?.parent()?.to_owned()));
    let homes = [named, installed].into_iter().flatten();
    homes.flat_map(|home| ["lib/security/cacerts", "jre/lib/security/cacerts"].map(|path| home.join(path)))
}

#[cfg(test)]
mod tests {
    use super::{hosts_file, name_service_file};

    #[test]
    fn names_are_looked_up_in_the_hosts_file_only() {
        let original = "passwd: files systemd\nhosts: mymachines resolve [!UNAVAIL=return] files dns\nservices: db\n";
        assert_eq!(name_service_file(original), "passwd: files systemd\nservices: db\nhosts: files\n");
        let text = hosts_file(&["api.example.com".to_owned()]);
        assert!(text.contains("\n127.0.0.1 api.example.com\n"), "{text}");
    }
}
