//! Runs store futures outside a server.

use base::Fault;

pub(crate) fn block_on<T, E: From<Fault>>(future: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::context("starting the runtime"))?;
    runtime.block_on(Box::pin(future))
}
