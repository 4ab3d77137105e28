//! Clients that try to use up connections, descriptors, memory or time. Tests are small by default; a
//! variable of the environment sets the full size.

mod bodies;
mod connections;
mod proxies;
mod slow_clients;
mod streams;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use base::clock::monotonic_now;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::{TestRequest, TestServer};

/// Runs clients on a runtime of two threads, with as many descriptors as this process may have.
fn run_clients<T>(clients: impl Future<Output = T>) -> T {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(clients)
}

fn address_of(server: &TestServer) -> SocketAddr {
    server.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Connects from the loopback address of a number, so that clients differ in their addresses.
async fn connect_from(number: u32, server: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let source = Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 1, 0, 1)) + number);
    socket.bind((source, 0).into())?;
    socket.connect(server).await
}

/// Sends bytes and reads the status of the response; `None` if the connection ends without one.
async fn exchange_status(client: &mut TcpStream, bytes: &[u8]) -> Option<u16> {
    client.write_all(bytes).await.ok()?;
    read_status(client).await
}

async fn read_status(client: &mut TcpStream) -> Option<u16> {
    let mut start = [0; 12];
    client.read_exact(&mut start).await.ok()?;
    std::str::from_utf8(&start).ok()?.strip_prefix("HTTP/1.1 ")?.parse().ok()
}

const OPEN_CONNECTIONS: &str = r#"locum_connections_open{listener="public"}"#;

/// How long a normal client waited for each of its responses.
#[derive(Debug)]
struct RequestTimes(Vec<Duration>);

impl RequestTimes {
    /// In milliseconds, to the microsecond.
    fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let micros = sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_micros();
        f64::from(u32::try_from(micros).unwrap()) / 1000.0
    }
}

/// Sends a request of a signed-in user every 10 ms for `time`.
fn measure_requests(server: &TestServer, time: Duration) -> RequestTimes {
    let started = monotonic_now();
    let mut times = Vec::new();
    while started.elapsed() < time {
        let sent = monotonic_now();
        server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
        times.push(sent.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    RequestTimes(times)
}

/// What the kernel says about a server's process.
#[derive(Clone, Copy, Debug)]
struct ProcessUsage {
    /// In KiB.
    peak_memory: u64,
    cpu: Duration,
}

impl ProcessUsage {
    fn of(server: &TestServer) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // User and system time (proc(5)) in ticks of 10 ms.
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        Self {
            peak_memory: peak.trim().trim_end_matches(" kB").parse().unwrap(),
            cpu: Duration::from_millis(ticks * 10),
        }
    }

    /// Starts a new peak at the memory in use.
    fn reset_peak(server: &TestServer) -> Self {
        std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
        Self::of(server)
    }
}
