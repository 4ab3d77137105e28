//! Jobs: work sent to a connection's thread, and the reply.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base::{Error, Fault};
use tokio::sync::oneshot;

use super::Tx;
use super::query_limits::{JobControl, run_limited};

/// Work in a transaction. It may run again when the engine asks for a retry, so it must have no side effects outside
/// the transaction.
pub trait TransactionWork<T>: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static {}

impl<T, F: Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static> TransactionWork<T> for F {}

type BoxedWork = Box<dyn Fn(&mut Tx<'_>) -> Result<WorkResult, Error> + Send>;

/// Work of any kind: what handles it is compiled once, and not for each of some hundred kinds.
pub(crate) struct ErasedWork {
    run: BoxedWork,
    /// The same for all jobs of the same work.
    kind: TypeId,
}

/// What work returned, of a type that only its caller knows.
pub(crate) struct WorkResult(Box<dyn Any + Send>);

impl ErasedWork {
    pub(crate) fn new<T: Send + 'static, F: TransactionWork<T>>(work: F) -> Self {
        Self { run: Box::new(move |tx| work(tx).map(|value| WorkResult(Box::new(value)))), kind: TypeId::of::<F>() }
    }
}

impl WorkResult {
    pub(crate) fn into_value<T: 'static>(self) -> Result<T, Error> {
        match self.0.downcast() {
            Ok(value) => Ok(*value),
            Err(_) => Err(result_type_fault()),
        }
    }
}

#[cold]
fn result_type_fault() -> Error {
    Fault::new("a database job returned another type").into()
}

pub(crate) type ErasedJobFuture<'s> = Pin<Box<dyn Future<Output = Result<WorkResult, Error>> + Send + 's>>;

/// The outcome of a job. What runs the job is compiled once, other than an async function, which would be compiled for
/// each of some hundred kinds of work.
#[must_use = "a job runs when its future is polled"]
pub struct JobFuture<'s, T> {
    job: ErasedJobFuture<'s>,
    result: PhantomData<fn() -> T>,
}

impl<'s, T> JobFuture<'s, T> {
    pub(crate) const fn new(job: ErasedJobFuture<'s>) -> Self {
        Self { job, result: PhantomData }
    }
}

impl<T: 'static> Future for JobFuture<'_, T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.job.as_mut().poll(context).map(|outcome| outcome?.into_value())
    }
}

pub(crate) type JobQueue = crossbeam_channel::Sender<DatabaseJob>;

pub(crate) struct JobReply {
    outcome: Result<WorkResult, Error>,
    /// A panic of a request's work.
    panic: Option<Box<dyn Any + Send>>,
}

impl JobReply {
    /// Panics as the job did, so that a handler's panic is one wherever it happens.
    pub(crate) fn into_outcome(self) -> Result<WorkResult, Error> {
        self.panic.map_or(self.outcome, |panic| resume_unwind(panic))
    }
}

pub(crate) struct DatabaseJob {
    work: ErasedWork,
    is_write: bool,
    /// None if it is not a request's.
    control: Option<Arc<JobControl>>,
    was_interrupted: bool,
    outcome: Option<Result<WorkResult, Error>>,
    panic: Option<Box<dyn Any + Send>>,
    reply: oneshot::Sender<JobReply>,
}

impl DatabaseJob {
    pub(crate) const fn new(
        work: ErasedWork,
        reply: oneshot::Sender<JobReply>,
        is_write: bool,
        control: Option<Arc<JobControl>>,
    ) -> Self {
        Self { work, is_write, control, was_interrupted: false, outcome: None, panic: None, reply }
    }

    pub(crate) const fn is_write(&self) -> bool {
        self.is_write
    }

    /// The same for all jobs of the same work.
    pub(crate) const fn kind(&self) -> TypeId {
        self.work.kind
    }

    /// Whether nobody waits for it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.control.as_ref().is_some_and(|control| control.remaining_time().is_none() || self.reply.is_closed())
    }

    /// Whose request it is, if that is known.
    pub(crate) fn user(&self) -> Option<i64> {
        self.control().and_then(|control| control.user)
    }

    /// None if it is not a request's.
    pub(crate) const fn control(&self) -> Option<&Arc<JobControl>> {
        self.control.as_ref()
    }

    /// Whether a query took too long, or its caller is gone.
    pub(crate) const fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Returns false to roll back.
    pub(crate) fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A panic in one job must not take down the connection or the jobs that share its commit.
        let (work, outcome, panic) = (&self.work.run, &mut self.outcome, &mut self.panic);
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

    /// Sends the reply; a failed commit replaces a successful outcome.
    pub(crate) fn finish(self, commit: Result<(), Arc<Fault>>) {
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
