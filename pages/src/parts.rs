//! Small components. Templates of their own, because the body of a macro is compiled for each of its calls.

use askama::Template;
use base::Time;

use crate::{FormField, Pager, UsageWindow, ZonedTime};

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

/// A radio button or checkbox with an explanation.
#[derive(Template)]
#[template(path = "parts/choice.html")]
pub(crate) struct ExplainedChoice<'page> {
    pub(crate) kind: &'page str,
    pub(crate) id: &'page str,
    pub(crate) name: &'page str,
    pub(crate) value: &'page str,
    pub(crate) label: &'page str,
    pub(crate) hint: &'page str,
    pub(crate) is_checked: &'page bool,
}

#[derive(Template)]
#[template(path = "parts/button.html")]
pub(crate) struct SubmitButton<'page> {
    pub(crate) label: &'page str,
    pub(crate) kind: &'page str,
    /// Empty for a button that sends nothing of its own.
    pub(crate) name: &'page str,
    pub(crate) value: &'page str,
}

#[derive(Template)]
#[template(path = "parts/link_button.html")]
pub(crate) struct LinkButton<'page> {
    pub(crate) label: &'page str,
    pub(crate) href: &'page str,
    pub(crate) kind: &'page str,
}

#[derive(Template)]
#[template(path = "parts/pager.html")]
pub(crate) struct PagerLinks<'page> {
    pub(crate) pager: &'page Pager,
}

#[derive(Template)]
#[template(path = "parts/when.html")]
pub(crate) struct RelativeTime<'page> {
    pub(crate) at: &'page Time,
    pub(crate) now: &'page ZonedTime,
}

#[derive(Template)]
#[template(path = "parts/limit_table.html")]
pub(crate) struct LimitTable<'page> {
    pub(crate) windows: &'page [UsageWindow],
    pub(crate) caption: &'page str,
    pub(crate) now: &'page ZonedTime,
}
