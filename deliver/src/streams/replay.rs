//! Replays the past of a post stream from the log, at the client's pace.

use std::sync::Arc;

use base::{Error, Fault, PostId, Time};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use network::post_facts;
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::event_log::LogEvent;
use store::{Tx, event_log};

use super::format::{self, StreamFormat};
use super::posts::{PostStreams, PostStreamsInner, rule_owner};
use super::rule_index::RuleIndex;
use super::{DisconnectReason, StreamEndpoint, StreamSession, compliance_events, likes, sampling};

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
    rule_index: Arc<Mutex<RuleIndex>>,
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
        let replay = PostReplay {
            streams: self.clone(),
            session: session.clone(),
            format,
            window,
            rule_index: Arc::default(),
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
        let (session, format, window, cursor) = (self.session.clone(), self.format, self.window, self.cursor);
        let index = Arc::clone(&self.rule_index);
        let read = move |tx: &mut Tx<'_>| {
            let mut index = index.lock();
            if let Some(owner) = rule_owner(&session) {
                while !index.load_rules(tx, owner)? {}
            }
            let cursor = match cursor {
                Some(cursor) => cursor,
                None => event_log::cursor_before(tx, window.from.plus_ms(-TIME_SLACK_MS))?,
            };
            Ok(shared.read_log_batch(tx, &mut index, &session, &format, window, cursor)?)
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
    fn read_log_batch(
        &self,
        tx: &mut Tx<'_>,
        index: &mut RuleIndex,
        session: &StreamSession,
        format: &StreamFormat,
        window: ReplayWindow,
        cursor: i64,
    ) -> Result<ReplayBatch, Fault> {
        let events = event_log::list_after(tx, cursor, BATCH_SIZE)?;
        let last = events.last().map_or(cursor, |event| event.seq);
        let until = window.until.unwrap_or(Time::from_ms(i64::MAX));
        // Transactions that began later may precede those that ended later.
        let beyond = until.ms().saturating_add(TIME_SLACK_MS);
        let is_over = events.last().is_none_or(|event| event.at.ms() > beyond);
        let full = i64::try_from(events.len()).unwrap_or(BATCH_SIZE) >= BATCH_SIZE;
        let within = |event: &&LogEvent| event.at >= window.from && event.at < until;
        let within: Vec<&LogEvent> = events.iter().filter(within).collect();
        let mut lines = Vec::new();
        if session.endpoint().compliance_partitions().is_some() {
            for event in within {
                let compliance = compliance_events::event_from_log(tx, event)?
                    .filter(|compliance| compliance.is_carried_by(session));
                lines.extend(compliance.map(|compliance| (None, Bytes::from(format!("{}\r\n", compliance.line)))));
            }
            return Ok((lines, last, full && !is_over));
        }
        if session.endpoint().carries_likes() {
            let likes_given = within.into_iter().filter_map(likes::like_from_event);
            for like in likes_given.filter(|like| likes::carries_like(session, like)) {
                let open = format::render_like(tx, &like, format, &self.render_refusal)?;
                lines.extend(open.map(|open| (None, format::close_line(&open, None))));
            }
            return Ok((lines, last, full && !is_over));
        }
        let new = within.iter().filter(|event| event.kind == "post.create");
        let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
        for facts in post_facts::load_post_facts(tx, &ids, false)? {
            if facts.visibility != Visibility::Visible {
                continue;
            }
            let mut matches = index.match_post(&facts);
            let rules = rule_owner(session).and_then(|owner| matches.remove(&owner));
            if rules.is_none() && !sampling::carries_post(session, &facts) {
                continue;
            }
            if session.endpoint() == StreamEndpoint::Powerstream {
                let line = format::render_legacy_post(tx, &facts.row, format)?;
                lines.extend(line.map(|line| (Some(facts.row.id), line)));
            } else if let Some(open) = format::render_post(tx, &facts.row, format, &self.render_refusal)? {
                lines.push((Some(facts.row.id), format::close_line(&open, rules.as_deref())));
            }
        }
        Ok((lines, last, full && !is_over))
    }
}
