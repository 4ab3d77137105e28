//! Form fields and their errors.

use std::borrow::Cow;

#[derive(Clone, Default)]
pub struct FormField {
    /// Never rendered for passwords.
    pub value: String,
    /// Why the value was refused, as a sentence.
    pub error: Option<String>,
}

impl FormField {
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), error: None }
    }

    pub fn invalid(value: impl Into<String>, error: impl Into<String>) -> Self {
        Self { value: value.into(), error: Some(error.into()) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormProblem {
    /// ID of the field to link to.
    pub field: Cow<'static, str>,
    pub text: String,
}

pub(crate) fn collect_problems(fields: &[(&'static str, &FormField)]) -> Vec<FormProblem> {
    fields
        .iter()
        .filter_map(|(field, typed)| typed.error.clone().map(|text| FormProblem { field: Cow::Borrowed(*field), text }))
        .collect()
}
