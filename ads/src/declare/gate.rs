//! What an account needs a feature for.

/// Something that is open to accounts with a feature only: what it stands at, or some values of
/// that.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The feature that opens it.
    pub feature: &'static str,
    /// The values of the field that need it; empty: any.
    pub values: &'static [&'static str],
    /// The field, and its value, beside which alone it is needed.
    pub beside: Option<(&'static str, &'static str)>,
    /// Whether every account is held to it, not those alone that are held to their features.
    pub always: bool,
}

impl Gate {
    /// One that a feature opens.
    pub const fn new(feature: &'static str) -> Self {
        Self {
            feature,
            values: &[],
            beside: None,
            always: false,
        }
    }

    /// Stands at these values only.
    #[must_use]
    pub const fn of(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    /// Stands there only where another field has this value.
    #[must_use]
    pub const fn beside(self, field: &'static str, value: &'static str) -> Self {
        Self {
            beside: Some((field, value)),
            ..self
        }
    }

    /// Every account is held to it.
    #[must_use]
    pub const fn always(self) -> Self {
        Self {
            always: true,
            ..self
        }
    }
}
