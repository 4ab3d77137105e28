//! The connections of a node: limits, lookup and shutdown.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use base::clock::wall_time;
use base::refusal::StreamConnectionRefusal;
use base::{AppId, Error, Fault, Id, Refusal, Time};
use emulator::faults::FaultRules;
use futures_util::future::BoxFuture;
use network::connections as rules;
use parking_lot::Mutex;
use store::connections::{self, StreamConnection};
use store::{Store, Tx};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::injected_faults::{HeldSlots, StreamFaults};
use super::session::NewStreamSession;
use super::status::{EndedStream, EndedStreams};
use super::{DisconnectReason, StreamEndpoint, StreamSession};

#[derive(Clone, Debug)]
pub struct StreamSettings {
    /// Bytes buffered per client.
    pub buffer_bytes: usize,
    /// The maximum time without output.
    pub keep_alive: Duration,
    /// The base URL of problem types.
    pub problem_base: String,
    /// What testers order; none in production.
    pub faults: Option<Arc<FaultRules>>,
    /// How many ended connections are remembered.
    pub ended_history: usize,
}

impl Default for StreamSettings {
    fn default() -> Self {
        Self {
            buffer_bytes: 256 * 1024,
            keep_alive: Duration::from_secs(15),
            problem_base: "https://api.x.com".to_owned(),
            faults: None,
            ended_history: 0,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ConnectionRequest {
    pub app: AppId,
    pub endpoint: StreamEndpoint,
    /// From 1.
    pub partition: u8,
    /// Whether the connection only replays the past; counted separately, for all partitions together.
    pub replay: bool,
    /// The maximum for this app and partition.
    pub max_connections: usize,
    /// Messages above the limit are dropped; `None` for no limit.
    pub max_per_second: Option<u32>,
    /// The client's address, or empty.
    pub client: String,
}

#[derive(Clone, Debug)]
pub struct HubMetrics {
    pub open: [(StreamEndpoint, usize); 16],
    pub opened: u64,
    pub ended: Vec<(DisconnectReason, u64)>,
    pub sent: u64,
    /// Messages dropped because of the rate limit.
    pub dropped: u64,
}

/// The connections of a node. Clones share them.
#[derive(Clone)]
pub struct Hub(Arc<HubInner>);

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

pub(super) struct HubInner {
    store: Arc<Store>,
    settings: StreamSettings,
    open: Mutex<HashMap<(AppId, StreamEndpoint), Vec<StreamSession>>>,
    closing: AtomicBool,
    opened: AtomicU64,
    /// By reason, in the order of [`DisconnectReason::ALL`].
    ended: [AtomicU64; 7],
    sent: AtomicU64,
    dropped: AtomicU64,
    /// Everything up to this position of the log was sent to the open activity streams.
    activity_position: AtomicI64,
    /// Notified when a session starts.
    opened_signal: Notify,
    /// Sessions of this process have higher ids.
    first_session_id: i64,
    /// Sessions whose end is not recorded yet.
    ended_sessions: Mutex<Vec<EndedSession>>,
    /// Notified when a session ends.
    ended_signal: Notify,
    held_slots: HeldSlots,
    history: EndedStreams,
}

#[derive(Clone, Debug)]
struct EndedSession {
    id: i64,
    at: Time,
    reason: DisconnectReason,
    /// How often the store did not find the session.
    tries: u32,
}

/// How often a node confirms its connections in the store.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// How often a node looks whether it has another incarnation, which its connections then get.
const LEASE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// After this many attempts a session counts as never recorded.
const MAX_RECORD_TRIES: u32 = 3;

impl Hub {
    pub fn new(store: Arc<Store>, settings: StreamSettings) -> Self {
        let first: Id<()> = store.context().ids.next();
        Self(Arc::new(HubInner {
            first_session_id: first.get(),
            store,
            settings,
            open: Mutex::default(),
            closing: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            ended: Default::default(),
            sent: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            activity_position: AtomicI64::new(0),
            opened_signal: Notify::new(),
            ended_sessions: Mutex::default(),
            ended_signal: Notify::new(),
            held_slots: HeldSlots::default(),
            history: EndedStreams::default(),
        }))
    }

    /// Opens a connection unless the limit is reached. Messages are buffered from now on until the feed reads
    /// them.
    pub fn open(&self, request: ConnectionRequest) -> BoxFuture<'_, Result<StreamSession, Error>> {
        Box::pin(async move {
            let (session, in_use) = self.reserve_slot(&request)?;
            // Frees the slot if this future is dropped.
            let mut guard = SlotGuard(Some(session.clone()));
            let row = self.connection_row(&session);
            let max = request.max_connections;
            let write = move |tx: &mut Tx<'_>| rules::open(tx, &row, max, in_use);
            let started = self.0.store.write(write).await?;
            session.mark_started(started.log_end, started.token_digest);
            // The log follower skips sessions that have not started: it may have passed the end of the token.
            let token = move |tx: &mut Tx<'_>| Ok(rules::find_token_digest(tx, request.app)?);
            if self.0.store.read(token).await? != Some(started.token_digest) {
                session.end(DisconnectReason::Revoked);
            }
            self.0.opened.fetch_add(1, Ordering::Relaxed);
            self.0.opened_signal.notify_one();
            guard.0 = None;
            Ok(session)
        })
    }

    /// Reserves a slot on this node; returns the number of other slots in use.
    pub(super) fn reserve_slot(&self, request: &ConnectionRequest) -> Result<(StreamSession, usize), Error> {
        let session = self.create_session(request)?;
        if session.faults().refuses_connection() {
            return Err(Refusal::Connection(StreamConnectionRefusal::TooManyConnections).into());
        }
        let mut open = self.0.open.lock();
        if self.0.closing.load(Ordering::SeqCst) {
            return Err(Refusal::Unavailable.into());
        }
        let sessions = open.entry((request.app, request.endpoint)).or_default();
        let same = sessions
            .iter()
            .filter(|one| one.is_replay() == request.replay)
            .filter(|one| request.replay || one.partition() == request.partition);
        let in_use = same.count().saturating_add(self.0.held_slots.count(request));
        if in_use >= request.max_connections {
            return Err(Refusal::Connection(StreamConnectionRefusal::TooManyConnections).into());
        }
        sessions.push(session.clone());
        Ok((session, in_use))
    }

    fn connection_row(&self, session: &StreamSession) -> StreamConnection {
        StreamConnection {
            id: session.id(),
            uuid: session.uuid().to_owned(),
            app_id: session.app(),
            endpoint: session.endpoint().name().to_owned(),
            part: if session.is_replay() { -i64::from(session.partition()) } else { i64::from(session.partition()) },
            node: self.0.store.context().node.incarnation(),
            seen_at: wall_time(),
            client: session.client().to_owned(),
            connected_at: session.connected_at(),
            disconnected_at: None,
            reason: String::new(),
        }
    }

    fn create_session(&self, request: &ConnectionRequest) -> Result<StreamSession, Fault> {
        let context = self.0.store.context();
        let id: Id<()> = context.ids.next();
        Ok(StreamSession::new(NewStreamSession {
            uuid: context.rng.random_uuid()?,
            id: id.get(),
            app: request.app,
            endpoint: request.endpoint,
            partition: request.partition,
            replay: request.replay,
            client: request.client.clone(),
            connected_at: context.clock.now(),
            buffer_bytes: self.0.settings.buffer_bytes,
            max_per_second: request.max_per_second,
            keep_alive: self.0.settings.keep_alive,
            hub: Arc::downgrade(&self.0),
            faults: StreamFaults::new(self.0.settings.faults.clone(), &self.0.store, request.app, request.endpoint),
        }))
    }

    /// Calls `with` for each open session of an app and stream; returns their number.
    pub fn visit_sessions(&self, app: AppId, endpoint: StreamEndpoint, mut with: impl FnMut(&StreamSession)) -> usize {
        let sessions = self.0.open.lock().get(&(app, endpoint)).cloned();
        let sessions = sessions.unwrap_or_default();
        sessions.iter().for_each(&mut with);
        sessions.len()
    }

    /// The open sessions for which `holds` returns true.
    pub fn sessions(&self, holds: impl Fn(&StreamSession) -> bool) -> Vec<StreamSession> {
        let open = self.0.open.lock();
        let all = open.values().flatten();
        all.filter(|session| holds(session)).cloned().collect()
    }

    /// The last connections that ended, the newest first, if they are remembered.
    pub fn ended_streams(&self) -> Vec<EndedStream> {
        self.0.history.list()
    }

    pub fn connected_apps(&self, endpoint: StreamEndpoint) -> Vec<AppId> {
        let open = self.0.open.lock();
        let matching = open.keys().filter(|(_, count_of)| *count_of == endpoint);
        matching.map(|(app, _)| *app).collect()
    }

    pub(crate) fn set_activity_position(&self, position: i64) {
        self.0.activity_position.store(position, Ordering::Relaxed);
    }

    /// Whether everything up to a position of the log was sent to the open activity streams within `limit`.
    pub fn wait_for_activity(&self, position: i64, limit: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            const POLL_INTERVAL: Duration = Duration::from_millis(2);
            let reached = async {
                while self.0.activity_position.load(Ordering::Relaxed) < position
                    && !self.connected_apps(StreamEndpoint::Activity).is_empty()
                {
                    sleep(POLL_INTERVAL).await;
                }
            };
            tokio::time::timeout(limit, reached).await.is_ok()
        })
    }

