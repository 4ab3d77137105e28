use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;

pub struct FaultRuleItem {
    pub id: String,
    pub effect: &'static str,
    /// What the effect does.
    pub summary: &'static str,
    /// Parameters and conditions, as `name: value`.
    pub details: Vec<String>,
    pub matched: u64,
    pub applied: u64,
    pub has_ended: bool,
}

pub struct FaultEffectItem {
    pub name: &'static str,
    pub summary: &'static str,
    /// The names of its parameters; required ones first.
    pub parameters: Vec<&'static str>,
}

/// The effects that apply to requests, streams or webhooks.
pub struct FaultEffectGroup {
    pub scope: &'static str,
    pub effects: Vec<FaultEffectItem>,
}

pub struct FaultInput {
    pub name: &'static str,
    pub help: String,
    pub typed: FormField,
}

impl FaultInput {
    fn is_filled(&self) -> bool {
        !self.typed.value.is_empty() || self.typed.error.is_some()
    }
}

/// Forms send `do` (`add`, `remove` or `clear`): with `add` the fields by their names, with `remove` the `rule`.
#[derive(Template)]
#[template(path = "console/faults.html")]
pub struct FaultsPage {
    pub frame: PageFrame,
    /// In the order in which they are compared.
    pub rules: Vec<FaultRuleItem>,
    pub groups: Vec<FaultEffectGroup>,
    /// The effect that was chosen.
    pub effect: FormField,
    pub conditions: Vec<FaultInput>,
    pub parameters: Vec<FaultInput>,
}

impl FaultsPage {
    const SECTION: &'static str = "Faults";

    fn is_chosen(&self, effect: &str) -> bool {
        self.effect.value == effect
    }

    fn shows_conditions(&self) -> bool {
        self.conditions.iter().any(FaultInput::is_filled)
    }

    fn shows_parameters(&self) -> bool {
        self.parameters.iter().any(FaultInput::is_filled)
    }
}

html_page!(FaultsPage, |_| "Faults".to_owned(), |page| {
    let inputs = page.parameters.iter().chain(&page.conditions).map(|input| (input.name, &input.typed));
    [("effect", &page.effect)].into_iter().chain(inputs).collect()
});
