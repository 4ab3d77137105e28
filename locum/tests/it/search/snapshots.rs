//! A new search node starts from a snapshot of the index in the bucket, and without a usable one from the database.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::ids;
use crate::harness::{
    BucketServer, DatabaseEngine, TcpProxy, TestRequest, TestServer, TestUser, metric, suite_engine, wait_until,
};

/// Makes a snapshot when it has its index, and no other.
const ONE_SNAPSHOT: &str = "search.snapshot_interval=1h";
const MANY_SNAPSHOTS: &str = "search.snapshot_interval=300ms";

/// A node that makes no snapshots, with a bucket.
struct SnapshotNetwork {
    first: TestServer,
    bucket: BucketServer,
    folder: TempDir,
}

/// The name of a manifest: when it was made, and the position of the log.
type SnapshotName = (i64, i64);

impl SnapshotNetwork {
    /// None on SQLite, where no other node can start, and without a bucket server.
    fn start() -> Option<Self> {
        if suite_engine() != DatabaseEngine::Postgres {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let bucket = BucketServer::start(folder.path())?;
        let own = ["search.snapshot_interval=0s".to_owned(), "search.snapshot_min_events=1".to_owned()];
        let keys = [BucketServer::settings(folder.path(), &bucket.url), own.to_vec()].concat();
        let args: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
        let first = TestServer::start_network(&args);
        Some(Self { first, bucket, folder })
    }

    fn start_node(&self, number: u16, settings: &[&str]) -> TestServer {
        let media = format!("media.dir={}", self.folder.path().join(format!("media-{number}")).display());
        let own = [&*media, "listen.control_addr=127.0.0.1:0"];
        self.first.start_another_node_with(number, &[&own, settings].concat())
    }

    fn objects(&self, part: &str) -> Vec<String> {
        let names = self.bucket.object_names().into_iter();
        names.filter(|name| name.starts_with("here/search-index/") && name.contains(part)).collect()
    }

    /// Oldest first.
    fn snapshots(&self) -> Vec<(SnapshotName, String)> {
        let parse = |name: String| {
            let (_, end) = name.rsplit_once('/').unwrap();
            let (time, seq) = end.strip_suffix(".json").unwrap().split_once('-').unwrap();
            ((time.parse().unwrap(), seq.parse().unwrap()), name)
        };
        let mut found: Vec<_> = self.objects("/manifests/").into_iter().map(parse).collect();
        found.sort();
        found
    }

    /// Adds a manifest that is newer than the newest by some milliseconds.
    fn write_manifest(&self, manifest: &Value, newer_ms: i64) {
        let ((time, seq), name) = self.snapshots().pop().unwrap();
        let (folder, _) = name.rsplit_once('/').unwrap();
        let text = manifest.to_string();
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&text));
        let name = format!("{folder}/{}-{seq}.json", time + newer_ms);
        self.bucket.write_object(&name, format!("{text}\n{digest}\n").as_bytes());
    }

    /// Whether the bucket has the files that the snapshots need, and no others.
    fn has_needed_files_only(&self) -> bool {
        let stored = self.objects("/files/").into_iter().collect::<BTreeSet<_>>();
        let mut needed = BTreeSet::new();
        for (_, name) in self.snapshots() {
            // A snapshot may be removed meanwhile.
            let Some(manifest) = self.bucket.read_object(&name).map(|text| parse_manifest(&text)) else { return false };
            let (folder, _) = name.split_once("/manifests/").unwrap();
            let files = manifest["files"].as_array().unwrap();
            needed.extend(files.iter().map(|file| format!("{folder}/files/{}", file["sha256"].as_str().unwrap())));
        }
        stored == needed
    }

    /// Publishes a post, and waits for a snapshot with it.
    fn publish_and_wait(&self, author: &TestUser<'_>, text: &str) {
        let post = author.publish_text(text);
        let number =
            format!("SELECT COALESCE(MAX(seq), 0) FROM event WHERE subject_id = {post} AND kind = 'post.create'");
        let mut seq = 0;
        wait_until("the event is numbered", || {
            seq = self.first.database().query_number(&number);
            seq > 0
        });
        let newest = || self.snapshots().pop().is_some_and(|((_, found), _)| found >= seq);
        wait_until("a snapshot has it", newest);
    }
}

