//! One connection from accept to close.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::{Builder, Connection};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};

use crate::admission::ConnectionPermit;
use crate::connection_setup::{ConnectionSetup, SetUpConnection, discard_incoming};
use crate::connection_state::{CloseReason, ConnectionState, FIRST_REQUEST_TIME, LINGER_TIME};
use crate::handler::{ConnectionService, ServiceContext};
use crate::limits::ListenerLimits;
use crate::monitored_stream::MonitoredStream;
use crate::shutdown::Shutdown;
use crate::socket_stream::SocketStream;
use crate::stats::ListenerStats;
use crate::stream_task::StreamExecutor;
use crate::tunnel::copy_until_idle;

pub(crate) struct ConnectionContext {
    pub(crate) service: Arc<ServiceContext>,
    pub(crate) builder: Builder<StreamExecutor>,
    pub(crate) setup: ConnectionSetup,
    /// Finish the requests in flight.
    pub(crate) drain: Shutdown,
    /// Close at once.
    pub(crate) abort: Shutdown,
}

#[expect(clippy::disallowed_methods, reason = "connections are this crate's own tasks")]
pub(crate) fn spawn_task(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

pub(crate) fn protocol_builder(limits: &ListenerLimits, stats: &Arc<ListenerStats>) -> Builder<StreamExecutor> {
    let executor = StreamExecutor { write_timeout: limits.write_timeout, stats: Arc::clone(stats) };
    let mut builder = Builder::new(executor);
    let mut http1 = builder.http1();
    http1
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(limits.max_header_bytes.saturating_add(16 * 1024));
    if limits.max_headers != 100 {
        http1.max_headers(limits.max_headers); // the default of 100 needs no allocation
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

pub(crate) async fn serve_connection(
    stream: SocketStream,
    peer_addr: Option<SocketAddr>,
    shared: Arc<ConnectionContext>,
    permit: ConnectionPermit,
) {
    let _permit = permit;
    let accepted = Instant::now();
    let stream = match stream {
        SocketStream::Tcp(stream) if !shared.setup.is_trivial() => {
            match Box::pin(set_up_connection(stream, accepted, &shared)).await {
                Some(stream) => stream,
                None => return,
            }
        }
        stream => stream,
    };
    let is_tls = stream.is_tls();
    let state = ConnectionState::start(accepted);
    let service = Arc::clone(&shared.service);
    let limits = &shared.service.limits;
    let stream = MonitoredStream::new(stream, Arc::clone(&state), Arc::clone(&service.stats), limits);
    let service = ConnectionService { context: service, state: Arc::clone(&state), peer_addr, is_tls };
    let connection = pin!(shared.builder.serve_connection(TokioIo::new(stream), service));
    let until = accepted + limits.header_timeout;
    let driver = ConnectionDriver {
        connection,
        timer: pin!(sleep_until(until)),
        armed_until: until,
        drain: pin!(shared.drain.wait()),
        abort: pin!(shared.abort.wait()),
        signal_state: SignalState::Unpolled,
        state: &state,
        shared: &shared,
    };
    driver.await;
}

/// The stream of HTTP, if there is one within the time that clients have for their first request.
async fn set_up_connection(stream: TcpStream, accepted: Instant, shared: &ConnectionContext) -> Option<SocketStream> {
    let ServiceContext { limits, stats, .. } = &*shared.service;
    let work = timeout_at(accepted + limits.header_timeout, shared.setup.set_up(stream, limits, stats));
    let outcome = tokio::select! {
        outcome = work => outcome,
        () = first_request_time(&shared.drain, accepted) => return None,
        () = shared.abort.wait() => return None,
    };
    match outcome {
        Ok(Ok(SetUpConnection::Http(stream))) => return Some(stream),
        Ok(Ok(SetUpConnection::PassThrough(mut tunnel))) => {
            tokio::select! {
                () = copy_until_idle(&mut tunnel.client, &mut tunnel.host, limits.idle_timeout) => {}
                () = shared.drain.wait() => {}
            }
        }
        Ok(Ok(SetUpConnection::Answered(mut stream))) => {
            let _closed = timeout(LINGER_TIME, discard_incoming(&mut stream)).await;
        }
        Ok(Ok(SetUpConnection::Closed)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "connection failed before HTTP"),
        Err(_) => stats.header_timeouts.increment(),
    }
    None
}

/// Ends when a shutdown no longer waits for the first request of a connection.
async fn first_request_time(drain: &Shutdown, accepted: Instant) {
    drain.wait().await;
    sleep_until(accepted + FIRST_REQUEST_TIME).await;
}

type HyperConnection<'a> = Connection<'a, TokioIo<MonitoredStream>, ConnectionService, StreamExecutor>;

/// Polls the protocol first, then the deadline and the shutdown signals.
struct ConnectionDriver<'a, D, A> {
    connection: Pin<&'a mut HyperConnection<'a>>,
    timer: Pin<&'a mut Sleep>,
    armed_until: Instant,
    drain: Pin<&'a mut D>,
    abort: Pin<&'a mut A>,
    signal_state: SignalState,
    state: &'a Arc<ConnectionState>,
    shared: &'a ConnectionContext,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SignalState {
    Unpolled,
    Waiting,
    Draining,
}

impl<D: Future<Output = ()>, A: Future<Output = ()>> Future for ConnectionDriver<'_, D, A> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.poll_signals(cx).is_ready() {
            return Poll::Ready(());
        }
        match this.connection.as_mut().poll(cx) {
            Poll::Ready(Ok(())) => return Poll::Ready(()),
            Poll::Ready(Err(error)) => {
                if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse) {
                    this.shared.service.stats.bad_requests.increment();
                }
                tracing::debug!(%error, "connection failed");
                return Poll::Ready(());
            }
            Poll::Pending => {}
        }
        if this.signal_state == SignalState::Waiting && this.shared.drain.is_triggered() {
            this.drain_after_first_request(cx);
        }
        if this.signal_state == SignalState::Draining && this.state.can_close() {
            if !this.state.is_http2() {
                return Poll::Ready(());
            }
            this.state.start_linger();
        }
        this.poll_deadline(cx)
    }
}

