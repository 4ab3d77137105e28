//! Rate limit windows of fixed length that start with their first call, counted exactly: in memory, or over all nodes in
//! the database server or in Valkey.

mod headers;
mod mode;
mod overrides;
mod redis_windows;
mod shared;
mod subject;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use base::{Fault, Secret, Time};
use futures_util::future::BoxFuture;
use mode::SharedRateLimitMode;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use redis_windows::RedisWindows;
use shared::{SharedWindows, WindowStore};
use store::Store;

use crate::endpoint::{DAY_SECONDS, Endpoint, RateWindow, SharedWindow, per_quarter_hour};
pub use mode::RateLimitMode;
pub use subject::RateLimitSubject;

const SHARDS: usize = 64;
/// Windows of an operation per subject, at most.
const MAX_WINDOWS: usize = 3;
const QUARTER_HOUR_SECONDS: u32 = 900;

/// Whether the Valkey or Redis server at the URL accepts connections.
pub fn check_shared_server(url: &Secret) -> BoxFuture<'_, Result<(), Fault>> {
    Box::pin(async move { RedisWindows::new(url)?.connect().await.map(drop) })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitStatus {
    pub allowed: bool,
    /// The window shown in the `x-rate-limit-*` headers.
    pub common: Option<WindowStatus>,
    pub day: Option<WindowStatus>,
    pub is_user_limit: bool,
    /// Of the app over all its users.
    pub app_day: Option<WindowStatus>,
}

impl RateLimitStatus {
    /// Of a user's call that was counted for the app as well.
    #[must_use]
    pub fn with_app(self, app: Self) -> Self {
        let common = if app.allowed { self.common } else { app.common };
        Self { allowed: self.allowed && app.allowed, common, app_day: app.day, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowStatus {
    pub limit: u32,
    pub remaining: u32,
    /// Unix time in seconds.
    pub reset: i64,
}

/// Ads lists that are requested with `with_total_count` have a counter of their own: the operation's number with this
/// bit.
pub(crate) const TOTAL_COUNT_BIT: usize = 1 << 20;
pub(crate) const TOTAL_COUNT_WINDOWS: &[RateWindow] = &[per_quarter_hour(200)];

/// The index of the endpoint whose calls a counter counts.
pub const fn operation_number(counter: usize) -> usize {
    counter & !TOTAL_COUNT_BIT
}

#[derive(Clone, Copy, Debug)]
pub struct RateQuota<'a> {
    pub windows: &'a [RateWindow],
    /// A window shared with other operations.
    pub shared: Option<&'static SharedWindow>,
}

impl RateQuota<'_> {
    pub const fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.shared.is_none()
    }
}

impl<'a> From<&'a [RateWindow]> for RateQuota<'a> {
    fn from(windows: &'a [RateWindow]) -> Self {
        Self { windows, shared: None }
    }
}

