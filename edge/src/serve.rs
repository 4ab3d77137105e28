//! The accept loop, and the end of it.

use std::fs::File;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::admit::Admission;
use crate::answer::{Answers, Erased, Handler, Peer};
use crate::connection::{self, Shared, spawn};
use crate::limits::Limits;
use crate::listen::Listener;
use crate::plain;
use crate::shutdown::Shutdown;
use crate::stats::Stats;
use crate::wire::Stream;

/// How many clients are told politely, at the same time, that there is no room.
const POLITE: usize = 64;
/// How long each of them is given to read it.
const POLITE_FOR: Duration = Duration::from_secs(1);
/// The rest after a failed accept.
const BACK_OFF: Duration = Duration::from_millis(50);

/// Serves until the shutdown signal, then until all is done or the grace is over.
pub async fn serve(listener: Listener, limits: Limits, handler: impl Handler, shutdown: Shutdown) {
    run(listener, limits, Arc::new(handler), shutdown).await;
}

async fn run(listener: Listener, limits: Limits, handler: Arc<dyn Erased>, drain: Shutdown) {
    let stats = listener.stats();
    let admission = Admission::new(&limits, Arc::clone(&stats));
    let grace = limits.shutdown_grace;
    let shared = Arc::new(Shared {
        builder: connection::builder(&limits),
        answers: Arc::new(Answers {
            handler,
            limits,
            stats,
        }),
        drain,
        abort: Shutdown::new(),
    });
    accept(listener, &shared, &admission).await;
    if timeout(grace, admission.emptied()).await.is_err() {
        shared.abort.trigger();
        let _stuck = timeout(POLITE_FOR, admission.emptied()).await;
    }
}

async fn accept(listener: Listener, shared: &Arc<Shared>, admission: &Arc<Admission>) {
    let mut reserve = Reserve::take();
    let polite = Arc::new(Semaphore::new(POLITE));
    let mut drain = pin!(shared.drain.triggered());
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut drain => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, addr)) => match admission.admit(addr.map(|addr| addr.ip())) {
                Some(permit) => {
                    let peer = Peer { addr };
                    spawn(connection::run(stream, peer, Arc::clone(shared), permit));
                }
                None => turn_away(stream, &polite),
            },
            Err(error) => recover(&error, &listener, &mut reserve, &shared.answers.stats).await,
        }
    }
}

/// A client's own failure costs nothing; want of descriptors is eased by the reserve and a rest.
async fn recover(error: &io::Error, listener: &Listener, reserve: &mut Reserve, stats: &Stats) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    stats.accept_errors.up();
    if matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    ) {
        return;
    }
    tracing::warn!(%error, "accept failed");
    reserve.spend();
    let _closed_at_once = timeout(BACK_OFF, listener.accept()).await;
    *reserve = Reserve::take();
    sleep(BACK_OFF).await;
}

/// A descriptor kept for the moment when there are no more, to let one client go cleanly.
struct Reserve(Option<File>);

impl Reserve {
    fn take() -> Self {
        Self(File::open("/dev/null").ok())
    }

    fn spend(&mut self) {
        self.0 = None;
    }
}

fn turn_away(mut stream: Stream, polite: &Arc<Semaphore>) {
    let Ok(turn) = Arc::clone(polite).try_acquire_owned() else {
        return;
    };
    spawn(async move {
        let _turn = turn;
        let farewell = async {
            stream
                .write_all(&plain::raw(StatusCode::SERVICE_UNAVAILABLE))
                .await?;
            stream.shutdown().await?;
            let mut ignored = [0_u8; 1024];
            while stream.read(&mut ignored).await? > 0 {}
            io::Result::Ok(())
        };
        let _gone = timeout(POLITE_FOR, farewell).await;
    });
}
