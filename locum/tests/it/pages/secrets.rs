//! What is secret is written nowhere in the clear: not in the log at its most talkative, not in
//! figures, exports, refusals or the database.

use std::path::Path;

use super::browser::{Browser, app, hidden, param, posted, text};
use crate::harness::{
    DatabaseEngine, OAuth1Credentials, TestRequest, TestResponse, TestServer, percent_encode, suite_engine,
    unique_number,
};
use crate::two_factor::Authenticator;

const CALLBACK: &str = "https://client.example/cb";
const VERIFIER: &str = "canary-verifier-canary-verifier-canary-verifier";

/// Everything secret that one server has given out or was told, by name; and what it refused.
#[derive(Default)]
struct Canaries {
    secrets: Vec<(&'static str, String)>,
    refused: Vec<String>,
}

impl Canaries {
    fn keep(&mut self, name: &'static str, secret: impl Into<String>) {
        let secret = secret.into();
        assert!(secret.len() >= 7, "{name}: {secret:?}");
        self.secrets.push((name, secret));
    }

    /// An answer that refuses must not repeat what it refuses.
    fn refuse(&mut self, response: &TestResponse) {
        assert!(response.status >= 400, "{}", response.text());
        let headers = format!("{:?}", response.headers);
        self.refused.push(format!("{headers}{}", response.text()));
    }

    #[track_caller]
    fn absent(&self, written: &[u8], place: &str) {
        for (name, secret) in &self.secrets {
            let mut found =
                written.windows(secret.len()).enumerate().filter(|(_, window)| *window == secret.as_bytes());
            let digits = secret.bytes().all(|byte| byte.is_ascii_digit());
            let alone = |at: usize| {
                let near = |at: Option<usize>| at.and_then(|at| written.get(at)).is_some_and(u8::is_ascii_digit);
                !near(at.checked_sub(1)) && !near(at.checked_add(secret.len()))
            };
            let shown = found.find(|(at, _)| !digits || alone(*at));
            if let Some((at, _)) = shown {
                let around = &written[at.saturating_sub(80)..written.len().min(at + 80)];
                panic!("{place} holds {name}: {}", String::from_utf8_lossy(around));
            }
        }
    }
}

fn sign_in(canaries: &mut Canaries, server: &TestServer) -> String {
    let name = format!("canary{}", unique_number());
    let password = "canary password of nobody else";
    let email = format!("{name}@mail.example");
    let created = ["user", "create", &name, "--password", password, "--email", &email];
    server.run_cli(&created).assert_success();
    canaries.keep("a password", password);
    let mut browser = Browser::new(server);
    let wrong = browser.sign_in(&name, "canary guess", "/");
    canaries.keep("a wrong password", "canary guess");
    canaries.keep("a wrong password in a form", "canary+guess");
    canaries.refuse(&wrong);
    let visitor = browser.cookies.values().next().unwrap().clone();
    canaries.keep("a visitor's cookie", visitor);
    let response = browser.sign_in(&name, password, "/settings/account");
    assert_eq!(response.status, 303, "{}", response.text());
    canaries.keep("a session", browser.cookies["locum"].clone());
    let page = browser.get("/settings/account");
    let csrf = hidden(&page.text(), "/settings/account/password")["csrf"].clone();
    canaries.keep("a form's token", csrf);
    reset(canaries, server, &email);
    name
}

fn reset(canaries: &mut Canaries, server: &TestServer, email: &str) {
    let mut browser = Browser::new(server);
    let page = browser.get("/forgotten-password");
    let response = browser.submit(&page, "/forgotten-password", &[("email", email)]);
    assert_eq!(response.status, 200, "{}", response.text());
    let list = server.send(TestRequest::get("/mailbox")).text();
    let (before, _) = list.split_once(email).unwrap_or_else(|| panic!("{list}"));
    let path = before.rsplit_once("href=\"").unwrap().1;
    let letter = server.send(TestRequest::get(path.split('"').next().unwrap())).text();
    let link = letter.split("/account/reset?token=").nth(1).unwrap();
    let token: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    let response = browser.get(format!("/account/reset?token={token}"));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("referrer-policy"), "no-referrer");
    canaries.keep("a link", token);
}

