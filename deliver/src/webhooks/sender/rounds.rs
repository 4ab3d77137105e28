//! A round: what is new is taken up, what is due is sent.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::clock::{self, wall_time};
use base::{Error, Secret, Time};
use http::Uri;
use store::Tx;
use store::apps::{self, AppStatus};
use store::deliveries::{self, Delivery, PendingDelivery};
use store::webhooks::{self, Webhook};
use tokio::sync::oneshot;

use super::super::lane::{Fate, Lane};
use super::super::{Place, sign};
use super::{FLIGHTS, Hook, LEASE_MS, ROUND, SCAN, SCAN_SHARE, TRUST, Work, flight};

/// What is read of the queue at once.
const PAGE: i64 = 1_000;
/// How long a webhook that nothing waits for is kept in mind.
const IDLE: std::time::Duration = std::time::Duration::from_mins(1);
/// What may have been written late is looked for so far back.
const LATE: i64 = 10_000;

/// What is known of a webhook that may be sent to.
struct Found {
    webhook: Webhook,
    secret: Secret,
    waiting: Vec<PendingDelivery>,
}

impl Work {
    /// Does a round, if it is time for one; when the next one is due.
    pub(super) async fn round(&mut self) -> Option<tokio::time::Instant> {
        let now = clock::monotonic_now();
        let scan = now >= self.next_scan;
        let any = self.news || scan || !self.hot.is_empty() || !self.wanted.is_empty();
        if !any {
            return None;
        }
        let next = self.last_round + ROUND;
        if now < next {
            return Some(next.into());
        }
        self.last_round = now;
        if let Err(stop) = self.try_round(scan).await {
            tracing::warn!(?stop, "webhooks were not looked after; it is tried again");
            self.next_scan = self.next_scan.max(now + SCAN);
            self.hot.clear();
            return None;
        }
        let more = self.news || !self.hot.is_empty() || !self.wanted.is_empty();
        more.then(|| (now + ROUND).into())
    }

    async fn try_round(&mut self, scan: bool) -> Result<(), Error> {
        if scan {
            self.scan().await?;
        }
        if self.news {
            self.read_news().await?;
        }
        if !self.wanted.is_empty() {
            self.admit().await?;
        }
        self.send().await
    }

    /// Looks at everything that waits; nothing is lost by a message that did not come.
    async fn scan(&mut self) -> Result<(), Error> {
        let began = clock::monotonic_now();
        if self.store.is_shared() {
            self.renew().await?;
        }
        let waiting = self
            .store
            .read(|tx| Ok(deliveries::list_pending_webhooks(tx)?))
            .await?;
        for id in waiting {
            if self.hooks.contains_key(&id) {
                self.hot.insert(id);
            } else {
                self.wanted.insert(id);
            }
        }
        self.look_for_withdrawn().await?;
        let now = clock::monotonic_now();
        let mut idle_ids = Vec::new();
        self.hooks.retain(|id, hook| {
            let idle = hook.lane.is_idle();
            let since = *hook.idle_since.get_or_insert(now);
            if !idle {
                hook.idle_since = None;
            }
            let stays = !idle || now.duration_since(since) < IDLE;
            if !stays {
                idle_ids.push(*id);
            }
            stays
        });
        if self.store.is_shared() {
            self.give_back(idle_ids).await?;
            self.look_for_late().await?;
        }
        let took = began.elapsed();
        self.next_scan = clock::monotonic_now() + SCAN.max(took * SCAN_SHARE);
        Ok(())
    }

    /// Keeps what this node has, and lets go what another has taken.
    async fn renew(&mut self) -> Result<(), Error> {
        let node = i64::from(self.settings.node);
        let until = wall_time().plus_ms(LEASE_MS);
        let began = clock::monotonic_now();
        let renew = move |tx: &mut Tx<'_>| Ok(webhooks::renew_leases(tx, node, until)?);
        let ours: HashSet<i64> = self.store.write(renew).await?.into_iter().collect();
        self.leased_at = began;
        self.hooks.retain(|id, _| ours.contains(id));
        Ok(())
    }

    /// What was withdrawn while it waited for its time holds up nothing behind it.
    async fn look_for_withdrawn(&mut self) -> Result<(), Error> {
        let now = self.now();
        let lanes = self.hooks.values_mut();
        let some: Vec<PendingDelivery> = lanes.flat_map(|hook| hook.lane.holding_up(now)).collect();
        if some.is_empty() {
            return Ok(());
        }
        let seqs: Vec<i64> = some.iter().map(|one| one.seq).collect();
        let read = move |tx: &mut Tx<'_>| Ok(deliveries::filter_pending_seqs(tx, &seqs)?);
        let there: HashSet<i64> = self.store.read(read).await?.into_iter().collect();
        for waiting in some {
            if !there.contains(&waiting.seq) {
                self.gone(waiting);
            }
        }
        Ok(())
    }

