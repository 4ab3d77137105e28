//! Receivers over TLS: one with an untrusted certificate gets nothing.
//!
//! The certificates in `tls` are for `receiver.example`, with one key: `receiver.pem` from the authority of
//! `authority.pem`, `over.pem` the same until 2021, `own.pem` self-signed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Rng, Secret};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::super::{CertificateAuthorities, NameResolver, TargetUrl, WebhookClient, WebhookSettings, sign};
use super::{START, SUBJECT, settings};

fn file(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/webhooks/tests/tls");
    PathBuf::from(folder).join(name)
}

/// A receiver with a certificate, and the number of requests it read.
fn open(certificate: &str, secret: &Secret) -> (u16, Arc<AtomicUsize>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from_pem_file(file(certificate)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("receiver.key")).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, secret) = (Arc::new(AtomicUsize::new(0)), secret.clone());
    let counted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut lines = BufReader::new(StreamOwned::new(connection, stream));
            let mut first = String::new();
            if lines.read_line(&mut first).unwrap_or(0) == 0 {
                continue;
            }
            counted.fetch_add(1, Ordering::SeqCst);
            let token = first.split("crc_token=").nth(1).unwrap();
            let token = token.split(['&', ' ']).next().unwrap();
            let body = sign(&secret, token.as_bytes());
            let body = format!("{{\"response_token\":\"{body}\"}}");
            let head = format!("HTTP/1.1 200 A\r\ncontent-length: {}\r\n\r\n", body.len());
            let out = lines.get_mut();
            out.write_all(format!("{head}{body}").as_bytes()).unwrap();
            out.flush().unwrap();
        }
    });
    (port, asked)
}

fn here(_: &str) -> Vec<IpAddr> {
    vec![Ipv4Addr::LOCALHOST.into()]
}

#[tokio::test]
async fn a_receiver_proves_who_it_is() {
    let secret = Secret::new("secret");
    let name = "receiver.example";
    // The certificate, the name, the additional authority, and whether it is trusted.
    let table = [
        ("receiver.pem", name, None, false),
        ("receiver.pem", name, Some("authority.pem"), true),
        ("receiver.pem", "another.example", Some("authority.pem"), false),
        ("receiver.pem", name, Some("own.pem"), false),
        ("over.pem", name, Some("authority.pem"), false),
        ("own.pem", name, None, false),
        ("own.pem", name, Some("authority.pem"), false),
        ("own.pem", name, Some("own.pem"), true),
    ];
    for (certificate, name, trusted, good) in table {
        let (port, asked) = open(certificate, &secret);
        let authorities = trusted.map(|trusted| CertificateAuthorities::load_pem(&file(trusted)).unwrap());
        let settings = WebhookSettings {
            authorities: authorities.unwrap_or_default(),
            resolver: NameResolver::Custom(Arc::new(here)),
            ..settings()
        };
        let url = format!("https://{name}:{port}/hook");
        let place = TargetUrl::parse(&url, &settings.targets).unwrap();
        let done =
            WebhookClient::new(&settings).send_challenge(SUBJECT, &place, &secret, &Rng::Os, START).await.unwrap();
        let case = format!("{certificate} as {name}, trusting {trusted:?}: {done:?}");
        match done.failure {
            None => assert!(good, "{case}"),
            Some(failure) => {
                assert!(!good && failure.is_permanent, "{case}");
                assert!(failure.message.starts_with("TLS error"), "{case}");
            }
        }
        // Untrusted receivers get no request.
        assert_eq!(asked.load(Ordering::SeqCst), usize::from(good), "{case}");
    }
    assert!(CertificateAuthorities::load_pem(&file("receiver.key")).is_err());
    assert!(CertificateAuthorities::load_pem(&file("nothing.pem")).is_err());
}
