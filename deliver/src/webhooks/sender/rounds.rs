//! One round of the loop: loads new deliveries and sends those that are due.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::{AppId, Error, Secret, Time, clock};
use http::Uri;
use network::redelivery;
use store::apps::{self, AppStatus};
use store::deliveries::{self, Delivery, PendingDelivery};
use store::webhooks::{self, Webhook};
use store::{Store, Tx};
use tokio::sync::oneshot;

use super::super::delivery_queue::{DeliveryOutcome, DeliveryQueue};
use super::super::injected_faults::DeliveryFault;
use super::super::{TargetUrl, sign};
use super::attempt::SignedDelivery;
use super::{
    ActiveWebhook, MAX_IN_FLIGHT, MAX_SCAN_INTERVAL, MIN_ROUND_INTERVAL, SCAN_INTERVAL, SCAN_SHARE, SenderState,
    attempt,
};

/// Deliveries read at a time.
const PAGE_SIZE: i64 = 1_000;
/// A retry that is later than this waited for the server or its app, not for the receiver.
const MAX_LATENESS_MS: i64 = 3600 * 1000;
/// Posts and accounts of old deliveries are looked up again, one after the other.
const MAX_CHECKS_PER_ROUND: usize = 64;
/// Older deliveries may contain what was deleted or made private since.
const MAX_UNCHECKED_AGE_MS: i64 = 10 * 1000;
/// How long an idle webhook is kept in memory.
const IDLE_TIMEOUT: std::time::Duration = std::time::Duration::from_mins(1);
/// Deliveries committed late are searched this far back.
const LATE_WINDOW: i64 = 10_000;

struct SendableWebhook {
    webhook: Webhook,
    secret: Secret,
    waiting: Vec<PendingDelivery>,
}

impl SenderState {
    /// Runs a round if it is time for one; returns when the next is due.
    pub(super) async fn run_round(&mut self) -> Option<tokio::time::Instant> {
        let now = clock::monotonic_now();
        let scan = now >= self.next_scan;
        let any = self.has_new || scan || !self.ready.is_empty() || !self.unclaimed.is_empty();
        if !any {
            return None;
        }
        let next = self.last_round + MIN_ROUND_INTERVAL;
        if now < next {
            return Some(next.into());
        }
        self.last_round = now;
        if let Err(error) = self.try_round(scan).await {
            tracing::warn!(%error, "failed to process webhook deliveries; will retry");
            self.earliest_scan = now + SCAN_INTERVAL;
            self.next_scan = self.next_scan.max(self.earliest_scan);
            self.ready.clear();
            return None;
        }
        let more = self.has_new || !self.ready.is_empty() || !self.unclaimed.is_empty();
        more.then(|| (now + MIN_ROUND_INTERVAL).into())
    }

    async fn try_round(&mut self, scan: bool) -> Result<(), Error> {
        self.follow_incarnation();
        if scan {
            self.scan_waiting().await?;
        }
        if self.has_new {
            self.read_new_deliveries().await?;
        }
        if !self.unclaimed.is_empty() {
            self.claim_webhooks().await?;
        }
        self.send_due().await
    }

    /// Scans everything that waits, in case a wakeup was missed.
    async fn scan_waiting(&mut self) -> Result<(), Error> {
        let started = clock::monotonic_now();
        if self.store.is_shared() {
            self.check_leases().await?;
        }
        let waiting = self.store.read(|tx| Ok(deliveries::list_pending_webhooks(tx)?)).await?;
        for id in waiting {
            if self.active.contains_key(&id) {
                self.ready.insert(id);
            } else {
                self.unclaimed.insert(id);
            }
        }
        self.drop_withdrawn().await?;
        let now = clock::monotonic_now();
        let mut idle_ids = Vec::new();
        self.active.retain(|id, active| {
            let idle = active.queue.is_idle();
            let since = *active.idle_since.get_or_insert(now);
            if !idle {
                active.idle_since = None;
            }
            let stays = !idle || now.duration_since(since) < IDLE_TIMEOUT;
            if !stays {
                idle_ids.push(*id);
            }
            stays
        });
        if self.store.is_shared() {
            self.release_leases(idle_ids).await?;
            self.load_late_deliveries().await?;
            // Other nodes enqueue without waking this one.
            self.has_new = true;
        }
        let pause = (started.elapsed() * SCAN_SHARE).clamp(SCAN_INTERVAL, MAX_SCAN_INTERVAL);
        self.earliest_scan = clock::monotonic_now() + pause;
        self.next_scan = self.earliest_scan + self.idle_delay();
        Ok(())
    }

