//! Connections to PostgreSQL with TLS, asked for in the URL by `sslmode` and `sslrootcert` as in libpq.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use base::{Fault, percent};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::CONNECT_TIMEOUT;
use super::server_checks::KnownServer;

/// Value of `sslrootcert` for the authorities that the system trusts.
const SYSTEM_ROOTS: &str = "system";
/// What clients call the protocol inside TLS, as PostgreSQL 17 wants it for `sslnegotiation=direct`.
const ALPN_PROTOCOL: &[u8] = b"postgresql";

const DEFAULT_PORT: u16 = 5432;

/// How long sent bytes may stay without acknowledgement.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(5);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;

/// How much TLS a connection must have; the names are libpq's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TlsMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsMode {
    const ALL: [(&str, Self); 6] = [
        ("disable", Self::Disable),
        ("allow", Self::Allow),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    fn parse(text: &str) -> Result<Self, Fault> {
        let known = Self::ALL.iter().find(|(name, _)| *name == text);
        known.map(|(_, mode)| *mode).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            Fault::new(format!("sslmode={text} in the database address: one of {names}"))
        })
    }

    /// What is tried, one after the other.
    const fn attempts(self) -> &'static [SslMode] {
        match self {
            Self::Disable => &[SslMode::Disable],
            Self::Allow => &[SslMode::Disable, SslMode::Require],
            Self::Prefer => &[SslMode::Prefer, SslMode::Disable],
            Self::Require | Self::VerifyCa | Self::VerifyFull => &[SslMode::Require],
        }
    }
}

/// A server, and how it is connected to.
pub(crate) struct ConnectionTarget {
    config: Config,
    /// The same for each of its hosts alone, which are tried in order: one that is silent takes only its own time.
    pub(super) hosts: Vec<Config>,
    mode: TlsMode,
    /// None where any certificate will do.
    roots: Option<Arc<RootCertStore>>,
    /// None where any server will do.
    pub(super) known_server: Option<KnownServer>,
}

/// Hosts, ports and the database; never the password.
impl fmt::Display for ConnectionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        for (number, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(number).or(ports.first()).unwrap_or(&DEFAULT_PORT);
            let separator = if number == 0 { "" } else { ", " };
            match host {
                Host::Tcp(name) => write!(f, "{separator}{name}:{port}")?,
                Host::Unix(folder) => write!(f, "{separator}{}:{port}", folder.display())?,
            }
        }
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        write!(f, " (database {database})")
    }
}

impl ConnectionTarget {
    /// Of the server that holds the data of this data directory: a former primary is refused.
    pub(crate) fn for_data_dir(url: &str, data_dir: &Path) -> Result<Arc<Self>, Fault> {
        Ok(Arc::new(Self { known_server: Some(KnownServer::load(data_dir)), ..Self::parse(url)? }))
    }

    pub(crate) fn parse(url: &str) -> Result<Self, Fault> {
        let options = TlsOptions::extract(url)?;
        let config: Config = options.url.parse().map_err(Fault::context("the database address"))?;
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        let mode = match options.mode {
            // A socket of this machine has no TLS, whatever is asked for.
            _ if config.get_hosts().iter().all(is_local) => TlsMode::Disable,
            None if options.root_cert.as_deref() == Some(SYSTEM_ROOTS) => TlsMode::VerifyFull,
            mode => mode.unwrap_or(TlsMode::Prefer),
        };
        let roots = match options.root_cert.as_deref() {
            _ if mode == TlsMode::Disable => None,
            // Whoever has a certificate from any public authority would pass for the server.
            Some(SYSTEM_ROOTS) if mode != TlsMode::VerifyFull => {
                return Err(Fault::new("sslrootcert=system needs sslmode=verify-full"));
            }
            None if mode == TlsMode::VerifyCa => {
                return Err(Fault::new("sslmode=verify-ca needs sslrootcert, a file"));
            }
            Some(SYSTEM_ROOTS) => Some(system_roots()?),
            None if mode == TlsMode::VerifyFull => Some(system_roots()?),
            Some(file) => Some(roots_from_file(Path::new(file))?),
            None => None,
        };
        let hosts = split_hosts(&config);
        Ok(Self { config, hosts, mode, roots: roots.map(Arc::new), known_server: None })
    }

    /// Connects to one of the hosts; a mode that leaves the choice tries the other way where the server refuses the first.
    pub(super) async fn connect(&self, host: &Config, driver: &impl ConnectionDriver) -> Result<Client, Fault> {
        let mut first_error = None;
        for attempt in self.mode.attempts() {
            match self.connect_once(*attempt, host, driver).await? {
                Ok(client) => return Ok(client),
                Err(error) => {
                    let may_differ = depends_on_tls(&error);
                    first_error.get_or_insert(error);
                    if !may_differ {
                        break;
                    }
                }
            }
        }
        let connecting = format!("connecting to PostgreSQL at {self}");
        let fault = match first_error {
            Some(error) => Fault::from_cause(connecting, error),
            None => Fault::new(connecting),
        };
        Err(fault.into_transient())
    }

    /// The token knows whether its connection uses TLS.
    pub(super) async fn cancel_query(&self, token: &CancelToken) -> Result<(), Fault> {
        let cancelled = token.cancel_query(MakeRustlsConnect::new(self.client_config()?));
        cancelled.await.map_err(Fault::context("cancelling a query"))
    }

