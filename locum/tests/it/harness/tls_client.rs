//! Connections that speak TLS with a server, or go through it as a proxy.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{TestRequest, TestResponse, TestServer, WAIT_TIMEOUT};

pub(crate) type TlsStream<S> = StreamOwned<ClientConnection, S>;

/// Trusts the certificate authority in a file.
pub(crate) fn trusting_config(authority: &Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    // Each handshake shall see the certificate.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Shakes hands with a server that is asked for by a name or address.
pub(crate) fn start_tls<S: Read + Write>(
    config: &Arc<ClientConfig>,
    host: &str,
    mut stream: S,
) -> io::Result<TlsStream<S>> {
    let name = host.to_owned().try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    connection.complete_io(&mut stream)?;
    Ok(StreamOwned::new(connection, stream))
}

/// The response to a request that ends the connection.
pub(crate) fn exchange_to_close(stream: &mut (impl Read + Write), request: impl AsRef<[u8]>) -> String {
    let mut received = Vec::new();
    if stream.write_all(request.as_ref()).and_then(|()| stream.flush()).is_ok() {
        // Some servers end without a word of TLS.
        let _ended = stream.read_to_end(&mut received);
    }
    String::from_utf8_lossy(&received).into_owned()
}

impl TestServer {
    pub(crate) fn connect(&self) -> TcpStream {
        let address = self.url.split_once("://").unwrap().1;
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        stream
    }

    /// Trusts the certificate authority of this development server.
    pub(crate) fn tls_config(&self) -> Arc<ClientConfig> {
        trusting_config(&self.data_dir().join("ca/ca.pem"))
    }

    pub(crate) fn connect_tls(&self, host: &str) -> io::Result<TlsStream<TcpStream>> {
        start_tls(&self.tls_config(), host, self.connect())
    }

    /// Asks it something over TLS, under one of its names.
    pub(crate) fn send_over_tls(&self, host: &str, request: TestRequest) -> TestResponse {
        request.send_raw(host, &mut self.connect_tls(host).unwrap())
    }

    /// A connection through the server as a proxy, once it says that there is one.
    pub(crate) fn connect_through(&self, authority: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
        stream
    }
}
