//! The Ads API.

mod generated;
mod mcp;
mod serving;

pub(super) use generated::generate_endpoints;
pub use mcp::MCP;
pub use serving::SERVING;
