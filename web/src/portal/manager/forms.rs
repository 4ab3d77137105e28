//! Forms of the Ads Manager: what they ask for, and what they send to the engine.

use ads::access::RequiredRole;
use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::FormField;
use pages::manager::{AdsManagerPage, FormBlock, FormInput, FormInputKind, NavLink, PageBlock};
use serde_json::Value;
use store::Tx;

use super::labels;
use super::request::ManagerAccount;
use super::route::SubmittedFields;

/// What a form does where that is more than to send what was typed.
pub(super) type FormHandler =
    fn(&mut Tx<'_>, &ManagerAccount, &FormDefinition, &SubmittedFields) -> Result<Value, Error>;

/// Where one is led when a form was taken.
pub(super) enum FormRedirect {
    /// There.
    Path(String),
    /// To what was made, below this.
    Created(String),
}

impl FormRedirect {
    /// The path, once it is known what was answered.
    pub(super) fn resolve_path(&self, answer: &Value) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Created(path) => {
                let id = answer.pointer("/data/id").and_then(Value::as_str);
                format!("{path}/{}", id.unwrap_or_default())
            }
        }
    }
}

/// A form, and the operation that it sends to.
pub(super) struct FormDefinition {
    /// What it does.
    pub(super) heading: String,
    /// What there is to know before.
    pub(super) lead: String,
    /// What it is below.
    pub(super) trail: Vec<NavLink>,
    /// The method of the operation.
    pub(super) method: &'static str,
    /// Its path below the account.
    pub(super) path: &'static str,
    /// The ids in that path.
    pub(super) ids: Vec<String>,
    /// What is sent whatever is typed.
    pub(super) fixed_params: Vec<(&'static str, String)>,
    /// What is asked for.
    pub(super) fields: Vec<FormFieldSpec>,
    /// What its button says; empty where a button elsewhere sends it.
    pub(super) submit: &'static str,
    /// Whether it takes something away.
    pub(super) is_dangerous: bool,
    /// Where the form posts to.
    pub(super) action: String,
    /// Where one goes who does not want to.
    pub(super) back_path: String,
    /// Where one is led then.
    pub(super) redirect: FormRedirect,
    /// What was done then.
    pub(super) done_code: &'static str,
    /// How that is done; none: what was typed is sent to the operation.
    pub(super) handler: Option<FormHandler>,
    /// Who may; none: whoever may do the operation.
    pub(super) required_access: Option<RequiredRole>,
    /// What stands above the form.
    pub(super) leading_blocks: Vec<PageBlock>,
}

/// Something that is asked for.
pub(super) struct FormFieldSpec {
    pub(super) name: &'static str,
    label: String,
    help: &'static str,
    kind: FormFieldKind,
    /// What stands in it at first.
    initial_value: String,
    field: FormField,
    is_advanced: bool,
    /// The parameter that it is sent as; empty where something else makes use of it.
    parameter: &'static str,
    /// Further names that refusals have for it.
    error_aliases: &'static [&'static str],
}

enum FormFieldKind {
    Text,
    Area,
    Amount,
    Timestamp,
    Choice(Vec<(String, String)>),
    File(&'static str),
}

impl FormFieldSpec {
    fn new(name: &'static str, label: &str, kind: FormFieldKind) -> Self {
        Self {
            name,
            label: label.to_owned(),
            help: "",
            kind,
            initial_value: String::new(),
            field: FormField::default(),
            is_advanced: false,
            parameter: name,
            error_aliases: &[],
        }
    }

    /// A line.
    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Text)
    }

    /// Lines.
    pub(super) fn text_area(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Area)
    }

    /// Money.
    pub(super) fn amount(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Amount)
    }

    /// A moment, of UTC.
    pub(super) fn timestamp(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Timestamp)
    }

    /// A file of these types, which never comes with other forms.
    pub(super) fn file(name: &'static str, label: &str, types: &'static str) -> Self {
        Self::new(name, label, FormFieldKind::File(types)).skip_sending()
    }

    /// Is sent under another name.
    pub(super) fn send_as(self, sends: &'static str) -> Self {
        Self {
            parameter: sends,
            ..self
        }
    }

    /// Is not sent as it is: the work of the form makes use of it.
    pub(super) fn skip_sending(self) -> Self {
        self.send_as("")
    }

    /// What refusals call it as well.
    pub(super) fn error_aliases(self, answers: &'static [&'static str]) -> Self {
        Self {
            error_aliases: answers,
            ..self
        }
    }

    /// One of some words of the interface.
    pub(super) fn word_choice(name: &'static str, label: &str, all: &[&str]) -> Self {
        let all = all.iter().map(|word| ((*word).to_owned(), labels::word_label(word)));
        Self::new(name, label, FormFieldKind::Choice(all.collect()))
    }

    /// One of some values, each with its words.
    pub(super) fn choice(name: &'static str, label: &str, all: Vec<(String, String)>) -> Self {
        Self::new(name, label, FormFieldKind::Choice(all))
    }

    /// The same, or nothing.
    pub(super) fn allow_none(mut self, text: &str) -> Self {
        if let FormFieldKind::Choice(all) = &mut self.kind {
            all.insert(0, (String::new(), text.to_owned()));
        }
        self
    }

    /// What there is to know about it.
    pub(super) fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// What stands in it at first.
    pub(super) fn initial_value(self, value: impl Into<String>) -> Self {
        let at_first = value.into();
        Self {
            field: FormField::new(&at_first),
            initial_value: at_first,
            ..self
        }
    }

    /// Is needed rarely.
    pub(super) fn mark_advanced(self) -> Self {
        Self {
            is_advanced: true,
            ..self
        }
    }

    fn to_input(&self) -> FormInput {
        FormInput {
            name: self.name,
            label: self.label.clone(),
            help: self.help.to_owned(),
            field: self.field.clone(),
            kind: match &self.kind {
                FormFieldKind::Text => FormInputKind::Text,
                FormFieldKind::Area => FormInputKind::Area,
                FormFieldKind::Amount => FormInputKind::Amount,
                FormFieldKind::Timestamp => FormInputKind::Timestamp,
                FormFieldKind::Choice(all) => FormInputKind::Choice(all.clone()),
                FormFieldKind::File(types) => FormInputKind::File(types),
            },
        }
    }

    /// What was typed, as the engine takes it.
    fn engine_value(&self, typed: &str) -> Result<String, AdsProblem> {
        Ok(match self.kind {
            _ if typed.is_empty() => String::new(),
            FormFieldKind::Amount => {
                let micros = labels::parse_amount(typed).ok_or_else(|| {
                    let message = "Enter an amount such as 20.00";
                    AdsProblem::invalid_parameter(self.name, typed, message)
                })?;
                micros.to_string()
            }
            FormFieldKind::Timestamp => labels::parse_input_time(typed),
            FormFieldKind::Text | FormFieldKind::Area | FormFieldKind::Choice(_) | FormFieldKind::File(_) => {
                typed.to_owned()
            }
        })
    }
}

