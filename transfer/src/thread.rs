//! Blocking work outside the async runtime.

use base::Fault;
use tokio::sync::oneshot;

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Fault> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop).map_err(Fault::context("failed to start a thread"))
}

pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    let (reply, answer) = oneshot::channel();
    spawn("transfer", move || {
        // The caller may be gone.
        drop(reply.send(work()));
    })?;
    answer.await.map_err(|_| Fault::new("a thread of the transfer stopped unexpectedly"))
}
