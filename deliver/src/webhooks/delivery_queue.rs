//! The in-memory queue of one webhook: the first delivery of each lane may be sent, independent of other lanes. Deliveries
//! with the same order key share a lane, until one has failed so often that it gets its own.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use base::Time;
use store::deliveries::{MAX_BLOCKING_TRIES, PendingDelivery};
use tokio::sync::oneshot;

/// Deliveries held in memory; the rest wait in the store.
const CAPACITY: usize = 10_000;
/// The capacity while all deliveries in memory wait for retries.
const BLOCKED_CAPACITY: usize = 100_000;
/// Concurrent deliveries to one webhook.
const MAX_CONCURRENCY: usize = 16;
/// Waiting deliveries examined at a time.
const SCAN_BATCH: usize = 200;
/// Before every delivery.
const QUEUE_START: (Time, i64) = (Time::from_ms(0), 0);

/// An order key with the number of the only delivery, or 0 if others may follow.
type Lane = (i64, i64);

const fn lane_of(delivery: &PendingDelivery) -> Lane {
    let is_alone = delivery.tries >= MAX_BLOCKING_TRIES;
    (delivery.order_key, if is_alone { delivery.seq } else { 0 })
}

#[derive(Debug, Default)]
pub(super) struct DeliveryQueue {
    lanes: HashMap<Lane, VecDeque<PendingDelivery>>,
    /// The first delivery of each lane by due time, unless it is in flight.
    due_heads: BTreeMap<(Time, i64), Lane>,
    /// By lane, with a handle that aborts the delivery.
    in_flight: HashMap<Lane, (i64, Option<oneshot::Sender<()>>)>,
    /// Everything in memory or not yet recorded as done.
    known_seqs: HashSet<i64>,
    queued: usize,
    /// Whether the store may have more.
    pub(super) is_full: bool,
    concurrency: usize,
    /// The last waiting delivery that was examined.
    scan_position: (Time, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryOutcome {
    Done,
    /// To be sent again at `due`, after so many attempts.
    Retry {
        due: Time,
        tries: i64,
    },
}

impl DeliveryQueue {
    pub(super) fn new() -> Self {
        Self { concurrency: MAX_CONCURRENCY, scan_position: QUEUE_START, ..Self::default() }
    }

    /// How many more deliveries fit.
    pub(super) fn free_capacity(&self) -> usize {
        let stuck = self.due_heads.len() < MAX_CONCURRENCY && self.in_flight.len() < self.concurrency;
        let capacity = if stuck { BLOCKED_CAPACITY } else { CAPACITY };
        capacity.saturating_sub(self.queued)
    }

    /// Adds a waiting delivery unless it is known.
    pub(super) fn push(&mut self, new: PendingDelivery) {
        if self.known_seqs.contains(&new.seq) {
            return;
        }
        if self.free_capacity() == 0 {
            self.is_full = true;
            return;
        }
        self.known_seqs.insert(new.seq);
        self.queued += 1;
        self.insert(new);
    }

    fn insert(&mut self, new: PendingDelivery) {
        let lane = lane_of(&new);
        let flying = self.in_flight.contains_key(&lane);
        let queue = self.lanes.entry(lane).or_default();
        let index = queue.partition_point(|other| other.seq < new.seq);
        if index == 0 && !flying {
            if let Some(first) = queue.front() {
                self.due_heads.remove(&(first.due_at, first.seq));
            }
            self.due_heads.insert((new.due_at, new.seq), lane);
        }
        queue.insert(index, new);
    }

    /// Adds a delivery enqueued since the last was loaded, unless earlier ones are still to be loaded: they come first.
    pub(super) fn push_newest(&mut self, new: PendingDelivery) {
        if !self.is_full {
            self.push(new);
        }
    }

    /// Adds deliveries that were committed late, those after the last loaded one only if nothing is missing between.
    pub(super) fn push_late(&mut self, late: Vec<PendingDelivery>) {
        let end = if self.is_full { self.highest_seq() } else { i64::MAX };
        late.into_iter().filter(|one| one.seq <= end).for_each(|one| self.push(one));
    }

    /// Takes the next delivery that is due; it is in flight from now on.
    pub(super) fn take_due(&mut self, now: Time) -> Option<PendingDelivery> {
        if self.in_flight.len() >= self.concurrency {
            return None;
        }
        let (&(due, seq), &lane) = self.due_heads.first_key_value()?;
        if due > now {
            return None;
        }
        self.due_heads.remove(&(due, seq));
        self.in_flight.insert(lane, (seq, None));
        self.lanes.get(&lane)?.front().copied()
    }

    /// Sets the handle that aborts a delivery in flight.
    pub(super) fn set_stop_handle(&mut self, key: i64, seq: i64, stop: oneshot::Sender<()>) {
        let lane = self.find_lane(key, seq);
        if let Some((_, handle)) = self.in_flight.get_mut(&lane) {
            *handle = Some(stop);
        }
    }

    /// The lane of a delivery that was pushed.
    fn find_lane(&self, key: i64, seq: i64) -> Lane {
        let alone = (key, seq);
        if self.lanes.contains_key(&alone) { alone } else { (key, 0) }
    }

    /// Some of the deliveries that wait for a retry and block others; different ones each time.
    pub(super) fn blocking_heads(&mut self, now: Time) -> Vec<PendingDelivery> {
        let from = self.scan_position.max((now, i64::MAX));
        let beyond = self.due_heads.range((Excluded(from), Unbounded));
        let some: Vec<_> = beyond.take(SCAN_BATCH).collect();
        self.scan_position = match some.last() {
            Some((last, _)) if some.len() == SCAN_BATCH => **last,
            _ => QUEUE_START,
        };
        let queues = some.into_iter().filter_map(|(_, lane)| self.lanes.get(lane));
        let queues = queues.filter(|queue| queue.len() > 1);
        queues.filter_map(|queue| queue.front().copied()).collect()
    }

    pub(super) fn complete(&mut self, key: i64, seq: i64, outcome: DeliveryOutcome) {
        let lane = self.find_lane(key, seq);
        let was_ours = self.in_flight.get(&lane).is_some_and(|(flying, _)| *flying == seq);
        if was_ours {
            self.in_flight.remove(&lane);
        } else if outcome != DeliveryOutcome::Done || self.in_flight.contains_key(&lane) {
            return; // sent before this lane was taken up
        }
        let Some(queue) = self.lanes.get_mut(&lane) else {
            return;
        };
        let Ok(index) = queue.binary_search_by_key(&seq, |waiting| waiting.seq) else {
            return;
        };
        if let Some(first) = queue.front() {
            self.due_heads.remove(&(first.due_at, first.seq));
        }
        let completed = queue.remove(index);
        match queue.front() {
            Some(first) => {
                self.due_heads.insert((first.due_at, first.seq), lane);
            }
            None => {
                self.lanes.remove(&lane);
            }
        }
        match (outcome, completed) {
            (DeliveryOutcome::Retry { due, tries }, Some(again)) => {
                self.insert(PendingDelivery { due_at: due, tries, ..again });
            }
            _ => self.queued = self.queued.saturating_sub(1),
        }
    }

    /// Raises the concurrency after a successful response.
    pub(super) fn raise_concurrency(&mut self) {
        // Zero stays zero: the queue is closed.
        self.concurrency = self.concurrency.saturating_mul(2).min(MAX_CONCURRENCY);
    }

    /// Reduces the concurrency to one after a failure.
    pub(super) fn reduce_concurrency(&mut self) {
        self.concurrency = self.concurrency.min(1);
    }

    /// Makes everything due at once in the order of enqueueing, because the receiver is back.
    pub(super) fn make_all_due(&mut self) {
        let (due, _) = QUEUE_START;
        let heads = std::mem::take(&mut self.due_heads);
        for ((_, seq), lane) in heads {
            if let Some(first) = self.lanes.get_mut(&lane).and_then(VecDeque::front_mut) {
                first.due_at = due;
            }
            self.due_heads.insert((due, seq), lane);
        }
    }

    /// Confirms that a completed delivery has been recorded.
    pub(super) fn confirm_recorded(&mut self, key: i64, seq: i64) {
        let queue = self.lanes.get(&self.find_lane(key, seq));
        let waits = queue.is_some_and(|queue| queue.binary_search_by_key(&seq, |waiting| waiting.seq).is_ok());
        if !waits {
            self.known_seqs.remove(&seq);
        }
    }

    pub(super) fn highest_seq(&self) -> i64 {
        let last = self.lanes.values().filter_map(VecDeque::back);
        last.map(|waiting| waiting.seq).max().unwrap_or(0)
    }

    /// The due time of the next delivery that may be sent.
    pub(super) fn next_due(&self) -> Option<Time> {
        if self.in_flight.len() >= self.concurrency {
            return None;
        }
        self.due_heads.first_key_value().map(|((due, _), _)| *due)
    }

    /// Whether nothing waits and nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.in_flight.is_empty() && self.known_seqs.is_empty()
    }

    pub(super) fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Whether the store does not know yet of a completed delivery.
    pub(super) fn has_unrecorded(&self) -> bool {
        self.known_seqs.len() > self.queued
    }

    /// Stops sending.
    pub(super) const fn close(&mut self) {
        self.concurrency = 0;
    }

    /// Sends again after [`Self::close`].
    pub(super) fn reopen(&mut self) {
        self.concurrency = self.concurrency.max(1);
    }

    pub(super) fn abort_in_flight(&mut self) {
        for (_, stop) in self.in_flight.values_mut() {
            // Dropping the sender notifies the attempt.
            stop.take();
        }
        self.concurrency = 0;
    }
}

#[cfg(test)]
mod tests {
    use base::Time;
    use store::deliveries::PendingDelivery;

