//! Pages and links under the emulated hosts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{TestRequest, shared_server};
use crate::pages::browser::{Browser, hidden, posted, someone};

#[test]
fn session_over_tls_is_bound_to_its_host_and_does_not_ask_for_tls_for_ever() {
    let server = shared_server();
    let name = someone(server);
    let mut browser = Browser::on_emulated_host(server, "x.com");
    let response = browser.sign_in(&name, "a long secret", "/settings/account");
    assert_eq!(response.status, 303, "{}", response.text());
    let cookies: Vec<_> = response.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    assert!(cookies.iter().any(|line| line.starts_with("__Host-locum=")), "{cookies:?}");
    assert!(cookies.iter().all(|line| line.contains("; Secure")), "{cookies:?}");
    let page = browser.get("/settings/account");
    assert!(
        page.text().contains(&name) && page.text().contains("<bdi class=\"strong\">x.com</bdi>"),
        "{}",
        page.text()
    );
    assert_eq!(page.header("strict-transport-security"), "", "a browser would remember it for the real site");
    let mut elsewhere = Browser::new(server);
    elsewhere.cookies = browser.cookies.clone();
    assert_eq!(elsewhere.get("/settings/account").status, 303, "plain HTTP has cookies of its own");
}

#[test]
fn form_of_another_site_is_refused_on_emulated_hosts() {
    let server = shared_server();
    let name = someone(server);
    for (host, origin, is_accepted) in [
        ("x.com", "https://x.com", true),
        ("x.com", "http://x.com", false),
        ("x.com", "https://evil.example", false),
        ("localhost", "https://localhost", true),
        ("localhost", "https://x.com", false),
    ] {
        let page = server.send_over_tls(host, TestRequest::get("/login"));
        let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
        let mut fields: BTreeMap<String, String> = hidden(&page.text(), "/login");
        fields.extend(
            [("login", name.as_str()), ("password", "a long secret")].map(|(a, b)| (a.to_owned(), b.to_owned())),
        );
        let request = posted("/login", &fields).header("cookie", &cookie).header("origin", origin);
        let status = server.send_over_tls(host, request).status;
        assert_eq!(status == 303, is_accepted, "{host} {origin}: {status}");
    }
}

#[test]
fn links_and_metadata_name_the_host_that_the_client_used() {
    let server = shared_server();
    let metadata = || TestRequest::get("/.well-known/oauth-authorization-server");
    let issuer = |value: Value| value["issuer"].as_str().unwrap().to_owned();
    assert_eq!(issuer(server.send_over_tls("api.x.com", metadata()).json()), "https://api.x.com");
    assert_eq!(issuer(server.send(metadata()).json()), server.url);
    let app = server.new_app("enterprise");
    let job = |subject| TestRequest::post("/2/compliance/jobs").bearer(&app.bearer).json(&json!({"type": subject}));
    let upload_url = |body: Value| body["data"]["upload_url"].as_str().unwrap().to_owned();
    let over_tls = upload_url(server.send_over_tls("api.x.com", job("users")).assert_status(200));
    assert!(over_tls.starts_with("https://api.x.com/compliance/uploads/"), "{over_tls}");
    let plain = upload_url(server.send(job("tweets")).assert_status(200));
    assert!(plain.starts_with(&format!("{}/compliance/uploads/", server.url)), "{plain}");
}
