//! The journal of requests: control API, `locum log`, and the console's pages.

use std::time::Duration;

use serde_json::{Value, json};

use crate::activity::Stage;
use crate::harness::{
    StreamClient, TestRequest, TestServer, TestUser, WebhookReceiver, locum_command, shared_server, unique_number,
    wait_until,
};
use crate::media::{self, samples};

fn unique_label() -> String {
    format!("run-{}", unique_number())
}

fn list(server: &TestServer, query: &str) -> Vec<Value> {
    let listed = server.call_control(TestRequest::get(format!("/control/v1/requests?{query}"))).assert_status(200);
    listed["data"].as_array().unwrap().clone()
}

fn show(server: &TestServer, id: &str) -> Value {
    let shown = server.call_control(TestRequest::get(format!("/control/v1/requests/{id}"))).assert_status(200);
    shown["data"].clone()
}

fn send_labelled(user: &TestUser<'_>, label: &str, request: TestRequest) -> String {
    let response = user.send(request.header("x-locum-run", label));
    response.header("x-transaction-id").to_owned()
}

#[test]
fn journal_shows_a_request_with_its_response_and_what_it_caused_but_no_secret() {
    let server = shared_server();
    let (user, label) = (server.new_user("journalist"), unique_label());
    let post = TestRequest::post("/2/tweets").json(&json!({"text": "written down"}));
    let id = send_labelled(&user, &label, post);
    let entry = show(server, &id);
    assert_eq!(entry["operation"], "createPosts");
    assert_eq!((&entry["method"], &entry["status"]), (&json!("POST"), &json!(201)));
    assert_eq!(entry["username"], user.username.as_str());
    assert_eq!((&entry["credential"], &entry["label"]), (&json!("oauth2"), &json!(label)));
    assert_eq!(entry["request"]["body"]["text"], "written down");
    assert!(entry["response"]["body"]["data"]["id"].is_string(), "{entry}");
    assert_eq!(entry["events"][0]["kind"], "post.create");
    assert_eq!(entry["cost_usd"], "0.015");
    assert!(!entry.to_string().contains(&user.token), "{entry}");
    assert!(entry["curl"].as_str().unwrap().contains("authorization: Bearer $"), "{entry}");
    let read = send_labelled(&user, &label, TestRequest::get("/2/users/me?user.fields=created_at"));
    assert_eq!(show(server, &read)["parameters"], json!([{"name": "user.fields", "value": "created_at"}]));
    let unknown = server.call_control(TestRequest::get("/control/v1/requests/nothing"));
    unknown.assert_refused(404, "the journal has no request nothing");
}

#[test]
fn list_is_filtered_and_leaves_out_the_console_and_health_checks() {
    let server = shared_server();
    let (user, label) = (server.new_user("filtered"), unique_label());
    for path in ["/2/users/me", "/2/users/me?bad=1", "/2/users/by/username/nobody_at_all"] {
        send_labelled(&user, &label, TestRequest::get(path));
    }
    for path in ["/console", "/console/requests", "/readyz", "/mailbox"] {
        server.send(TestRequest::get(path).header("x-locum-run", &label));
    }
    let all = list(server, &format!("label={label}"));
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[2]["path"], "/2/users/me", "newest first");
    let count = |query: &str| list(server, &format!("label={label}&{query}")).len();
    assert_eq!(count("status=400"), 1);
    assert_eq!(count("status=4xx&route=GET%20/2/users/me"), 1);
    assert_eq!(count("route=/2/users/by/username/:name"), 1);
    assert_eq!(count(&format!("user={}", user.username)), 3);
    assert_eq!(count("text=nobody_at_all"), 1);
    assert_eq!(count("limit=2"), 2);
    let number = all[1]["number"].as_u64().unwrap();
    assert_eq!(count(&format!("before={number}")), 1);
    assert_eq!(count(&format!("after={number}")), 1);
    for (query, words) in [("status=9xx", "4xx"), ("user=nobody_zz", "no user has the name")] {
        let refused = server.call_control(TestRequest::get(format!("/control/v1/requests?{query}")));
        refused.assert_refused(400, words);
    }
}

