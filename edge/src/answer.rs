//! From a request to its answer: the last checks, the handler, and its panics.

use std::any::Any;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONNECTION, HOST, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::body::Body;
use crate::life::{InFlight, Life};
use crate::limits::Limits;
use crate::plain::problem;
use crate::stats::Stats;

/// Answers requests. A clone answers as well as the original.
pub trait Handler: Clone + Send + Sync + 'static {
    /// Answers one request; dropped midway when the client leaves.
    fn call(&self, request: Request<Body>) -> impl Future<Output = Response<Body>> + Send;
}

impl<F, A> Handler for F
where
    F: Fn(Request<Body>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Response<Body>> + Send,
{
    fn call(&self, request: Request<Body>) -> impl Future<Output = Response<Body>> + Send {
        self(request)
    }
}

/// Where a request came from; stands in the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The other end of the connection; none for a Unix socket.
    pub addr: Option<SocketAddr>,
}

type Coming = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// A handler of whatever type, so that the connection's code is compiled once, here.
pub(crate) trait Erased: Send + Sync {
    fn call(self: Arc<Self>, request: Request<Body>) -> Coming;
}

impl<H: Handler> Erased for H {
    fn call(self: Arc<Self>, request: Request<Body>) -> Coming {
        Box::pin(async move { Handler::call(&*self, request).await })
    }
}

/// What all connections of a listener share to answer with.
pub(crate) struct Answers {
    pub(crate) handler: Arc<dyn Erased>,
    pub(crate) limits: Limits,
    pub(crate) stats: Arc<Stats>,
}

/// One connection's view of it.
pub(crate) struct Service {
    pub(crate) answers: Arc<Answers>,
    pub(crate) life: Arc<Life>,
    pub(crate) peer: Peer,
}

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        let Answers {
            handler,
            limits,
            stats,
        } = &*self.answers;
        stats.requests.up();
        let (in_flight, believed) = self.life.call();
        let version = request.version();
        let state = if let Some(status) = turn_away(&request, believed, limits) {
            stats.bad_requests.up();
            State::Ready(Some(problem(status, version, true)))
        } else {
            let mut request = request.map(|body| Body::arriving(body, limits, stats));
            request.extensions_mut().insert(self.peer);
            State::Coming(Arc::clone(handler).call(request))
        };
        Answer {
            state,
            in_flight: Some(in_flight),
            stats: Arc::clone(stats),
            version,
        }
    }
}

/// An answer being made.
pub(crate) struct Answer {
    state: State,
    in_flight: Option<InFlight>,
    stats: Arc<Stats>,
    version: Version,
}

enum State {
    Ready(Option<Response<Body>>),
    Coming(Coming),
}

impl Future for Answer {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let response = match &mut this.state {
            State::Ready(response) => response.take().unwrap_or_default(),
            State::Coming(coming) => {
                match catch_unwind(AssertUnwindSafe(|| coming.as_mut().poll(cx))) {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(response)) => response,
                    Err(panic) => excuse(&*panic, &this.stats, this.version),
                }
            }
        };
        let response = parting(response, this.version);
        let in_flight = this.in_flight.take();
        Poll::Ready(Ok(response.map(|body| match in_flight {
            Some(in_flight) => body.held(in_flight),
            None => body,
        })))
    }
}

/// Says good-bye with an answer that leaves its request's body unread.
fn parting(mut response: Response<Body>, version: Version) -> Response<Body> {
    let unread = [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE];
    if version < Version::HTTP_2 && unread.contains(&response.status()) {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Why a request does not reach the handler, if it does not.
fn turn_away(request: &Request<Incoming>, believed: bool, limits: &Limits) -> Option<StatusCode> {
    let (uri, headers) = (request.uri(), request.headers());
    let hosts = headers.get_all(HOST).iter().count();
    let named = match request.version() {
        Version::HTTP_11 => hosts == 1,
        Version::HTTP_2 => hosts == 1 || (hosts == 0 && uri.authority().is_some()),
        _ => hosts <= 1,
    };
    let target = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if !believed || !named {
        Some(StatusCode::BAD_REQUEST)
    } else if target > limits.max_uri {
        Some(StatusCode::URI_TOO_LONG)
    } else if headers.len() > limits.max_headers {
        Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
    } else {
        None
    }
}

fn excuse(panic: &(dyn Any + Send), stats: &Stats, version: Version) -> Response<Body> {
    stats.panics.up();
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = said.unwrap_or("?"), "a handler panicked");
    problem(StatusCode::INTERNAL_SERVER_ERROR, version, false)
}
