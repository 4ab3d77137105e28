//! A bounded queue of jobs for the connections to a server, fair between users.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};

use base::Fault;
use parking_lot::{Mutex, MutexGuard};

use super::super::job::DatabaseJob;

/// Jobs that may wait; further ones are refused at once.
pub(super) const MAX_WAITING: usize = 2048;

pub(crate) struct FairJobQueue {
    state: Mutex<QueueState>,
    /// The most jobs of one user that run at a time.
    max_per_user: usize,
    /// Threads that have a connection.
    connected: AtomicUsize,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<DatabaseJob>,
    running_by_user: HashMap<i64, usize>,
    /// Threads without work: those without a connection first, then those that worked longest ago.
    idle: VecDeque<Thread>,
    is_closed: bool,
}

/// A job that runs; dropping it lets another job of its user run.
pub(super) struct RunningSlot<'q> {
    queue: &'q FairJobQueue,
    user: Option<i64>,
}

impl FairJobQueue {
    pub(super) fn new(max_per_user: usize) -> Self {
        Self { state: Mutex::default(), max_per_user: max_per_user.max(1), connected: AtomicUsize::new(0) }
    }

    pub(super) fn count_connection(&self, is_open: bool) {
        if is_open {
            self.connected.fetch_add(1, Ordering::AcqRel);
        } else {
            self.connected.fetch_sub(1, Ordering::AcqRel);
        }
    }

    pub(super) fn has_connections(&self) -> bool {
        self.connected.load(Ordering::Acquire) > 0
    }

    /// Leaves a job, which is the next one, to another thread.
    pub(super) fn return_job(&self, job: DatabaseJob) {
        let mut state = self.state.lock();
        state.waiting.push_front(job);
        wake_last(state);
    }

    /// Fails at once if the queue is full or closed.
    pub(crate) fn push(&self, job: DatabaseJob) -> Result<(), Fault> {
        let mut state = self.state.lock();
        if state.waiting.len() >= MAX_WAITING {
            state.waiting.retain(|job| !job.is_over());
        }
        if state.is_closed {
            return Err(Fault::new("the store is closed"));
        }
        if state.waiting.len() >= MAX_WAITING {
            return Err(Fault::new("too many jobs wait for the database").into_transient());
        }
        state.waiting.push_back(job);
        wake_last(state);
        Ok(())
    }

    pub(crate) fn count_waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    pub(super) fn try_pop(&self) -> Option<(DatabaseJob, RunningSlot<'_>)> {
        self.take_next(&mut self.state.lock())
    }

    /// Waits for a job; none once the queue is closed and has no job that may run. Of the threads that wait, those
    /// with a connection are preferred.
    pub(super) fn pop(&self, has_connection: bool) -> Option<(DatabaseJob, RunningSlot<'_>)> {
        let thread = thread::current();
        let mut state = self.state.lock();
        loop {
            let next = self.take_next(&mut state);
            // What may not run yet is left to the threads that run the jobs of the same user.
            if next.is_some() || state.is_closed {
                return next;
            }
            if has_connection {
                state.idle.push_back(thread.clone());
            } else {
                state.idle.push_front(thread.clone());
            }
            MutexGuard::unlocked(&mut state, thread::park);
            // It may wake by itself.
            state.idle.retain(|idle| idle.id() != thread.id());
        }
    }

    fn take_next(&self, state: &mut QueueState) -> Option<(DatabaseJob, RunningSlot<'_>)> {
        let position = state.waiting.iter().position(|job| {
            let running = job.user().and_then(|user| state.running_by_user.get(&user));
            running.is_none_or(|running| *running < self.max_per_user)
        })?;
        let job = state.waiting.remove(position)?;
        let user = job.user();
        if let Some(user) = user {
            *state.running_by_user.entry(user).or_default() += 1;
        }
        Some((job, RunningSlot { queue: self, user }))
    }

    /// Waiting jobs are still run.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        idle.iter().for_each(Thread::unpark);
    }
}

/// The one that worked last: few connections are opened, and they have their statements prepared.
fn wake_last(mut state: MutexGuard<'_, QueueState>) {
    let thread = state.idle.pop_back();
    drop(state);
    if let Some(thread) = thread {
        thread.unpark();
    }
}

impl Drop for RunningSlot<'_> {
    /// Wakes no other thread: the one that ran this job takes the next.
    fn drop(&mut self) {
        let Some(user) = self.user else {
            return;
        };
        let mut state = self.queue.state.lock();
        if let Some(running) = state.running_by_user.get_mut(&user) {
            *running -= 1;
            if *running == 0 {
                state.running_by_user.remove(&user);
            }
        }
    }
}
