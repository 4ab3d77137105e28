//! Feature gates: what an account needs a feature for.

/// Restricts an operation, a resource, a field or some of its values to accounts with a feature.
#[derive(Clone, Copy, Debug)]
pub struct FeatureGate {
    pub feature: &'static str,
    /// The values that require the feature; empty for any value.
    pub values: &'static [&'static str],
    /// Another field and its value; the gate applies only together with it.
    pub condition: Option<(&'static str, &'static str)>,
    /// Whether the gate applies in lenient mode, too.
    pub applies_to_all_accounts: bool,
}

impl FeatureGate {
    pub const fn new(feature: &'static str) -> Self {
        Self { feature, values: &[], condition: None, applies_to_all_accounts: false }
    }

    #[must_use]
    pub const fn for_values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    #[must_use]
    pub const fn only_if_field(self, field: &'static str, value: &'static str) -> Self {
        Self { condition: Some((field, value)), ..self }
    }

    #[must_use]
    pub const fn applies_always(self) -> Self {
        Self { applies_to_all_accounts: true, ..self }
    }
}
