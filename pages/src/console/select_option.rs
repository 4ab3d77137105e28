//! Lists from which a form takes one value.

use askama::Template;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOption {
    pub value: String,
    pub label: String,
    pub selected: bool,
}

impl SelectOption {
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), selected: false }
    }

    #[must_use]
    pub fn select_value(self, chosen: &str) -> Self {
        Self { selected: self.value == chosen, ..self }
    }
}

/// Options whose labels are their values.
pub fn word_options(words: &[&str], chosen: &str) -> Vec<SelectOption> {
    words.iter().map(|word| SelectOption::new(*word, *word).select_value(chosen)).collect()
}

#[derive(Template)]
#[template(path = "console/select.html")]
pub(crate) struct LabeledSelect<'page> {
    pub(crate) id: &'page str,
    pub(crate) label: &'page str,
    pub(crate) choices: &'page [SelectOption],
}