    pub(super) async fn wait_opened(&self) {
        self.0.opened_signal.notified().await;
    }

    /// Records ended sessions and sends heartbeats, for as long as the future is polled.
    pub fn run_upkeep(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.record_sessions())
    }

    async fn record_sessions(&self) {
        let mut node = self.0.store.context().node.incarnation();
        let first = self.0.first_session_id;
        let reset = move |tx: &mut Tx<'_>| Ok(rules::reset_node_connections(tx, node, first)?);
        if let Err(error) = self.0.store.write(reset).await {
            tracing::warn!(%error, "failed to remove connections of an earlier run");
        }
        let mut last_heartbeat = base::clock::monotonic_now();
        loop {
            let delay = HEARTBEAT_INTERVAL.saturating_sub(last_heartbeat.elapsed()).min(LEASE_CHECK_INTERVAL);
            tokio::select! {
                () = self.0.ended_signal.notified() => {}
                () = sleep(delay) => {}
            }
            if let Err(error) = self.store_ended().await {
                tracing::warn!(%error, "failed to record ended connections; will retry");
            }
            let (before, current) = (node, self.0.store.context().node.incarnation());
            if before != current || last_heartbeat.elapsed() >= HEARTBEAT_INTERVAL {
                last_heartbeat = base::clock::monotonic_now();
                node = if self.send_heartbeat(before, current).await { current } else { before };
            }
        }
    }

    /// Returns whether it was recorded.
    async fn send_heartbeat(&self, before: i64, node: i64) -> bool {
        if !self.0.store.is_shared() {
            return true;
        }
        let now = wall_time();
        let heartbeat = move |tx: &mut Tx<'_>| Ok(rules::record_heartbeat(tx, before, node, now)?);
        let recorded = self.0.store.write(heartbeat).await;
        if let Err(error) = &recorded {
            tracing::warn!(%error, "failed to send the heartbeat of connections");
        }
        if !self.0.ended_sessions.lock().is_empty() {
            self.0.ended_signal.notify_one();
        }
        recorded.is_ok()
    }

    /// What is not recorded yet stays listed, also when the future is dropped before its end.
    pub fn record_ended(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.store_ended())
    }

    async fn store_ended(&self) -> Result<(), Error> {
        let ended = self.0.ended_sessions.lock().clone();
        if ended.is_empty() {
            return Ok(());
        }
        let ids: HashSet<i64> = ended.iter().map(|one| one.id).collect();
        let write = move |tx: &mut Tx<'_>| {
            let mut missed = HashSet::new();
            for one in &ended {
                if !connections::mark_disconnected(tx, one.id, one.at, one.reason.name())? {
                    missed.insert(one.id);
                }
            }
            Ok(missed)
        };
        let missed = self.0.store.write(write).await?;
        self.0.ended_sessions.lock().retain_mut(|one| {
            // Sessions ended by other nodes are already recorded.
            let is_retried =
                missed.contains(&one.id) && one.tries < MAX_RECORD_TRIES && one.reason == DisconnectReason::Client;
            one.tries += u32::from(is_retried);
            is_retried || !ids.contains(&one.id)
        });
        Ok(())
    }

    /// The number of open connections, and of all connections so far.
    pub fn connection_counts(&self) -> (usize, u64) {
        let now = self.0.open.lock().values().map(Vec::len).sum();
        (now, self.0.opened.load(Ordering::Relaxed))
    }

    pub fn metrics(&self) -> HubMetrics {
        let open = self.0.open.lock();
        let count_of = |endpoint| {
            let matching = open.iter().filter(|((_, count_of), _)| *count_of == endpoint);
            (endpoint, matching.map(|(_, sessions)| sessions.len()).sum())
        };
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let ended = DisconnectReason::ALL.into_iter().zip(&self.0.ended);
        HubMetrics {
            open: StreamEndpoint::ALL.map(count_of),
            opened: read(&self.0.opened),
            ended: ended.map(|(why, count)| (why, read(count))).collect(),
            sent: read(&self.0.sent),
            dropped: read(&self.0.dropped),
        }
    }

    /// Whether the server shuts down.
    pub fn is_closing(&self) -> bool {
        self.0.closing.load(Ordering::SeqCst)
    }

    /// Ends every connection and refuses new ones.
    pub fn shut_down(&self) {
        {
            let _none_between = self.0.open.lock();
            self.0.closing.store(true, Ordering::SeqCst);
        }
        for session in self.sessions(|_| true) {
            session.end(DisconnectReason::Shutdown);
        }
    }
}

