//! Runs store futures outside a server.

use std::pin::Pin;

use base::Fault;

pub fn block_on<T, E: From<Fault>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let mut outcome = None;
    run_to_end(Box::pin(async { outcome = Some(future.await) }))?;
    outcome.unwrap_or_else(|| Err(Fault::new("the runtime ended early").into()))
}

/// The runtime is compiled once, and not for each kind of future.
fn run_to_end(future: Pin<Box<dyn Future<Output = ()> + '_>>) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Fault::context("starting the runtime"))?.block_on(future);
    Ok(())
}
