//! The interface's description of itself.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::call::Call;
use crate::endpoint::Pending;
use crate::{openapi, operations};

/// What is built, written once: it does not change while the process lives.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| {
    openapi::document(&operations::ENDPOINTS, false)
        .to_string()
        .into()
});

/// The same of the advertising interface.
static ADVERTISING: LazyLock<Bytes> = LazyLock::new(|| {
    openapi::advertising(&operations::ENDPOINTS)
        .to_string()
        .into()
});

/// `GET /12/openapi.json`.
pub(crate) fn advertising(call: Call) -> Pending {
    Box::pin(async move { call.say_bytes(ADVERTISING.clone()) })
}

/// `GET /2/openapi.json`.
pub(crate) fn document(call: Call) -> Pending {
    Box::pin(async move { call.say_bytes(DOCUMENT.clone()) })
}
