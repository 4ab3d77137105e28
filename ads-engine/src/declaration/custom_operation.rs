//! Declarations of custom operations and reference lists.

use base::Error;
use serde_json::Value;

use super::{AdsRateClass, FeatureGate, FieldSpec, InputFormat};
use crate::access::RequiredRole;
use crate::account_context::AccountContext;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;

#[derive(Debug)]
pub struct CustomOperation {
    pub id: &'static str,
    pub method: &'static str,
    /// The path below the account, or from the version on if it begins with a slash.
    pub path: &'static str,
    /// Alternative paths.
    pub aliases: &'static [&'static str],
    pub summary: &'static str,
    /// The API version in the path: 12, or 5.
    pub version: &'static str,
    pub required_role: RequiredRole,
    pub sandbox_only: bool,
    pub input_format: InputFormat,
    /// The parameters, including path parameters other than the account.
    pub params: &'static [FieldSpec],
    pub is_write: bool,
    pub rate_class: AdsRateClass,
    /// Whether the operation needs the search index.
    pub uses_search: bool,
    /// The maximum body size in bytes; 0 for the default.
    pub body_limit: usize,
    pub feature_gate: Option<FeatureGate>,
    pub handler: OperationHandler,
}

pub type OperationHandler = fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<OperationOutput, Error>;

/// A list of built-in data shared by all accounts.
#[derive(Debug)]
pub struct ReferenceList {
    pub id: &'static str,
    /// The path from the version on.
    pub path: &'static str,
    pub summary: &'static str,
    /// A parameter, and the member that must equal it.
    pub filters: &'static [(FieldSpec, &'static str)],
    pub rows: fn() -> Vec<Value>,
    /// The default and maximum page size; `None` if the list is not paginated.
    pub page_size: Option<(i64, i64)>,
    /// Whether the parameter `q` searches names.
    pub searches_names: bool,
    pub always_counts: bool,
    /// The legacy `data_type` member; empty if there is none.
    pub data_type: &'static str,
    pub rate_class: AdsRateClass,
}

impl ReferenceList {
    pub const DEFAULT: Self = Self {
        id: "",
        path: "",
        summary: "",
        filters: &[],
        rows: Vec::new,
        page_size: None,
        searches_names: false,
        always_counts: false,
        data_type: "",
        rate_class: AdsRateClass::Low,
    };
}

impl CustomOperation {
    /// A read operation for members of the account.
    pub const fn get(id: &'static str, path: &'static str, handler: OperationHandler) -> Self {
        Self {
            id,
            method: "GET",
            path,
            aliases: &[],
            summary: "",
            version: "12",
            required_role: RequiredRole::Member,
            sandbox_only: false,
            input_format: InputFormat::Params,
            params: &[],
            is_write: false,
            rate_class: AdsRateClass::Standard,
            uses_search: false,
            body_limit: 0,
            feature_gate: None,
            handler,
        }
    }

    /// A write operation for administrators of the account, as `put` and `delete` are.
    pub const fn post(id: &'static str, path: &'static str, handler: OperationHandler) -> Self {
        Self::mutation("POST", Self::get(id, path, handler))
    }

    pub const fn put(id: &'static str, path: &'static str, handler: OperationHandler) -> Self {
        Self::mutation("PUT", Self::get(id, path, handler))
    }

    pub const fn delete(id: &'static str, path: &'static str, handler: OperationHandler) -> Self {
        Self::mutation("DELETE", Self::get(id, path, handler))
    }

    const fn mutation(method: &'static str, operation: Self) -> Self {
        Self {
            method,
            is_write: true,
            required_role: RequiredRole::Admin,
            rate_class: AdsRateClass::PerMinute(450),
            ..operation
        }
    }

    #[must_use]
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// A read operation that uses POST.
    #[must_use]
    pub const fn read_by_post(self) -> Self {
        Self { method: "POST", rate_class: AdsRateClass::PerMinute(450), ..self }
    }

    #[must_use]
    pub const fn requires_role(self, required_role: RequiredRole) -> Self {
        Self { required_role, ..self }
    }

    #[must_use]
    pub const fn params(self, params: &'static [FieldSpec]) -> Self {
        Self { params, ..self }
    }

    #[must_use]
    pub const fn sandbox_only(self) -> Self {
        Self { sandbox_only: true, ..self }
    }

    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    #[must_use]
    pub const fn takes_json(self) -> Self {
        Self { input_format: InputFormat::Json, ..self }
    }

    /// Sets the maximum body size in bytes.
    #[must_use]
    pub const fn body_limit(self, body: usize) -> Self {
        Self { body_limit: body, ..self }
    }

    #[must_use]
    pub const fn rate_limited(self, rate_class: AdsRateClass) -> Self {
        Self { rate_class, ..self }
    }

    /// Marks the operation as using the search index; callers wait for it to catch up.
    #[must_use]
    pub const fn uses_search(self) -> Self {
        Self { uses_search: true, ..self }
    }

    #[must_use]
    pub const fn requires_feature(self, gate: FeatureGate) -> Self {
        Self { feature_gate: Some(gate), ..self }
    }

    #[must_use]
    pub const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }
}
