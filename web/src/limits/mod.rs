//! Rate limits: fixed windows that start with their first call, counted exactly, in memory.

mod headers;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use base::Time;
use parking_lot::Mutex;

use crate::endpoint::{RateWindow, SharedWindow};

const SHARDS: usize = 64;
/// An operation has at most so many windows per pool.
const MAX_WINDOWS: usize = 3;
const QUARTER_HOUR_SECONDS: u32 = 900;
const DAY_SECONDS: u32 = 86_400;

/// How the table's figures are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateLimitMode {
    /// Nobody is refused; the headers still show the table's figures.
    Off,
    /// As the table says.
    #[default]
    Table,
    /// So many times the table's figures.
    Scale(u32),
}

/// Whose calls are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateLimitSubject {
    /// An app on nobody's behalf.
    App(i64),
    /// A user through an app.
    User(i64, i64),
    /// An advertising account, whoever works on it.
    Account(i64),
    /// An address, where no credential is needed.
    Address(IpAddr),
}

impl RateLimitSubject {
    /// Whether it is an app's, with or without a user.
    const fn belongs_to_app(self, app: i64) -> bool {
        matches!(self, Self::App(id) | Self::User(id, _) if id == app)
    }

    /// The pool of an address; of IPv6 all of a /64, which one client has to itself.
    pub fn from_address(address: IpAddr) -> Self {
        Self::Address(match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(six) => {
                let network = u128::from(six) & !u128::from(u64::MAX);
                IpAddr::V6(network.into())
            }
        })
    }
}

/// What the limits say about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitStatus {
    /// Whether the call may go on.
    pub allowed: bool,
    /// The window that the common headers show.
    pub common: Option<WindowStatus>,
    /// The day's window.
    pub day: Option<WindowStatus>,
    /// Whether the pool is a user's.
    pub is_user_limit: bool,
}

/// A window's figures after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowStatus {
    /// Calls allowed.
    pub limit: u32,
    /// Calls left.
    pub remaining: u32,
    /// The Unix second from which on all of them are there again.
    pub reset: i64,
}

/// What a call is held against.
#[derive(Clone, Copy, Debug)]
pub struct RateQuota<'a> {
    /// The operation's own windows.
    pub windows: &'a [RateWindow],
    /// The window that other operations draw from too.
    pub shared: Option<&'static SharedWindow>,
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

/// What a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitCounter {
    /// The calls of the operation of this number.
    Operation(usize),
    /// The calls of all that draw from it.
    Shared(&'static SharedWindow),
}

/// What was counted of one pool in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUsage {
    /// Whose calls.
    pub subject: RateLimitSubject,
    /// Calls of what.
    pub counter: LimitCounter,
    /// The window's length.
    pub seconds: u32,
    /// Calls allowed.
    pub limit: u32,
    /// Calls used.
    pub used: u32,
    /// When all of them are there again.
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
    used: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct CounterSlot {
    counts: [WindowCount; MAX_WINDOWS],
    /// When the last of its windows is over.
    end_ms: i64,
}

/// What one call is counted in.
#[derive(Clone, Copy, Debug)]
struct CounterSlots {
    own: CounterSlot,
    common: CounterSlot,
}

impl CounterSlots {
    fn pair_windows<'a>(&mut self, quota: RateQuota<'a>) -> impl Iterator<Item = (&'a [RateWindow], &mut CounterSlot)> {
        let shared = quota
            .shared
            .map_or(&[][..], |shared| std::slice::from_ref(&shared.window));
        [(quota.windows, &mut self.own), (shared, &mut self.common)].into_iter()
    }
}

/// The counts of every pool.
#[derive(Debug)]
pub struct RateLimiter {
    mode: RateLimitMode,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<CounterKey, CounterSlot>>>,
    max_keys_per_shard: usize,
}

impl RateLimiter {
    /// Counts in memory, for at most `keys` pairs of pool and operation at once.
    pub fn new(mode: RateLimitMode, keys: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self {
            mode,
            hasher: RandomState::new(),
            shards,
            max_keys_per_shard: (keys / SHARDS).max(1),
        }
    }

