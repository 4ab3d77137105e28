//! Fetches the pages behind the links of new posts, and stores what they say about themselves.
//!
//! One node at a time does this. Links wait in memory: those of a process that ends are not fetched, until another post
//! has them.

mod fetch_queue;
mod page_client;
mod page_metadata;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::monotonic_now;
use base::{Error, Fault, PostId};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use network::link_facts::{self, LinkDescription};
use store::{Store, Tx, event_log, task_leases};

use self::fetch_queue::{FetchQueue, QueuedLink};
pub use self::page_client::{FetchFailure, PageClient};
use crate::webhooks::WebhookSettings;

const TASK: &str = "link_fetches";
/// Pages that are fetched at once, each from another host.
const MAX_CONCURRENT_FETCHES: usize = 8;
const POSTS_PER_READ: i64 = 200;
/// Delay that collects consecutive posts.
const COALESCE_DELAY: Duration = Duration::from_millis(100);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);
/// How often a node checks that the task is its own.
const LEASE_INTERVAL: Duration = Duration::from_secs(5);
/// A page that did not answer is tried again after this time.
const FAILURE_AGE_MS: i64 = 3600 * 1000;

#[derive(Clone, Debug)]
pub struct LinkFetchSettings {
    /// The age from which a page is fetched again when another post links to it.
    pub max_age_ms: i64,
    /// Hosts of this server, which are not fetched.
    pub own_hosts: Vec<String>,
}

#[derive(Clone)]
pub struct LinkFetcher {
    store: Arc<Store>,
    client: PageClient,
    settings: LinkFetchSettings,
}

impl fmt::Debug for LinkFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkFetcher").field(&self.settings).finish()
    }
}

/// What was read of the log.
#[derive(Debug, Default)]
struct LogPosition {
    /// None while another node has the task.
    cursor: Option<i64>,
    lease_checked_at: Option<Instant>,
}

impl LinkFetcher {
    /// Pages are reached by the same rules as webhooks.
    pub fn new(store: Arc<Store>, webhooks: &WebhookSettings, settings: LinkFetchSettings) -> Self {
        Self { store, client: PageClient::new(webhooks), settings }
    }

    /// Runs as long as the future is polled.
    pub fn run(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let (mut position, mut queue) = (LogPosition::default(), FetchQueue::default());
            let mut running = FuturesUnordered::new();
            loop {
                while running.len() < MAX_CONCURRENT_FETCHES
                    && let Some(link) = queue.start_next()
                {
                    running.push(self.fetch_and_store(link));
                }
                tokio::select! {
                    Some(host) = running.next(), if !running.is_empty() => queue.finish(&host),
                    links = self.read_new_links(&mut position) => queue.extend(links),
                }
            }
        })
    }

    /// Waits until there are any.
    async fn read_new_links(&self, position: &mut LogPosition) -> Vec<String> {
        let mut wake = self.store.subscribe_events();
        loop {
            wake.mark_unchanged();
            let delay = match self.read_links(position).await {
                Ok(Some(links)) if links.is_empty() => continue,
                Ok(Some(links)) => return links,
                Ok(None) if position.cursor.is_none() => LEASE_INTERVAL,
                Ok(None) => FALLBACK_INTERVAL,
                Err(error) => {
                    tracing::warn!(%error, "failed to read links of new posts; will retry");
                    LEASE_INTERVAL
                }
            };
            let _early = tokio::time::timeout(delay, wake.changed()).await;
            tokio::time::sleep(COALESCE_DELAY).await;
        }
    }

    /// None if there are no new entries.
    async fn read_links(&self, position: &mut LogPosition) -> Result<Option<Vec<String>>, Error> {
        if !self.has_task(position).await? {
            return Ok(None);
        }
        let (cursor, settings) = (position.cursor, self.settings.clone());
        let read = self.store.read(move |tx| {
            let Some(cursor) = cursor else {
                return Ok((event_log::end_cursor(tx)?, None));
            };
            let created = event_log::list_created_posts(tx, cursor, POSTS_PER_READ)?;
            if created.through <= cursor {
                return Ok((cursor, None));
            }
            let posts: Vec<PostId> = created.numbered.iter().map(|post| post.id).collect();
            Ok((created.through, Some(find_links(tx, &posts, &settings)?)))
        });
        let (cursor, links) = read.await?;
        position.cursor = Some(cursor);
        Ok(links)
    }

    async fn has_task(&self, position: &mut LogPosition) -> Result<bool, Error> {
        if !self.store.is_shared() {
            return Ok(true);
        }
        if position.lease_checked_at.is_some_and(|at| at.elapsed() < LEASE_INTERVAL) {
            return Ok(position.cursor.is_some());
        }
        let own = self.store.context().node.incarnation();
        let acquired = self.store.write(move |tx| Ok(task_leases::acquire(tx, TASK, own)?)).await?;
        position.lease_checked_at = Some(monotonic_now());
        if !acquired {
            position.cursor = None;
        }
        Ok(acquired)
    }

    /// Returns the host.
    async fn fetch_and_store(&self, link: QueuedLink) -> String {
        let page = self.client.fetch(&link.url).await.unwrap_or_else(|failure| {
            tracing::debug!(host = link.host, error = %failure, "failed to fetch a page");
            LinkDescription { url: link.url.clone(), ..LinkDescription::default() }
        });
        let stored = self.store.write(move |tx| link_facts::record_fetched(tx, &page)).await;
        if let Err(error) = stored {
            tracing::warn!(%error, "failed to store what a page says");
        }
        link.host
    }
}

fn find_links(tx: &mut Tx<'_>, posts: &[PostId], settings: &LinkFetchSettings) -> Result<Vec<String>, Fault> {
    let now = tx.now();
    let (before, failed_before) = (now.plus_ms(-settings.max_age_ms), now.plus_ms(-FAILURE_AGE_MS));
    let mut links = link_facts::list_unfetched_links(tx, posts, before, failed_before)?;
    links.retain(|link| fetch_queue::host(link).is_some_and(|host| !settings.own_hosts.contains(&host)));
    Ok(links)
}
