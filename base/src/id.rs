//! Snowflake ids: typed by kind, with the time of creation in the high bits.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::atomic::{self, AtomicI64};

use crate::{Clock, Time};

/// Milliseconds since 1970 at which snowflake time begins (contract core §1).
pub const EPOCH_MS: i64 = 1_288_834_974_657;
const NODE_BITS: u32 = 10;
const SEQUENCE_BITS: u32 = 12;
const MAX_SEQUENCE: i64 = (1 << SEQUENCE_BITS) - 1;
/// How far a reserved id may be ahead of the clock: many ids of a frozen clock are.
const RESERVABLE_AHEAD_MS: i64 = 1_000;
const LOW_BITS: u32 = NODE_BITS + SEQUENCE_BITS;

/// The id of one kind of object, written as a decimal string of at most 19 digits.
pub struct Id<K>(i64, PhantomData<fn() -> K>);

pub mod marker {
    pub enum AppMarker {}
    pub enum MediaMarker {}
    pub enum PollMarker {}
    pub enum PostMarker {}
    pub enum UserMarker {}
}

pub type AppId = Id<marker::AppMarker>;
pub type MediaId = Id<marker::MediaMarker>;
pub type PostId = Id<marker::PostMarker>;
pub type UserId = Id<marker::UserMarker>;

impl<K> Id<K> {
    pub const fn new(number: i64) -> Self {
        Self(number, PhantomData)
    }

    /// Parses `^[0-9]{1,19}$`; `None` above 2⁶³−1. Leading zeros are accepted.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = (1..=19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if plain { text.parse().ok().map(Self::new) } else { None }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    pub const fn created_at(self) -> Time {
        snowflake_time(self.0)
    }
}

pub const fn snowflake_time(id: i64) -> Time {
    Time::from_ms((id >> LOW_BITS) + EPOCH_MS)
}

/// The smallest snowflake of a moment; smaller ids are older. Zero before [`EPOCH_MS`], and the highest number after the
/// last moment that a snowflake has, in 2080.
pub const fn first_snowflake_at(time: Time) -> i64 {
    match time.ms().saturating_sub(EPOCH_MS) {
        ..=0 => 0,
        since if since > i64::MAX >> LOW_BITS => i64::MAX,
        since => since << LOW_BITS,
    }
}

const BASE62_ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The short form that the ids of spaces have.
pub fn encode_base62(id: i64) -> String {
    let mut rest = id.unsigned_abs();
    let mut text = Vec::new();
    while rest > 0 || text.is_empty() {
        let place = usize::try_from(rest % 62).unwrap_or(0);
        text.extend(BASE62_ALPHABET.get(place).copied().map(char::from));
        rest /= 62;
    }
    text.into_iter().rev().collect()
}

