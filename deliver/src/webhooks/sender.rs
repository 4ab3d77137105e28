//! The one loop that sends: it holds what waits in lanes, sends what is due, and writes down what
//! came of it.

mod flight;
mod rounds;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base::{Error, Secret, Time, clock};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use store::Store;
use store::webhooks::{self, Webhook};
use tokio::sync::{mpsc, oneshot};

use super::lane::Lane;
use super::record::{Outcome, record};
use super::{Ask, Courier, Settings, replays, upkeep};
use flight::Landed;

/// How this program calls itself.
pub(super) const AGENT: &str = concat!("Locum/", env!("CARGO_PKG_VERSION"));

/// How often lanes are looked at for what has become due.
const TICK: Duration = Duration::from_millis(200);
/// The shortest time between two rounds: what comes in between is sent together.
const ROUND: Duration = Duration::from_millis(4);
/// How often the store is looked at for what nobody told of.
const SCAN: Duration = Duration::from_secs(1);
/// A scan may take one part in so many of the time.
const SCAN_SHARE: u32 = 50;
/// How long what is on its way may take at the end.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long a node has a webhook for itself without saying so again.
const LEASE_MS: i64 = 30_000;
/// How long after that was last said it still sends.
const TRUST: Duration = Duration::from_secs(15);
/// How long what is on its way to a webhook that is removed may take to arrive.
const LAST_WORD: Duration = Duration::from_secs(1);
/// Sent at once, to all webhooks together.
const FLIGHTS: usize = 512;

type Recording = Pin<Box<dyn Future<Output = (Arc<Vec<Outcome>>, Result<(), Error>)> + Send>>;

/// Sends what waits, until it is told to stop.
pub struct Sender {
    store: Arc<Store>,
    settings: Arc<Settings>,
    courier: Courier,
    asked: mpsc::UnboundedReceiver<Ask>,
}

/// A webhook that is sent to.
struct Hook {
    webhook: Webhook,
    uri: Uri,
    secret: Secret,
    /// What it was read at.
    version: u64,
    read_at: Instant,
    idle_since: Option<Instant>,
    lane: Lane,
}

/// What the loop has in hand.
struct Work {
    store: Arc<Store>,
    settings: Arc<Settings>,
    courier: Courier,
    hooks: HashMap<i64, Hook>,
    /// Webhooks that something may be sent to now.
    hot: BTreeSet<i64>,
    /// Webhooks that something waits for and that are not held.
    wanted: BTreeSet<i64>,
    flights: FuturesUnordered<Pin<Box<dyn Future<Output = Landed> + Send>>>,
    outcomes: Vec<Outcome>,
    recording: Option<Recording>,
    /// The place behind which nothing has been seen yet; none: nothing has.
    tail: Option<i64>,
    /// Whether something was enqueued since.
    news: bool,
    /// Who waits until nothing is on its way to a webhook.
    waiting: Vec<(i64, Instant, oneshot::Sender<()>)>,
    last_round: Instant,
    next_scan: Instant,
    leased_at: Instant,
}

impl Sender {
    pub(super) const fn new(
        store: Arc<Store>,
        settings: Arc<Settings>,
        courier: Courier,
        asked: mpsc::UnboundedReceiver<Ask>,
    ) -> Self {
        Self {
            store,
            settings,
            courier,
            asked,
        }
    }

    /// Sends, challenges and replays until `stopping` is there; what is on its way then is waited
    /// for, for a while.
    pub async fn run(self, stopping: impl Future<Output = ()>) {
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let courier = self.courier.clone();
        tokio::select! {
            () = self.send(stopping) => {}
            () = upkeep::run(&store, &settings, &courier) => {}
            () = replays::run(&store) => {}
        }
    }

