//! Fields, the parameters that set them, and filters of lists.

use base::VocabularyWord;
use serde_json::Value;

use super::{FeatureGate, Resource};
use crate::field_kind::FieldKind;

/// Whether a field may or must be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRequirement {
    /// It is not understood, and ignored.
    Ignored,
    /// It may.
    Optional,
    /// It must.
    Required,
}

/// A field of a record, and the parameter that sets it.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    /// Its name.
    pub name: VocabularyWord,
    /// Further names under which it may be sent.
    pub aliases: &'static [&'static str],
    /// What it may hold.
    pub kind: FieldKind,
    /// Whether it is sent with a new record.
    pub create: FieldRequirement,
    /// Whether it is sent with a change.
    pub update: FieldRequirement,
    /// What a new record has when it is not sent.
    pub default_value: DefaultValue,
    /// Whether it is shown.
    pub is_shown: bool,
    /// The features that an account needs to set it.
    pub gates: &'static [FeatureGate],
}

/// What a field holds that was not sent.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// Nothing; lists are empty.
    Empty,
    /// This word.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// This number.
    Number(i64),
}

/// By what a list may be filtered.
#[derive(Clone, Copy, Debug)]
pub struct ListFilter {
    /// The parameter.
    pub name: VocabularyWord,
    /// Further names of the parameter.
    pub aliases: &'static [&'static str],
    /// The field; `id` for the record itself.
    pub field: &'static str,
    /// What the parameter holds.
    pub kind: FieldKind,
    /// Whether it must be there.
    pub required: bool,
}

/// Parameters that lists written by hand take like all others.
pub const COUNT: FieldSpec = FieldSpec::new("count", FieldKind::Int(1, 1000)).default_number(200);
/// Where a page begins.
pub const CURSOR: FieldSpec = FieldSpec::text("cursor", 1, 512);
/// In which order.
pub const SORT_BY: FieldSpec = FieldSpec::new("sort_by", FieldKind::Texts(5, 100));
/// Whether deleted records are wanted.
pub const WITH_DELETED: FieldSpec = FieldSpec::new("with_deleted", FieldKind::Bool).default_flag(false);
/// Whether the total is wanted.
pub const WITH_TOTAL_COUNT: FieldSpec = FieldSpec::new("with_total_count", FieldKind::Bool).default_flag(false);

impl DefaultValue {
    /// The value, as it is kept.
    pub fn to_value(self, kind: FieldKind) -> Value {
        match self {
            Self::Empty if kind.is_list() => Value::Array(Vec::new()),
            Self::Empty => Value::Null,
            Self::Word(word) => word.into(),
            Self::Flag(flag) => i64::from(flag).into(),
            Self::Number(number) => number.into(),
        }
    }
}

impl FieldSpec {
    /// A field that may be sent with a new record and with a change.
    pub const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            kind,
            create: FieldRequirement::Optional,
            update: FieldRequirement::Optional,
            default_value: DefaultValue::Empty,
            is_shown: true,
            gates: &[],
        }
    }

    /// A text of so many characters at least and at most.
    pub const fn text(name: &'static str, least: usize, most: usize) -> Self {
        Self::new(name, FieldKind::Text(least, most))
    }

    /// One of these words.
    pub const fn one_of(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, FieldKind::OneOf(words))
    }

    /// An absolute `https` address.
    pub const fn url(name: &'static str) -> Self {
        Self::new(name, FieldKind::Url)
    }

    /// An amount of money in millionths.
    pub const fn money(name: &'static str) -> Self {
        Self::new(name, FieldKind::Money)
    }

    /// The id of a record of the same account that stays what it is.
    pub const fn reference(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, FieldKind::Reference(to, false)).immutable()
    }

    /// The same; this record disappears from lists when that one is deleted.
    pub const fn parent(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, FieldKind::Reference(to, true)).immutable()
    }

    /// Must be sent with a new record.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            create: FieldRequirement::Required,
            ..self
        }
    }

    /// Is sent so with a change.
    #[must_use]
    pub const fn update(self, update: FieldRequirement) -> Self {
        Self { update, ..self }
    }

    /// Is not changed.
    #[must_use]
    pub const fn immutable(self) -> Self {
        self.update(FieldRequirement::Ignored)
    }

    /// Is never sent: rules set it.
    #[must_use]
    pub const fn set_by_server(self) -> Self {
        Self {
            create: FieldRequirement::Ignored,
            update: FieldRequirement::Ignored,
            ..self
        }
    }

    /// Is never shown.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self {
            is_shown: false,
            ..self
        }
    }

    /// Starts with this word.
    #[must_use]
    pub const fn default_word(self, word: &'static str) -> Self {
        Self {
            default_value: DefaultValue::Word(word),
            ..self
        }
    }

    /// Starts with this.
    #[must_use]
    pub const fn default_flag(self, flag: bool) -> Self {
        Self {
            default_value: DefaultValue::Flag(flag),
            ..self
        }
    }

    /// Starts with this number.
    #[must_use]
    pub const fn default_number(self, number: i64) -> Self {
        Self {
            default_value: DefaultValue::Number(number),
            ..self
        }
    }

    /// Is sent under these names too.
    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Is for accounts with these features, or some of its values are.
    #[must_use]
    pub const fn requires_features(self, gates: &'static [FeatureGate]) -> Self {
        Self { gates, ..self }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn legacy_name(self, tweet: &'static str) -> Self {
        Self {
            name: VocabularyWord::new(self.name.post, tweet),
            ..self
        }
    }
}

impl ListFilter {
    /// Up to 200 ids of a field that refers to this resource; `id`: of the record itself.
    pub const fn ids(name: &'static str, field: &'static str, of: &'static Resource) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            field,
            kind: FieldKind::Ids(of, 200),
            required: false,
        }
    }

    /// Some of these words in a field.
    pub const fn one_of_words(name: &'static str, field: &'static str, words: &'static [&'static str]) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            field,
            kind: FieldKind::SomeOf(words),
            required: false,
        }
    }

    /// What a field must hold.
    pub const fn new(name: &'static str, field: &'static str, kind: FieldKind) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            field,
            kind,
            required: false,
        }
    }

    /// Must be there.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn legacy_name(self, tweet: &'static str) -> Self {
        Self {
            name: VocabularyWord::new(self.name.post, tweet),
            ..self
        }
    }

    /// Is sent under these names too.
    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}