impl<'a, const N: usize> From<&'a [RateWindow; N]> for RateQuota<'a> {
    fn from(windows: &'a [RateWindow; N]) -> Self {
        Self::from(windows.as_slice())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitCounter {
    Operation(usize),
    Shared(&'static SharedWindow),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUsage {
    pub subject: RateLimitSubject,
    pub counter: LimitCounter,
    pub seconds: u32,
    pub limit: u32,
    pub used: u32,
    pub resets: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CounterKey {
    subject: RateLimitSubject,
    counter: LimitCounter,
}

#[derive(Clone, Copy, Debug, Default)]
struct WindowCount {
    start_ms: i64,
    /// By all nodes, as far as this one knows.
    used: u32,
    /// Calls that this node may allow without asking.
    leased: u32,
    /// When an exhausted shared window is looked at again.
    retry_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CounterSlot {
    counts: [WindowCount; MAX_WINDOWS],
    /// The end of the last window.
    end_ms: i64,
}

/// The counters of one call, of one subject.
#[derive(Clone, Copy, Debug)]
struct CounterKeys {
    own: CounterKey,
    common: Option<CounterKey>,
}

impl CounterKeys {
    fn new(subject: RateLimitSubject, operation: usize, quota: RateQuota<'_>) -> Self {
        let key = |counter| CounterKey { subject, counter };
        let common = quota.shared.map(|shared| key(LimitCounter::Shared(shared)));
        Self { own: key(LimitCounter::Operation(operation)), common }
    }
}

#[derive(Clone, Copy, Debug)]
struct CounterSlots {
    own: CounterSlot,
    common: CounterSlot,
}

impl CounterSlots {
    fn copy_from(stored: &HashMap<CounterKey, CounterSlot>, keys: CounterKeys) -> Self {
        let slot = |key: &CounterKey| stored.get(key).copied();
        let common = keys.common.as_ref().and_then(slot);
        Self { own: slot(&keys.own).unwrap_or_default(), common: common.unwrap_or_default() }
    }

    fn pair_windows<'a>(&mut self, quota: RateQuota<'a>) -> impl Iterator<Item = (&'a [RateWindow], &mut CounterSlot)> {
        let shared = quota.shared.map_or(&[][..], |shared| std::slice::from_ref(&shared.window));
        [(quota.windows, &mut self.own), (shared, &mut self.common)].into_iter()
    }

    fn windows(&mut self, quota: RateQuota<'_>) -> impl Iterator<Item = (RateWindow, &mut WindowCount)> {
        let pairs = self.pair_windows(quota);
        pairs.flat_map(|(windows, slot)| windows.iter().copied().zip(&mut slot.counts))
    }
}

#[derive(Debug)]
pub struct RateLimiter {
    mode: SharedRateLimitMode,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<CounterKey, CounterSlot>>>,
    max_keys_per_shard: usize,
    shared: Option<SharedWindows>,
}

impl RateLimiter {
    /// Tracks at most `keys` pairs of subject and operation at once.
    pub fn new(mode: RateLimitMode, keys: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self {
            mode: SharedRateLimitMode::new(mode),
            hasher: RandomState::new(),
            shards,
            max_keys_per_shard: (keys / SHARDS).max(1),
            shared: None,
        }
    }

    /// Counts over all nodes: in Valkey or Redis if there is a URL, or in the database if it is on a server. `endpoints`
    /// are the operations by their numbers; `local_calls` counts the calls for which neither could be asked.
    pub fn share_windows(
        self,
        store: &Arc<Store>,
        url: Option<&Secret>,
        endpoints: &[&Endpoint],
        local_calls: Counter,
    ) -> Result<Self, Fault> {
        let windows = match url {
            _ if self.is_disabled() => None,
            Some(url) => Some(WindowStore::Redis(Box::new(RedisWindows::new(url)?))),
            None => store.is_shared().then(|| WindowStore::Database(Arc::clone(store))),
        };
        let shared = windows.map(|windows| SharedWindows::new(windows, endpoints, local_calls));
        Ok(Self { shared, ..self })
    }

    /// Counts one call against every window, or against none if one is exhausted; over all nodes if they share their
    /// windows.
    pub async fn charge<'a>(
        &self,
        subject: RateLimitSubject,
        operation: usize,
        quota: impl Into<RateQuota<'a>>,
        now: Time,
    ) -> RateLimitStatus {
        let quota = quota.into();
        let Some(shared) = self.shared.as_ref().filter(|shared| self.is_counted_over_nodes(shared, quota)) else {
            return self.count(subject, operation, quota, now);
        };
        let keys = CounterKeys::new(subject, operation, quota);
        match self.charge_shared(shared, keys, quota, now).await {
            Ok((allowed, slots)) => {
                self.build_status(quota, &slots, allowed, matches!(subject, RateLimitSubject::User(..)))
            }
            Err(error) => {
                shared.record_failure(&error);
                self.count(subject, operation, quota, now)
            }
        }
    }

    fn is_counted_over_nodes(&self, shared: &SharedWindows, quota: RateQuota<'_>) -> bool {
        !quota.is_empty() && !self.is_disabled() && !shared.is_paused()
    }

    /// Counts one call on this node, as [`RateLimiter::charge`] does.
    pub fn count<'a>(
        &self,
        subject: RateLimitSubject,
        operation: usize,
        quota: impl Into<RateQuota<'a>>,
        now: Time,
    ) -> RateLimitStatus {
        let quota = quota.into();
        let is_user_limit = matches!(subject, RateLimitSubject::User(..));
        if self.is_disabled() || quota.is_empty() {
            return RateLimitStatus { is_user_limit, ..self.unused_status(quota, now) };
        }
        let charge = |slots: &mut CounterSlots| (self.try_charge(slots, quota, now.ms()), *slots);
        let (allowed, slots) = self.update_slots(CounterKeys::new(subject, operation, quota), now, charge);
        self.build_status(quota, &slots, allowed, is_user_limit)
    }

    /// One shard per subject, so that all its windows are checked under one lock.
    #[expect(clippy::indexing_slicing, reason = "the index is below the number of shards")]
    fn shard(&self, subject: RateLimitSubject) -> &Mutex<HashMap<CounterKey, CounterSlot>> {
        let index = usize::try_from(self.hasher.hash_one(subject) >> 32).unwrap_or(0) % SHARDS;
        &self.shards[index]
    }

    fn update_slots<T>(&self, keys: CounterKeys, now: Time, update: impl FnOnce(&mut CounterSlots) -> T) -> T {
        let mut shard = self.shard(keys.own.subject).lock();
        let mut slots = CounterSlots::copy_from(&shard, keys);
        let result = update(&mut slots);
        let all = [Some((keys.own, slots.own)), keys.common.map(|key| (key, slots.common))];
        for (key, slot) in all.into_iter().flatten() {
            if shard.len() >= self.max_keys_per_shard && !shard.contains_key(&key) {
                evict_expired(&mut shard, self.max_keys_per_shard, now.ms());
            }
            shard.insert(key, slot);
        }
        result
    }

    /// The status of a call at `now` that is not counted, as far as this node knows.
    pub fn peek<'a>(
        &self,
        subject: RateLimitSubject,
        operation: usize,
        quota: impl Into<RateQuota<'a>>,
        now: Time,
    ) -> RateLimitStatus {
        let quota = quota.into();
        let is_user_limit = matches!(subject, RateLimitSubject::User(..));
        if self.is_disabled() {
            return RateLimitStatus { is_user_limit, ..self.unused_status(quota, now) };
        }
        let keys = CounterKeys::new(subject, operation, quota);
        let mut slots = CounterSlots::copy_from(&self.shard(subject).lock(), keys);
        let allowed = self.renew_all_windows(&mut slots, quota, now.ms());
        self.build_status(quota, &slots, allowed, is_user_limit)
    }

    /// The status of a caller without counted calls.
    pub fn unused_status<'a>(&self, quota: impl Into<RateQuota<'a>>, now: Time) -> RateLimitStatus {
        let fresh = WindowCount { start_ms: now.ms(), ..WindowCount::default() };
        let slot = CounterSlot { counts: [fresh; MAX_WINDOWS], end_ms: 0 };
        let slots = CounterSlots { own: slot, common: slot };
        self.build_status(quota.into(), &slots, true, false)
    }

    pub fn is_disabled(&self) -> bool {
        self.mode.load() == RateLimitMode::Off
    }

    pub fn limits_reference_lists(&self) -> bool {
        self.mode.load() != RateLimitMode::Relaxed
    }

    /// Usage of an app and its users in windows that are open at `now`; `windows` looks up those of a subject and an
    /// operation.
    pub fn app_usage(
        &self,
        app: i64,
        windows: impl Fn(RateLimitSubject, usize) -> &'static [RateWindow],
        now: Time,
    ) -> Vec<WindowUsage> {
        self.open_windows(|subject| subject.belongs_to_app(app), windows, now)
    }

    /// As [`RateLimiter::app_usage`], of the subjects for which `is_listed` is true.
    pub fn open_windows(
        &self,
        is_listed: impl Fn(RateLimitSubject) -> bool,
        windows: impl Fn(RateLimitSubject, usize) -> &'static [RateWindow],
        now: Time,
    ) -> Vec<WindowUsage> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
            for (key, slot) in shard.iter().filter(|(key, _)| is_listed(key.subject)) {
                let windows = match key.counter {
                    LimitCounter::Operation(number) => windows(key.subject, number),
                    LimitCounter::Shared(shared) => std::slice::from_ref(&shared.window),
                };
                let counts = windows.iter().zip(&slot.counts);
                let counted = counts.map(|(window, count)| self.window_usage(*key, *window, *count));
                all.extend(counted.filter(|usage| usage.used > 0 && usage.resets > now));
            }
        }
        all
    }

    fn window_usage(&self, key: CounterKey, window: RateWindow, count: WindowCount) -> WindowUsage {
        WindowUsage {
            subject: key.subject,
            counter: key.counter,
            seconds: window.seconds,
            limit: self.allowed_calls(window),
            used: count.used,
            resets: Time::from_ms(count.start_ms + window.length_ms()),
        }
    }

    pub fn tracked_keys(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    fn try_charge(&self, slots: &mut CounterSlots, quota: RateQuota<'_>, now: i64) -> bool {
        let allowed = self.renew_all_windows(slots, quota, now);
        if allowed {
            slots.windows(quota).for_each(|(_, count)| count.used = count.used.saturating_add(1));
        }
        allowed
    }

    /// As [`RateLimiter::renew_windows`], of both counters.
    fn renew_all_windows(&self, slots: &mut CounterSlots, quota: RateQuota<'_>, now: i64) -> bool {
        let renew = |allowed, (windows, slot)| self.renew_windows(slot, windows, now) && allowed;
        slots.pair_windows(quota).fold(true, renew)
    }

    /// Restarts the windows that are over; returns whether none is exhausted.
    fn renew_windows(&self, slot: &mut CounterSlot, windows: &[RateWindow], now: i64) -> bool {
        let mut available = true;
        for (window, count) in windows.iter().zip(&mut slot.counts) {
            let length = window.length_ms();
            let elapsed = now - count.start_ms;
            // A clock that was set back must not freeze a window.
            if !(-length..length).contains(&elapsed) || count.used == 0 && count.leased == 0 {
                *count = WindowCount { start_ms: now, ..WindowCount::default() };
            }
            available &= count.used < self.allowed_calls(*window);
        }
        let ends = windows.iter().zip(&slot.counts);
        let ends = ends.map(|(window, count)| count.start_ms + window.length_ms());
        slot.end_ms = ends.max().unwrap_or(now);
        available
    }

    fn build_status(
        &self,
        quota: RateQuota<'_>,
        slots: &CounterSlots,
        allowed: bool,
        is_user_limit: bool,
    ) -> RateLimitStatus {
        let figures = |(window, count): (&RateWindow, &WindowCount)| {
            let limit = self.allowed_calls(*window);
            let end = count.start_ms + window.length_ms();
            // Rounded up, so that a client that waits until then is allowed.
            let reset = end.saturating_add(999).div_euclid(1000);
            (window.seconds, WindowStatus { limit, remaining: limit.saturating_sub(count.used), reset })
        };
        let own = quota.windows.iter().zip(&slots.own.counts);
        let shared = quota.shared.map(|shared| &shared.window);
        let all = own.chain(shared.into_iter().zip(&slots.common.counts)).map(figures);
        let pick = |seconds: u32| all.clone().find(|(length, _)| *length == seconds).map(|(_, figures)| figures);
        let used_up = all.clone().filter(|(_, figures)| figures.remaining == 0);
        let used_up = used_up.map(|(_, figures)| figures).max_by_key(|figures| figures.reset);
        let common = pick(QUARTER_HOUR_SECONDS).or_else(|| all.clone().next().map(|(_, figures)| figures));
        // A refused client must wait for the exhausted window.
        let shown = if allowed { common } else { used_up.or(common) };
        RateLimitStatus { allowed, common: shown, day: pick(DAY_SECONDS), is_user_limit, app_day: None }
    }

    fn allowed_calls(&self, window: RateWindow) -> u32 {
        match self.mode.load() {
            RateLimitMode::Scale(times) => window.calls.saturating_mul(times),
            RateLimitMode::Off | RateLimitMode::Table | RateLimitMode::Relaxed => window.calls,
        }
    }
}

/// Removes expired slots; if fewer than an eighth, also those that expire soonest.
fn evict_expired(shard: &mut HashMap<CounterKey, CounterSlot>, max: usize, now: i64) {
    shard.retain(|_, slot| slot.end_ms > now);
    if shard.len() < max - max / 8 {
        return;
    }
    let mut ends: Vec<i64> = shard.values().map(|slot| slot.end_ms).collect();
    let eighth = ends.len() / 8;
    let (_, soonest, _) = ends.select_nth_unstable(eighth);
    let (soonest, mut available) = (*soonest, eighth + 1);
    shard.retain(|_, slot| {
        let evicted = available > 0 && slot.end_ms <= soonest;
        available -= usize::from(evicted);
        !evicted
    });
}

#[cfg(test)]
mod tests;
