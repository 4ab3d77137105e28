//! Replays the past of a post stream from the log, at the client's pace.

use std::sync::Arc;

use base::{Error, Fault, PostId, Time};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use parking_lot::Mutex;
use store::{Tx, event_log};

use super::format::StreamFormat;
use super::posts::{LogPoll, PostStreams, PostStreamsInner, PostStreamsState, StreamReader, rule_owner};
use super::{DisconnectReason, StreamSession};

/// Log entries read at a time.
const BATCH_SIZE: i64 = 200;
/// Log entries may be out of time order by this much.
const TIME_SLACK_MS: i64 = 60_000;

#[derive(Clone, Copy, Debug)]
pub struct ReplayWindow {
    /// Inclusive.
    pub from: Time,
    /// Exclusive; `None` to continue with live posts.
    pub until: Option<Time>,
}

/// Reads the log for one client.
struct PostReplay {
    streams: PostStreams,
    session: StreamSession,
    format: StreamFormat,
    window: ReplayWindow,
    /// Its only reader is the session.
    state: Arc<Mutex<PostStreamsState>>,
    cursor: Option<i64>,
}

impl PostStreams {
    /// Replays a stream, oldest first. Then the session becomes live without gaps or duplicates, or ends if
    /// the window has an end.
    pub fn replay_posts(
        &self,
        session: &StreamSession,
        format: StreamFormat,
        window: ReplayWindow,
    ) -> BoxStream<'static, Bytes> {
        let mut state = PostStreamsState::default();
        state.add_reader(StreamReader { session: session.clone(), format, after: 0 });
        let replay = PostReplay {
            streams: self.clone(),
            session: session.clone(),
            format,
            window,
            state: Arc::new(Mutex::new(state)),
            cursor: None,
        };
        stream::unfold(Some(replay), next_batch).flat_map(stream::iter).boxed()
    }
}

async fn next_batch(replay: Option<PostReplay>) -> Option<(Vec<Bytes>, Option<PostReplay>)> {
    let mut replay = replay.filter(|replay| !replay.session.has_ended())?;
    match replay.read_batch().await {
        Ok((lines, true)) => Some((lines, Some(replay))),
        Ok((lines, false)) if replay.window.until.is_some() => {
            replay.session.finish();
            Some((lines, None))
        }
        Ok((lines, false)) => {
            let PostReplay { streams, session, format, cursor: at, .. } = replay;
            streams.join(&session, format, at).await;
            Some((lines, None))
        }
        Err(error) => {
            tracing::error!(%error, "failed to replay a post stream");
            replay.session.end(DisconnectReason::Failed);
            None
        }
    }
}

impl PostReplay {
    /// Reads the next batch; returns whether there is more.
    async fn read_batch(&mut self) -> Result<(Vec<Bytes>, bool), Error> {
        let shared = Arc::clone(&self.streams.0);
        let (session, window, cursor) = (self.session.clone(), self.window, self.cursor);
        let state = Arc::clone(&self.state);
        let read = move |tx: &mut Tx<'_>| {
            let mut state = state.lock();
            if let Some(owner) = rule_owner(&session) {
                while !state.rule_index.load_rules(tx, owner)? {}
            }
            let cursor = match cursor {
                Some(cursor) => cursor,
                None => event_log::cursor_before(tx, window.from.plus_ms(-TIME_SLACK_MS))?,
            };
            Ok(shared.replay_log_batch(tx, &mut state, window, cursor)?)
        };
        let (lines, cursor, more) = self.streams.0.store.read(read).await?;
        self.cursor = Some(cursor);
        let posts: Vec<PostId> = lines.iter().filter_map(|(post, _)| *post).collect();
        self.streams.0.reads.record(self.session.app(), &posts);
        Ok((lines.into_iter().map(|(_, line)| line).collect(), more))
    }
}

type ReplayBatch = (Vec<(Option<PostId>, Bytes)>, i64, bool);

impl PostStreamsInner {
    /// Dispatches a part of the log to the only reader of `state`.
    fn replay_log_batch(
        &self,
        tx: &mut Tx<'_>,
        state: &mut PostStreamsState,
        window: ReplayWindow,
        cursor: i64,
    ) -> Result<ReplayBatch, Fault> {
        let mut events = event_log::list_after(tx, cursor, BATCH_SIZE)?;
        let last = events.last().map_or(cursor, |event| event.seq);
        let until = window.until.unwrap_or(Time::from_ms(i64::MAX));
        // Transactions that began later may precede those that ended later.
        let beyond = until.ms().saturating_add(TIME_SLACK_MS);
        let is_over = events.last().is_none_or(|event| event.at.ms() > beyond);
        let full = i64::try_from(events.len()).unwrap_or(BATCH_SIZE) >= BATCH_SIZE;
        events.retain(|event| event.at >= window.from && event.at < until);
        // Rules and credentials are those of the present.
        let mut poll = LogPoll::default();
        poll.cursor = last;
        self.dispatch_events(tx, state, &events, &mut poll)?;
        let lines = poll.messages.into_iter().map(|(_, post, line)| (post, line)).collect();
        Ok((lines, last, full && !is_over))
    }
}
