//! Cancels the queries of jobs that nobody waits for any more.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::Fault;
use crossbeam_channel::{Sender, bounded};
use tokio::time::timeout;
use tokio_postgres::CancelToken;

use super::client::new_runtime;
use super::tls::ConnectionTarget;
use crate::query_limits::JobControl;

const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
/// Jobs beyond this number run until their limits.
const MAX_QUEUED: usize = 1024;

/// Cancels the query that a connection runs.
pub(crate) struct QueryCanceller {
    pub(super) token: CancelToken,
    pub(super) target: Arc<ConnectionTarget>,
}

impl QueryCanceller {
    /// Connects, which blocks for up to a second.
    pub(crate) fn cancel_query(&self) -> Result<(), Fault> {
        let runtime = new_runtime()?;
        let cancelled =
            runtime.block_on(async { timeout(CANCEL_TIMEOUT, self.target.cancel_query(&self.token)).await });
        runtime.shutdown_background();
        cancelled.unwrap_or_else(|_| Err(Fault::new("PostgreSQL does not answer")))
    }
}

/// Starts the thread that cancels the queries of abandoned jobs.
pub(crate) fn spawn_canceller() -> Result<(Sender<Arc<JobControl>>, JoinHandle<()>), Fault> {
    let (queue, jobs) = bounded::<Arc<JobControl>>(MAX_QUEUED);
    let run = move || jobs.iter().for_each(|control| control.cancel_query());
    let thread = thread::Builder::new().name("store-canceller".to_owned()).spawn(run);
    Ok((queue, thread.map_err(Fault::context("starting a thread"))?))
}
