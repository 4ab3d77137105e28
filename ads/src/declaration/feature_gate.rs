//! What an account needs a feature for.

/// Something that is open to accounts with a feature only: what it stands at, or some values of
/// that.
#[derive(Clone, Copy, Debug)]
pub struct FeatureGate {
    /// The feature that opens it.
    pub feature: &'static str,
    /// The values of the field that need it; empty: any.
    pub values: &'static [&'static str],
    /// The field, and its value, beside which alone it is needed.
    pub condition: Option<(&'static str, &'static str)>,
    /// Whether every account is held to it, not those alone that are held to their features.
    pub applies_to_all_accounts: bool,
}

impl FeatureGate {
    /// One that a feature opens.
    pub const fn new(feature: &'static str) -> Self {
        Self {
            feature,
            values: &[],
            condition: None,
            applies_to_all_accounts: false,
        }
    }

    /// Stands at these values only.
    #[must_use]
    pub const fn for_values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    /// Stands there only where another field has this value.
    #[must_use]
    pub const fn only_if_field(self, field: &'static str, value: &'static str) -> Self {
        Self {
            condition: Some((field, value)),
            ..self
        }
    }

    /// Every account is held to it.
    #[must_use]
    pub const fn applies_always(self) -> Self {
        Self {
            applies_to_all_accounts: true,
            ..self
        }
    }
}
