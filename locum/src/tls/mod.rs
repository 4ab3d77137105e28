//! TLS of the public listener, and the hosts that a development server answers for.

mod acme;
mod certificate_facts;
mod certificate_files;
mod certificate_metric;
mod emulated_hosts;
mod local_authority;
mod redirect;

use std::sync::Arc;

use base::{Fault, clock};
use edge::{ListenerProtocols, TlsConfigSource};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ResolvesServerCert, ServerSessionMemoryCache};

pub(crate) use acme::{AcmeCertificates, AcmeFiles, CertificateValidity};
pub(crate) use certificate_facts::CertificateFacts;
pub(crate) use certificate_files::{CertificateFiles, load_certificate};
use emulated_hosts::EmulatedHosts;
use instance::ListeningAddresses;
use instance::command_error::CommandError;
use instance::config::{RunMode, ServerSettings};
pub(crate) use local_authority::{AuthorityFiles, LocalAuthority};
pub(crate) use redirect::RedirectServer;

/// TLS 1.2 sessions that can be resumed by their id; others are resumed by tickets, which the server does not store.
const MAX_STORED_SESSIONS: usize = 1024;

/// What the public listener answers.
#[derive(Default)]
pub(crate) struct PublicProtocols {
    pub(crate) listener: ListenerProtocols,
    /// To be reloaded when they change.
    pub(crate) certificates: Option<CertificateFiles>,
    /// To be renewed.
    pub(crate) acme: Option<AcmeCertificates>,
}

/// Must be called inside a Tokio runtime.
pub(crate) fn public_protocols(
    settings: &ServerSettings,
    listening: &ListeningAddresses,
) -> Result<PublicProtocols, CommandError> {
    if let Some((certificate, key)) = settings.certificate_files() {
        let files = CertificateFiles::open(certificate, key)?;
        let tls: Arc<dyn TlsConfigSource> = Arc::new(files.clone());
        let listener = ListenerProtocols { tls: Some(tls), proxy: None, requires_tls: true };
        return Ok(PublicProtocols { listener, certificates: Some(files), acme: None });
    }
    if let Some(acme) = &settings.acme {
        let acme = AcmeCertificates::open(acme, &settings.core.data_dir)?;
        let tls: Arc<dyn TlsConfigSource> = Arc::new(acme.clone());
        let listener = ListenerProtocols { tls: Some(tls), proxy: None, requires_tls: true };
        return Ok(PublicProtocols { listener, certificates: None, acme: Some(acme) });
    }
    if settings.mode == RunMode::Serve {
        return Ok(PublicProtocols::default());
    }
    let authority = LocalAuthority::open(&settings.core.data_dir, &settings.emulated_hosts(), clock::wall_time())?;
    let hosts = Arc::new(EmulatedHosts::new(authority, settings, listening)?);
    let tls: Arc<dyn TlsConfigSource> = Arc::<EmulatedHosts>::clone(&hosts);
    let listener = ListenerProtocols { tls: Some(tls), proxy: Some(hosts), requires_tls: false };
    Ok(PublicProtocols { listener, certificates: None, acme: None })
}

fn server_config(certificates: Arc<dyn ResolvesServerCert>) -> Result<Arc<ServerConfig>, Fault> {
    build_config(certificates).map(Arc::new).map_err(Fault::context("configuring TLS"))
}

fn build_config(certificates: Arc<dyn ResolvesServerCert>) -> Result<ServerConfig, rustls::Error> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec(), b"http/1.0".to_vec()];
    config.session_storage = ServerSessionMemoryCache::new(MAX_STORED_SESSIONS);
    config.ticketer = ring::Ticketer::new()?;
    Ok(config)
}
