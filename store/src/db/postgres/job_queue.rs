//! A bounded queue of jobs for the connections to a server, fair between users.

use std::collections::{HashMap, VecDeque};

use base::Fault;
use parking_lot::{Condvar, Mutex};

use super::super::job::DatabaseJob;

/// Jobs that may wait; further ones are refused at once.
pub(super) const MAX_WAITING: usize = 2048;

pub(crate) struct FairJobQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// The most jobs of one user that run at a time.
    max_per_user: usize,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<DatabaseJob>,
    running_by_user: HashMap<i64, usize>,
    is_closed: bool,
}

/// A job that runs; dropping it lets another job of its user run.
pub(super) struct RunningSlot<'q> {
    queue: &'q FairJobQueue,
    user: Option<i64>,
}

impl FairJobQueue {
    pub(super) fn new(max_per_user: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), max_per_user: max_per_user.max(1) }
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
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    pub(crate) fn count_waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    pub(super) fn try_pop(&self) -> Option<(DatabaseJob, RunningSlot<'_>)> {
        let job = self.state.lock().take_next(self.max_per_user)?;
        let user = job.user();
        Some((job, RunningSlot { queue: self, user }))
    }

    /// Waits for a job; none once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<(DatabaseJob, RunningSlot<'_>)> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.take_next(self.max_per_user) {
                let user = job.user();
                return Some((job, RunningSlot { queue: self, user }));
            }
            if state.is_closed && state.waiting.is_empty() {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Waiting jobs are still run.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }
}

impl QueueState {
    fn take_next(&mut self, max_per_user: usize) -> Option<DatabaseJob> {
        let position = self.waiting.iter().position(|job| {
            let running = job.user().and_then(|user| self.running_by_user.get(&user));
            running.is_none_or(|running| *running < max_per_user)
        })?;
        let job = self.waiting.remove(position)?;
        if let Some(user) = job.user() {
            *self.running_by_user.entry(user).or_default() += 1;
        }
        Some(job)
    }
}

impl Drop for RunningSlot<'_> {
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
        let is_closed = state.is_closed;
        drop(state);
        if is_closed {
            self.queue.changed.notify_all();
        } else {
            self.queue.changed.notify_one();
        }
    }
}
