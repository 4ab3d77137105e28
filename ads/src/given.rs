//! The parameters of a request, read as its operation declares them, and their echo.

use base::Vocabulary;
use base::refusal::AdsProblem;
use serde_json::{Map, Value};

use crate::declare::{Need, Verb};
use crate::kind::Raw;
use crate::operations::{Does, Operation, Param, Place};
use crate::request::Request;

/// What was understood of a request.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: Vec<(&'static str, Value)>,
    /// All of it as it is told back.
    pub echo: Map<String, Value>,
    /// What is wrong with it.
    pub problems: Vec<AdsProblem>,
    /// The JSON body, whole.
    pub json: Option<Value>,
    /// What was sent in the query beside it.
    pub beside: Vec<(String, String)>,
}

/// Where parameters come from.
enum Source<'r> {
    Pairs(&'r [(String, String)]),
    Json(&'r Map<String, Value>),
}

impl Given {
    /// Reads a request.
    pub fn read(request: &Request) -> Self {
        let operation = request.operation;
        let mut given = Self {
            json: request.json.clone(),
            beside: request.beside.clone(),
            ..Self::default()
        };
        let speech = request.caller.speech;
        for param in operation
            .params
            .iter()
            .filter(|param| param.place == Place::Path)
        {
            let sent = request
                .path
                .iter()
                .find(|(name, _)| param.name.matches(name));
            let texts: Vec<String> = sent.into_iter().map(|(_, text)| text.clone()).collect();
            given.take(param, Raw::Text(&texts), speech, true);
        }
        let empty = Map::new();
        let source = if operation.takes_json() {
            match &request.json {
                Some(Value::Object(members)) => Source::Json(members),
                // Arrays are the operation's own matter.
                Some(_) => Source::Json(&empty),
                None => {
                    let message =
                        "The request body must be JSON, with Content-Type application/json";
                    given
                        .problems
                        .push(AdsProblem::new("INVALID_PARAMETER", message));
                    return given;
                }
            }
        } else {
            Source::Pairs(&request.pairs)
        };
        given.read_from(operation, &source, speech);
        given
    }

    /// Reads the parameters of one item of a batch.
    pub fn read_item(
        params: &[Param],
        members: &Map<String, Value>,
        speech: Vocabulary,
        unsets: bool,
    ) -> Self {
        let mut given = Self::default();
        let source = Source::Json(members);
        for param in params {
            given.read_param(param, &source, speech, unsets, true);
        }
        given
    }

    fn read_from(&mut self, operation: &Operation, source: &Source<'_>, speech: Vocabulary) {
        let unsets =
            matches!(operation.does, Does::Verb(_, Verb::Update)) || operation.method == "PUT";
        // What comes as JSON is not told back.
        let echoes = !operation.takes_json();
        for param in operation
            .params
            .iter()
            .filter(|param| param.place != Place::Path)
        {
            self.read_param(param, source, speech, unsets, echoes);
        }
    }

    fn read_param(
        &mut self,
        param: &Param,
        source: &Source<'_>,
        speech: Vocabulary,
        unsets: bool,
        echoes: bool,
    ) {
        match source {
            Source::Pairs(pairs) => {
                let sent = pairs.iter().filter(|(name, _)| param.answers_to(name));
                let texts: Vec<String> = sent.map(|(_, text)| text.clone()).collect();
                self.settle(
                    param,
                    (!texts.is_empty()).then_some(Raw::Text(&texts)),
                    speech,
                    unsets,
                    echoes,
                );
            }
            Source::Json(members) => {
                let sent = members.iter().find(|(name, _)| param.answers_to(name));
                self.settle(
                    param,
                    sent.map(|(_, value)| Raw::Json(value)),
                    speech,
                    unsets,
                    echoes,
                );
            }
        }
    }

    fn settle(
        &mut self,
        param: &Param,
        raw: Option<Raw<'_>>,
        speech: Vocabulary,
        unsets: bool,
        echoes: bool,
    ) {
        match raw {
            Some(raw) if raw.is_empty() && unsets && param.may_be_unset => {
                let nothing = if param.kind.is_list() {
                    Value::Array(Vec::new())
                } else {
                    Value::Null
                };
                self.values.push((param.name.post, nothing));
                if echoes {
                    self.echo.insert(param.spelled(speech), Value::Null);
                }
            }
            // Clients send parameters that they leave open as empty ones.
            Some(raw) if !raw.is_empty() => self.take(param, raw, speech, echoes),
            Some(raw) if unsets && param.need == Need::May => {
                let message = format!("{} cannot be unset", param.spelled(speech));
                let problem =
                    AdsProblem::invalid_parameter(param.spelled(speech), raw.shown(), message);
                self.problems.push(problem);
            }
            _ => self.miss(param, speech, echoes),
        }
    }

    fn take(&mut self, param: &Param, raw: Raw<'_>, speech: Vocabulary, echoes: bool) {
        let name = param.spelled(speech);
        match param.kind.read(&name, raw) {
            Ok(value) => {
                if echoes {
                    self.echo.insert(name, param.kind.echo(&value, speech));
                }
                self.values.push((param.name.post, value));
            }
            Err(problem) => {
                // What cannot be read is told back as it came.
                if echoes && param.place == Place::Path {
                    self.echo.insert(name, raw.shown().into());
                }
                self.problems.push(problem);
            }
        }
    }

    fn miss(&mut self, param: &Param, speech: Vocabulary, echoes: bool) {
        if param.need == Need::Must {
            self.problems
                .push(AdsProblem::missing_parameter(param.spelled(speech)));
        }
        if let Some(usual) = &param.default {
            if echoes && param.echoes_default {
                self.echo
                    .insert(param.spelled(speech), param.kind.echo(usual, speech));
            }
            self.values.push((param.name.post, usual.clone()));
        }
    }

    /// A value by its name in the posts vocabulary; none when it was not sent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    /// Whether it was sent.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A number, an id or a moment in milliseconds.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    /// A text or a word.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Yes; no where it was not sent.
    pub fn flag(&self, name: &str) -> bool {
        self.int(name).is_some_and(|flag| flag != 0)
    }

    /// Numbers of a list; empty where it was not sent.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        let items = self.get(name).and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_i64).collect()
    }

    /// Texts of a list; empty where it was not sent.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.get(name).and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        let texts = items.iter().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Takes a value out, as if it had not been sent; it is told back all the same.
    pub fn drop(&mut self, name: &str) {
        self.values.retain(|(known, _)| *known != name);
    }

    /// Puts a value in, as if it had been sent.
    pub fn put(&mut self, name: &'static str, value: Value) {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
    }
}
