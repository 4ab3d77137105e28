//! Checks redirect URLs against those registered by the app.

use base::Refusal;
use base::percent::encode;
use store::apps::App;

/// Longer URLs cannot be registered.
const MAX_URL_LENGTH: usize = 2000;
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// How a registered loopback URL is matched (RFC 8252 §7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopbackPorts {
    #[default]
    Exact,
    /// Any port of `http` on any loopback host, for development.
    AnyOnLoopback,
}

/// The parts of a URL that are compared.
#[derive(PartialEq, Eq)]
struct CallbackAddress<'u> {
    scheme: String,
    host: String,
    port: Option<u16>,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> CallbackAddress<'u> {
    fn parse(url: &'u str) -> Option<Self> {
        let (before, query) = match url.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (url, None),
        };
        let (scheme, rest) = before.split_once(':')?;
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at_checked(rest.find('/').unwrap_or(rest.len()))?,
            None => ("", rest),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(parse_port(port)?)),
            _ => (authority, None),
        };
        let scheme = scheme.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let is_valid = !host.contains('@') && (default_port.is_none() || !host.is_empty());
        is_valid.then(|| Self { scheme, host: host.to_ascii_lowercase(), port: port.or(default_port), path, query })
    }

    fn matches_location(&self, other: &Self, ports: LoopbackPorts) -> bool {
        let free_port =
            ports == LoopbackPorts::AnyOnLoopback && self.scheme == "http" && LOOPBACK.contains(&self.host.as_str());
        let is_same_host =
            self.host == other.host && self.port == other.port || free_port && LOOPBACK.contains(&other.host.as_str());
        self.scheme == other.scheme && is_same_host && self.path == other.path
    }

    /// Whether the query of `requested` starts with this one's.
    fn has_query_prefix(&self, requested: &Self) -> bool {
        let Some(own) = self.query else { return true };
        let rest = requested.query.and_then(|query| query.strip_prefix(own));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('&'))
    }
}

fn parse_port(port: &str) -> Option<u16> {
    let is_numeric = port.bytes().all(|byte| byte.is_ascii_digit());
    if is_numeric { port.parse().ok() } else { None }
}

/// Whether a URL may be used in a redirect, whether registered or not.
fn is_valid_redirect(url: &str) -> bool {
    validate_callback_urls(&[url.to_owned()]).is_ok()
}

/// Why no app can register this URL, as a sentence.
pub(crate) fn unregistrable_reason(url: &str) -> Option<String> {
    if url.len() > MAX_URL_LENGTH {
        return Some(format!("An address has at most {MAX_URL_LENGTH} characters."));
    }
    if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("An address has only visible ASCII characters.".to_owned());
    }
    if url.contains(['#', '\\']) {
        return Some("An address has no fragment and no backslash.".to_owned());
    }
    let refused = validate_callback_urls(&[url.to_owned()]).err()?;
    match refused {
        Refusal::InvalidParameters(invalid) => invalid.into_iter().next().map(|invalid| invalid.message + "."),
        _ => None,
    }
}

pub(crate) fn has_callback_urls(app: &App) -> bool {
    app.callback_urls.lines().any(|url| !url.is_empty())
}

/// OAuth 1.0a: compares scheme, host, port and path; further query parameters are allowed.
pub(crate) fn matches_oauth1(app: &App, url: &str, ports: LoopbackPorts) -> bool {
    let Some(requested) = CallbackAddress::parse(url).filter(|_| is_valid_redirect(url)) else {
        return false;
    };
    let mut all = app.callback_urls.lines().filter_map(CallbackAddress::parse);
    all.any(|registered| registered.matches_location(&requested, ports) && registered.has_query_prefix(&requested))
}

/// OAuth 2.0: compares all bytes, except host and port of a loopback URL if any port is allowed.
pub(crate) fn matches_oauth2(app: &App, url: &str, ports: LoopbackPorts) -> bool {
    if !is_valid_redirect(url) {
        return false;
    }
    if app.callback_urls.lines().any(|registered| registered == url) {
        return true;
    }
    let Some(requested) = strip_loopback_origin(url).filter(|_| ports == LoopbackPorts::AnyOnLoopback) else {
        return false;
    };
    app.callback_urls.lines().any(|registered| strip_loopback_origin(registered) == Some(requested))
}

