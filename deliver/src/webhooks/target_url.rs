//! Webhook URLs as apps specify them.

use http::Uri;
use url::{Host, Url};

use super::allowed_targets::AllowedTargets;

/// What is wrong with a URL, as a sentence.
pub type UrlProblem = &'static str;

/// In characters (contract core §10.1).
const MAX_URL_CHARS: usize = 200;
/// Names that are never public.
const LOCAL_NAMES: [&str; 4] = ["localhost", "local", "internal", "intranet"];

/// A valid webhook URL.
#[derive(Clone, Debug)]
pub struct TargetUrl {
    url: Url,
}

impl TargetUrl {
    /// Parses a URL. Its addresses are checked when connecting.
    pub fn parse(text: &str, targets: &AllowedTargets) -> Result<Self, UrlProblem> {
        if text.chars().count() > MAX_URL_CHARS {
            return Err("The URL has more than 200 characters.");
        }
        if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return Err("The URL contains spaces.");
        }
        let url = Url::parse(text).map_err(|_| "This is not a valid URL.")?;
        match url.scheme() {
            "https" => {}
            "http" if targets.allow_http => {}
            _ => return Err("The URL must begin with https://."),
        }
        if !url.username().is_empty() || url.password().is_some() || text.contains('@') {
            return Err("The URL must not contain a user name or a password.");
        }
        if url.fragment().is_some() {
            return Err("The URL must not contain a fragment.");
        }
        if text.contains('\\') {
            return Err("This is not a valid URL.");
        }
        // The parser takes any number of slashes, after which `has_port` would look in the wrong place.
        let authority = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
        let authority = authority.filter(|rest| !rest.starts_with('/')).ok_or("This is not a valid URL.")?;
        if !targets.allow_http && has_port(authority) {
            return Err("The URL must not contain a port.");
        }
        check_host(&url, text, targets)?;
        Ok(Self { url })
    }

    pub fn to_uri(&self) -> Option<Uri> {
        self.url.as_str().parse().ok()
    }

    /// The URL with a challenge appended to its query.
    pub fn challenge_uri(&self, token: &str, nonce: &str) -> Option<Uri> {
        let mut url = self.url.clone();
        let mut query = url.query_pairs_mut();
        query.append_pair("crc_token", token);
        query.append_pair("nonce", nonce);
        drop(query);
        url.as_str().parse().ok()
    }
}

/// Whether a port is written explicitly, even the default one.
fn has_port(after_scheme: &str) -> bool {
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, after_host)| after_host);
    after_host.contains(':')
}

fn check_host(url: &Url, text: &str, targets: &AllowedTargets) -> Result<(), UrlProblem> {
    const NOT_PUBLIC: UrlProblem = "The URL's host is not publicly reachable.";
    let address = match url.host() {
        None => return Err("The URL has no host."),
        Some(Host::Ipv4(address)) => {
            // Other notations of an IPv4 address are meant to deceive.
            if !text.contains(&format!("//{address}")) {
                return Err(NOT_PUBLIC);
            }
            Some(address.into())
        }
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let last = name.rsplit('.').next().unwrap_or_default();
            let local = !name.contains('.') || LOCAL_NAMES.contains(&last);
            if local && targets.private_blocks.is_empty() {
                return Err(NOT_PUBLIC);
            }
            None
        }
    };
    match address {
        Some(address) if !targets.is_allowed(address) => Err(NOT_PUBLIC),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::allowed_targets::{AddressBlock, AllowedTargets};
    use super::TargetUrl;

    #[test]
    fn addresses_of_receivers() {
        let strict = AllowedTargets::default();
        let development = AllowedTargets { allow_http: true, private_blocks: AddressBlock::ALL.to_vec() };
        let long = format!("https://example.org/{}", "a".repeat(181));
        // URL, allowed in production, allowed in development
        let table = [
            ("https://example.org/hook", true, true),
            ("https://example.org/hook?a=b&c", true, true),
            ("https://93.184.216.34/", true, true),
            ("https://bücher.example/", true, true),
            ("http://example.org/", false, true),
            ("https://example.org:443/", false, true),
            ("https://example.org:8443/", false, true),
            ("https:///example.org:8443/x", false, false),
            ("https:/example.org:22/", false, false),
            ("https:example.org:8443/", false, false),
            ("https:example.org/", false, false),
            ("http://127.0.0.1:5000/hook", false, true),
            ("http://localhost:5000/hook", false, true),
            ("https://localhost/", false, true),
            ("https://intranet/", false, true),
            ("https://db.internal/", false, true),
            ("https://printer.local./", false, true),
            ("https://10.0.0.1/", false, true),
            ("https://[::1]/", false, true),
            ("https://[::ffff:10.0.0.1]/", false, true),
            ("https://2130706433/", false, false),
            ("https://0x7f000001/", false, false),
            ("https://0177.0.0.1/", false, false),
            ("https://127.1/", false, false),
            ("https://169.254.169.254/latest/meta-data", false, false),
            ("https://[fd00:ec2::254]/", false, false),
            ("https://[::ffff:169.254.169.254]/", false, false),
            ("https://0.0.0.0/", false, false),
            ("https://ada:secret@example.org/", false, false),
            ("https://example.org@127.0.0.1/", false, false),
            ("https://ada@example.org/", false, false),
            ("https://@example.org/", false, false),
            ("https://example.org/#a", false, false),
            ("https:\\\\example.org", false, false),
            ("https://exam ple.org/", false, false),
            ("https://example.org/\r\nhost: a", false, false),
            ("https://", false, false),
            ("ftp://example.org/", false, false),
            ("file:///etc/passwd", false, false),
            ("javascript:alert(1)", false, false),
            ("example.org/hook", false, false),
            ("", false, false),
            (long.as_str(), false, false),
        ];
        for (text, real, in_development) in table {
            let read = TargetUrl::parse(text, &strict);
            assert_eq!(read.is_ok(), real, "{text}: {read:?}");
            let read = TargetUrl::parse(text, &development);
            assert_eq!(read.is_ok(), in_development, "{text}: {read:?}");
        }
    }

    #[test]
    fn a_challenge_leaves_the_query_as_it_is() {
        let target = TargetUrl::parse("https://example.org/a?b=c%20d&e", &AllowedTargets::default()).unwrap();
        let challenged = target.challenge_uri("t+/=", "n").unwrap();
        let expected = "https://example.org/a?b=c%20d&e&crc_token=t%2B%2F%3D&nonce=n";
        assert_eq!(challenged.to_string(), expected);
    }
}
