//! Valid requests to every operation and page, changed at random, against a server of their own.
//!
//! `LOCUM_FUZZ_SECONDS` says how long (15), `LOCUM_FUZZ_SEED` which changes. Two clients send at the same time,
//! so a seed repeats the requests but not their order; every finding names its request in full.

mod case;
mod corpus;
mod mutation;
mod values;

pub(super) use self::corpus::endpoints;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use base::clock::monotonic_now;
use rustix::process::Signal;

use self::case::{Caller, Case, CaseBody};
use self::corpus::{CSRF, Corpus, Session};
use self::mutation::mutate;
use self::values::ValueSource;
use crate::harness::{TestRequest, TestRng, TestServer, keep_for_test, suite_setting};

const CLIENTS: u64 = 2;
/// A world is worn out by requests that change it.
const ROUND: Duration = Duration::from_secs(90);
const HANGS: Duration = Duration::from_secs(5);

/// What the responses were.
#[derive(Default)]
struct Tally {
    /// By status; 0 for none.
    statuses: BTreeMap<u16, usize>,
    findings: Vec<String>,
}

struct Client<'c> {
    corpus: &'c Corpus,
    server: &'static TestServer,
    values: ValueSource<'c>,
    member: Session,
    visitor: Session,
    tally: Tally,
}

impl Client<'_> {
    fn step(&mut self) {
        let mut case = self.values.rng.pick(&self.corpus.cases).clone();
        // Some stay valid, so that the world goes on changing.
        if self.values.below(20) != 0 {
            mutate(&mut case, &mut self.values);
        }
        let started = monotonic_now();
        let status = self.send(&case);
        // A machine that is busy with other tests is slow once, not twice.
        let is_slow = started.elapsed() > HANGS && {
            let again = monotonic_now();
            self.send(&case);
            again.elapsed() > HANGS
        };
        *self.tally.statuses.entry(status).or_default() += 1;
        // A body over the limit may be refused by closing the connection.
        let is_lost = status == 0 && case.to_request().body.len() < 60_000;
        if is_slow || is_lost || status >= 500 && status != 503 {
            self.tally.findings.push(describe(&case, status, is_slow));
        }
    }

    /// The status of the response; 0 if there was none.
    fn send(&mut self, case: &Case) -> u16 {
        let request = case.to_request();
        let user = &self.corpus.owner.person;
        let stranger = &self.corpus.stranger;
        // The Ads API and its pages have an owner of their own.
        let owner = if case.path.contains("/12/") { &self.corpus.advertiser } else { user };
        let request = match case.caller {
            Caller::Browser => return self.send_from_browser(case, request),
            Caller::Owner => request.bearer(&owner.token),
            Caller::App => request.bearer(&user.app.bearer),
            Caller::Stranger => request.bearer(&stranger.token),
            Caller::Client => request.basic(&stranger.app.key, &stranger.app.secret),
            Caller::Signed => match request.try_oauth1_header(&stranger.oauth1_credentials(), &self.server.url) {
                Some(header) => request.authorization(header),
                None => request.bearer(&stranger.token),
            },
            Caller::Nobody => request,
        };
        let response = if case.is_stream {
            self.server.send_for_head(request)
        } else {
            self.server.try_send(request).map(|response| response.status)
        };
        response.unwrap_or_default()
    }

    fn send_from_browser(&mut self, case: &Case, mut request: TestRequest) -> u16 {
        // Failed attempts to sign in are limited, so one session must last.
        let is_visit =
            ["/login", "/logout", "/join", "/forgotten", "/account"].iter().any(|path| case.path.starts_with(path));
        let Session { browser, csrf } = if is_visit { &mut self.visitor } else { &mut self.member };
        if !matches!(case.body, CaseBody::Empty) {
            let body = String::from_utf8_lossy(&request.body).replace(CSRF, csrf);
            request.body = body.into_bytes();
        }
        if case.is_stream {
            return self.server.send_for_head(request).unwrap_or_default();
        }
        browser.try_send(request).map(|response| response.status).unwrap_or_default()
    }
}

