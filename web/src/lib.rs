//! The HTTP layer: how operations are declared, the pipeline that serves them, and error formats.
//!
//! Large futures that other crates await are boxed, so that they are compiled here and not in each of those.

pub mod access_log;
pub mod basic_auth;
pub mod body;
pub mod control;
pub mod cors;
mod emulated_sites;
pub mod endpoint;
pub mod error_formats;
pub mod health;
pub mod limits;
pub mod media_files;
pub mod metrics;
pub mod openapi;
pub mod page_context;
pub mod pagination;
pub mod params;
pub mod pipeline;
pub mod reply;
pub mod request_context;
pub mod router;
pub mod security_headers;
mod site_links;
pub mod uploads;
pub mod vocabulary;
pub mod webhooks;

pub use emulated_sites::EmulatedSites;
pub use pipeline::{ApiServer, PublicOrigin, ServerConfig};
pub use reply::HttpReply;
pub use request_context::RequestContext;
pub use site_links::WorldAddress;
