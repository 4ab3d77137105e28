//! OAuth 2.0 app-only: the one bearer token of an app.

use serde_json::{Value, json};

use crate::harness::{
    OAuth1Credentials, TestApp, TestRequest, TestResponse, TestServer, TestUser, percent_encode, shared_server,
};

const GRANT: &str = "grant_type=client_credentials";

fn issue(server: &TestServer, app: &TestApp) -> TestResponse {
    server.send(TestRequest::post("/oauth2/token").basic(&app.key, &app.secret).form(GRANT))
}

fn token(server: &TestServer, app: &TestApp) -> String {
    let body = issue(server, app).assert_status(200);
    assert_eq!(body["token_type"], "bearer");
    body["access_token"].as_str().unwrap().to_owned()
}

fn holds(server: &TestServer, token: &str) -> bool {
    let path = format!("/2/users/by/username/{}", server.env_value("USERNAME"));
    let response = server.send(TestRequest::get(path).bearer(token));
    if response.status == 401 {
        response.assert_legacy_code(401, 89);
    }
    response.status == 200
}

fn refused(response: &TestResponse) {
    response.assert_legacy_code(403, 99);
    let expected = json!({ "errors": [{
        "code": 99,
        "label": "authenticity_token_error",
        "message": "Unable to verify your credentials",
    }] });
    assert_eq!(response.json(), expected);
}

#[test]
fn app_gets_the_same_bearer_token_until_it_is_invalidated() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let first = token(server, &app);
    assert_eq!(first, token(server, &app));
    assert_eq!(first, app.bearer, "the one that was shown when the app was made");
    let both =
        std::thread::scope(|scope| [0, 1].map(|_| scope.spawn(|| token(server, &app))).map(|one| one.join().unwrap()));
    assert_eq!(both, [first.clone(), first]);
}

#[test]
fn bearer_token_is_accepted_encoded_and_decoded() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let encoded = token(server, &app);
    let decoded = encoded.replace("%2F", "/").replace("%3D", "=").replace("%2B", "+");
    assert!(encoded != decoded, "{encoded} has nothing to decode");
    assert!(holds(server, &encoded) && holds(server, &decoded));
    assert!(!holds(server, &percent_encode(&encoded)), "encoded twice");
    assert!(!holds(server, &encoded.to_lowercase()));
    assert!(!holds(server, &format!("{encoded}x")));
}

#[test]
fn wrong_grant_type_key_or_secret_is_refused() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let request = || TestRequest::post("/oauth2/token").basic(&app.key, &app.secret);
    let wrong = [
        request().form("grant_type=password"),
        request().form("grant_type=authorization_code"),
        request().form(""),
        request().form("grant=client_credentials"),
        TestRequest::post("/oauth2/token").form(GRANT),
        TestRequest::post("/oauth2/token").basic(&app.key, "wrong").form(GRANT),
        TestRequest::post("/oauth2/token").basic("nobody", &app.secret).form(GRANT),
        TestRequest::post("/oauth2/token").authorization("Basic !!!").form(GRANT),
        TestRequest::post("/oauth2/token").bearer(&app.bearer).form(GRANT),
    ];
    for request in wrong {
        refused(&server.send(request));
    }
    let kind = "application/x-www-form-urlencoded;charset=UTF-8";
    server.send(request().body(kind, GRANT)).assert_status(200);
    // One client library sends the grant in the query and no body.
    server
        .send(TestRequest::post(format!("/oauth2/token?{GRANT}")).basic(&app.key, &app.secret).form(""))
        .assert_status(200);
}

#[test]
fn token_response_forbids_caching() {
    let server = shared_server();
    let response = issue(server, &server.new_app("self-serve"));
    assert!(response.header("cache-control").contains("no-store"), "{:?}", response.headers);
    assert!(response.header("content-type").starts_with("application/json"));
}

/// The ways to ask for the end of a token.
fn invalidations<'a>(owner: &'a TestUser<'_>, token: &'a str) -> [TestRequest; 3] {
    let (url, app) = (&owner.server.url, &owner.app);
    let form = TestRequest::post("/oauth2/invalidate_token").form(format!("access_token={}", percent_encode(token)));
    let query = TestRequest::post(format!("/oauth2/invalidate_token?access_token={}", percent_encode(token)));
    let signed = |request: TestRequest| {
        let header = request.oauth1_header(&owner.oauth1_credentials(), url);
        request.authorization(header)
    };
    [signed(form.clone()), signed(query), form.basic(&app.key, &app.secret)]
}

