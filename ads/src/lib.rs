//! The Ads API: each resource is declared once, and one engine serves them all.
//!
//! `declaration` defines the declarations, `operations` derives the operations from them, and `engine`
//! executes them.

pub mod access;
pub mod account_context;
pub mod account_roles;
pub mod analytics;
pub mod attribution;
pub mod audience_matching;
pub mod audience_members;
pub mod batch;
pub mod clicks;
pub mod config;
pub mod conversations;
pub mod cursor;
pub mod declaration;
pub mod dispatch;
pub mod eligibility;
pub mod emails;
pub mod engine;
pub mod evaluator;
pub mod field_kind;
pub mod gazetteer;
pub mod history;
pub mod ledger;
pub mod listing;
pub mod operations;
pub mod option_catalog;
pub mod output;
pub mod parsed_params;
pub mod post_preview;
pub mod publishing;
pub mod recommendations;
pub mod record;
pub mod record_change;
pub mod reference_lists;
pub mod request;
pub mod resources;
pub mod segments;
pub mod serving;
pub mod simulation;
pub mod size_disclosure;
pub mod time_zone;

pub use config::AdsConfig;
pub use dispatch::{AdsResponse, dispatch_request, record_indexes};
pub use operations::{AdsOperation, OperationAction, OperationParam, all_operations as operations};
pub use output::OperationOutput;
pub use request::{AdsCaller, AdsRequest};
