//! The listener as clients meet it, over real sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test helpers fail the test")]

mod crowd;
mod heads;
mod http1;
mod http2;
mod packed;
mod shutdown;
mod slow;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use edge::{Body, BodyError, Handler, ListenerLimits, ListenerStats, Shutdown};
use http::{Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
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

/// Limits short enough to wait for.
fn short() -> ListenerLimits {
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

/// Answers with what was sent; a body that fails becomes the status due.
async fn echo(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let (status, bytes) = match request.into_body().collect_bytes(1000, Duration::from_secs(9)).await {
        Ok(bytes) if bytes.is_empty() => (StatusCode::OK, Bytes::from(path)),
        Ok(bytes) => (StatusCode::OK, bytes),
        Err(BodyError::TooLarge) => (StatusCode::PAYLOAD_TOO_LARGE, Bytes::new()),
        Err(BodyError::TimedOut) => (StatusCode::REQUEST_TIMEOUT, Bytes::new()),
        Err(BodyError::Broken) => (StatusCode::BAD_REQUEST, Bytes::new()),
    };
    let mut response = Response::new(Body::full(bytes));
    *response.status_mut() = status;
    response
}

impl Server {
    async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.addr).await.unwrap())
    }

    /// Everything said in answer to `text` until the server closes.
    async fn ask(&self, text: impl AsRef<[u8]>) -> String {
        let mut client = self.connect().await;
        client.say(text).await;
        client.rest().await
    }

    async fn ask_status(&self, text: impl AsRef<[u8]>) -> String {
        self.ask(text).await.chars().skip(9).take(3).collect()
    }

    async fn is_alive(&self) -> bool {
        let mut client = self.connect().await;
        client.say(GET).await;
        client.answer().await.starts_with("HTTP/1.1 200")
    }

    /// Waits until a count has the value that it should have.
    async fn until(&self, claim: impl Fn(edge::ListenerStatsSnapshot) -> bool) {
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
    async fn say(&mut self, text: impl AsRef<[u8]>) {
        let _closed_already = self.0.write_all(text.as_ref()).await;
    }

    /// One answer with its Content-Length body.
    async fn answer(&mut self) -> String {
        let mut text = self.hear_until("\r\n\r\n").await;
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.0.read_exact(&mut body).await.unwrap();
        text.push_str(&String::from_utf8(body).unwrap());
        text
    }

    async fn hear_until(&mut self, mark: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(mark.as_bytes()) {
            let byte = timeout(Duration::from_secs(10), self.0.read_u8()).await.unwrap();
            text.push(byte.unwrap_or_else(|error| panic!("{error} after {text:?}")));
        }
        String::from_utf8(text).unwrap()
    }

    /// What comes until the server closes, cleanly or not.
    async fn rest(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.0.read_to_end(&mut text);
        let _reset = timeout(Duration::from_secs(10), read).await.expect("still open");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// How long until the server closes.
    async fn closed_after(&mut self) -> Duration {
        let start = now();
        self.rest().await;
        start.elapsed()
    }
}

fn about(found: Duration, wanted: u64) {
    let found = found.as_millis();
    assert!((u128::from(wanted) - 60..u128::from(wanted) + 400).contains(&found), "{found} ms for {wanted}");
}
