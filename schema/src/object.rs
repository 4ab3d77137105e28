//! Checks a JSON object against the declaration of its members and reports every mismatch.

use std::fmt;

use base::{Vocabulary, VocabularyWord};
use serde_json::{Map, Value};

use crate::reading::check_range;
use crate::{Kind, Parameter, ReadingRules, ValueKind, ViolationKind, truncate_for_echo};

/// The number of problems that are reported for one request, so that a refusal is short.
pub const MAX_PROBLEMS: usize = 100;

/// A violation at the path of a member.
#[derive(Clone, Debug)]
pub struct ObjectProblem {
    pub path: String,
    /// The offending value; `None` if the member is missing.
    pub value: Option<String>,
    pub kind: ViolationKind,
}

/// Checks the types and bounds of all members, and that there are no others. `vocabulary` names missing members.
/// Reports at most [`MAX_PROBLEMS`].
/// Returns the only vocabulary that the names belong to, if there is one.
pub fn check_object(
    members: &[Parameter],
    object: &Map<String, Value>,
    vocabulary: Vocabulary,
    rules: &ReadingRules,
) -> Result<Option<Vocabulary>, Vec<ObjectProblem>> {
    let mut check = ObjectChecker { vocabulary, rules, vocabulary_hint: None, problems: Vec::new() };
    check.check_members(members, object, MemberPath { parent: None, step: MemberPathStep::Root });
    if check.problems.is_empty() { Ok(check.vocabulary_hint) } else { Err(check.problems) }
}

struct ObjectChecker<'r> {
    vocabulary: Vocabulary,
    rules: &'r ReadingRules,
    vocabulary_hint: Option<Vocabulary>,
    problems: Vec<ObjectProblem>,
}

/// The path of a value in the body, formatted only to report a problem.
#[derive(Clone, Copy)]
struct MemberPath<'p> {
    parent: Option<&'p MemberPath<'p>>,
    step: MemberPathStep<'p>,
}

#[derive(Clone, Copy)]
enum MemberPathStep<'p> {
    Root,
    Name(&'p str),
    Index(usize),
}

impl fmt::Display for MemberPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match (self.step, self.parent.map(|parent| parent.step)) {
            (MemberPathStep::Root, _) => Ok(()),
            (MemberPathStep::Name(name), Some(MemberPathStep::Root) | None) => f.write_str(&truncate_for_echo(name)),
            (MemberPathStep::Name(name), _) => write!(f, ".{}", truncate_for_echo(name)),
            (MemberPathStep::Index(index), _) => write!(f, "[{index}]"),
        }
    }
}

impl ObjectChecker<'_> {
    fn report_problem(&mut self, path: MemberPath<'_>, value: Option<&Value>, kind: ViolationKind) {
        let value = value.map(|value| match value {
            Value::String(text) => truncate_for_echo(text).into_owned(),
            other => truncate_for_echo(&other.to_string()).into_owned(),
        });
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ObjectProblem { path: path.to_string(), value, kind });
        }
    }

    fn check_members(&mut self, members: &[Parameter], object: &Map<String, Value>, at: MemberPath<'_>) {
        for (name, value) in object {
            let path = MemberPath { parent: Some(&at), step: MemberPathStep::Name(name) };
            match members.iter().find(|member| member.name.matches(name)) {
                Some(member) if is_duplicate_spelling(member.name, name, object) => {
                    self.report_problem(path, Some(value), ViolationKind::Duplicate(member.name.post));
                }
                Some(member) => {
                    self.vocabulary_hint = self.vocabulary_hint.or(member.name.detect_vocabulary(name));
                    self.check_value(member.kind, value, path);
                }
                None => self.report_problem(path, Some(value), ViolationKind::Unknown),
            }
        }
        for member in members.iter().filter(|member| member.is_required()) {
            if !object.keys().any(|name| member.name.matches(name)) {
                let name = member.name.name_in(self.vocabulary);
                let path = MemberPath { parent: Some(&at), step: MemberPathStep::Name(name) };
                self.report_problem(path, None, ViolationKind::Missing);
            }
        }
    }

    fn check_value(&mut self, kind: Kind, value: &Value, at: MemberPath<'_>) {
        let item = Kind { list: None, ..kind };
        match (kind.list, kind.value, value) {
            (Some((min, max)), _, Value::Array(items)) => {
                let count = items.len();
                if count < min || count > max {
                    self.report_problem(at, Some(value), ViolationKind::Count(count, min, max));
                }
                for (index, value) in items.iter().enumerate().take(max) {
                    let path = MemberPath { parent: Some(&at), step: MemberPathStep::Index(index) };
                    self.check_value(item, value, path);
                }
            }
            (None, ValueKind::Object(members), Value::Object(object)) => self.check_members(members, object, at),
            _ => {
                if let Err(problem) = check_scalar(kind, value, self.rules) {
                    self.report_problem(at, Some(value), problem);
                }
            }
        }
    }
}

fn check_scalar(kind: Kind, value: &Value, rules: &ReadingRules) -> Result<(), ViolationKind> {
    let wrong_type = ViolationKind::WrongType(json_type_name(value), expected_type(kind));
    match (kind.value, value) {
        _ if kind.is_list() => Err(wrong_type),
        (ValueKind::Json, _) | (ValueKind::Bool, Value::Bool(_)) => Ok(()),
        (ValueKind::Int(min, max), Value::Number(number)) => {
            check_range(number.as_i64().ok_or(wrong_type)?, (min, max)).map(|_| ())
        }
        (text_kind, Value::String(text)) if expected_type(kind) == "string" => {
            text_kind.read_text(text, rules).map(|_| ())
        }
        _ => Err(wrong_type),
    }
}

/// Whether the member occurs under both names and `name` is the older one.
fn is_duplicate_spelling(word: VocabularyWord, name: &str, object: &Map<String, Value>) -> bool {
    word.detect_vocabulary(name) == Some(Vocabulary::Tweet) && object.contains_key(word.post)
}

const fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

const fn expected_type(kind: Kind) -> &'static str {
    match kind.value {
        _ if kind.is_list() => "array",
        ValueKind::Bool => "boolean",
        ValueKind::Int(..) | ValueKind::Money => "integer",
        ValueKind::Object(_) => "object",
        ValueKind::Json => "any",
        _ => "string",
    }
}
