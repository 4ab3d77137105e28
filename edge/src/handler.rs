//! Request handling: the edge's own checks, the handler, and its panics.

use std::any::Any;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, CONNECTION, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;

use crate::admission::AdmissionControl;
use crate::body::Body;
use crate::body_drain::{BodyDrain, UnreadBody};
use crate::connection_state::{ConnectionState, InFlightRequest};
use crate::error_response::{problem_response, text_response};
use crate::headers::find_rare_header;
use crate::limits::ListenerLimits;
use crate::protocols::{ProxyDecision, ProxyPolicy};
use crate::stats::ListenerStats;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

pub trait Handler: Send + Sync + 'static {
    /// The future is dropped when the client disconnects. It is boxed, so that connections are compiled here and each
    /// handler in its own crate.
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>>;
}

impl<F, A> Handler for F
where
    F: Fn(Request<Body>) -> A + Send + Sync + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        Box::pin(self(request))
    }
}

/// Where a request came from; found in the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// `None` for a Unix socket.
    pub addr: Option<SocketAddr>,
    /// Whether it is a Unix socket or one of the trusted proxies, whose forwarding headers are believed.
    pub is_trusted: bool,
    /// The address of the peer, or the one that a trusted peer forwards the request for.
    pub client: Option<IpAddr>,
    /// Whether the request came over TLS to this listener.
    pub is_tls: bool,
}

impl Peer {
    /// A client that is not behind a proxy.
    pub fn direct(addr: SocketAddr) -> Self {
        Self { addr: Some(addr), is_trusted: false, client: Some(addr.ip()), is_tls: false }
    }
}

/// In the extensions of a response, resets the connection instead of sending it.
#[derive(Clone, Copy, Debug)]
pub struct ResetConnection;

/// A request that gets no response.
#[derive(Debug, thiserror::Error)]
#[error("the connection is reset instead of a response")]
pub(crate) struct ResponseWithheld;

pub(crate) struct ServiceContext {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) limits: ListenerLimits,
    pub(crate) stats: Arc<ListenerStats>,
    pub(crate) admission: Arc<AdmissionControl>,
    /// Counts the requests of clients on HTTP/2, which share connections.
    pub(crate) http2_admission: Arc<AdmissionControl>,
    pub(crate) proxy: Option<Arc<dyn ProxyPolicy>>,
}

impl ServiceContext {
    fn peer_of(&self, addr: Option<SocketAddr>, is_tls: bool, headers: &HeaderMap) -> Peer {
        let own = addr.map(|addr| addr.ip());
        let is_trusted = own.is_none_or(|own| self.limits.trusted_proxies.contains(&own));
        let client = if is_trusted { forwarded_address(headers, &self.limits.trusted_proxies).or(own) } else { own };
        Peer { addr, is_trusted, client, is_tls }
    }
}

impl ServiceContext {
    /// Why the proxy does not serve the host of a target in absolute form (RFC 9112 §3.2.2).
    fn host_refusal(&self, request: &Request<Incoming>) -> Option<String> {
        let proxy = self.proxy.as_ref().filter(|_| request.version() < Version::HTTP_2)?;
        let authority = request.uri().authority()?;
        match proxy.decide(&authority.host().to_ascii_lowercase(), authority.port_u16()) {
            ProxyDecision::Serve => None,
            ProxyDecision::PassThrough => Some("Only CONNECT requests are passed through.\n".to_owned()),
            ProxyDecision::Refuse(text) => Some(text),
        }
    }

    /// Counts what shows whether `trusted_proxies` names the proxies that there are.
    fn count_forwarding(&self, peer: &Peer, forwarded: Option<IpAddr>, headers: &HeaderMap) {
        let stats = &self.stats;
        match forwarded {
            Some(_) => stats.forwarded.increment(),
            None if peer.addr.is_none() => {}
            None if peer.is_trusted => stats.proxied_without_address.increment(),
            None if find_rare_header(headers, &X_FORWARDED_FOR).is_some() => stats.forwarding_ignored.increment(),
            None => {}
        }
    }
}

