//! What was acknowledged is there after the process was killed at any moment.
//!
//! `LOCUM_KILL_ROUNDS` sets how often it is killed (5), `LOCUM_KILL_SEED` when.

mod power_loss;

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{
    DatabaseEngine, TestRequest, TestRng, TestServer, run_command, suite_engine, suite_setting, unique_number,
    wait_until,
};

/// Someone who writes, by what a request of theirs needs.
struct Writer {
    id: String,
    token: String,
}

/// What the clients know.
#[derive(Default)]
struct Ledger {
    /// Acknowledged posts and their texts.
    posts: BTreeMap<u64, String>,
    /// Acknowledged deletions.
    deleted: HashSet<u64>,
    /// Deletions without an answer: the post may be there or not.
    doubtful: HashSet<u64>,
    /// Acknowledged follows.
    follows: HashSet<(String, String)>,
}

#[test]
fn acknowledged_writes_survive_a_killed_process() {
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 5);
    let seed = suite_setting("LOCUM_KILL_SEED", u64::try_from(base::clock::wall_time().ms()).unwrap());
    let mut server = TestServer::start(&["--world", "empty"]);
    let writers: Vec<Writer> = (0..4)
        .map(|_| {
            let user = server.new_user_with("writer", &["--subscription-type", "Premium"]);
            Writer { id: user.id.clone(), token: user.token }
        })
        .collect();
    let (mut rng, mut all, mut checked) = (TestRng(seed), Ledger::default(), 0);
    let mut lost = Vec::new();
    for round in 0..rounds {
        let instant = Duration::from_millis(u64::try_from(60 + rng.below(500)).unwrap());
        let ledger = write_until_killed(&server, &writers, instant, rng.0);
        server.crash_and_restart();
        let response = format!("round {round}, seed {seed}, killed after {instant:?}");
        println!("{response}: {} posts, {} deletions", ledger.posts.len(), ledger.deleted.len());
        checked += check(&server, &writers, &ledger, &response, &mut lost);
        all.take(ledger, &response);
    }
    checked += check(&server, &writers, &all, &format!("after all, seed {seed}"), &mut lost);
    let sound = server.run_cli(&["fsck"]).code == 0;
    let figure = json!({
        "figure": "killed process", "engine": format!("{:?}", suite_engine()), "cycles": rounds, "seed": seed,
        "acknowledged": all.posts.len() + all.deleted.len() + all.follows.len(), "checked": checked,
        "lost": lost.len(), "half_effects": u8::from(!sound),
    });
    println!("figure: {figure}");
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(all.posts.len() > 10 * usize::try_from(rounds).unwrap(), "{} posts", all.posts.len());
    is_sound(&server);
    let next: u64 = post(&server, &writers[0], &json!({ "text": "The last" })).unwrap();
    assert!(all.posts.last_key_value().is_none_or(|(last, _)| *last < next), "ids went back");
}

impl Ledger {
    fn take(&mut self, other: Self, response: &str) {
        for (id, text) in other.posts {
            assert!(self.posts.insert(id, text).is_none(), "{response}: {id} was given out twice");
        }
        self.deleted.extend(other.deleted);
        self.doubtful.extend(other.doubtful);
        self.follows.extend(other.follows);
    }
}

/// Everyone writes until the process is gone; what was acknowledged until then.
fn write_until_killed(server: &TestServer, writers: &[Writer], instant: Duration, seed: u64) -> Ledger {
    let (ledger, deleted) = (Mutex::new(Ledger::default()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for (number, writer) in (0..).zip(writers) {
            for lane in 0..2 {
                let rng = TestRng(seed ^ (number * 2 + lane + 1));
                let (ledger, deleted) = (&ledger, &deleted);
                scope.spawn(move || write(server, writer, rng, ledger, deleted));
            }
        }
        scope.spawn(|| follow(server, writers, &ledger, &deleted));
        // The instant counts from where something is acknowledged: a loaded machine is slow to begin.
        wait_until("something to be acknowledged", || ledger.lock().unwrap().posts.len() > 10);
        std::thread::sleep(instant);
        server.signal(Signal::KILL);
        deleted.store(true, Ordering::SeqCst);
    });
    ledger.into_inner().unwrap()
}

