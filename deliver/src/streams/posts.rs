//! Post streams: while anyone is connected, each node reads the event log, matches new posts with connections,
//! and renders each post once per format.
//!
//! A connection is live from a log offset on and receives every later entry once. The rules of its app are
//! loaded before that in chunks, so that other connections do not wait.

mod readers;
mod unrendered_posts;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{AppId, Error, Fault, PostId};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use network::connections;
use network::post_facts::{self, StoredPostFacts};
use network::reads::PostReadCounter;
use network::visibility::Visibility;
use parking_lot::Mutex;
use store::event_log::LogEvent;
use store::{Store, Tx, event_log};
use tokio::sync::{Notify, oneshot};

use readers::{PendingReader, is_token_current};
pub(super) use readers::{PostStreamsState, StreamReader, rule_owner};
use unrendered_posts::UnrenderedPosts;

use super::format::{self, RefusalRenderer, StreamFormat};
use super::rule_index::RuleIndex;
use super::{DisconnectReason, Hub, StreamEndpoint, StreamSession, compliance_events, likes, sampling};

/// Log entries read at a time.
const BATCH_SIZE: i64 = 500;
/// The delay between reads under load, so that entries are read in batches.
const COALESCE_DELAY: Duration = Duration::from_millis(4);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);

/// The post streams of a node. Clones share them.
#[derive(Clone)]
pub struct PostStreams(pub(super) Arc<PostStreamsInner>);

pub(super) struct PostStreamsInner {
    pub(super) store: Arc<Store>,
    hub: Hub,
    pub(super) render_refusal: RefusalRenderer,
    pub(super) reads: Arc<PostReadCounter>,
    pending: Mutex<Vec<PendingReader>>,
    wakeup: Notify,
    stopped: AtomicBool,
    state: Mutex<PostStreamsState>,
}

/// A line for a connection, with the post that is counted as read.
type StreamMessage = (StreamSession, Option<PostId>, Bytes);

/// The result of one read of the log.
#[derive(Default)]
pub(super) struct LogPoll {
    pub(super) cursor: i64,
    /// All readable entries up to here were read.
    read_up_to: i64,
    /// Whether more entries can be read at once.
    more: bool,
    /// The end of the log; new readers start here.
    end: i64,
    /// The ids of sessions that can start.
    ready: Vec<i64>,
    pub(super) messages: Vec<StreamMessage>,
    unrendered: UnrenderedPosts,
    ended: Vec<(StreamSession, DisconnectReason)>,
    /// Whether the rule index is being rebuilt.
    rebuilding: bool,
    /// The index that was replaced.
    old_index: Option<RuleIndex>,
}

impl PostStreams {
    /// The streams of a hub. Posts read by apps are counted in `reads`.
    pub fn new(store: Arc<Store>, hub: Hub, reads: Arc<PostReadCounter>, render_refusal: RefusalRenderer) -> Self {
        Self(Arc::new(PostStreamsInner {
            store,
            hub,
            render_refusal,
            reads,
            pending: Mutex::default(),
            wakeup: Notify::new(),
            stopped: AtomicBool::new(false),
            state: Mutex::default(),
        }))
    }

    /// Starts sending posts to a session: new ones, or those after a log offset. Completes once the session
    /// has started.
    pub fn join<'a>(
        &'a self,
        session: &'a StreamSession,
        format: StreamFormat,
        after: Option<i64>,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let (live, begun) = oneshot::channel();
            self.0.pending.lock().push(PendingReader { session: session.clone(), format, after, started: live });
            self.0.wakeup.notify_one();
            if self.0.stopped.load(Ordering::SeqCst) {
                self.drop_pending();
            }
            begun.await.is_ok()
        })
    }

    /// Releases everyone waiting to start, on shutdown.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.drop_pending();
    }

    fn drop_pending(&self) {
        self.0.pending.lock().clear();
        self.0.state.lock().waiting.clear();
    }

    /// Dispatches the log, for as long as the future is polled.
    pub fn follow_log(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut wake = self.0.store.subscribe_events();
            self.learn_stored_posts().await;
            loop {
                if self.is_idle() {
                    self.0.state.lock().reset();
                    let opened = self.0.hub.wait_opened();
                    tokio::select! {
                        () = self.0.wakeup.notified() => {}
                        () = opened => {}
                    }
                    continue;
                }
                wake.mark_unchanged();
                let delay = match self.poll_once().await {
                    Ok(true) => continue,
                    Ok(false) => FALLBACK_INTERVAL,
                    Err(error) => {
                        tracing::warn!(%error, "failed to read the event log for streams; will retry");
                        RETRY_INTERVAL
                    }
                };
                tokio::select! {
                    _ = wake.changed() => tokio::time::sleep(COALESCE_DELAY).await,
                    () = self.0.wakeup.notified() => {}
                    () = tokio::time::sleep(delay) => {}
                }
            }
        })
    }

    /// Whether everything up to a position of the log was sent to the open connections within `limit`.
    pub fn wait_until_read(&self, position: i64, limit: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            const POLL_INTERVAL: Duration = Duration::from_millis(2);
            let reached = async {
                while !self.is_idle() && self.0.state.lock().cursor.is_some_and(|cursor| cursor < position) {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            };
            tokio::time::timeout(limit, reached).await.is_ok()
        })
    }

    /// Trains the rule index before the first connection.
    async fn learn_stored_posts(&self) {
        let shared = Arc::clone(&self.0);
        let train = move |tx: &mut Tx<'_>| Ok(shared.state.lock().rule_index.learn_stored_posts(tx)?);
        if let Err(error) = self.0.store.read(train).await {
            tracing::warn!(%error, "failed to train the rule index from stored posts");
        }
    }

    fn is_idle(&self) -> bool {
        self.0.hub.connection_counts().0 == 0 && self.0.pending.lock().is_empty()
    }

    /// Returns whether more can be done at once.
    async fn poll_once(&self) -> Result<bool, Error> {
        let shared = Arc::clone(&self.0);
        let poll = self.0.store.read(move |tx| Ok(shared.poll_log(tx)?)).await?;
        Ok(self.0.apply_poll(poll))
    }
}

