//! What all pages look like.

use http::header::{CACHE_CONTROL, HeaderValue};

use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// Its path changes with its content.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The stylesheet.
pub(crate) fn sheet(_call: Call) -> Pending {
    served("text/css; charset=utf-8", pages::STYLE)
}

/// The mark.
pub(crate) fn mark(_call: Call) -> Pending {
    served("image/svg+xml", pages::MARK)
}

/// The script of the page that shows a stream.
pub(crate) fn script(_call: Call) -> Pending {
    served("text/javascript; charset=utf-8", pages::SCRIPT)
}

fn served(kind: &'static str, text: &'static str) -> Pending {
    let reply = Reply::bytes(200, HeaderValue::from_static(kind), text);
    Box::pin(async move { Ok(reply.header(CACHE_CONTROL, FOR_EVER)) })
}
