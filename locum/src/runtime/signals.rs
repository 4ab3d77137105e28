//! Signal handling: the first signal starts a graceful shutdown, the second exits immediately.

use std::time::Duration;

use base::Fault;
use edge::Shutdown;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::ignored_signals::is_ignored;
use instance::config::RunMode;

/// The conventional exit status after SIGINT.
const INTERRUPTED: i32 = 130;

pub(super) struct StopSignals {
    term: Signal,
    int: Signal,
    /// Of a development server, which ends with its terminal.
    hup: Option<Signal>,
}

impl StopSignals {
    /// From here on, these signals no longer terminate the process. SIGHUP ends a development server, as closing its
    /// terminal does; in production it only asks for the certificate to be read again.
    pub(super) fn install(mode: RunMode) -> Result<Self, Fault> {
        let watch = |kind| signal(kind).map_err(Fault::context("watching for signals"));
        let (term, int) = (watch(SignalKind::terminate())?, watch(SignalKind::interrupt())?);
        // Under `nohup`, the signal stays ignored.
        let hup = if is_ignored(rustix::process::Signal::HUP) { None } else { Some(watch(SignalKind::hangup())?) };
        Ok(Self { term, int, hup: hup.filter(|_| mode == RunMode::Dev) })
    }

    /// Triggers the shutdown after the first signal and the delay; exits immediately on the second.
    pub(super) async fn forward_to_shutdown(mut self, shutdown: Shutdown, delay: Duration) {
        self.next().await;
        super::notify::notify_service_manager("STOPPING=1");
        tracing::info!(delay_seconds = delay.as_secs(), "shutting down; a second signal exits immediately");
        shutdown.announce();
        tokio::select! {
            () = tokio::time::sleep(delay) => {
                shutdown.trigger();
                self.next().await;
            }
            () = self.next() => {}
        }
        tracing::warn!("exiting immediately");
        super::logging::flush();
        std::process::exit(INTERRUPTED);
    }

    async fn next(&mut self) {
        let hangup = async {
            match &mut self.hup {
                Some(hup) => hup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
            _ = hangup => {}
        }
    }
}
