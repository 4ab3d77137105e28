//! What a certificate says.

use base::{Fault, Time};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::NameConstraints;
use x509_cert::ext::pkix::name::GeneralName;

#[derive(Debug)]
pub(crate) struct CertificateFacts {
    pub(crate) not_before: Time,
    pub(crate) not_after: Time,
    /// As it is encoded in the certificate.
    pub(crate) public_key: Vec<u8>,
    /// The DNS names of an authority's name constraints.
    pub(crate) permitted_names: Vec<String>,
}

impl CertificateFacts {
    /// Of the first certificate in the text.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, Fault> {
        let first = CertificateDer::from_pem_slice(pem).map_err(Fault::context("reading a certificate"))?;
        Self::from_der(&first)
    }

    pub(super) fn from_der(der: &CertificateDer<'_>) -> Result<Self, Fault> {
        let certificate = Certificate::from_der(der).map_err(Fault::context("reading a certificate"))?;
        let body = &certificate.tbs_certificate;
        let time = |time: x509_cert::time::Time| {
            Time::from_ms(i64::try_from(time.to_unix_duration().as_millis()).unwrap_or(i64::MAX))
        };
        let constraints = body.get::<NameConstraints>().map_err(Fault::context("reading name constraints"))?;
        let permitted = constraints.and_then(|(_, constraints)| constraints.permitted_subtrees).unwrap_or_default();
        let names = permitted.into_iter().filter_map(|subtree| match subtree.base {
            GeneralName::DnsName(name) => Some(name.to_string()),
            _ => None,
        });
        Ok(Self {
            not_before: time(body.validity.not_before),
            not_after: time(body.validity.not_after),
            public_key: body.subject_public_key_info.subject_public_key.raw_bytes().to_vec(),
            permitted_names: names.collect(),
        })
    }
}
