//! `GET /console/ca.pem`: the certificate authority of the emulated hosts.

use base::{Error, Refusal};
use http::HeaderValue;
use portal::portal_page;
use web::HttpReply;
use web::endpoint::Endpoint;
use web::request_context::RequestContext;

pub(super) const PATH: &str = "/console/ca.pem";

pub(super) static ENDPOINTS: &[Endpoint] =
    &[portal_page("consoleCertificate", "GET", PATH, &serve)
        .summary("The certificate authority of the emulated hosts.")];

const PEM: HeaderValue = HeaderValue::from_static("application/x-pem-file");

async fn serve(call: RequestContext) -> Result<HttpReply, Error> {
    let file = call.emulator()?.ca_file.as_deref().ok_or(Refusal::RouteNotFound)?;
    // A few hundred bytes on a development server.
    let text = std::fs::read_to_string(file).map_err(|_| Error::from(Refusal::RouteNotFound))?;
    Ok(HttpReply::bytes(200, PEM, text))
}