    /// Removes deliveries cancelled while waiting, so that they do not block others.
    async fn drop_withdrawn(&mut self) -> Result<(), Error> {
        let now = self.now();
        let queues = self.active.values_mut();
        let some: Vec<PendingDelivery> = queues.flat_map(|active| active.queue.blocking_heads(now)).collect();
        if some.is_empty() {
            return Ok(());
        }
        let seqs: Vec<i64> = some.iter().map(|one| one.seq).collect();
        let read = move |tx: &mut Tx<'_>| Ok(deliveries::filter_pending_seqs(tx, &seqs)?);
        let pending: HashSet<i64> = self.store.read(read).await?.into_iter().collect();
        for waiting in some {
            if !pending.contains(&waiting.seq) {
                self.discard(waiting);
            }
        }
        Ok(())
    }

    /// On a database server, earlier deliveries may be committed later.
    async fn load_late_deliveries(&mut self) -> Result<(), Error> {
        let from = self.last_seq.unwrap_or(0).saturating_sub(LATE_WINDOW);
        let ids: Vec<i64> = self.active.keys().copied().collect();
        let read = move |tx: &mut Tx<'_>| {
            let mut all = Vec::new();
            for id in &ids {
                all.push((*id, deliveries::list_pending(tx, *id, from, PAGE_SIZE)?));
            }
            Ok(all)
        };
        for (id, late) in self.store.read(read).await? {
            if let Some(active) = self.active.get_mut(&id) {
                active.queue.push_late(late);
            }
        }
        Ok(())
    }

    /// Reads deliveries enqueued since the last read.
    async fn read_new_deliveries(&mut self) -> Result<(), Error> {
        let Some(tail) = self.last_seq else {
            // The scan finds what waits already.
            let highest = self.store.read(|tx| Ok(deliveries::highest_seq(tx)?)).await?;
            self.last_seq = Some(highest);
            self.next_scan = clock::monotonic_now();
            self.has_new = false;
            return self.scan_waiting().await;
        };
        let read = move |tx: &mut Tx<'_>| Ok(deliveries::list_after(tx, tail, PAGE_SIZE)?);
        let found = self.store.read(read).await?;
        self.has_new = found.len() >= usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
        for (waiting, waits) in found {
            self.last_seq = Some(waiting.seq);
            if !waits {
                continue;
            }
            match self.active.get_mut(&waiting.webhook_id) {
                Some(active) => {
                    active.queue.push_newest(waiting);
                    self.ready.insert(waiting.webhook_id);
                }
                None => {
                    self.unclaimed.insert(waiting.webhook_id);
                }
            }
        }
        Ok(())
    }

    /// Takes leases on webhooks with waiting deliveries, unless other nodes own them.
    async fn claim_webhooks(&mut self) -> Result<(), Error> {
        let ids = self.take_claimable();
        if ids.is_empty() {
            return Ok(());
        }
        let version = self.credentials_version();
        let incarnation = self.incarnation;
        let work = move |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            for mut one in load_sendable_webhooks(tx, &ids)? {
                if webhooks::acquire_lease(tx, one.webhook.id, incarnation)? {
                    one.waiting = deliveries::list_pending(tx, one.webhook.id, 0, PAGE_SIZE)?;
                    found.push(one);
                }
            }
            Ok(found)
        };
        let found = if self.store.is_shared() { self.store.write(work).await? } else { self.store.read(work).await? };
        for one in found {
            let (id, uri) = (one.webhook.id, self.webhook_uri(&one.webhook));
            let Some(uri) = uri else {
                continue;
            };
            let mut queue = DeliveryQueue::new();
            queue.is_full = one.waiting.len() >= usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
            let now = self.now();
            let is_being_retried =
                |waiting: &PendingDelivery| waiting.tries > 0 && waiting.due_at.plus_ms(MAX_LATENESS_MS) > now;
            let has_failed = one.waiting.iter().any(is_being_retried);
            one.waiting.into_iter().for_each(|waiting| queue.push(waiting));
            let active = ActiveWebhook {
                webhook: one.webhook,
                uri,
                secret: one.secret,
                credentials_version: version,
                read_at: clock::monotonic_now(),
                idle_since: None,
                has_failed,
                queue,
            };
            self.active.insert(id, active);
            self.ready.insert(id);
        }
        Ok(())
    }

    /// The URI of a webhook, if it is still allowed.
    fn webhook_uri(&self, webhook: &Webhook) -> Option<Uri> {
        TargetUrl::parse(&webhook.url, &self.settings.targets).ok()?.to_uri()
    }

    async fn send_due(&mut self) -> Result<(), Error> {
        if !self.may_send() {
            return Ok(());
        }
        self.refresh_webhooks().await?;
        self.refill_queues().await?;
        let now = self.now();
        let (mut due, mut checks): (Vec<PendingDelivery>, usize) = Default::default();
        while let Some(id) = self.ready.first().copied() {
            if self.in_flight.len() + due.len() >= MAX_IN_FLIGHT || checks >= MAX_CHECKS_PER_ROUND {
                break;
            }
            let next = self.active.get_mut(&id).and_then(|active| active.queue.take_due(now));
            match next {
                Some(waiting) => {
                    let is_old = waiting.due_at.plus_ms(MAX_UNCHECKED_AGE_MS) <= now;
                    checks += usize::from(waiting.tries > 0 || is_old);
                    due.push(waiting);
                }
                None => {
                    self.ready.remove(&id);
                }
            }
        }
        if due.is_empty() {
            return Ok(());
        }
        let seqs = due.iter().map(|waiting| waiting.seq).collect();
        let apps = self.active.iter().map(|(id, active)| (*id, active.webhook.app_id)).collect();
        let found = match load_deliveries(&self.store, seqs, apps, now).await {
            Ok(found) => found,
            Err(error) => {
                self.requeue(&due, now);
                return Err(error);
            }
        };
        // The process may have been frozen meanwhile.
        if !self.may_send() {
            self.requeue(&due, now);
            return Ok(());
        }
        let mut found: BTreeMap<i64, Delivery> = found.into_iter().map(|one| (one.seq, one)).collect();
        for waiting in due {
            match found.remove(&waiting.seq) {
                Some(delivery) => self.start_attempt(delivery),
                None => self.discard(waiting),
            }
        }
        Ok(())
    }

    fn requeue(&mut self, due: &[PendingDelivery], now: Time) {
        for waiting in due {
            if let Some(active) = self.active.get_mut(&waiting.webhook_id) {
                let again = DeliveryOutcome::Retry { due: now, tries: waiting.tries };
                active.queue.complete(waiting.order_key, waiting.seq, again);
            }
        }
    }

    /// Removes a delivery that was completed or deleted by others.
    fn discard(&mut self, waiting: PendingDelivery) {
        if let Some(active) = self.active.get_mut(&waiting.webhook_id) {
            active.queue.complete(waiting.order_key, waiting.seq, DeliveryOutcome::Done);
            active.queue.confirm_recorded(waiting.order_key, waiting.seq);
            self.ready.insert(waiting.webhook_id);
        }
    }

    fn start_attempt(&mut self, delivery: Delivery) {
        let now = self.now();
        let Some(active) = self.active.get_mut(&delivery.webhook_id) else {
            return;
        };
        let fault = self.client.find_delivery_fault(active.webhook.app_id, delivery.webhook_id, now);
        let (stop, stopped) = oneshot::channel();
        let mut postponed = None;
        if fault.as_ref().is_some_and(DeliveryFault::lets_others_pass) {
            // Those after it are next; what is in flight cannot be stopped any more.
            active.queue.complete(delivery.order_key, delivery.seq, DeliveryOutcome::Done);
            self.ready.insert(delivery.webhook_id);
            postponed = Some(stop);
        } else {
            active.queue.set_stop_handle(delivery.order_key, delivery.seq, stop);
        }
        let mut signature = sign(&active.secret, delivery.body.as_bytes());
        if fault.as_ref().is_some_and(DeliveryFault::spoils_signature) {
            signature = sign(&Secret::new("not the consumer secret"), delivery.body.as_bytes());
        }
        let attempt = SignedDelivery { delivery, signature, fault, keeps_running: postponed };
        let flight = attempt::run_attempt(&self.client, &active.uri, attempt, stopped);
        self.in_flight.push(flight);
    }

    /// Reloads webhooks that may have changed.
    async fn refresh_webhooks(&mut self) -> Result<(), Error> {
        let version = self.credentials_version();
        let shared = self.store.is_shared();
        let old = |active: &ActiveWebhook| {
            active.credentials_version != version || shared && active.read_at.elapsed() >= SCAN_INTERVAL
        };
        let ids: Vec<i64> = self.ready.iter().filter(|id| self.active.get(id).is_some_and(old)).copied().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let requested = ids.clone();
        let read = move |tx: &mut Tx<'_>| load_sendable_webhooks(tx, &requested);
        let mut missing: BTreeSet<i64> = ids.into_iter().collect();
        let mut reclaimed = Vec::new();
        // Unrecorded outcomes are more recent than the store.
        let has_unrecorded = self.recording.is_some() || !self.outcomes.is_empty();
        for found in self.store.read(read).await? {
            let Some(uri) = self.webhook_uri(&found.webhook) else {
                continue;
            };
            let Some(active) = self.active.get_mut(&found.webhook.id) else {
                continue;
            };
            missing.remove(&found.webhook.id);
            (active.uri, active.secret) = (uri, found.secret);
            if has_unrecorded {
                continue;
            }
            // A passed challenge may have made waiting deliveries due.
            if found.webhook.checked_at != active.webhook.checked_at {
                if !active.queue.has_in_flight() {
                    reclaimed.push(found.webhook.id);
                }
                continue;
            }
            (active.credentials_version, active.read_at) = (version, clock::monotonic_now());
            active.webhook = found.webhook;
        }
        for id in reclaimed {
            self.active.remove(&id);
            self.ready.remove(&id);
            self.unclaimed.insert(id);
        }
        for id in missing {
            self.ready.remove(&id);
            // Aborts what is in flight.
            self.active.remove(&id);
        }
        Ok(())
    }

    /// Reads more deliveries for queues that had been full.
    async fn refill_queues(&mut self) -> Result<(), Error> {
        let room = |active: &ActiveWebhook| active.queue.is_full && active.queue.free_capacity() > 0;
        let ids: Vec<i64> = self.ready.iter().filter(|id| self.active.get(id).is_some_and(room)).copied().collect();
        for id in ids {
            let Some(active) = self.active.get_mut(&id) else {
                continue;
            };
            let from = active.queue.highest_seq();
            let read = move |tx: &mut Tx<'_>| Ok(deliveries::list_pending(tx, id, from, PAGE_SIZE)?);
            let found = self.store.read(read).await?;
            let Some(active) = self.active.get_mut(&id) else {
                continue;
            };
            active.queue.is_full = found.len() >= usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
            for waiting in found {
                active.queue.push(waiting);
            }
        }
        Ok(())
    }
}

