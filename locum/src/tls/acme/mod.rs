//! The certificate of a production server, from an ACME server (RFC 8555) that sees the challenge TLS-ALPN-01
//! (RFC 8737) answered on the public port.

mod certificate_store;
mod client;
mod issuance;
mod renewal;
mod resolver;

use std::path::Path;
use std::sync::Arc;

use base::{Fault, Time, clock};
use edge::TlsConfigSource;
use instant_acme::Account;
use rustls::ServerConfig;

pub(crate) use certificate_store::{AcmeFiles, CertificateValidity};
use instance::config::AcmeSettings;
use resolver::AcmeResolver;

#[derive(Clone, Debug)]
pub(crate) struct AcmeCertificates {
    settings: AcmeSettings,
    files: AcmeFiles,
    resolver: Arc<AcmeResolver>,
    config: Arc<ServerConfig>,
}

impl AcmeCertificates {
    /// With the certificate that an earlier process obtained, if there is one.
    pub(super) fn open(settings: &AcmeSettings, data_dir: &Path) -> Result<Self, Fault> {
        let files = AcmeFiles::of_data_dir(data_dir, settings);
        let kept = files.load_certificate().unwrap_or_else(|fault| {
            tracing::error!(error = %fault, "failed to load the certificate; another one will be ordered");
            None
        });
        let resolver = Arc::new(AcmeResolver::new(&settings.domain, kept));
        let config = resolver::acme_server_config(Arc::clone(&resolver))?;
        Ok(Self { settings: settings.clone(), files, resolver, config })
    }

    /// When the certificate in use ends.
    pub(super) fn end(&self) -> Option<Time> {
        self.resolver.validity().map(|validity| validity.not_after)
    }

    /// Why clients cannot connect: the first certificate has not been issued, or the last one has ended.
    pub(crate) fn problem(&self) -> Option<String> {
        match self.resolver.validity() {
            None => Some("no certificate has been issued yet".to_owned()),
            Some(validity) if validity.not_after < clock::wall_time() => Some("the certificate has ended".to_owned()),
            Some(_) => None,
        }
    }

    /// Registers one if there is none.
    async fn open_account(&self) -> Result<Account, Fault> {
        let builder = Account::builder_with_http(Box::new(client::AcmeHttpClient::new(&self.settings.authorities)?));
        if let Some(credentials) = self.files.load_account()? {
            let account = builder.from_credentials(credentials).await;
            return account.map_err(Fault::context("reading the directory"));
        }
        let contact = self.settings.email.as_ref().map(|email| format!("mailto:{email}"));
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        let account =
            instant_acme::NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
        let created = builder.create(&account, self.settings.directory.clone(), None).await;
        let (account, credentials) = created.map_err(Fault::context("registering an account"))?;
        self.files.save_account(&credentials)?;
        Ok(account)
    }
}

impl TlsConfigSource for AcmeCertificates {
    fn tls_config(&self, _server_name: Option<&str>) -> Option<Arc<ServerConfig>> {
        Some(Arc::clone(&self.config))
    }
}
