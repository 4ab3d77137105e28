//! Where responses link to: the public site, or the emulated host that a client used.

use base::SiteLinks;
use base::short_links::ShortLinkCodec;

use crate::PublicOrigin;

/// Where a further world of a development server is found by requests without credentials.
#[derive(Clone, Debug)]
pub struct WorldAddress {
    /// The base URL of the main world, without a trailing slash.
    pub main_url: String,
    /// What precedes the paths of the world on every host of the server.
    pub path: String,
}

/// The path of short links that have no host of their own.
const SHORT_LINK_PATH: &str = "/t/";

/// What the links of all sites of a server have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortLinkSettings<'a> {
    host: Option<&'a str>,
    codec: Option<&'static ShortLinkCodec>,
    world: Option<&'a WorldAddress>,
}

impl<'a> ShortLinkSettings<'a> {
    /// Leaks the key once per server, which lives as long as the process.
    pub(crate) fn new(host: Option<&'a str>, key: Option<&[u8; 32]>, world: Option<&'a WorldAddress>) -> Self {
        let codec = key.map(|key| &*Box::leak(Box::new(ShortLinkCodec::new(key))));
        Self { host, codec, world }
    }

    /// The links of the server's own site, leaked once per server. The host of a further world's own URL is not
    /// resolved everywhere.
    pub(crate) fn build_own_site(self, url: String) -> SiteLinks {
        let host_url = self.world.map_or_else(|| url.clone(), |world| world.main_url.clone());
        self.build_site_with_files(url, &host_url)
    }

    /// The links of an emulated site, leaked once per server.
    pub(crate) fn build_site(self, url: String) -> SiteLinks {
        let host_url = url.clone();
        self.build_site_with_files(url, &host_url)
    }

    fn build_site_with_files(self, url: String, host_url: &str) -> SiteLinks {
        let path = self.world.map_or("", |world| world.path.as_str());
        let files_url = format!("{host_url}{path}");
        let prefix = match self.host {
            None => format!("{files_url}{SHORT_LINK_PATH}"),
            Some(host) => format!("{}{path}/", replace_host(host_url, host)),
        };
        SiteLinks {
            url: String::leak(url),
            files_url: String::leak(files_url),
            short_link_prefix: String::leak(prefix),
            codec: self.codec,
        }
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
            let settings = ShortLinkSettings { host: Some("s.example"), codec: None, world: None };
            assert_eq!(settings.build_site(url.to_owned()).short_link_prefix, prefix, "{url}");
        }
        let settings = ShortLinkSettings { host: None, codec: None, world: None };
        let site = settings.build_site("https://social.example".to_owned());
        assert_eq!(site.short_link_prefix, "https://social.example/t/");
    }

    #[test]
    fn files_and_short_links_of_a_further_world_name_it_in_their_path() {
        let world = WorldAddress { main_url: "http://127.0.0.1:8080".to_owned(), path: "/i/worlds/t1".to_owned() };
        let settings = ShortLinkSettings { host: None, codec: None, world: Some(&world) };
        let own = settings.build_own_site("http://t1.localhost:8080".to_owned());
        assert_eq!((own.url, own.files_url), ("http://t1.localhost:8080", "http://127.0.0.1:8080/i/worlds/t1"));
        assert_eq!(own.short_link_prefix, "http://127.0.0.1:8080/i/worlds/t1/t/");
        let emulated = settings.build_site("https://social.example".to_owned());
        assert_eq!(
            (emulated.url, emulated.files_url),
            ("https://social.example", "https://social.example/i/worlds/t1")
        );
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