fn parse_manifest(text: &[u8]) -> Value {
    serde_json::from_slice(text.split(|byte| *byte == b'\n').next().unwrap()).unwrap()
}

/// What a node's own index finds, newest first; waits until it is built.
fn found(node: &TestServer, query: &str) -> Vec<String> {
    wait_until("the index is built", || node.send(TestRequest::get("/readyz?role=search")).status == 200);
    let path = format!("/2/posts/search/recent?query={query}&max_results=100");
    let page = node.send(TestRequest::get(path).bearer(&node.default_app().bearer)).assert_status(200);
    ids(&page)
}

#[test]
fn new_search_node_starts_from_a_snapshot_and_follows_the_log_from_there() {
    let Some(network) = SnapshotNetwork::start() else { return };
    let author = network.first.new_user("author");
    let old = ["lantern one", "lantern two", "lantern three"].map(|text| author.publish_text(text));
    let maker = network.start_node(1, &[ONE_SNAPSHOT]);
    wait_until("there is a snapshot", || network.snapshots().len() == 1);
    assert_eq!((metric(&maker, "locum_search_snapshots_total"), metric(&maker, "locum_search_snapshot_posts")), (1, 0));
    let made_at = network.snapshots()[0].0.0 / 1000;
    assert_eq!(i64::try_from(metric(&maker, "locum_newest_search_snapshot_seconds")).unwrap(), made_at);
    crate::observability::assert_exports_documented_snapshot_metrics(&maker);
    author.delete(format!("/2/posts/{}", old[1])).assert_status(200);
    let later = author.publish_text("lantern four");
    // No entry of the log says so: whoever reads this post from the database does not find it.
    network.first.run_sql(&format!("UPDATE post SET limited = 1 WHERE id = {}", old[0]));
    let started = network.start_node(2, &[ONE_SNAPSHOT]);
    wait_until("it has its index", || metric(&started, "locum_search_snapshot_posts") == 3);
    assert!(started.stderr().contains("started the search index from a snapshot"), "{}", started.stderr());
    assert_eq!(found(&started, "lantern"), [&later, &old[2], &old[0]].map(Clone::clone));
    let newest = TestRequest::post("/2/posts").bearer(&author.token).json(&json!({ "text": "lantern five" }));
    let newest = started.send(newest).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(found(&started, "lantern")[0], newest);
    assert_eq!(found(&started, "five"), [newest]);
    network.first.run_sql(&format!("UPDATE post SET limited = 0 WHERE id = {}", old[0]));
    assert_eq!(started.run_cli(&["fsck"]).json()["sound"], true);
    // The media files are elsewhere.
    let backup = network.first.sibling_path("backup.tar");
    let report = network.first.run_cli(&["backup", backup.to_str().unwrap(), "--media-only"]).json();
    assert_eq!(report["media_files"], 0, "{report}");
    assert_eq!(network.snapshots().len(), 1);
}

/// The reasons that a new node gives for each snapshot, from the newest on, before it indexes everything.
fn refusals(network: &SnapshotNetwork, number: u16, posts: usize) -> String {
    let node = network.start_node(number, &[ONE_SNAPSHOT]);
    assert_eq!(found(&node, "lantern").len(), posts);
    assert_eq!(metric(&node, "locum_search_snapshot_posts"), 0);
    assert!(node.stderr().contains("the search index is built from the database"), "{}", node.stderr());
    node.stderr()
}

fn assert_refused(log: &str, reasons: &[&str]) {
    let refused: Vec<&str> =
        log.lines().filter(|line| line.contains("a snapshot of the search index cannot be used")).collect();
    assert_eq!(refused.len(), reasons.len(), "{log}");
    for (line, reason) in refused.iter().zip(reasons) {
        assert!(line.contains(reason), "{reason}: {line}");
    }
}

