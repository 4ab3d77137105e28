//! Signal handling: the first signal starts a graceful shutdown, the second exits immediately.

use base::Fault;
use edge::Shutdown;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The conventional exit status after SIGINT.
const INTERRUPTED: i32 = 130;

pub(super) struct StopSignals {
    term: Signal,
    int: Signal,
}

impl StopSignals {
    /// From here on, these signals no longer terminate the process.
    pub(super) fn install() -> Result<Self, Fault> {
        let watch = |kind| signal(kind).map_err(Fault::context("watching for signals"));
        Ok(Self { term: watch(SignalKind::terminate())?, int: watch(SignalKind::interrupt())? })
    }

    /// Triggers the shutdown on the first signal; exits immediately on the second.
    pub(super) async fn forward_to_shutdown(mut self, shutdown: Shutdown) {
        self.next().await;
        super::notify::notify_service_manager("STOPPING=1");
        tracing::info!("shutting down; a second signal exits immediately");
        shutdown.trigger();
        self.next().await;
        tracing::warn!("exiting immediately");
        std::process::exit(INTERRUPTED);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
        }
    }
}