#[test]
fn assertions_pass_and_fail_with_what_was_found() {
    let server = shared_server();
    let (user, label) = (server.new_user("asserted"), unique_label());
    for text in ["first", "second"] {
        send_labelled(&user, &label, TestRequest::post("/2/tweets").json(&json!({"text": format!("{text} {label}")})));
    }
    let assert = |expression: &str| server.run_cli(&["log", "--assert", expression]);
    let holds = format!("POST /2/posts label={label} status=201 response.data.id exists count=2");
    assert_eq!(assert(&holds).assert_success().json()["passed"], true);
    let fails = format!("POST /2/tweets label={label} request.text=\"first {label}\" count>=2");
    let failed = assert(&fails);
    failed.assert_exit_code(1);
    let outcome: Value = serde_json::from_str(&failed.stdout).unwrap();
    let result = &outcome["results"][0];
    assert_eq!((&result["passed"], &result["count"]), (&json!(false), &json!(1)));
    assert!(result["near_misses"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("201 POST")));
    let wrong = assert("POST /2/tweets stats=201");
    wrong.assert_exit_code(2);
    assert!(wrong.stderr.contains("position 16") && wrong.stderr.contains("status"), "{}", wrong.stderr);
    let checks = json!({"checks": [holds, {"match": {"label": label}, "count": {"at_least": 3}}]});
    let answer = server.call_control(TestRequest::post("/control/v1/assert").json(&checks)).assert_status(200);
    assert_eq!(answer["data"]["passed"], false);
    assert_eq!(answer["data"]["results"][0]["passed"], true);
    // What an assertion does not look at, it does not take.
    for filtered in [["--label", &label, "--assert", &holds].as_slice(), &["--label", &label, "--clear"]] {
        server.run_cli(&[&["log"], filtered].concat()).assert_exit_code(2);
    }
    let unknown = json!({"checks": [{"matches": {}}]});
    server.call_control(TestRequest::post("/control/v1/assert").json(&unknown)).assert_refused(400, "checks[0]");
}

#[test]
fn assertion_about_what_does_not_exist_is_refused_with_a_suggestion() {
    // Others send requests to missing routes of the shared server, which may then be named.
    let server = TestServer::start(&[]);
    for (expression, words) in [
        ("GET /2/user/me count=0", "did you mean [GET /2/users/me]"),
        ("/2/twets count=0", "did you mean [/2/tweets]"),
        ("GET /2/users/me/nothing count=0", "no operation has the route [GET /2/users/me/nothing]"),
        ("POST /2/users/me count=0", "no operation has the route [POST /2/users/me]"),
        ("operation=getUsersMee count=0", "did you mean [getUsersMe]"),
        ("app=no-such-app count=0", "there is no app [no-such-app]"),
        ("user=1 count=0", "no user has the id 1"),
    ] {
        let refused = server.run_cli(&["log", "--assert", expression]);
        refused.assert_exit_code(2);
        assert!(refused.stderr.contains(words), "{expression}: {}", refused.stderr);
    }
    let sent = format!("/2/{}", unique_label());
    server.send(TestRequest::get(&sent));
    let app = server.new_app("self-serve");
    for expression in [
        "GET /2/users/999/tweets?max_results=5 count=0",
        "GET /11/accounts/zz/campaigns count=0",
        "HEAD /2/users/me count=0",
        "POST /1.1/statuses/update.json count=0",
        "GET /login label=none count=0",
        "/2/users/* label=none count=0",
        "operation=getUsersMe label=none count=0",
        &format!("app={} count=0", app.id),
        &format!("GET {sent} status=404 count=1"),
    ] {
        server.run_cli(&["log", "--assert", expression]).assert_success();
    }
}

