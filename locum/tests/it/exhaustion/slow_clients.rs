//! Slow clients: the five attacks of a slow request, and idle connections.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::clock::monotonic_now;
use rustix::io::Errno;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{OPEN_CONNECTIONS, RequestTimes, address_of, connect_from, measure_requests, run_clients};
use crate::harness::{TestServer, metric, suite_setting};

const POST: &str = "POST /2/tweets HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                    Content-Length: 100000\r\n\r\nab";
/// More than the time limit that a loaded machine may take to close a connection.
const CLOSE_TOLERANCE: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug)]
struct Timeouts {
    header: Duration,
    body: Duration,
    idle: Duration,
}

impl Timeouts {
    /// Those of a production server at full size, shorter ones in the gate.
    fn of_size(attackers: u64) -> Self {
        let [header, body, idle] = if attackers >= 2_000 { [10, 30, 75] } else { [1, 2, 3] }.map(Duration::from_secs);
        Self { header, body, idle }
    }

    fn args(self) -> Vec<String> {
        let limits = [("header_timeout", self.header), ("body_timeout", self.body), ("idle_timeout", self.idle)];
        let sets = limits.map(|(name, limit)| ["--set".to_owned(), format!("listen.{name}={}s", limit.as_secs())]);
        sets.into_iter().flatten().collect()
    }

    fn of_attack(self, attack: Attack) -> Duration {
        match attack {
            Attack::Silent | Attack::PartialRequestLine | Attack::SlowHeader => self.header,
            Attack::StalledBody | Attack::SlowBody => self.body,
            Attack::IdleConnection => self.idle,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Attack {
    Silent,
    PartialRequestLine,
    /// Ten bytes of the header within its time limit: one a second in production.
    SlowHeader,
    StalledBody,
    /// Six bytes of the body within its time limit: one in 5 s in production.
    SlowBody,
    IdleConnection,
}

impl Attack {
    const ALL: [Self; 6] = [
        Self::Silent,
        Self::PartialRequestLine,
        Self::SlowHeader,
        Self::StalledBody,
        Self::SlowBody,
        Self::IdleConnection,
    ];

    /// What is sent at once, and how often one more byte follows.
    fn plan(self, timeouts: Timeouts) -> (&'static str, Option<Duration>) {
        match self {
            Self::Silent => ("", None),
            Self::PartialRequestLine => ("GET /2/po", None),
            Self::SlowHeader => ("GET /2/posts HTTP/1.1\r\nHost: a\r\nX: ", Some(timeouts.header / 10)),
            Self::StalledBody => (POST, None),
            Self::SlowBody => (POST, Some(timeouts.body / 6)),
            Self::IdleConnection => ("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", None),
        }
    }
}

/// Keeps a connection as long as the server allows; how long it did.
async fn attack_once(attack: Attack, timeouts: Timeouts, mut client: TcpStream) -> Duration {
    let (start, interval) = attack.plan(timeouts);
    let started = monotonic_now();
    let _closed = client.write_all(start.as_bytes()).await;
    let mut buffer = [0; 4096];
    loop {
        let read = timeout(interval.unwrap_or(Duration::MAX), client.read(&mut buffer));
        match read.await {
            Ok(Ok(1..)) => {} // the response before the connection is closed
            Ok(_) => return started.elapsed(),
            Err(_) => {
                let _closed = client.write_all(b"x").await;
            }
        }
    }
}

#[derive(Debug, Default)]
struct AttackCounts {
    closed_on_time: u64,
    closed_late: u64,
    refused: u64,
}

/// Connects again whenever the server closed the connection, until `stop`.
async fn attack_repeatedly(number: u32, timeouts: Timeouts, server: &TestServer, stop: &AtomicBool) -> AttackCounts {
    let attack = Attack::ALL[usize::try_from(number).unwrap() % Attack::ALL.len()];
    let limit = timeouts.of_attack(attack) + CLOSE_TOLERANCE;
    let mut counts = AttackCounts::default();
    while !stop.load(Ordering::Relaxed) {
        match connect_from(number, address_of(server)).await {
            Ok(client) => {
                let is_late = attack_once(attack, timeouts, client).await > limit;
                *if is_late { &mut counts.closed_late } else { &mut counts.closed_on_time } += 1;
            }
            Err(error) if error.raw_os_error() == Some(Errno::ADDRINUSE.raw_os_error()) => sleep(CLOSE_TOLERANCE).await,
            Err(_) => counts.refused += 1,
        }
    }
    counts
}

fn summed(all: Vec<AttackCounts>) -> AttackCounts {
    all.into_iter().fold(AttackCounts::default(), |sum, one| AttackCounts {
        closed_on_time: sum.closed_on_time + one.closed_on_time,
        closed_late: sum.closed_late + one.closed_late,
        refused: sum.refused + one.refused,
    })
}

/// The counts, samples of the number of open connections during the attack, and what a normal client measured meanwhile.
async fn run_attack(
    server: &'static TestServer,
    attackers: u64,
    timeouts: Timeouts,
) -> (AttackCounts, Vec<u64>, RequestTimes) {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut tasks = JoinSet::new();
    for number in 0..u32::try_from(attackers).unwrap() {
        tasks.spawn(attack_repeatedly(number, timeouts, server, &STOP));
    }
    let open = move || metric(server, OPEN_CONNECTIONS);
    tokio::task::spawn_blocking(move || crate::harness::wait_until("all are connected", || open() >= attackers))
        .await
        .unwrap();
    let client = tokio::task::spawn_blocking(move || measure_requests(server, timeouts.idle + CLOSE_TOLERANCE));
    let mut held = Vec::new();
    while !client.is_finished() {
        held.push(tokio::task::spawn_blocking(open).await.unwrap());
        sleep(Duration::from_millis(200)).await;
    }
    STOP.store(true, Ordering::Relaxed);
    let measured = client.await.unwrap();
    held.sort_unstable();
    (summed(tasks.join_all().await), held, measured)
}

/// `LOCUM_ATTACKERS=2000` with the time limits of a production server; prints its figures as JSON.
#[test]
fn slow_clients_are_closed_in_time_and_delay_no_other() {
    let attackers = suite_setting("LOCUM_ATTACKERS", 120);
    let timeouts = Timeouts::of_size(attackers);
    let args = timeouts.args();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let server = crate::harness::keep_for_test(TestServer::start(&args));
    let at_rest = measure_requests(server, timeouts.idle / 2);
    let (counts, held, attacked) = run_clients(run_attack(server, attackers, timeouts));
    let median = held[held.len() / 2];
    let figures = json!({
        "attackers": attackers, "median_connections_held": median, "least_connections_held": held[0], "closed_on_time": counts.closed_on_time,
        "closed_late": counts.closed_late, "refused": counts.refused,
        "p50_ms_at_rest": at_rest.percentile_ms(50), "p99_ms_at_rest": at_rest.percentile_ms(99),
        "p50_ms_attacked": attacked.percentile_ms(50), "p99_ms_attacked": attacked.percentile_ms(99),
    });
    println!("figure: {figures}");
    assert!(counts.closed_on_time >= attackers && counts.closed_late == 0 && counts.refused == 0, "{figures}");
    // Those that are closed at the same time also connect again at the same time.
    assert!(median >= attackers * 9 / 10, "{figures}");
    // The gate runs on busy machines: three times, and a fifth of a second for the scheduler.
    assert!(attacked.percentile_ms(99) <= at_rest.percentile_ms(99).mul_add(3.0, 200.0), "{figures}");
}
