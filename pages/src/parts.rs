//! Small components. Templates of their own, because the body of a macro is compiled for each of its calls.

use askama::Template;

use crate::FormField;

/// A form field with its label, its help and its error.
#[derive(Template)]
#[template(path = "parts/field.html")]
pub(crate) struct LabeledField<'page> {
    pub(crate) id: &'page str,
    pub(crate) label: &'page str,
    pub(crate) typed: &'page FormField,
    pub(crate) help: &'page str,
    pub(crate) control: &'page FieldControl<'page>,
    /// HTML.
    pub(crate) attributes: &'page str,
}

pub(crate) enum FieldControl<'page> {
    Input { kind: &'page str },
    TextArea { rows: &'page str, kind: &'page str },
}