/// One lane of a writer: posts, replies, edits and deletions.
fn write(server: &TestServer, writer: &Writer, mut rng: TestRng, ledger: &Mutex<Ledger>, removed: &AtomicBool) {
    let mut mine: Vec<u64> = Vec::new();
    while !removed.load(Ordering::SeqCst) {
        let text = format!("Entry {}", unique_number());
        let some = mine.get(rng.below(64)).copied();
        match (rng.below(6), some) {
            (0, Some(id)) => {
                mine.retain(|other| *other != id);
                ledger.lock().unwrap().doubtful.insert(id);
                let request = TestRequest::delete(format!("/2/posts/{id}")).bearer(&writer.token);
                if server.try_send(request).is_some_and(|response| response.status == 200) {
                    ledger.lock().unwrap().deleted.insert(id);
                }
            }
            (1, Some(id)) => {
                let reply = json!({ "text": text, "reply": { "in_reply_to_post_id": id.to_string() } });
                note(server, writer, &reply, text, ledger);
            }
            (2, Some(id)) => {
                // An edited post stands and falls with its versions: it is edited once.
                mine.retain(|other| *other != id);
                let edit = json!({ "text": text, "edit_options": { "previous_post_id": id.to_string() } });
                note(server, writer, &edit, text, ledger);
            }
            _ => mine.extend(note(server, writer, &json!({ "text": text }), text.clone(), ledger)),
        }
    }
}

fn note(server: &TestServer, writer: &Writer, body: &Value, text: String, ledger: &Mutex<Ledger>) -> Option<u64> {
    let id = post(server, writer, body)?;
    let before = ledger.lock().unwrap().posts.insert(id, text);
    assert!(before.is_none(), "{id} was given out twice");
    Some(id)
}

fn post(server: &TestServer, writer: &Writer, body: &Value) -> Option<u64> {
    let response = server.try_send(TestRequest::post("/2/posts").json(body).bearer(&writer.token))?;
    match response.status {
        201 => response.json()["data"]["id"].as_str()?.parse().ok(),
        // A reply to a post that its author deleted meanwhile.
        400 | 403 => None,
        other => panic!("{other}: {}", response.text()),
    }
}

fn follow(server: &TestServer, writers: &[Writer], ledger: &Mutex<Ledger>, deleted: &AtomicBool) {
    for source in writers {
        for target in writers.iter().filter(|target| target.id != source.id) {
            if deleted.load(Ordering::SeqCst) {
                return;
            }
            let line = json!({ "kind": "follow", "from": source.id, "to": target.id });
            if server.import_lines(&[line]).code == 0 {
                let edge = (source.id.clone(), target.id.clone());
                ledger.lock().unwrap().follows.insert(edge);
            }
        }
    }
}

/// Adds to `lost` what is not as it was acknowledged; returns how many writes it looked at.
fn check(server: &TestServer, writers: &[Writer], ledger: &Ledger, response: &str, lost: &mut Vec<String>) -> usize {
    let ids: Vec<&u64> = ledger.posts.keys().collect();
    for some in ids.chunks(100) {
        let list = some.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let request = TestRequest::get(format!("/2/posts?ids={list}")).bearer(&writers[0].token);
        let body = server.send(request).assert_status(200);
        let data = body["data"].as_array().cloned().unwrap_or_default();
        for id in some {
            let found = data.iter().find(|post| post["id"] == id.to_string());
            let text = &ledger.posts[id];
            match found {
                Some(_) if ledger.deleted.contains(id) => {
                    lost.push(format!("{response}: {id} was deleted and is back"));
                }
                Some(post) if post["text"] != text.as_str() => lost.push(format!("{response}: {id} is {post}")),
                None if !ledger.doubtful.contains(id) => lost.push(format!("{response}: {id} {text:?} is lost")),
                _ => {}
            }
        }
    }
    for (source, target) in &ledger.follows {
        let request = TestRequest::get(format!("/2/users/{source}/following?max_results=100"));
        let body = server.send(request.bearer(&writers[0].token)).assert_status(200);
        let users = body["data"].as_array().cloned().unwrap_or_default();
        let follows = users.iter().any(|user| user["id"] == target.as_str());
        if !follows {
            lost.push(format!("{response}: {source} no longer follows {target}"));
        }
    }
    ledger.posts.len() + ledger.follows.len()
}