/// The last entry that is no trusted proxy's own address: each of them appends whom it was called by, and clients can
/// forge what is before.
fn forwarded_address(headers: &HeaderMap, trusted: &[IpAddr]) -> Option<IpAddr> {
    let mut first = None;
    for line in headers.get_all(X_FORWARDED_FOR).iter().rev() {
        for entry in line.to_str().ok()?.rsplit(',') {
            let Some(address) = parse_forwarded(entry.trim()) else { return first };
            first = Some(address);
            if !trusted.contains(&address) {
                return first;
            }
        }
    }
    first
}

/// An address, also with a port.
fn parse_forwarded(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    let address = bare.parse().ok().or_else(|| Some(entry.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

pub(crate) struct ConnectionService {
    pub(crate) context: Arc<ServiceContext>,
    pub(crate) state: Arc<ConnectionState>,
    pub(crate) peer_addr: Option<SocketAddr>,
    pub(crate) is_tls: bool,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<Body>;
    type Error = ResponseWithheld;
    type Future = RequestFuture;

    fn call(&self, request: Request<Incoming>) -> RequestFuture {
        let ServiceContext { handler, limits, stats, admission, http2_admission, .. } = &*self.context;
        stats.requests.increment();
        let peer = self.context.peer_of(self.peer_addr, self.is_tls, request.headers());
        let is_forwarded = |client: &IpAddr| peer.is_trusted && peer.addr.is_none_or(|addr| addr.ip() != *client);
        let forwarded = peer.client.filter(is_forwarded);
        let shares_connection = request.version() == Version::HTTP_2 && !peer.is_trusted;
        let address = match (forwarded, peer.client) {
            (Some(client), _) => Some(admission.try_admit_address(client)),
            (None, Some(client)) if shares_connection => Some(http2_admission.try_admit_address(client)),
            _ => None,
        };
        self.context.count_forwarding(&peer, forwarded, request.headers());
        let has_room = address.as_ref().is_none_or(Option::is_some);
        let (in_flight, is_consistent) = self.state.start_request(address.flatten());
        let version = request.version();
        let (unread_body, expects_continue) = (UnreadBody::default(), request.headers().contains_key(EXPECT));
        let state = if let Some(status) = request_rejection(&request, is_consistent, limits) {
            stats.bad_requests.increment();
            HandlerState::Ready(Some(problem_response(status, version, true)))
        } else if let Some(text) = self.context.host_refusal(&request) {
            stats.refused_hosts.increment();
            HandlerState::Ready(Some(text_response(StatusCode::FORBIDDEN, text)))
        } else if !has_room {
            HandlerState::Ready(Some(problem_response(StatusCode::SERVICE_UNAVAILABLE, version, false)))
        } else {
            let client = if peer.is_trusted { forwarded } else { peer.client };
            let memory = || admission.body_memory(client);
            let mut request = request.map(|body| Body::from_incoming(body, limits, stats, &unread_body, memory));
            request.extensions_mut().insert(peer);
            HandlerState::Running(handler.call(request))
        };
        RequestFuture {
            state,
            in_flight: Some(in_flight),
            stats: Arc::clone(stats),
            version,
            unread_body,
            expects_continue,
        }
    }
}

pub(crate) struct RequestFuture {
    state: HandlerState,
    in_flight: Option<InFlightRequest>,
    stats: Arc<ListenerStats>,
    version: Version,
    /// The rest of the request body that the handler did not read.
    unread_body: UnreadBody,
    /// The client waits for `100 Continue` before it sends its body.
    expects_continue: bool,
}

enum HandlerState {
    Ready(Option<Response<Body>>),
    Running(BoxFuture<'static, Response<Body>>),
    Draining(Option<Response<Body>>, BodyDrain),
}

impl Future for RequestFuture {
    type Output = Result<Response<Body>, ResponseWithheld>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let response = match &mut this.state {
            HandlerState::Ready(response) => response.take().unwrap_or_default(),
            HandlerState::Running(future) => {
                let outcome = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
                let response = match outcome {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(response)) => response,
                    Err(panic) => panic_response(&*panic, &this.stats, this.version),
                };
                // Drops what the handler did not read.
                this.state = HandlerState::Ready(None);
                let (response, rest) = this.finish_response(response);
                if let Some(rest) = rest {
                    this.state = HandlerState::Draining(Some(response), rest);
                    return self.poll(cx);
                }
                response
            }
            HandlerState::Draining(response, rest) => {
                let at_end = ready!(rest.poll(cx));
                let response = response.take().unwrap_or_default();
                if at_end { response } else { set_connection_close(response) }
            }
        };
        let in_flight = this.in_flight.take();
        if response.extensions().get::<ResetConnection>().is_some() {
            if let Some(in_flight) = &in_flight {
                in_flight.reset_at_end();
            }
            return Poll::Ready(Err(ResponseWithheld));
        }
        Poll::Ready(Ok(response.map(|body| match in_flight {
            Some(in_flight) => body.track_in_flight(in_flight),
            None => body,
        })))
    }
}

impl RequestFuture {
    /// The response, and the rest of the request body to drain before it is sent.
    fn finish_response(&self, response: Response<Body>) -> (Response<Body>, Option<BodyDrain>) {
        let closing = [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE];
        let unread = self.unread_body.lock().take();
        if self.version >= Version::HTTP_2 {
            return (response, None);
        }
        let closes = closing.contains(&response.status());
        match unread.map(BodyDrain::from_incoming) {
            Some(Ok(rest)) if !closes && !self.expects_continue => (response, Some(rest)),
            None if !closes => (response, None),
            _ => (set_connection_close(response), None),
        }
    }
}

fn set_connection_close(mut response: Response<Body>) -> Response<Body> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

fn request_rejection(request: &Request<Incoming>, is_consistent: bool, limits: &ListenerLimits) -> Option<StatusCode> {
    let (uri, headers) = (request.uri(), request.headers());
    let mut hosts = headers.get_all(HOST).iter();
    let has_host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_host(host.as_bytes()),
        (None, _) => match request.version() {
            Version::HTTP_11 => false,
            Version::HTTP_2 => uri.authority().is_some(),
            _ => true,
        },
        _ => false,
    };
    // Which of two would be meant?
    let is_ambiguous = headers.len() > headers.keys_len() && headers.get_all(AUTHORIZATION).iter().nth(1).is_some();
    let target = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if !is_consistent || !has_host || is_ambiguous {
        Some(StatusCode::BAD_REQUEST)
    } else if target > limits.max_uri {
        Some(StatusCode::URI_TOO_LONG)
    } else if headers.len() > limits.max_headers {
        Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
    } else {
        None
    }
}

/// A host and an optional port, or nothing (RFC 9112 §3.2).
pub(crate) fn is_host(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| *byte == b':').filter(|_| !value.ends_with(b"]"));
    let (host, port) = value.split_at_checked(end.unwrap_or(value.len())).unwrap_or((value, &[]));
    let is_address = host.starts_with(b"[") && host.ends_with(b"]");
    let is_plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' | b'_');
    port.iter().skip(1).all(u8::is_ascii_digit)
        && host.iter().all(|byte| is_plain(byte) || is_address && b"[]:%".contains(byte))
}

