//! Forms of the Ads Manager, their fields, and the API operations they call.

use ads_engine::field_kind::format_time;
use ads_engine::{AccountTimeZone, OperationData, OperationOutput, RequiredRole, Resource, ValueKind};
use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::FormField;
use pages::manager::{AdsManagerPage, FormBlock, FormInput, FormInputKind, NavLink, PageBlock};
use serde_json::{Map, Value};
use store::Tx;
use web::endpoint::BodySpec;
use web::request_context::RequestContext;

use super::form_problems::{describe_problem, to_sentence};
use super::labels;
use super::request::ManagerAccount;
use crate::site::forms::SubmittedForm;
use crate::site::shown_values::{SHOWN_FIELD, differs_from_shown, encode_shown_values};

pub(super) type FormHandler =
    fn(&mut Tx<'_>, &ManagerAccount, &FormDefinition, &SubmittedFields) -> Result<OperationOutput, Error>;

#[derive(Clone, Default)]
pub(super) struct SubmittedFields(Vec<(String, String)>);

impl SubmittedFields {
    pub(super) fn from_form(call: &RequestContext, form: &SubmittedForm<'_>) -> Self {
        let BodySpec::Multipart(members) = call.endpoint().body else {
            return Self::default();
        };
        let names = members.iter().map(|member| member.name.post);
        let names = names.filter(|name| !matches!(*name, "csrf" | "next"));
        Self::from_pairs(names.map(|name| (name.to_owned(), form.text(name))))
    }

    /// Trims the values.
    pub(super) fn from_pairs(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let plain = |text: String| text.replace("\r\n", "\n").trim().to_owned();
        Self(pairs.map(|(name, text)| (name, plain(text))).collect())
    }

    /// Empty if the field is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, typed)| typed)
    }
}

pub(super) enum FormRedirect {
    Path(String),
    /// Path below which the ID of the created entity is appended.
    Created(String),
}

impl FormRedirect {
    pub(super) fn resolve_path(&self, output: &OperationOutput) -> String {
        match (self, &output.data) {
            (Self::Created(path), OperationData::Record(record)) => format!("{path}/{}", record.id()),
            (Self::Path(path) | Self::Created(path), _) => path.clone(),
        }
    }
}

