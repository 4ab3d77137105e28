//! Counting of calls over all nodes, in the database or in Valkey. A node spends what it has leased without asking; only if it
//! has nothing left, it leases more. What it has not used after a second, it gives back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::{monotonic_now, wall_time};
use base::secret::digest;
use base::{Error, Fault, Time};
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use store::rate_windows::{self, UnusedCalls, WindowLease, WindowRequest};
use store::{Store, Tx};

use super::redis_windows::RedisWindows;
use super::{CounterKey, CounterKeys, CounterSlots, LimitCounter, RateLimiter, RateQuota, WindowCount};
use crate::endpoint::{Endpoint, RateWindow};

/// How long a node keeps what it has leased, and how often an exhausted window is looked at again.
const LEASE_MS: i64 = 1_000;
const LEASE_TIMEOUT: Duration = Duration::from_secs(2);
/// Windows that one transaction gives back.
const RETURNED_AT_ONCE: usize = 500;
/// For all that is given back at the end of the process.
const RETURN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long calls are counted on this node only after the windows' store could not be asked.
const OUTAGE_PAUSE: Duration = Duration::from_secs(5);

/// Where the windows are.
pub(super) enum WindowStore {
    Database(Arc<Store>),
    Redis(Box<RedisWindows>),
}

impl WindowStore {
    async fn lease(&self, requests: Vec<WindowRequest>) -> Result<Vec<WindowLease>, Error> {
        match self {
            Self::Database(store) => {
                let lease = move |tx: &mut Tx<'_>| {
                    let leases = requests.iter().map(|request| rate_windows::lease(tx, request));
                    Ok(leases.collect::<Result<Vec<_>, Fault>>()?)
                };
                store.write(lease).await
            }
            Self::Redis(windows) => windows.lease(&requests).await,
        }
    }

    async fn give_back(&self, all: Vec<UnusedCalls>) -> Result<(), Error> {
        match self {
            Self::Database(store) => {
                let give_back = move |tx: &mut Tx<'_>| {
                    all.iter().try_for_each(|unused| rate_windows::give_back(tx, unused))?;
                    Ok(())
                };
                store.write(give_back).await
            }
            Self::Redis(windows) => {
                for unused in &all {
                    windows.give_back(unused).await?;
                }
                Ok(())
            }
        }
    }

    async fn forget(&self, digests: Vec<[u8; 32]>) -> Result<(), Error> {
        match self {
            Self::Database(store) => {
                let forget =
                    move |tx: &mut Tx<'_>| digests.iter().try_for_each(|digest| Ok(rate_windows::forget(tx, digest)?));
                store.write(forget).await
            }
            Self::Redis(windows) => windows.forget(&digests).await,
        }
    }
}

pub(super) struct SharedWindows {
    store: WindowStore,
    /// The same on every node, unlike the operations' numbers.
    operation_names: Vec<String>,
    leases: Mutex<HashMap<WindowKey, LeaseRecord>>,
    last_failure: Mutex<Option<Instant>>,
    /// Calls counted on this node only.
    local_calls: Counter,
}

/// A counter, and the index of one of its windows.
type WindowKey = (CounterKey, usize);

#[derive(Clone, Copy)]
struct LeaseRecord {
    digest: [u8; 32],
    ends_at_ms: i64,
    leased_at_ms: i64,
}

/// A window from which nothing is leased.
struct MissingWindow {
    position: usize,
    key: CounterKey,
    /// Among the windows of its counter.
    index: usize,
    request: WindowRequest,
}

enum Reservation {
    Decided(bool),
    /// Calls of the other windows are reserved.
    Missing(Vec<MissingWindow>),
}

impl std::fmt::Debug for SharedWindows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedWindows").field("leases", &self.leases.lock().len()).finish_non_exhaustive()
    }
}