fn is_sound(server: &TestServer) {
    let found = server.run_cli(&["fsck"]);
    assert_eq!(found.json()["sound"], true, "{found:?}");
}

#[test]
fn server_killed_during_initialization_starts_again() {
    for instant in [20, 60, 120, 200, 350] {
        let mut server = TestServer::prepare(&[]);
        server.use_empty_database();
        server.spawn();
        std::thread::sleep(Duration::from_millis(instant));
        server.kill();
        server.restart();
        let me = server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
        assert_eq!(me["data"]["id"], server.env_value("USER_ID"), "killed after {instant} ms");
        is_sound(&server);
    }
}

/// A database file and its log, cut or spoiled, is opened up to some moment or refused: it never
/// shows what was not written. `LOCUM_WAL_DAMAGES` sets how many bytes are changed (12); from 100 on, the log is also
/// cut at each of its frames instead of at as many random places.
#[test]
fn damaged_wal_restores_a_consistent_state_or_none() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&["--world", "empty"]);
    let (id, texts) = {
        let user = server.new_user("damaged");
        let texts: Vec<String> = (0..40).map(|number| format!("Entry {number} of forty")).collect();
        for text in &texts {
            user.publish_text(text);
        }
        (user.id, texts)
    };
    server.kill();
    let wal = std::fs::read(server.data_dir().join("locum.db-wal")).unwrap();
    assert!(wal.len() > 4_096, "{} bytes", wal.len());
    let (mut rng, count) = (TestRng(7), suite_setting("LOCUM_WAL_DAMAGES", 12));
    let frames: Vec<usize> = (WAL_HEADER..wal.len()).step_by(WAL_FRAME_HEADER + page_size(&wal)).collect();
    let cuts: Vec<usize> =
        if count < 100 { (0..count).map(|_| rng.below(wal.len())).collect() } else { frames.clone() };
    let cut = cuts.iter().map(|length| wal[..*length].to_vec());
    let changed = (0..count).map(|_| {
        let mut damaged = wal.clone();
        damaged[rng.below(wal.len())] ^= 0x40;
        damaged
    });
    let damaged: Vec<Vec<u8>> = cut.chain(changed).collect();
    let opened = damaged.iter().filter_map(|wal| count_shown_posts(&server, wal, &id, &texts)).count();
    println!(
        "figure: {}",
        json!({
            "figure": "damaged WAL", "frames": frames.len(), "cuts": cuts.len(), "changed_bytes": count,
            "opened": opened, "refused": damaged.len() - opened, "wrong": 0,
        })
    );
    assert!(opened * 2 >= damaged.len(), "only {opened} were opened");
}

/// Bytes before the first frame, and before the page in each (<https://www.sqlite.org/fileformat2.html>, 4.1).
const WAL_HEADER: usize = 32;
const WAL_FRAME_HEADER: usize = 24;

fn page_size(wal: &[u8]) -> usize {
    let bytes = wal[8..12].try_into().unwrap();
    usize::try_from(u32::from_be_bytes(bytes)).unwrap()
}

/// How many posts a copy of the data with this WAL shows, which are the first ones; `None` if it is not opened.
fn count_shown_posts(server: &TestServer, wal: &[u8], id: &str, texts: &[String]) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for name in ["locum.db", "master.key", "world.json"] {
        std::fs::copy(server.data_dir().join(name), data.join(name)).unwrap();
    }
    std::fs::write(data.join("locum.db-wal"), wal).unwrap();
    let file = folder.path().join("out.jsonl");
    let place = ["--data-dir", data.to_str().unwrap(), "--json"];
    let export = ["export", file.to_str().unwrap()];
    if run_command(folder.path(), &[&export[..], &place].concat()).code != 0 {
        return None;
    }
    let lines = std::fs::read_to_string(&file).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let posts = lines.filter(|line| line["kind"] == "post" && line["author"] == id);
    let shown: Vec<String> = posts.map(|post| post["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(shown, texts[..shown.len()], "not a beginning of what was written");
    run_command(folder.path(), &[&["fsck"][..], &place].concat()).assert_success();
    Some(shown.len())
}