#[test]
fn failed_assertion_shows_the_requests_that_match_or_nearly_do() {
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("near");
    let failed = |expression: &str| {
        let mut command = locum_command(&server.data_dir());
        let output =
            command.args(["log", "--assert", expression, "--data-dir"]).arg(server.data_dir()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for number in 0..7 {
        let label = format!("run-{}", number % 2);
        send_labelled(&user, &label, TestRequest::get(format!("/2/users/me?bad={number}")));
    }
    let text = failed("GET /2/users/me status=400 count=1");
    assert!(text.contains("FAILED") && text.contains("(7 requests match)"), "{text}");
    assert_eq!(text.matches("  match: ").count(), 5, "{text}");
    assert!(text.contains(" 400 GET /2/users/me?bad=6"), "{text}");
    let text = failed("GET /2/users/me status=200 label=run-1");
    let others: Vec<&str> = text.lines().filter(|line| line.starts_with("  other: ")).collect();
    let targets = ["bad=5", "bad=3", "bad=1", "bad=6", "bad=4"];
    assert!(others.len() == 5 && others.iter().zip(targets).all(|(line, end)| line.ends_with(end)), "{text}");
    let text = failed("POST /2/tweets label=run-0");
    assert_eq!(text.matches(" 400 GET /2/users/me?bad=").count(), 4, "{text}");
}

#[test]
fn log_lists_shows_exports_and_repeats_requests() {
    let server = shared_server();
    let (user, label) = (server.new_user("logged"), unique_label());
    let id = send_labelled(&user, &label, TestRequest::get("/2/users/me"));
    let listed = server.run_cli(&["log", "--label", &label, "--since", "10m"]).assert_success().json();
    assert_eq!(listed[0]["id"], id.as_str());
    assert_eq!(server.run_cli(&["log", &id]).assert_success().json()["status"], 200);
    let curl = server.run_cli(&["log", "--curl", &id]).assert_success().json();
    let command = curl["curl"].as_str().unwrap().replace("$USER_TOKEN", &user.token);
    let repeated = std::process::Command::new("sh").arg("-c").arg(format!("{command} -s")).output().unwrap();
    // Without curl, the command cannot be found.
    if repeated.status.success() {
        assert!(String::from_utf8_lossy(&repeated.stdout).contains(&user.username), "{command}");
    }
    let path = server.sibling_path(&format!("{label}.har"));
    server.run_cli(&["log", "--label", &label, "--har", path.to_str().unwrap()]).assert_success();
    let archive: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(archive["log"]["version"], "1.2");
    assert_eq!(archive["log"]["entries"][0]["_id"], id.as_str());
    assert!(!archive.to_string().contains(&user.token));
    let wrong = server.run_cli(&["log", "--since", "yesterday"]);
    wrong.assert_exit_code(2);
    assert!(wrong.stderr.contains("10m"), "{}", wrong.stderr);
}

/// The command of `locum log --curl` for a request.
fn curl_of(server: &TestServer, request: TestRequest) -> String {
    let id = server.send(request).header("x-transaction-id").to_owned();
    let curl = server.run_cli(&["log", "--curl", &id]).assert_success().json();
    curl["curl"].as_str().unwrap().to_owned()
}

#[test]
fn curl_command_names_the_variables_of_dev_env() {
    let server = shared_server();
    for name in ["USER_TOKEN", "USER_TOKEN_2"] {
        let command = curl_of(server, TestRequest::get("/2/users/me").bearer(server.env_value(name)));
        assert!(command.contains(&format!("Bearer $LOCUM_{name}\"")), "{command}");
    }
    let request = TestRequest::get("/2/users/by?usernames=ada").bearer(server.env_value("BEARER_TOKEN"));
    let command = curl_of(server, request);
    assert!(command.contains("Bearer $LOCUM_BEARER_TOKEN\""), "{command}");
    let form = "grant_type=client_credentials";
    let request = TestRequest::post("/oauth2/token").form(form);
    let request = request.basic(server.env_value("API_KEY"), server.env_value("API_SECRET"));
    let command = curl_of(server, request);
    assert!(command.contains("\"$LOCUM_API_KEY:$LOCUM_API_SECRET\""), "{command}");
    let other = server.new_user("curled");
    let command = curl_of(server, TestRequest::get("/2/users/me").bearer(&other.token));
    assert!(command.contains("Bearer $USER_TOKEN\""), "{command}");
}

#[test]
fn curl_command_names_the_server_and_not_an_emulated_host() {
    let server = shared_server();
    for (host, path, url) in [
        ("api.x.com", "/2/users/me", "/2/users/me'"),
        ("ads-api-sandbox.x.com", "/12/accounts", "/ads-sandbox/12/accounts'"),
    ] {
        let command = curl_of(server, TestRequest::get(path).header("host", host));
        assert!(command.contains(&format!("'{}{url}", server.url)), "{command}");
    }
}

#[test]
fn curl_command_says_that_a_body_was_not_stored() {
    let server = shared_server();
    let token = server.env_value("USER_TOKEN");
    let long = json!({"text": "a".repeat(100_000)});
    for request in
        [media::upload_request("tweet_image", &samples::png(20, 10)), TestRequest::post("/2/tweets").json(&long)]
    {
        let command = curl_of(server, request.bearer(token));
        assert!(command.ends_with("--data-binary @BODY_THAT_WAS_NOT_STORED"), "{command}");
    }
}

#[test]
fn follower_gets_a_request_as_it_arrives() {
    let server = shared_server();
    let (user, label) = (server.new_user("followed"), unique_label());
    let newest = list(server, "limit=1").first().map_or(0, |entry| entry["number"].as_u64().unwrap());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| list(server, &format!("label={label}&after={newest}&wait=20")));
        send_labelled(&user, &label, TestRequest::get("/2/users/me"));
        assert_eq!(waiting.join().unwrap().len(), 1);
    });
}

