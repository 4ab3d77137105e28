//! Signal handling: the first signal starts a graceful shutdown, the second exits immediately.

use base::Fault;
use edge::Shutdown;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::RunMode;

/// The conventional exit status after SIGINT.
const INTERRUPTED: i32 = 130;

pub(super) struct StopSignals {
    term: Signal,
    int: Signal,
    hup: Signal,
    /// Whether the server ends with its terminal.
    ends_with_terminal: bool,
}

impl StopSignals {
    /// From here on, these signals no longer terminate the process. SIGHUP ends a development server, as closing its
    /// terminal does; in production it only asks for the certificate to be read again.
    pub(super) fn install(mode: RunMode) -> Result<Self, Fault> {
        let watch = |kind| signal(kind).map_err(Fault::context("watching for signals"));
        Ok(Self {
            term: watch(SignalKind::terminate())?,
            int: watch(SignalKind::interrupt())?,
            hup: watch(SignalKind::hangup())?,
            ends_with_terminal: mode == RunMode::Dev,
        })
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
            _ = self.hup.recv(), if self.ends_with_terminal => {}
        }
    }
}