pub(super) struct FormDefinition {
    pub(super) heading: String,
    pub(super) lead: String,
    pub(super) trail: Vec<NavLink>,
    pub(super) method: &'static str,
    /// Path of the operation, below the account.
    pub(super) path: String,
    /// IDs in `path`, in order.
    pub(super) ids: Vec<String>,
    /// Sent in addition to the fields.
    pub(super) fixed_params: Vec<(&'static str, Value)>,
    pub(super) fields: Vec<FormFieldSpec>,
    /// Label of the button; empty if the form is sent by a button on another page.
    pub(super) submit: &'static str,
    pub(super) is_dangerous: bool,
    pub(super) action: String,
    pub(super) back_path: String,
    pub(super) redirect: FormRedirect,
    /// Sent as `done`, for the notice after the redirect.
    pub(super) done_code: &'static str,
    /// The section and ids of what can be resumed once the form has paused it.
    pub(super) undo: Option<(&'static str, Vec<String>)>,
    /// `None`: the fields are sent to the operation.
    pub(super) handler: Option<FormHandler>,
    /// `None`: whoever may call the operation.
    pub(super) required_access: Option<RequiredRole>,
    pub(super) leading_blocks: Vec<PageBlock>,
    /// Of the times that are typed.
    pub(super) zone: AccountTimeZone,
    /// What the form of an update was first shown with, once it is shown again.
    pub(super) shown: Option<String>,
}

pub(super) struct FormFieldSpec {
    pub(super) name: &'static str,
    input: FormInput,
    initial_value: String,
    is_advanced: bool,
    /// Of the resource's field, if it is one.
    declared: Option<ValueKind>,
    /// Empty if the handler uses the field instead.
    parameter: &'static str,
    /// Other parameter names that refusals use for this field.
    error_aliases: &'static [&'static str],
}

impl FormFieldSpec {
    pub(super) fn new(name: &'static str, label: &str, kind: FormInputKind) -> Self {
        let input = FormInput { name, label: label.to_owned(), kind, ..FormInput::default() };
        Self {
            name,
            input,
            initial_value: String::new(),
            is_advanced: false,
            declared: None,
            parameter: name,
            error_aliases: &[],
        }
    }

    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormInputKind::Text)
    }

    pub(super) fn text_area(name: &'static str, label: &str) -> Self {
        Self::new(name, label, FormInputKind::Area)
    }

    /// Never sent with other forms.
    pub(super) fn file(name: &'static str, label: &str, types: &'static str) -> Self {
        Self::new(name, label, FormInputKind::File(types)).skip_sending()
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

    /// Pairs of value and label.
    pub(super) fn choice<V: Into<String>, L: Into<String>>(
        name: &'static str,
        label: &str,
        all: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let all = all.into_iter().map(|(value, text)| (value.into(), text.into()));
        Self::new(name, label, FormInputKind::Choice(all.collect()))
    }

    pub(super) fn with_options(mut self, all: &[(&str, &str)]) -> Self {
        let all = all.iter().map(|(value, text)| ((*value).to_owned(), (*text).to_owned()));
        self.input.kind = FormInputKind::Choice(all.collect());
        self
    }

    pub(super) fn allow_none(mut self, text: &str) -> Self {
        if let FormInputKind::Choice(all) = &mut self.input.kind {
            all.insert(0, (String::new(), text.to_owned()));
        }
        self
    }

    pub(super) fn help(mut self, help: &'static str) -> Self {
        help.clone_into(&mut self.input.help);
        self
    }

    pub(super) fn initial_value(mut self, value: impl Into<String>) -> Self {
        self.initial_value = value.into();
        // Browsers send the first option of a choice whose value is not among its options.
        if let FormInputKind::Choice(all) = &mut self.input.kind
            && !self.initial_value.is_empty()
            && all.iter().all(|(option, _)| *option != self.initial_value)
        {
            all.push((self.initial_value.clone(), self.initial_value.clone()));
        }
        self.input.field = FormField::new(&self.initial_value);
        self
    }

    pub(super) fn declared(self, kind: ValueKind) -> Self {
        Self { declared: Some(kind), ..self }
    }

    pub(super) fn mark_advanced(self) -> Self {
        Self { is_advanced: true, ..self }
    }

    /// The typed text as the API takes it.
    fn engine_value(&self, typed: &str, zone: &AccountTimeZone) -> Result<Value, AdsProblem> {
        let problem = |message| AdsProblem::invalid_parameter(self.name, typed, message);
        match self.input.kind {
            FormInputKind::Amount if !typed.is_empty() => {
                labels::parse_amount(typed).map(Value::from).ok_or_else(|| problem("Enter an amount such as 20.00"))
            }
            FormInputKind::Timestamp if !typed.is_empty() => {
                let at = zone.parse_local(typed).map(|at| format_time(at).into());
                at.ok_or_else(|| problem("Enter a date and a time"))
            }
            _ => Ok(typed.into()),
        }
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
    ) -> Result<OperationOutput, Error> {
        match self.handler {
            Some(handler) => handler(tx, ctx, self, sent),
            None => self.send_params(tx, ctx, self.changed_params(sent)?.into()),
        }
    }

    pub(super) fn into_outcome(self, output: &OperationOutput, sent: &SubmittedFields) -> FormOutcome {
        let mut fixed = self.fixed_params.iter();
        let fixed = fixed.any(|(name, value)| *name == "entity_status" && value == "PAUSED");
        let is_pause = self.undo.is_some() && (fixed || sent.text("entity_status") == "PAUSED");
        FormOutcome {
            path: self.redirect.resolve_path(output),
            done_code: if is_pause { "paused" } else { self.done_code },
            undo: self.undo.filter(|(_, ids)| is_pause && !ids.is_empty()),
        }
    }

    /// Of a form that has had its effect before.
    pub(super) fn into_repeated_outcome(self) -> FormOutcome {
        let path = match self.redirect {
            FormRedirect::Path(path) => path,
            FormRedirect::Created(_) => self.back_path,
        };
        FormOutcome { path, done_code: self.done_code, undo: None }
    }

    pub(super) fn send_params(
        &self,
        tx: &mut Tx<'_>,
        ctx: &ManagerAccount,
        params: Value,
    ) -> Result<OperationOutput, Error> {
        let ids: Vec<&str> = self.ids.iter().map(String::as_str).collect();
        ctx.call(tx, (self.method, &self.path), &ids, params)
    }

    pub(super) fn initial_value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|field_spec| field_spec.name == name);
        found.map_or("", |field_spec| field_spec.initial_value.as_str())
    }

    /// Whether the person changed the field: what others have changed since the form was shown is left alone.
    pub(super) fn is_changed(&self, name: &str, sent: &SubmittedFields) -> bool {
        let typed = sent.text(name);
        let differs = differs_from_shown(sent.text(SHOWN_FIELD), name, typed);
        differs.unwrap_or_else(|| typed != self.initial_value(name))
    }

    /// Whether a field that offers a choice offers this one.
    pub(super) fn has_option(&self, name: &str, value: &str) -> bool {
        let field = self.fields.iter().find(|field_spec| field_spec.name == name);
        let kind = field.map(|field_spec| &field_spec.input.kind);
        matches!(kind, Some(FormInputKind::Choice(all)) if all.iter().any(|(option, _)| option == value))
    }

    /// For `PUT`, fields that were changed; otherwise, fields that are not empty.
    pub(super) fn changed_params(&self, sent: &SubmittedFields) -> Result<Map<String, Value>, Error> {
        let fixed = self.fixed_params.iter();
        let mut params: Map<String, Value> = fixed.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let mut problems = Vec::new();
        for field_spec in &self.fields {
            let typed = sent.text(field_spec.name);
            let counts = match self.method {
                "PUT" => self.is_changed(field_spec.name, sent),
                _ => !typed.is_empty(),
            };
            if !counts {
                continue;
            }
            match field_spec.engine_value(typed, &self.zone) {
                Ok(_) if field_spec.parameter.is_empty() => {}
                Ok(value) => {
                    params.insert(field_spec.parameter.to_owned(), value);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            return Ok(params);
        }
        Err(base::Refusal::from(problems).into())
    }

    /// Adds what was typed and the errors to the fields; returns errors that belong to none.
    pub(super) fn apply_problems(&mut self, sent: &SubmittedFields, problems: &[AdsProblem]) -> Option<String> {
        for field_spec in &mut self.fields {
            field_spec.input.field = FormField::new(sent.text(field_spec.name));
        }
        self.shown = Some(sent.text(SHOWN_FIELD).to_owned());
        let mut rest = Vec::new();
        for problem in problems {
            let name = match &problem.location {
                ProblemLocation::Request => "",
                ProblemLocation::Parameter(name) | ProblemLocation::Attribute(name) => name.as_ref(),
            };
            let known =
                |field_spec: &&mut FormFieldSpec| field_spec.name == name || field_spec.error_aliases.contains(&name);
            match self.fields.iter_mut().find(known) {
                Some(field_spec) => {
                    let error = describe_problem(problem, name, field_spec.declared, &field_spec.input.kind);
                    field_spec.input.field.error = Some(error);
                }
                None => rest.push(to_sentence(&problem.message)),
            }
        }
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    /// Empty for a form that creates something.
    fn shown_text(&self) -> String {
        if self.method != "PUT" {
            return String::new();
        }
        let initial = self.fields.iter().map(|field| (field.name, field.initial_value.trim()));
        self.shown.clone().unwrap_or_else(|| encode_shown_values(initial))
    }

    pub(super) fn into_page(self) -> AdsManagerPage {
        let shown = self.shown_text();
        let (advanced, plain): (Vec<_>, Vec<_>) =
            self.fields.into_iter().partition(|field_spec| field_spec.is_advanced);
        let to_inputs = |fields: Vec<FormFieldSpec>| fields.into_iter().map(|field_spec| field_spec.input).collect();
        let form = FormBlock {
            action: self.action,
            has_file: plain.iter().any(|field_spec| matches!(field_spec.input.kind, FormInputKind::File(_))),
            inputs: to_inputs(plain),
            advanced_inputs: to_inputs(advanced),
            submit: self.submit,
            is_dangerous: self.is_dangerous,
            cancel_path: self.back_path,
            shown,
        };
        let mut blocks = self.leading_blocks;
        blocks.push(PageBlock::Form(form));
        AdsManagerPage {
            heading: self.heading,
            lead: self.lead,
            trail: self.trail,
            blocks,
            ..AdsManagerPage::default()
        }
    }

    pub(super) fn new(ctx: &ManagerAccount, back: &str) -> Self {
        Self {
            heading: String::new(),
            lead: String::new(),
            trail: Vec::new(),
            method: "POST",
            path: String::new(),
            ids: Vec::new(),
            fixed_params: Vec::new(),
            fields: Vec::new(),
            submit: "Save",
            is_dangerous: false,
            action: ctx.page_path(back),
            back_path: ctx.page_path(back),
            redirect: FormRedirect::Path(ctx.page_path(back)),
            done_code: "saved",
            undo: None,
            handler: None,
            required_access: None,
            leading_blocks: Vec::new(),
            zone: ctx.zone.clone(),
            shown: None,
        }
    }

    /// Creates a record of the resource; `back` is the page of its parent or its list.
    pub(super) fn create(ctx: &ManagerAccount, resource: &Resource, back: &str, act: &str) -> Self {
        Self {
            path: resource.path.to_owned(),
            action: ctx.page_path(&format!("{back}/{act}")),
            done_code: "created",
            ..Self::new(ctx, back)
        }
    }

    /// Changes the record; `back` is the page to return to.
    pub(super) fn update(ctx: &ManagerAccount, resource: &Resource, id: &str, (here, back): (&str, &str)) -> Self {
        Self {
            method: "PUT",
            path: format!("{}/{{}}", resource.path),
            ids: vec![id.to_owned()],
            submit: "Save changes",
            action: ctx.page_path(&format!("{here}/edit")),
            ..Self::new(ctx, back)
        }
    }

    /// Replaces a field, if the form has it.
    #[must_use]
    pub(super) fn adjust_field(mut self, name: &str, adjust: impl FnOnce(FormFieldSpec) -> FormFieldSpec) -> Self {
        if let Some(place) = self.fields.iter().position(|field_spec| field_spec.name == name) {
            let field_spec = adjust(self.fields.remove(place));
            self.fields.insert(place, field_spec);
        }
        self
    }
}

/// What a form has done, and the page to show then.
pub(super) struct FormOutcome {
    pub(super) path: String,
    pub(super) done_code: &'static str,
    pub(super) undo: Option<(&'static str, Vec<String>)>,
}

impl FormOutcome {
    /// `next` is shown instead of the form's own page.
    pub(super) fn redirect_path(&self, next: Option<&str>) -> String {
        let path = next.unwrap_or(&self.path);
        let joint = if path.contains('?') { '&' } else { '?' };
        let undo = self.undo.as_ref().map(|(section, ids)| format!("&undo={section}:{}", ids.join(",")));
        format!("{path}{joint}done={}{}", self.done_code, undo.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use pages::manager::FormInputKind;

    use super::FormFieldSpec;

    #[test]
    fn choice_offers_its_initial_value() {
        let media = || FormFieldSpec::choice("media_key", "Medium", [("3_1", "Bridge")]);
        for (value, expected) in [("", &["", "3_1"][..]), ("3_1", &["", "3_1"]), ("3_2", &["", "3_1", "3_2"])] {
            let FormInputKind::Choice(options) = media().initial_value(value).allow_none("None").input.kind else {
                panic!("not a choice");
            };
            let values: Vec<&str> = options.iter().map(|(value, _)| value.as_str()).collect();
            assert_eq!(values, expected);
        }
    }
}
