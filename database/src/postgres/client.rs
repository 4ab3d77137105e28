//! A connection to PostgreSQL whose every wait has a limit.

use std::sync::Arc;
use std::time::Duration;

use base::Fault;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Error};

use super::tls::{ConnectionTarget, PlainDriver};

pub(super) struct PostgresClient {
    pub(super) client: Arc<Client>,
    runtime: Runtime,
    /// Waits for the server; statements that are sent together share one.
    pub(super) round_trips: u64,
    /// What the server still does is unknown.
    has_timed_out: bool,
}

pub(super) enum WaitError {
    Server(Error),
    /// The time in which no answer came.
    TimedOut(Duration),
}

impl PostgresClient {
    pub(super) fn connect(target: &ConnectionTarget, host: &Config, limit: Duration) -> Result<Self, Fault> {
        let runtime = new_runtime()?;
        let connected = runtime.block_on(async { timeout(limit, target.connect(host, &PlainDriver)).await });
        let connected = connected.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            Err(Fault::new(format!("PostgreSQL at {target} did not answer within {seconds:.1} s")).into_transient())
        });
        match connected {
            Ok(client) => Ok(Self { client: Arc::new(client), runtime, round_trips: 0, has_timed_out: false }),
            Err(fault) => {
                // A name may still be looked up.
                runtime.shutdown_background();
                Err(fault)
            }
        }
    }

    /// After a time-out, the connection must not be used again.
    pub(super) fn wait<T>(
        &mut self,
        limit: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, WaitError> {
        self.round_trips += 1;
        let answer = self.runtime.block_on(async { timeout(limit, answer).await });
        self.has_timed_out |= answer.is_err();
        answer.map_err(|_| WaitError::TimedOut(limit))?.map_err(WaitError::Server)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.has_timed_out || self.client.is_closed()
    }
}

pub(super) fn new_runtime() -> Result<Runtime, Fault> {
    Builder::new_current_thread().enable_all().build().map_err(Fault::context("starting a connection's runtime"))
}
