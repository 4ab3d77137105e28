//! Moves the clock of a development world: through the instants at which something is due, each of which background
//! jobs and followers of the event log meet in order.

mod advance;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::clock::wall_time;
use base::clock_mode::ClockMode;
use base::refusal::RefusalKind;
use base::{Error, Fault, Refusal, Time};
use deliver::webhooks::WebhookSender;
use emulator::clock::{ClockControl, ClockOrder, ClockReport, DueInstant};
use emulator::worlds::WorldFuture;
use network::emails::Mailer;
use parking_lot::Mutex;
use store::{Store, Tx};
use tokio::sync::{mpsc, oneshot};
use web::ApiServer;

use super::job_runner::{JobGate, list_jobs};
use super::supervisor::Supervisor;
use advance::ClockAdvance;
use instance::Instance;
use instance::config::ServerSettings;

/// What runs when the clock is moved.
#[derive(Clone)]
pub(super) struct ClockFollowers {
    pub(super) instance: Instance,
    pub(super) server: ApiServer,
    pub(super) sender: Arc<WebhookSender>,
    pub(super) mailer: Option<Arc<dyn Mailer>>,
    pub(super) gate: JobGate,
}

/// One order at a time, carried out by a background task, so that it does not end with the request that gave it.
pub(super) struct WorldClockControl {
    instance: Instance,
    sends_mail: bool,
    orders: mpsc::Sender<PendingOrder>,
    is_busy: Arc<AtomicBool>,
    last_report: Arc<Mutex<Option<ClockReport>>>,
}

struct PendingOrder {
    order: ClockOrder,
    reply: oneshot::Sender<Result<ClockReport, Error>>,
    /// Until it is dropped, other orders are refused.
    turn: OrderTurn,
}

struct OrderTurn(Arc<AtomicBool>);

impl Drop for OrderTurn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl WorldClockControl {
    pub(super) fn start(tasks: &mut Supervisor, followers: &ClockFollowers) -> Arc<dyn ClockControl> {
        let (orders, received) = mpsc::channel(1);
        let last_report = Arc::new(Mutex::new(None));
        let context = (followers.clone(), Arc::new(tokio::sync::Mutex::new(received)), Arc::clone(&last_report));
        tasks.start_endless("clock", &context, |(followers, received, last_report)| async move {
            let mut received = received.lock().await;
            while let Some(PendingOrder { order, reply, turn }) = received.recv().await {
                let done = Box::pin(carry_out(&followers, order)).await;
                if let Ok(report) = &done {
                    *last_report.lock() = Some(report.clone());
                }
                drop(turn);
                // Its caller may have left.
                let _gone = reply.send(done);
            }
        });
        let instance = followers.instance.clone();
        let sends_mail = followers.mailer.is_some();
        Arc::new(Self { instance, sends_mail, orders, is_busy: Arc::default(), last_report })
    }

    fn store(&self) -> &Store {
        &self.instance.store
    }

    fn take_turn(&self) -> Result<OrderTurn, Error> {
        if self.is_busy.swap(true, Ordering::SeqCst) {
            let message = "the clock is being moved at the moment: try again when that has ended";
            return Err(Refusal::named_reason(RefusalKind::Conflict, "", "", message).into());
        }
        Ok(OrderTurn(Arc::clone(&self.is_busy)))
    }
}

impl ClockControl for WorldClockControl {
    fn mode(&self) -> ClockMode {
        self.store().context().clock.mode()
    }

    fn now(&self) -> Time {
        self.store().context().clock.now()
    }

    fn is_moving(&self) -> bool {
        self.is_busy.load(Ordering::SeqCst)
    }

    fn apply(&self, order: ClockOrder) -> WorldFuture<ClockReport> {
        let turn = self.take_turn();
        let orders = self.orders.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let pending = PendingOrder { order, reply, turn: turn? };
            let sent = orders.send(pending).await;
            sent.map_err(|_| Refusal::Unavailable)?;
            answer.await.map_err(|_| Fault::new("the task that moves the clock ended"))?
        })
    }

    fn list_due_instants(&self) -> WorldFuture<Vec<DueInstant>> {
        let (instance, sends_mail) = (self.instance.clone(), self.sends_mail);
        Box::pin(async move {
            let settings = Arc::clone(&instance.settings);
            instance.store.read(move |tx| find_due_instants(tx, &settings, sends_mail)).await
        })
    }

    fn last_report(&self) -> Option<ClockReport> {
        self.last_report.lock().clone()
    }
}

/// The next instant after now of each kind, earliest first.
fn find_due_instants(tx: &mut Tx<'_>, settings: &ServerSettings, sends_mail: bool) -> Result<Vec<DueInstant>, Error> {
    let mut found = Vec::new();
    for job in list_jobs() {
        found.extend((job.next_due)(tx, settings)?.map(|at| DueInstant { what: job.name, at }));
    }
    let next_email = if sends_mail { store::emails::next_due(tx)? } else { None };
    let others = [
        ("webhook_deliveries", store::deliveries::next_due(tx)?),
        ("webhook_challenges", store::webhooks::next_check(tx)?),
        ("emails", next_email),
    ];
    found.extend(others.into_iter().filter_map(|(what, at)| Some(DueInstant { what, at: at? })));
    found.sort_by_key(|due| due.at);
    Ok(found)
}

async fn carry_out(followers: &ClockFollowers, order: ClockOrder) -> Result<ClockReport, Error> {
    let store = &followers.instance.store;
    let clock = &store.context().clock;
    let (before, from, wall) = (clock.mode(), clock.now(), wall_time());
    let target = order.target(from, wall)?;
    // What stops the time or changes its speed runs nothing.
    let moves = target > from || matches!(order, ClockOrder::Advance(_) | ClockOrder::Set(_));
    let mut advance = ClockAdvance::new(followers, before, from);
    if moves {
        let _all_jobs = followers.gate.write().await;
        let ran = advance.run_to(target).await;
        let reached = clock.now();
        store.set_clock(order.mode_after(before, reached, wall_time())).await?;
        ran?;
    } else {
        store.set_clock(order.mode_after(before, from, wall_time())).await?;
    }
    Ok(advance.into_report(target))
}
