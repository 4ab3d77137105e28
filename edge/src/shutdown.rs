//! The signal that the server is going away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A signal given once and seen by all clones, before or after it was given.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    state: Arc<ShutdownState>,
}

#[derive(Debug, Default)]
struct ShutdownState {
    triggered: AtomicBool,
    wake: Notify,
}

impl Shutdown {
    /// A signal that has not been given.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal; a second call does nothing.
    pub fn trigger(&self) {
        self.state.triggered.store(true, Ordering::Release);
        self.state.wake.notify_waiters();
    }

    /// Whether the signal has been given.
    pub fn is_triggered(&self) -> bool {
        self.state.triggered.load(Ordering::Acquire)
    }

    /// Waits for the signal.
    pub async fn wait(&self) {
        let mut wake = std::pin::pin!(self.state.wake.notified());
        wake.as_mut().enable();
        if !self.is_triggered() {
            wake.await;
        }
    }
}
