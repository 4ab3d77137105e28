//! What operators do stands in the record, whoever carries it out (docs/security.md, "The record").

use serde_json::{Value, json};

use crate::harness::TestServer;
use crate::pages::browser::Browser;

const KINDS: [&str; 15] = [
    "user.create",
    "user.verify",
    "command.run",
    "password.set",
    "app.create",
    "app.rotate",
    "app.update",
    "token.mint",
    "token.expire",
    "token.revoke",
    "user.suspend",
    "user.restore",
    "app.delete",
    "data.export",
    "user.delete",
];

fn act(server: &TestServer, name: &str) -> Vec<String> {
    let cli = |args: &[&str]| server.run_cli(args).json();
    let mut secrets = Vec::new();
    let mut stored = |value: &Value, names: &[&str]| {
        for name in names {
            secrets.push(value[*name].as_str().unwrap().to_owned());
        }
    };
    stored(&cli(&["user", "create", name]), &["password"]);
    cli(&["user", "verify", name]);
    cli(&["community", "create", name, "--owner", name]);
    stored(&cli(&["user", "password", name, "--end-tokens"]), &["password"]);
    let created = cli(&["app", "create", name, "--owner", name]);
    stored(&created, &["api_secret", "bearer_token", "client_secret"]);
    stored(&cli(&["app", "rotate", name, "api"]), &["api_secret"]);
    cli(&["app", "type", name, "automated"]);
    for end in ["expire", "revoke"] {
        let minted = cli(&["token", "mint", "--app", name, "--user", name]);
        stored(&minted, &["token"]);
        cli(&["token", end, minted["token"].as_str().unwrap()]);
    }
    cli(&["user", "suspend", name]);
    cli(&["user", "restore", name]);
    cli(&["app", "delete", created["id"].as_str().unwrap()]);
    let file = server.sibling_path(&format!("{name}.jsonl"));
    cli(&["export", file.to_str().unwrap()]);
    cli(&["user", "delete", name]);
    secrets
}

fn kinds(rows: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<_> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}

fn exported_log(server: &TestServer, name: &str) -> String {
    let file = server.sibling_path(name);
    server.run_cli(&["audit", "export", file.to_str().unwrap()]).assert_success();
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn sign_in_events_are_recorded_with_actor_and_address() {
    let server = TestServer::start_network(&[]);
    let user = server.new_user("recorded");
    let mut browser = Browser::new(&server);
    browser.sign_in(&user.username, "wrong", "/");
    browser.sign_in(&user.username, "a long secret", "/");
    let page = browser.get("/settings/account");
    let fields = [("current", "a long secret"), ("password", "tr4ms stop here")];
    assert_eq!(browser.submit(&page, "/settings/account/password", &fields).status, 303);
    let page = browser.get("/logout");
    browser.submit(&page, "/logout", &[]);
    let lines = exported_log(&server, "audit.jsonl");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<&Value> = rows.iter().filter(|row| row["actor"] == user.id.as_str()).collect();
    let names: Vec<&str> = found.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    for kind in ["sign_in.failed", "sign_in.ok", "password.change", "sign_out"] {
        assert!(names.contains(&kind), "{kind} is not in {names:?}");
    }
    assert!(found.iter().all(|row| row["address"] == "127.0.0.1"), "{found:?}");
    let order: Vec<i64> = rows.iter().map(|row| row["seq"].as_i64().unwrap()).collect();
    assert!(order.is_sorted_by(|one, next| one < next), "{order:?}");
}

#[test]
fn operator_actions_are_recorded_and_exported() {
    let mut server = TestServer::start_network(&[]);
    let mut secrets = act(&server, "through");
    let earlier = exported_log(&server, "earlier.jsonl");
    server.stop();
    secrets.extend(act(&server, "beside"));
    server.restart();

    let listed = server.run_cli(&["audit", "list", "--limit", "1000"]).json();
    let mut rows = listed.as_array().unwrap().clone();
    assert!(rows.iter().all(|row| row["actor"] == "operator"), "{listed}");
    rows.reverse();
    let twice = [KINDS, KINDS].concat();
    let response: Vec<_> = kinds(&rows);
    // Tokens are minted twice, and sessions are ended where there are some.
    for kind in KINDS {
        let count = |all: &[&str]| all.iter().filter(|one| **one == kind).count();
        assert!(count(&response) >= count(&twice), "{kind}: {response:?}");
    }
    let file = server.sibling_path("audit.jsonl");
    let written = server.run_cli(&["audit", "export", file.to_str().unwrap()]).json();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written["lines"], text.lines().count());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, rows);
    assert!(text.starts_with(&earlier) && text.len() > earlier.len(), "an entry was changed or removed");
    let commands: Vec<_> = rows.iter().filter(|row| row["kind"] == "command.run").map(|row| &row["detail"]).collect();
    let created = |name: &str| json!({"command": "community create", "arguments": {"name": name, "owner": name}});
    assert_eq!(commands, [&created("through"), &created("beside")]);
    for secret in &secrets {
        assert!(!text.contains(secret), "{secret} is in the record");
    }
    server.run_cli(&["audit", "export", file.to_str().unwrap()]).assert_exit_code(1);
    server.run_cli(&["audit", "list", "--user", "nobody"]).assert_exit_code(1);
}