    /// Lets other nodes have webhooks that nothing waits for.
    async fn give_back(&self, ids: Vec<i64>) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let node = i64::from(self.settings.node);
        let drop = move |tx: &mut Tx<'_>| {
            for id in &ids {
                webhooks::release_lease(tx, *id, node)?;
            }
            Ok(())
        };
        self.store.write(drop).await
    }

    /// On a database server what was enqueued earlier may be committed later.
    async fn look_for_late(&mut self) -> Result<(), Error> {
        let from = self.tail.unwrap_or(0).saturating_sub(LATE);
        let ids: Vec<i64> = self.hooks.keys().copied().collect();
        let read = move |tx: &mut Tx<'_>| {
            let mut all = Vec::new();
            for id in &ids {
                all.extend(deliveries::list_pending(tx, *id, from, PAGE)?);
            }
            Ok(all)
        };
        for waiting in self.store.read(read).await? {
            if let Some(hook) = self.hooks.get_mut(&waiting.webhook_id) {
                hook.lane.push(waiting);
            }
        }
        Ok(())
    }

    /// Takes up what was enqueued since the last look.
    async fn read_news(&mut self) -> Result<(), Error> {
        let Some(tail) = self.tail else {
            // What waits already is found by the scan.
            let highest = self
                .store
                .read(|tx| Ok(deliveries::highest_seq(tx)?))
                .await?;
            self.tail = Some(highest);
            self.next_scan = clock::monotonic_now();
            self.news = false;
            return self.scan().await;
        };
        let read = move |tx: &mut Tx<'_>| Ok(deliveries::list_after(tx, tail, PAGE)?);
        let found = self.store.read(read).await?;
        self.news = found.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
        for (waiting, waits) in found {
            self.tail = Some(waiting.seq);
            if !waits {
                continue;
            }
            match self.hooks.get_mut(&waiting.webhook_id) {
                Some(hook) => {
                    hook.lane.push(waiting);
                    self.hot.insert(waiting.webhook_id);
                }
                None => {
                    self.wanted.insert(waiting.webhook_id);
                }
            }
        }
        Ok(())
    }

    /// Takes webhooks that something waits for, unless another node has them.
    async fn admit(&mut self) -> Result<(), Error> {
        let ids: Vec<i64> = std::mem::take(&mut self.wanted).into_iter().collect();
        let version = self.version();
        let lease = (i64::from(self.settings.node), wall_time());
        let work = move |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            for mut one in usable(tx, &ids)? {
                let (id, (node, now)) = (one.webhook.id, lease);
                if webhooks::acquire_lease(tx, id, node, now, now.plus_ms(LEASE_MS))? {
                    one.waiting = deliveries::list_pending(tx, id, 0, PAGE)?;
                    found.push(one);
                }
            }
            Ok(found)
        };
        let found = if self.store.is_shared() {
            self.store.write(work).await?
        } else {
            self.store.read(work).await?
        };
        for one in found {
            let (id, uri) = (one.webhook.id, self.uri(&one.webhook));
            let Some(uri) = uri else {
                continue;
            };
            let mut lane = Lane::new();
            lane.is_full = one.waiting.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            one.waiting
                .into_iter()
                .for_each(|waiting| lane.push(waiting));
            let hook = Hook {
                webhook: one.webhook,
                uri,
                secret: one.secret,
                version,
                read_at: clock::monotonic_now(),
                idle_since: None,
                lane,
            };
            self.hooks.insert(id, hook);
            self.hot.insert(id);
        }
        Ok(())
    }

    /// Where a webhook is, if it may be there still.
    fn uri(&self, webhook: &Webhook) -> Option<Uri> {
        Place::read(&webhook.url, &self.settings.targets)
            .ok()?
            .uri()
    }

    /// Sends what is due.
    async fn send(&mut self) -> Result<(), Error> {
        if self.store.is_shared() && self.leased_at.elapsed() > TRUST {
            return Ok(());
        }
        self.refresh().await?;
        self.fill().await?;
        let now = self.now();
        let mut taken = Vec::new();
        while let Some(id) = self.hot.first().copied() {
            if self.flights.len() + taken.len() >= FLIGHTS {
                break;
            }
            let next = self.hooks.get_mut(&id).and_then(|hook| hook.lane.take(now));
            match next {
                Some(waiting) => taken.push(waiting),
                None => {
                    self.hot.remove(&id);
                }
            }
        }
        if taken.is_empty() {
            return Ok(());
        }
        let seqs: Vec<i64> = taken.iter().map(|waiting| waiting.seq).collect();
        let read = move |tx: &mut Tx<'_>| Ok(deliveries::list_pending_by_seqs(tx, &seqs)?);
        let found = match self.store.read(read).await {
            Ok(found) => found,
            Err(stop) => {
                self.put_back(&taken, now);
                return Err(stop);
            }
        };
        let mut found: BTreeMap<i64, Delivery> =
            found.into_iter().map(|one| (one.seq, one)).collect();
        for waiting in taken {
            match found.remove(&waiting.seq) {
                Some(delivery) => self.start(delivery),
                None => self.gone(waiting),
            }
        }
        Ok(())
    }

    fn put_back(&mut self, taken: &[PendingDelivery], now: Time) {
        for waiting in taken {
            if let Some(hook) = self.hooks.get_mut(&waiting.webhook_id) {
                hook.lane
                    .landed(waiting.order_key, waiting.seq, Fate::Again(now));
            }
        }
    }

    /// Something is done with, or was removed, without this sender.
    fn gone(&mut self, waiting: PendingDelivery) {
        if let Some(hook) = self.hooks.get_mut(&waiting.webhook_id) {
            hook.lane.landed(waiting.order_key, waiting.seq, Fate::Gone);
            hook.lane.noted(waiting.order_key, waiting.seq);
            self.hot.insert(waiting.webhook_id);
        }
    }

    fn start(&mut self, delivery: Delivery) {
        let Some(hook) = self.hooks.get_mut(&delivery.webhook_id) else {
            return;
        };
        let (stop, stopped) = oneshot::channel();
        hook.lane.may_stop(delivery.order_key, stop);
        let signature = sign(&hook.secret, delivery.body.as_bytes());
        let flight = flight::fly(&self.courier, &hook.uri, signature, delivery, stopped);
        self.flights.push(flight);
    }

    /// Reads webhooks again that may have changed since they were read.
    async fn refresh(&mut self) -> Result<(), Error> {
        let version = self.version();
        let shared = self.store.is_shared();
        let old = |hook: &Hook| hook.version != version || shared && hook.read_at.elapsed() >= SCAN;
        let ids: Vec<i64> = self
            .hot
            .iter()
            .filter(|id| self.hooks.get(id).is_some_and(old))
            .copied()
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        let asked = ids.clone();
        let read = move |tx: &mut Tx<'_>| usable(tx, &asked);
        let mut gone: BTreeSet<i64> = ids.into_iter().collect();
        let mut again = Vec::new();
        // What is not written down yet is known better here.
        let behind = self.recording.is_some() || !self.outcomes.is_empty();
        for found in self.store.read(read).await? {
            let Some(uri) = self.uri(&found.webhook) else {
                continue;
            };
            let Some(hook) = self.hooks.get_mut(&found.webhook.id) else {
                continue;
            };
            gone.remove(&found.webhook.id);
            (hook.uri, hook.secret) = (uri, found.secret);
            if behind {
                continue;
            }
            // A challenge that was answered may have made due what waited for its time.
            if found.webhook.checked_at != hook.webhook.checked_at {
                if !hook.lane.is_flying() {
                    again.push(found.webhook.id);
                }
                continue;
            }
            (hook.version, hook.read_at) = (version, clock::monotonic_now());
            hook.webhook = found.webhook;
        }
        for id in again {
            self.hooks.remove(&id);
            self.hot.remove(&id);
            self.wanted.insert(id);
        }
        for id in gone {
            self.hot.remove(&id);
            // What is on its way is stopped.
            self.hooks.remove(&id);
        }
        Ok(())
    }

    /// Reads on where a lane had no room for all that waits.
    async fn fill(&mut self) -> Result<(), Error> {
        let room = |hook: &Hook| hook.lane.is_full && hook.lane.room() > 0;
        let ids: Vec<i64> = self
            .hot
            .iter()
            .filter(|id| self.hooks.get(id).is_some_and(room))
            .copied()
            .collect();
        for id in ids {
            let Some(hook) = self.hooks.get_mut(&id) else {
                continue;
            };
            let from = hook.lane.highest();
            let read = move |tx: &mut Tx<'_>| Ok(deliveries::list_pending(tx, id, from, PAGE)?);
            let found = self.store.read(read).await?;
            let Some(hook) = self.hooks.get_mut(&id) else {
                continue;
            };
            hook.lane.is_full = found.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            for waiting in found {
                hook.lane.push(waiting);
            }
        }
        Ok(())
    }
}

/// Those of these webhooks that may be sent to, and what their deliveries are signed with.
fn usable(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Found>, Error> {
    let mut all = Vec::new();
    for webhook in webhooks::find_by_ids(tx, ids)? {
        if !webhook.valid || webhook.deleted_at.is_some() {
            continue;
        }
        let app = apps::find_by_id(tx, webhook.app_id)?;
        if let Some(app) = app.filter(|app| app.state == AppStatus::Active) {
            all.push(Found {
                webhook,
                secret: app.api_secret,
                waiting: Vec::new(),
            });
        }
    }
    Ok(all)
}
