//! What waits for one webhook, in memory: of each order key the first may be sent, and no other
//! waits for it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use base::Time;
use store::deliveries::PendingDelivery;
use tokio::sync::oneshot;

/// What is held of one webhook's queue; the rest waits in the store.
const ROOM: usize = 10_000;
/// The same while all that is held waits for something that fails.
const MORE_ROOM: usize = 100_000;
/// What is sent to one webhook at once.
const WIDEST: usize = 16;
/// Of those that wait for their time, so many are looked at together.
const LOOKED: usize = 200;
/// Before everything.
const BEFORE: (Time, i64) = (Time::from_ms(0), 0);

/// The queue of one webhook.
#[derive(Debug, Default)]
pub(super) struct Lane {
    keys: HashMap<i64, VecDeque<PendingDelivery>>,
    /// The first of each key, unless it is being sent, by when it is due.
    heads: BTreeMap<(Time, i64), i64>,
    /// What is being sent, by key, with what stops it.
    flights: HashMap<i64, (i64, Option<oneshot::Sender<()>>)>,
    /// All that is held or not yet noted as done.
    known: HashSet<i64>,
    held: usize,
    /// Whether more may wait in the store.
    pub(super) is_full: bool,
    width: usize,
    /// The last that was looked at of those that wait for their time.
    looked: (Time, i64),
}

/// What became of something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is done with.
    Gone,
    /// It is sent again at a time.
    Again(Time),
}

impl Lane {
    pub(super) fn new() -> Self {
        Self {
            width: WIDEST,
            looked: BEFORE,
            ..Self::default()
        }
    }

    /// How much more the lane takes up.
    pub(super) fn room(&self) -> usize {
        let stuck = self.heads.len() < WIDEST && self.flights.len() < self.width;
        let most = if stuck { MORE_ROOM } else { ROOM };
        most.saturating_sub(self.held)
    }

    /// Takes up something that waits, unless it is known.
    pub(super) fn push(&mut self, new: PendingDelivery) {
        if self.known.contains(&new.seq) {
            return;
        }
        if self.room() == 0 {
            self.is_full = true;
            return;
        }
        self.known.insert(new.seq);
        self.held += 1;
        let key = new.order_key;
        let flying = self.flights.contains_key(&key);
        let queue = self.keys.entry(key).or_default();
        let place = queue.partition_point(|other| other.seq < new.seq);
        if place == 0 && !flying {
            if let Some(first) = queue.front() {
                self.heads.remove(&(first.due_at, first.seq));
            }
            self.heads.insert((new.due_at, new.seq), key);
        }
        queue.insert(place, new);
    }

    /// The next that is due and may be sent; it is on its way from now on.
    pub(super) fn take(&mut self, now: Time) -> Option<PendingDelivery> {
        if self.flights.len() >= self.width {
            return None;
        }
        let (&(due, seq), &key) = self.heads.first_key_value()?;
        if due > now {
            return None;
        }
        self.heads.remove(&(due, seq));
        self.flights.insert(key, (seq, None));
        self.keys.get(&key)?.front().copied()
    }

    /// Says what stops something that is being sent.
    pub(super) fn may_stop(&mut self, key: i64, stop: oneshot::Sender<()>) {
        if let Some((_, place)) = self.flights.get_mut(&key) {
            *place = Some(stop);
        }
    }

    /// Some of those that wait for a later time while others wait behind them; the next time it is
    /// others.
    pub(super) fn holding_up(&mut self, now: Time) -> Vec<PendingDelivery> {
        let from = self.looked.max((now, i64::MAX));
        let beyond = self.heads.range((Excluded(from), Unbounded));
        let some: Vec<_> = beyond.take(LOOKED).collect();
        self.looked = match some.last() {
            Some((last, _)) if some.len() == LOOKED => **last,
            _ => BEFORE,
        };
        let queues = some.into_iter().filter_map(|(_, key)| self.keys.get(key));
        let queues = queues.filter(|queue| queue.len() > 1);
        queues.filter_map(|queue| queue.front().copied()).collect()
    }

