//! Kinds of values.

use std::any::Any;
use std::fmt::Debug;

use base::VocabularyWord;
use serde_json::{Value, json};

use crate::{Parameter, ViolationKind};

#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub value: ValueKind,
    /// The minimum and maximum count of a list; `None` for a single value.
    pub list: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    Bool,
    /// The minimum and maximum, both included.
    Int(i64, i64),
    /// A positive amount in millionths of the currency's unit.
    Money,
    /// A decimal id.
    Id,
    /// A decimal id that the Ads API echoes as a number.
    Long,
    /// The minimum and maximum length in code points.
    Text(usize, usize),
    Pattern(&'static TextPattern),
    OneOf(&'static [&'static str]),
    /// A word that the vocabularies spell differently.
    Word(&'static [VocabularyWord]),
    Time,
    /// An absolute URL, `https` or `http`.
    Url,
    /// A closed object.
    Object(&'static [Parameter]),
    /// Any JSON, checked by the operation.
    Json,
    Custom(&'static dyn CustomKind),
}

#[derive(Clone, Copy, Debug)]
pub struct TextPattern {
    /// As shown in refusals and the OpenAPI document.
    pub regex: &'static str,
    pub matches: fn(&str) -> bool,
}

/// A kind defined by another crate.
pub trait CustomKind: Any + Debug + Sync {
    /// Reads a text into its stored form.
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        Ok(text.into())
    }

    /// Renders a stored value that is rendered differently.
    fn render(&self, _stored: &Value) -> Option<Value> {
        None
    }

    fn is_number(&self) -> bool {
        false
    }

    /// The expected value, for error messages: one, or at most `limit`.
    fn describe_expected(&self, _limit: Option<usize>) -> String {
        String::new()
    }

    /// The JSON Schema of one value: by default any text.
    fn schema(&self) -> Value {
        json!({ "type": "string" })
    }
}

static USERNAME: TextPattern = TextPattern {
    regex: "^[A-Za-z0-9_]{1,15}$",
    matches: |text| {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        plain && (1..=15).contains(&text.len())
    },
};

impl Kind {
    pub const BOOL: Self = Self::new(ValueKind::Bool);
    pub const ID: Self = Self::new(ValueKind::Id);
    pub const JSON: Self = Self::new(ValueKind::Json);
    pub const LONG: Self = Self::new(ValueKind::Long);
    pub const MONEY: Self = Self::new(ValueKind::Money);
    pub const TIME: Self = Self::new(ValueKind::Time);
    pub const URL: Self = Self::new(ValueKind::Url);
    pub const USERNAME: Self = Self::new(ValueKind::Pattern(&USERNAME));

    const fn new(value: ValueKind) -> Self {
        Self { value, list: None }
    }

    pub const fn int(min: i64, max: i64) -> Self {
        Self::new(ValueKind::Int(min, max))
    }

    pub const fn text(min: usize, max: usize) -> Self {
        Self::new(ValueKind::Text(min, max))
    }

    pub const fn pattern(pattern: &'static TextPattern) -> Self {
        Self::new(ValueKind::Pattern(pattern))
    }

    pub const fn one_of(words: &'static [&'static str]) -> Self {
        Self::new(ValueKind::OneOf(words))
    }

    pub const fn word(words: &'static [VocabularyWord]) -> Self {
        Self::new(ValueKind::Word(words))
    }

    pub const fn object(members: &'static [Parameter]) -> Self {
        Self::new(ValueKind::Object(members))
    }

    pub const fn custom(kind: &'static dyn CustomKind) -> Self {
        Self::new(ValueKind::Custom(kind))
    }

    /// A list of such values, with its minimum and maximum count.
    #[must_use]
    pub const fn list(self, min: usize, max: usize) -> Self {
        Self { list: Some((min, max)), ..self }
    }

    pub const fn is_list(self) -> bool {
        self.list.is_some()
    }

    /// The custom kind of a value, or of the items of a list.
    pub fn downcast<T: CustomKind>(self) -> Option<&'static T> {
        match self.value {
            ValueKind::Custom(kind) => {
                let kind: &'static dyn Any = kind;
                kind.downcast_ref()
            }
            _ => None,
        }
    }

    /// Whether the value, or each item of a list, is stored as a number.
    pub fn is_number(self) -> bool {
        match self.value {
            ValueKind::Bool
            | ValueKind::Int(..)
            | ValueKind::Money
            | ValueKind::Id
            | ValueKind::Long
            | ValueKind::Time => true,
            ValueKind::Custom(kind) => kind.is_number(),
            _ => false,
        }
    }
}
