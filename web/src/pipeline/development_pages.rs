//! What the pipeline does for the pages of a development server: it keeps foreign web sites from reading them, and
//! records which clients have called the API.

use base::Refusal;
use edge::find_rare_header;
use emulator::clients::CredentialsKind;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, USER_AGENT};

use super::{PublicOrigin, RequestTrace, ServerState};
use crate::endpoint::{Endpoint, ErrorFormat};
use crate::page_context::SITE_LINKS;
use crate::request_context::RequestHead;

const X_USER_AGENT: HeaderName = HeaderName::from_static("x-user-agent");

impl ServerState {
    /// Against DNS rebinding: a foreign page whose host name resolves to this machine could read what visitors of the
    /// console may read without signing in.
    pub(super) fn refuse_foreign_host(&self, endpoint: &Endpoint, head: &RequestHead) -> Result<(), Refusal> {
        if endpoint.error_format != ErrorFormat::Page || !is_development_page(head.route_path()) {
            return Ok(());
        }
        let origin = head.public_origin();
        if self.is_known_host(origin) {
            return Ok(());
        }
        let host = origin.host.unwrap_or_default();
        let message = format!(
            "The console does not answer for the host [{host}]; use localhost, an IP address, or the host of core.base_url."
        );
        Err(Refusal::forbidden(message))
    }

    fn is_known_host(&self, origin: PublicOrigin<'_>) -> bool {
        let Some(name) = origin.host.map(host_name) else {
            return false;
        };
        let config = &self.config;
        let own = std::iter::once(&config.base_url).chain(&config.origins).chain(&config.emulated_hosts);
        let is_address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok();
        is_address || is_localhost(name) || own.map(|url| host_name(url)).any(|known| known.eq_ignore_ascii_case(name))
    }

    /// On a development server with a journal.
    pub(super) fn record_client(&self, head: &RequestHead, trace: &RequestTrace, status: u16) {
        let emulator = self.config.emulator.as_ref().filter(|emulator| emulator.journal.is_enabled());
        let Some(emulator) = emulator else {
            return;
        };
        if head.is_control || trace.is_health || trace.error_format == ErrorFormat::Page {
            return;
        }
        let headers = &head.headers;
        let agents = (header_text(headers.get(USER_AGENT)), header_text(find_rare_header(headers, &X_USER_AGENT)));
        let authorization = headers.get(AUTHORIZATION).map_or(&[][..], HeaderValue::as_bytes);
        let kind = CredentialsKind::from_header(authorization, trace.user.is_some());
        emulator.clients.record(agents, kind, status, self.app_state.store.context().clock.now());
    }
}

fn header_text(value: Option<&HeaderValue>) -> &str {
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn is_development_page(path: &str) -> bool {
    [SITE_LINKS.console, SITE_LINKS.mailbox]
        .into_iter()
        .any(|prefix| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Without scheme and port.
fn host_name(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, authority)| authority);
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Browsers resolve `localhost` and its subdomains to loopback, whatever a name server says.
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_console_are_known_by_their_path() {
        for path in ["/console", "/console/people/ada", "/mailbox", "/mailbox/1"] {
            assert!(is_development_page(path), "{path}");
        }
        for path in ["/", "/consoles", "/2/users/me", "/login"] {
            assert!(!is_development_page(path), "{path}");
        }
    }

    #[test]
    fn a_name_that_ends_like_localhost_is_foreign() {
        for name in ["localhost", "LOCALHOST", "test-1.localhost", "localhost."] {
            assert!(is_localhost(name), "{name}");
        }
        for name in ["evil.example", "notlocalhost", "localhost.evil.example", ""] {
            assert!(!is_localhost(name), "{name}");
        }
    }

    #[test]
    fn host_names_have_no_scheme_and_no_port() {
        for (url, name) in [
            ("http://127.0.0.1:8080", "127.0.0.1"),
            ("api.x.com", "api.x.com"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("https://locum.example", "locum.example"),
        ] {
            assert_eq!(host_name(url), name);
        }
    }
}
