//! One connection per process on which it learns of new log entries, and numbers them while it is the sequencer.

mod session;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::Fault;
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, sleep_until};

use super::tls::ConnectionTarget;
use session::ListenerSession;

/// Collects commits that follow each other into one batch.
const COLLECT_DELAY: Duration = Duration::from_millis(2);
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(100);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);

pub(crate) struct EventListenerOptions {
    pub(crate) target: Arc<ConnectionTarget>,
    /// Distinguishes this process from all others, and from earlier ones on this machine.
    pub(crate) holder: String,
    /// Counts the commits of this process that appended entries.
    pub(crate) committed: watch::Receiver<u64>,
    /// Raised when there are new entries to read.
    pub(crate) appended: Arc<watch::Sender<u64>>,
}

/// The thread ends when the sender is gone.
pub(crate) fn spawn_event_listener(
    options: EventListenerOptions,
) -> Result<(oneshot::Sender<()>, JoinHandle<()>), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::context("starting a runtime"))?;
    let (stop, stopped) = oneshot::channel();
    let run = move || runtime.block_on(keep_listening(options, stopped));
    let thread = thread::Builder::new().name("store-events".to_owned()).spawn(run);
    Ok((stop, thread.map_err(Fault::context("starting a thread"))?))
}

/// Connects again, with increasing delays, whenever the connection is lost.
async fn keep_listening(mut options: EventListenerOptions, mut stopped: oneshot::Receiver<()>) {
    let mut delay = MIN_RECONNECT_DELAY;
    while let Err(fault) = run_session(&mut options, &mut stopped, &mut delay).await {
        tracing::warn!(error = %fault, "the connection that announces event log entries is lost; will retry");
        tokio::select! {
            _ = &mut stopped => return,
            () = sleep(delay) => {}
        }
        delay = (delay * 2).min(MAX_RECONNECT_DELAY);
    }
}

/// Returns without an error once the process is to stop.
async fn run_session(
    options: &mut EventListenerOptions,
    stopped: &mut oneshot::Receiver<()>,
    delay: &mut Duration,
) -> Result<(), Fault> {
    let mut session = tokio::select! {
        _ = &mut *stopped => return Ok(()),
        session = ListenerSession::connect(options) => session?,
    };
    session.tick().await?;
    *delay = MIN_RECONNECT_DELAY;
    // What happened without a connection was not announced.
    options.appended.send_modify(|count| *count += 1);
    let signals = session.signals();
    loop {
        tokio::select! {
            _ = &mut *stopped => break,
            () = signals.closed.notified() => return Err(Fault::new("the server closed the connection")),
            changed = options.committed.changed() => {
                if changed.is_err() {
                    break;
                }
                sleep(COLLECT_DELAY).await;
                options.committed.mark_unchanged();
                session.announce_commits().await?;
            }
            () = signals.committed.notified() => {
                sleep(COLLECT_DELAY).await;
                session.number_entries().await?;
            }
            () = signals.released.notified() => session.take_over().await?,
            () = sleep_until(session.next_tick()) => session.tick().await?,
        }
    }
    if let Err(fault) = session.release().await {
        tracing::debug!(error = %fault, "the sequencer's lease was not given up");
    }
    Ok(())
}
