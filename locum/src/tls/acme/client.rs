//! Requests to an ACME server.

use std::pin::Pin;

use bytes::Bytes;
use deliver::webhooks::CertificateAuthorities;
use http::Request;
use http_body_util::Limited;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

use base::Fault;

/// A chain of certificates takes about 5 KiB.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

type Response = Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>>;

/// Bounded responses over https only; the whole order has a time limit.
pub(super) struct AcmeHttpClient(Client<HttpsConnector<HttpConnector>, BodyWrapper<Bytes>>);

impl AcmeHttpClient {
    /// Reads the system's certificate authorities.
    pub(super) fn new(authorities: &CertificateAuthorities) -> Result<Self, Fault> {
        let builder = HttpsConnectorBuilder::new().with_tls_config(authorities.client_config()?);
        let connector = builder.https_only().enable_http1().build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }
}

impl HttpClient for AcmeHttpClient {
    fn request(&self, request: Request<BodyWrapper<Bytes>>) -> Response {
        let sent = self.0.request(request);
        Box::pin(async move {
            let response = sent.await.map_err(|error| Error::Other(Box::new(error)))?;
            Ok(response.map(|body| Limited::new(body, MAX_RESPONSE_BYTES)).into())
        })
    }
}
