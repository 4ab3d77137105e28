//! TLS of a production server, and the certificate authority of a development server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustix::process::Signal;
use rustls::ClientConfig;
use serde_json::Value;

use crate::harness::{
    TestRequest, TestServer, exchange_to_close, metric, run_command, start_tls, trusting_config, wait_until,
};

const LIVE: &str = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Files of certificate and key beside a server's data.
struct CertificatePair {
    certificate: PathBuf,
    key: PathBuf,
}

impl CertificatePair {
    fn beside(server: &TestServer) -> Self {
        let pair = Self { certificate: server.sibling_path("server.pem"), key: server.sibling_path("server.key") };
        pair.replace(90);
        pair
    }

    /// By a new certificate that ends in so many days, and what a client needs to trust it.
    fn replace(&self, days: i64) -> Arc<ClientConfig> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_after =
            time::OffsetDateTime::from_unix_timestamp(base::clock::wall_time().ms() / 1000 + days * 24 * 3600).unwrap();
        std::fs::write(&self.key, key.serialize_pem()).unwrap();
        std::fs::write(&self.certificate, params.self_signed(&key).unwrap().pem()).unwrap();
        self.trusting()
    }

    fn trusting(&self) -> Arc<ClientConfig> {
        trusting_config(&self.certificate)
    }

    fn sets(&self) -> [String; 2] {
        let set = |name: &str, path: &Path| format!("tls.{name}={}", path.display());
        [set("cert", &self.certificate), set("key", &self.key)]
    }
}

/// A production server that speaks TLS.
fn start_with_tls() -> (TestServer, CertificatePair) {
    let (mut server, pair) = prepare_with_tls();
    spawn_with_tls(&mut server);
    (server, pair)
}

fn prepare_with_tls() -> (TestServer, CertificatePair) {
    let mut server = TestServer::prepare_network(&["--set", "core.base_url=https://localhost:8443"]);
    let pair = CertificatePair::beside(&server);
    for set in pair.sets() {
        server.add_network_argument("--set");
        server.add_network_argument(&set);
    }
    for set in ["tls.redirect_addr=127.0.0.1:0", "listen.control_addr=127.0.0.1:0"] {
        server.add_network_argument("--set");
        server.add_network_argument(set);
    }
    (server, pair)
}

fn spawn_with_tls(server: &mut TestServer) {
    server.spawn();
    let mut found = None;
    wait_until("the server says where it is", || {
        found = server.listening_addresses();
        found.is_some()
    });
    server.url = format!("https://{}", found.unwrap()["addr"].as_str().unwrap());
}

fn is_trusted(server: &TestServer, config: &Arc<ClientConfig>) -> bool {
    start_tls(config, "localhost", server.connect())
        .is_ok_and(|mut stream| exchange_to_close(&mut stream, LIVE).starts_with("HTTP/1.1 200 "))
}

#[test]
fn production_server_speaks_tls_and_follows_its_certificate_files() {
    let (server, pair) = start_with_tls();
    let mut stream = start_tls(&pair.trusting(), "localhost", server.connect()).unwrap();
    let request = "GET /2/users/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let response = exchange_to_close(&mut stream, request);
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    assert!(response.contains("strict-transport-security: max-age=31536000\r\n"), "{response}");
    server.run_cli(&["health", "--ready"]).assert_success();

    let renewed = pair.replace(90);
    wait_until("the new file is seen", || is_trusted(&server, &renewed));

    std::fs::write(&pair.certificate, "no certificate").unwrap();
    server.signal(Signal::HUP);
    wait_until("the log says why", || server.stderr().contains("failed to load the certificate"));
    assert!(is_trusted(&server, &renewed), "the last certificate stays in use");

    let last = pair.replace(90);
    server.signal(Signal::HUP);
    wait_until("the signal is followed", || is_trusted(&server, &last));
    assert!(!is_trusted(&server, &renewed));
    let end = metric(&server, "locum_tls_certificate_end_seconds");
    let left = i64::try_from(end).unwrap() - base::clock::wall_time().ms() / 1_000;
    assert!((89..=90).contains(&(left / 86_400)), "{left}");
}

#[test]
fn sandbox_of_a_production_server_requires_tls_too() {
    let (mut server, pair) = prepare_with_tls();
    server.add_network_argument("--ads-sandbox-port");
    server.add_network_argument("0");
    spawn_with_tls(&mut server);
    let sandbox = server.listening_addresses().unwrap()["ads_sandbox"].as_str().unwrap().to_owned();
    server.url = sandbox;
    let response = exchange_to_close(&mut server.connect(), LIVE);
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert!(is_trusted(&server, &pair.trusting()));
}

#[test]
fn plain_http_is_refused_where_tls_is_spoken_and_redirected_elsewhere() {
    let (server, pair) = start_with_tls();
    let response = exchange_to_close(&mut server.connect(), LIVE);
    assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("accepts TLS only"), "{response}");
    let connect = "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n";
    assert!(exchange_to_close(&mut server.connect(), connect).starts_with("HTTP/1.1 400 "));
    let mut stream = start_tls(&pair.trusting(), "localhost", server.connect()).unwrap();
    let connect = "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nConnection: close\r\n\r\n";
    assert!(exchange_to_close(&mut stream, connect).starts_with("HTTP/1.1 4"));

    let address = server.listening_addresses().unwrap()["redirect"].as_str().unwrap().to_owned();
    let url = format!("http://{address}");
    for request in [TestRequest::get("/a/b?c=d"), TestRequest::post("/a/b?c=d").form("e=f")] {
        let redirect = server.send_to(&url, request);
        assert_eq!((redirect.status, redirect.header("location")), (308, "https://localhost:8443/a/b?c=d"));
        assert_eq!(redirect.header("strict-transport-security"), "");
    }
}

