//! Rate limits: exactly as many calls as the table says.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::harness::{OAuth1Credentials, TestRequest, TestResponse, TestServer};
use crate::pages::browser::{app, text};

/// One server with the published limits.
fn server() -> &'static TestServer {
    static LIMITED: OnceLock<TestServer> = OnceLock::new();
    LIMITED.get_or_init(|| TestServer::start(&["--rate-limits", "table"]))
}

#[track_caller]
fn figures(response: &TestResponse) -> (i64, i64, i64) {
    let number = |name: &str| response.header_number(&format!("x-rate-limit-{name}"));
    (number("limit"), number("remaining"), number("reset"))
}

#[test]
fn limit_of_the_table_is_served_exactly() {
    let user = server().new_user("counter");
    let now = base::clock::wall_time().ms() / 1000;
    let mut resets = Vec::new();
    for left in (0..75).rev() {
        let response = user.get("/2/users/me");
        response.assert_status(200);
        let (limit, remaining, reset) = figures(&response);
        assert_eq!((limit, remaining), (75, left));
        assert!((now + 890..=now + 960).contains(&reset), "{reset} at {now}");
        resets.push(reset);
    }
    resets.dedup();
    assert_eq!(resets.len(), 1, "the window is fixed: {resets:?}");
    for _ in 0..3 {
        let refused = user.get("/2/users/me");
        let body = refused.assert_status(429);
        assert_eq!(figures(&refused), (75, 0, resets[0]));
        assert_eq!((&body["title"], &body["status"]), (&json!("Too Many Requests"), &json!(429)));
        assert_eq!(body["errors"][0]["code"], 88);
    }
    user.get(format!("/2/users/{}", user.id)).assert_status(200);
    let other = server().new_user("counter");
    assert_eq!(figures(&other.get("/2/users/me")).1, 74, "another's calls are their own");
}

#[test]
fn concurrent_requests_pass_exactly_up_to_the_limit() {
    let user = server().new_user("racer");
    let path = "/2/users/me";
    let served: usize = std::thread::scope(|scope| {
        let some = || (0..15).filter(|_| user.get(path).status == 200).count();
        let all: Vec<_> = (0..8).map(|_| scope.spawn(some)).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(served, 75);
}

#[test]
fn vocabularies_and_credential_types_share_one_limit() {
    let user = server().new_user("both");
    let id = user.publish_text("Count me");
    let left = |response: &TestResponse| figures(response).1;
    let first = left(&user.get(format!("/2/tweets/{id}")));
    assert_eq!(left(&user.get(format!("/2/posts/{id}"))), first - 1);
    assert_eq!(left(&user.send_signed(TestRequest::get(format!("/2/tweets/{id}")))), first - 2);
    let app = server().send(TestRequest::get(format!("/2/tweets/{id}")).bearer(&user.app.bearer));
    assert_eq!(figures(&app).0, 450, "the app has a pool of its own");
    assert_eq!(left(&user.get(format!("/2/tweets/{id}"))), first - 3);
}

#[test]
fn refused_request_counts_and_shows_the_limit() {
    let user = server().new_user("failing");
    let wrong = user.get("/2/users/me?user.fields=nonsense");
    wrong.assert_problem(400, "invalid-request");
    assert_eq!(figures(&wrong).1, 74);
    assert_eq!(figures(&user.get("/2/users/me")).1, 73);
    let nobody = server().send(TestRequest::get("/2/users/me"));
    nobody.assert_status(401);
    assert_eq!(figures(&nobody).0, 75, "figures stand on every answer");
}

#[test]
fn write_shows_its_window_and_daily_limit() {
    let user = server().new_user("writer");
    let response = user.create_post(&json!({ "text": "Counted" }));
    response.assert_status(201);
    assert_eq!(figures(&response).0, 100);
    assert_eq!(figures(&response).1, 99);
    let left = response.header_number("x-app-limit-24hour-remaining");
    // Wrong calls count as well.
    for _ in 1..100 {
        user.create_post(&json!({})).assert_status(400);
    }
    let refused = user.create_post(&json!({ "text": "One too many" }));
    refused.assert_status(429);
    assert_eq!(refused.header_number("x-app-limit-24hour-remaining"), left - 99);
}

#[test]
fn token_requests_are_counted_for_the_app_that_they_verify() {
    let server = server();
    let apps = ["web", "web", "native"].map(|kind| app(server, &["--kind", kind]));
    let [one, other, native] = &apps;
    let revoke = |app: &Value| {
        let request = TestRequest::post("/2/oauth2/revoke").form("token=x");
        server.send(request.basic(text(app, "client_id"), text(app, "client_secret")))
    };
    let revoke_natively = || {
        let form = format!("token=x&client_id={}", text(native, "client_id"));
        server.send(TestRequest::post("/2/oauth2/revoke").form(form))
    };
    let request_token = |app: &Value, secret: &str| {
        let request = TestRequest::post("/oauth/request_token?oauth_callback=oob");
        let key = OAuth1Credentials { consumer: (text(app, "api_key"), secret), ..OAuth1Credentials::default() };
        let header = request.oauth1_header(&key, &server.url);
        server.send(request.authorization(header))
    };
    let state = |response: &TestResponse| (response.status, figures(response).1);
    for left in [499, 498] {
        for app in [one, other] {
            assert_eq!(state(&revoke(app)), (200, left));
            assert_eq!(state(&request_token(app, text(app, "api_secret"))), (200, left));
        }
        assert_eq!(state(&revoke_natively()), (200, left));
        assert_eq!(state(&request_token(one, "wrong")), (401, left), "counted for the address");
    }
    for operation in ["POST /2/oauth2/revoke", "POST /oauth/request_token"] {
        server.run_cli(&["limits", "exhaust", operation, "--app", text(one, "id")]).assert_success();
    }
    assert_eq!(revoke(one).assert_status(429)["error"], "temporarily_unavailable");
    request_token(one, text(one, "api_secret")).assert_legacy_code(429, 88);
    assert_eq!(state(&revoke(other)), (200, 497));
    assert_eq!(state(&request_token(other, text(other, "api_secret"))), (200, 497));
}

#[test]
fn limits_can_be_scaled_and_disabled() {
    let scaled = TestServer::start(&["--rate-limits", "scale=2"]);
    let response = scaled.new_user("counter").get("/2/users/me");
    assert_eq!((figures(&response).0, figures(&response).1), (150, 149));
    let off = TestServer::start(&["--rate-limits", "off"]);
    let user = off.new_user("free");
    for _ in 0..80 {
        let response = user.get("/2/users/me");
        response.assert_status(200);
        assert_eq!((figures(&response).0, figures(&response).1), (75, 75));
    }
}
