//! Jobs: work sent to a connection's thread, and the reply.

use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use base::{Error, Fault};
use tokio::sync::oneshot;

use super::Tx;
use super::query_limits::{JobControl, run_limited};

/// Work in a transaction. It may run again when the engine asks for a retry, so it must have no side effects outside
/// the transaction.
pub trait TransactionWork<T>: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static {}

impl<T, F: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static> TransactionWork<T> for F {}

pub(crate) type JobQueue = crossbeam_channel::Sender<Box<dyn DatabaseJob>>;

pub(crate) trait DatabaseJob: Send {
    fn is_write(&self) -> bool;
    /// The same for all jobs of the same work.
    fn kind(&self) -> TypeId;
    /// Whether nobody waits for it any more.
    fn is_over(&self) -> bool;
    /// Whose request it is, if that is known.
    fn user(&self) -> Option<i64> {
        self.control().and_then(|control| control.user)
    }
    /// None if it is not a request's.
    fn control(&self) -> Option<&Arc<JobControl>>;
    /// Whether a query took too long, or its caller is gone.
    fn was_interrupted(&self) -> bool;
    /// Returns false to roll back.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Sends the reply; a failed commit replaces a successful outcome.
    fn finish(self: Box<Self>, commit: Result<(), Arc<Fault>>);
}

pub(crate) struct JobReply<T> {
    outcome: Result<T, Error>,
    /// A panic of a request's work.
    panic: Option<Box<dyn Any + Send>>,
}

impl<T> JobReply<T> {
    /// Panics as the job did, so that a handler's panic is one wherever it happens.
    pub(crate) fn into_outcome(self) -> Result<T, Error> {
        self.panic.map_or(self.outcome, |panic| resume_unwind(panic))
    }
}

pub(crate) struct PendingJob<F, T> {
    work: F,
    is_write: bool,
    control: Option<Arc<JobControl>>,
    was_interrupted: bool,
    outcome: Option<Result<T, Error>>,
    panic: Option<Box<dyn Any + Send>>,
    reply: oneshot::Sender<JobReply<T>>,
}

impl<T: Send + 'static, F: TransactionWork<T>> PendingJob<F, T> {
    pub(crate) fn new_boxed(
        work: F,
        reply: oneshot::Sender<JobReply<T>>,
        is_write: bool,
        control: Option<Arc<JobControl>>,
    ) -> Box<dyn DatabaseJob> {
        Box::new(Self { work, is_write, control, was_interrupted: false, outcome: None, panic: None, reply })
    }
}

impl<T: Send + 'static, F: TransactionWork<T>> DatabaseJob for PendingJob<F, T> {
    fn is_write(&self) -> bool {
        self.is_write
    }

    fn kind(&self) -> TypeId {
        TypeId::of::<F>()
    }

    fn is_over(&self) -> bool {
        self.control.as_ref().is_some_and(|control| control.remaining_time().is_none() || self.reply.is_closed())
    }

    fn control(&self) -> Option<&Arc<JobControl>> {
        self.control.as_ref()
    }

    fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A panic in one job must not take down the connection or the jobs that share its commit.
        let (work, outcome, panic) = (&self.work, &mut self.outcome, &mut self.panic);
        let control = self.control.as_ref();
        self.was_interrupted = run_limited(control, self.is_write, &mut || {
            let ran = catch_unwind(AssertUnwindSafe(|| work(tx)));
            *outcome = Some(ran.unwrap_or_else(|cause| {
                *panic = control.is_some().then_some(cause);
                Err(Fault::new("a database job panicked").into())
            }));
        });
        self.outcome.as_ref().is_some_and(Result::is_ok)
    }

    fn finish(self: Box<Self>, commit: Result<(), Arc<Fault>>) {
        let outcome = match (commit, self.outcome) {
            (Ok(()), Some(outcome)) | (Err(_), Some(outcome @ Err(_))) => outcome,
            (commit, _) => Err(explain_failure(commit)),
        };
        // The caller may have been dropped; the commit stands.
        drop(self.reply.send(JobReply { outcome, panic: self.panic }));
    }
}

#[cold]
fn explain_failure(commit: Result<(), Arc<Fault>>) -> Error {
    match commit {
        Err(fault) => Fault::from_cause("the transaction failed", fault).into(),
        Ok(()) => Fault::new("the database job was never run").into(),
    }
}