impl<D: Future<Output = ()>, A: Future<Output = ()>> ConnectionDriver<'_, D, A> {
    /// A signal's future is polled once to register the waker; after that only its flag is read.
    fn poll_signals(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.signal_state == SignalState::Unpolled {
            self.signal_state = SignalState::Waiting;
            let _registered = self.drain.as_mut().poll(cx);
            if self.abort.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
        }
        let is_draining = self.signal_state == SignalState::Waiting && self.shared.drain.is_triggered();
        if is_draining && !self.state.awaits_first_request() {
            self.start_drain();
        }
        if self.signal_state == SignalState::Draining && self.shared.abort.is_triggered() {
            self.shared.service.stats.aborted.increment();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn start_drain(&mut self) {
        self.signal_state = SignalState::Draining;
        self.connection.as_mut().graceful_shutdown();
    }

    /// A client that has just connected cannot know of the shutdown, so its first request is answered. What arrived
    /// in time is read first: the protocol is polled before this.
    fn drain_after_first_request(&mut self, cx: &Context<'_>) {
        match self.state.first_request_deadline() {
            Some(at) if at > Instant::now() => {
                if at < self.armed_until {
                    self.arm_timer(at);
                }
            }
            _ => {
                self.start_drain();
                cx.waker().wake_by_ref();
            }
        }
    }

    /// The timer is only reset when a deadline moves closer or when it fired too early.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limits = &self.shared.service.limits;
        loop {
            let due = self.state.next_deadline(limits);
            if let Some((at, _)) = due.filter(|(at, _)| *at < self.armed_until) {
                self.arm_timer(at);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            match due {
                Some((at, reason)) if at <= now => {
                    self.count_timeout(reason);
                    return Poll::Ready(());
                }
                Some((at, _)) => self.arm_timer(at),
                None => self.arm_timer(now + limits.idle_timeout),
            }
        }
    }

    fn arm_timer(&mut self, at: Instant) {
        self.armed_until = at;
        self.timer.as_mut().reset(at);
    }

    fn count_timeout(&self, reason: CloseReason) {
        let stats = &self.shared.service.stats;
        match reason {
            CloseReason::Header => stats.header_timeouts.increment(),
            CloseReason::Idle => stats.idle_timeouts.increment(),
            CloseReason::Write => stats.write_timeouts.increment(),
            CloseReason::Linger => {}
        }
    }
}
