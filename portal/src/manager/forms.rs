//! Forms of the Ads Manager, their fields, and the API operations they call.

use ads_engine::RequiredRole;
use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::FormField;
use pages::manager::{AdsManagerPage, FormBlock, FormInput, FormInputKind, NavLink, PageBlock};
use serde_json::Value;
use store::Tx;

use super::labels;
use super::request::ManagerAccount;
use super::route::SubmittedFields;

pub(super) type FormHandler =
    fn(&mut Tx<'_>, &ManagerAccount, &FormDefinition, &SubmittedFields) -> Result<Value, Error>;

pub(super) enum FormRedirect {
    Path(String),
    /// Path below which the ID of the created entity is appended.
    Created(String),
}

impl FormRedirect {
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

pub(super) struct FormDefinition {
    pub(super) heading: String,
    pub(super) lead: String,
    pub(super) trail: Vec<NavLink>,
    pub(super) method: &'static str,
    /// Path of the operation, below the account.
    pub(super) path: &'static str,
    /// IDs in `path`, in order.
    pub(super) ids: Vec<String>,
    /// Sent in addition to the fields.
    pub(super) fixed_params: Vec<(&'static str, String)>,
    pub(super) fields: Vec<FormFieldSpec>,
    /// Label of the button; empty if the form is sent by a button on another page.
    pub(super) submit: &'static str,
    pub(super) is_dangerous: bool,
    pub(super) action: String,
    pub(super) back_path: String,
    pub(super) redirect: FormRedirect,
    /// Sent as `done`, for the notice after the redirect.
    pub(super) done_code: &'static str,
    /// `None`: the fields are sent to the operation.
    pub(super) handler: Option<FormHandler>,
    /// `None`: whoever may call the operation.
    pub(super) required_access: Option<RequiredRole>,
    pub(super) leading_blocks: Vec<PageBlock>,
}

pub(super) struct FormFieldSpec {
    pub(super) name: &'static str,
    label: String,
    help: &'static str,
    kind: FormFieldKind,
    initial_value: String,
    field: FormField,
    is_advanced: bool,
    /// Empty if the handler uses the field instead.
    parameter: &'static str,
    /// Other parameter names that refusals use for this field.
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

    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Text)
    }

    pub(super) fn text_area(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Area)
    }

    pub(super) fn amount(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Amount)
    }

    /// In UTC.
    pub(super) fn timestamp(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormFieldKind::Timestamp)
    }

    /// Never sent with other forms.
    pub(super) fn file(name: &'static str, label: &str, types: &'static str) -> Self {
        Self::new(name, label, FormFieldKind::File(types)).skip_sending()
    }

    pub(super) fn send_as(self, sends: &'static str) -> Self {
        Self { parameter: sends, ..self }
    }

    pub(super) fn skip_sending(self) -> Self {
        self.send_as("")
    }

    /// Other parameter names that refusals use for this field.
    pub(super) fn error_aliases(self, answers: &'static [&'static str]) -> Self {
        Self { error_aliases: answers, ..self }
    }

    /// Labels are derived from the API's words.
    pub(super) fn word_choice(name: &'static str, label: &str, all: &[&str]) -> Self {
        let all = all.iter().map(|word| ((*word).to_owned(), labels::word_label(word)));
        Self::new(name, label, FormFieldKind::Choice(all.collect()))
    }

    /// Pairs of value and label.
    pub(super) fn choice(name: &'static str, label: &str, all: Vec<(String, String)>) -> Self {
        Self::new(name, label, FormFieldKind::Choice(all))
    }

    pub(super) fn allow_none(mut self, text: &str) -> Self {
        if let FormFieldKind::Choice(all) = &mut self.kind {
            all.insert(0, (String::new(), text.to_owned()));
        }
        self
    }

    pub(super) fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    pub(super) fn initial_value(self, value: impl Into<String>) -> Self {
        let at_first = value.into();
        Self { field: FormField::new(&at_first), initial_value: at_first, ..self }
    }

    pub(super) fn mark_advanced(self) -> Self {
        Self { is_advanced: true, ..self }
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

    /// The typed text as the API takes it.
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
    /// Whether the form is sent by a button on another page and never shown.
    pub(super) const fn is_button_only(&self) -> bool {
        self.submit.is_empty()
    }

    pub(super) fn submit_form(
        &self,
        tx: &mut Tx<'_>,
        ctx: &ManagerAccount,
        sent: &SubmittedFields,
    ) -> Result<Value, Error> {
        if let Some(work) = self.handler {
            return work(tx, ctx, self, sent);
        }
        let pairs = self.changed_params(sent)?;
        ctx.call_api(tx, self.method, self.path, &self.path_ids(), &pairs)
    }

    pub(super) fn path_ids(&self) -> Vec<&str> {
        self.ids.iter().map(String::as_str).collect()
    }

    pub(super) fn initial_value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|field_spec| field_spec.name == name);
        found.map_or("", |field_spec| field_spec.initial_value.as_str())
    }

    /// For `PUT`, fields that differ from their initial value; otherwise, fields that are not empty.
    pub(super) fn changed_params(&self, sent: &SubmittedFields) -> Result<Vec<(&'static str, String)>, Error> {
        let mut pairs = self.fixed_params.clone();
        let mut problems = Vec::new();
        for field_spec in &self.fields {
            let typed = sent.text(field_spec.name);
            let counts = match self.method {
                "PUT" => typed != field_spec.initial_value,
                _ => !typed.is_empty(),
            };
            if !counts {
                continue;
            }
            match field_spec.engine_value(typed) {
                Ok(_) if field_spec.parameter.is_empty() => {}
                Ok(value) => pairs.push((field_spec.parameter, value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            return Ok(pairs);
        }
        Err(base::Refusal::from(problems).into())
    }

    /// Adds what was typed and the errors to the fields; returns errors that belong to none.
    pub(super) fn apply_problems(&mut self, sent: &SubmittedFields, problems: &[AdsProblem]) -> Option<String> {
        for field_spec in &mut self.fields {
            field_spec.field = FormField::new(sent.text(field_spec.name));
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
            let known =
                |field_spec: &&mut FormFieldSpec| field_spec.name == name || field_spec.error_aliases.contains(&name);
            match self.fields.iter_mut().find(known) {
                Some(field_spec) => field_spec.field.error = Some(sentence),
                None => rest.push(sentence),
            }
        }
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    pub(super) fn into_page(mut self) -> AdsManagerPage {
        let mut blocks = std::mem::take(&mut self.leading_blocks);
        let part = |more: bool| {
            let fields = self.fields.iter().filter(move |field_spec| field_spec.is_advanced == more);
            fields.map(FormFieldSpec::to_input).collect::<Vec<FormInput>>()
        };
        let form = FormBlock {
            action: self.action.clone(),
            inputs: part(false),
            advanced_inputs: part(true),
            submit: self.submit,
            is_dangerous: self.is_dangerous,
            cancel_path: self.back_path.clone(),
            has_file: (self.fields.iter()).any(|field_spec| matches!(field_spec.kind, FormFieldKind::File(_))),
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