/// What follows host and port of a loopback URL; none for other URLs.
fn strip_loopback_origin(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("http://")?;
    let rest = LOOPBACK.iter().find_map(|host| rest.strip_prefix(host))?;
    let after_port = match rest.strip_prefix(':') {
        Some(port) => port.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let is_complete = after_port.is_empty() || after_port.starts_with(['/', '?']);
    is_complete.then_some(after_port)
}

pub(crate) fn append_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let mut result = url.to_owned();
    for (name, value) in pairs {
        if !result.contains('?') {
            result.push('?');
        } else if !result.ends_with(['?', '&']) {
            result.push('&');
        }
        result.push_str(name);
        result.push('=');
        result.push_str(&encode(value));
    }
    result
}

/// Schemes that no callback may have (contract core §2.1).
const FORBIDDEN_SCHEMES: &str = "vbscript javascript vbs data mocha keyword livescript ftp file \
    gopher acrobat callto daap itpc itms firefoxurl hcp ldap mailto mmst mmsu msbd rtsp \
    mso-offdap snews news nntp outlook stssync rlogin telnet tn3270 shell sip";

/// Further schemes that browsers treat as pages of their own, or of another address.
const BROWSER_SCHEMES: &str = "about blob chrome chrome-extension filesystem jar moz-extension resource view-source";

pub(crate) fn validate_callback_urls(urls: &[String]) -> Result<(), Refusal> {
    if urls.len() > 10 {
        let message = "An app has at most 10 callback URLs";
        return Err(Refusal::invalid_parameter("callback_urls", urls.len(), message));
    }
    let has_allowed_scheme = |url: &str| {
        url.split_once(':').is_some_and(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            let is_valid = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
            let mut forbidden = FORBIDDEN_SCHEMES.split_whitespace().chain(BROWSER_SCHEMES.split_whitespace());
            is_valid && !rest.is_empty() && !forbidden.any(|bad| bad == scheme)
        })
    };
    // Browsers read a backslash as a slash; a redirect URL has no fragment (RFC 6749 §3.1.2).
    let has_allowed_bytes = |url: &str| url.bytes().all(|byte| byte.is_ascii_graphic() && !b"#\\".contains(&byte));
    let bad = urls.iter().find(|url| {
        url.len() > MAX_URL_LENGTH
            || !has_allowed_bytes(url)
            || !has_allowed_scheme(url)
            || CallbackAddress::parse(url).is_none()
    });
    bad.map_or(Ok(()), |url| {
        let message = format!("The callback URL [{url}] is not allowed");
        Err(Refusal::invalid_parameter("callback_urls", url, message))
    })
}

#[cfg(test)]
mod tests {
    use super::{append_query, validate_callback_urls};

    #[test]
    fn callback_urls_that_mislead_are_refused() {
        let is_allowed = |url: &str| validate_callback_urls(&[url.to_owned()]).is_ok();
        for url in ["https://a.example/cb", "http://127.0.0.1:65535/cb?x=1", "http://[::1]:8080", "app:cb", "app://cb"]
        {
            assert!(is_allowed(url), "{url}");
        }
        for url in [
            "https://bank.example@evil.example/cb",
            "https:///cb",
            "https:cb",
            "https://:8080/cb",
            "https://a.example:65536/cb",
            "https://a.example:x/cb",
            "view-source:https://a.example/cb",
            "BLOB:https://a.example/cb",
            "javascript:alert(1)",
            "https://a.example/cb#top",
            "https://a.example\\@evil.example/cb",
            "https://a.example/c b",
            "https://bücher.example/cb",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
    }

    #[test]
    fn a_query_is_kept() {
        let more: &[(&str, &str)] = &[("a", "1 2"), ("b", "&")];
        for (url, wanted) in [
            ("https://a/cb", "https://a/cb?a=1%202&b=%26"),
            ("https://a/cb?", "https://a/cb?a=1%202&b=%26"),
            ("https://a/cb?x=1", "https://a/cb?x=1&a=1%202&b=%26"),
            ("app://cb?x=1&", "app://cb?x=1&a=1%202&b=%26"),
            ("app:cb", "app:cb?a=1%202&b=%26"),
        ] {
            assert_eq!(append_query(url, more), wanted);
        }
    }
}
