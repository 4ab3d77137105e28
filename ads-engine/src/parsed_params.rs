//! The parameters of a request, parsed as its operation declares them, and their echo.

use base::Vocabulary;
use base::refusal::AdsProblem;
use serde_json::{Map, Value};

use crate::declaration::{FieldRequirement, ResourceVerb};
use crate::field_kind::RawParam;
use crate::operations::{AdsOperation, OperationAction, OperationParam, OperationParamLocation};
use crate::request::AdsRequest;

#[derive(Clone, Debug, Default)]
pub struct ParsedParams {
    values: Vec<(&'static str, Value)>,
    pub echo: Map<String, Value>,
    pub problems: Vec<AdsProblem>,
    pub json: Option<Value>,
    /// The query parameters of a request with a JSON body.
    pub query_pairs: Vec<(String, String)>,
}

enum ParamSource<'r> {
    Pairs(&'r [(String, String)]),
    Json(&'r Map<String, Value>),
}

impl ParsedParams {
    pub fn parse(request: &AdsRequest) -> Self {
        let operation = request.operation;
        let mut params =
            Self { json: request.json.clone(), query_pairs: request.query_pairs.clone(), ..Self::default() };
        let speech = request.caller.speech;
        for param in operation.params.iter().filter(|param| param.location == OperationParamLocation::Path) {
            let sent = request.path_params.iter().find(|(name, _)| param.name.matches(name));
            let texts: Vec<String> = sent.into_iter().map(|(_, text)| text.clone()).collect();
            params.accept_value(param, RawParam::Text(&texts), speech, true);
        }
        let empty = Map::new();
        let source = match &request.json {
            Some(Value::Object(members)) => ParamSource::Json(members),
            // The operation itself parses arrays.
            Some(_) => ParamSource::Json(&empty),
            None if operation.takes_json() => {
                let message = "The request body must be JSON, with Content-Type application/json";
                params.problems.push(AdsProblem::new("INVALID_PARAMETER", message));
                return params;
            }
            None => ParamSource::Pairs(&request.pairs),
        };
        params.parse_params(operation, &source, speech);
        params
    }

    /// Parses the parameters of one batch item.
    pub fn parse_item(
        declared: &[OperationParam],
        members: &Map<String, Value>,
        vocabulary: Vocabulary,
        unsets: bool,
    ) -> Self {
        let mut params = Self::default();
        let source = ParamSource::Json(members);
        for param in declared {
            params.parse_param(param, &source, vocabulary, unsets, true);
        }
        params
    }

    fn parse_params(&mut self, operation: &AdsOperation, source: &ParamSource<'_>, vocabulary: Vocabulary) {
        let unsets =
            matches!(operation.action, OperationAction::Verb(_, ResourceVerb::Update)) || operation.method == "PUT";
        // JSON input is not echoed.
        let echoes = !operation.takes_json();
        for param in operation.params.iter().filter(|param| param.location != OperationParamLocation::Path) {
            self.parse_param(param, source, vocabulary, unsets, echoes);
        }
    }

    fn parse_param(
        &mut self,
        param: &OperationParam,
        source: &ParamSource<'_>,
        vocabulary: Vocabulary,
        unsets: bool,
        echoes: bool,
    ) {
        match source {
            ParamSource::Pairs(pairs) => {
                let sent = pairs.iter().filter(|(name, _)| param.has_name(name));
                let texts: Vec<String> = sent.map(|(_, text)| text.clone()).collect();
                self.resolve_param(
                    param,
                    (!texts.is_empty()).then_some(RawParam::Text(&texts)),
                    vocabulary,
                    unsets,
                    echoes,
                );
            }
            ParamSource::Json(members) => {
                let sent = members.iter().find(|(name, _)| param.has_name(name));
                self.resolve_param(param, sent.map(|(_, value)| RawParam::Json(value)), vocabulary, unsets, echoes);
            }
        }
    }

    fn resolve_param(
        &mut self,
        param: &OperationParam,
        raw: Option<RawParam<'_>>,
        vocabulary: Vocabulary,
        unsets: bool,
        echoes: bool,
    ) {
        match raw {
            Some(raw) if raw.is_empty() && unsets && param.may_be_unset => {
                let nothing = if param.kind.is_list() { Value::Array(Vec::new()) } else { Value::Null };
                self.values.push((param.name.post, nothing));
                if echoes {
                    self.echo.insert(param.localized_name(vocabulary), Value::Null);
                }
            }
            // Clients send empty parameters for values they leave out.
            Some(raw) if !raw.is_empty() => self.accept_value(param, raw, vocabulary, echoes),
            Some(raw) if unsets && param.requirement == FieldRequirement::Optional => {
                let message = format!("{} cannot be unset", param.localized_name(vocabulary));
                let problem =
                    AdsProblem::invalid_parameter(param.localized_name(vocabulary), raw.display_text(), message);
                self.problems.push(problem);
            }
            _ => self.apply_default(param, vocabulary, echoes),
        }
    }

    fn accept_value(&mut self, param: &OperationParam, raw: RawParam<'_>, vocabulary: Vocabulary, echoes: bool) {
        let name = param.localized_name(vocabulary);
        match param.kind.parse_value(&name, raw) {
            Ok(value) => {
                if echoes {
                    self.echo.insert(name, param.kind.echo_value(&value, vocabulary));
                }
                self.values.push((param.name.post, value));
            }
            Err(problem) => {
                // Unreadable values are echoed as sent.
                if echoes && param.location == OperationParamLocation::Path {
                    self.echo.insert(name, raw.display_text().into());
                }
                self.problems.push(problem);
            }
        }
    }

    fn apply_default(&mut self, param: &OperationParam, vocabulary: Vocabulary, echoes: bool) {
        if param.requirement == FieldRequirement::Required {
            self.problems.push(AdsProblem::missing_parameter(param.localized_name(vocabulary)));
        }
        if let Some(default) = &param.default_value {
            if echoes && param.echoes_default {
                self.echo.insert(param.localized_name(vocabulary), param.kind.echo_value(default, vocabulary));
            }
            self.values.push((param.name.post, default.clone()));
        }
    }

    /// A value by its name in the posts vocabulary; `None` if it was not sent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A number, an id, or a time in milliseconds.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// False if it was not sent.
    pub fn flag(&self, name: &str) -> bool {
        self.int(name).is_some_and(|flag| flag != 0)
    }

    pub fn ints(&self, name: &str) -> Vec<i64> {
        let items = self.get(name).and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_i64).collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.get(name).and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        let texts = items.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Removes a value as if it had not been sent; it stays in the echo.
    pub fn remove(&mut self, name: &str) {
        self.values.retain(|(known, _)| *known != name);
    }

    /// Adds a value as if it had been sent.
    pub fn insert(&mut self, name: &'static str, value: Value) {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
    }
}
