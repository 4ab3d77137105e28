//! The engine of the Ads API: each resource is declared once, and one engine serves them all.
//!
//! `declaration` defines the declarations, `operations` derives the operations from them, and `engine`
//! executes them.

pub mod access;
pub mod account_context;
pub mod batch;
pub mod config;
pub mod cursor;
pub mod declaration;
pub mod dispatch;
pub mod engine;
pub mod feature_gates;
pub mod field_kind;
pub mod history;
pub mod listing;
pub mod operations;
pub mod output;
pub mod parsed_params;
pub mod record;
pub mod record_change;
pub mod reference_lists;
pub mod request;
pub mod time_zone;

pub use config::AdsConfig;
pub use dispatch::{AdsResponse, dispatch_request};
pub use operations::{AdsOperation, OperationAction, OperationParam};
pub use output::OperationOutput;
pub use request::{AdsCaller, AdsRequest};
