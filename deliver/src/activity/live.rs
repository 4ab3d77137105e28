//! Live and replayed events for open activity streams.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use base::Error;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, iter, unfold};
use store::event_log::LogEvent;
use store::{Store, event_log};

use super::{ActivityConfig, ActivityScope, EventEnvelope, match_events};
use crate::streams::{DisconnectReason, Hub, ReplayWindow, StreamEndpoint, StreamSession};

/// Log entries read at a time.
const BATCH_SIZE: i64 = 500;

/// Reads the event log for the open streams of a node.
pub struct LiveActivityReader {
    store: Arc<Store>,
    hub: Hub,
    config: ActivityConfig,
    /// `None` while there are no open streams.
    cursor: Option<i64>,
}

impl LiveActivityReader {
    /// A reader that starts at the end of the log.
    pub const fn new(store: Arc<Store>, hub: Hub, config: ActivityConfig) -> Self {
        Self { store, hub, config, cursor: None }
    }

    /// Sends new events; returns whether there may be more. Without open streams it only moves to the end of
    /// the log.
    pub fn poll_once(&mut self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(self.send_new_events())
    }

    async fn send_new_events(&mut self) -> Result<bool, Error> {
        let is_idle = self.hub.connected_apps(StreamEndpoint::Activity).is_empty();
        let (Some(from), false) = (self.cursor, is_idle) else {
            let end = self.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await?;
            // A stream may have opened before that end.
            if self.cursor.is_some() && !self.hub.connected_apps(StreamEndpoint::Activity).is_empty() {
                return Ok(true);
            }
            self.move_to(end);
            return Ok(false);
        };
        let (config, hub) = (self.config, self.hub.clone());
        let read = self.store.read(move |tx| {
            let events = event_log::list_after(tx, from, BATCH_SIZE)?;
            // A stream that opens after this has a later end of the log.
            let apps = hub.connected_apps(StreamEndpoint::Activity).into_iter().collect();
            let scope = ActivityScope::Streams(apps);
            let last = events.last().map(|event| event.seq);
            Ok((last, events.len(), match_events(tx, &events, &scope, config)?))
        });
        let (last, count, found) = read.await?;
        for envelope in &found {
            let line = event_line(envelope);
            self.hub.visit_sessions(envelope.app, StreamEndpoint::Activity, |session| {
                // Events before the connection are available by replay only; streams of a past period end with it.
                let is_new = match session.log_end() {
                    Some(log_end) => envelope.seq > log_end,
                    None => envelope.at >= session.connected_at(),
                };
                if is_new && !session.is_replay() {
                    session.send(line.clone());
                }
            });
        }
        self.move_to(last.unwrap_or(from));
        Ok(i64::try_from(count).unwrap_or(BATCH_SIZE) >= BATCH_SIZE)
    }

    fn move_to(&mut self, cursor: i64) {
        self.cursor = Some(cursor);
        self.hub.set_activity_position(cursor);
    }
}

fn event_line(envelope: &EventEnvelope) -> Bytes {
    Bytes::from(format!("{}\r\n", envelope.body))
}

/// Log entries may be out of time order by this much.
const TIME_SLACK_MS: i64 = 60_000;

/// Reads the log for one stream, up to where its live part begins.
struct ActivityReplay {
    store: Arc<Store>,
    session: StreamSession,
    config: ActivityConfig,
    window: ReplayWindow,
    cursor: Option<i64>,
}

/// How long to wait for the order of entries from before the connection.
const LOG_END_TIMEOUT: Duration = Duration::from_secs(5);

/// Replays past events of a stream, oldest first. With an end time, the stream ends after it.
pub fn replay_activity(
    store: Arc<Store>,
    session: StreamSession,
    config: ActivityConfig,
    window: ReplayWindow,
) -> BoxStream<'static, Bytes> {
    let replay = ActivityReplay { store, session, config, window, cursor: None };
    let batches = unfold(Some(replay), |replay| async {
        let mut replay = replay?;
        match replay.read_batch().await {
            Ok((lines, true)) => Some((lines, Some(replay))),
            Ok((lines, false)) => {
                if replay.window.until.is_some() {
                    replay.session.end(DisconnectReason::Finished);
                }
                Some((lines, None))
            }
            Err(error) => {
                tracing::error!(%error, "failed to replay an activity stream");
                replay.session.end(DisconnectReason::Failed);
                None
            }
        }
    });
    batches.flat_map(iter).boxed()
}

impl ActivityReplay {
    /// Reads the next batch; returns whether there is more.
    async fn read_batch(&mut self) -> Result<(Vec<Bytes>, bool), Error> {
        let (window, cursor, config) = (self.window, self.cursor, self.config);
        if cursor.is_none() {
            // What comes into the log later is from after the connection.
            self.store.wait_for_log_end(LOG_END_TIMEOUT).await?;
        }
        let (connected_at, log_end) = (self.session.connected_at(), self.session.log_end());
        let scope = ActivityScope::Streams(HashSet::from([self.session.app()]));
        let read = self.store.read(move |tx| {
            let cursor = match cursor {
                Some(cursor) => cursor,
                None => event_log::cursor_before(tx, window.from.plus_ms(-TIME_SLACK_MS))?,
            };
            let mut events = event_log::list_after(tx, cursor, BATCH_SIZE)?;
            let last = events.last().map_or(cursor, |event| event.seq);
            // What follows is live.
            let is_live = |event: &LogEvent| match log_end {
                Some(log_end) => event.seq > log_end,
                None => event.at >= connected_at,
            };
            let beyond = window.until.unwrap_or(connected_at).plus_ms(TIME_SLACK_MS);
            let is_over = events.last().is_some_and(|event| event.at > beyond);
            let full = i64::try_from(events.len()).unwrap_or(BATCH_SIZE) >= BATCH_SIZE;
            let more = full && !is_over;
            events.retain(|event| {
                event.at >= window.from && window.until.map_or_else(|| !is_live(event), |until| event.at < until)
            });
            Ok((match_events(tx, &events, &scope, config)?, last, more))
        });
        let (found, last, more) = read.await?;
        self.cursor = Some(last);
        Ok((found.iter().map(event_line).collect(), more))
    }
}
