//! Access tokens of OAuth 1.0a: whose they are, what they may do, how they end.

use serde_json::json;

use crate::harness::{OAuth1Credentials, TestRequest, TestUser, shared_server};

fn me() -> TestRequest {
    TestRequest::get("/2/users/me")
}

#[test]
fn oauth1_token_is_accepted_for_its_own_app_only() {
    let server = shared_server();
    let user = server.new_user("signer");
    let other = server.new_app("enterprise");
    let key = OAuth1Credentials { consumer: other.consumer_credentials(), ..user.oauth1_credentials() };
    let header = me().oauth1_header(&key, &server.url);
    assert_eq!(server.send(me().authorization(&header)).status, 401);
}

#[test]
fn read_only_token_does_not_write() {
    let user = shared_server().new_user("signer");
    let reading = user.mint_token(&["--oauth1", "--permission", "read"]);
    let text = |name: &str| reading[name].as_str().unwrap();
    let key =
        OAuth1Credentials { token: (text("access_token"), text("access_token_secret")), ..user.oauth1_credentials() };
    let header = me().oauth1_header(&key, &user.server.url);
    let response = user.server.send(me().authorization(&header));
    response.assert_status(200);
    assert_eq!(response.header("x-access-level"), "read");
    let writes =
        [TestRequest::post("/2/tweets").json(&json!({ "text": "May I?" })), TestRequest::delete("/2/tweets/20")];
    for request in writes {
        let header = request.oauth1_header(&key, &user.server.url);
        let problem = user.server.send(request.authorization(&header)).assert_problem(403, "oauth1-permissions");
        assert_eq!(
            problem["detail"],
            "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."
        );
    }
}

#[test]
fn invalidated_oauth1_token_is_refused_at_once() {
    for path in ["/1.1/oauth/invalidate_token", "/1.1/oauth/invalidate_token.json"] {
        let user = shared_server().new_user("signer");
        let (token, _) = user.oauth1_token();
        user.send_signed(me()).assert_status(200);
        let response = user.send_signed(TestRequest::post(path));
        assert_eq!(response.assert_status(200), json!({ "access_token": token }));
        let dead = user.send_signed(me());
        dead.assert_legacy_code(401, 89);
        assert!(dead.error_messages().contains(&"Invalid or expired token.".to_owned()));
        user.send_signed(TestRequest::post(path)).assert_legacy_code(401, 89);

        let again = TestUser::with_new_token(user.server, &user.app, &user.id, &user.username);
        assert_ne!(again.oauth1_token().0, token, "a new token is another one");
        again.send_signed(me()).assert_status(200);
    }
}

#[test]
fn oauth1_token_stays_the_same_until_it_is_invalidated() {
    let user = shared_server().new_user("signer");
    let again = TestUser::with_new_token(user.server, &user.app, &user.id, &user.username);
    assert_eq!(user.oauth1_token(), again.oauth1_token());
}

#[test]
fn older_paths_return_legacy_errors() {
    let server = shared_server();
    let path = "/1.1/oauth/invalidate_token.json";
    let response = server.send(TestRequest::post(path));
    response.assert_legacy_code(400, 215);
    assert!(response.header("content-type").starts_with("application/json"));
    assert_eq!(response.json(), json!({ "errors": [{ "code": 215, "message": "Bad Authentication data." }] }));
    server.send(TestRequest::post(path).bearer("garbage")).assert_legacy_code(401, 89);
    server.send(TestRequest::post(path).bearer(server.env_value("BEARER_TOKEN"))).assert_legacy_code(403, 220);
}
