//! Links that wait to be fetched, at most one of each host at a time.

use std::collections::{HashSet, VecDeque};

use url::Url;

/// More are dropped.
const MAX_WAITING: usize = 1_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueuedLink {
    pub(super) url: String,
    pub(super) host: String,
}

#[derive(Debug, Default)]
pub(super) struct FetchQueue {
    waiting: VecDeque<QueuedLink>,
    busy_hosts: HashSet<String>,
}

/// In lower case, without a port.
pub(super) fn host(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.host_str()?.to_owned())
}

impl FetchQueue {
    /// Links that wait already are left out.
    pub(super) fn extend(&mut self, urls: Vec<String>) {
        for url in urls {
            let Some(host) = host(&url) else { continue };
            if self.waiting.len() >= MAX_WAITING {
                tracing::debug!(host, "dropped a link: too many wait to be fetched");
            } else if self.waiting.iter().all(|link| link.url != url) {
                self.waiting.push_back(QueuedLink { url, host });
            }
        }
    }

    /// The oldest link whose host is idle.
    pub(super) fn start_next(&mut self) -> Option<QueuedLink> {
        let place = self.waiting.iter().position(|link| !self.busy_hosts.contains(&link.host))?;
        let link = self.waiting.remove(place)?;
        self.busy_hosts.insert(link.host.clone());
        Some(link)
    }

    pub(super) fn finish(&mut self, host: &str) {
        self.busy_hosts.remove(host);
    }
}

#[cfg(test)]
mod tests {
    use super::{FetchQueue, MAX_WAITING};

    #[test]
    fn each_host_is_asked_for_one_page_at_a_time() {
        let mut queue = FetchQueue::default();
        let urls =
            ["https://a.example/1", "https://A.example/2", "https://b.example/1", "https://a.example/1", "nothing"];
        queue.extend(urls.map(str::to_owned).to_vec());
        let next = |queue: &mut FetchQueue| queue.start_next().map(|link| link.url);
        assert_eq!(next(&mut queue).as_deref(), Some("https://a.example/1"));
        assert_eq!(next(&mut queue).as_deref(), Some("https://b.example/1"));
        assert_eq!(next(&mut queue), None);
        queue.finish("a.example");
        assert_eq!(next(&mut queue).as_deref(), Some("https://A.example/2"));
        queue.extend((0..2 * MAX_WAITING).map(|number| format!("https://c.example/{number}")).collect());
        assert_eq!(queue.waiting.len(), MAX_WAITING);
    }
}
