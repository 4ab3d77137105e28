//! Compliance jobs through HTTP: begun, given ids, looked at, read.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{TestApp, TestRequest, TestResponse, TestUser, shared_server};

const JOBS: &str = "/2/compliance/jobs";

fn begin(app: &TestApp, body: &Value) -> TestResponse {
    shared_server().send(TestRequest::post(JOBS).bearer(&app.bearer).json(body))
}

fn get(app: &TestApp, rest: &str) -> TestResponse {
    shared_server().send(TestRequest::get(format!("{JOBS}{rest}")).bearer(&app.bearer))
}

/// The path of an address on this server.
fn path(url: &Value) -> String {
    let url = url.as_str().unwrap();
    let (_, rest) = url.split_once("://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

fn put(url: &Value, text: &str) -> TestResponse {
    shared_server().send(TestRequest::new("PUT", path(url)).body("text/plain", text.to_owned()))
}

fn finished(app: &TestApp, id: &Value) -> Value {
    for _ in 0..100 {
        let job = get(app, &format!("/{}", id.as_str().unwrap())).assert_status(200)["data"].clone();
        if job["status"] == "complete" {
            return job;
        }
        assert_eq!(job["status"], "in_progress");
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the job does not end");
}

/// Two users, of whom one protects their account, and their posts: one that stays, a deleted and a protected one.
struct RedactedPosts {
    keeper: TestUser<'static>,
    shy: TestUser<'static>,
    stays: String,
    goes: String,
    hides: String,
}

impl RedactedPosts {
    fn new() -> Self {
        let (keeper, shy) = (shared_server().new_user("keeper"), shared_server().new_user("shy"));
        let stays = keeper.publish_text("This stays");
        let goes = keeper.publish_text("This goes");
        let hides = shy.publish_text("This hides");
        keeper.delete(format!("/2/posts/{goes}")).assert_status(200);
        shared_server().run_cli(&["user", "protect", &shy.username]).assert_success();
        Self { keeper, shy, stays, goes, hides }
    }
}

/// Creates a job of an app.
fn new_job(app: &TestApp, kind: &str) -> Value {
    begin(app, &json!({ "type": kind })).assert_status(200)["data"].clone()
}

#[test]
fn compliance_job_is_created_with_its_times_and_one_of_a_type_is_open() {
    let app = shared_server().new_app("self-serve");
    let body = json!({ "type": "tweets", "name": "all I have", "resumable": true });
    let job = begin(&app, &body).assert_status(200)["data"].clone();
    assert_eq!(job["status"], "created");
    assert_eq!((&job["name"], &job["type"]), (&body["name"], &body["type"]));
    assert_eq!(job["resumable"], true);
    let times = ["created_at", "upload_expires_at", "download_expires_at"];
    assert!(times.iter().all(|time| job[time].as_str().unwrap().ends_with('Z')));
    shared_server().send(TestRequest::get(path(&job["download_url"]))).assert_status(404);

    // One of a type at a time.
    begin(&app, &body).assert_problem(409, "conflict");
    let users = begin(&app, &json!({ "type": "users" })).assert_status(200)["data"].clone();
    assert!(users.get("name").is_none());
}

#[test]
fn upload_that_is_no_list_of_ids_is_refused_and_may_be_repeated() {
    let app = shared_server().new_app("self-serve");
    let job = new_job(&app, "tweets");
    for (text, sentence) in [
        ("", "one id a line"),
        ("12\nabc\n", "Line 2 is not an id: [abc]"),
        ("99999999999999999999", "Line 1 is not an id"),
        ("-5", "Line 1 is not an id"),
    ] {
        let refused = put(&job["upload_url"], text);
        assert_eq!(refused.status, 400, "{text}");
        assert!(refused.text().contains(sentence), "{}", refused.text());
    }
    let bytes = TestRequest::new("PUT", path(&job["upload_url"])).body("text/plain", vec![0xff, 0xfe]);
    assert_eq!(shared_server().send(bytes).status, 400);
    let huge = "1234567890123456789\n".repeat(900_000);
    let huge = TestRequest::new("PUT", path(&job["upload_url"])).body("text/plain", huge);
    // The answer may come before all of it is sent.
    if let Some(refused) = shared_server().try_send(huge) {
        assert_eq!(refused.status, 413);
    }
    assert_eq!(get(&app, &format!("/{}", job["id"].as_str().unwrap())).assert_status(200)["data"]["status"], "created");
    assert_eq!(put(&job["upload_url"], "1").status, 200);
}

#[test]
fn result_lists_deleted_and_protected_posts_with_their_reasons() {
    let app = shared_server().new_app("self-serve");
    let RedactedPosts { stays, goes, hides, .. } = RedactedPosts::new();
    let job = new_job(&app, "tweets");
    let list = format!("{stays}\r\n{goes}\n\n{hides}\n1\n");
    assert_eq!(put(&job["upload_url"], &list).status, 200);
    put(&job["upload_url"], &list).assert_problem(409, "conflict");
    let done = finished(&app, &job["id"]);
    let result = shared_server().send(TestRequest::get(path(&done["download_url"])));
    assert_eq!(result.status, 200);
    assert!(result.header("content-type").starts_with("application/x-ndjson"));
    let lines: Vec<Value> = result.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let response: Vec<(&str, &str)> =
        lines.iter().map(|line| (line["id"].as_str().unwrap(), line["reason"].as_str().unwrap())).collect();
    assert_eq!(response, [(goes.as_str(), "deleted"), (hides.as_str(), "protected")]);
    assert!(lines[0]["redacted_at"].is_string() && lines[0]["created_at"].is_string());
    assert_eq!(lines[0]["action"], "delete");
}

#[test]
fn result_lists_protected_users() {
    let app = shared_server().new_app("self-serve");
    let RedactedPosts { keeper, shy, .. } = RedactedPosts::new();
    let users = new_job(&app, "users");
    assert_eq!(put(&users["upload_url"], &format!("{}\n{}", keeper.id, shy.id)).status, 200);
    let done = finished(&app, &users["id"]);
    let result = shared_server().send(TestRequest::get(path(&done["download_url"]))).text();
    assert_eq!(result.lines().count(), 1);
    assert!(result.contains(&shy.id), "{result}");
}

#[test]
fn compliance_jobs_are_filtered_newest_first_and_hidden_from_other_apps() {
    let app = shared_server().new_app("self-serve");
    let job = new_job(&app, "tweets");
    assert_eq!(put(&job["upload_url"], "1").status, 200);
    finished(&app, &job["id"]);
    let next = begin(&app, &json!({ "type": "tweets" })).assert_status(200)["data"].clone();
    let listed = get(&app, "?type=tweets").assert_status(200);
    assert_eq!(listed["meta"]["result_count"], 2);
    assert_eq!(listed["data"][0]["id"], next["id"]);
    let complete = get(&app, "?type=tweets&status=complete&compliance_job.fields=id").assert_status(200);
    assert_eq!(complete["data"][0]["id"], job["id"]);
    assert_eq!(complete["meta"]["result_count"], 1);
    assert_eq!(get(&app, "?type=tweets&status=failed").assert_status(200)["meta"]["result_count"], 0);

    // Nobody else sees them.
    let other = shared_server().new_app("self-serve");
    assert_eq!(get(&other, "?type=tweets").assert_status(200)["meta"]["result_count"], 0);
    let hidden = get(&other, &format!("/{}", job["id"].as_str().unwrap())).assert_status(200);
    assert_eq!(
        hidden["errors"][0]["detail"],
        format!("Could not find compliance_job with id: [{}].", job["id"].as_str().unwrap())
    );
    assert!(hidden.get("data").is_none());
}

#[test]
fn invalid_compliance_job_is_refused() {
    let app = shared_server().new_app("self-serve");
    for body in [
        json!({}),
        json!({ "type": "lists" }),
        json!({ "type": 5 }),
        json!({ "type": "tweets", "name": "x".repeat(65) }),
        json!({ "type": "tweets", "resumable": "yes" }),
        json!({ "type": "tweets", "more": 1 }),
    ] {
        assert_eq!(begin(&app, &body).status, 400, "{body}");
    }
    for rest in ["", "?type=lists", "?type=tweets&status=late", "/abc"] {
        assert_eq!(get(&app, rest).status, 400, "{rest}");
    }
    assert_eq!(get(&app, "?type=tweets").assert_status(200)["meta"]["result_count"], 0);
    for (path, status) in [("abc", 404), ("%00", 400)] {
        let path = format!("/compliance/uploads/{path}");
        let refused = shared_server().send(TestRequest::new("PUT", path).body("text/plain", "1"));
        assert_eq!(refused.status, status);
    }
    assert_eq!(shared_server().send(TestRequest::get("/compliance/results/abc")).status, 404);
    let user = shared_server().new_user("nobody");
    assert_eq!(user.get(format!("{JOBS}?type=tweets")).status, 403);
}
