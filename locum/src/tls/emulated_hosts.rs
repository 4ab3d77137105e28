//! The hosts that a development server answers for, over TLS and as a proxy.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use base::Fault;
use edge::{ProxyDecision, ProxyPolicy, TlsConfigSource};
use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::local_authority::{LOCAL_SANDBOX, LOCALHOST, LocalAuthority};
use super::server_config;
use instance::ListeningAddresses;
use instance::config::ServerSettings;

#[derive(Debug)]
pub(super) struct EmulatedHosts {
    hosts: Vec<String>,
    pass_through: Vec<String>,
    port: u16,
    /// Of the base URL.
    own_authority: String,
    config: Arc<ServerConfig>,
}

impl EmulatedHosts {
    pub(super) fn new(
        authority: LocalAuthority,
        settings: &ServerSettings,
        listening: &ListeningAddresses,
    ) -> Result<Self, Fault> {
        let hosts = settings.emulated_hosts();
        let certificates = IssuedCertificates { authority, hosts: hosts.clone(), issued: Mutex::default() };
        let own = listening.base_url.split_once("://").map_or("", |(_, authority)| authority);
        Ok(Self {
            hosts,
            pass_through: settings.passed_hosts(),
            port: listening.addr.port(),
            own_authority: own.to_ascii_lowercase(),
            config: server_config(Arc::new(certificates))?,
        })
    }

    /// The listener itself, by one of its names.
    fn is_own_address(&self, host: &str, port: Option<u16>) -> bool {
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        let is_local = matches!(host, LOCALHOST | LOCAL_SANDBOX) || address.is_ok_and(|address| address.is_loopback());
        let port_or_default = port.unwrap_or(80);
        let is_base = self.own_authority == format!("{host}:{port_or_default}")
            || self.own_authority == host && matches!(port_or_default, 80 | 443);
        is_base || is_local && port_or_default == self.port
    }
}

impl TlsConfigSource for EmulatedHosts {
    /// Clients send no name if they address the server by its IP address.
    fn tls_config(&self, server_name: Option<&str>) -> Option<Arc<ServerConfig>> {
        let is_known = match server_name {
            None | Some(LOCALHOST | LOCAL_SANDBOX) => true,
            Some(name) => self.hosts.iter().any(|host| host == name),
        };
        is_known.then(|| Arc::clone(&self.config))
    }
}

impl ProxyPolicy for EmulatedHosts {
    fn decide(&self, host: &str, port: Option<u16>) -> ProxyDecision {
        if self.hosts.iter().any(|known| known == host) || self.is_own_address(host, port) {
            return ProxyDecision::Serve;
        }
        if self.pass_through.iter().any(|known| known == host) {
            return ProxyDecision::PassThrough;
        }
        tracing::debug!(host, "refused to reach a host that is not emulated");
        ProxyDecision::Refuse(format!(
            "{host} is not an emulated host, and nothing was sent to it.\n\
             To let clients reach it with CONNECT, allow it: locum dev --set emulate.pass_through={host}\n\
             To answer for it, add it to emulate.hosts.\n"
        ))
    }
}

/// One certificate for each host, issued when a client first asks for it.
struct IssuedCertificates {
    authority: LocalAuthority,
    hosts: Vec<String>,
    issued: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl IssuedCertificates {
    fn find_or_issue(&self, name: &str) -> Result<Arc<CertifiedKey>, Fault> {
        let host = self.hosts.iter().find(|host| host.eq_ignore_ascii_case(name)).map_or(LOCALHOST, String::as_str);
        let mut issued = self.issued.lock();
        if let Some(certificate) = issued.get(host) {
            return Ok(Arc::clone(certificate));
        }
        let certificate = self.authority.issue(host)?;
        issued.insert(host.to_owned(), Arc::clone(&certificate));
        Ok(certificate)
    }
}

impl ResolvesServerCert for IssuedCertificates {
    fn resolve(&self, client_hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let found = self.find_or_issue(client_hello.server_name().unwrap_or(LOCALHOST));
        found.inspect_err(|fault| tracing::error!(error = %fault, "failed to issue a certificate")).ok()
    }
}

impl fmt::Debug for IssuedCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedCertificates").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
