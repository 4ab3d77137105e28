//! A program of every kind of write, run while the database's connections or the server itself are ended:
//! what was acknowledged is stored, and nothing is half done.
//!
//! `LOCUM_KILL_ROUNDS` sets the number of rounds.

mod writes;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{
    CommandOutput, DatabaseEngine, TestRequest, TestResponse, TestServer, WebhookReceiver, suite_engine, suite_setting,
    wait_until,
};

/// An answer that took longer is a hang: an idle machine answers within a second.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Those who write, by what their requests need.
struct Actors {
    user: (String, String),
    other: String,
    /// Whom the user follows and leaves again.
    followed: Vec<String>,
    /// Posts that are liked and unliked.
    posts: Vec<String>,
    account: String,
    instrument: String,
    app_bearer: String,
    /// The key and secret of an app whose bearer token is replaced again and again.
    rotated_app: (String, String),
    receiver: WebhookReceiver,
}

impl Actors {
    fn new(server: &TestServer) -> Self {
        let user = server.new_user("writer");
        let followed = (0..3).map(|_| server.new_user("followed").id).collect();
        let posts = (0..8).map(|number| user.publish_text(&format!("Liked {number}"))).collect();
        let rotated = server.new_app("self-serve");
        let app = server.default_app();
        Self {
            other: server.new_user("other").id,
            followed,
            posts,
            account: String::new(),
            instrument: String::new(),
            app_bearer: app.bearer.clone(),
            rotated_app: (rotated.key, rotated.secret),
            receiver: WebhookReceiver::open(&app.secret),
            user: (user.id.clone(), user.token),
        }
    }

    /// Opens a new advertising account: the number of campaigns in one is limited.
    fn open_account(&mut self, server: &TestServer) {
        let create = ["ads", "account", "create", "Mixed", "--user", &self.user.0];
        self.account = created_id(&server.run_cli(&create));
        server.run_cli(&["ads", "account", "set", &self.account, "--campaigns", "8000"]).assert_success();
        let fund = ["ads", "account", "funding", &self.account, "--amount", "5000", "--start", "2020-01-01T00:00:00Z"];
        self.instrument = created_id(&server.run_cli(&fund));
    }
}

fn created_id(output: &CommandOutput) -> String {
    output.json()["id"].as_str().unwrap().to_owned()
}

/// What a read must answer.
#[derive(Clone, Debug)]
enum Expected {
    Contains(String),
    Lacks(String),
    Status(u16),
    /// So often, or not at all.
    AllOrNone(String, usize),
}

/// A read that shows whether a write is stored.
#[derive(Clone, Debug)]
struct Evidence {
    read: TestRequest,
    expected: Expected,
}

impl Evidence {
    fn holds(&self, response: &TestResponse) -> bool {
        let text = response.text();
        match &self.expected {
            Expected::Contains(part) => response.status == 200 && text.contains(part),
            Expected::Lacks(part) => response.status == 200 && !text.contains(part),
            Expected::Status(status) => response.status == *status,
            Expected::AllOrNone(part, count) => {
                response.status == 200 && [0, *count].contains(&text.matches(part).count())
            }
        }
    }
}

/// What the clients know.
#[derive(Default)]
struct WriteLedger {
    acknowledged: BTreeMap<&'static str, u64>,
    unavailable: u64,
    /// By what was written to. None while nobody knows whether the last write is stored.
    evidence: BTreeMap<String, Option<Evidence>>,
    /// Answers that no client may get.
    wrong: Vec<String>,
    slowest: Duration,
}

struct EndOnDrop<'e>(&'e AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A running program.
struct WriteProgram<'p> {
    server: &'p TestServer,
    actors: &'p Actors,
    ledger: Mutex<WriteLedger>,
    ended: AtomicBool,
    /// Whether connections of clients may break: the server is killed.
    may_break: bool,
}

impl<'p> WriteProgram<'p> {
    /// Runs all writers until `disturb` returns.
    fn run(server: &'p TestServer, actors: &'p Actors, may_break: bool, disturb: impl FnOnce(&Self)) -> WriteLedger {
        let program = Self { server, actors, ledger: Mutex::default(), ended: AtomicBool::new(false), may_break };
        std::thread::scope(|scope| {
            for write in writes::ALL {
                let program = &program;
                scope.spawn(move || program.repeat(write));
            }
            // A panic waits for the writers as well.
            let _end = EndOnDrop(&program.ended);
            disturb(&program);
        });
        program.ledger.into_inner().unwrap()
    }

    fn repeat(&self, write: fn(&Self)) {
        while !self.ended.load(Ordering::SeqCst) {
            write(self);
        }
    }

    /// Whether every kind of write was acknowledged, or one was answered wrongly.
    fn is_complete(&self) -> bool {
        let ledger = self.ledger.lock().unwrap();
        ledger.acknowledged.len() == writes::KINDS || !ledger.wrong.is_empty()
    }

    fn acknowledged_writes(&self) -> u64 {
        self.ledger.lock().unwrap().acknowledged.values().sum()
    }