#[test]
fn tls_settings_that_do_not_fit_are_refused() {
    let server = TestServer::prepare_network(&[]);
    let pair = CertificatePair::beside(&server);
    let [certificate, key] = pair.sets();
    let https = "core.base_url=https://localhost";
    let conf = |mode: &str, sets: &[&str]| {
        let mut args = vec![mode, "--data-dir", "data", "--set", "core.danger_plain_http=true"];
        if mode == "dev" {
            args = vec![mode, "--data-dir", "data"];
        }
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        run_command(&server.sibling_path(""), &args)
    };
    for (mode, sets, words) in [
        ("serve", &[https, &certificate][..], "tls.cert and tls.key are needed together"),
        ("serve", &[https, "tls.redirect_addr=127.0.0.1:0"], "nothing to redirect to"),
        ("serve", &["core.base_url=http://localhost", &certificate, &key], "must begin with https://"),
        ("serve", &["core.base_url=http://localhost", "tls.acme=true"], "must begin with https://"),
        ("serve", &[https, "tls.acme=true", &certificate, &key], "tls.cert and tls.key must not be set"),
        ("serve", &["core.base_url=https://192.0.2.1", "tls.acme=true"], "core.base_url must be a DNS name"),
        ("serve", &["core.base_url=https://[2001:db8::1]", "tls.acme=true"], "core.base_url must be a DNS name"),
        ("serve", &[https, "tls.acme=true", "tls.acme_directory=http://localhost/dir"], "tls.acme_directory"),
        ("serve", &[https, "tls.acme=true", "tls.acme_email=Ada <ada@localhost>"], "tls.acme_email"),
        ("serve", &[https, "tls.acme=true", "tls.acme_authorities=missing.pem"], "tls.acme_authorities: missing.pem"),
        ("dev", &[&certificate, &key], "a development server issues its own certificates"),
    ] {
        let refused = conf(mode, sets);
        refused.assert_exit_code(2);
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    let refused = conf("dev", &["tls.acme=true"]);
    assert!(refused.code == 4 && refused.stderr.contains("tls.acme is not available in dev"), "{refused:?}");
}

/// What `locum doctor` says about the certificate.
fn certificate_finding(server: &TestServer, pair: &CertificatePair) -> (String, String) {
    let [certificate, key] = pair.sets();
    let sets = ["--set", "core.base_url=https://localhost", "--set", &certificate, "--set", &key];
    let output = server.run_cli(&[&["doctor", "--set", "listen.addr=127.0.0.1:0"][..], &sets[..]].concat());
    let rows: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "certificate").unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&row["state"]), text(&row["says"]))
}

#[test]
fn doctor_reports_certificates_that_end_or_do_not_fit() {
    let (mut server, pair) = start_with_tls();
    assert_eq!(certificate_finding(&server, &pair).0, "good");
    let own = std::fs::read_to_string(&pair.certificate).unwrap();
    std::fs::write(&pair.certificate, format!("{own}{own}")).unwrap();
    assert_eq!(certificate_finding(&server, &pair).0, "good", "a chain counts by its first certificate");
    pair.replace(5);
    assert_eq!(certificate_finding(&server, &pair).0, "doubtful");
    pair.replace(-1);
    let (state, message) = certificate_finding(&server, &pair);
    assert!(state == "bad" && message.contains("ended at"), "{state}: {message}");
    std::fs::write(&pair.key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
    assert_eq!(certificate_finding(&server, &pair).0, "bad");
    server.kill();
}

#[test]
fn certificate_authority_is_shown_and_renewed() {
    let mut server = TestServer::prepare(&["--world", "empty"]);
    let missing = server.run_cli(&["ca", "path"]);
    assert!(missing.code == 1 && missing.stderr.contains("start `locum dev`"), "{missing:?}");
    server.restart();
    let path = PathBuf::from(server.run_text_cli(&["ca", "path"]).trim());
    assert_eq!(server.run_cli(&["ca", "path"]).json()["path"].as_str(), path.to_str());
    assert_eq!(path, server.data_dir().join("ca/ca.pem"));
    let before = std::fs::read(&path).unwrap();
    let shown = server.run_cli(&["ca", "show"]).json();
    assert!(shown["hosts"].as_array().unwrap().iter().any(|host| host == "api.x.com"), "{shown}");
    let renewed = server.run_cli(&["ca", "renew"]);
    assert!(renewed.stderr.contains("Restart the running server"), "{renewed:?}");
    assert_ne!(std::fs::read(&path).unwrap(), before);
    assert!(server.connect_tls("api.x.com").is_err(), "the running server has the old one");
    server.stop();
    server.restart();
    server.connect_tls("api.x.com").unwrap();
}
