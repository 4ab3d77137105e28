//! The settings of `tls.acme`.

use std::net::IpAddr;

use deliver::webhooks::CertificateAuthorities;

use super::keys::TlsSection;
use super::parse::is_host_name;
use super::types::Origin;
use crate::command_error::CommandError;

#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// A DNS name in lower case.
    pub domain: String,
    /// The URL of the ACME server's directory.
    pub directory: String,
    pub email: Option<String>,
    /// For the ACME server itself.
    pub authorities: CertificateAuthorities,
}

/// `None` without `tls.acme`.
pub(super) fn acme_settings(
    section: &TlsSection,
    base_url: Option<&Origin>,
) -> Result<Option<AcmeSettings>, CommandError> {
    if !section.acme {
        return Ok(None);
    }
    let domain = base_url.and_then(|url| domain_of_origin(&url.0)).ok_or_else(|| {
        CommandError::Usage("tls.acme: the host of core.base_url must be a DNS name, not an address".to_owned())
    })?;
    let authorities = section.acme_authorities.as_deref().map(CertificateAuthorities::load_pem).transpose();
    let authorities = authorities.map_err(|fault| CommandError::Usage(format!("tls.acme_authorities: {fault}")))?;
    Ok(Some(AcmeSettings {
        domain,
        directory: section.acme_directory.0.clone(),
        email: section.acme_email.as_ref().map(|email| email.0.clone()),
        authorities: authorities.unwrap_or_default(),
    }))
}

fn domain_of_origin(origin: &str) -> Option<String> {
    let origin: http::Uri = origin.parse().ok()?;
    let host = origin.host()?;
    (is_host_name(host) && host.parse::<IpAddr>().is_err()).then(|| host.to_ascii_lowercase())
}
