//! The first signal asks to stop, the second does not ask.

use base::Fault;
use edge::Shutdown;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What the shell expects of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Waits for SIGTERM and SIGINT.
pub(super) struct StopSignals {
    term: Signal,
    int: Signal,
}

impl StopSignals {
    /// From here on the process does not die of them.
    pub(super) fn install() -> Result<Self, Fault> {
        let watch = |kind| signal(kind).map_err(Fault::context("watching for signals"));
        Ok(Self {
            term: watch(SignalKind::terminate())?,
            int: watch(SignalKind::interrupt())?,
        })
    }

    /// Gives the signal to stop, then waits for the second, which ends the process at once.
    pub(super) async fn forward_to_shutdown(mut self, shutdown: Shutdown) {
        self.next().await;
        super::notify::notify_service_manager("STOPPING=1");
        tracing::info!("stopping; a second signal stops at once");
        shutdown.trigger();
        self.next().await;
        tracing::warn!("stopped at once");
        std::process::exit(INTERRUPTED);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
        }
    }
}
