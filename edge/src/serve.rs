//! The accept loop and graceful shutdown.

use std::fs::File;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::StatusCode;
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::admission::AdmissionControl;
use crate::connection::{self, ConnectionContext, spawn_task};
use crate::connection_setup::{ConnectionSetup, discard_incoming};
use crate::error_response;
use crate::handler::{Handler, ServiceContext};
use crate::limits::ListenerLimits;
use crate::listener::Listener;
use crate::protocols::ListenerProtocols;
use crate::shutdown::Shutdown;
use crate::socket_stream::SocketStream;
use crate::stats::ListenerStats;

/// How many rejected clients are sent a response at the same time.
const MAX_PENDING_REJECTIONS: usize = 64;
const REJECTION_TIMEOUT: Duration = Duration::from_secs(1);
const BACK_OFF: Duration = Duration::from_millis(50);

/// Serves until `shutdown` is triggered, then until all requests are done or the grace period ends.
pub fn serve(
    listener: Listener,
    limits: ListenerLimits,
    handler: impl Handler,
    shutdown: Shutdown,
) -> BoxFuture<'static, ()> {
    serve_protocols(listener, limits, ListenerProtocols::default(), handler, shutdown)
}

/// The same, for clients that use more than plain HTTP.
pub fn serve_protocols(
    listener: Listener,
    limits: ListenerLimits,
    protocols: ListenerProtocols,
    handler: impl Handler,
    shutdown: Shutdown,
) -> BoxFuture<'static, ()> {
    serve_dyn(listener, limits, protocols, Arc::new(handler), shutdown)
}

fn serve_dyn(
    listener: Listener,
    limits: ListenerLimits,
    protocols: ListenerProtocols,
    handler: Arc<dyn Handler>,
    drain: Shutdown,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let stats = listener.stats();
        let admission = AdmissionControl::new(&limits, Arc::clone(&stats));
        let http2_admission = AdmissionControl::new(&limits, Arc::clone(&stats));
        let grace = limits.shutdown_grace;
        let shared = Arc::new(ConnectionContext {
            builder: connection::protocol_builder(&limits, &stats),
            service: Arc::new(ServiceContext {
                handler,
                limits,
                stats,
                admission: Arc::clone(&admission),
                http2_admission,
                proxy: protocols.proxy.clone(),
            }),
            setup: ConnectionSetup::new(protocols),
            drain,
            abort: Shutdown::new(),
        });
        accept_loop(listener, &shared, &admission).await;
        if timeout(grace, admission.wait_until_empty()).await.is_err() {
            shared.abort.trigger();
            let _stuck = timeout(REJECTION_TIMEOUT, admission.wait_until_empty()).await;
        }
    })
}

async fn accept_loop(listener: Listener, shared: &Arc<ConnectionContext>, admission: &Arc<AdmissionControl>) {
    let mut reserve = ReserveDescriptor::acquire();
    let pending_rejections = Arc::new(Semaphore::new(MAX_PENDING_REJECTIONS));
    let mut drain = pin!(shared.drain.wait());
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut drain => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, addr)) => match admission.try_admit(addr.map(|addr| addr.ip())) {
                Some(permit) => {
                    spawn_task(connection::serve_connection(stream, addr, Arc::clone(shared), permit));
                }
                None => reject_connection(stream, &pending_rejections),
            },
            Err(error) => recover_from_accept_error(&error, &listener, &mut reserve, &shared.service.stats).await,
        }
    }
}

/// A client's own failure is ignored. When descriptors run out, the reserve is used to close one
/// connection, then accepting pauses.
async fn recover_from_accept_error(
    error: &io::Error,
    listener: &Listener,
    reserve: &mut ReserveDescriptor,
    stats: &ListenerStats,
) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    stats.accept_errors.increment();
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted) {
        return;
    }
    tracing::warn!(%error, "accept failed");
    reserve.release();
    let _closed_at_once = timeout(BACK_OFF, listener.accept()).await;
    *reserve = ReserveDescriptor::acquire();
    sleep(BACK_OFF).await;
}

/// A spare descriptor that is released when there are no others left.
struct ReserveDescriptor(Option<File>);

impl ReserveDescriptor {
    fn acquire() -> Self {
        Self(File::open("/dev/null").ok())
    }

    fn release(&mut self) {
        self.0 = None;
    }
}

fn reject_connection(mut stream: SocketStream, pending_rejections: &Arc<Semaphore>) {
    let Ok(permit) = Arc::clone(pending_rejections).try_acquire_owned() else {
        return;
    };
    spawn_task(async move {
        let _permit = permit;
        let rejection = async {
            stream.write_all(&error_response::raw_problem_response(StatusCode::SERVICE_UNAVAILABLE)).await?;
            stream.shutdown().await?;
            discard_incoming(&mut stream).await
        };
        let _timed_out = timeout(REJECTION_TIMEOUT, rejection).await;
    });
}