impl FormDefinition {
    /// Whether it is sent by a button elsewhere, and never shown.
    pub(super) const fn is_button_only(&self) -> bool {
        self.submit.is_empty()
    }

    /// Does it; what the engine answers.
    pub(super) fn submit_form(
        &self,
        tx: &mut Tx<'_>,
        desk: &ManagerAccount,
        sent: &SubmittedFields,
    ) -> Result<Value, Error> {
        if let Some(work) = self.handler {
            return work(tx, desk, self, sent);
        }
        let pairs = self.changed_params(sent)?;
        desk.call_api(tx, self.method, self.path, &self.path_ids(), &pairs)
    }

    /// The ids in the path of the operation.
    pub(super) fn path_ids(&self) -> Vec<&str> {
        self.ids.iter().map(String::as_str).collect()
    }

    /// What stood in a field at first.
    pub(super) fn initial_value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|ask| ask.name == name);
        found.map_or("", |ask| ask.initial_value.as_str())
    }

    /// What is sent to the engine: of something new what was typed, of a change what is typed
    /// otherwise than it was.
    pub(super) fn changed_params(&self, sent: &SubmittedFields) -> Result<Vec<(&'static str, String)>, Error> {
        let mut pairs = self.fixed_params.clone();
        let mut problems = Vec::new();
        for ask in &self.fields {
            let typed = sent.text(ask.name);
            let counts = match self.method {
                "PUT" => typed != ask.initial_value,
                _ => !typed.is_empty(),
            };
            if !counts {
                continue;
            }
            match ask.engine_value(typed) {
                Ok(_) if ask.parameter.is_empty() => {}
                Ok(value) => pairs.push((ask.parameter, value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            return Ok(pairs);
        }
        Err(base::Refusal::from(problems).into())
    }

    /// Writes what was typed and what is wrong with it beside the fields; answers what belongs to
    /// none.
    pub(super) fn apply_problems(&mut self, sent: &SubmittedFields, problems: &[AdsProblem]) -> Option<String> {
        for ask in &mut self.fields {
            ask.field = FormField::new(sent.text(ask.name));
        }
        let mut rest = Vec::new();
        for problem in problems {
            let name = match &problem.location {
                ProblemLocation::Request => "",
                ProblemLocation::Parameter(name) | ProblemLocation::Attribute(name) => name.as_ref(),
            };
            let sentence = match problem.code {
                "MISSING_PARAMETER" => "This field is required.".to_owned(),
                _ => format!("{}.", problem.message.trim_end_matches('.')),
            };
            let known = |ask: &&mut FormFieldSpec| ask.name == name || ask.error_aliases.contains(&name);
            match self.fields.iter_mut().find(known) {
                Some(ask) => ask.field.error = Some(sentence),
                None => rest.push(sentence),
            }
        }
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    /// The page that it stands on.
    pub(super) fn into_page(mut self) -> AdsManagerPage {
        let mut blocks = std::mem::take(&mut self.leading_blocks);
        let part = |more: bool| {
            let asks = self.fields.iter().filter(move |ask| ask.is_advanced == more);
            asks.map(FormFieldSpec::to_input).collect::<Vec<FormInput>>()
        };
        let form = FormBlock {
            action: self.action.clone(),
            inputs: part(false),
            advanced_inputs: part(true),
            submit: self.submit,
            is_dangerous: self.is_dangerous,
            cancel_path: self.back_path.clone(),
            has_file: (self.fields.iter()).any(|ask| matches!(ask.kind, FormFieldKind::File(_))),
        };
        AdsManagerPage {
            heading: self.heading.clone(),
            lead: self.lead.clone(),
            trail: self.trail.clone(),
            blocks: {
                blocks.push(PageBlock::Form(form));
                blocks
            },
            ..AdsManagerPage::default()
        }
    }
}
