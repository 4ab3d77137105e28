//! Redirects plain HTTP to the base URL.

use edge::{Body, Handler};
use futures_util::future::BoxFuture;
use http::header::{HeaderValue, LOCATION};
use http::{Request, Response, StatusCode, uri};

/// Answers every request with its path on the base URL.
#[derive(Clone, Debug)]
pub(crate) struct RedirectServer {
    /// Without a trailing slash.
    pub(crate) base_url: String,
}

impl Handler for RedirectServer {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let path = request.uri().path_and_query().map_or("/", uri::PathAndQuery::as_str);
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        if let Ok(address) = HeaderValue::from_str(&format!("{}{path}", self.base_url))
            && path.starts_with('/')
        {
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            response.headers_mut().insert(LOCATION, address);
        }
        Box::pin(std::future::ready(response))
    }
}