fn panic_response(panic: &(dyn Any + Send), stats: &ListenerStats, version: Version) -> Response<Body> {
    stats.panics.increment();
    let message = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = message.unwrap_or("?"), "a handler panicked");
    problem_response(StatusCode::INTERNAL_SERVER_ERROR, version, false)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use http::header::{HeaderMap, HeaderValue};

    use super::{X_FORWARDED_FOR, forwarded_address};

    #[test]
    fn client_is_the_last_address_that_is_no_trusted_proxy() {
        let trusted: [IpAddr; 2] = ["127.0.0.1".parse().unwrap(), "203.0.113.50".parse().unwrap()];
        for (lines, client) in [
            (&["198.51.100.7"][..], Some("198.51.100.7")),
            (&["198.51.100.7, 203.0.113.50"], Some("198.51.100.7")),
            (&["198.51.100.7", "203.0.113.50"], Some("198.51.100.7")),
            (&["192.0.2.1, 198.51.100.7:1234"], Some("198.51.100.7")),
            (&["[2001:db8::1]:80"], Some("2001:db8::1")),
            (&["[2001:db8::1]"], Some("2001:db8::1")),
            (&["127.0.0.1"], Some("127.0.0.1")),
            (&["198.51.100.7, unknown"], None),
            (&["198.51.100.7, unknown, 203.0.113.50"], Some("203.0.113.50")),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(X_FORWARDED_FOR, HeaderValue::from_static(line));
            }
            let expected = client.map(|client| client.parse().unwrap());
            assert_eq!(forwarded_address(&headers, &trusted), expected, "{lines:?}");
        }
    }
}
