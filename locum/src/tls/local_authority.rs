//! The certificate authority of a development server. Nothing trusts it unless it is told to.

use std::fs::{self, Permissions};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Fault, Time, sorted_distinct};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CidrSubnet, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, SanType,
};
use rustls::crypto::ring::sign;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use time::{Duration, OffsetDateTime};

use super::certificate_facts::CertificateFacts;
use instance::write_private;

pub(super) const LOCALHOST: &str = "localhost";
/// The host of the Ads API sandbox that `locum env` names.
pub(super) const LOCAL_SANDBOX: &str = "ads-api-sandbox.localhost";
const LIFETIME: Duration = Duration::days(90);
/// A certificate is replaced at a start this long before its end.
const RENEWAL: Duration = Duration::days(30);
/// For clients whose clocks are behind.
const MAX_CLOCK_SKEW: Duration = Duration::days(1);

/// Paths in the data directory.
pub(crate) struct AuthorityFiles {
    folder: PathBuf,
    pub(crate) certificate: PathBuf,
    key: PathBuf,
}

impl AuthorityFiles {
    pub(crate) fn of_data_dir(data_dir: &Path) -> Self {
        let folder = data_dir.join("ca");
        Self { certificate: folder.join("ca.pem"), key: folder.join("ca.key"), folder }
    }
}

#[derive(Debug)]
pub(crate) struct LocalAuthority {
    issuer: Issuer<'static, KeyPair>,
    expires_at: OffsetDateTime,
}

impl LocalAuthority {
    /// Creates it if it does not exist, ends within 30 days or is not limited to `hosts`.
    pub(super) fn open(data_dir: &Path, hosts: &[String], now: Time) -> Result<Self, Fault> {
        let files = AuthorityFiles::of_data_dir(data_dir);
        match Self::load(&files, hosts, now) {
            Some(authority) => Ok(authority),
            None => Self::create(&files, hosts, now),
        }
    }

    fn load(files: &AuthorityFiles, hosts: &[String], now: Time) -> Option<Self> {
        let key = KeyPair::from_pem(&fs::read_to_string(&files.key).ok()?).ok()?;
        let facts = CertificateFacts::from_pem(&fs::read(&files.certificate).ok()?).ok()?;
        let expires_at = offset_time(facts.not_after)?;
        let is_usable = facts.not_before <= now
            && offset_time(now)? < expires_at - RENEWAL
            && facts.public_key == key.public_key_raw()
            && facts.permitted_names == permitted_names(hosts);
        is_usable.then(|| Self { issuer: Issuer::new(authority_params(hosts), key), expires_at })
    }

    /// Replaces an existing one.
    pub(crate) fn create(files: &AuthorityFiles, hosts: &[String], now: Time) -> Result<Self, Fault> {
        let now = offset_time(now).ok_or_else(|| Fault::new("the machine's time is not a date"))?;
        let expires_at = now + LIFETIME;
        let mut params = authority_params(hosts);
        (params.not_before, params.not_after) = (now - MAX_CLOCK_SKEW, expires_at);
        let signed = KeyPair::generate().and_then(|key| Ok((params.self_signed(&key)?.pem(), key)));
        let (certificate, key) = signed.map_err(Fault::context("creating the local certificate authority"))?;
        fs::create_dir_all(&files.folder).map_err(Fault::context("creating the folder `ca`"))?;
        write_private(&files.key, &key.serialize_pem())?;
        write_private(&files.certificate, &certificate)?;
        fs::set_permissions(&files.certificate, Permissions::from_mode(0o644))
            .map_err(Fault::context("making ca.pem readable"))?;
        Ok(Self { issuer: Issuer::new(params, key), expires_at })
    }

    /// A certificate for one host, or for this machine's own names and addresses.
    pub(super) fn issue(&self, host: &str) -> Result<Arc<CertifiedKey>, Fault> {
        let (certificate, key) = self.sign_certificate(host).map_err(Fault::context("issuing a certificate"))?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = sign::any_ecdsa_type(&key).map_err(Fault::context("the key of a certificate"))?;
        Ok(Arc::new(CertifiedKey::new(vec![certificate.der().clone()], key)))
    }

    fn sign_certificate(&self, host: &str) -> Result<(Certificate, KeyPair), rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name = common_name(host);
        params.subject_alt_names = alternative_names(host)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = (self.expires_at - LIFETIME - MAX_CLOCK_SKEW, self.expires_at);
        Ok((params.signed_by(&key, &self.issuer)?, key))
    }
}

fn authority_params(hosts: &[String]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name("Locum development CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let mut permitted: Vec<_> = permitted_names(hosts).into_iter().map(GeneralSubtree::DnsName).collect();
    permitted.extend(
        [CidrSubnet::from_v4_prefix([127, 0, 0, 0], 8), CidrSubnet::from_v6_prefix(Ipv6Addr::LOCALHOST.octets(), 128)]
            .map(GeneralSubtree::IpAddress),
    );
    params.name_constraints = Some(NameConstraints { permitted_subtrees: permitted, excluded_subtrees: Vec::new() });
    params
}

fn permitted_names(hosts: &[String]) -> Vec<String> {
    sorted_distinct([hosts, &[LOCALHOST.to_owned()]].concat())
}

fn common_name(text: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, text);
    name
}

fn alternative_names(host: &str) -> Result<Vec<SanType>, rcgen::Error> {
    if host != LOCALHOST {
        return Ok(vec![SanType::DnsName(host.try_into()?)]);
    }
    let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let names = [LOCALHOST, LOCAL_SANDBOX].into_iter().map(|name| Ok(SanType::DnsName(name.try_into()?)));
    names.chain(addresses.into_iter().map(|address| Ok(SanType::IpAddress(address)))).collect()
}

fn offset_time(time: Time) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(time.ms().div_euclid(1000)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 24 * 3600 * 1000;

    fn certificate(folder: &Path) -> String {
        fs::read_to_string(AuthorityFiles::of_data_dir(folder).certificate).unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn authority_is_kept_until_a_month_before_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let hosts = ["api.x.com".to_owned()];
        let at = |days: i64| Time::from_ms(1_700_000_000_000 + days * DAY_MS);
        let open = |days| {
            LocalAuthority::open(folder.path(), &hosts, at(days)).unwrap();
            certificate(folder.path())
        };
        let first = open(0);
        let files = AuthorityFiles::of_data_dir(folder.path());
        assert_eq!((mode(&files.key), mode(&files.certificate)), (0o600, 0o644));
        assert_eq!(open(59), first);
        let second = open(61);
        assert_ne!(second, first);
        assert_ne!(open(500), second);
    }

    #[test]
    fn authority_is_replaced_if_its_hosts_or_its_key_do_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let now = Time::from_ms(1_700_000_000_000);
        let open = |hosts: &[&str]| {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            LocalAuthority::open(folder.path(), &hosts, now).unwrap();
            certificate(folder.path())
        };
        let first = open(&["api.x.com", "x.com"]);
        assert_eq!(open(&["x.com", "api.x.com"]), first, "the order is irrelevant");
        let second = open(&["x.com"]);
        assert_ne!(second, first);
        let files = AuthorityFiles::of_data_dir(folder.path());
        fs::write(&files.key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let third = open(&["x.com"]);
        assert_ne!(third, second);
        fs::write(&files.certificate, "nonsense").unwrap();
        assert_ne!(open(&["x.com"]), third);
    }
}
