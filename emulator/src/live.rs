//! Tells console pages what has changed, so that they load it anew.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Pages that are open at the same time, at most.
pub const MAX_VIEWERS: usize = 32;

base::named_enum! {
    /// What a page shows; `/console/live` sends the names.
    pub enum LiveTopic {
        Requests = "requests",
        Streams = "streams",
        Webhooks = "webhooks",
        Events = "events",
        Faults = "faults",
        Clock = "clock",
        Worlds = "worlds",
    }
}

/// How often each topic has changed, in the order of [`LiveTopic::ALL`].
pub type LiveVersions = [u64; LiveTopic::ALL.len()];

#[derive(Debug)]
pub struct LiveUpdates {
    versions: watch::Sender<LiveVersions>,
    viewers: Arc<Semaphore>,
}

impl Default for LiveUpdates {
    fn default() -> Self {
        Self { versions: watch::Sender::default(), viewers: Arc::new(Semaphore::new(MAX_VIEWERS)) }
    }
}

impl LiveUpdates {
    /// Costs next to nothing while no page is open.
    pub fn publish(&self, topic: LiveTopic) {
        if self.versions.receiver_count() == 0 {
            return;
        }
        let place = LiveTopic::ALL.iter().position(|one| *one == topic);
        self.versions.send_modify(|versions| {
            if let Some(version) = place.and_then(|place| versions.get_mut(place)) {
                *version = version.wrapping_add(1);
            }
        });
    }

    /// None if too many pages are open. The permit is returned when it is dropped.
    pub fn subscribe(&self) -> Option<(watch::Receiver<LiveVersions>, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.viewers).try_acquire_owned().ok()?;
        Some((self.versions.subscribe(), permit))
    }
}
