//! `GET /console/live`: server-sent events that name what has changed, so that an open page loads it anew.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::Error;
use deliver::streams::Hub;
use edge::{Body, BodyError};
use emulator::live::{LiveTopic, LiveVersions, MAX_VIEWERS};
use futures_util::{Stream, stream};
use http::header::HeaderValue;
use portal::{portal_page, serve_asset};
use store::{Store, deliveries, event_log};
use tokio::sync::{OwnedSemaphorePermit, watch};
use web::HttpReply;
use web::endpoint::Endpoint;
use web::request_context::RequestContext;

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

/// Between two looks at what is not published, and between two events.
const TICK: Duration = Duration::from_secs(1);
const SETTLE: Duration = Duration::from_millis(150);
/// Ticks without an event after which a comment keeps the connection open.
const QUIET_TICKS: u32 = 15;

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleLive", "GET", "/console/live", &open)
        .streaming()
        .summary("Server-sent events that name what has changed."),
    portal_page("consoleScript", "GET", pages::CONSOLE_SCRIPT.path(), &serve_asset)
        .summary("The script of the console."),
];

async fn open(call: RequestContext) -> Result<HttpReply, Error> {
    let site = call.head().headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return Ok(HttpReply::bytes(403, web::reply::TEXT_UTF8, "only pages of this console may open it\n"));
    }
    let Some((versions, permit)) = call.emulator()?.live.subscribe() else {
        let text = format!("{MAX_VIEWERS} pages are open already; close one\n");
        return Ok(HttpReply::bytes(503, web::reply::TEXT_UTF8, text));
    };
    let known = *versions.borrow();
    let watcher = LiveWatcher {
        known,
        versions,
        store: Arc::clone(call.store()),
        hub: call.stream_hub().clone(),
        pulse: None,
        quiet_ticks: 0,
        _permit: permit,
    };
    Ok(HttpReply::stream(EVENT_STREAM, Body::stream(live_events(watcher)).without_address_limit()))
}

struct LiveWatcher {
    versions: watch::Receiver<LiveVersions>,
    known: LiveVersions,
    store: Arc<Store>,
    hub: Hub,
    /// None before the first look.
    pulse: Option<WorldPulse>,
    quiet_ticks: u32,
    _permit: OwnedSemaphorePermit,
}

/// Numbers that grow when something changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WorldPulse {
    events: i64,
    webhooks: (i64, i64),
    streams: (usize, u64),
}

fn live_events(watcher: LiveWatcher) -> impl Stream<Item = Result<bytes::Bytes, BodyError>> + Send {
    stream::unfold(watcher, |mut watcher| async move {
        let text = watcher.next_text().await?;
        Some((Ok(text.into()), watcher))
    })
}

impl LiveWatcher {
    /// None when the server shuts down.
    async fn next_text(&mut self) -> Option<String> {
        if self.pulse.is_none() {
            self.pulse = self.take_pulse().await;
            return Some("retry: 2000\n\n".to_owned());
        }
        loop {
            let published = tokio::time::timeout(TICK, self.versions.changed()).await;
            if self.hub.is_closing() || matches!(published, Ok(Err(_))) {
                return None;
            }
            if published.is_ok() {
                tokio::time::sleep(SETTLE).await;
            }
            let topics = self.changed_topics().await;
            if !topics.is_empty() {
                self.quiet_ticks = 0;
                let names: Vec<&str> = topics.into_iter().collect();
                return Some(format!("event: change\ndata: {}\n\n", names.join(" ")));
            }
            self.quiet_ticks = self.quiet_ticks.saturating_add(1);
            if self.quiet_ticks >= QUIET_TICKS {
                self.quiet_ticks = 0;
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    async fn changed_topics(&mut self) -> BTreeSet<&'static str> {
        let versions = *self.versions.borrow_and_update();
        let pairs = LiveTopic::ALL.iter().zip(versions.iter().zip(&self.known));
        let mut topics: BTreeSet<&'static str> =
            pairs.filter(|(_, (new, old))| new != old).map(|(topic, _)| topic.name()).collect();
        self.known = versions;
        let pulse = self.take_pulse().await;
        if let (Some(new), Some(old)) = (pulse, self.pulse) {
            let changes = [
                (new.events != old.events, LiveTopic::Events),
                (new.webhooks != old.webhooks, LiveTopic::Webhooks),
                (new.streams != old.streams, LiveTopic::Streams),
            ];
            topics.extend(changes.into_iter().filter(|(changed, _)| *changed).map(|(_, topic)| topic.name()));
        }
        self.pulse = pulse.or(self.pulse);
        topics
    }

    /// None while the database does not answer.
    async fn take_pulse(&self) -> Option<WorldPulse> {
        let numbers = self.store.read(|tx| {
            let attempts = deliveries::highest_attempt_seq(tx)?;
            Ok((event_log::end_cursor(tx)?, deliveries::highest_seq(tx)?, attempts))
        });
        let (events, deliveries, attempts) = numbers.await.ok()?;
        Some(WorldPulse { events, webhooks: (deliveries, attempts), streams: self.hub.connection_counts() })
    }
}
