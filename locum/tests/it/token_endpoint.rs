//! What is exchanged for tokens, and who may keep the answer.

use crate::harness::{TestRequest, TestResponse, shared_server};

fn client() -> (String, String) {
    let server = shared_server();
    let owner = &server.default_app().owner;
    let created = ["app", "create", "Tokens", "--owner", owner];
    let created = server.run_cli(&created).json();
    let text = |name: &str| created[name].as_str().unwrap().to_owned();
    (text("client_id"), text("client_secret"))
}

fn ask(form: &str) -> TestResponse {
    let (id, secret) = client();
    let request = TestRequest::post("/2/oauth2/token").form(form).basic(&id, &secret);
    shared_server().send(request)
}

#[test]
fn other_grant_type_is_refused() {
    for grant in [
        "password&username=ada&password=dev",
        "client_credentials",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
        "authorization_code%20",
    ] {
        let response = ask(&format!("grant_type={grant}"));
        let body = response.assert_status(400);
        assert_eq!(body["error"], "unsupported_grant_type", "{grant}: {body}");
        assert!(body.get("access_token").is_none());
    }
    assert_eq!(ask("").assert_status(400)["error"], "invalid_request");
}

#[test]
fn empty_parameter_in_the_query_counts_as_missing() {
    let (id, secret) = client();
    let ask = |target: &str| shared_server().send(TestRequest::post(target).basic(&id, &secret));
    ask("/oauth2/token?grant_type=").assert_legacy_code(403, 99);
    let revoked = ask("/2/oauth2/revoke?token=").assert_status(400);
    assert_eq!(revoked["error_description"], "Missing required parameter [token].");
}

#[test]
fn client_with_a_wrong_secret_learns_the_scheme() {
    let (id, _) = client();
    let form = "grant_type=authorization_code&code=x&redirect_uri=x&code_verifier=x";
    let response = shared_server().send(TestRequest::post("/2/oauth2/token").form(form).basic(&id, "wrong"));
    assert_eq!(response.assert_status(401)["error"], "unauthorized_client");
    assert!(response.header("www-authenticate").starts_with("Basic "), "{:?}", response.headers);
}

#[test]
fn oauth2_token_response_forbids_caching_and_cross_origin_reads() {
    let server = shared_server();
    let (id, secret) = client();
    for (path, form) in [
        ("/2/oauth2/token", "grant_type=authorization_code&code=x"),
        ("/2/oauth2/revoke", "token=x"),
        ("/oauth2/token", "grant_type=client_credentials"),
    ] {
        let request = TestRequest::post(path).form(form).basic(&id, &secret);
        let response = server.send(request.header("origin", "https://spa.example"));
        assert!(response.header("cache-control").contains("no-store"), "{path}: {:?}", response.headers);
        assert_eq!(response.header("access-control-allow-origin"), "", "{path}");
        let request = TestRequest::new("OPTIONS", path).header("origin", "https://spa.example");
        let response = server.send(request.header("access-control-request-method", "POST"));
        assert_eq!(response.header("access-control-allow-origin"), "", "{path}");
        let query = TestRequest::get(format!("{path}?{form}")).basic(&id, &secret);
        assert_eq!(server.send(query).status, 405, "{path}");
    }
}
