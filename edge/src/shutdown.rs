//! The shutdown signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A one-time signal shared by all clones; waiting after it was triggered returns at once.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    state: Arc<ShutdownState>,
}

#[derive(Debug, Default)]
struct ShutdownState {
    announced: AtomicBool,
    triggered: AtomicBool,
    wake: Notify,
}

impl Shutdown {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the server not ready, while it still serves as usual.
    pub fn announce(&self) {
        self.state.announced.store(true, Ordering::Release);
    }

    pub fn is_announced(&self) -> bool {
        self.state.announced.load(Ordering::Acquire)
    }

    /// Announces it as well.
    pub fn trigger(&self) {
        self.announce();
        self.state.triggered.store(true, Ordering::Release);
        self.state.wake.notify_waiters();
    }

    pub fn is_triggered(&self) -> bool {
        self.state.triggered.load(Ordering::Acquire)
    }

    pub async fn wait(&self) {
        let mut wake = std::pin::pin!(self.state.wake.notified());
        wake.as_mut().enable();
        if !self.is_triggered() {
            wake.await;
        }
    }
}
