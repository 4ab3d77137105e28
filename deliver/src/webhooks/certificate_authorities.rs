//! Trusted certificate authorities: those of the system, and those in a file.

use std::path::Path;
use std::sync::Arc;

use base::Fault;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// Additional certificates.
#[derive(Clone, Debug, Default)]
pub struct CertificateAuthorities(Arc<[CertificateDer<'static>]>);

impl CertificateAuthorities {
    /// Reads certificates from a PEM file.
    pub fn load_pem(path: &Path) -> Result<Self, Fault> {
        let name = path.display();
        let found = rustls_native_certs::load_certs_from_paths(Some(path), None);
        if let Some(error) = found.errors.first() {
            return Err(Fault::new(format!("{name}: {error}")));
        }
        if found.certs.is_empty() {
            return Err(Fault::new(format!("{name} contains no certificate")));
        }
        let mut store = RootCertStore::empty();
        for certificate in &found.certs {
            let added = store.add(certificate.clone());
            added.map_err(|error| Fault::new(format!("{name}: {error}")))?;
        }
        Ok(Self(found.certs.into()))
    }

    /// For connections to hosts that a trusted authority vouches for.
    pub fn client_config(&self) -> Result<ClientConfig, Fault> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Fault::context("setting up TLS"))?;
        Ok(builder.with_root_certificates(self.root_store()).with_no_client_auth())
    }

    /// The system's certificates and the additional ones.
    fn root_store(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        roots.add_parsable_certificates(self.0.iter().cloned());
        roots
    }
}
