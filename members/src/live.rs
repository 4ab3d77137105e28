//! Server-sent events of open pages.

use std::time::Duration;

use deliver::streams::Hub;
use edge::{Body, BodyError};
use futures_util::{Stream, stream};
use http::header::{CACHE_CONTROL, HeaderValue};
use portal::PageExit;
use tokio::time::{Instant, sleep};
use web::HttpReply;
use web::reply::TEXT_UTF8;
use web::request_context::RequestContext;

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// Between two looks at whether the server shuts down.
const TICK: Duration = Duration::from_secs(1);
/// Ticks without an event after which a comment keeps the connection open.
const QUIET_TICKS: u32 = 20;
/// After this the browser connects anew, so that it signs in again.
const MAX_LIFETIME: Duration = Duration::from_mins(15);

/// What an open page waits for.
pub(crate) trait LiveSource: Send + 'static {
    /// Collects what happens shortly after each other into one event.
    const COLLECT_DELAY: Duration;

    /// Whether there may be news; false if there was none for `limit`.
    fn wait_for_news(&mut self, limit: Duration) -> impl Future<Output = bool> + Send;

    fn load_update(&mut self) -> impl Future<Output = LiveUpdate> + Send;
}

pub(crate) enum LiveUpdate {
    Unchanged,
    Event {
        name: &'static str,
        data: String,
    },
    /// The reader may not see the page any longer, or the server has failed; the browser connects anew.
    End,
}

/// Refuses pages of other sites.
pub(crate) fn refuse_other_sites(call: &RequestContext) -> Result<(), PageExit> {
    let site = call.head().headers.get("sec-fetch-site");
    if site.is_none_or(|site| site == "same-origin") {
        return Ok(());
    }
    Err(HttpReply::bytes(403, TEXT_UTF8, "only pages of this site may open it\n").into())
}

pub(crate) fn refuse_more_pages() -> PageExit {
    HttpReply::bytes(429, TEXT_UTF8, "too many pages are open\n").into()
}

pub(crate) fn reply_with_events(call: &RequestContext, source: impl LiveSource) -> HttpReply {
    let hub = call.stream_hub().clone();
    let events = LiveEvents { source, hub, quiet_ticks: 0, ends_at: Instant::now() + MAX_LIFETIME };
    let body = Body::stream(events.into_stream()).without_address_limit();
    HttpReply::stream(EVENT_STREAM, body).header(CACHE_CONTROL, NO_STORE)
}

struct LiveEvents<S> {
    source: S,
    hub: Hub,
    quiet_ticks: u32,
    ends_at: Instant,
}

impl<S: LiveSource> LiveEvents<S> {
    fn into_stream(self) -> impl Stream<Item = Result<bytes::Bytes, BodyError>> + Send {
        stream::unfold(self, |mut events| async move {
            let text = events.next_text().await?;
            Some((Ok(text.into()), events))
        })
    }

    /// None when the stream ends.
    async fn next_text(&mut self) -> Option<String> {
        loop {
            let may_have_news = self.source.wait_for_news(TICK).await;
            if self.hub.is_closing() || Instant::now() >= self.ends_at {
                return None;
            }
            if may_have_news {
                sleep(S::COLLECT_DELAY).await;
                match self.source.load_update().await {
                    LiveUpdate::Unchanged => {}
                    LiveUpdate::Event { name, data } => {
                        self.quiet_ticks = 0;
                        return Some(format!("event: {name}\ndata: {data}\n\n"));
                    }
                    LiveUpdate::End => return None,
                }
            }
            self.quiet_ticks = self.quiet_ticks.saturating_add(1);
            if self.quiet_ticks >= QUIET_TICKS {
                self.quiet_ticks = 0;
                return Some(": still here\n\n".to_owned());
            }
        }
    }
}
