//! The send loop: holds waiting deliveries in queues, sends those that are due, and records the outcomes.

mod attempt;
mod leases;
mod rounds;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Error, Secret, Time, clock};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use store::Store;
use store::webhooks::{self, Webhook};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::delivery_queue::DeliveryQueue;
use super::outcomes::{AttemptOutcome, record_outcomes};
use super::{SenderCommand, WebhookClient, WebhookSettings, periodic_challenges, replays};
use attempt::CompletedAttempt;

/// The `User-Agent` header.
pub(super) const AGENT: &str = concat!("Locum/", env!("CARGO_PKG_VERSION"));

/// How often queues are checked for due deliveries.
const TICK_INTERVAL: Duration = Duration::from_millis(200);
/// The minimum time between rounds; what arrives in between is sent together.
const MIN_ROUND_INTERVAL: Duration = Duration::from_millis(4);
/// How often the store is scanned for deliveries without a wakeup.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// By how much it is longer while the node is idle, unless a node came or went a moment ago: the leases of one that went
/// end by the database's clock.
const IDLE_SCAN_DELAY: Duration = Duration::from_secs(4);
const WORKERS_SETTLE_TIME: Duration = Duration::from_secs(6);
/// Scans may take one part in this many of the time, and more if they are so slow that the pause would be longer than
/// [`MAX_SCAN_INTERVAL`].
const SCAN_SHARE: u32 = 50;
/// Webhooks of a node that has stopped wait for this at most.
const MAX_SCAN_INTERVAL: Duration = Duration::from_secs(5);
/// How long deliveries in flight may take at shutdown. Their outcomes are recorded after it, before the task is aborted.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);
/// How long deliveries in flight to a deleted webhook may take.
const STOP_GRACE: Duration = Duration::from_secs(1);
/// Concurrent deliveries to all webhooks together.
const MAX_IN_FLIGHT: usize = 512;

type RecordingFuture = Pin<Box<dyn Future<Output = (Arc<Vec<AttemptOutcome>>, Result<(), Error>)> + Send>>;

/// Sends waiting deliveries until it is stopped.
pub struct WebhookSender {
    store: Arc<Store>,
    settings: Arc<WebhookSettings>,
    client: WebhookClient,
    commands: Mutex<mpsc::UnboundedReceiver<SenderCommand>>,
}

struct ActiveWebhook {
    webhook: Webhook,
    uri: Uri,
    secret: Secret,
    /// The version at which it was loaded.
    credentials_version: u64,
    read_at: Instant,
    idle_since: Option<Instant>,
    /// Whether a delivery that failed has been waiting since the last that succeeded. Otherwise nothing was sent for a
    /// while, and `webhook.failing_since` tells nothing of the receiver.
    has_failed: bool,
    queue: DeliveryQueue,
}

/// The state of the loop.
struct SenderState {
    store: Arc<Store>,
    settings: Arc<WebhookSettings>,
    client: WebhookClient,
    active: HashMap<i64, ActiveWebhook>,
    /// Webhooks with due deliveries.
    ready: BTreeSet<i64>,
    /// Webhooks with deliveries that this node does not own.
    unclaimed: BTreeSet<i64>,
    in_flight: FuturesUnordered<Pin<Box<dyn Future<Output = CompletedAttempt> + Send>>>,
    outcomes: Vec<AttemptOutcome>,
    recording: Option<RecordingFuture>,
    /// The highest delivery read so far, if any.
    last_seq: Option<i64>,
    /// Whether deliveries were enqueued since.
    has_new: bool,
    /// Callers waiting until nothing is in flight to a webhook.
    stop_waiters: Vec<(i64, Instant, oneshot::Sender<()>)>,
    last_round: Instant,
    next_scan: Instant,
    /// The next scan when something happens before.
    earliest_scan: Instant,
    /// The incarnation of this node that has the leases; 0 with a single node.
    incarnation: i64,
    /// How many nodes took on work at the last tick.
    worker_count: usize,
    workers_changed_at: Instant,
}

impl WebhookSender {
    pub(super) const fn new(
        store: Arc<Store>,
        settings: Arc<WebhookSettings>,
        client: WebhookClient,
        commands: mpsc::UnboundedReceiver<SenderCommand>,
    ) -> Self {
        Self { store, settings, client, commands: Mutex::const_new(commands) }
    }

    /// Sends, challenges and replays until `stopping` completes.
    pub async fn run(&self, stopping: impl Future<Output = ()> + Send) {
        tokio::select! {
            () = self.send_deliveries(stopping) => {}
            () = self.send_challenges() => {}
            () = self.run_replays() => {}
        }
    }

