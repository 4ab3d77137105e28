//! Which certificate a connection gets.

use std::fmt;
use std::sync::Arc;

use base::Fault;
use edge::ACME_TLS_ALPN;
use parking_lot::Mutex;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring::sign;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::certificate_store::{AcmeCertificate, CertificateValidity};
use crate::tls::build_config;

/// Serves its certificate under every name: clients decide whether it fits. Without one, handshakes end with an alert.
pub(super) struct AcmeResolver {
    domain: String,
    certificate: Mutex<Option<AcmeCertificate>>,
    /// While the ACME server may look.
    challenge: Mutex<Option<Arc<CertifiedKey>>>,
}

impl AcmeResolver {
    pub(super) fn new(domain: &str, certificate: Option<AcmeCertificate>) -> Self {
        Self { domain: domain.to_owned(), certificate: Mutex::new(certificate), challenge: Mutex::default() }
    }

    pub(super) fn validity(&self) -> Option<CertificateValidity> {
        self.certificate.lock().as_ref().map(|certificate| certificate.validity)
    }

    pub(super) fn set_certificate(&self, certificate: AcmeCertificate) {
        *self.certificate.lock() = Some(certificate);
    }

    /// `digest` is of the key authorization (RFC 8737 §3).
    pub(super) fn begin_challenge(&self, digest: &[u8]) -> Result<(), Fault> {
        *self.challenge.lock() = Some(Arc::new(challenge_certificate(&self.domain, digest)?));
        Ok(())
    }

    pub(super) fn end_challenge(&self) {
        *self.challenge.lock() = None;
    }

    fn resolve_challenge(&self, client_hello: &ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let is_own_name = client_hello.server_name().is_some_and(|name| name.eq_ignore_ascii_case(&self.domain));
        self.challenge.lock().clone().filter(|_| is_own_name)
    }
}

impl ResolvesServerCert for AcmeResolver {
    fn resolve(&self, client_hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // An ACME server offers nothing else (RFC 8737 §3).
        if client_hello.alpn().is_some_and(|protocols| protocols.eq([ACME_TLS_ALPN])) {
            return self.resolve_challenge(&client_hello);
        }
        self.certificate.lock().as_ref().map(|certificate| Arc::clone(&certificate.certified))
    }
}

impl fmt::Debug for AcmeResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcmeResolver").field("domain", &self.domain).finish_non_exhaustive()
    }
}

pub(super) fn acme_server_config(resolver: Arc<AcmeResolver>) -> Result<Arc<ServerConfig>, Fault> {
    let mut config = build_config(resolver).map_err(Fault::context("configuring TLS"))?;
    config.alpn_protocols.push(ACME_TLS_ALPN.to_vec());
    Ok(Arc::new(config))
}

fn challenge_certificate(domain: &str, digest: &[u8]) -> Result<CertifiedKey, Fault> {
    let made = CertificateParams::new(vec![domain.to_owned()]).and_then(|mut params| {
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
        let key = KeyPair::generate()?;
        Ok((params.self_signed(&key)?.der().clone(), key.serialize_der()))
    });
    let (certificate, key) = made.map_err(Fault::context("making the certificate of a challenge"))?;
    let key = sign::any_ecdsa_type(&PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key)));
    let key = key.map_err(Fault::context("making the certificate of a challenge"))?;
    Ok(CertifiedKey::new(vec![certificate], key))
}