    /// What was sent has come to an end.
    pub(super) fn landed(&mut self, key: i64, seq: i64, fate: Fate) {
        let was_ours = self
            .flights
            .get(&key)
            .is_some_and(|(flying, _)| *flying == seq);
        if was_ours {
            self.flights.remove(&key);
        } else if fate != Fate::Gone || self.flights.contains_key(&key) {
            return; // sent before this lane was taken up
        }
        let Some(queue) = self.keys.get_mut(&key) else {
            return;
        };
        let Ok(place) = queue.binary_search_by_key(&seq, |waiting| waiting.seq) else {
            return;
        };
        if let Some(first) = queue.front() {
            self.heads.remove(&(first.due_at, first.seq));
        }
        match fate {
            Fate::Gone => {
                queue.remove(place);
                self.held = self.held.saturating_sub(1);
            }
            Fate::Again(due) => {
                if let Some(waiting) = queue.get_mut(place) {
                    waiting.due_at = due;
                }
            }
        }
        match queue.front() {
            Some(first) => {
                self.heads.insert((first.due_at, first.seq), key);
            }
            None => {
                self.keys.remove(&key);
            }
        }
    }

    /// The receiver answered: more may be sent to it at once.
    pub(super) fn widen(&mut self) {
        // One that is closed stays so.
        self.width = self.width.saturating_mul(2).min(WIDEST);
    }

    /// It did not: one is tried at a time.
    pub(super) fn narrow(&mut self) {
        self.width = self.width.min(1);
    }

    /// The receiver is back: nothing waits for its time any more.
    pub(super) fn release(&mut self, now: Time) {
        let heads = std::mem::take(&mut self.heads);
        for ((due, seq), key) in heads {
            let due = due.min(now);
            if let Some(first) = self.keys.get_mut(&key).and_then(VecDeque::front_mut) {
                first.due_at = due;
            }
            self.heads.insert((due, seq), key);
        }
    }

    /// Something is noted as done that was sent with a key.
    pub(super) fn noted(&mut self, key: i64, seq: i64) {
        let queue = self.keys.get(&key);
        let held = queue.is_some_and(|queue| {
            let place = queue.binary_search_by_key(&seq, |waiting| waiting.seq);
            place.is_ok()
        });
        if !held {
            self.known.remove(&seq);
        }
    }

    /// The highest place that is held.
    pub(super) fn highest(&self) -> i64 {
        let last = self.keys.values().filter_map(VecDeque::back);
        last.map(|waiting| waiting.seq).max().unwrap_or(0)
    }

    /// When the next is due that may be sent.
    pub(super) fn next_due(&self) -> Option<Time> {
        if self.flights.len() >= self.width {
            return None;
        }
        self.heads.first_key_value().map(|((due, _), _)| *due)
    }

    /// Whether nothing waits and nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.keys.is_empty() && self.flights.is_empty() && self.known.is_empty()
    }

    /// Whether something is on its way.
    pub(super) fn is_flying(&self) -> bool {
        !self.flights.is_empty()
    }

    /// Sends nothing more.
    pub(super) const fn close(&mut self) {
        self.width = 0;
    }

    /// Stops what is on its way.
    pub(super) fn stop(&mut self) {
        for (_, stop) in self.flights.values_mut() {
            // Dropped, it stops what listens to it.
            stop.take();
        }
        self.width = 0;
    }
}

#[cfg(test)]
mod tests {
    use base::Time;
    use store::deliveries::PendingDelivery;

    use super::{Fate, Lane};

    const NOW: Time = Time::from_seconds(1_780_315_200);

    const fn waiting(seq: i64, order_key: i64) -> PendingDelivery {
        PendingDelivery {
            seq,
            webhook_id: 1,
            order_key,
            due_at: NOW,
        }
    }

    fn taken(lane: &mut Lane, now: Time) -> Vec<i64> {
        std::iter::from_fn(|| lane.take(now))
            .map(|one| one.seq)
            .collect()
    }

