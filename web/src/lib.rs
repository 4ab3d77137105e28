//! The HTTP layer: declarations of all operations, the pipeline that serves them, and error formats.

pub mod access_log;
mod ads;
pub mod body;
pub mod control;
pub mod cors;
pub mod endpoint;
pub mod error_formats;
pub mod health;
pub mod limits;
pub mod metrics;
mod oauth;
pub mod openapi;
pub mod operations;
pub mod page_context;
mod pages;
pub mod pagination;
pub mod params;
pub mod pipeline;
mod portal;
pub mod reply;
pub mod request_context;
pub mod router;
pub mod security_headers;
pub mod uploads;
mod v2;
pub mod vocabulary;

pub use pipeline::{ApiServer, ServerConfig};
pub use reply::HttpReply;
pub use request_context::RequestContext;
