//! The end of tokens, and their families.

use base::pkce::ChallengeMethod;
use serde_json::Value;

use crate::harness::{TestRequest, TestServer, percent_encode, shared_server};
use crate::pages::browser::{Browser, app, param, text};

const CALLBACK: &str = "https://client.example/cb";
const VERIFIER: &str = "correct-horse-battery-staple-correct-horse-battery";

fn me(server: &TestServer, token: &str) -> u16 {
    server.send(TestRequest::get("/2/users/me").bearer(token)).status
}

/// The tokens that a new person grants an app.
fn granted_tokens(server: &TestServer, app: &Value) -> (Value, String) {
    let (mut browser, name) = Browser::of_someone(server);
    let challenge = ChallengeMethod::S256.derive_challenge(VERIFIER);
    let page = browser.get(format!(
        "/i/oauth2/authorize?response_type=code&client_id={}&redirect_uri={}&scope=users.read%20tweet.read%20\
         offline.access&state=s&code_challenge={challenge}&code_challenge_method=S256",
        text(app, "client_id"),
        percent_encode(CALLBACK)
    ));
    let answer = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    let code = param(answer.header("location"), "code").unwrap();
    let callback = percent_encode(CALLBACK);
    let form = format!("grant_type=authorization_code&code={code}&redirect_uri={callback}&code_verifier={VERIFIER}");
    (request_tokens(server, app, form), name)
}

fn request_tokens(server: &TestServer, app: &Value, form: String) -> Value {
    let request = TestRequest::post("/2/oauth2/token").form(form);
    server.send(request.basic(text(app, "client_id"), text(app, "client_secret"))).assert_status(200)
}

fn refresh(server: &TestServer, app: &Value, tokens: &Value) -> Value {
    request_tokens(server, app, format!("grant_type=refresh_token&refresh_token={}", text(tokens, "refresh_token")))
}

#[test]
fn access_tokens_of_an_app_and_user_expire_and_are_refreshed() {
    let server = shared_server();
    let app = app(server, &["--callback", CALLBACK]);
    let (granted, name) = granted_tokens(server, &app);
    assert_eq!(me(server, text(&granted, "access_token")), 200);
    let user = format!("@{name}");
    let expired = server.run_cli(&["token", "expire", "--app", text(&app, "id"), "--user", &user]).json();
    assert_eq!(expired["access_tokens"], 1, "{expired}");
    assert_eq!(me(server, text(&granted, "access_token")), 401);
    let fresh = refresh(server, &app, &granted);
    assert_eq!(me(server, text(&fresh, "access_token")), 200);
    server.run_cli(&["token", "expire", text(&fresh, "access_token")]).assert_success();
    assert_eq!(me(server, text(&fresh, "access_token")), 401);
    let none_left = server.run_cli(&["token", "expire", "--app", text(&app, "id"), "--user", &user]);
    none_left.assert_exit_code(1);
    assert!(none_left.stderr.contains("has no active OAuth 2.0 access token"), "{none_left:?}");
}

#[test]
fn family_shows_each_generation_and_no_token() {
    let server = shared_server();
    let app = app(server, &["--callback", CALLBACK]);
    let (first, _) = granted_tokens(server, &app);
    let second = refresh(server, &app, &first);
    let shown = server.run_cli(&["token", "family", text(&second, "refresh_token")]);
    let family = shown.json();
    let rows = family["tokens"].as_array().unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row["generation"].as_u64().unwrap(), text(row, "kind"), text(row, "state"))).collect();
    assert_eq!(
        rows,
        [(1, "access", "active"), (1, "refresh", "used"), (2, "access", "active"), (2, "refresh", "active")]
    );
    assert!(family["tokens"][1]["used_at"].is_string() && family["tokens"][1]["revoked_at"].is_null(), "{family}");
    assert_eq!(family["tokens"][3]["given"], true);
    for tokens in [&first, &second] {
        for name in ["access_token", "refresh_token"] {
            assert!(!shown.stdout.contains(text(tokens, name)));
        }
    }
    server.run_cli(&["token", "revoke", text(&second, "access_token")]).assert_success();
    let family = server.run_cli(&["token", "family", text(&first, "access_token")]).json();
    let states: Vec<&str> = family["tokens"].as_array().unwrap().iter().map(|row| text(row, "state")).collect();
    assert_eq!(states, ["revoked", "used", "revoked", "revoked"]);
}

#[test]
fn wrong_token_commands_name_what_would_be_accepted() {
    let server = shared_server();
    let bearer = server.env_value("BEARER_TOKEN");
    let cases = [
        (&["token", "expire"][..], 2, "required"),
        (&["token", "expire", "--app", "demo"], 2, "--user"),
        (&["token", "expire", "nothing"], 1, "no token matches"),
        (&["token", "expire", bearer], 2, "use `token revoke`"),
        (&["token", "family", "nothing"], 1, "no token matches"),
        (&["token", "family", bearer], 2, "only OAuth 2.0 tokens of users"),
    ];
    for (command, code, words) in cases {
        let refused = server.run_cli(command);
        refused.assert_exit_code(code);
        assert!(refused.stderr.contains(words), "{command:?}: {refused:?}");
    }
}
