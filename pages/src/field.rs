//! What was typed into a form, and what is wrong with it.

/// One field of a form that is shown again.
#[derive(Clone, Default)]
pub struct FormField {
    /// What stands in it. A password is never written back into the page.
    pub value: String,
    /// Why it was refused, as a sentence.
    pub error: Option<String>,
}

impl FormField {
    /// A field that holds a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            error: None,
        }
    }

    /// A field whose value was refused.
    pub fn invalid(value: impl Into<String>, error: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            error: Some(error.into()),
        }
    }
}

/// A line of the summary at the top of a refused form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormProblem {
    /// The id of the field that it leads to.
    pub field: &'static str,
    /// What is wrong.
    pub text: String,
}

/// The problems of fields named by their ids, in the order given.
pub(crate) fn collect_problems(fields: &[(&'static str, &FormField)]) -> Vec<FormProblem> {
    fields
        .iter()
        .filter_map(|(field, typed)| typed.error.clone().map(|text| FormProblem { field, text }))
        .collect()
}
