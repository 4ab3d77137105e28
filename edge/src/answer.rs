//! From a request to its answer: the last checks, the handler, and its panics.

use std::any::Any;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::header::{CONNECTION, EXPECT, HOST, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::body::Body;
use crate::life::{InFlight, Life};
use crate::limits::Limits;
use crate::plain::problem;
use crate::rest::{Left, Rest};
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
        let (left, waits) = (Left::default(), request.headers().contains_key(EXPECT));
        let state = if let Some(status) = turn_away(&request, believed, limits) {
            stats.bad_requests.up();
            State::Ready(Some(problem(status, version, true)))
        } else {
            let mut request = request.map(|body| Body::arriving(body, limits, stats, &left));
            request.extensions_mut().insert(self.peer);
            State::Coming(Arc::clone(handler).call(request))
        };
        Answer {
            state,
            in_flight: Some(in_flight),
            stats: Arc::clone(stats),
            version,
            left,
            waits,
        }
    }
}

/// An answer being made.
pub(crate) struct Answer {
    state: State,
    in_flight: Option<InFlight>,
    stats: Arc<Stats>,
    version: Version,
    /// What of the request's body nobody read.
    left: Left,
    /// The client sends its body when it is told to.
    waits: bool,
}

enum State {
    Ready(Option<Response<Body>>),
    Coming(Coming),
    /// It is there, and the request's body is read to its end.
    Ending(Option<Response<Body>>, Rest),
}

impl Future for Answer {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let response = match &mut this.state {
            State::Ready(response) => response.take().unwrap_or_default(),
            State::Coming(coming) => {
                let answered = catch_unwind(AssertUnwindSafe(|| coming.as_mut().poll(cx)));
                let response = match answered {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(response)) => response,
                    Err(panic) => excuse(&*panic, &this.stats, this.version),
                };
                // What the handler did not read is dropped with it.
                this.state = State::Ready(None);
                let (response, rest) = this.leaving(response);
                if let Some(rest) = rest {
                    this.state = State::Ending(Some(response), rest);
                    return self.poll(cx);
                }
                response
            }
            State::Ending(response, rest) => {
                let at_end = ready!(rest.poll(cx));
                let response = response.take().unwrap_or_default();
                if at_end { response } else { parting(response) }
            }
        };
        let in_flight = this.in_flight.take();
        Poll::Ready(Ok(response.map(|body| match in_flight {
            Some(in_flight) => body.held(in_flight),
            None => body,
        })))
    }
}

impl Answer {
    /// An answer as it goes out, and the rest of a body that is to be read before it does.
    fn leaving(&self, response: Response<Body>) -> (Response<Body>, Option<Rest>) {
        let unread = [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE];
        let left = self.left.lock().take();
        if self.version >= Version::HTTP_2 {
            return (response, None);
        }
        let goes = unread.contains(&response.status());
        match left.map(Rest::of) {
            Some(Ok(rest)) if !goes && !self.waits => (response, Some(rest)),
            None if !goes => (response, None),
            _ => (parting(response), None),
        }
    }
}

/// Says good-bye with an answer that leaves its request's body unread.
fn parting(mut response: Response<Body>) -> Response<Body> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
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
