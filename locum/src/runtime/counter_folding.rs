//! Adds the changes of shared counters to their rows, on one node at a time.

use std::time::Duration;

use edge::Shutdown;
use tokio::time::{sleep, timeout};

use instance::Instance;

/// Collects changes of the same counters.
const FOLD_INTERVAL: Duration = Duration::from_millis(250);
/// While there are more changes than one transaction takes.
const BACKLOG_INTERVAL: Duration = Duration::from_millis(50);
/// Who changes counters appends events; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);
const CHANGES_PER_TABLE: i64 = 2_000;

pub(super) async fn fold_counters(instance: Instance, shutdown: Shutdown) {
    let mut events = instance.store.subscribe_events();
    let mut pause = FOLD_INTERVAL;
    events.mark_changed();
    while !shutdown.is_triggered() {
        if pause == FOLD_INTERVAL {
            tokio::select! {
                _ = timeout(FALLBACK_INTERVAL, events.changed()) => {}
                () = shutdown.wait() => return,
            }
        }
        tokio::select! {
            () = sleep(pause) => {}
            () = shutdown.wait() => return,
        }
        events.mark_unchanged();
        let folded = instance.store.write(|tx| Ok(store::counters::fold_deltas(tx, CHANGES_PER_TABLE)?)).await;
        pause = match folded {
            Ok(true) => BACKLOG_INTERVAL,
            Ok(false) => FOLD_INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "failed to add changes to counters; will retry");
                FOLD_INTERVAL
            }
        };
    }
}
