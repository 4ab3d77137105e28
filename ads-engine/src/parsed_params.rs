//! The parameters of a request, parsed as its operation declares them, and their echo.

use base::Vocabulary;
use base::refusal::AdsProblem;
use schema::{DefaultValue, FieldRequirement, Parameter, ParameterLocation, RawParam};
use serde_json::{Map, Value};

use crate::declaration::ResourceVerb;
use crate::field_kind::parse_value;
use crate::operations::{AdsOperation, OperationAction};
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

fn has_name(param: &Parameter, name: &str) -> bool {
    param.name.matches(name) || param.aliases.contains(&name)
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
        for param in operation.params.iter().filter(|param| param.location == ParameterLocation::Path) {
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
        declared: &[Parameter],
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
        for param in operation.params.iter().filter(|param| param.location != ParameterLocation::Path) {
            self.parse_param(param, source, vocabulary, unsets, echoes);
        }
    }

    fn parse_param(
        &mut self,
        param: &Parameter,
        source: &ParamSource<'_>,
        vocabulary: Vocabulary,
        unsets: bool,
        echoes: bool,
    ) {
        match source {
            ParamSource::Pairs(pairs) => {
                let sent = pairs.iter().filter(|(name, _)| has_name(param, name));
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
                let sent = members.iter().find(|(name, _)| has_name(param, name));
                self.resolve_param(param, sent.map(|(_, value)| RawParam::Json(value)), vocabulary, unsets, echoes);
            }
        }
    }

    fn resolve_param(
        &mut self,
        param: &Parameter,
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
                    self.echo.insert(param.name.name_in(vocabulary).to_owned(), Value::Null);
                }
            }
            // Clients send empty parameters for values they leave out.
            Some(raw) if !raw.is_empty() => self.accept_value(param, raw, vocabulary, echoes),
            Some(raw) if unsets && param.requirement == FieldRequirement::Optional => {
                let message = format!("{} cannot be unset", param.name.name_in(vocabulary));
                let problem =
                    AdsProblem::invalid_parameter(param.name.name_in(vocabulary), raw.display_text(), message);
                self.problems.push(problem);
            }
            _ => self.apply_default(param, vocabulary, echoes),
        }
    }

    fn accept_value(&mut self, param: &Parameter, raw: RawParam<'_>, vocabulary: Vocabulary, echoes: bool) {
        let name = param.name.name_in(vocabulary);
        match parse_value(param.kind, name, raw) {
            Ok(value) => {
                if echoes {
                    self.echo.insert(name.to_owned(), param.kind.echo_value(&value, vocabulary));
                }
                self.values.push((param.name.post, value));
            }
            Err(problem) => {
                // Unreadable values are echoed as sent.
                if echoes && param.location == ParameterLocation::Path {
                    self.echo.insert(name.to_owned(), raw.display_text().into());
                }
                self.problems.push(problem);
            }
        }
    }

    fn apply_default(&mut self, param: &Parameter, vocabulary: Vocabulary, echoes: bool) {
        if param.requirement == FieldRequirement::Required {
            self.problems.push(AdsProblem::missing_parameter(param.name.name_in(vocabulary)));
        }
        if param.default_value != DefaultValue::Empty {
            let default = param.default_value.to_value(param.kind);
            if echoes {
                let name = param.name.name_in(vocabulary);
                self.echo.insert(name.to_owned(), param.kind.echo_value(&default, vocabulary));
            }
            self.values.push((param.name.post, default));
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

    /// The items of a list, or a single value.
    fn items(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Some(Value::Array(items)) => items,
            Some(value) => std::slice::from_ref(value),
            None => &[],
        }
    }

    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.items(name).iter().filter_map(Value::as_i64).collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.items(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
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
