//! HTTP: every operation declared once, one pipeline that all of them run through, and the
//! dialects that refusals are spoken in.

pub mod accents;
mod ads;
pub mod body;
pub mod call;
pub mod control;
pub mod cors;
pub mod endpoint;
pub mod health;
pub mod limits;
pub mod log;
pub mod metrics;
mod oauth;
pub mod openapi;
pub mod operations;
pub mod page;
mod pages;
pub mod params;
pub mod pipeline;
mod portal;
pub mod reply;
pub mod router;
pub mod speech;
pub mod uploads;
mod v2;

pub use call::Call;
pub use pipeline::{Config, Server};
pub use reply::Reply;
