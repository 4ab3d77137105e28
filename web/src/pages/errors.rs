//! What cannot go on. None of these pages leads to where the request wanted to go.

use base::clock::wall_time;
use base::{Fault, Refusal};
use edge::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use pages::{Compared, ErrorPage, Page, Wrong};

use super::{Front, Visit};
use crate::call::Call;
use crate::log::RequestId;
use crate::reply::Reply;

/// The page that says so.
pub(crate) fn page(
    call: &Call,
    visit: &Visit,
    wrong: Wrong,
    app: Option<String>,
) -> Result<Reply, Fault> {
    compared(call, visit, wrong, app, Vec::new())
}

/// The same, with how an address compares with those that an app has registered.
pub(super) fn compared(
    call: &Call,
    visit: &Visit,
    wrong: Wrong,
    app: Option<String>,
    compared: Vec<Compared>,
) -> Result<Reply, Fault> {
    let status = status(&wrong);
    let page = ErrorPage {
        frame: visit.frame(call),
        wrong,
        app,
        compared,
        reference: Some(call.head().id.as_str().to_owned()),
    };
    Ok(visit.page(call, &page)?.status(status))
}

/// The page for a refusal that no handler has put into words, with the status and the headers that
/// it was spoken with.
pub(crate) fn spoken(
    front: &Front,
    reply: Reply,
    refusal: &Refusal,
    wait: Option<i64>,
    id: &RequestId,
) -> Reply {
    let wait = wait.filter(|_| *refusal == Refusal::RateLimited);
    let wrong = match (refusal, wait) {
        (Refusal::RouteNotFound | Refusal::NotFound(_), _) => Wrong::NotFound,
        (Refusal::MethodNotAllowed { .. }, _) => Wrong::Method,
        (Refusal::RateLimited, Some(wait)) => Wrong::TooMany(wait),
        (Refusal::Unavailable, _) => Wrong::Busy,
        (other, _) => Wrong::Refused(crate::accents::detail(other).to_owned()),
    };
    let reply = match wait {
        Some(wait) => reply.header(RETRY_AFTER, HeaderValue::from(wait)),
        None => reply,
    };
    alone(front, reply, wrong, id)
}

/// The page for a failure of ours.
pub(crate) fn broken(front: &Front, reply: Reply, id: &RequestId) -> Reply {
    alone(front, reply, Wrong::Broken, id)
}

/// A page in the place of a plain one. Who is signed in is not asked: asking may be what failed.
fn alone(front: &Front, plain: Reply, wrong: Wrong, id: &RequestId) -> Reply {
    let page = ErrorPage {
        frame: front.frame(wall_time()),
        wrong,
        app: None,
        compared: Vec::new(),
        reference: Some(id.as_str().to_owned()),
    };
    match page.html() {
        Ok(html) => Reply {
            body: Body::full(html),
            ..plain
        },
        Err(_) => plain,
    }
}

const fn status(wrong: &Wrong) -> u16 {
    match wrong {
        Wrong::FormExpired | Wrong::Forbidden => 403,
        Wrong::TooMany(_) => 429,
        Wrong::NotFound => 404,
        Wrong::Method => 405,
        Wrong::Busy => 503,
        Wrong::Broken => 500,
        _ => 400,
    }
}
