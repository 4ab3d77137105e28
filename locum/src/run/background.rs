//! Work that nobody waits for: every minute, what has had its time is forgotten.

use std::time::Duration;

use base::{Stop, clock};
use edge::Shutdown;
use store::{log, nonces};

use crate::world::World;

const EACH: Duration = Duration::from_mins(1);
/// Rows in one transaction, so that a long sweep never holds others up.
const BATCH: i64 = 5_000;

/// Sweeps each minute until the signal to stop.
pub(super) async fn keep(world: World, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        let _early = tokio::time::timeout(EACH, shutdown.triggered()).await;
        if shutdown.is_triggered() {
            return;
        }
        if let Err(stop) = sweep(&world).await {
            tracing::warn!(?stop, "sweeping failed; the next minute tries again");
        }
    }
}

async fn sweep(world: &World) -> Result<(), Stop> {
    // Signatures follow the machine's time, the log the platform's.
    let wall = clock::wall();
    world
        .store
        .write(move |tx| Ok(nonces::prune(tx, wall)?))
        .await?;
    world
        .store
        .write(|tx| Ok(network::usage::prune(tx)?))
        .await?;
    let kept = i64::try_from(world.settings.log_retention.as_millis()).unwrap_or(i64::MAX);
    loop {
        let pruned = world.store.write(move |tx| {
            let before = tx.now().plus_ms(kept.saturating_neg());
            Ok(log::prune(tx, before, BATCH)?)
        });
        if pruned.await? < u64::try_from(BATCH).unwrap_or(u64::MAX) {
            return Ok(());
        }
    }
}