    /// Sends a write of a kind. None if it was not acknowledged: then what it wrote to is in doubt.
    fn send(&self, kind: &'static str, subject: &str, request: TestRequest) -> Option<TestResponse> {
        self.ledger.lock().unwrap().evidence.insert(subject.to_owned(), None);
        let begun = base::clock::monotonic_now();
        let Some(response) = self.server.try_send(request) else {
            assert!(self.may_break || self.ended.load(Ordering::SeqCst), "{kind}: no answer");
            // Its process is gone; the next one is not there yet.
            std::thread::sleep(Duration::from_millis(5));
            return None;
        };
        let taken = begun.elapsed();
        let mut ledger = self.ledger.lock().unwrap();
        ledger.slowest = ledger.slowest.max(taken);
        match response.status {
            200 | 201 | 204 => {
                *ledger.acknowledged.entry(kind).or_default() += 1;
                return Some(response);
            }
            503 if response.header("retry-after") == "1" => ledger.unavailable += 1,
            status => ledger.wrong.push(format!("{kind}: {status} {}", response.text())),
        }
        None
    }

    fn record(&self, subject: &str, read: TestRequest, expected: Expected) {
        let evidence = Evidence { read, expected };
        self.ledger.lock().unwrap().evidence.insert(subject.to_owned(), Some(evidence));
    }
}

/// Figures of a whole run.
#[derive(Default)]
struct Figures {
    acknowledged: BTreeMap<&'static str, u64>,
    unavailable: u64,
    checked: usize,
    lost: Vec<String>,
    slowest: Duration,
}

impl Figures {
    /// Checks all that is known after a round.
    fn check(&mut self, server: &TestServer, ledger: WriteLedger) {
        assert!(ledger.wrong.is_empty(), "{:#?}", ledger.wrong);
        for (subject, evidence) in ledger.evidence {
            let Some(evidence) = evidence else { continue };
            let response = server.send(evidence.read.clone());
            self.checked += 1;
            if !evidence.holds(&response) {
                self.lost.push(format!("{subject}: {:?}: {} {}", evidence.expected, response.status, response.text()));
            }
        }
        for (kind, count) in ledger.acknowledged {
            *self.acknowledged.entry(kind).or_default() += count;
        }
        self.unavailable += ledger.unavailable;
        self.slowest = self.slowest.max(ledger.slowest);
    }

    fn print_and_assert(&self, name: &str, rounds: u64, sound: bool) {
        let line = json!({
            "figure": name, "engine": format!("{:?}", suite_engine()), "cycles": rounds,
            "acknowledged": self.acknowledged.values().sum::<u64>(), "by_kind": self.acknowledged,
            "checked": self.checked, "lost": self.lost.len(), "half_effects": u8::from(!sound),
            "unavailable": self.unavailable, "slowest_ms": self.slowest.as_millis(),
        });
        println!("figure: {line}");
        assert!(self.lost.is_empty(), "{:#?}", self.lost);
        assert!(sound, "fsck");
        assert_eq!(self.acknowledged.len(), writes::KINDS, "{:?}", self.acknowledged);
    }
}

fn is_sound(server: &TestServer) -> bool {
    let found = server.run_cli(&["fsck"]);
    let sound = found.code == 0;
    if !sound {
        println!("{found:?}");
    }
    sound
}

fn start() -> TestServer {
    TestServer::start(&["--world", "empty", "--set", "webhooks.per_app=50"])
}

#[test]
fn every_kind_of_write_is_whole_after_a_killed_process() {
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 2);
    let mut server = start();
    let mut actors = Actors::new(&server);
    let mut figures = Figures::default();
    for _ in 0..rounds {
        actors.open_account(&server);
        let ledger = WriteProgram::run(&server, &actors, true, |program| {
            wait_until("every kind of write is acknowledged", || program.is_complete());
            server.signal(Signal::KILL);
        });
        server.crash_and_restart();
        figures.check(&server, ledger);
    }
    let sound = is_sound(&server);
    figures.print_and_assert("mixed writes, killed process", rounds, sound);
}

#[test]
fn terminated_database_connections_lose_no_acknowledged_write() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 1);
    let server = start();
    let mut actors = Actors::new(&server);
    let mut figures = Figures::default();
    for _ in 0..rounds {
        actors.open_account(&server);
        let ledger = WriteProgram::run(&server, &actors, false, disturb_connections);
        figures.check(&server, ledger);
    }
    let sound = is_sound(&server);
    assert!(figures.slowest < LONGEST_ANSWER, "an answer took {:?}", figures.slowest);
    assert!(figures.unavailable > 0, "no write met a terminated connection");
    figures.print_and_assert("mixed writes, terminated connections", rounds, sound);
}

/// Terminates connections at work until every kind of write was acknowledged, and lets nobody in for a moment.
fn disturb_connections(program: &WriteProgram<'_>) {
    let database = program.server.database();
    let mut next = 0;
    wait_until("every kind of write is acknowledged", || {
        if program.acknowledged_writes() >= next {
            database.terminate_busy_connection();
            next = program.acknowledged_writes() + 3;
        }
        next > 60 && program.is_complete()
    });
    database.set_closed(true);
    database.set_closed(false);
    let before = program.acknowledged_writes();
    wait_until("writes are acknowledged again", || program.acknowledged_writes() > before + 10);
}

#[test]
fn statement_over_its_time_limit_is_answered_as_unavailable() {
    if suite_engine() == DatabaseEngine::Sqlite {
        return;
    }
    let server = TestServer::start(&["--world", "empty", "--set", "db.query_timeout=300ms"]);
    let user = server.new_user("writer");
    let post = || {
        let request = TestRequest::post("/2/posts").json(&json!({ "text": "On time" }));
        server.send(request.bearer(&user.token))
    };
    let locked = server.database().lock_table("post");
    let begun = base::clock::monotonic_now();
    let response = post();
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("retry-after"), "1");
    assert!(begun.elapsed() < LONGEST_ANSWER, "{:?}", begun.elapsed());
    drop(locked);
    wait_until("posts are taken again", || post().status == 201);
}