    async fn send(mut self, stopping: impl Future<Output = ()>) {
        let mut stopping = pin!(stopping);
        let mut queued = self.store.subscribe_deliveries();
        let mut work = Work::new(&self.store, &self.settings, &self.courier);
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut again = None;
        loop {
            let wait = async {
                match again {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut stopping => break,
                Some(landed) = work.flights.next(), if !work.flights.is_empty() => {
                    work.landed(landed);
                }
                recorded = recorded(&mut work.recording), if work.recording.is_some() => {
                    work.recorded(recorded);
                }
                Some(ask) = self.asked.recv() => work.asked(ask),
                Ok(()) = queued.changed() => work.news = true,
                () = wait => {}
                _ = tick.tick() => work.look_at_dues(),
            }
            work.record();
            again = work.round().await;
        }
        work.end().await;
    }
}

async fn recorded(recording: &mut Option<Recording>) -> (Arc<Vec<Outcome>>, Result<(), Error>) {
    match recording {
        Some(recording) => recording.await,
        None => std::future::pending().await,
    }
}

impl Work {
    fn new(store: &Arc<Store>, settings: &Arc<Settings>, courier: &Courier) -> Self {
        let now = clock::monotonic_now();
        Self {
            store: Arc::clone(store),
            settings: Arc::clone(settings),
            courier: courier.clone(),
            hooks: HashMap::new(),
            hot: BTreeSet::new(),
            wanted: BTreeSet::new(),
            flights: FuturesUnordered::new(),
            outcomes: Vec::new(),
            recording: None,
            tail: None,
            news: true,
            waiting: Vec::new(),
            last_round: now,
            next_scan: now,
            leased_at: now,
        }
    }

    fn now(&self) -> Time {
        self.store.context().clock.now()
    }

    /// What credentials and webhooks were read at.
    fn version(&self) -> u64 {
        self.store
            .context()
            .credentials_version
            .load(Ordering::SeqCst)
    }

    fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Look => self.next_scan = clock::monotonic_now(),
            Ask::Stop(id, reply) => {
                self.wanted.remove(&id);
                let flying = self.hooks.get_mut(&id).is_some_and(|hook| {
                    hook.lane.close();
                    hook.lane.is_flying()
                });
                if flying {
                    let until = clock::monotonic_now() + LAST_WORD;
                    self.waiting.push((id, until, reply));
                } else {
                    self.hooks.remove(&id);
                    let _gone = reply.send(());
                }
            }
        }
    }

    fn look_at_dues(&mut self) {
        let late = clock::monotonic_now();
        for (id, until, _) in &self.waiting {
            if let Some(hook) = self.hooks.get_mut(id).filter(|_| *until <= late) {
                hook.lane.stop();
            }
        }
        let now = self.now();
        let due = self
            .hooks
            .iter()
            .filter(|(_, hook)| hook.lane.next_due().is_some_and(|due| due <= now));
        let due: Vec<i64> = due.map(|(id, _)| *id).collect();
        self.hot.extend(due);
    }

    /// Begins to write down what came of tries, unless that is under way.
    fn record(&mut self) {
        if self.recording.is_some() || self.outcomes.is_empty() {
            return;
        }
        let outcomes = Arc::new(std::mem::take(&mut self.outcomes));
        let store = Arc::clone(&self.store);
        self.recording = Some(Box::pin(async move {
            let held = Arc::clone(&outcomes);
            let done = store.write(move |tx| record(tx, &held)).await;
            (outcomes, done)
        }));
    }

    fn recorded(&mut self, (outcomes, done): (Arc<Vec<Outcome>>, Result<(), Error>)) {
        self.recording = None;
        if let Err(stop) = done {
            // They were made; what is not written down would be made again.
            tracing::warn!(?stop, "deliveries were not written down; it is tried again");
            self.outcomes.splice(0..0, outcomes.iter().cloned());
            return;
        }
        for outcome in outcomes.iter() {
            if let Some(hook) = self.hooks.get_mut(&outcome.attempt.webhook_id) {
                hook.lane.noted(outcome.key, outcome.seq);
            }
        }
    }

    /// Waits for what is on its way, writes it down, and lets other nodes take over.
    async fn end(&mut self) {
        let until = tokio::time::Instant::now() + FAREWELL;
        while let Ok(Some(landed)) = tokio::time::timeout_at(until, self.flights.next()).await {
            self.landed(landed);
        }
        self.flights.clear();
        if let Some(recording) = self.recording.take() {
            let ended = recording.await;
            self.recorded(ended);
        }
        self.record();
        if let Some(recording) = self.recording.take() {
            let _written = recording.await;
        }
        let node = i64::from(self.settings.node);
        let given_back = self
            .store
            .write(move |tx| Ok(webhooks::release_node_leases(tx, node)?));
        if let Err(stop) = given_back.await {
            tracing::warn!(?stop, "webhooks were not handed over");
        }
    }
}
