//! `GET /home/live`: how many new posts the home timeline has.

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use network::home_timelines::{HomeTimelines, HomeWatcher};
use network::muted_words::MutedWordFilter;
use network::timelines;
use portal::{MemberVisit, PageExit, PageQuery};
use store::Store;
use store::posts::PageRange;
use web::request_context::{HttpReply, RequestContext};

use crate::live::{LiveSource, LiveUpdate, refuse_more_pages, refuse_other_sites, reply_with_events};
use crate::post_cards::{CardViewer, load_post_cards};

/// New posts that are counted.
const MAX_COUNTED: i64 = 20;

pub(crate) async fn open(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (reader, session) = (visit.person.user.id, visit.person.session.digest);
    refuse_other_sites(&call)?;
    let home_timelines = Arc::clone(&call.state.home_timelines);
    let watcher = HomeWatcher::open(&home_timelines, reader).ok_or_else(refuse_more_pages)?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let counter = NewPostCounter {
        watcher,
        home_timelines,
        store: Arc::clone(call.store()),
        session,
        viewer: CardViewer::new(&call, &visit),
        after: query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0),
        shown_count: 0,
    };
    Ok(reply_with_events(&call, counter))
}

struct NewPostCounter {
    watcher: HomeWatcher,
    home_timelines: Arc<HomeTimelines>,
    store: Arc<Store>,
    /// SHA-256 of the session cookie.
    session: [u8; 32],
    viewer: CardViewer,
    /// The newest post on the page.
    after: i64,
    /// The number that the page shows.
    shown_count: usize,
}

impl LiveSource for NewPostCounter {
    const COLLECT_DELAY: Duration = Duration::from_secs(1);

    async fn wait_for_news(&mut self, limit: Duration) -> bool {
        self.watcher.wait_for_posts(limit).await
    }

    async fn load_update(&mut self) -> LiveUpdate {
        match self.count().await {
            None => LiveUpdate::End,
            Some(count) if count == self.shown_count => LiveUpdate::Unchanged,
            Some(count) => {
                self.shown_count = count;
                LiveUpdate::Event { name: "posts", data: format_count(count) }
            }
        }
    }
}

impl NewPostCounter {
    /// What the page would show more if it were loaded now; none if the member may not read it any longer.
    async fn count(&self) -> Option<usize> {
        let (session, viewer, shown_count) = (self.session, self.viewer, self.shown_count);
        let range = PageRange { above: self.after, ..PageRange::newest(MAX_COUNTED) };
        let home_timelines = Arc::clone(&self.home_timelines);
        let read = self.store.read(move |tx| {
            let reader = identity::sessions::find_user(tx, &session)?;
            if shown_count >= max_counted() {
                return Ok(shown_count);
            }
            let muted = MutedWordFilter::load(tx, reader.id)?;
            let found = timelines::load_home_page(tx, &home_timelines, &reader, &range, &muted)?;
            Ok(load_post_cards(tx, viewer, found.posts)?.len())
        });
        match read.await {
            Ok(count) => Some(count),
            Err(Error::Refused(_)) => None,
            Err(error) => {
                tracing::warn!(%error, "failed to count new posts of a home timeline; the page connects anew");
                None
            }
        }
    }
}

fn max_counted() -> usize {
    usize::try_from(MAX_COUNTED).unwrap_or(usize::MAX)
}

fn format_count(count: usize) -> String {
    if count < max_counted() { count.to_string() } else { format!("{count}+") }
}