/// The inverse of [`encode_base62`]; `None` for anything that it never writes.
pub fn decode_base62(text: &str) -> Option<i64> {
    let number = text.bytes().try_fold(0_i64, |number, byte| {
        let place = BASE62_ALPHABET.iter().position(|letter| *letter == byte)?;
        let digit = i64::try_from(place).ok()?;
        number.checked_mul(62)?.checked_add(digit)
    })?;
    (encode_base62(number) == text).then_some(number)
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> Default for Id<K> {
    fn default() -> Self {
        Self::new(0)
    }
}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Issues strictly increasing snowflakes: 41 bits of milliseconds, 10 of node, 12 of sequence. When
/// the clock steps back, the generator counts on from its last id.
#[derive(Debug)]
pub struct IdGenerator {
    clock: Clock,
    node: AtomicI64,
    /// Milliseconds since the epoch and sequence of the last id, without the node bits.
    last: AtomicI64,
}

impl IdGenerator {
    /// `node` is 0–1023. Ids stay above `floor`, the highest id ever stored.
    pub fn new(clock: Clock, node: u16, floor: i64) -> Self {
        Self {
            clock,
            node: AtomicI64::new(node_bits(node)),
            last: AtomicI64::new(last_of_millisecond(floor, node_bits(node))),
        }
    }

    pub fn next<K>(&self) -> Id<K> {
        let now = pack_sequence(self.clock.now().ms() - EPOCH_MS, 0);
        let step = |last: i64| Some(now.max(last + 1));
        let order = atomic::Ordering::Relaxed;
        let last = self.last.fetch_update(order, order, step).unwrap_or_else(|last| last);
        Id::new(self.unpack(now.max(last + 1)))
    }

    /// Takes an id out of turn, so that later ids are greater. Fails with the ids that can be taken: above all issued
    /// ones, and not after the clock's time by more than a second.
    pub fn reserve(&self, id: i64) -> Result<(), RangeInclusive<i64>> {
        let order = atomic::Ordering::Relaxed;
        let node = self.node.load(order);
        let latest = first_snowflake_at(self.clock.now().plus_ms(RESERVABLE_AHEAD_MS)) - 1;
        let taken = last_of_millisecond(id, node);
        // An id of another node may be below one of the same millisecond that was issued.
        let lowest = if taken & MAX_SEQUENCE == id & MAX_SEQUENCE { taken } else { taken & !MAX_SEQUENCE };
        let is_early_enough = (1..=latest).contains(&id);
        let step = |last: i64| (is_early_enough && lowest > last).then_some(taken);
        self.last.fetch_update(order, order, step).map(drop).map_err(|last| {
            let next = (last + 1).max(pack_sequence(self.clock.now().ms() - EPOCH_MS, 0));
            self.unpack(next)..=latest
        })
    }

    fn unpack(&self, packed: i64) -> i64 {
        let (ms, sequence) = (packed >> SEQUENCE_BITS, packed & MAX_SEQUENCE);
        (ms << LOW_BITS) | (self.node.load(atomic::Ordering::Relaxed) << SEQUENCE_BITS) | sequence
    }

    /// Changes the node of the ids issued from here on; `node` is 0–1023.
    pub fn set_node(&self, node: u16) {
        let order = atomic::Ordering::Relaxed;
        if self.node.swap(node_bits(node), order) != node_bits(node) {
            // The floor may be an id of the former node.
            let step = |last: i64| (last > 0).then_some(last | ((1 << SEQUENCE_BITS) - 1));
            let _unused = self.last.fetch_update(order, order, step);
        }
    }

    /// Makes the ids issued from here on greater than `id`, after an import of newer ids.
    pub fn raise_floor(&self, id: i64) {
        let order = atomic::Ordering::Relaxed;
        self.last.fetch_max(last_of_millisecond(id, self.node.load(order)), order);
    }
}

/// Uniform, and the same on every node.
pub const fn mix_id(id: i64) -> u64 {
    mix_bits(id.unsigned_abs())
}

/// The finalizer of `SplitMix64`: distinct for distinct numbers.
pub const fn mix_bits(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Of the absolute value, in lower case.
pub fn format_base36(number: i64) -> String {
    let mut rest = number.unsigned_abs();
    let mut digits = Vec::with_capacity(13);
    while rest > 0 || digits.is_empty() {
        let digit = u8::try_from(rest % 36).unwrap_or(0);
        digits.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        rest /= 36;
    }
    digits.reverse();
    String::from_utf8(digits).unwrap_or_default()
}

fn node_bits(node: u16) -> i64 {
    i64::from(node & 0x3ff)
}

/// What this node may have issued up to the highest id: in the millisecond of another node's id, it may be any.
const fn last_of_millisecond(id: i64, own_node: i64) -> i64 {
    let is_own = (id >> SEQUENCE_BITS) & 0x3ff == own_node;
    if id <= 0 || is_own {
        pack_sequence(id >> LOW_BITS, id & ((1 << SEQUENCE_BITS) - 1))
    } else {
        pack_sequence((id >> LOW_BITS) + 1, 0) - 1
    }
}

const fn pack_sequence(ms: i64, sequence: i64) -> i64 {
    (ms << SEQUENCE_BITS) | sequence
}

#[cfg(test)]
mod tests {
    use super::{EPOCH_MS, IdGenerator, PostId, decode_base62, encode_base62, first_snowflake_at};
    use crate::{Clock, Time};

    #[test]
    fn rises_when_the_clock_steps_back() {
        let clock = Clock::frozen_at(Time::from_ms(EPOCH_MS + 5_000));
        let ids = IdGenerator::new(clock.clone(), 3, 0);
        let first: PostId = ids.next();
        clock.set(Time::from_ms(EPOCH_MS + 1_000));
        let mut last = first;
        for _ in 0..10_000 {
            let next: PostId = ids.next();
            assert!(next > last);
            last = next;
        }
        assert_eq!(first.created_at(), Time::from_ms(EPOCH_MS + 5_000));
    }

    #[test]
    fn reserved_id_is_above_issued_ones_and_below_later_ones() {
        let now = Time::from_ms(EPOCH_MS + 5_000);
        let ids = IdGenerator::new(Clock::frozen_at(now), 3, 0);
        let issued: PostId = ids.next();
        let range = ids.reserve(issued.get()).unwrap_err();
        assert_eq!((*range.start(), *range.end()), (issued.get() + 1, first_snowflake_at(now.plus_ms(1_000)) - 1));
        for wrong in [0, -5, i64::MAX, first_snowflake_at(now), range.end() + 1] {
            assert!(ids.reserve(wrong).is_err(), "{wrong}");
        }
        for accepted in [issued.get() + 7, first_snowflake_at(now.plus_ms(1)) | 0x9_9001, *range.end()] {
            assert_eq!(ids.reserve(accepted), Ok(()));
            assert!(ids.reserve(accepted).is_err());
            let next: PostId = ids.next();
            assert!(next.get() > accepted);
        }
    }

    #[test]
    fn ids_rise_when_the_node_changes() {
        let ids = IdGenerator::new(Clock::frozen_at(Time::from_ms(EPOCH_MS + 5_000)), 9, 0);
        let before: PostId = ids.next();
        ids.set_node(2);
        let (after, _): (PostId, PostId) = (ids.next(), ids.next());
        assert_eq!([before, after].map(|id| id.get() >> 12 & 0x3ff), [9, 2]);
    }

    #[test]
    fn stays_above_what_is_stored() {
        let clock = Clock::frozen_at(Time::from_ms(EPOCH_MS + 5_000));
        let stored = first_snowflake_at(Time::from_ms(EPOCH_MS + 9_000)) | 0x4d;
        let ids = IdGenerator::new(clock, 0, stored);
        assert!(ids.next::<super::marker::PostMarker>().get() > stored);
    }

    #[test]
    fn generator_above_another_nodes_id_repeats_no_id_of_its_own() {
        let clock = Clock::frozen_at(Time::from_ms(EPOCH_MS + 9_000));
        let before = IdGenerator::new(clock.clone(), 1, 0);
        let other = IdGenerator::new(clock.clone(), 7, 0);
        let issued: Vec<PostId> = (0..50).map(|_| before.next()).collect();
        let highest: PostId = other.next();
        clock.set(Time::from_ms(EPOCH_MS + 5_000));
        let again = IdGenerator::new(clock, 1, 0);
        again.raise_floor(highest.get());
        let next: PostId = again.next();
        assert!(next > highest && !issued.contains(&next));
    }

    #[test]
    fn the_short_form_comes_back() {
        for id in [0, 1, 61, 62, 1_795_233_906_789 << 22, i64::MAX] {
            assert_eq!(decode_base62(&encode_base62(id)), Some(id), "{id}");
        }
        assert!(encode_base62(i64::MAX).len() <= 13);
        for text in ["", "01", "a-b", "zzzzzzzzzzzzz", "é"] {
            assert_eq!(decode_base62(text), None, "{text}");
        }
    }

    #[test]
    fn reads_only_digits() {
        assert_eq!(PostId::parse("0020").map(PostId::get), Some(20));
        for text in ["", "-1", "+1", "1a", "9223372036854775808", "12345678901234567890", " 1"] {
            assert_eq!(PostId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn moment_after_the_last_snowflake_is_after_all_of_them() {
        let at = |year: i64| first_snowflake_at(Time::from_ms((year - 1970) * 31_556_952_000));
        assert!(0 < at(2026) && at(2026) < at(2079));
        assert_eq!([at(2000), at(2081), at(2099), at(9999)], [0, i64::MAX, i64::MAX, i64::MAX]);
    }
}
