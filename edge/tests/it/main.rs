//! Tests of the listener over real sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test helpers fail the test")]

mod connection_limits;
mod gzip;
mod http1;
mod http2;
mod request_headers;
mod shutdown;
mod timeouts;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use edge::{Body, BodyError, Handler, ListenerLimits, ListenerStats, Shutdown};
use http::{Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

struct Server {
    addr: SocketAddr,
    stats: Arc<ListenerStats>,
    shutdown: Shutdown,
    done: JoinHandle<()>,
}

#[expect(clippy::disallowed_methods, reason = "a test is the home of its own tasks")]
fn spawn<F>(task: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    tokio::spawn(task)
}

#[expect(clippy::disallowed_methods, reason = "tests measure real time")]
fn now() -> Instant {
    Instant::now()
}

fn start(limits: ListenerLimits, handler: impl Handler) -> Server {
    let listener = edge::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (addr, stats) = (listener.local_addr().unwrap(), listener.stats());
    let shutdown = Shutdown::new();
    let done = spawn(edge::serve(listener, limits, handler, shutdown.clone()));
    Server { addr, stats, shutdown, done }
}

type ChunkSender = mpsc::Sender<Result<Bytes, BodyError>>;

/// A body of what is sent, at most `capacity` chunks ahead of the client.
fn body_channel(capacity: usize) -> (ChunkSender, Body) {
    let (sender, mut receiver) = mpsc::channel(capacity);
    (sender, Body::stream(futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx))))
}

/// Timeouts short enough to wait for.
fn short_timeouts() -> ListenerLimits {
    ListenerLimits {
        header_timeout: ms(300),
        body_timeout: ms(300),
        idle_timeout: ms(600),
        write_timeout: ms(400),
        shutdown_grace: ms(700),
        ..ListenerLimits::default()
    }
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Responds with the body, or with the status of the error of reading it.
async fn echo(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let (status, bytes) = match request.into_body().collect_bytes(1000, Duration::from_secs(9)).await {
        Ok(bytes) if bytes.is_empty() => (StatusCode::OK, Bytes::from(path)),
        Ok(bytes) => (StatusCode::OK, bytes),
        Err(BodyError::TooLarge) => (StatusCode::PAYLOAD_TOO_LARGE, Bytes::new()),
        Err(BodyError::TimedOut) => (StatusCode::REQUEST_TIMEOUT, Bytes::new()),
        Err(BodyError::Broken) => (StatusCode::BAD_REQUEST, Bytes::new()),
        Err(BodyError::NoRoom) => (StatusCode::SERVICE_UNAVAILABLE, Bytes::new()),
    };
    let mut response = Response::new(Body::full(bytes));
    *response.status_mut() = status;
    response
}

impl Server {
    async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.addr).await.unwrap())
    }

    /// Everything received in response to `text` until the server closes.
    async fn exchange(&self, text: impl AsRef<[u8]>) -> String {
        let mut client = self.connect().await;
        client.send(text).await;
        client.read_to_close().await
    }

    async fn exchange_status(&self, text: impl AsRef<[u8]>) -> String {
        self.exchange(text).await.chars().skip(9).take(3).collect()
    }

    async fn responds(&self) -> bool {
        let mut client = self.connect().await;
        client.send(GET).await;
        client.read_response().await.starts_with("HTTP/1.1 200")
    }

    /// Waits until the counters satisfy `claim`.
    async fn wait_until(&self, claim: impl Fn(edge::ListenerStatsSnapshot) -> bool) {
        for _ in 0..200 {
            if claim(self.stats.snapshot()) {
                return;
            }
            sleep(ms(10)).await;
        }
        panic!("{:?}", self.stats.snapshot());
    }
}

struct Client(TcpStream);

impl Client {
    async fn send(&mut self, text: impl AsRef<[u8]>) {
        let _closed_already = self.0.write_all(text.as_ref()).await;
    }

    /// One response with its Content-Length body.
    async fn read_response(&mut self) -> String {
        let mut text = self.read_until("\r\n\r\n").await;
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.0.read_exact(&mut body).await.unwrap();
        text.push_str(&String::from_utf8(body).unwrap());
        text
    }

    async fn read_until(&mut self, mark: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(mark.as_bytes()) {
            let byte = timeout(Duration::from_secs(10), self.0.read_u8()).await.unwrap();
            text.push(byte.unwrap_or_else(|error| panic!("{error} after {text:?}")));
        }
        String::from_utf8(text).unwrap()
    }

    /// Everything received until the server closes, cleanly or not.
    async fn read_to_close(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.0.read_to_end(&mut text);
        let _reset = timeout(Duration::from_secs(10), read).await.expect("still open");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// How long until the server closes.
    async fn time_until_closed(&mut self) -> Duration {
        let start = now();
        self.read_to_close().await;
        start.elapsed()
    }
}

fn assert_about(found: Duration, wanted: u64) {
    let found = found.as_millis();
    assert!((u128::from(wanted) - 60..u128::from(wanted) + 400).contains(&found), "{found} ms for {wanted}");
}