    /// Counts one call at `now`: against every window, or, where one is used up, against none.
    pub fn count<'a>(
        &self,
        pool: RateLimitSubject,
        operation: usize,
        quota: impl Into<RateQuota<'a>>,
        now: Time,
    ) -> RateLimitStatus {
        let quota = quota.into();
        let of_user = matches!(pool, RateLimitSubject::User(..));
        // All that one pool counts is in one place, so that it is looked at as a whole.
        let place = usize::try_from(self.hasher.hash_one(pool) >> 32).unwrap_or(0) % SHARDS;
        let Some(shard) = self
            .shards
            .get(place)
            .filter(|_| self.mode != RateLimitMode::Off && !(quota.windows.is_empty() && quota.shared.is_none()))
        else {
            return RateLimitStatus {
                is_user_limit: of_user,
                ..self.unused_status(quota, now)
            };
        };
        let of = |counter| CounterKey { subject: pool, counter };
        let own = of(LimitCounter::Operation(operation));
        let common = quota.shared.map(|shared| of(LimitCounter::Shared(shared)));
        let mut shard = shard.lock();
        let held = |key: &CounterKey| shard.get(key).copied();
        let mut slots = CounterSlots {
            own: held(&own).unwrap_or_default(),
            common: common.as_ref().and_then(held).unwrap_or_default(),
        };
        let allowed = self.try_charge(&mut slots, quota, now.ms());
        let all = [Some((own, slots.own)), common.map(|key| (key, slots.common))];
        for (key, slot) in all.into_iter().flatten() {
            if shard.len() >= self.max_keys_per_shard && !shard.contains_key(&key) {
                evict_expired(&mut shard, self.max_keys_per_shard, now.ms());
            }
            shard.insert(key, slot);
        }
        drop(shard);
        self.build_status(quota, &slots, allowed, of_user)
    }

    /// What the limits would say about a call at `now`, which is not counted.
    pub fn peek<'a>(
        &self,
        pool: RateLimitSubject,
        operation: usize,
        quota: impl Into<RateQuota<'a>>,
        now: Time,
    ) -> RateLimitStatus {
        let quota = quota.into();
        let place = usize::try_from(self.hasher.hash_one(pool) >> 32).unwrap_or(0) % SHARDS;
        let key = CounterKey {
            subject: pool,
            counter: LimitCounter::Operation(operation),
        };
        let shard = self.shards.get(place).filter(|_| self.mode != RateLimitMode::Off);
        let Some(slot) = shard.and_then(|shard| shard.lock().get(&key).copied()) else {
            return self.unused_status(quota, now);
        };
        let mut slots = CounterSlots {
            own: slot,
            common: CounterSlot::default(),
        };
        let allowed = self.renew_windows(&mut slots.own, quota.windows, now.ms());
        self.build_status(quota, &slots, allowed, false)
    }

    /// The figures of a caller who was not counted.
    pub fn unused_status<'a>(&self, quota: impl Into<RateQuota<'a>>, now: Time) -> RateLimitStatus {
        let fresh = WindowCount {
            start_ms: now.ms(),
            used: 0,
        };
        let slot = CounterSlot {
            counts: [fresh; MAX_WINDOWS],
            end_ms: 0,
        };
        let slots = CounterSlots {
            own: slot,
            common: slot,
        };
        self.build_status(quota.into(), &slots, true, false)
    }

    /// Whether nobody is refused.
    pub fn is_disabled(&self) -> bool {
        self.mode == RateLimitMode::Off
    }

    /// What an app and its users have used, in windows that are not over at `now`. `windows` are
    /// those of a pool and an operation.
    pub fn app_usage(
        &self,
        app: i64,
        windows: impl Fn(RateLimitSubject, usize) -> &'static [RateWindow],
        now: Time,
    ) -> Vec<WindowUsage> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
            for (key, slot) in shard.iter().filter(|(key, _)| key.subject.belongs_to_app(app)) {
                let windows = match key.counter {
                    LimitCounter::Operation(number) => windows(key.subject, number),
                    LimitCounter::Shared(shared) => std::slice::from_ref(&shared.window),
                };
                let counts = windows.iter().zip(&slot.counts);
                let counted = counts.map(|(window, count)| self.window_usage(*key, *window, *count));
                all.extend(counted.filter(|one| one.used > 0 && one.resets > now));
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
            resets: Time::from_ms(count.start_ms + i64::from(window.seconds) * 1000),
        }
    }

    /// How many pairs of pool and operation are held now.
    pub fn tracked_keys(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    fn try_charge(&self, slots: &mut CounterSlots, quota: RateQuota<'_>, now: i64) -> bool {
        let mut allowed = true;
        for (windows, slot) in slots.pair_windows(quota) {
            allowed &= self.renew_windows(slot, windows, now);
        }
        if allowed {
            for (windows, slot) in slots.pair_windows(quota) {
                for (_, count) in windows.iter().zip(&mut slot.counts) {
                    count.used = count.used.saturating_add(1);
                }
            }
        }
        allowed
    }

    /// Begins the windows of a slot anew that are over; whether none of them is used up.
    fn renew_windows(&self, slot: &mut CounterSlot, windows: &[RateWindow], now: i64) -> bool {
        let mut room = true;
        for (window, count) in windows.iter().zip(&mut slot.counts) {
            let length = i64::from(window.seconds) * 1000;
            let into = now - count.start_ms;
            // A machine's clock that was set back must not freeze a window for good.
            if !(-length..length).contains(&into) || count.used == 0 {
                *count = WindowCount { start_ms: now, used: 0 };
            }
            room &= count.used < self.allowed_calls(*window);
        }
        let ends = windows.iter().zip(&slot.counts);
        let ends = ends.map(|(window, count)| count.start_ms + i64::from(window.seconds) * 1000);
        slot.end_ms = ends.max().unwrap_or(now);
        room
    }

    fn build_status(
        &self,
        quota: RateQuota<'_>,
        slots: &CounterSlots,
        allowed: bool,
        of_user: bool,
    ) -> RateLimitStatus {
        let figures = |(window, count): (&RateWindow, &WindowCount)| {
            let limit = self.allowed_calls(*window);
            let end = count.start_ms + i64::from(window.seconds) * 1000;
            // Rounded up, so that a client which sleeps until then is let in.
            let reset = end.saturating_add(999).div_euclid(1000);
            (
                window.seconds,
                WindowStatus {
                    limit,
                    remaining: limit.saturating_sub(count.used),
                    reset,
                },
            )
        };
        let own = quota.windows.iter().zip(&slots.own.counts);
        let shared = quota.shared.map(|shared| &shared.window);
        let all = own.chain(shared.into_iter().zip(&slots.common.counts)).map(figures);
        let pick = |seconds: u32| {
            all.clone()
                .find(|(length, _)| *length == seconds)
                .map(|(_, figures)| figures)
        };
        let used_up = all.clone().filter(|(_, figures)| figures.remaining == 0);
        let used_up = used_up.map(|(_, figures)| figures).max_by_key(|figures| figures.reset);
        let common = pick(QUARTER_HOUR_SECONDS).or_else(|| all.clone().next().map(|(_, figures)| figures));
        // A refused client waits for the window that refused it.
        let shown = if allowed { common } else { used_up.or(common) };
        RateLimitStatus {
            allowed,
            common: shown,
            day: pick(DAY_SECONDS),
            is_user_limit: of_user,
        }
    }

    fn allowed_calls(&self, window: RateWindow) -> u32 {
        match self.mode {
            RateLimitMode::Scale(times) => window.calls.saturating_mul(times),
            RateLimitMode::Off | RateLimitMode::Table => window.calls,
        }
    }
}

/// Drops what is over; if too little is, also what is over soonest.
fn evict_expired(shard: &mut HashMap<CounterKey, CounterSlot>, most: usize, now: i64) {
    shard.retain(|_, slot| slot.end_ms > now);
    if shard.len() < most - most / 8 {
        return;
    }
    let mut ends: Vec<i64> = shard.values().map(|slot| slot.end_ms).collect();
    let eighth = ends.len() / 8;
    let (_, soonest, _) = ends.select_nth_unstable(eighth);
    let (soonest, mut room) = (*soonest, eighth + 1);
    shard.retain(|_, slot| {
        let goes = room > 0 && slot.end_ms <= soonest;
        room -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests;