    async fn connect_once(
        &self,
        attempt: SslMode,
        host: &Config,
        driver: &impl ConnectionDriver,
    ) -> Result<Result<Client, tokio_postgres::Error>, Fault> {
        let mut config = host.clone();
        config.ssl_mode(attempt);
        Ok(if attempt == SslMode::Disable {
            config.connect(NoTls).await.map(|(client, connection)| driver.spawn(client, connection))
        } else {
            let tls = MakeRustlsConnect::new(self.client_config()?);
            config.connect(tls).await.map(|(client, connection)| driver.spawn(client, connection))
        })
    }

    fn client_config(&self) -> Result<ClientConfig, Fault> {
        let provider = ring::default_provider();
        let verifier = PostgresCertVerifier {
            roots: self.roots.clone(),
            check_name: self.mode == TlsMode::VerifyFull,
            algorithms: provider.signature_verification_algorithms,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(Fault::context("setting up TLS"))?;
        let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
        Ok(config)
    }
}

fn split_hosts(config: &Config) -> Vec<Config> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let split = (0..count).map(|number| {
        let mut host = Config::new();
        match names.get(number) {
            Some(Host::Tcp(name)) => drop(host.host(name)),
            Some(Host::Unix(folder)) => drop(host.host_path(folder)),
            None => {}
        }
        if let Some(address) = addresses.get(number) {
            host.hostaddr(*address);
        }
        host.port(ports.get(number).or(ports.first()).copied().unwrap_or(DEFAULT_PORT));
        copy_credentials(config, &mut host);
        limit_waits(&mut host);
        host
    });
    split.collect()
}

fn copy_credentials(from: &Config, to: &mut Config) {
    if let Some(user) = from.get_user() {
        to.user(user);
    }
    if let Some(password) = from.get_password() {
        to.password(password);
    }
    if let Some(database) = from.get_dbname() {
        to.dbname(database);
    }
    if let Some(options) = from.get_options() {
        to.options(options);
    }
    to.ssl_negotiation(from.get_ssl_negotiation());
    to.channel_binding(from.get_channel_binding());
    to.target_session_attrs(from.get_target_session_attrs());
}

/// A connection whose other side is silent is closed within seconds.
fn limit_waits(config: &mut Config) {
    config.application_name("locum").connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(TCP_USER_TIMEOUT);
    config.keepalives(true).keepalives_idle(KEEPALIVE_IDLE);
    config.keepalives_interval(KEEPALIVE_INTERVAL).keepalives_retries(KEEPALIVE_RETRIES);
}

/// Reads and writes on a connection while the current runtime runs.
pub(super) trait ConnectionDriver {
    fn spawn<S>(&self, client: Client, connection: Connection<Socket, S>) -> Client
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static;
}

/// For connections without notifications.
pub(super) struct PlainDriver;

impl ConnectionDriver for PlainDriver {
    #[expect(clippy::disallowed_methods, reason = "each connection has a runtime of its own")]
    fn spawn<S>(&self, client: Client, connection: Connection<Socket, S>) -> Client
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        tokio::spawn(connection);
        client
    }
}

/// Whether a failure may be due to TLS or to its absence: the handshake, or the server's rules on who may connect.
fn depends_on_tls(error: &tokio_postgres::Error) -> bool {
    use std::error::Error as _;
    let handshake = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let handshake = handshake.and_then(io::Error::get_ref);
    handshake.is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
        || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// What a URL says about TLS, and the URL without it.
struct TlsOptions {
    url: String,
    mode: Option<TlsMode>,
    root_cert: Option<String>,
}

impl TlsOptions {
    fn extract(url: &str) -> Result<Self, Fault> {
        let mut options = Self { url: url.to_owned(), mode: None, root_cert: None };
        // A password may hold a question mark.
        let authority = url.find('@').unwrap_or(0);
        let Some(query) = url.get(authority..).and_then(|rest| rest.find('?')) else {
            return Ok(options);
        };
        let Some((base, query)) = url.split_at_checked(authority + query) else {
            return Ok(options);
        };
        let mut others = Vec::new();
        for pair in query.trim_start_matches('?').split('&') {
            match pair.split_once('=') {
                Some(("sslmode", value)) => options.mode = Some(TlsMode::parse(&decode(value)?)?),
                Some(("sslrootcert", value)) => options.root_cert = Some(decode(value)?),
                _ => others.push(pair),
            }
        }
        options.url = match others.as_slice() {
            [] => base.to_owned(),
            others => format!("{base}?{}", others.join("&")),
        };
        Ok(options)
    }
}

fn decode(value: &str) -> Result<String, Fault> {
    let decoded = percent::decode(value).map_err(Fault::context("the database address"))?;
    Ok(decoded.into_owned())
}

fn system_roots() -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(Fault::new("the system has no trusted authorities: name a file in sslrootcert"));
    }
    Ok(roots)
}

fn roots_from_file(path: &Path) -> Result<RootCertStore, Fault> {
    let fault = |error: &dyn fmt::Display| Fault::new(format!("sslrootcert {}: {error}", path.display()));
    let found = rustls_native_certs::load_certs_from_paths(Some(path), None);
    if let Some(error) = found.errors.first() {
        return Err(fault(error));
    }
    let mut roots = RootCertStore::empty();
    for certificate in found.certs {
        roots.add(certificate).map_err(|error| fault(&error))?;
    }
    if roots.is_empty() {
        return Err(fault(&"no certificate"));
    }
    Ok(roots)
}

/// Checks a server's certificate as far as the mode asks for it.
#[derive(Debug)]
struct PostgresCertVerifier {
    roots: Option<Arc<RootCertStore>>,
    check_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for PostgresCertVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, self.algorithms.all)?;
            if self.check_name {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
