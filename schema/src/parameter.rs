//! Declarations of parameters and body members.

use base::VocabularyWord;
use serde_json::Value;

use crate::Kind;

/// A parameter of a path, a query or a form, or a member of a JSON body.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: VocabularyWord,
    pub aliases: &'static [&'static str],
    pub location: ParameterLocation,
    pub requirement: FieldRequirement,
    pub kind: Kind,
    pub default_value: DefaultValue,
    /// Whether an empty value clears the field.
    pub may_be_unset: bool,
    pub summary: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterLocation {
    Path,
    /// For an operation of the Ads API also a form or a JSON body.
    Query,
    Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRequirement {
    /// The parameter is not recognized, and ignored.
    Ignored,
    Optional,
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// `null`, or an empty list.
    Empty,
    Word(&'static str),
    Flag(bool),
    Number(i64),
}

impl DefaultValue {
    pub fn to_value(self, kind: Kind) -> Value {
        match self {
            Self::Empty if kind.is_list() => Value::Array(Vec::new()),
            Self::Empty => Value::Null,
            Self::Word(word) => word.into(),
            Self::Flag(flag) => i64::from(flag).into(),
            Self::Number(number) => number.into(),
        }
    }
}

impl Parameter {
    /// Optional.
    pub const fn query(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        let location = ParameterLocation::Query;
        Self { location, summary, ..Self::member(name, kind) }
    }

    pub const fn path(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        Self { location: ParameterLocation::Path, ..Self::query(name, kind, summary) }.as_required()
    }

    pub const fn path_id(name: &'static str, summary: &'static str) -> Self {
        Self::path(name, Kind::ID, summary)
    }

    /// Optional, with the same name in both vocabularies.
    pub const fn member(name: &'static str, kind: Kind) -> Self {
        Self::member_named(VocabularyWord::same_in_both(name), kind)
    }

    /// Optional.
    pub const fn member_named(name: VocabularyWord, kind: Kind) -> Self {
        Self {
            name,
            aliases: &[],
            location: ParameterLocation::Body,
            requirement: FieldRequirement::Optional,
            kind,
            default_value: DefaultValue::Empty,
            may_be_unset: false,
            summary: "",
        }
    }

    #[must_use]
    pub const fn as_required(self) -> Self {
        Self { requirement: FieldRequirement::Required, ..self }
    }

    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    #[must_use]
    pub const fn default_number(self, number: i64) -> Self {
        Self { default_value: DefaultValue::Number(number), ..self }
    }

    #[must_use]
    pub const fn default_word(self, word: &'static str) -> Self {
        Self { default_value: DefaultValue::Word(word), ..self }
    }

    pub fn is_required(&self) -> bool {
        self.requirement == FieldRequirement::Required
    }

    /// All names that clients may use, the main one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let other = (self.name.post != self.name.tweet).then_some(self.name.tweet);
        std::iter::once(self.name.post).chain(self.aliases.iter().copied()).chain(other)
    }
}
