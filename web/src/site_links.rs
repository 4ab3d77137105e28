//! Where responses link to: the public site, or the emulated host that a client used.

use base::SiteLinks;
use base::short_links::ShortLinkCodec;

use crate::PublicOrigin;
use crate::pipeline::ServerConfig;

/// The path of short links that have no host of their own.
const SHORT_LINK_PATH: &str = "/t/";

/// What the links of all sites of a server have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortLinkSettings<'a> {
    host: Option<&'a str>,
    codec: Option<&'static ShortLinkCodec>,
}

impl<'a> ShortLinkSettings<'a> {
    /// Leaks the key once per server, which lives as long as the process.
    pub(crate) fn new(config: &'a ServerConfig) -> Self {
        let codec = config.short_link_key.as_ref().map(|key| &*Box::leak(Box::new(ShortLinkCodec::new(key))));
        Self { host: config.short_link_host.as_deref(), codec }
    }

    /// The links of a site, leaked once per server.
    pub(crate) fn build_site(self, url: String) -> SiteLinks {
        let prefix = match self.host {
            None => format!("{url}{SHORT_LINK_PATH}"),
            Some(host) => format!("{}/", replace_host(&url, host)),
        };
        SiteLinks { url: String::leak(url), short_link_prefix: String::leak(prefix), codec: self.codec }
    }
}

/// A base URL with another host and the same scheme and port.
fn replace_host(url: &str, host: &str) -> String {
    let (scheme, authority) = url.split_once("://").unwrap_or(("http", url));
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    match port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

/// The path by which a request is routed. Requests to the host of short links reach nothing else.
pub(crate) fn short_link_path(host: &str, origin: PublicOrigin<'_>, path: &str) -> Option<String> {
    let used = origin.host?;
    let name = used.rsplit_once(':').map_or(used, |(name, _)| name);
    name.eq_ignore_ascii_case(host).then(|| [SHORT_LINK_PATH.trim_end_matches('/'), path].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_short_links_keeps_scheme_and_port() {
        for (url, prefix) in [
            ("https://social.example", "https://s.example/"),
            ("http://127.0.0.1:8080", "http://s.example:8080/"),
            ("http://[::1]", "http://s.example/"),
        ] {
            let settings = ShortLinkSettings { host: Some("s.example"), codec: None };
            assert_eq!(settings.build_site(url.to_owned()).short_link_prefix, prefix, "{url}");
        }
        let settings = ShortLinkSettings { host: None, codec: None };
        let site = settings.build_site("https://social.example".to_owned());
        assert_eq!(site.short_link_prefix, "https://social.example/t/");
    }

    #[test]
    fn every_path_of_the_host_is_that_of_a_short_link() {
        let used = |host| PublicOrigin { scheme: "https", host: Some(host) };
        let path = |host, path| short_link_path("s.example", used(host), path);
        assert_eq!(path("S.example:443", "/abc").as_deref(), Some("/t/abc"));
        assert_eq!(path("s.example", "/2/posts").as_deref(), Some("/t/2/posts"));
        assert_eq!(path("social.example", "/abc"), None);
    }
}