#[test]
fn run_is_labelled_and_says_what_it_would_have_cost() {
    let server = shared_server();
    let (user, label) = (server.new_user("priced"), unique_label());
    let post = user.publish_text("worth reading");
    for _ in 0..3 {
        send_labelled(&user, &label, TestRequest::get(format!("/2/tweets/{post}")));
    }
    let costs = server.run_cli(&["cost", "--label", &label]).assert_success().json();
    let run = &costs["runs"][0];
    assert_eq!((&run["total_usd"], &run["calls"]), (&json!("0.005"), &json!(3)), "{costs}");
    assert_eq!(run["lines"][0], json!({"price": "Posts: Read", "charged": 1, "repeated": 2, "cost_usd": "0.005"}));
    assert!(costs["price_list"]["date"].is_string());
    server.run_cli(&["cost", "--label", "no-such-run"]).assert_exit_code(1);
}

#[test]
fn program_started_with_a_label_needs_no_header() {
    let server = TestServer::start(&["--world", "empty"]);
    let data_dir = server.data_dir();
    let mut command = locum_command(&data_dir);
    let program = ["sh", "-c", "curl -s -o /dev/null $LOCUM_BASE_URL/2/users/me"];
    command
        .args(["run", "-q", "--mode", "proxy", "--label", "nightly-7", "--data-dir"])
        .arg(&data_dir)
        .arg("--")
        .args(program);
    let output = command.output().unwrap();
    if output.status.code() == Some(127) {
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(list(&server, "label=nightly-7").len(), 1);
    server.send(TestRequest::get("/2/users/me"));
    assert_eq!(list(&server, "label=nightly-7").len(), 1, "the run has ended");
    let wrong = locum_command(&data_dir)
        .args(["run", "--label", "two words", "--data-dir"])
        .arg(&data_dir)
        .arg("true")
        .output();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("visible ASCII"));
}

