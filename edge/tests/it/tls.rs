//! TLS beside plain HTTP, and connections that end before HTTP.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edge::{ACME_TLS_ALPN, Body, Handler, ListenerLimits, ListenerProtocols, Peer, Shutdown, TlsConfigSource};
use http::{Request, Response};
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Client, GET, Server, assert_about, echo, ms, short_timeouts, spawn};

#[derive(Debug)]
struct OneConfig(Arc<ServerConfig>);

impl TlsConfigSource for OneConfig {
    fn tls_config(&self, _server_name: Option<&str>) -> Option<Arc<ServerConfig>> {
        Some(Arc::clone(&self.0))
    }
}

struct TlsServer {
    server: Server,
    connector: TlsConnector,
}

fn start_tls(limits: ListenerLimits, handler: impl Handler) -> TlsServer {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let client = client.unwrap().with_root_certificates(roots).with_no_client_auth();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key);
    let mut config = config.unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec(), ACME_TLS_ALPN.to_vec()];
    let protocols =
        ListenerProtocols { tls: Some(Arc::new(OneConfig(Arc::new(config)))), ..ListenerProtocols::default() };
    let listener = edge::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (addr, stats, shutdown) = (listener.local_addr().unwrap(), listener.stats(), Shutdown::new());
    let done = spawn(edge::serve_protocols(listener, limits, protocols, handler, shutdown.clone()));
    TlsServer { server: Server { addr, stats, shutdown, done }, connector: Arc::new(client).into() }
}

impl TlsServer {
    async fn connect_tls(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.server.addr).await.unwrap();
        self.connector.connect("localhost".try_into().unwrap(), stream).await.unwrap()
    }
}

async fn read_to(stream: &mut TlsStream<TcpStream>, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) {
        text.push(timeout(Duration::from_secs(10), stream.read_u8()).await.unwrap().unwrap());
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn one_port_answers_tls_and_plain_http() {
    let server = start_tls(ListenerLimits::default(), |request: Request<Body>| async move {
        let peer = request.extensions().get::<Peer>().unwrap();
        Response::new(Body::full(format!("TLS: {}", peer.is_tls)))
    });
    let mut client = server.connect_tls().await;
    for _ in 0..2 {
        client.write_all(GET.as_bytes()).await.unwrap();
        read_to(&mut client, "TLS: true").await;
    }
    let mut plain = server.server.connect().await;
    plain.send(GET).await;
    assert!(plain.read_response().await.ends_with("TLS: false"));
    let stats = server.server.stats.snapshot();
    assert_eq!((stats.tls_handshakes, stats.tls_failures, stats.accepted), (1, 0, 2));
}

#[tokio::test]
async fn connection_of_an_acme_challenge_ends_after_the_handshake() {
    let mut server = start_tls(ListenerLimits::default(), echo);
    let mut config = ClientConfig::clone(server.connector.config());
    config.alpn_protocols = vec![ACME_TLS_ALPN.to_vec()];
    server.connector = Arc::new(config).into();
    let mut client = server.connect_tls().await;
    let _refused = client.write_all(GET.as_bytes()).await;
    let mut received = Vec::new();
    let _ended = timeout(Duration::from_secs(10), client.read_to_end(&mut received)).await.unwrap();
    assert!(received.is_empty(), "{}", String::from_utf8_lossy(&received));
    server.server.wait_until(|stats| stats.open == 0 && stats.tls_handshakes == 1 && stats.requests == 0).await;
}

#[tokio::test]
async fn client_that_reads_nothing_over_tls_is_closed() {
    let server =
        start_tls(short_timeouts(), |_| async { Response::new(Body::full(Bytes::from(vec![7; 32 * 1024 * 1024]))) });
    let mut client = server.connect_tls().await;
    client.write_all(GET.as_bytes()).await.unwrap();
    server.server.wait_until(|stats| stats.write_timeouts == 1 && stats.open == 0).await;
}

#[tokio::test]
async fn slow_reader_over_tls_gets_the_whole_response() {
    let size = 4 * 1024 * 1024;
    let limits = ListenerLimits { idle_timeout: ms(9000), ..short_timeouts() };
    let server = start_tls(limits, move |_| async move { Response::new(Body::full(Bytes::from(vec![7; size]))) });
    let mut client = server.connect_tls().await;
    client.write_all(GET.as_bytes()).await.unwrap();
    read_to(&mut client, "\r\n\r\n").await;
    let mut piece = vec![0; size / 8];
    for _ in 0..8 {
        tokio::time::sleep(ms(150)).await; // altogether longer than the write timeout
        client.read_exact(&mut piece).await.unwrap();
    }
    assert_eq!(server.server.stats.snapshot().write_timeouts, 0);
}

#[tokio::test]
async fn unfinished_handshake_has_the_time_of_a_head() {
    let server = start_tls(short_timeouts(), echo);
    for start in [&[][..], &[0x16], &[0x16, 3, 1, 2, 0, 1, 0]] {
        let mut client: Client = server.server.connect().await;
        client.send(start).await;
        assert_about(client.time_until_closed().await, 300);
    }
    assert_eq!(server.server.stats.snapshot().header_timeouts, 3);
    server.server.wait_until(|stats| stats.open == 0).await;
}

#[tokio::test]
async fn shutdown_ends_handshakes_and_says_goodbye_over_tls() {
    let server = start_tls(ListenerLimits::default(), echo);
    let mut unfinished = server.server.connect().await;
    unfinished.send([0x16, 3, 1]).await;
    let mut idle = server.connect_tls().await;
    idle.write_all(GET.as_bytes()).await.unwrap();
    read_to(&mut idle, "\r\n\r\n/").await;
    server.server.shutdown.trigger();
    // A close without `close_notify` would be an error.
    assert_eq!(idle.read(&mut [0; 8]).await.unwrap(), 0);
    drop(idle);
    timeout(Duration::from_secs(5), server.server.done).await.unwrap().unwrap();
    unfinished.read_to_close().await;
}
