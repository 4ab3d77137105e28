//! The certificate of a production server from an ACME server.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;

use crate::harness::{
    AcmeServer, CommandOutput, TestRequest, TestServer, exchange_to_close, start_tls, trusting_config, wait_until,
};

const LIVE: &str = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const FAILURE: &str = "failed to obtain a certificate";
const DAY_SECS: u64 = 24 * 3600;

/// Both not started; the ACME server validates on the port of the production server.
fn prepare(lifetime_secs: u64) -> Option<(TestServer, AcmeServer)> {
    prepare_at(None, lifetime_secs)
}

/// The ACME server validates on the port of `validated`, if it is given.
fn prepare_at(validated: Option<&str>, lifetime_secs: u64) -> Option<(TestServer, AcmeServer)> {
    let mut server = TestServer::prepare_network(&["--set", "core.base_url=https://localhost:8443"]);
    let address = server.location_args().iter().find_map(|arg| arg.strip_prefix("listen.addr=")?.parse().ok()).unwrap();
    server.url = format!("https://{address}");
    let validated = validated.map_or(address, |text| text.parse().unwrap());
    let authority = AcmeServer::prepare(validated, lifetime_secs)?;
    let sets = [
        "tls.acme=true".to_owned(),
        "tls.acme_email=ada@example.org".to_owned(),
        format!("tls.acme_directory={}", authority.directory_url()),
        format!("tls.acme_authorities={}", authority.authority_file().display()),
        "tls.redirect_addr=127.0.0.1:0".to_owned(),
    ];
    for set in sets {
        server.add_network_argument("--set");
        server.add_network_argument(&set);
    }
    Some((server, authority))
}

fn spawn(server: &mut TestServer) {
    server.spawn();
    wait_until("the server listens", || server.run_cli(&["health"]).code == 0);
}

fn readiness(server: &TestServer) -> CommandOutput {
    server.run_cli(&["health", "--ready"])
}

/// The certificate of the server, if clients that trust the ACME server's root trust it.
fn trusted_certificate(server: &TestServer, authority: &AcmeServer) -> Option<CertificateDer<'static>> {
    let config = trusting_config(&authority.root_file());
    let mut stream = start_tls(&config, "localhost", server.connect()).ok()?;
    assert!(exchange_to_close(&mut stream, LIVE).starts_with("HTTP/1.1 200 "));
    Some(stream.conn.peer_certificates().unwrap()[0].clone().into_owned())
}

/// A validation as an ACME server begins it, when there is none to answer.
fn assert_challenge_is_refused(server: &TestServer, authority: &AcmeServer) {
    let mut config = ClientConfig::clone(&trusting_config(&authority.root_file()));
    config.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    assert_refused(start_tls(&Arc::new(config), "localhost", server.connect()));
}

fn assert_refused<S>(handshake: io::Result<S>) {
    let error = handshake.err().expect("there is no certificate");
    assert!(error.to_string().contains("AccessDenied"), "{error}");
}

/// Account and certificate.
fn kept_files(server: &TestServer) -> Vec<PathBuf> {
    let files = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut kept: Vec<_> = files(&server.data_dir().join("acme")).flat_map(|folder| files(&folder)).collect();
    kept.sort();
    kept
}

fn assert_files_are_private(server: &TestServer) {
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = kept_files(server);
    assert!(files[0].ancestors().skip(1).take(2).all(|folder| mode(folder) == 0o700));
    let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["account.json", "localhost.pem"]);
    assert!(files.iter().all(|file| mode(file) == 0o600));
}

#[test]
fn certificate_is_obtained_once_the_acme_server_answers_and_kept_over_a_restart() {
    let Some((mut server, mut authority)) = prepare(90 * DAY_SECS) else { return };
    spawn(&mut server);
    wait_until("the log says why and when it is tried again", || {
        server.stderr().lines().any(|line| {
            line.contains(FAILURE) && line.contains("Connection refused") && line.contains("\"next_attempt\":\"5s\"")
        })
    });
    authority.restart();
    let mut found = None;
    wait_until("it is tried again", || {
        found = trusted_certificate(&server, &authority);
        found.is_some()
    });
    readiness(&server).assert_success();
    assert_challenge_is_refused(&server, &authority);
    assert_files_are_private(&server);
    let address = server.listening_addresses().unwrap()["redirect"].as_str().unwrap().to_owned();
    let redirect = server.send_to(&format!("http://{address}"), TestRequest::get("/a"));
    assert_eq!((redirect.status, redirect.header("location")), (308, "https://localhost:8443/a"));
    assert_eq!(authority.issued_count(), 1);

    authority.stop();
    server.stop();
    spawn(&mut server);
    assert_eq!(trusted_certificate(&server, &authority), found);
    readiness(&server).assert_success();
    assert!(!server.stderr().contains(FAILURE), "{}", server.stderr());
}

#[test]
fn certificate_is_renewed_by_itself_and_without_a_valid_one_the_server_is_not_ready() {
    let Some((mut server, mut authority)) = prepare(6) else { return };
    authority.restart();
    spawn(&mut server);
    wait_until("there is a certificate", || trusted_certificate(&server, &authority).is_some());
    let first = trusted_certificate(&server, &authority);
    wait_until("it is renewed", || trusted_certificate(&server, &authority).is_some_and(|next| Some(next) != first));
    wait_until("the server is ready", || readiness(&server).code == 0);
    authority.stop();
    wait_until("the certificate ends", || readiness(&server).stderr.contains("the certificate has ended"));
    let checked = server.run_cli(&["doctor"]);
    assert!(checked.stdout.contains("the certificate ended at"), "{checked:?}");
}

#[test]
fn another_account_is_registered_if_the_acme_server_no_longer_knows_it() {
    let Some((mut server, mut authority)) = prepare(DAY_SECS) else { return };
    authority.restart();
    spawn(&mut server);
    wait_until("there is a certificate", || trusted_certificate(&server, &authority).is_some());
    server.stop();
    std::fs::remove_file(kept_files(&server).pop().unwrap()).unwrap();
    authority.restart();
    spawn(&mut server);
    wait_until("there is a certificate", || trusted_certificate(&server, &authority).is_some());
    assert!(!server.stderr().contains(FAILURE), "{}", server.stderr());
}

#[test]
fn acme_server_without_a_trusted_certificate_is_not_used() {
    let Some((mut server, mut authority)) = prepare(DAY_SECS) else { return };
    authority.restart();
    // A certificate that the server trusts, and that is not the ACME server's.
    std::fs::copy(authority.root_file(), authority.authority_file()).unwrap();
    spawn(&mut server);
    wait_until("the log says why", || {
        server.stderr().lines().any(|line| line.contains(FAILURE) && line.contains("invalid peer certificate"))
    });
    assert_ne!(readiness(&server).code, 0);
}

#[test]
fn log_says_why_a_validation_failed() {
    let Some((mut server, mut authority)) = prepare_at(Some("127.0.0.1:1"), DAY_SECS) else { return };
    authority.restart();
    spawn(&mut server);
    wait_until("the log says why", || {
        let failure = "the validation failed: ";
        server.stderr().lines().any(|line| line.contains(FAILURE) && line.contains(failure) && line.contains(":1"))
    });
    let waiting = readiness(&server);
    assert!(waiting.code != 0 && waiting.stderr.contains("no certificate has been issued yet"), "{waiting:?}");
    assert!(server.run_cli(&["doctor"]).stdout.contains("has not issued a certificate yet"));
    let config = trusting_config(&authority.root_file());
    assert_refused(start_tls(&config, "localhost", server.connect()));
}