    pub fn send_challenges(&self) -> BoxFuture<'_, ()> {
        Box::pin(periodic_challenges::run(&self.store, &self.settings, &self.client))
    }

    pub fn run_replays(&self) -> BoxFuture<'_, ()> {
        Box::pin(replays::run(&self.store))
    }

    /// Challenges the webhooks that are due; returns how many.
    pub fn challenge_due(&self) -> BoxFuture<'_, Result<usize, Error>> {
        Box::pin(periodic_challenges::challenge_due(&self.store, &self.settings, &self.client))
    }

    /// Advances each running replay by one step; returns whether another step can follow at once.
    pub fn advance_replays(&self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(replays::advance_all(&self.store))
    }

    /// Sends until `stopping` completes, then waits briefly for deliveries in flight.
    /// May be called again after a panic.
    pub async fn send_deliveries(&self, stopping: impl Future<Output = ()> + Send) {
        self.send_until(pin!(stopping)).await;
    }

    fn send_until<'a>(&'a self, mut stopping: Pin<&'a mut (dyn Future<Output = ()> + Send)>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut commands = self.commands.lock().await;
            let mut queued = self.store.subscribe_deliveries();
            let mut clock_changes = self.store.subscribe_clock();
            let mut work = SenderState::new(&self.store, &self.settings, &self.client);
            let mut tick = tokio::time::interval(TICK_INTERVAL);
            tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut next_round = None;
            loop {
                let wait = async {
                    match next_round {
                        Some(until) => tokio::time::sleep_until(until).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = &mut stopping => break,
                    Some(completed) = work.in_flight.next(), if !work.in_flight.is_empty() => {
                        work.complete_attempt(completed);
                    }
                    recorded = wait_recorded(&mut work.recording), if work.recording.is_some() => {
                        work.finish_recording(recorded);
                    }
                    Some(ask) = commands.recv() => work.handle_command(ask),
                    Ok(()) = queued.changed() => work.has_new = true,
                    Ok(()) = clock_changes.changed() => {
                        work.mark_due();
                        work.next_scan = clock::monotonic_now();
                    }
                    () = wait => {}
                    _ = tick.tick() => work.mark_due(),
                }
                work.start_recording();
                next_round = work.run_round().await;
            }
            work.finish().await;
        })
    }
}

async fn wait_recorded(recording: &mut Option<RecordingFuture>) -> (Arc<Vec<AttemptOutcome>>, Result<(), Error>) {
    match recording {
        Some(recording) => recording.await,
        None => std::future::pending().await,
    }
}

impl SenderState {
    fn new(store: &Arc<Store>, settings: &Arc<WebhookSettings>, client: &WebhookClient) -> Self {
        let now = clock::monotonic_now();
        Self {
            store: Arc::clone(store),
            settings: Arc::clone(settings),
            client: client.clone(),
            active: HashMap::new(),
            ready: BTreeSet::new(),
            unclaimed: BTreeSet::new(),
            in_flight: FuturesUnordered::new(),
            outcomes: Vec::new(),
            recording: None,
            last_seq: None,
            has_new: true,
            stop_waiters: Vec::new(),
            last_round: now,
            next_scan: now,
            earliest_scan: now,
            workers_changed_at: now,
            incarnation: store.context().node.incarnation(),
            worker_count: store.context().node.worker_count(),
        }
    }

    fn now(&self) -> Time {
        self.store.context().clock.now()
    }

    /// The current version of credentials and webhooks.
    fn credentials_version(&self) -> u64 {
        self.store.context().credential_versions.current()
    }

    fn handle_command(&mut self, ask: SenderCommand) {
        match ask {
            SenderCommand::Rescan => self.next_scan = clock::monotonic_now(),
            SenderCommand::Stop(id, reply) => {
                self.unclaimed.remove(&id);
                let flying = self.active.get_mut(&id).is_some_and(|active| {
                    active.queue.close();
                    active.queue.has_in_flight()
                });
                if flying {
                    let until = clock::monotonic_now() + STOP_GRACE;
                    self.stop_waiters.push((id, until, reply));
                } else {
                    self.active.remove(&id);
                    let _gone = reply.send(());
                }
            }
        }
    }

    fn mark_due(&mut self) {
        let deadline = clock::monotonic_now();
        for (id, until, _) in &self.stop_waiters {
            if let Some(active) = self.active.get_mut(id).filter(|_| *until <= deadline) {
                active.queue.abort_in_flight();
            }
        }
        self.follow_workers();
        let now = self.now();
        let due = self.active.iter().filter(|(_, active)| active.queue.next_due().is_some_and(|due| due <= now));
        let due: Vec<i64> = due.map(|(id, _)| *id).collect();
        self.ready.extend(due);
    }

    /// Starts recording outcomes unless that is in progress.
    fn start_recording(&mut self) {
        if self.recording.is_some() || self.outcomes.is_empty() {
            return;
        }
        let outcomes = Arc::new(std::mem::take(&mut self.outcomes));
        let store = Arc::clone(&self.store);
        self.recording = Some(Box::pin(async move {
            let recorded = Arc::clone(&outcomes);
            let result = store.write(move |tx| record_outcomes(tx, &recorded)).await;
            (outcomes, result)
        }));
    }

    fn finish_recording(&mut self, (outcomes, result): (Arc<Vec<AttemptOutcome>>, Result<(), Error>)) {
        self.recording = None;
        if let Err(error) = result {
            // Unrecorded deliveries would be sent again.
            tracing::warn!(%error, "failed to record webhook deliveries; will retry");
            self.outcomes.splice(0..0, outcomes.iter().cloned());
            return;
        }
        for outcome in outcomes.iter() {
            if let Some(active) = self.active.get_mut(&outcome.attempt.webhook_id) {
                active.queue.confirm_recorded(outcome.key, outcome.seq);
            }
        }
    }

    /// Waits for deliveries in flight, records them, and releases the leases.
    async fn finish(&mut self) {
        let until = tokio::time::Instant::now() + SHUTDOWN_GRACE;
        while let Ok(Some(completed)) = tokio::time::timeout_at(until, self.in_flight.next()).await {
            self.complete_attempt(completed);
        }
        self.in_flight.clear();
        if let Some(recording) = self.recording.take() {
            let ended = recording.await;
            self.finish_recording(ended);
        }
        self.start_recording();
        if let Some(recording) = self.recording.take() {
            let _written = recording.await;
        }
        let incarnation = self.incarnation;
        let released = self.store.write(move |tx| Ok(webhooks::release_node_leases(tx, incarnation)?));
        if let Err(error) = released.await {
            tracing::warn!(%error, "failed to release webhook leases");
        }
    }
}
