//! The Ads API.

mod generated;
mod serving;

pub(super) use generated::generate_endpoints;
pub use serving::SERVING;
