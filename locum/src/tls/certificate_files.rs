//! The certificate of a production server, from files that may be replaced while it runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base::{Fault, Time};
use edge::TlsConfigSource;
use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::signal::unix::{SignalKind, signal};

use super::{CertificateFacts, server_config};

/// How soon a new file is used without a signal.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// Serves its certificate under every name: clients decide whether it fits.
#[derive(Clone, Debug)]
pub(crate) struct CertificateFiles {
    files: Arc<LoadedFiles>,
    config: Arc<ServerConfig>,
}

struct LoadedFiles {
    certificate: PathBuf,
    key: PathBuf,
    loaded: Mutex<LoadedCertificate>,
}

struct LoadedCertificate {
    certificate: Arc<CertifiedKey>,
    /// Of the files as they were read last, well or not.
    changed_at: ChangeTimes,
}

type ChangeTimes = [Option<SystemTime>; 2];

impl CertificateFiles {
    pub(super) fn open(certificate: &Path, key: &Path) -> Result<Self, Fault> {
        let changed_at = [certificate, key].map(change_time);
        let loaded = LoadedCertificate { certificate: load_certificate(certificate, key)?, changed_at };
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        let files = Arc::new(LoadedFiles { certificate, key, loaded: Mutex::new(loaded) });
        // From here on, the signal no longer ends the process.
        let _watched = signal(SignalKind::hangup()).map_err(Fault::context("watching for SIGHUP"))?;
        Ok(Self { config: server_config(Arc::<LoadedFiles>::clone(&files))?, files })
    }

    /// When the certificate in use ends.
    pub(super) fn end(&self) -> Option<Time> {
        let certificate = Arc::clone(&self.files.loaded.lock().certificate);
        Some(CertificateFacts::from_der(certificate.cert.first()?).ok()?.not_after)
    }

    /// Reads the files again when they change, and on SIGHUP. What cannot be used is logged, and the last certificate
    /// stays.
    pub(crate) async fn reload_changes(self) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            let signalled = async {
                match &mut hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            let is_asked = tokio::time::timeout(RELOAD_INTERVAL, signalled).await.is_ok();
            self.files.reload(is_asked);
        }
    }
}

impl LoadedFiles {
    fn reload(&self, is_asked: bool) {
        let changed_at = [self.certificate.as_path(), &self.key].map(change_time);
        if !is_asked && self.loaded.lock().changed_at == changed_at {
            return;
        }
        let read = load_certificate(&self.certificate, &self.key);
        let mut loaded = self.loaded.lock();
        loaded.changed_at = changed_at;
        match read {
            Ok(certificate) => {
                loaded.certificate = certificate;
                tracing::info!(file = %self.certificate.display(), "loaded the certificate");
            }
            Err(fault) => tracing::error!(error = %fault, "failed to load the certificate; the last one stays in use"),
        }
    }
}

fn change_time(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// Refuses a key that does not belong to the certificate.
pub(crate) fn load_certificate(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, Fault> {
    let failed = |path: &Path, error: &dyn fmt::Display| Fault::new(format!("{}: {error}", path.display()));
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(certificate, &error))?;
    if chain.is_empty() {
        return Err(failed(certificate, &"no certificate (PEM)"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
    let certified = CertifiedKey::from_der(chain, private, &ring::default_provider());
    certified.map(Arc::new).map_err(|error| failed(key, &error))
}

impl TlsConfigSource for CertificateFiles {
    fn tls_config(&self, _server_name: Option<&str>) -> Option<Arc<ServerConfig>> {
        Some(Arc::clone(&self.config))
    }
}

impl ResolvesServerCert for LoadedFiles {
    fn resolve(&self, _client_hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.loaded.lock().certificate))
    }
}

impl fmt::Debug for LoadedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedFiles").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}
