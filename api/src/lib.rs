//! The HTTP API: declarations and handlers of the v2, v1.1, OAuth and Ads operations.

mod ads;
mod oauth;
pub mod operations;
mod v1;
mod v2;

pub use operations::ENDPOINTS;

#[cfg(test)]
mod tests;