impl SharedWindows {
    pub(super) fn new(store: WindowStore, endpoints: &[&Endpoint], local_calls: Counter) -> Self {
        let name = |endpoint: &&Endpoint| format!("{} {}", endpoint.method, endpoint.path);
        Self {
            store,
            operation_names: endpoints.iter().map(name).collect(),
            leases: Mutex::default(),
            last_failure: Mutex::default(),
            local_calls,
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        let failed_at = *self.last_failure.lock();
        let paused = failed_at.is_some_and(|time| monotonic_now().saturating_duration_since(time) < OUTAGE_PAUSE);
        if paused {
            self.local_calls.inc();
        }
        paused
    }

    pub(super) fn record_failure(&self, error: &Error) {
        self.local_calls.inc();
        if self.last_failure.lock().replace(monotonic_now()).is_none() {
            tracing::warn!(%error, "failed to count calls over all nodes; each node counts its own meanwhile");
        }
    }

    fn record_success(&self) {
        if self.last_failure.lock().take().is_some() {
            tracing::info!("calls are counted over all nodes again");
        }
    }

    fn window_request(&self, key: CounterKey, window: RateWindow, limit: u32) -> WindowRequest {
        let counter = match key.counter {
            LimitCounter::Operation(number) => match self.operation_names.get(number) {
                Some(name) => name.clone(),
                None => self.variant_name(number),
            },
            LimitCounter::Shared(shared) => shared.name.to_owned(),
        };
        let text = format!("{:?} {counter} {}", key.subject, window.seconds);
        WindowRequest { digest: digest(&text), limit, length_ms: window.length_ms() }
    }

    /// Of a variant of an operation that is counted separately: a bit above all numbers of operations.
    fn variant_name(&self, number: usize) -> String {
        let bit = number.checked_ilog2().unwrap_or_default();
        let name = self.operation_names.get(number & !(1 << bit));
        format!("{} {bit}", name.map_or("", String::as_str))
    }

    async fn lease(&self, missing: &[MissingWindow]) -> Result<Vec<WindowLease>, Error> {
        let requests: Vec<WindowRequest> = missing.iter().map(|window| window.request).collect();
        let leases = tokio::time::timeout(LEASE_TIMEOUT, self.store.lease(requests)).await;
        let leases = leases.map_err(|_| Fault::new("leasing calls took too long").into_transient())??;
        self.record_success();
        Ok(leases)
    }

    /// Forgets the calls of all nodes in these windows.
    pub(super) async fn forget(&self, windows: Vec<(CounterKey, RateWindow)>) -> Result<(), Error> {
        let digests = windows.into_iter().map(|(key, window)| self.window_request(key, window, 0).digest);
        let digests: Vec<[u8; 32]> = digests.collect();
        if digests.is_empty() { Ok(()) } else { self.store.forget(digests).await }
    }

    fn record_leases(&self, missing: &[MissingWindow], leases: &[WindowLease], now_ms: i64) {
        let mut recorded = self.leases.lock();
        for (window, lease) in missing.iter().zip(leases).filter(|(_, lease)| lease.granted > 0) {
            let (digest, ends_at_ms) = (window.request.digest, lease.ends_at_ms);
            recorded.insert((window.key, window.index), LeaseRecord { digest, ends_at_ms, leased_at_ms: now_ms });
        }
    }

    fn take_leases(&self, min_age_ms: i64) -> Vec<(WindowKey, LeaseRecord)> {
        let now_ms = wall_time().ms();
        self.leases.lock().extract_if(|_, record| now_ms - record.leased_at_ms >= min_age_ms).collect()
    }

    /// Leases that could not be given back. Newer ones of the same windows stay.
    fn restore_leases(&self, leases: impl Iterator<Item = (WindowKey, LeaseRecord)>) {
        let mut recorded = self.leases.lock();
        for (key, record) in leases {
            recorded.entry(key).or_insert(record);
        }
    }
}

impl RateLimiter {
    /// As [`RateLimiter::count`], but over all nodes.
    pub(super) async fn charge_shared(
        &self,
        shared: &SharedWindows,
        keys: CounterKeys,
        quota: RateQuota<'_>,
        now: Time,
    ) -> Result<(bool, CounterSlots), Error> {
        let reserve = |slots: &mut CounterSlots| {
            let reservation = self.reserve(shared, keys, slots, quota, now.ms());
            (reservation, *slots)
        };
        let missing = match self.update_slots(keys, now, reserve) {
            (Reservation::Decided(allowed), slots) => return Ok((allowed, slots)),
            (Reservation::Missing(missing), _) => missing,
        };
        let leases = shared.lease(&missing).await;
        let granted = leases.as_deref().unwrap_or_default();
        let settled = self.update_slots(keys, now, |slots| {
            let allowed = settle(slots, quota, &missing, granted, now.ms());
            (allowed, *slots)
        });
        shared.record_leases(&missing, granted, now.ms());
        leases.map(|_| settled)
    }

    /// Spends a leased call of each window, unless one is exhausted.
    fn reserve(
        &self,
        shared: &SharedWindows,
        keys: CounterKeys,
        slots: &mut CounterSlots,
        quota: RateQuota<'_>,
        now_ms: i64,
    ) -> Reservation {
        self.renew_all_windows(slots, quota, now_ms);
        let own_windows = quota.windows.len();
        let mut missing = Vec::new();
        for (position, (window, count)) in slots.windows(quota).enumerate() {
            let limit = self.allowed_calls(window);
            // Calls that were leased under a higher limit are not spent under a lower one.
            if count.used >= limit && (count.leased > 0 || now_ms < count.retry_ms) {
                return Reservation::Decided(false);
            }
            if count.leased > 0 {
                continue;
            }
            let (key, index) = match (position < own_windows, keys.common) {
                (false, Some(common)) => (common, position - own_windows),
                _ => (keys.own, position),
            };
            missing.push(MissingWindow { position, key, index, request: shared.window_request(key, window, limit) });
        }
        slots.windows(quota).filter(|(_, count)| count.leased > 0).for_each(|(_, count)| count.spend());
        if missing.is_empty() { Reservation::Decided(true) } else { Reservation::Missing(missing) }
    }

