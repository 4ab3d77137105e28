//! What was typed into a form, and what is wrong with it.

/// One field of a form that is shown again.
#[derive(Clone, Default)]
pub struct Field {
    /// What stands in it. A password is never written back into the page.
    pub value: String,
    /// Why it was refused, as a sentence.
    pub error: Option<String>,
}

impl Field {
    /// A field that holds a value.
    pub fn of(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            error: None,
        }
    }

    /// A field whose value was refused.
    pub fn refused(value: impl Into<String>, error: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            error: Some(error.into()),
        }
    }
}

/// A line of the summary at the top of a refused form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The id of the field that it leads to.
    pub field: &'static str,
    /// What is wrong.
    pub text: String,
}

/// The problems of fields named by their ids, in the order given.
pub(crate) fn problems(fields: &[(&'static str, &Field)]) -> Vec<Problem> {
    fields
        .iter()
        .filter_map(|(field, typed)| typed.error.clone().map(|text| Problem { field, text }))
        .collect()
}