#[test]
fn invalidated_bearer_token_is_replaced_by_a_new_one() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let owner = TestUser::app_owner(server, &app);
    let mut seen: Vec<String> = Vec::new();
    for way in 0..3 {
        let live = token(server, &app);
        assert!(!seen.contains(&live), "given out again");
        assert!(holds(server, &live));
        let request = invalidations(&owner, &live)[way].clone();
        assert_eq!(server.send(request).assert_status(200), json!({ "access_token": live }), "way {way}");
        assert!(!holds(server, &live), "way {way}");
        for again in invalidations(&owner, &live) {
            refused(&server.send(again));
        }
        seen.push(live);
    }
    let decoded = token(server, &app).replace("%2F", "/").replace("%3D", "=").replace("%2B", "+");
    // The form decoder strips one level: what reaches the operation is the decoded form.
    let request =
        TestRequest::post("/oauth2/invalidate_token").form(format!("access_token={}", percent_encode(&decoded)));
    server.send(request.basic(&app.key, &app.secret)).assert_status(200);
    assert!(!holds(server, &decoded));
}

#[test]
fn bearer_token_is_invalidated_by_its_owner_only() {
    let server = shared_server();
    let (app, foreign) = (server.new_app("self-serve"), server.new_app("self-serve"));
    let live = token(server, &app);
    let stranger = server.new_user("stranger").id;
    let stranger = TestUser::with_new_token(server, &app, &stranger, "stranger");
    let form = TestRequest::post("/oauth2/invalidate_token").form(format!("access_token={}", percent_encode(&live)));
    let by = |key: &OAuth1Credentials<'_>| {
        let header = form.oauth1_header(key, &server.url);
        server.send(form.clone().authorization(header))
    };
    refused(&by(&stranger.oauth1_credentials()));
    refused(&by(&TestUser::app_owner(server, &foreign).oauth1_credentials()));
    refused(&server.send(form.clone().basic(&foreign.key, &foreign.secret)));
    refused(&server.send(form.clone().basic(&app.key, "wrong")));
    refused(&server.send(form.clone()));
    let unknown = TestRequest::post("/oauth2/invalidate_token").form("access_token=AAAA");
    refused(&server.send(unknown.basic(&app.key, &app.secret)));
    refused(&server.send(TestRequest::post("/oauth2/invalidate_token").form("").basic(&app.key, &app.secret)));
    assert!(holds(server, &live));
}

#[test]
fn bearer_token_invalidation_survives_a_crash() {
    let mut server = TestServer::start(&[]);
    let app = server.new_app("self-serve");
    let live = token(&server, &app);
    let form = TestRequest::post("/oauth2/invalidate_token").form(format!("access_token={}", percent_encode(&live)));
    server.send(form.basic(&app.key, &app.secret)).assert_status(200);
    let next = token(&server, &app);
    server.crash_and_restart();
    assert!(!holds(&server, &live));
    assert!(holds(&server, &next));
    assert_eq!(token(&server, &app), next);
}

#[test]
fn bearer_token_requests_are_rate_limited() {
    let server = TestServer::start(&["--rate-limits", "table"]);
    let app = server.new_app("self-serve");
    for _ in 0..50 {
        issue(&server, &app).assert_status(200);
    }
    refused(&issue(&server, &app));
    issue(&server, &server.new_app("self-serve")).assert_status(200);
    server.run_cli(&["limits", "reset", "POST /oauth2/token"]).assert_success();
    issue(&server, &app).assert_status(200);
    let exhaust = ["limits", "exhaust", "POST /oauth2/token", "--app", &app.id];
    server.run_cli(&exhaust).assert_success();
    refused(&issue(&server, &app));
}

#[test]
fn bearer_token_acts_for_no_user() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let problem = server.send(TestRequest::get("/2/users/me").bearer(&app.bearer));
    let problem: Value = problem.assert_problem(403, "unsupported-authentication");
    assert_eq!(
        problem["detail"],
        "Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported \
         authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context]."
    );
}

#[test]
fn token_in_the_query_is_no_credential() {
    let server = shared_server();
    let path = format!("/2/users/by/username/{}", server.env_value("USERNAME"));
    let token = server.env_value("USER_TOKEN");
    let response = server.send(TestRequest::get(format!("{path}?access_token={}", percent_encode(token))));
    assert_eq!(response.status, 401, "{}", response.text());
}

#[test]
fn deleted_app_invalidates_its_tokens() {
    let server = shared_server();
    let app = server.new_app("self-serve");
    let owner = TestUser::app_owner(server, &app);
    owner.send_signed(TestRequest::get("/2/users/me")).assert_status(200);
    owner.get("/2/users/me").assert_status(200);
    server.run_cli(&["app", "delete", &app.id]).assert_success();
    assert!(!holds(server, &app.bearer));
    owner.get("/2/users/me").assert_legacy_code(401, 89);
    assert_eq!(owner.send_signed(TestRequest::get("/2/users/me")).status, 401);
    refused(&issue(server, &app));
}