#[test]
fn node_without_a_usable_snapshot_indexes_everything_and_says_why() {
    let Some(network) = SnapshotNetwork::start() else { return };
    let author = network.first.new_user("author");
    for text in ["lantern one", "lantern two"] {
        author.publish_text(text);
    }
    {
        let _maker = network.start_node(1, &[ONE_SNAPSHOT]);
        wait_until("there is a snapshot", || network.snapshots().len() == 1);
    }
    let read = |name: &str| network.bucket.read_object(name).unwrap();
    let manifest = parse_manifest(&read(&network.snapshots()[0].1));
    let checkpoint: Value = serde_json::from_str(manifest["checkpoint"].as_str().unwrap()).unwrap();
    let with = |key: &str, value: Value| {
        let mut changed = manifest.clone();
        changed[key] = value;
        changed
    };
    let with_position = |key: &str, value: Value| {
        let mut changed = checkpoint.clone();
        changed[key] = value;
        with("checkpoint", changed.to_string().into())
    };
    let file = network.objects("/files/").into_iter().max_by_key(|name| read(name).len()).unwrap();
    let mut content = read(&file);
    content[7] ^= 1;
    network.bucket.write_object(&file, &content);
    network.write_manifest(&with_position("seq", (checkpoint["seq"].as_i64().unwrap() + 1_000).into()), 1);
    network.write_manifest(&with_position("entry", "5 post.create 3 4".into()), 1);
    let reasons = ["the database was restored to an earlier state", "it is ahead of the database", "is damaged"];
    assert_refused(&refusals(&network, 1, 2), &reasons);

    network.bucket.delete_object(&file);
    network.write_manifest(&manifest, 1);
    network.write_manifest(&with("format", 99.into()), 1);
    network.write_manifest(&with("network", "another".into()), 1);
    assert_refused(&refusals(&network, 1, 2), &["another network", "another format", "is missing"]);

    // The log no longer reaches back to the snapshot.
    author.publish_text("lantern three");
    network.first.run_sql(&format!("DELETE FROM event WHERE seq <= {}", checkpoint["seq"]));
    network.write_manifest(&manifest, 1);
    let log = refusals(&network, 1, 3);
    assert!(log.contains("cannot be compared with the event log"), "{log}");
}

#[test]
fn one_node_makes_snapshots_of_which_two_stay_and_another_takes_over() {
    let Some(network) = SnapshotNetwork::start() else { return };
    let author = network.first.new_user("author");
    let mut makers = [1, 2].map(|number| network.start_node(number, &[MANY_SNAPSHOTS]));
    for number in 0..4 {
        network.publish_and_wait(&author, &format!("lantern {number}"));
    }
    let made = makers.each_ref().map(|node| metric(node, "locum_search_snapshots_total"));
    assert!(made.contains(&0) && made.iter().any(|count| *count >= 4), "{made:?}");
    let holder = usize::from(made[1] > 0);
    wait_until("old files are removed", || network.snapshots().len() == 2 && network.has_needed_files_only());
    makers[holder].kill();
    network.publish_and_wait(&author, "lantern 4");
    assert!(metric(&makers[1 - holder], "locum_search_snapshots_total") > 0);
}

#[test]
fn snapshot_whose_upload_is_killed_leaves_the_one_before() {
    let Some(network) = SnapshotNetwork::start() else { return };
    let author = network.first.new_user("author");
    let target: SocketAddr = network.bucket.url.strip_prefix("http://").unwrap().parse().unwrap();
    let proxy = TcpProxy::start(target);
    let endpoint = format!("media.s3_endpoint=http://{}", proxy.address);
    let mut maker = network.start_node(1, &[MANY_SNAPSHOTS, &endpoint]);
    let mut posts = 0;
    // Before any file, and after all files but before the manifest.
    for part in ["files", "manifests"] {
        network.publish_and_wait(&author, &format!("lantern {posts}"));
        wait_until("what is not needed is removed", || network.has_needed_files_only());
        let snapshots = network.snapshots();
        let (folder, _) = snapshots[0].1.split_once("/manifests/").unwrap();
        proxy.cut_before(&format!("PUT /media/{folder}/{part}/"));
        author.publish_text(&format!("lantern {}", posts + 1));
        wait_until("it is in the middle of an upload", || proxy.is_cut());
        let before = network.snapshots();
        maker.kill();
        proxy.close_connections();
        posts += 2;
        assert_eq!(network.snapshots(), before);
        if part == "files" {
            maker.restart_as_node();
        }
    }
    assert!(!network.has_needed_files_only());
    let started = network.start_node(2, &[ONE_SNAPSHOT]);
    assert_eq!(found(&started, "lantern").len(), usize::try_from(posts).unwrap());
    wait_until("the snapshot is measured", || metric(&started, "locum_search_snapshot_posts") == posts - 1);
}
