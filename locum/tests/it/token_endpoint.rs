//! What is exchanged for tokens, and who may keep the answer.

use crate::harness::{TestRequest, TestResponse, shared_server};

fn client() -> (String, String) {
    let server = shared_server();
    let owner = &server.default_app().owner;
    let made = ["app", "create", "Tokens", "--owner", owner];
    let made = server.run_cli(&made).json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("client_id"), text("client_secret"))
}

fn ask(form: &str) -> TestResponse {
    let (id, secret) = client();
    let ask = TestRequest::post("/2/oauth2/token").form(form).basic(&id, &secret);
    shared_server().send(ask)
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
        let answer = ask(&format!("grant_type={grant}"));
        let body = answer.assert_status(400);
        assert_eq!(body["error"], "unsupported_grant_type", "{grant}: {body}");
        assert!(body.get("access_token").is_none());
    }
    assert_eq!(ask("").assert_status(400)["error"], "invalid_request");
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
        let ask = TestRequest::post(path).form(form).basic(&id, &secret);
        let answer = server.send(ask.header("origin", "https://spa.example"));
        assert!(answer.header("cache-control").contains("no-store"), "{path}: {:?}", answer.headers);
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
        let ask = TestRequest::new("OPTIONS", path).header("origin", "https://spa.example");
        let answer = server.send(ask.header("access-control-request-method", "POST"));
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
        let query = TestRequest::get(format!("{path}?{form}")).basic(&id, &secret);
        assert_eq!(server.send(query).status, 405, "{path}");
    }
}