    use super::{DeliveryOutcome, DeliveryQueue};

    const NOW: Time = Time::from_seconds(1_780_315_200);

    const fn waiting(seq: i64, order_key: i64) -> PendingDelivery {
        PendingDelivery { seq, webhook_id: 1, order_key, tries: 0, due_at: NOW }
    }

    const fn failed(tries: i64, due: Time) -> DeliveryOutcome {
        DeliveryOutcome::Retry { due, tries }
    }

    fn taken(queue: &mut DeliveryQueue, now: Time) -> Vec<i64> {
        std::iter::from_fn(|| queue.take_due(now)).map(|one| one.seq).collect()
    }

    #[test]
    fn of_each_key_one_is_sent_and_the_next_when_it_arrived() {
        let mut queue = DeliveryQueue::new();
        for (seq, key) in [(1, 7), (2, 7), (3, 8), (4, 7), (5, 8)] {
            queue.push(waiting(seq, key));
            queue.push(waiting(seq, key));
        }
        assert_eq!(taken(&mut queue, NOW), [1, 3]);
        queue.complete(8, 3, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, NOW), [5]);
        let later = NOW.plus_ms(5000);
        queue.complete(7, 1, failed(1, later));
        queue.reduce_concurrency();
        queue.complete(8, 5, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, NOW), Vec::<i64>::new());
        assert_eq!(queue.next_due(), Some(later));
        assert_eq!(taken(&mut queue, later), [1]);
        queue.complete(7, 1, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, later), [2]);
        queue.complete(7, 2, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, later), [4]);
        queue.complete(7, 4, DeliveryOutcome::Done);
        for (seq, key) in [(1, 7), (2, 7), (3, 8), (4, 7), (5, 8)] {
            queue.confirm_recorded(key, seq);
        }
        assert!(queue.is_idle());
    }

    #[test]
    fn what_was_written_late_is_put_into_its_place() {
        let mut queue = DeliveryQueue::new();
        for (seq, key) in [(10, 7), (12, 7), (20, 8), (21, 8)] {
            queue.push(waiting(seq, key));
        }
        assert_eq!(queue.take_due(NOW).unwrap().seq, 10);
        queue.push(waiting(9, 7));
        queue.push(waiting(19, 8));
        assert_eq!(taken(&mut queue, NOW), [19]);
        queue.complete(7, 10, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, NOW), [9]);
        queue.complete(7, 9, DeliveryOutcome::Done);
        assert_eq!(taken(&mut queue, NOW), [12]);
    }

    #[test]
    fn new_deliveries_wait_until_those_before_them_are_loaded() {
        let mut queue = DeliveryQueue::new();
        for seq in [1, 3] {
            queue.push(waiting(seq, 7));
        }
        queue.is_full = true;
        queue.push_newest(waiting(6, 7));
        queue.push_late(vec![waiting(2, 7), waiting(6, 7)]);
        assert_eq!(queue.highest_seq(), 3);
        queue.is_full = false;
        queue.push_late(vec![waiting(4, 7)]);
        queue.push_newest(waiting(6, 7));
        for seq in [1, 2, 3, 4, 6] {
            assert_eq!(taken(&mut queue, NOW), [seq]);
            queue.complete(7, seq, DeliveryOutcome::Done);
        }
    }

    #[test]
    fn a_receiver_that_is_back_gets_everything_at_once() {
        let mut queue = DeliveryQueue::new();
        for seq in 1..=3 {
            queue.push(waiting(seq, seq));
        }
        assert_eq!(taken(&mut queue, NOW), [1, 2, 3]);
        for key in 1..=3 {
            queue.complete(key, key, failed(1, NOW.plus_ms(1_000_000)));
        }
        assert_eq!(taken(&mut queue, NOW), Vec::<i64>::new());
        queue.make_all_due();
        assert_eq!(taken(&mut queue, NOW), [1, 2, 3]);
    }

    #[test]
    fn what_failed_three_times_holds_up_nothing_and_goes_first_when_the_receiver_is_back() {
        let mut queue = DeliveryQueue::new();
        for seq in 1..=4 {
            queue.push(waiting(seq, 7));
        }
        let later = NOW.plus_ms(5000);
        for tries in 1..=2 {
            assert_eq!(taken(&mut queue, later), [1]);
            queue.complete(7, 1, failed(tries, later));
            queue.confirm_recorded(7, 1);
            assert_eq!(taken(&mut queue, NOW), Vec::<i64>::new());
        }
        assert_eq!(taken(&mut queue, later), [1]);
        queue.complete(7, 1, failed(3, later));
        queue.confirm_recorded(7, 1);
        assert_eq!(taken(&mut queue, NOW), [2]);
        queue.complete(7, 2, DeliveryOutcome::Done);
        // Each on its own: the first is not in the way of the third, nor the other way round.
        assert_eq!(taken(&mut queue, later), [3, 1]);
        queue.complete(7, 1, failed(4, later));
        queue.complete(7, 3, DeliveryOutcome::Done);
        queue.make_all_due();
        assert_eq!(taken(&mut queue, NOW), [1, 4]);
        for seq in 1..=4 {
            queue.complete(7, seq, DeliveryOutcome::Done);
            queue.confirm_recorded(7, seq);
        }
        assert!(queue.is_idle());
        // After a restart as well.
        queue.push(PendingDelivery { tries: 3, due_at: later, ..waiting(5, 7) });
        queue.push(waiting(6, 7));
        assert_eq!(taken(&mut queue, NOW), [6]);
    }

    #[test]
    fn what_holds_others_up_is_looked_at_by_turns() {
        let mut queue = DeliveryQueue::new();
        let later = NOW.plus_ms(5000);
        for seq in 0..500 {
            let due_at = if seq < 10 { NOW } else { later };
            queue.push(PendingDelivery { due_at, ..waiting(seq, seq) });
        }
        assert!(queue.blocking_heads(NOW).is_empty(), "nothing waits behind them");
        for seq in 0..500 {
            queue.push(waiting(1000 + seq, seq));
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.extend(queue.blocking_heads(NOW).into_iter().map(|one| one.seq));
        }
        seen.sort_unstable();
        seen.dedup();
        let expected: Vec<i64> = (10..500).collect();
        assert_eq!(seen, expected);
        queue.complete(10, 10, DeliveryOutcome::Done);
        queue.confirm_recorded(10, 10);
        assert!(taken(&mut queue, NOW).contains(&1010));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut queue = DeliveryQueue::new();
        for seq in 0..200_000 {
            queue.push(waiting(seq, seq % 1000));
        }
        assert!(queue.is_full);
        assert_eq!(queue.queued, super::CAPACITY);
        // A failing key does not block others: more is read after it.
        let mut queue = DeliveryQueue::new();
        for seq in 0..20_000 {
            queue.push(waiting(seq, 7));
        }
        queue.push(waiting(20_000, 8));
        assert_eq!(taken(&mut queue, NOW), [0, 20_000]);
    }
}
