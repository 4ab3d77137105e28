//! Where a user may be sent after a consent page: only to addresses that the app has registered.

use base::percent::encode;
use store::apps::App;

use crate::apps::validate_callback_urls;

/// Longer addresses are none that an app has registered.
const MAX_URL_LENGTH: usize = 2000;
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Whether a registered loopback address stands for all its ports (RFC 8252 §7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopbackPorts {
    /// The registered port only.
    #[default]
    Exact,
    /// Any port of `http` on a loopback host. For development.
    AnyOnLoopback,
}

/// The parts of an address that matter.
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
        let known = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let is_whole = !host.contains('@') && (known.is_none() || !host.is_empty());
        is_whole.then(|| Self {
            scheme,
            host: host.to_ascii_lowercase(),
            port: port.or(known),
            path,
            query,
        })
    }

    /// Same scheme, host, port and path.
    fn matches_location(&self, other: &Self, ports: LoopbackPorts) -> bool {
        let free_port =
            ports == LoopbackPorts::AnyOnLoopback && self.scheme == "http" && LOOPBACK.contains(&self.host.as_str());
        self.scheme == other.scheme
            && self.host == other.host
            && self.path == other.path
            && (self.port == other.port || free_port)
    }

    /// Whether the query of `asked` is this one's, with or without more behind it.
    fn has_query_prefix(&self, asked: &Self) -> bool {
        let Some(own) = self.query else { return true };
        let rest = asked.query.and_then(|query| query.strip_prefix(own));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('&'))
    }
}

fn parse_port(port: &str) -> Option<u16> {
    let plain = port.bytes().all(|byte| byte.is_ascii_digit());
    if plain { port.parse().ok() } else { None }
}

/// Whether an address can stand in a redirect at all, whoever registered it.
fn is_valid_redirect(url: &str) -> bool {
    url.len() <= MAX_URL_LENGTH
        && url
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"#\\".contains(&byte))
        && validate_callback_urls(&[url.to_owned()]).is_ok()
}

/// Why no app could have registered this address, as a sentence.
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
        base::Refusal::InvalidParameters(wrong) => wrong.into_iter().next().map(|wrong| wrong.message + "."),
        _ => None,
    }
}

/// Whether the app has registered any address.
pub(crate) fn has_callback_urls(app: &App) -> bool {
    app.callback_urls.lines().any(|url| !url.is_empty())
}

/// OAuth 1.0a: scheme, host, port and path as registered; a query of its own is allowed.
pub(crate) fn matches_oauth1(app: &App, url: &str, ports: LoopbackPorts) -> bool {
    let Some(asked) = CallbackAddress::parse(url).filter(|_| is_valid_redirect(url)) else {
        return false;
    };
    let mut registered = app.callback_urls.lines().filter_map(CallbackAddress::parse);
    registered.any(|known| known.matches_location(&asked, ports) && known.has_query_prefix(&asked))
}

/// OAuth 2.0: byte for byte as registered, but for the port of a loopback address where any does.
pub(crate) fn matches_oauth2(app: &App, url: &str, ports: LoopbackPorts) -> bool {
    if !is_valid_redirect(url) {
        return false;
    }
    if app.callback_urls.lines().any(|known| known == url) {
        return true;
    }
    let Some(asked) = strip_loopback_port(url).filter(|_| ports == LoopbackPorts::AnyOnLoopback) else {
        return false;
    };
    app.callback_urls
        .lines()
        .any(|known| strip_loopback_port(known) == Some(asked))
}

/// What stands after the port of a loopback address, with its host; none for any other.
fn strip_loopback_port(url: &str) -> Option<(&'static str, &str)> {
    let rest = url.strip_prefix("http://")?;
    let found = LOOPBACK.iter().find_map(|host| Some((*host, rest.strip_prefix(host)?)));
    let (host, rest) = found?;
    let behind = match rest.strip_prefix(':') {
        Some(port) => port.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let ends = behind.is_empty() || behind.starts_with(['/', '?']);
    ends.then_some((host, behind))
}

/// An address with more in its query, behind what it has.
pub(crate) fn append_query(url: &str, pairs: &[(&str, &str)]) -> String {
    let mut whole = url.to_owned();
    for (name, value) in pairs {
        if !whole.contains('?') {
            whole.push('?');
        } else if !whole.ends_with(['?', '&']) {
            whole.push('&');
        }
        whole.push_str(name);
        whole.push('=');
        whole.push_str(&encode(value));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::append_query;

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
