//! What people and developers write is text on every page, whatever it looks like.

use serde_json::Value;

use super::browser::{Browser, app, param, text};
use crate::harness::{OAuth1Credentials, TestRequest, TestResponse, TestServer, percent_encode, unique_number};

/// Each with what must not stand on a page as it is.
const CORPUS: &[(&str, &str)] = &[
    ("<script>x()</script>", "<script"),
    ("<img src=x onerror=x()>", "<img src=x"),
    ("\"><svg/onload=x()>", "<svg/onload"),
    ("\" onfocus=x() autofocus=\"", "\" onfocus=x()"),
    ("' onfocus=x() '", "' onfocus=x()"),
    ("</title><b>x", "</title><b>"),
    ("</textarea><i>x", "</textarea><i>"),
    ("<!--x", "<!--x"),
    ("{{7*7}}<u>", "<u>"),
    ("&lt;s&gt;<s>", "<s>"),
    ("<a href=javascript:x()>", "<a href=javascript"),
];

#[track_caller]
fn is_inert(response: &TestResponse, what: &str) {
    let text = response.text();
    assert!(response.status < 500, "{what}: {text}");
    if !response.header("content-type").starts_with("text/html") {
        return;
    }
    for (_, raw) in CORPUS {
        assert!(!text.contains(raw), "{what} shows {raw}: {text}");
    }
    assert!(!text.contains("\"javascript:"), "{what}: {text}");
}

/// A request token whose callback is hostile as far as a callback may be.
fn begin(server: &TestServer, app: &Value, callback: &str) -> String {
    let request = TestRequest::post(format!("/oauth/request_token?oauth_callback={}", percent_encode(callback)));
    let key =
        OAuth1Credentials { consumer: (text(app, "api_key"), text(app, "api_secret")), ..OAuth1Credentials::default() };
    let header = request.oauth1_header(&key, &server.url);
    let response = server.send(request.authorization(header));
    assert_eq!(response.status, 200, "{}", response.text());
    param(&format!("?{}", response.text()), "oauth_token").unwrap()
}

#[test]
fn names_of_users_and_apps_are_escaped_on_every_page() {
    let server = TestServer::start(&["--set", "listen.trusted_proxies=127.0.0.1"]);
    for (at, (payload, _)) in CORPUS.iter().enumerate() {
        let name = format!("hostile{}", unique_number());
        let created = ["user", "create", &name, "--password", "a long secret", "--name", payload];
        server.run_cli(&created).assert_success();
        let short: String = payload.chars().take(32).collect();
        let callback = format!("https://client.example/{at}?x=\"><script>x()</script>");
        let callback = callback.replace(' ', "");
        let more = [
            "--description",
            payload,
            "--website",
            "https://client.example/?\"><script>",
            "--callback",
            &callback,
            "--sign-in",
            "--request-email",
        ];
        let create = ["app", "create", &short, "--owner", &name];
        let app = server.run_cli(&[&create[..], &more[..]].concat()).json();
        let id = text(&app, "id");
        let mut browser = Browser::new(&server);
        // The browser's own name stands in the list of sessions.
        let response = browser.sign_in(&name, "a long secret", "/settings/account");
        assert_eq!(response.status, 303, "{}", response.text());
        let agent = TestRequest::get("/settings/account").header("user-agent", payload);
        is_inert(&browser.send(agent), "account");
        for path in [
            "/settings/sessions".to_owned(),
            "/settings/security".to_owned(),
            "/settings/apps".to_owned(),
            "/developer/apps".to_owned(),
            format!("/developer/apps/{id}"),
            format!("/developer/apps/{id}/keys"),
            format!("/developer/apps/{id}/callbacks"),
            format!("/developer/apps/{id}/usage"),
            format!("/developer/apps/{id}/delete"),
            format!("/developer/apps/{id}/keys/api/regenerate"),
            "/ads".to_owned(),
        ]
        .into_iter()
        .chain(advertising(&server, &name, payload))
        {
            let response = browser.get(path.clone());
            assert_eq!(response.status, 200, "{path}");
            is_inert(&response, &path);
        }
        consent(&server, &mut browser, &app, &callback);
        is_inert(&browser.get("/settings/apps"), "connected apps");
    }
}

