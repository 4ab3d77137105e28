//! All operations of the server.

pub(crate) mod coverage;

use std::sync::LazyLock;

use web::endpoint::Endpoint;

pub(crate) static ENDPOINTS: LazyLock<Vec<&'static [Endpoint]>> = LazyLock::new(|| {
    [api::ENDPOINTS.as_slice(), portal::ENDPOINTS, members::ENDPOINTS, moderation::ENDPOINTS].concat()
});

#[cfg(test)]
mod tests;