#[test]
fn webhook_deliveries_are_shown_with_the_request_that_caused_them() {
    let fixture = Stage::new();
    let server = shared_server();
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let created = fixture.post("/2/webhooks", &json!({"url": receiver.url("/hook")})).assert_status(200);
    let hook = created["data"]["id"].as_str().unwrap();
    let user = fixture.person("causes");
    fixture.send_to(hook, "post.create", &json!({"user_id": user.id}));
    let sent = user.create_post(&json!({"text": "delivered"}));
    let id = sent.header("x-transaction-id").to_owned();
    wait_until("the delivery has succeeded", || show(server, &id)["deliveries"][0]["state"] == "delivered");
    let delivery = show(server, &id)["deliveries"][0].clone();
    assert_eq!(delivery["attempts"][0]["status"], 200, "{delivery}");
}

#[test]
fn journal_can_be_off_and_without_bodies() {
    let off = TestServer::start(&["--world", "empty", "--set", "journal.size=0"]);
    off.send(TestRequest::get("/2/users/me"));
    assert!(list(&off, "").is_empty());
    for page in ["/console/requests", "/console/clients"] {
        assert!(off.send(TestRequest::get(page)).assert_page(200).contains("The journal is off"), "{page}");
    }
    let bare = TestServer::start(&["--world", "empty", "--set", "journal.bodies=false"]);
    bare.send(TestRequest::post("/2/oauth2/token").form("grant_type=refresh_token&refresh_token=s3cr3t"));
    let entry = show(&bare, list(&bare, "")[0]["id"].as_str().unwrap());
    assert_eq!(entry["request"]["body_not_stored"], "journal.bodies is off");
}

#[test]
fn console_shows_lists_compares_and_empties_the_journal() {
    let server = TestServer::start(&[]);
    assert!(server.send(TestRequest::get("/console")).assert_page(200).contains("None yet. Point your client at"));
    let bearer = server.env_value("USER_TOKEN").to_owned();
    let call = |path: &str| {
        let response = server.send(TestRequest::get(path).bearer(&bearer));
        response.header("x-transaction-id").to_owned()
    };
    let (first, second) = (call("/2/users/me"), call("/2/users/me?user.fields=created_at"));
    let home = server.send(TestRequest::get("/console"));
    assert!(home.header("content-security-policy").contains("connect-src 'self'"));
    assert!(home.assert_page(200).contains("/2/users/me"));
    let page = server.send(TestRequest::get("/console/requests?status=2xx")).assert_page(200);
    assert!(page.contains(&first) && page.contains(&second), "{page}");
    server.send(TestRequest::get("/console/requests?status=9xx&user=nobody_zz")).assert_page(400);
    let detail = server.send(TestRequest::get(format!("/console/requests/{second}"))).assert_page(200);
    assert!(detail.contains("user.fields") && detail.contains("Compare with the call before"), "{detail}");
    assert!(!detail.contains(&bearer));
    server.send(TestRequest::get("/console/requests/nothing")).assert_page(404);
    let diff = format!("/console/requests/diff?a={first}&b={second}");
    assert!(server.send(TestRequest::get(diff)).assert_page(200).contains("Response body"));
    server.send(TestRequest::get("/console/requests/diff?a=x&b=y")).assert_page(404);
    let archive = server.send(TestRequest::get("/console/requests.har"));
    assert!(archive.header("content-disposition").contains("requests.har"));
    assert_eq!(archive.json()["log"]["entries"].as_array().unwrap().len(), 2);
    server.send(TestRequest::post("/console/requests").form("csrf=wrong")).assert_page(403);
    server.run_cli(&["log", "--clear"]).assert_success();
    assert!(list(&server, "").is_empty());
}

#[test]
fn live_page_learns_what_has_changed_and_ends_with_the_server() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let (socket, head) = StreamClient::connect_raw(&server, "/console/live", "none");
    assert!(head.contains("text/event-stream"), "{head}");
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut received = String::new();
    wait_until("the event has arrived", || {
        server.send(TestRequest::get("/2/users/me"));
        let mut bytes = [0; 512];
        if let Ok(length) = std::io::Read::read(&mut &socket, &mut bytes) {
            received.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        received.contains("event: change\ndata: ") && received.contains("requests")
    });
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
}