fn dispatch_compliance_event(
    tx: &mut Tx<'_>,
    state: &PostStreamsState,
    event: &LogEvent,
    poll: &mut LogPoll,
) -> Result<(), Fault> {
    if state.compliance_readers.is_empty() {
        return Ok(());
    }
    if let Some(compliance) = compliance_events::event_from_log(tx, event)? {
        let readers = state.compliance_readers.iter();
        for reader in readers.filter(|session| session.after < event.seq && compliance.is_carried_by(&session.session))
        {
            let line = Bytes::from(format!("{}\r\n", compliance.line));
            poll.messages.push((reader.session.clone(), None, line));
        }
    }
    Ok(())
}

/// Sends a post to every matching session once it is rendered.
fn fan_out_post(
    tx: &mut Tx<'_>,
    state: &mut PostStreamsState,
    seq: i64,
    facts: &StoredPostFacts,
    poll: &mut LogPoll,
) -> Result<(), Fault> {
    if facts.visibility != Visibility::Visible {
        return Ok(());
    }
    let matches = state.rule_index.match_post(facts);
    let by_rules = matches.iter().flat_map(|(app, rules)| {
        let readers = state.rule_readers.get(app).into_iter().flatten();
        readers.map(move |reader| (reader, Some(rules.as_str())))
    });
    let by_share = state.sample_readers.iter();
    let by_share =
        by_share.filter(|reader| sampling::carries_post(&reader.session, facts)).map(|reader| (reader, None));
    let mut older: Option<Option<Bytes>> = None;
    for (reader, rules) in by_rules.chain(by_share) {
        if reader.after >= seq {
            continue;
        }
        if reader.session.endpoint() == StreamEndpoint::Powerstream {
            let said = match older.clone() {
                Some(said) => said,
                None => format::render_legacy_post(tx, &facts.row, &reader.format)?,
            };
            older = Some(said.clone());
            let message = |line| (reader.session.clone(), Some(facts.row.id), line);
            poll.messages.extend(said.map(message));
            continue;
        }
        poll.unrendered.add(reader, &facts.row, rules);
    }
    Ok(())
}

impl PostStreamsInner {
    /// Reads the log: matches entries with sessions and determines which sessions can start.
    fn poll_log(&self, tx: &mut Tx<'_>) -> Result<LogPoll, Fault> {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.waiting.extend(self.pending.lock().drain(..));
        state.remove_ended();
        let mut poll = LogPoll { end: event_log::end_cursor(tx)?, ..LogPoll::default() };
        // Sessions with only a reserved slot start later.
        let first = || {
            let sessions = self.hub.sessions(|_| true);
            let started = sessions.iter().filter_map(StreamSession::start_info);
            started.map(|started| started.log_end).min()
        };
        poll.cursor = state.cursor.or_else(first).unwrap_or(poll.end);
        let from = state.readers().map(|reader| reader.after).min();
        let from = from.unwrap_or(poll.cursor).min(poll.cursor);
        let mut events = event_log::list_after(tx, from, BATCH_SIZE)?;
        poll.more = i64::try_from(events.len()).unwrap_or(BATCH_SIZE) >= BATCH_SIZE;
        poll.more |= state.rule_index.truncate_after_rule_changes(&mut events, poll.cursor);
        self.dispatch_events(tx, state, &events, &mut poll)?;
        let last = events.last().map_or(from, |event| event.seq);
        poll.read_up_to = if poll.more { last } else { last.max(poll.cursor) };
        poll.cursor = poll.cursor.max(poll.read_up_to);
        state.load_pending_rules(tx, &mut poll)?;
        if !poll.more {
            (poll.rebuilding, poll.old_index) = state.rule_index.rebuild_step(tx)?;
        }
        Ok(poll)
    }