    #[test]
    fn of_each_key_one_is_sent_and_the_next_when_it_arrived() {
        let mut lane = Lane::new();
        for (seq, key) in [(1, 7), (2, 7), (3, 8), (4, 7), (5, 8)] {
            lane.push(waiting(seq, key));
            lane.push(waiting(seq, key));
        }
        assert_eq!(taken(&mut lane, NOW), [1, 3]);
        lane.landed(8, 3, Fate::Gone);
        assert_eq!(taken(&mut lane, NOW), [5]);
        let later = NOW.plus_ms(5000);
        lane.landed(7, 1, Fate::Again(later));
        lane.narrow();
        lane.landed(8, 5, Fate::Gone);
        assert_eq!(taken(&mut lane, NOW), Vec::<i64>::new());
        assert_eq!(lane.next_due(), Some(later));
        assert_eq!(taken(&mut lane, later), [1]);
        lane.landed(7, 1, Fate::Gone);
        assert_eq!(taken(&mut lane, later), [2]);
        lane.landed(7, 2, Fate::Gone);
        assert_eq!(taken(&mut lane, later), [4]);
        lane.landed(7, 4, Fate::Gone);
        for (seq, key) in [(1, 7), (2, 7), (3, 8), (4, 7), (5, 8)] {
            lane.noted(key, seq);
        }
        assert!(lane.is_idle());
    }

    #[test]
    fn what_was_written_late_is_put_into_its_place() {
        let mut lane = Lane::new();
        for (seq, key) in [(10, 7), (12, 7), (20, 8), (21, 8)] {
            lane.push(waiting(seq, key));
        }
        assert_eq!(lane.take(NOW).unwrap().seq, 10);
        lane.push(waiting(9, 7));
        lane.push(waiting(19, 8));
        assert_eq!(taken(&mut lane, NOW), [19]);
        lane.landed(7, 10, Fate::Gone);
        assert_eq!(taken(&mut lane, NOW), [9]);
        lane.landed(7, 9, Fate::Gone);
        assert_eq!(taken(&mut lane, NOW), [12]);
    }

    #[test]
    fn a_receiver_that_is_back_gets_everything_at_once() {
        let mut lane = Lane::new();
        for seq in 1..=3 {
            lane.push(waiting(seq, seq));
        }
        assert_eq!(taken(&mut lane, NOW), [1, 2, 3]);
        for key in 1..=3 {
            lane.landed(key, key, Fate::Again(NOW.plus_ms(1_000_000)));
        }
        assert_eq!(taken(&mut lane, NOW), Vec::<i64>::new());
        lane.release(NOW);
        assert_eq!(taken(&mut lane, NOW), [1, 2, 3]);
    }

    #[test]
    fn what_holds_others_up_is_looked_at_by_turns() {
        let mut lane = Lane::new();
        let later = NOW.plus_ms(5000);
        for seq in 0..500 {
            let due_at = if seq < 10 { NOW } else { later };
            lane.push(PendingDelivery {
                due_at,
                ..waiting(seq, seq)
            });
        }
        assert!(lane.holding_up(NOW).is_empty(), "nothing waits behind them");
        for seq in 0..500 {
            lane.push(waiting(1000 + seq, seq));
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.extend(lane.holding_up(NOW).into_iter().map(|one| one.seq));
        }
        seen.sort_unstable();
        seen.dedup();
        let expected: Vec<i64> = (10..500).collect();
        assert_eq!(seen, expected);
        lane.landed(10, 10, Fate::Gone);
        lane.noted(10, 10);
        assert!(taken(&mut lane, NOW).contains(&1010));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut lane = Lane::new();
        for seq in 0..200_000 {
            lane.push(waiting(seq, seq % 1000));
        }
        assert!(lane.is_full);
        assert_eq!(lane.held, super::ROOM);
        // One key that fails holds back no other: more is read behind it.
        let mut lane = Lane::new();
        for seq in 0..20_000 {
            lane.push(waiting(seq, 7));
        }
        lane.push(waiting(20_000, 8));
        assert_eq!(taken(&mut lane, NOW), [0, 20_000]);
    }
}
