//! The URLs of hosts that a development server answers for.

use base::SiteLinks;

use crate::PublicOrigin;
use crate::site_links::ShortLinkSettings;

/// Empty in production.
#[derive(Debug, Default)]
pub struct EmulatedSites {
    sites: Vec<EmulatedSite>,
    /// A bit for each length of a host, since most requests are for another host.
    lengths: u128,
}

#[derive(Debug)]
struct EmulatedSite {
    host: &'static str,
    http: SiteLinks,
    https: SiteLinks,
}

impl EmulatedSites {
    /// Leaked once per server, which lives as long as the process.
    pub(crate) fn new(hosts: &[String], short_links: ShortLinkSettings<'_>) -> Self {
        let site = |host: &String| {
            let https = short_links.build_site(format!("https://{host}"));
            let http = short_links.build_site(format!("http://{host}"));
            EmulatedSite { host: https.url.trim_start_matches("https://"), http, https }
        };
        let sites: Vec<_> = hosts.iter().map(site).collect();
        let lengths = sites.iter().fold(0, |lengths, site| lengths | length_bit(site.host));
        Self { sites, lengths }
    }

    /// The site that a client used, if it is an emulated host on the standard port.
    pub(crate) fn find_site(&self, origin: PublicOrigin<'_>) -> Option<SiteLinks> {
        let host = origin.host.filter(|_| self.lengths != 0)?;
        let (standard_port, is_tls) = if origin.scheme == "https" { (":443", true) } else { (":80", false) };
        let host = host.strip_suffix(standard_port).unwrap_or(host);
        if self.lengths & length_bit(host) == 0 {
            return None;
        }
        let site = self.sites.iter().find(|site| site.host.eq_ignore_ascii_case(host))?;
        Some(if is_tls { site.https } else { site.http })
    }

    /// Whether the name is emulated, whatever the port.
    fn contains_name(&self, host: &str) -> bool {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        self.sites.iter().any(|site| site.host.eq_ignore_ascii_case(name))
    }

    /// Whether a page of `page_origin` belongs to the emulated host that the client of a request used.
    pub fn is_same_site(&self, page_origin: &str, request: PublicOrigin<'_>) -> bool {
        let used = page_origin.split_once("://").zip(request.host);
        used.is_some_and(|((scheme, page_host), host)| {
            scheme == request.scheme && page_host.eq_ignore_ascii_case(host) && self.contains_name(host)
        })
    }
}

/// Lengths of 127 and more share one.
fn length_bit(host: &str) -> u128 {
    1 << host.len().min(127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_pages_of_emulated_hosts_are_known() {
        let sites = EmulatedSites::new(&["x.com".to_owned()], ShortLinkSettings::new(None, None, None));
        let origin = |scheme, host| PublicOrigin { scheme, host: Some(host) };
        for (used, url) in [
            (origin("https", "x.com"), Some("https://x.com")),
            (origin("https", "X.com:443"), Some("https://x.com")),
            (origin("http", "x.com"), Some("http://x.com")),
            (origin("https", "x.com:80"), None),
            (origin("https", "ax.com"), None),
            (PublicOrigin { scheme: "https", host: None }, None),
        ] {
            assert_eq!(sites.find_site(used).map(|site| site.url), url, "{used:?}");
        }
        assert!(sites.is_same_site("https://x.com:8443", origin("https", "x.com:8443")));
        for (page, used) in [
            ("https://x.com", origin("http", "x.com")),
            ("https://x.com", origin("https", "127.0.0.1:8080")),
            ("https://evil.example", origin("https", "evil.example")),
            ("https://evil.example", origin("https", "x.com")),
            ("null", origin("https", "x.com")),
        ] {
            assert!(!sites.is_same_site(page, used), "{page} {used:?}");
        }
    }
}
