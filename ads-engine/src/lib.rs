//! The engine of the Ads API: each resource is declared once, and one engine serves them all.
//!
//! `declaration` defines the declarations, `operations` derives the operations from them, and `engine`
//! executes them.

pub mod access;
pub mod account_context;
pub mod batch;
mod config;
pub mod cursor;
mod declaration;
pub mod dispatch;
pub mod engine;
pub mod feature_gates;
pub mod field_kind;
pub mod history;
pub mod listing;
pub mod operations;
mod output;
mod parsed_params;
mod record;
mod record_change;
mod record_view;
pub mod reference_lists;
mod request;

pub use access::{AdsRole, RequiredRole, is_role_not_allowed, role_not_allowed};
pub use account_context::{AccountContext, BatchState, OpenAccount, SHARED_ACCOUNT_ID};
pub use base::AccountTimeZone;
pub use config::{AdsConfig, CURRENCIES, CurrencyRates, RATE_ONE};
pub use declaration::*;
pub use dispatch::{AdsResponse, dispatch_request};
pub use field_kind::{AnyAccountId, CardUriText, JsonShape, MediaKeyText, parse_record_id, parse_value};
pub use operations::{AdsOperation, OperationAction};
pub use output::{OperationData, OperationOutput};
pub use parsed_params::ParsedParams;
pub use record::AdsRecord;
pub use record_change::RecordChange;
pub use record_view::RecordView;
pub use request::{AdsCaller, AdsRequest, CONSOLE_APP_ID, SharedEvaluator, find_params_vocabulary};
pub use schema::{
    CustomKind, DefaultValue, FieldRequirement, IdFormat, Kind, Parameter, ParameterLocation, RawParam, ValueKind,
    ViolationKind,
};