    /// Dispatches entries in order.
    pub(super) fn dispatch_events(
        &self,
        tx: &mut Tx<'_>,
        state: &mut PostStreamsState,
        events: &[LogEvent],
        poll: &mut LogPoll,
    ) -> Result<(), Fault> {
        let cursor = poll.cursor;
        let mut posts = HashMap::new();
        if state.needs_posts() {
            let new = events.iter().filter(|event| event.kind == "post.create");
            let ids: Vec<PostId> = new.map(|event| PostId::new(event.subject_id)).collect();
            let found = post_facts::load_post_facts(tx, &ids, false)?;
            posts.extend(found.into_iter().map(|facts| (facts.row.id.get(), facts)));
        }
        for event in events {
            dispatch_compliance_event(tx, state, event, poll)?;
            match event.kind.as_str() {
                "post.create" => {
                    if let Some(facts) = posts.get(&event.subject_id) {
                        fan_out_post(tx, state, event.seq, facts, poll)?;
                    }
                }
                "like.create" => self.fan_out_like(tx, state, event, poll)?,
                _ if event.seq <= cursor => {}
                "rule.added" | "rule.removed" => state.rule_index.apply_change(tx, event)?,
                kind if kind.starts_with("bearer.") || kind.starts_with("app.") => {
                    self.end_revoked_sessions(tx, event, poll)?;
                }
                "connection.end" => {
                    let ended = self.hub.sessions(|session| session.id() == event.subject_id);
                    poll.ended.extend(ended.into_iter().map(|session| (session, DisconnectReason::Killed)));
                }
                _ => {}
            }
        }
        std::mem::take(&mut poll.unrendered).render(tx, &self.render_refusal, &mut poll.messages)
    }

    fn fan_out_like(
        &self,
        tx: &mut Tx<'_>,
        state: &PostStreamsState,
        event: &LogEvent,
        poll: &mut LogPoll,
    ) -> Result<(), Fault> {
        let Some(like) = likes::like_from_event(event).filter(|_| !state.like_readers.is_empty()) else {
            return Ok(());
        };
        let mut rendered: Vec<(StreamFormat, Option<Bytes>)> = Vec::new();
        let wanting = state
            .like_readers
            .iter()
            .filter(|reader| reader.after < event.seq && likes::carries_like(&reader.session, &like));
        for reader in wanting {
            let known = rendered.iter().find(|(format, _)| *format == reader.format);
            let said = if let Some((_, said)) = known {
                said.clone()
            } else {
                let open = format::render_like(tx, &like, &reader.format, &self.render_refusal)?;
                let said = open.map(|open| format::close_line(&open, None));
                rendered.push((reader.format, said.clone()));
                said
            };
            let session = reader.session.clone();
            poll.messages.extend(said.map(|line| (session, None, line)));
        }
        Ok(())
    }

    /// Ends the connections of an app that was suspended or whose token was revoked.
    fn end_revoked_sessions(&self, tx: &mut Tx<'_>, event: &LogEvent, poll: &mut LogPoll) -> Result<(), Fault> {
        let app = AppId::new(event.subject_id);
        // Sessions that started later have seen the change already, and perhaps more.
        let before = |session: &StreamSession| session.start_info().is_some_and(|started| started.log_end < event.seq);
        let connected = self.hub.sessions(|session| session.app() == app && before(session));
        if connected.is_empty() {
            return Ok(());
        }
        let token = connections::find_token_digest(tx, app)?;
        let ended = connected.into_iter().filter(|one| !is_token_current(one, token));
        poll.ended.extend(ended.map(|one| (one, DisconnectReason::Revoked)));
        Ok(())
    }

    /// Applies the result of a read; returns whether more can be done at once.
    fn apply_poll(&self, poll: LogPoll) -> bool {
        let mut state = self.state.lock();
        state.cursor = Some(poll.cursor);
        for reader in state.readers_mut() {
            reader.after = reader.after.max(poll.read_up_to);
        }
        let waiting = std::mem::take(&mut state.waiting);
        for one in waiting {
            if !poll.ready.contains(&one.session.id()) {
                state.waiting.push(one);
                continue;
            }
            // Fails if the client has disconnected.
            if one.started.send(()).is_ok() {
                state.add_reader(StreamReader {
                    after: one.after.unwrap_or(poll.end),
                    session: one.session,
                    format: one.format,
                });
            }
        }
        let loading = !state.waiting.is_empty();
        // A new reader may be behind the others; nothing else wakes the dispatcher for what it lacks.
        let behind = state.readers().any(|reader| reader.after < poll.cursor);
        drop(state);
        if let Some(old) = poll.old_index {
            // Freeing it takes time in proportion to the number of rules.
            drop(tokio::task::spawn_blocking(move || drop(old)));
        }
        for (session, post, line) in poll.messages {
            if session.send(line) {
                self.reads.record(session.app(), post.as_slice());
            }
        }
        for (session, why) in poll.ended {
            session.end(why);
        }
        poll.more || loading || behind || poll.rebuilding
    }
}

#[cfg(test)]
pub(super) mod tests;
