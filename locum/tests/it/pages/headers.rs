//! The headers of everything that a browser shows.

use serde_json::Value;
use web::endpoint::ErrorFormat;

use super::browser::Browser;
use crate::harness::{TestRequest, TestResponse, TestServer, shared_server, wait_until};

#[track_caller]
pub(super) fn is_guarded(response: &TestResponse, what: &str) {
    let policy = response.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "style-src 'self'",
        "media-src 'self' https:",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(part), "{what}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{what}: {policy}");
    assert_eq!(response.header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(response.header("referrer-policy"), "no-referrer", "{what}");
    assert!(response.header("cache-control").contains("no-store"), "{what}");
    assert_eq!(response.header("access-control-allow-origin"), "", "{what}");
}

#[test]
fn every_page_has_security_headers() {
    let server = shared_server();
    let (mut user, _) = Browser::of_someone(server);
    let mut nobody = Browser::new(server);
    for endpoint in [portal::ENDPOINTS, members::ENDPOINTS, moderation::ENDPOINTS].concat().into_iter().flatten() {
        let path = endpoint.path;
        // Other sites load the tag's script, and browsers keep it.
        let is_asset = path.starts_with("/assets/") || path == "/ads/tag.js";
        // A stream ends when its page is closed.
        let is_stream = path.ends_with("/live");
        if endpoint.error_format != ErrorFormat::Page || is_asset || is_stream || path.contains('{') {
            continue;
        }
        for browser in [&mut nobody, &mut user] {
            let request = TestRequest::new(endpoint.method, path);
            let response = browser.send(request);
            is_guarded(&response, &format!("{} {path}: {}", endpoint.method, response.status));
            assert!(response.status < 500, "{path}: {}", response.text());
            assert!(!response.text().replace("<script src=\"/assets/", "").contains("<script"), "{path}");
            let to = response.header("location");
            assert!(to.is_empty() || to.starts_with('/'), "{path}: {to}");
        }
    }
    let lost = server.send(TestRequest::get("/oauth2/authorize/nothing"));
    assert_eq!(lost.status, 404);
}

#[test]
fn stylesheet_is_cached_forever() {
    let server = shared_server();
    let page = server.send(TestRequest::get("/login")).text();
    let path = page.split("href=\"/assets/").nth(1).unwrap();
    let path = format!("/assets/{}", path.split('"').next().unwrap());
    let style = server.send(TestRequest::get(path));
    assert_eq!(style.status, 200);
    assert!(style.header("cache-control").contains("immutable"));
    assert_eq!(style.header("x-content-type-options"), "nosniff");
    let script = server.send(TestRequest::get("/ads/tag.js"));
    assert_eq!((script.status, script.header("x-content-type-options")), (200, "nosniff"));
}

#[test]
fn session_cookie_is_host_bound_over_tls() {
    let mut server = TestServer::prepare(&["--base-url", "https://own.example"]);
    server.spawn();
    let mut addr = String::new();
    wait_until("the server says where it is", || {
        let response = std::fs::read_to_string(server.data_dir().join("server.json")).unwrap_or_default();
        let response: Value = serde_json::from_str(&response).unwrap_or_default();
        response["addr"].as_str().unwrap_or_default().clone_into(&mut addr);
        !addr.is_empty()
    });
    server.url = format!("http://{addr}");
    let page = server.send(TestRequest::get("/login"));
    let cookie = page.header("set-cookie");
    assert!(cookie.starts_with("__Host-locum"), "{cookie}");
    assert!(cookie.contains("; Secure"), "{cookie}");
    let strict = page.header("strict-transport-security");
    assert!(strict.starts_with("max-age="), "{strict}");
}
