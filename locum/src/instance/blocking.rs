//! Waits for the store's answers where no server runs.

use base::Fault;

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T, E: From<Fault>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::context("starting the runtime"))?;
    runtime.block_on(Box::pin(future))
}