fn three_legged(canaries: &mut Canaries, server: &TestServer, browser: &mut Browser<'_>) {
    let app = app(server, &["--callback", CALLBACK]);
    let consumer = (text(&app, "api_key"), text(&app, "api_secret"));
    canaries.keep("an API secret", consumer.1);
    canaries.keep("a bearer token", text(&app, "bearer_token"));
    canaries.keep("a client secret", text(&app, "client_secret"));
    for callback in ["oob", CALLBACK] {
        let request = TestRequest::post(format!("/oauth/request_token?oauth_callback={}", percent_encode(callback)));
        let key = OAuth1Credentials { consumer, ..OAuth1Credentials::default() };
        let header = request.oauth1_header(&key, &server.url);
        let body = format!("?{}", server.send(request.authorization(header)).text());
        let token = param(&body, "oauth_token").unwrap();
        let secret = param(&body, "oauth_token_secret").unwrap();
        let page = browser.get(format!("/oauth/authorize?oauth_token={token}"));
        let response = browser.submit(&page, "/oauth/authorize", &[("decision", "allow")]);
        let verifier = match response.status {
            302 => param(response.header("location"), "oauth_verifier").unwrap(),
            _ => super::oauth1::pin(&response.text()),
        };
        let request = TestRequest::post("/oauth/access_token").form(format!("oauth_verifier={verifier}"));
        let key = OAuth1Credentials { consumer, token: (&token, &secret), ..OAuth1Credentials::default() };
        let header = request.oauth1_header(&key, &server.url);
        let response = server.send(request.clone().authorization(header));
        assert_eq!(response.status, 200, "{}", response.text());
        let body = format!("?{}", response.text());
        // Once more: over.
        let header = request.oauth1_header(&key, &server.url);
        canaries.refuse(&server.send(request.authorization(header)));
        canaries.keep("a request token", &*token);
        canaries.keep("a request token's secret", &*secret);
        canaries.keep("a verifier", verifier);
        canaries.keep("an access token", param(&body, "oauth_token").unwrap());
        canaries.keep("an access token's secret", param(&body, "oauth_token_secret").unwrap());
    }
}

fn with_code(canaries: &mut Canaries, server: &TestServer, browser: &mut Browser<'_>) {
    let app = app(server, &["--callback", CALLBACK]);
    let (id, secret) = (text(&app, "client_id"), text(&app, "client_secret"));
    let challenge = base::pkce::ChallengeMethod::S256.derive_challenge(VERIFIER);
    let page = browser.get(format!(
        "/i/oauth2/authorize?response_type=code&client_id={id}&redirect_uri={}\
         &scope=users.read%20tweet.read%20offline.access&state=s&code_challenge={challenge}\
         &code_challenge_method=S256",
        percent_encode(CALLBACK)
    ));
    let answer = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    let code = param(answer.header("location"), "code").unwrap();
    let form = format!(
        "grant_type=authorization_code&code={code}&redirect_uri={}&code_verifier={VERIFIER}",
        percent_encode(CALLBACK)
    );
    let request = || TestRequest::post("/2/oauth2/token").form(form.clone());
    let given = server.send(request().basic(id, secret)).assert_status(200);
    canaries.keep("a second client secret", secret);
    canaries.keep("a code", code);
    canaries.keep("a code's verifier", VERIFIER);
    canaries.keep("an OAuth 2.0 token", text(&given, "access_token"));
    canaries.keep("a refresh token", text(&given, "refresh_token"));
    let me = TestRequest::get("/2/users/me").bearer(text(&given, "access_token"));
    server.send(me.clone()).assert_status(200);
    for wrong in [
        request().basic(id, secret),
        request().basic(id, "canary-wrong-secret"),
        TestRequest::post("/2/oauth2/token")
            .form("grant_type=refresh_token&refresh_token=canary-refresh")
            .basic(id, secret),
        TestRequest::post("/oauth2/token").form("grant_type=client_credentials").basic(id, "canary-wrong-secret"),
        TestRequest::get("/2/users/me?access_token=canary-in-a-query"),
        TestRequest::get("/2/users/me").bearer("canary-of-a-bearer"),
        TestRequest::get("/2/users/me").authorization("OAuth oauth_token=\"canary-oauth\""),
        TestRequest::get("/2/nothing/canary-in-a-path?x=canary-in-a-query").bearer("canary-of-a-bearer"),
        TestRequest::post("/2/posts").json(&serde_json::json!({"text": 7})).bearer("canary-of-a-bearer"),
    ] {
        canaries.refuse(&server.send(wrong));
    }
    for response in ["canary-wrong-secret", "canary-refresh", "canary-in-a-query", "canary-of-a-bearer", "canary-oauth"]
    {
        canaries.keep("what was refused", response);
    }
}

