//! What ads reach, cost and achieve: targeting, auction, ledger, statistics and recommendations; and all
//! operations of the Ads API, derived from the declarations.

pub mod analytics;
pub mod attribution;
pub mod audience_matching;
pub mod clicks;
pub mod conversations;
pub mod conversions;
pub mod eligibility;
pub mod emails;
pub mod evaluator;
pub mod ledger;
mod operations;
pub mod recommendations;
pub mod serving;
pub mod simulation;
pub mod size_disclosure;
pub mod web_events;

pub use operations::{all_operations as operations, find_operation, record_indexes};
