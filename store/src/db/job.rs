//! A piece of work on its way to a connection, and its answer on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use base::{Error, Fault};
use tokio::sync::oneshot;

use super::Tx;

/// Work over a transaction. It may be run again when the engine asks for a retry, so it keeps its
/// hands off everything but the transaction.
pub trait TransactionWork<T>: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static {}

impl<T, F: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static> TransactionWork<T> for F {}

/// The way to a connection's thread.
pub(crate) type JobQueue = crossbeam_channel::Sender<Box<dyn DatabaseJob>>;

/// What a connection's thread sees of a job.
pub(crate) trait DatabaseJob: Send {
    /// Whether it may change something.
    fn is_write(&self) -> bool;
    /// Does the work; false asks to undo what it did.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Sends the answer; a failed commit replaces whatever the work had to say.
    fn finish(self: Box<Self>, commit: Result<(), Arc<Fault>>);
}

pub(crate) struct PendingJob<F, T> {
    work: F,
    is_write: bool,
    outcome: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T: Send + 'static, F: TransactionWork<T>> PendingJob<F, T> {
    pub(crate) fn new_boxed(work: F, reply: oneshot::Sender<Result<T, Error>>, writes: bool) -> Box<dyn DatabaseJob> {
        Box::new(Self {
            work,
            is_write: writes,
            outcome: None,
            reply,
        })
    }
}

impl<T: Send + 'static, F: TransactionWork<T>> DatabaseJob for PendingJob<F, T> {
    fn is_write(&self) -> bool {
        self.is_write
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A bug in one job must not take the connection, nor the jobs that share its commit.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(tx)))
            .unwrap_or_else(|_| Err(Fault::new("a piece of work on the store panicked").into()));
        let keep = outcome.is_ok();
        self.outcome = Some(outcome);
        keep
    }

    fn finish(self: Box<Self>, commit: Result<(), Arc<Fault>>) {
        let outcome = match (commit, self.outcome) {
            (Ok(()), Some(outcome)) | (Err(_), Some(outcome @ Err(_))) => outcome,
            (Err(fault), _) => Err(Fault::from_cause("the transaction failed", fault).into()),
            (Ok(()), None) => Err(Fault::new("the work was never run").into()),
        };
        // The caller may have gone; what is committed stays committed.
        drop(self.reply.send(outcome));
    }
}