/// Every file of a folder that the server keeps.
fn each_file(folder: &Path, look: &mut impl FnMut(&str, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            each_file(&path, look);
        } else if path.is_file() {
            look(&name, &std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn no_secret_is_stored_or_logged_in_plain_text() {
    let server = TestServer::start(&["--log-level", "trace", "--log-format", "json"]);
    let mut canaries = Canaries::default();
    let name = sign_in(&mut canaries, &server);
    let mut browser = Browser::new(&server);
    browser.sign_in(&name, "canary password of nobody else", "/settings/account");
    three_legged(&mut canaries, &server, &mut browser);
    with_code(&mut canaries, &server, &mut browser);
    let app = Authenticator::enrol(&mut browser, "canary password of nobody else");
    canaries.keep("the key of an authenticator app", app.secret.clone());
    app.recovery_codes.iter().for_each(|code| canaries.keep("a recovery code", code.clone()));
    // A form that is refused does not show the password again.
    let page = Browser::new(&server).get("/join");
    if page.status == 200 {
        let mut other = Browser::new(&server);
        let page = other.get("/join");
        let mut fields = hidden(&page.text(), "/join");
        fields.insert("username".to_owned(), "not a name".to_owned());
        fields.insert("password".to_owned(), "canary of a form".to_owned());
        canaries.refuse(&other.send(posted("/join", &fields)));
        canaries.keep("a password of a form", "canary of a form");
    }
    server.run_cli(&["keys", "rotate", "--rewrap"]).assert_success();
    let control = std::fs::read_to_string(server.data_dir().join("control.token")).unwrap();
    canaries.keep("the control token", control.trim());
    let key = std::fs::read_to_string(server.data_dir().join("master.key")).unwrap();
    canaries.keep("the master key", key.split_whitespace().nth(2).unwrap());
    assert!(canaries.secrets.len() > 25);

    canaries.absent(server.stderr().as_bytes(), "the log");
    canaries.absent(server.stdout().as_bytes(), "what it prints");
    let figures = server.send_control(TestRequest::get("/metrics"));
    canaries.absent(&figures.body, "the figures");
    let export = server.sibling_path("export.jsonl");
    server.run_cli(&["export", "--jsonl", export.to_str().unwrap()]).assert_success();
    canaries.absent(&std::fs::read(export).unwrap(), "an export");
    for refused in &canaries.refused {
        // A page of a form has the form's own token.
        let own = canaries.secrets.iter().filter(|(name, _)| !name.contains("form's"));
        for (name, secret) in own {
            let digits = secret.bytes().all(|byte| byte.is_ascii_digit());
            assert!(digits || !refused.contains(secret.as_str()), "{name} in {refused}");
        }
    }
    if suite_engine() == DatabaseEngine::Sqlite {
        let copy = server.sibling_path("copy.db");
        server.run_cli(&["backup", copy.to_str().unwrap()]).assert_success();
        canaries.absent(&std::fs::read(copy).unwrap(), "a copy");
    }
    let kept_as_files = ["master.key", "control.token", "dev.env"];
    each_file(&server.data_dir(), &mut |name, bytes| {
        if !kept_as_files.contains(&name) {
            canaries.absent(bytes, name);
        }
    });
}