    /// Gives back what was leased a second ago and not used. What cannot be given back stays leased.
    pub async fn return_unused_calls(&self) {
        if let Some(shared) = &self.shared
            && let Err(error) = self.return_leases(shared, LEASE_MS).await
        {
            tracing::debug!(%error, "failed to give back leased calls");
        }
    }

    /// Gives back all that is leased, at the end of the process.
    pub async fn return_all_calls(&self) {
        let Some(shared) = &self.shared else { return };
        let returned = tokio::time::timeout(RETURN_TIMEOUT, self.return_leases(shared, i64::MIN)).await;
        let returned = returned.unwrap_or_else(|_| Err(Fault::new("it took too long").into()));
        if let Err(error) = returned {
            tracing::warn!(%error, "failed to give back leased calls, which are lost until their windows end");
        }
    }

    async fn return_leases(&self, shared: &SharedWindows, min_age_ms: i64) -> Result<(), Error> {
        let mut leases = shared.take_leases(min_age_ms);
        while !leases.is_empty() {
            let part = leases.split_off(leases.len().saturating_sub(RETURNED_AT_ONCE));
            let taken = part.iter().filter_map(|(key, record)| Some((*key, *record, self.take_leased(*key)?)));
            let taken: Vec<_> = taken.collect();
            if taken.is_empty() {
                continue;
            }
            let unused = taken.iter().map(|(_, LeaseRecord { digest, ends_at_ms, .. }, count)| UnusedCalls {
                digest: *digest,
                ends_at_ms: *ends_at_ms,
                calls: count.leased,
            });
            let returned = shared.store.give_back(unused.collect()).await;
            if returned.is_err() {
                for (key, _, WindowCount { start_ms, leased, .. }) in &taken {
                    self.restore_leased(*key, *start_ms, *leased);
                }
                shared.restore_leases(leases.into_iter().chain(part));
                return returned;
            }
        }
        Ok(())
    }

    /// What was counted before; none if nothing is leased.
    fn take_leased(&self, (key, index): WindowKey) -> Option<WindowCount> {
        let mut shard = self.shard(key.subject).lock();
        let count = shard.get_mut(&key)?.counts.get_mut(index).filter(|count| count.leased > 0)?;
        let before = *count;
        count.leased = 0;
        Some(before)
    }

    /// Does nothing if the window began anew meanwhile.
    fn restore_leased(&self, (key, index): WindowKey, start_ms: i64, calls: u32) {
        let mut shard = self.shard(key.subject).lock();
        let count = shard.get_mut(&key).and_then(|slot| slot.counts.get_mut(index));
        if let Some(count) = count.filter(|count| count.start_ms == start_ms) {
            count.leased = count.leased.saturating_add(calls);
        }
    }
}

/// Adds what was leased and spends a call of each window; if one got none, the reserved calls are free again.
fn settle(
    slots: &mut CounterSlots,
    quota: RateQuota<'_>,
    missing: &[MissingWindow],
    leases: &[WindowLease],
    now_ms: i64,
) -> bool {
    let allowed = leases.len() == missing.len() && leases.iter().all(|lease| lease.granted > 0);
    for (position, (window, count)) in slots.windows(quota).enumerate() {
        let lease = missing.iter().zip(leases).find(|(missing, _)| missing.position == position);
        if let Some((_, lease)) = lease {
            count.add_lease(*lease, window, now_ms);
        }
        let is_missing = missing.iter().any(|missing| missing.position == position);
        match (allowed, is_missing) {
            (true, true) => count.spend(),
            (false, false) => count.unspend(),
            _ => {}
        }
    }
    allowed
}

impl WindowCount {
    const fn spend(&mut self) {
        self.leased = self.leased.saturating_sub(1);
        self.used = self.used.saturating_add(1);
    }

    /// Does nothing if the window began anew meanwhile.
    const fn unspend(&mut self) {
        if self.used > 0 {
            self.leased = self.leased.saturating_add(1);
            self.used -= 1;
        }
    }

    fn add_lease(&mut self, lease: WindowLease, window: RateWindow, now_ms: i64) {
        let start_ms = now_ms + lease.resets_in_ms - window.length_ms();
        // Of two times of the same start, one may be later by the time of a request.
        if self.used == 0 || start_ms - self.start_ms >= window.length_ms() / 2 {
            *self = Self { start_ms, ..Self::default() };
        }
        self.leased = self.leased.saturating_add(lease.granted);
        self.used = self.used.max(lease.used.saturating_sub(self.leased));
        if lease.granted == 0 {
            self.retry_ms = now_ms + LEASE_MS;
        }
    }
}
