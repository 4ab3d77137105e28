//! Files that make programs trust the local certificate authority, next to its certificate.

use std::fs;
use std::path::{Path, PathBuf};

use base::Fault;
use data_encoding::BASE64;

use super::java_trust_store::encode_trust_store;
use instance::command_error::CommandError;

const PEM_LINE: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct TrustFiles {
    /// The certificate of the local authority.
    pub(super) authority: PathBuf,
    /// It and those of the system, in PEM.
    pub(super) bundle: PathBuf,
    /// The same for Java.
    pub(super) java: PathBuf,
    /// Sends the requests of old versions of Node through the proxy.
    pub(super) node_preload: PathBuf,
    /// A folder of settings for PHP.
    pub(super) php: PathBuf,
}

impl TrustFiles {
    /// Files that are up to date are not written again.
    pub(crate) fn write(data_dir: &Path) -> Result<Self, CommandError> {
        let folder = data_dir.join("ca");
        let files = Self {
            authority: folder.join("ca.pem"),
            bundle: folder.join("bundle.pem"),
            java: folder.join("trust.jks"),
            node_preload: folder.join("proxy.cjs"),
            php: folder.join("php"),
        };
        let certificates = files.load_certificates()?;
        let ders = || certificates.iter().map(Vec::as_slice);
        write_if_changed(&files.bundle, ders().map(encode_pem).collect::<String>().as_bytes())?;
        write_if_changed(&files.java, &encode_trust_store(ders()))?;
        write_if_changed(&files.node_preload, include_bytes!("node_proxy.cjs"))?;
        write_if_changed(&files.php.join("locum.ini"), php_settings(&files.bundle).as_bytes())?;
        Ok(files)
    }

    /// Its certificate in DER, as in PEM but without line breaks.
    pub(super) fn authority_base64(&self) -> Result<String, Fault> {
        let pem = fs::read_to_string(&self.authority).map_err(Fault::context("reading ca.pem"))?;
        Ok(pem.lines().filter(|line| !line.starts_with("-----")).collect())
    }

    /// The local authority first. Those of the system that cannot be read are left out.
    fn load_certificates(&self) -> Result<Vec<Vec<u8>>, CommandError> {
        let own = rustls_native_certs::load_certs_from_paths(Some(&self.authority), None).certs;
        if own.is_empty() {
            let path = self.authority.display();
            return Err(CommandError::Failed(format!("{path}: no certificate; restart the development server")));
        }
        let system = rustls_native_certs::load_native_certs().certs;
        Ok(own.into_iter().chain(system).map(|certificate| certificate.to_vec()).collect())
    }
}

fn encode_pem(certificate: &[u8]) -> String {
    let text = BASE64.encode(certificate);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in text.as_bytes().chunks(PEM_LINE) {
        pem.extend(line.iter().map(|byte| char::from(*byte)));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

fn php_settings(bundle: &Path) -> String {
    let bundle = bundle.display();
    format!("curl.cainfo = \"{bundle}\"\nopenssl.cafile = \"{bundle}\"\n")
}

/// Replaces the file at once: another command may be reading it.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&beside, bytes));
    let written = written.and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| Fault::from_cause(format!("writing {}", path.display()), error))
}

#[cfg(test)]
mod tests {
    use super::{encode_pem, write_if_changed};
    use std::fs;

    #[test]
    fn certificate_is_wrapped_as_pem() {
        let pem = encode_pem(&[0; 60]);
        let lines: Vec<&str> = pem.lines().collect();
        assert_eq!(lines.iter().map(|line| line.len()).collect::<Vec<_>>(), [27, 64, 16, 25]);
    }

    #[test]
    fn file_is_written_only_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner").join("file.pem");
        let written = |bytes: &[u8]| {
            write_if_changed(&path, bytes).unwrap();
            fs::metadata(&path).unwrap().modified().unwrap()
        };
        let first = written(b"one");
        assert_eq!(written(b"one"), first);
        written(b"two");
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
