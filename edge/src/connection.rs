//! One connection from accept to close: the protocol, its deadlines, and the way out.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::{Builder, Connection};
use tokio::time::{Instant, Sleep};

use crate::admit::Permit;
use crate::answer::{Answers, Peer, Service};
use crate::life::{Life, Why};
use crate::limits::Limits;
use crate::shutdown::Shutdown;
use crate::wire::{Stream, Wire};

/// What all connections of a listener share.
pub(crate) struct Shared {
    pub(crate) answers: Arc<Answers>,
    pub(crate) builder: Builder<Tasks>,
    /// Finish what is in flight.
    pub(crate) drain: Shutdown,
    /// Stop at once.
    pub(crate) abort: Shutdown,
}

/// The home of connection tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tasks;

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        spawn(task);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "connections are this crate's own tasks"
)]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// The protocol settings that follow from the limits.
pub(crate) fn builder(limits: &Limits) -> Builder<Tasks> {
    let mut builder = Builder::new(Tasks);
    let mut http1 = builder.http1();
    http1
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(limits.max_header_bytes.saturating_add(16 * 1024));
    if limits.max_headers != 100 {
        http1.max_headers(limits.max_headers); // 100 is what needs no allocation
    }
    let http2 = &limits.http2;
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(http2.max_streams)
        .max_pending_accept_reset_streams(http2.max_pending_resets)
        .max_local_error_reset_streams(http2.max_error_resets)
        .initial_stream_window_size(http2.stream_window)
        .initial_connection_window_size(http2.connection_window)
        .max_send_buf_size(http2.max_send_buffer)
        .max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(http2.ping_interval)
        .keep_alive_timeout(http2.ping_timeout);
    builder
}

/// Serves one connection to its end.
pub(crate) async fn run(stream: Stream, peer: Peer, shared: Arc<Shared>, permit: Permit) {
    let _inside = permit;
    let life = Life::begin();
    let answers = Arc::clone(&shared.answers);
    let limits = &shared.answers.limits;
    let wire = Wire::new(
        stream,
        Arc::clone(&life),
        Arc::clone(&answers.stats),
        limits,
    );
    let service = Service {
        answers,
        life: Arc::clone(&life),
        peer,
    };
    let connection = pin!(shared.builder.serve_connection(TokioIo::new(wire), service));
    let until = Instant::now() + limits.header_timeout;
    let driver = Driver {
        connection,
        timer: pin!(tokio::time::sleep_until(until)),
        armed: until,
        drain: pin!(shared.drain.triggered()),
        abort: pin!(shared.abort.triggered()),
        seen: Seen::Nothing,
        life: &life,
        shared: &shared,
    };
    driver.await;
}

type Inner<'a> = Connection<'a, TokioIo<Wire>, Service, Tasks>;

/// Polls the protocol, and lets the deadline and the signals have their say when it rests.
struct Driver<'a, D, A> {
    connection: Pin<&'a mut Inner<'a>>,
    timer: Pin<&'a mut Sleep>,
    armed: Instant,
    drain: Pin<&'a mut D>,
    abort: Pin<&'a mut A>,
    seen: Seen,
    life: &'a Arc<Life>,
    shared: &'a Shared,
}

/// Which signals have been dealt with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Waiting,
    Drain,
}

impl<D: Future<Output = ()>, A: Future<Output = ()>> Future for Driver<'_, D, A> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.poll_signals(cx).is_ready() {
            return Poll::Ready(());
        }
        match this.connection.as_mut().poll(cx) {
            Poll::Ready(Ok(())) => return Poll::Ready(()),
            Poll::Ready(Err(error)) => {
                tracing::debug!(%error, "a connection ended badly");
                return Poll::Ready(());
            }
            Poll::Pending => {}
        }
        if this.seen == Seen::Drain && this.life.is_spare() {
            if !this.life.is_http2() {
                return Poll::Ready(());
            }
            this.life.farewell();
        }
        this.poll_deadline(cx)
    }
}

impl<D: Future<Output = ()>, A: Future<Output = ()>> Driver<'_, D, A> {
    /// A signal's future is polled once to leave the waker, and then only after its flag is up.
    fn poll_signals(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.seen == Seen::Nothing {
            self.seen = Seen::Waiting;
            if self.drain.as_mut().poll(cx).is_ready() {
                self.leave();
            }
            if self.abort.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
        }
        if self.seen == Seen::Waiting && self.shared.drain.is_triggered() {
            self.leave();
        }
        if self.seen == Seen::Drain && self.shared.abort.is_triggered() {
            self.shared.answers.stats.aborted.up();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn leave(&mut self) {
        self.seen = Seen::Drain;
        self.connection.as_mut().graceful_shutdown();
    }

    /// The timer is only moved when a deadline comes nearer, or when it rang too early.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limits = &self.shared.answers.limits;
        loop {
            let due = self.life.due(limits);
            if let Some((at, _)) = due.filter(|(at, _)| *at < self.armed) {
                self.arm(at);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            match due {
                Some((at, why)) if at <= now => {
                    self.count(why);
                    return Poll::Ready(());
                }
                Some((at, _)) => self.arm(at),
                None => self.arm(now + limits.idle_timeout),
            }
        }
    }

    fn arm(&mut self, at: Instant) {
        self.armed = at;
        self.timer.as_mut().reset(at);
    }

    fn count(&self, why: Why) {
        let stats = &self.shared.answers.stats;
        match why {
            Why::Header => stats.header_timeouts.up(),
            Why::Idle => stats.idle_timeouts.up(),
            Why::Write => stats.write_timeouts.up(),
            Why::Farewell => {}
        }
    }
}