/// Pages of an advertising account in which everything has a hostile name.
fn advertising(server: &TestServer, user: &str, payload: &str) -> Vec<String> {
    let create = ["ads", "account", "create", payload, "--user", user];
    let account = server.run_cli(&create).json();
    let account = text(&account, "id");
    let fund = ["ads", "account", "funding", account, "--amount", "50"];
    let instrument = server.run_cli(&fund).json();
    let mut browser = Browser::new(server);
    browser.sign_in(user, "a long secret", "/ads");
    let home = format!("/ads/{account}");
    let mut make = |form: String, fields: &[(&str, &str)]| {
        let shown = browser.get(form.clone());
        is_inert(&shown, &form);
        let sent = browser.submit(&shown, &form, fields);
        assert_eq!(sent.status, 303, "{}", sent.text());
        let to = sent.header("location");
        to.split('?').next().unwrap().to_owned()
    };
    let paid = ("funding_instrument_id", text(&instrument, "id"));
    let campaign =
        make(format!("{home}/campaigns/new"), &[paid, ("name", payload), ("purchase_order_number", payload)]);
    let item = [
        ("name", payload),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_POSTS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "0.15"),
    ];
    let item = make(format!("{campaign}/line-item"), &item);
    let keyword = [("targeting_type", "BROAD_KEYWORD"), ("operator_type", "EQ"), ("targeting_value", payload)];
    make(format!("{item}/target"), &keyword);
    let below = ["", "/edit", "/delete", "/promote", "/account", "/track"];
    let of_item = below.map(|rest| format!("{item}{rest}"));
    let of_campaign = ["", "/edit", "/delete"].map(|rest| format!("{campaign}{rest}"));
    let of_account = ["", "/posts", "/media", "/cards", "/audiences", "/recommendations", "/account", "/scheduled/new"];
    let of_account = of_account.map(|rest| format!("{home}{rest}"));
    let all = of_account.into_iter().chain(of_campaign);
    all.chain(of_item).collect()
}

/// Both questions, answered with yes.
fn consent(server: &TestServer, browser: &mut Browser<'_>, app: &Value, callback: &str) {
    let challenge = base::pkce::ChallengeMethod::S256.derive_challenge(&"v".repeat(43));
    let request = format!(
        "/i/oauth2/authorize?response_type=code&client_id={}&redirect_uri={}&scope=tweet.read\
         &state=%22%3E%3Cscript%3E&code_challenge={challenge}&code_challenge_method=S256",
        text(app, "client_id"),
        percent_encode(callback)
    );
    let page = browser.get(request);
    assert_eq!(page.status, 200, "{}", page.text());
    is_inert(&page, "consent");
    let response = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    let to = response.header("location");
    assert_eq!(response.status, 302, "{}", response.text());
    assert_eq!(param(to, "state").as_deref(), Some("\"><script>"));
    assert!(!to.contains(['<', '"', '\r', '\n']) || to.starts_with(callback), "{to}");
    let oob = begin(server, app, "oob");
    let page = browser.get(format!("/oauth/authorize?oauth_token={oob}"));
    assert_eq!(page.status, 200, "{}", page.text());
    is_inert(&page, "authorize");
    let page = browser.submit(&page, "/oauth/authorize", &[("decision", "allow")]);
    is_inert(&page, "PIN");
}

#[test]
fn submitted_values_are_escaped_when_shown_again() {
    // Its own: so many wrong sign-ins would keep the other tests' people out.
    let server = &TestServer::start(&[]);
    let known = app(server, &["--callback", "https://client.example/cb"]);
    for (payload, _) in CORPUS {
        let bad = percent_encode(payload);
        let mut browser = Browser::new(server);
        for target in [
            format!("/login?next={bad}"),
            format!("/login?screen_name={bad}"),
            format!("/join?next={bad}&username={bad}"),
            format!("/oauth/authorize?oauth_token={bad}&screen_name={bad}&force_login=true"),
            format!("/oauth/authenticate?oauth_token={bad}"),
            format!("/i/oauth2/authorize?client_id={bad}&redirect_uri={bad}&state={bad}"),
            format!("/i/oauth2/authorize?client_id={}&redirect_uri={bad}", text(&known, "client_id")),
            format!("/account/reset?token={bad}"),
            format!("/account/confirm?token={bad}"),
            format!("/nothing/{bad}"),
            format!("/developer/apps/{bad}"),
        ] {
            is_inert(&browser.get(target.clone()), &target);
        }
        for (path, fields) in [
            ("/login", &["login", "password"][..]),
            ("/join", &["username", "name", "email", "password"][..]),
            ("/forgotten-password", &["email"][..]),
        ] {
            let page = browser.get(path);
            if page.status != 200 {
                continue;
            }
            let all: Vec<_> = fields.iter().map(|name| (*name, *payload)).collect();
            let response = browser.submit(&page, path, &all);
            assert!(response.status >= 400 || path == "/forgotten-password", "{path}");
            is_inert(&response, path);
        }
        // In the answers of the interface it is JSON, and nothing that a browser would run.
        let user = TestRequest::get(format!("/2/users/by/username/{bad}")).bearer(server.env_value("USER_TOKEN"));
        let response = server.send(user);
        let kind = response.header("content-type");
        assert!(kind.starts_with("application/") && kind.contains("json"), "{kind}");
        assert_eq!(response.header("x-content-type-options"), "nosniff");
    }
}
