//! Jobs that look for something to do at intervals, and at once when the clock of a development world is moved.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Time};
use edge::Shutdown;
use store::Tx;
use tokio::sync::RwLock;

use super::supervisor::Supervisor;
use super::{ads_jobs, background_jobs};
use instance::Instance;
use instance::config::ServerSettings;

pub(super) type PartFuture = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send>>;

pub(super) struct BackgroundJob {
    pub(super) name: &'static str,
    pub(super) interval: Duration,
    /// Does a small part of what is due; returns how many things it did. Nodes that do this at the same time do each
    /// thing once.
    pub(super) run_part: fn(Instance) -> PartFuture,
    /// When something is due next, after now.
    pub(super) next_due: fn(&mut Tx<'_>, &ServerSettings) -> Result<Option<Time>, Error>,
}

/// All jobs, in the order in which they run when the clock is moved.
pub(super) fn list_jobs() -> impl Iterator<Item = &'static BackgroundJob> {
    background_jobs::JOBS.iter().chain(ads_jobs::JOBS)
}

/// Held for reading by each job while it works, and for writing by what runs all of them in order.
pub(super) type JobGate = Arc<RwLock<()>>;

pub(super) fn start_jobs(tasks: &mut Supervisor, instance: &Instance, gate: &JobGate) {
    for job in list_jobs() {
        let context = (instance.clone(), Arc::clone(gate));
        tasks.start(job.name, &context, move |(instance, gate), shutdown| run_job(job, instance, gate, shutdown));
    }
}

async fn run_job(job: &'static BackgroundJob, instance: Instance, gate: JobGate, shutdown: Shutdown) {
    while !shutdown.is_triggered() {
        let done = if instance.store.context().node.has_wrong_clock() {
            Ok(0)
        } else {
            let _turn = gate.read().await;
            (job.run_part)(instance.clone()).await
        };
        match done {
            Ok(0) => {}
            // There may be more.
            Ok(_) => continue,
            Err(error) => tracing::warn!(%error, job = job.name, "failed to run a background job; will retry"),
        }
        tokio::select! {
            () = instance.store.pause_background_work(job.interval) => {}
            () = shutdown.wait() => {}
        }
    }
}