fn describe(case: &Case, status: u16, is_slow: bool) -> String {
    let request = case.to_request();
    let body: String = String::from_utf8_lossy(&request.body).chars().take(2_000).collect();
    let why = if is_slow { "took longer than 5 s" } else { "failed" };
    let target: String = request.target.chars().take(2_000).collect();
    format!("{status} {why}: {:?} {} {target} {:?} {body}", case.caller, case.method, case.headers)
}

/// A server and its world under attack for some time.
fn attack_world(seed: u64, time: Duration, tally: &Mutex<Tally>) {
    let server = keep_for_test(TestServer::start(&[]));
    let corpus = &Corpus::new(server);
    let sessions = || (Session::of_user(&corpus.advertiser), Session::of_visitor(server));
    let all: Vec<_> = (0..CLIENTS).map(|client| (client, sessions())).collect();
    let began = monotonic_now();
    std::thread::scope(|scope| {
        for (client, (member, visitor)) in all {
            scope.spawn(move || {
                let rng = TestRng(seed.wrapping_mul(CLIENTS).wrapping_add(client));
                let values = ValueSource { rng, kinds: &corpus.kinds, known: &corpus.known };
                let mut client = Client { corpus, server, values, member, visitor, tally: Tally::default() };
                while began.elapsed() < time && client.tally.findings.len() < 20 {
                    client.step();
                }
                let mut whole = tally.lock().unwrap();
                for (status, count) in client.tally.statuses {
                    *whole.statuses.entry(status).or_default() += count;
                }
                whole.findings.extend(client.tally.findings);
            });
        }
    });
    let mut whole = tally.lock().unwrap();
    whole.findings.extend(logged_faults(server));
    let ready = server.try_send(TestRequest::get("/readyz")).map(|response| response.status);
    if ready != Some(200) {
        whole.findings.push(format!("/readyz: {ready:?}"));
    }
    let sound = server.run_cli(&["fsck"]);
    if sound.code != 0 {
        whole.findings.push(format!("fsck: {sound:?}"));
    }
    server.signal(Signal::KILL);
}

/// Lines of the log that tell of a fault.
fn logged_faults(server: &TestServer) -> Vec<String> {
    let log = server.stderr();
    let is_fault = |line: &&str| line.contains("ERROR") || line.contains("panicked at");
    log.lines().filter(is_fault).take(20).map(|line| line.chars().take(1_000).collect()).collect()
}

#[test]
fn mutated_requests_cause_no_server_error_hang_or_panic() {
    let seconds = suite_setting("LOCUM_FUZZ_SECONDS", 15);
    let now = u64::try_from(base::clock::wall_time().ms()).unwrap();
    let seed = suite_setting("LOCUM_FUZZ_SEED", now);
    println!("LOCUM_FUZZ_SEED={seed}");
    let tally = Mutex::new(Tally::default());
    let (mut left, mut number) = (Duration::from_secs(seconds), 0);
    while !left.is_zero() && tally.lock().unwrap().findings.is_empty() {
        let time = left.min(ROUND);
        attack_world(seed.wrapping_add(number), time, &tally);
        left -= time;
        number += 1;
    }
    let Tally { statuses, findings } = tally.into_inner().unwrap();
    let sent: usize = statuses.values().sum();
    let figure = serde_json::json!({ "seconds": seconds, "requests": sent, "failures": findings.len() });
    println!("figure: {figure}");
    println!("by status: {statuses:?}");
    assert!(findings.is_empty(), "LOCUM_FUZZ_SEED={seed}\n{}", findings.join("\n"));
    let served: usize = statuses.range(200..300).map(|(_, count)| count).sum();
    assert!(served * 20 > sent, "only {served} of {sent} were valid enough to be served");
}
