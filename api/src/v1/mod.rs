//! Operations of the v1.1 API that clients still call.

pub(crate) mod oembed;
pub(crate) mod rate_limits;
pub(crate) mod users;