/// The webhooks that may be sent to, with the secrets for signatures.
fn load_sendable_webhooks(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<SendableWebhook>, Error> {
    let mut all = Vec::new();
    for webhook in webhooks::find_by_ids(tx, ids)? {
        if !webhook.valid || webhook.deleted_at.is_some() {
            continue;
        }
        let app = apps::find_by_id(tx, webhook.app_id)?;
        if let Some(app) = app.filter(|app| app.state == AppStatus::Active) {
            all.push(SendableWebhook { webhook, secret: app.api_secret, waiting: Vec::new() });
        }
    }
    Ok(all)
}

/// Deletes those that contain what was deleted or made private since they were enqueued. `apps` are those of the webhooks.
async fn load_deliveries(
    store: &Store,
    seqs: Vec<i64>,
    apps: BTreeMap<i64, AppId>,
    now: Time,
) -> Result<Vec<Delivery>, Error> {
    let read = move |tx: &mut Tx<'_>| {
        let (mut current, mut withdrawn) = (Vec::new(), Vec::new());
        for delivery in deliveries::list_pending_by_seqs(tx, &seqs)? {
            let is_fresh = delivery.tries == 0 && delivery.at.plus_ms(MAX_UNCHECKED_AGE_MS) > now;
            let app = apps.get(&delivery.webhook_id).filter(|_| !is_fresh);
            match app.map(|app| redelivery::may_redeliver(tx, *app, &delivery)).transpose()? {
                Some(false) => withdrawn.push((delivery.seq, delivery.at)),
                _ => current.push(delivery),
            }
        }
        Ok((current, withdrawn))
    };
    let (current, withdrawn) = store.read(read).await?;
    if !withdrawn.is_empty() {
        store.write(move |tx| Ok(deliveries::withdraw(tx, &withdrawn)?)).await?;
    }
    Ok(current)
}
