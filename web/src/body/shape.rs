//! Whether a JSON object is what an operation declares; every way in which it is not.

use std::fmt;

use base::refusal::InvalidParameter;
use base::{Vocabulary, VocabularyWord};
use serde_json::{Map, Value};

use super::Read;
use crate::endpoint::{Member, Shape};
use crate::params::shown;

/// Checks a whole body.
pub(super) fn check(
    members: &[Member],
    object: Map<String, Value>,
    speech: Vocabulary,
) -> Result<Read, Vec<InvalidParameter>> {
    let mut check = Check {
        speech,
        betrayed: None,
        wrong: Vec::new(),
    };
    check.object(
        members,
        &object,
        Path {
            parent: None,
            step: Step::Root,
        },
    );
    if check.wrong.is_empty() {
        Ok(Read {
            members: object,
            betrayed: check.betrayed,
        })
    } else {
        Err(check.wrong)
    }
}

struct Check {
    speech: Vocabulary,
    betrayed: Option<Vocabulary>,
    wrong: Vec<InvalidParameter>,
}

/// Where in the body something stands; written out only when it is wrong.
#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Name(&'p str),
    Place(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match (self.step, self.parent.map(|parent| parent.step)) {
            (Step::Root, _) => Ok(()),
            (Step::Name(name), Some(Step::Root) | None) => f.write_str(&shown(name)),
            (Step::Name(name), _) => write!(f, ".{}", shown(name)),
            (Step::Place(place), _) => write!(f, "[{place}]"),
        }
    }
}

impl Check {
    fn tell(&mut self, path: Path<'_>, value: Option<&Value>, why: impl fmt::Display) {
        let values = value.map(|value| match value {
            Value::String(text) => shown(text).into_owned(),
            other => shown(&other.to_string()).into_owned(),
        });
        self.wrong.push(InvalidParameter {
            parameter: path.to_string().into(),
            values: values.into_iter().collect(),
            message: format!("$.{path}: {why}"),
        });
    }

    fn object(&mut self, members: &[Member], object: &Map<String, Value>, at: Path<'_>) {
        for (name, value) in object {
            let path = Path {
                parent: Some(&at),
                step: Step::Name(name),
            };
            match members.iter().find(|member| member.name.matches(name)) {
                Some(member) if is_second(member.name, name, object) => {
                    self.tell(
                        path,
                        Some(value),
                        format_args!("`{}` says the same", member.name.post),
                    );
                }
                Some(member) => {
                    self.betrayed = self.betrayed.or(member.name.detect_vocabulary(name));
                    self.value(member.shape, value, path);
                }
                None => self.tell(
                    path,
                    Some(value),
                    "is not defined in the schema and the schema does not allow additional \
                     properties",
                ),
            }
        }
        for member in members.iter().filter(|member| member.required) {
            if !object.keys().any(|name| member.name.matches(name)) {
                let name = member.name.name_in(self.speech);
                let path = Path {
                    parent: Some(&at),
                    step: Step::Name(name),
                };
                self.tell(path, None, "is missing but it is required");
            }
        }
    }

    fn value(&mut self, shape: Shape, value: &Value, at: Path<'_>) {
        match (shape, value) {
            (Shape::Any, _) | (Shape::Bool, Value::Bool(_)) => {}
            (Shape::Id, Value::String(text)) => {
                if base::Id::<()>::parse(text).is_none() {
                    self.tell(
                        at,
                        Some(value),
                        "does not match the regex pattern ^[0-9]{1,19}$",
                    );
                }
            }
            (Shape::Text(least, most), Value::String(text)) => {
                let length = text.chars().count();
                self.bounds(length, least, most, (at, value), "character");
            }
            (Shape::Int(low, high), Value::Number(number)) => match number.as_i64() {
                Some(number) if number < low => {
                    self.tell(
                        at,
                        Some(value),
                        format_args!("must have a minimum value of {low}"),
                    );
                }
                Some(number) if number > high => {
                    self.tell(
                        at,
                        Some(value),
                        format_args!("must have a maximum value of {high}"),
                    );
                }
                Some(_) => {}
                None => self.tell(at, Some(value), "number found, integer expected"),
            },
            (Shape::OneOf(words), Value::String(text)) => {
                if !words.contains(&text.as_str()) {
                    let words = words.join(", ");
                    let why = format!("does not have a value in the enumeration [{words}]");
                    self.tell(at, Some(value), why);
                }
            }
            (Shape::Object(members), Value::Object(object)) => self.object(members, object, at),
            (Shape::Array(shape, least, most), Value::Array(items)) => {
                self.bounds(items.len(), least, most, (at, value), "item");
                for (place, item) in items.iter().enumerate().take(most) {
                    let path = Path {
                        parent: Some(&at),
                        step: Step::Place(place),
                    };
                    self.value(*shape, item, path);
                }
            }
            (shape, _) => {
                let (found, expected) = (kind(value), shape.kind());
                self.tell(
                    at,
                    Some(value),
                    format_args!("{found} found, {expected} expected"),
                );
            }
        }
    }

    fn bounds(
        &mut self,
        count: usize,
        least: usize,
        most: usize,
        (at, value): (Path<'_>, &Value),
        of: &str,
    ) {
        let bound = match count {
            count if count < least => ("minimum", least),
            count if count > most => ("maximum", most),
            _ => return,
        };
        let (which, bound) = bound;
        self.tell(
            at,
            Some(value),
            format_args!("must have a {which} of {bound} {of}s"),
        );
    }
}

/// Whether a member stands there under both of its names and this is the second one.
fn is_second(word: VocabularyWord, name: &str, object: &Map<String, Value>) -> bool {
    word.detect_vocabulary(name) == Some(Vocabulary::Tweet) && object.contains_key(word.post)
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Shape {
    const fn kind(self) -> &'static str {
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
