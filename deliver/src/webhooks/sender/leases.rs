//! Which webhooks this node sends to: each is leased by one node, and they are spread over those that take on work.

use std::collections::HashSet;
use std::time::Duration;

use base::{Error, clock};
use futures_util::stream::FuturesUnordered;
use store::Tx;
use store::webhooks;

use super::{IDLE_SCAN_DELAY, SenderState, WORKERS_SETTLE_TIME};

impl SenderState {
    /// Gives everything up when the node's lease was lost: other nodes have what it leased under its old incarnation.
    pub(super) fn follow_incarnation(&mut self) {
        let current = self.store.context().node.incarnation();
        if self.incarnation != current {
            self.incarnation = current;
            // Attempts that ended later would be taken for those of the queues that are loaded again.
            self.in_flight = FuturesUnordered::new();
            self.active.clear();
            self.notify_stop_waiters();
            self.ready.clear();
            self.unclaimed.clear();
            self.next_scan = clock::monotonic_now();
        }
    }

    /// Looks for webhooks that fall to this node now.
    pub(super) fn follow_workers(&mut self) {
        let count = self.store.context().node.worker_count();
        if self.worker_count != count {
            self.worker_count = count;
            self.workers_changed_at = clock::monotonic_now();
            self.next_scan = self.workers_changed_at;
        }
        if self.idle_delay().is_zero() {
            self.next_scan = self.next_scan.min(self.earliest_scan);
        }
    }

    /// By how much scans may be later.
    pub(super) fn idle_delay(&self) -> Duration {
        let is_settled = self.workers_changed_at.elapsed() >= WORKERS_SETTLE_TIME;
        if is_settled && self.store.is_idle() { IDLE_SCAN_DELAY } else { Duration::ZERO }
    }

    pub(super) fn may_send(&self) -> bool {
        self.store.context().node.may_send_as(self.incarnation)
    }

    /// Those of the webhooks with deliveries that fall to this node; the others are found again if they come to it.
    pub(super) fn take_claimable(&mut self) -> Vec<i64> {
        let (unclaimed, node) = (std::mem::take(&mut self.unclaimed), &self.store.context().node);
        if !node.accepts_work() {
            return Vec::new();
        }
        unclaimed.into_iter().filter(|id| node.is_preferred_for(*id)).collect()
    }

    /// Drops webhooks that this node has no lease on, and hands over those that fall to another node now, unless they
    /// fall to this one again before that was possible.
    pub(super) async fn check_leases(&mut self) -> Result<(), Error> {
        let incarnation = self.incarnation;
        let read = move |tx: &mut Tx<'_>| Ok(webhooks::list_leases(tx, incarnation)?);
        let ours: HashSet<i64> = self.store.read(read).await?.into_iter().collect();
        self.active.retain(|id, _| ours.contains(id));
        let node = &self.store.context().node;
        for (id, active) in &mut self.active {
            let is_stopped = self.stop_waiters.iter().any(|(stopped, ..)| stopped == id);
            if !is_stopped && active.webhook.valid && node.is_preferred_for(*id) {
                active.queue.reopen();
            }
        }
        let leaving = ours.iter().copied().filter(|id| !node.is_preferred_for(*id));
        let mut finished = Vec::new();
        for id in leaving {
            let is_finished = self.active.get_mut(&id).is_none_or(|active| {
                active.queue.close();
                !active.queue.has_in_flight() && !active.queue.has_unrecorded()
            });
            if is_finished {
                self.active.remove(&id);
                finished.push(id);
            }
        }
        self.release_leases(finished).await
    }

    /// Releases webhooks to other nodes.
    pub(super) async fn release_leases(&mut self, ids: Vec<i64>) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let incarnation = self.incarnation;
        let release = move |tx: &mut Tx<'_>| {
            for id in &ids {
                webhooks::release_lease(tx, *id, incarnation)?;
            }
            Ok(())
        };
        self.store.write(release).await
    }
}
