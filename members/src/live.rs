//! `GET /home/live`: server-sent events that say how many new posts the home timeline has.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, UserId};
use deliver::streams::Hub;
use edge::{Body, BodyError};
use futures_util::{Stream, stream};
use http::header::{CACHE_CONTROL, HeaderValue};
use network::home_timelines::{HomeTimelines, HomeWatcher};
use network::muted_words::MutedWordFilter;
use network::timelines;
use portal::{BrowserVisit, PageQuery, run_page};
use store::Store;
use store::posts::PageRange;
use tokio::time::{Instant, sleep};
use web::HttpReply;
use web::endpoint::HandlerFuture;
use web::reply::TEXT_UTF8;
use web::request_context::RequestContext;

use crate::post_cards::{CardViewer, load_post_cards};

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Between two looks at whether the server shuts down.
const TICK: Duration = Duration::from_secs(1);
/// Collects posts that are written shortly after each other into one count.
const COLLECT_DELAY: Duration = Duration::from_secs(1);
/// Ticks without an event after which a comment keeps the connection open.
const QUIET_TICKS: u32 = 20;
/// After this the browser connects anew, so that it signs in again.
const MAX_LIFETIME: Duration = Duration::from_mins(15);
/// New posts that are counted.
const MAX_COUNTED: i64 = 20;

pub(crate) fn open(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let reader = visit.require_sign_in(&call)?.user.id;
        let site = call.head().headers.get("sec-fetch-site");
        if site.is_some_and(|site| site != "same-origin") {
            return Ok(HttpReply::bytes(403, TEXT_UTF8, "only pages of this site may open it\n"));
        }
        let home_timelines = Arc::clone(&call.state.home_timelines);
        let Some(watcher) = HomeWatcher::open(&home_timelines, reader) else {
            return Ok(HttpReply::bytes(429, TEXT_UTF8, "too many pages are open\n"));
        };
        let query = PageQuery::from_call(&call).unwrap_or_default();
        let counter = NewPostCounter {
            watcher,
            home_timelines,
            store: Arc::clone(call.store()),
            hub: call.stream_hub().clone(),
            reader,
            viewer: CardViewer::new(&call, &visit),
            after: query.get("after").and_then(|after| after.parse().ok()).unwrap_or(0),
            shown_count: 0,
            quiet_ticks: 0,
            ends_at: Instant::now() + MAX_LIFETIME,
        };
        let body = Body::stream(count_events(counter)).without_address_limit();
        Ok(HttpReply::stream(EVENT_STREAM, body).header(CACHE_CONTROL, NO_STORE))
    })
}

struct NewPostCounter {
    watcher: HomeWatcher,
    home_timelines: Arc<HomeTimelines>,
    store: Arc<Store>,
    hub: Hub,
    reader: UserId,
    viewer: CardViewer,
    /// The newest post on the page.
    after: i64,
    /// The number that the page shows.
    shown_count: usize,
    quiet_ticks: u32,
    ends_at: Instant,
}

fn count_events(counter: NewPostCounter) -> impl Stream<Item = Result<bytes::Bytes, BodyError>> + Send {
    stream::unfold(counter, |mut counter| async move {
        let text = counter.next_text().await?;
        Some((Ok(text.into()), counter))
    })
}

impl NewPostCounter {
    /// None when the stream ends.
    async fn next_text(&mut self) -> Option<String> {
        loop {
            let may_have_posts = self.watcher.wait_for_posts(TICK).await;
            if self.hub.is_closing() || Instant::now() >= self.ends_at {
                return None;
            }
            if may_have_posts && self.shown_count < max_counted() {
                sleep(COLLECT_DELAY).await;
                let count = self.count().await?;
                if count != self.shown_count {
                    self.shown_count = count;
                    self.quiet_ticks = 0;
                    return Some(format!("event: posts\ndata: {}\n\n", format_count(count)));
                }
            }
            self.quiet_ticks = self.quiet_ticks.saturating_add(1);
            if self.quiet_ticks >= QUIET_TICKS {
                self.quiet_ticks = 0;
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    /// What the page would show more if it were loaded now; none if the member may not read it any longer.
    async fn count(&self) -> Option<usize> {
        let (reader, viewer) = (self.reader, self.viewer);
        let range = PageRange { above: self.after, ..PageRange::newest(MAX_COUNTED) };
        let home_timelines = Arc::clone(&self.home_timelines);
        let read = self.store.read(move |tx| {
            let reader = network::users::find_active(tx, reader)?;
            let muted = MutedWordFilter::load(tx, reader.id)?;
            let found = timelines::load_home_page(tx, &home_timelines, &reader, &range, &muted)?;
            Ok(load_post_cards(tx, viewer, found.posts)?.len())
        });
        match read.await {
            Ok(count) => Some(count),
            Err(Error::Refused(_)) => None,
            Err(error) => {
                tracing::warn!(?error, "failed to count new posts of a home timeline; the page connects anew");
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
