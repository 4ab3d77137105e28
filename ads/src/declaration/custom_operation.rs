//! Operations that are written by hand, and lists that are the same for everyone.

use base::Error;
use serde_json::Value;

use super::{AdsRateClass, FeatureGate, FieldSpec, InputFormat};
use crate::access::RequiredRole;
use crate::account_context::AccountContext;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;

/// An operation that is written by hand.
#[derive(Debug)]
pub struct CustomOperation {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path below the account, or from the version on where it begins with a slash.
    pub path: &'static str,
    /// Other paths that lead to it.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The version in its path: 12, or 5.
    pub version: &'static str,
    /// Who may do it.
    pub required_role: RequiredRole,
    /// Whether it exists in the sandbox only.
    pub sandbox_only: bool,
    /// How its parameters are sent.
    pub input_format: InputFormat,
    /// Its parameters, those of its path beyond the account included.
    pub params: &'static [FieldSpec],
    /// Whether it changes anything.
    pub is_write: bool,
    /// How often it may be called.
    pub rate_class: AdsRateClass,
    /// Whether it looks into the index of posts.
    pub uses_search: bool,
    /// The largest body it takes; 0: as large as usual.
    pub body_limit: usize,
    /// The feature that an account needs for it.
    pub feature_gate: Option<FeatureGate>,
    /// Does it.
    pub handler: fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<OperationOutput, Error>,
}

/// A list that is the same for everyone, from data that is built in.
#[derive(Debug)]
pub struct ReferenceList {
    /// Its name in the OpenAPI document.
    pub id: &'static str,
    /// The path from the version on.
    pub path: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// By what it may be filtered: the parameter and the member that must be equal.
    pub filters: &'static [(FieldSpec, &'static str)],
    /// The data: a JSON array.
    pub rows: fn() -> Vec<Value>,
    /// Whether it comes in pages.
    pub page_size: Option<(i64, i64)>,
    /// Whether the parameter `q` finds names, and how.
    pub searches_names: bool,
    /// Whether `total_count` is always there.
    pub always_counts: bool,
    /// The older `data_type` member, or empty.
    pub data_type: &'static str,
    /// How often it may be called.
    pub rate_class: AdsRateClass,
}

impl ReferenceList {
    /// What most of them are.
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
    /// A read of a member of the account.
    pub const fn get(
        id: &'static str,
        path: &'static str,
        summary: &'static str,
        handler: fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<OperationOutput, Error>,
    ) -> Self {
        Self {
            id,
            method: "GET",
            path,
            aliases: &[],
            summary,
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

    /// A change.
    pub const fn mutation(
        method: &'static str,
        id: &'static str,
        path: &'static str,
        about: &'static str,
        act: fn(&mut AccountContext<'_, '_>, &ParsedParams) -> Result<OperationOutput, Error>,
    ) -> Self {
        Self {
            method,
            is_write: true,
            required_role: RequiredRole::Admin,
            rate_class: AdsRateClass::PerMinute(450),
            ..Self::get(id, path, about, act)
        }
    }

    /// Is asked by a POST, and changes nothing.
    #[must_use]
    pub const fn read_by_post(self) -> Self {
        Self {
            method: "POST",
            rate_class: AdsRateClass::PerMinute(450),
            ..self
        }
    }

    /// Is for these people.
    #[must_use]
    pub const fn requires_role(self, who: RequiredRole) -> Self {
        Self {
            required_role: who,
            ..self
        }
    }

    /// Takes these parameters.
    #[must_use]
    pub const fn params(self, params: &'static [FieldSpec]) -> Self {
        Self { params, ..self }
    }

    /// Exists in the sandbox only.
    #[must_use]
    pub const fn sandbox_only(self) -> Self {
        Self {
            sandbox_only: true,
            ..self
        }
    }

    /// Is found under these paths too.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Takes a JSON object.
    #[must_use]
    pub const fn takes_json(self) -> Self {
        Self {
            input_format: InputFormat::Json,
            ..self
        }
    }

    /// Takes bodies of so many bytes.
    #[must_use]
    pub const fn body_limit(self, body: usize) -> Self {
        Self {
            body_limit: body,
            ..self
        }
    }

    /// May be called that often.
    #[must_use]
    pub const fn rate_limited(self, often: AdsRateClass) -> Self {
        Self {
            rate_class: often,
            ..self
        }
    }

    /// Looks into the index of posts, which is waited for.
    #[must_use]
    pub const fn uses_search(self) -> Self {
        Self {
            uses_search: true,
            ..self
        }
    }

    /// Is for accounts with a feature.
    #[must_use]
    pub const fn requires_feature(self, gate: FeatureGate) -> Self {
        Self {
            feature_gate: Some(gate),
            ..self
        }
    }

    /// Is of this version.
    #[must_use]
    pub const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }
}
