//! The parameters of a request, parsed as its operation declares them, and their echo.

use base::Vocabulary;
use base::refusal::AdsProblem;
use schema::{DefaultValue, FieldRequirement, Parameter, ParameterLocation, RawParam};
use serde_json::{Map, Value};

use crate::declaration::ResourceVerb;
use crate::field_kind::parse_value;
use crate::operations::OperationAction;
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

/// How the parameters of a request are treated.
#[derive(Clone, Copy)]
struct ParamContext {
    vocabulary: Vocabulary,
    /// Whether empty values clear fields.
    unsets: bool,
    echoes: bool,
}

enum ParamSource<'r> {
    Pairs(&'r [(String, String)]),
    Json(&'r Map<String, Value>),
}

fn has_name(param: &Parameter, name: &str) -> bool {
    param.name.matches(name) || param.aliases.contains(&name)
}

impl ParsedParams {
    pub fn parse(request: &AdsRequest) -> Self {
        let operation = request.operation;
        let mut params =
            Self { json: request.json.clone(), query_pairs: request.query_pairs.clone(), ..Self::default() };
        let is_update = matches!(operation.action, OperationAction::Verb(_, ResourceVerb::Update));
        let context = ParamContext {
            vocabulary: request.caller.vocabulary,
            unsets: is_update || operation.method == "PUT",
            // JSON input is not echoed.
            echoes: !operation.takes_json(),
        };
        let is_in_path = |param: &&Parameter| param.location == ParameterLocation::Path;
        for param in operation.params.iter().filter(is_in_path) {
            let sent = request.path_params.iter().find(|(name, _)| param.name.matches(name));
            let texts: Vec<String> = sent.into_iter().map(|(_, text)| text.clone()).collect();
            let name = param.name.name_in(context.vocabulary);
            params.accept_value(param, name, RawParam::Text(&texts), ParamContext { echoes: true, ..context });
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
        for param in operation.params.iter().filter(|param| !is_in_path(param)) {
            params.parse_param(param, &source, context);
        }
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
        for param in declared {
            params.parse_param(param, &ParamSource::Json(members), ParamContext { vocabulary, unsets, echoes: true });
        }
        params
    }

    fn parse_param(&mut self, param: &Parameter, source: &ParamSource<'_>, context: ParamContext) {
        match source {
            ParamSource::Pairs(pairs) => {
                let sent = pairs.iter().filter(|(name, _)| has_name(param, name));
                let (names, texts): (Vec<&str>, Vec<String>) =
                    sent.map(|(name, text)| (name.as_str(), text.clone())).unzip();
                let last = names.last().map(|name| (*name, RawParam::Text(&texts)));
                self.resolve_param(param, last, context);
            }
            ParamSource::Json(members) => {
                let sent = members.iter().find(|(name, _)| has_name(param, name));
                self.resolve_param(param, sent.map(|(name, value)| (name.as_str(), RawParam::Json(value))), context);
            }
        }
    }

    /// `sent` is the name that the request uses, and the value.
    fn resolve_param(&mut self, param: &Parameter, sent: Option<(&str, RawParam<'_>)>, context: ParamContext) {
        match sent {
            Some((name, raw)) if raw.is_empty() && context.unsets && param.may_be_unset => {
                self.values.push((param.name.post, DefaultValue::Empty.to_value(param.kind)));
                self.echo_value(name, Value::Null, context);
            }
            // Clients send empty parameters for values they leave out.
            Some((name, raw)) if !raw.is_empty() => self.accept_value(param, name, raw, context),
            Some((name, raw)) if context.unsets && param.requirement == FieldRequirement::Optional => {
                let message = format!("{name} cannot be unset");
                self.problems.push(AdsProblem::invalid_parameter(name.to_owned(), raw.display_text(), message));
            }
            _ => self.apply_default(param, context),
        }
    }

    fn accept_value(&mut self, param: &Parameter, name: &str, raw: RawParam<'_>, context: ParamContext) {
        match parse_value(param.kind, name, raw) {
            // Nothing but separators.
            Ok(Value::Array(items)) if items.is_empty() && param.is_required() => {
                self.problems.push(AdsProblem::missing_parameter(name.to_owned()));
            }
            Ok(value) => {
                self.echo_value(name, param.kind.echo_value(&value, context.vocabulary), context);
                self.values.push((param.name.post, value));
            }
            Err(problem) => {
                // Unreadable values are echoed as sent.
                if param.location == ParameterLocation::Path {
                    self.echo_value(name, raw.display_text().into(), context);
                }
                self.problems.push(problem);
            }
        }
    }

    fn apply_default(&mut self, param: &Parameter, context: ParamContext) {
        let name = param.name.name_in(context.vocabulary);
        if param.is_required() {
            self.problems.push(AdsProblem::missing_parameter(name));
        }
        if param.default_value != DefaultValue::Empty {
            let default = param.default_value.to_value(param.kind);
            self.echo_value(name, param.kind.echo_value(&default, context.vocabulary), context);
            self.values.push((param.name.post, default));
        }
    }

    fn echo_value(&mut self, name: &str, value: Value, context: ParamContext) {
        if context.echoes {
            self.echo.insert(name.to_owned(), value);
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