/// Ends the session when dropped, unless it was taken out.
struct SlotGuard(Option<StreamSession>);

impl Drop for SlotGuard {
    fn drop(&mut self) {
        if let Some(session) = &self.0 {
            session.end(DisconnectReason::Client);
        }
    }
}

impl HubInner {
    pub(super) fn problem_base(&self) -> &str {
        &self.settings.problem_base
    }

    /// Counts a message as sent or dropped.
    pub(super) fn count_message(&self, sent: bool) {
        let count = if sent { &self.sent } else { &self.dropped };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_session(&self, session: &StreamSession, reason: DisconnectReason) {
        let mut open = self.open.lock();
        let key = (session.app(), session.endpoint());
        if let std::collections::hash_map::Entry::Occupied(mut sessions) = open.entry(key) {
            sessions.get_mut().retain(|one| one.uuid() != session.uuid());
            if sessions.get().is_empty() {
                sessions.remove();
            }
        }
        drop(open);
        if reason == DisconnectReason::Client
            && let Some(time) = session.faults().slot_hold_time()
        {
            self.held_slots.hold(session, time);
        }
        let at = self.store.context().clock.now();
        self.history.add(session, (at, reason), self.settings.ended_history);
        self.ended_sessions.lock().push(EndedSession { id: session.id(), at, reason, tries: 0 });
        self.ended_signal.notify_one();
        let index = DisconnectReason::ALL.iter().position(|one| *one == reason);
        if let Some(count) = index.and_then(|index| self.ended.get(index)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let duration_ms = self.store.context().clock.now().ms() - session.connected_at().ms();
        let (sent, dropped) = session.message_counts();
        tracing::info!(
            target: "stream",
            uuid = session.uuid(),
            app = session.app().get(),
            endpoint = session.endpoint().name(),
            seconds = duration_ms / 1000,
            sent,
            dropped,
            reason = reason.name(),
            "ended"
        );
    }
}
