//! The task of one HTTP/2 stream, and how long its client may block it. Streams share a connection, whose socket does not
//! show which of them are blocked.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::{Instant, sleep_until};

use crate::connection::spawn_task;
use crate::stats::ListenerStats;

tokio::task_local! {
    /// Since when the client has made no room for more of the response.
    static BLOCKED_SINCE: Cell<Option<Instant>>;
}

/// Spawns the tasks of HTTP/2 streams.
#[derive(Clone, Debug)]
pub(crate) struct StreamExecutor {
    pub(crate) write_timeout: Duration,
    pub(crate) stats: Arc<ListenerStats>,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for StreamExecutor {
    fn execute(&self, task: F) {
        let Self { write_timeout, stats } = self.clone();
        spawn_task(BLOCKED_SINCE.scope(Cell::default(), run_stream(task, write_timeout, stats)));
    }
}

/// Marks the response of this task's stream, which is read again once there is room. Does nothing on HTTP/1.
pub(crate) fn set_response_blocked(is_blocked: bool) {
    let _http1 = BLOCKED_SINCE.try_with(|since| since.set(is_blocked.then(Instant::now)));
}

/// Dropping the task resets its stream.
async fn run_stream(task: impl Future<Output = ()>, write_timeout: Duration, stats: Arc<ListenerStats>) {
    let mut task = pin!(task);
    let mut timer = None;
    let ended = std::future::poll_fn(|cx| {
        if task.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while let Some(since) = BLOCKED_SINCE.with(Cell::get) {
            let due = since + write_timeout;
            let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            ready!(timer.as_mut().poll(cx));
            if Instant::now() >= due {
                stats.write_timeouts.increment();
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
        Poll::Pending
    });
    ended.await;
}
