//! What is kept of an ACME account and its certificate: in the data directory, by ACME server.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Fault, Time};
use instant_acme::AccountCredentials;
use rustls::sign::CertifiedKey;

use crate::tls::{CertificateFacts, load_certificate};
use instance::config::AcmeSettings;
use instance::{create_private_folder, write_private};

#[derive(Clone, Debug)]
pub(crate) struct AcmeFiles {
    folder: PathBuf,
    account: PathBuf,
    /// The chain and then the key, so that they are replaced together.
    pub(crate) certificate: PathBuf,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CertificateValidity {
    pub(crate) not_before: Time,
    pub(crate) not_after: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct AcmeCertificate {
    pub(super) certified: Arc<CertifiedKey>,
    pub(crate) validity: CertificateValidity,
}

impl CertificateValidity {
    pub(crate) const fn lifetime_ms(&self) -> i64 {
        self.not_after.ms().saturating_sub(self.not_before.ms())
    }

    /// After two thirds of the lifetime.
    pub(super) const fn renewal_time(&self) -> Time {
        Time::from_ms(self.not_after.ms().saturating_sub(self.lifetime_ms() / 3))
    }
}

impl From<&CertificateFacts> for CertificateValidity {
    fn from(facts: &CertificateFacts) -> Self {
        Self { not_before: facts.not_before, not_after: facts.not_after }
    }
}

impl AcmeFiles {
    /// Each server has its own folder: a change of the directory, as from a server for trials to the real one, gets
    /// another certificate.
    pub(crate) fn of_data_dir(data_dir: &Path, settings: &AcmeSettings) -> Self {
        let server = settings.directory.strip_prefix("https://").unwrap_or(&settings.directory);
        let server = server.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.', "-");
        let folder = data_dir.join("acme").join(server);
        let certificate = folder.join(format!("{}.pem", settings.domain));
        Self { account: folder.join("account.json"), certificate, folder }
    }

    pub(super) fn load_account(&self) -> Result<Option<AccountCredentials>, Fault> {
        let failed = |error: &dyn std::fmt::Display| Fault::new(format!("{}: {error}", self.account.display()));
        match fs::read_to_string(&self.account) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| failed(&error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    pub(super) fn save_account(&self, credentials: &AccountCredentials) -> Result<(), Fault> {
        let text = serde_json::to_string(credentials).map_err(Fault::context("encoding the account"))?;
        create_private_folder(&self.folder)?;
        write_private(&self.account, &text)
    }

    pub(super) fn forget_account(&self) -> Result<(), Fault> {
        fs::remove_file(&self.account).map_err(Fault::context("removing the account"))
    }

    /// `None` if there is none.
    pub(crate) fn load_certificate(&self) -> Result<Option<AcmeCertificate>, Fault> {
        let pem = match fs::read(&self.certificate) {
            Ok(pem) => pem,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Fault::from_cause(self.certificate.display().to_string(), error)),
        };
        let certified = load_certificate(&self.certificate, &self.certificate)?;
        let validity = CertificateValidity::from(&CertificateFacts::from_pem(&pem)?);
        Ok(Some(AcmeCertificate { certified, validity }))
    }

    pub(super) fn save_certificate(&self, chain: &str, key: &str) -> Result<(), Fault> {
        create_private_folder(&self.folder)?;
        write_private(&self.certificate, &format!("{chain}\n{key}"))
    }
}
