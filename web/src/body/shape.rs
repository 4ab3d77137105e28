//! Checks a JSON object against its declaration and reports every mismatch.

use std::fmt;

use base::refusal::InvalidParameter;
use base::{Vocabulary, VocabularyWord};
use serde_json::{Map, Value};

use super::ParsedBody;
use crate::endpoint::{BodyMember, MemberShape};
use crate::params::truncate_for_echo;

pub(super) fn check_object(
    members: &[BodyMember],
    object: Map<String, Value>,
    vocabulary: Vocabulary,
) -> Result<ParsedBody, Vec<InvalidParameter>> {
    let mut check = ShapeChecker { vocabulary, vocabulary_hint: None, invalid: Vec::new() };
    check.check_members(members, &object, MemberPath { parent: None, step: MemberPathStep::Root });
    if check.invalid.is_empty() {
        Ok(ParsedBody { members: object, vocabulary_hint: check.vocabulary_hint })
    } else {
        Err(check.invalid)
    }
}

struct ShapeChecker {
    vocabulary: Vocabulary,
    vocabulary_hint: Option<Vocabulary>,
    invalid: Vec<InvalidParameter>,
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

impl ShapeChecker {
    fn report_problem(&mut self, path: MemberPath<'_>, value: Option<&Value>, problem: impl fmt::Display) {
        let values = value.map(|value| match value {
            Value::String(text) => truncate_for_echo(text).into_owned(),
            other => truncate_for_echo(&other.to_string()).into_owned(),
        });
        self.invalid.push(InvalidParameter {
            parameter: path.to_string().into(),
            values: values.into_iter().collect(),
            message: format!("$.{path}: {problem}"),
        });
    }

    fn check_members(&mut self, members: &[BodyMember], object: &Map<String, Value>, at: MemberPath<'_>) {
        for (name, value) in object {
            let path = MemberPath { parent: Some(&at), step: MemberPathStep::Name(name) };
            match members.iter().find(|member| member.name.matches(name)) {
                Some(member) if is_duplicate_spelling(member.name, name, object) => {
                    self.report_problem(path, Some(value), format_args!("`{}` says the same", member.name.post));
                }
                Some(member) => {
                    self.vocabulary_hint = self.vocabulary_hint.or(member.name.detect_vocabulary(name));
                    self.check_value(member.shape, value, path);
                }
                None => self.report_problem(
                    path,
                    Some(value),
                    "is not defined in the schema and the schema does not allow additional \
                     properties",
                ),
            }
        }
        for member in members.iter().filter(|member| member.required) {
            if !object.keys().any(|name| member.name.matches(name)) {
                let name = member.name.name_in(self.vocabulary);
                let path = MemberPath { parent: Some(&at), step: MemberPathStep::Name(name) };
                self.report_problem(path, None, "is missing but it is required");
            }
        }
    }

    fn check_value(&mut self, shape: MemberShape, value: &Value, at: MemberPath<'_>) {
        match (shape, value) {
            (MemberShape::Any, _) | (MemberShape::Bool, Value::Bool(_)) => {}
            (MemberShape::Id, Value::String(text)) => {
                if base::Id::<()>::parse(text).is_none() {
                    self.report_problem(at, Some(value), "does not match the regex pattern ^[0-9]{1,19}$");
                }
            }
            (MemberShape::Text(min, max), Value::String(text)) => {
                let length = text.chars().count();
                self.check_bounds(length, min, max, (at, value), "character");
            }
            (MemberShape::Int(low, high), Value::Number(number)) => match number.as_i64() {
                Some(number) if number < low => {
                    self.report_problem(at, Some(value), format_args!("must have a minimum value of {low}"));
                }
                Some(number) if number > high => {
                    self.report_problem(at, Some(value), format_args!("must have a maximum value of {high}"));
                }
                Some(_) => {}
                None => self.report_problem(at, Some(value), "number found, integer expected"),
            },
            (MemberShape::OneOf(words), Value::String(text)) => {
                if !words.contains(&text.as_str()) {
                    let words = words.join(", ");
                    let problem = format!("does not have a value in the enumeration [{words}]");
                    self.report_problem(at, Some(value), problem);
                }
            }
            (MemberShape::Object(members), Value::Object(object)) => self.check_members(members, object, at),
            (MemberShape::Array(shape, min, max), Value::Array(items)) => {
                self.check_bounds(items.len(), min, max, (at, value), "item");
                for (index, item) in items.iter().enumerate().take(max) {
                    let path = MemberPath { parent: Some(&at), step: MemberPathStep::Index(index) };
                    self.check_value(*shape, item, path);
                }
            }
            (shape, _) => {
                let (found, expected) = (json_type_name(value), shape.expected_type());
                self.report_problem(at, Some(value), format_args!("{found} found, {expected} expected"));
            }
        }
    }

    fn check_bounds(
        &mut self,
        count: usize,
        min: usize,
        max: usize,
        (at, value): (MemberPath<'_>, &Value),
        unit: &str,
    ) {
        let bound = match count {
            count if count < min => ("minimum", min),
            count if count > max => ("maximum", max),
            _ => return,
        };
        let (which, bound) = bound;
        self.report_problem(at, Some(value), format_args!("must have a {which} of {bound} {unit}s"));
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

impl MemberShape {
    const fn expected_type(self) -> &'static str {
        match self {
            Self::Id | Self::Text(..) | Self::OneOf(_) => "string",
            Self::Bool => "boolean",
            Self::Int(..) => "integer",
            Self::Object(_) => "object",
            Self::Array(..) => "array",
            Self::Any => "any",
        }
    }
}
