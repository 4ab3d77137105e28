//! Fields, the parameters that set them, and filters of lists.

use base::VocabularyWord;
use serde_json::Value;

use super::{Gate, Resource};
use crate::kind::Kind;

/// Whether a field may or must be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is not understood, and ignored.
    No,
    /// It may.
    May,
    /// It must.
    Must,
}

/// A field of a record, and the parameter that sets it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: VocabularyWord,
    /// Further names under which it may be sent.
    pub aliases: &'static [&'static str],
    /// What it may hold.
    pub kind: Kind,
    /// Whether it is sent with a new record.
    pub create: Need,
    /// Whether it is sent with a change.
    pub update: Need,
    /// What a new record has when it is not sent.
    pub default: Start,
    /// Whether it is shown.
    pub shown: bool,
    /// The features that an account needs to set it.
    pub gates: &'static [Gate],
}

/// What a field holds that was not sent.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// Nothing; lists are empty.
    Nothing,
    /// This word.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// This number.
    Number(i64),
}

/// By what a list may be filtered.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// The parameter.
    pub name: VocabularyWord,
    /// Further names of the parameter.
    pub aliases: &'static [&'static str],
    /// The field; `id` for the record itself.
    pub field: &'static str,
    /// What the parameter holds.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
}

/// Parameters that lists written by hand take like all others.
pub const COUNT: Field = Field::new("count", Kind::Int(1, 1000)).or_number(200);
/// Where a page begins.
pub const CURSOR: Field = Field::text("cursor", 1, 512);
/// In which order.
pub const SORT_BY: Field = Field::new("sort_by", Kind::Texts(5, 100));
/// Whether deleted records are wanted.
pub const WITH_DELETED: Field = Field::new("with_deleted", Kind::Bool).or_flag(false);
/// Whether the total is wanted.
pub const WITH_TOTAL_COUNT: Field = Field::new("with_total_count", Kind::Bool).or_flag(false);

impl Start {
    /// The value, as it is kept.
    pub fn value(self, kind: Kind) -> Value {
        match self {
            Self::Nothing if kind.is_list() => Value::Array(Vec::new()),
            Self::Nothing => Value::Null,
            Self::Word(word) => word.into(),
            Self::Flag(flag) => i64::from(flag).into(),
            Self::Number(number) => number.into(),
        }
    }
}

impl Field {
    /// A field that may be sent with a new record and with a change.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            kind,
            create: Need::May,
            update: Need::May,
            default: Start::Nothing,
            shown: true,
            gates: &[],
        }
    }

    /// A text of so many characters at least and at most.
    pub const fn text(name: &'static str, least: usize, most: usize) -> Self {
        Self::new(name, Kind::Text(least, most))
    }

    /// One of these words.
    pub const fn one_of(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, Kind::OneOf(words))
    }

    /// An absolute `https` address.
    pub const fn url(name: &'static str) -> Self {
        Self::new(name, Kind::Url)
    }

    /// An amount of money in millionths.
    pub const fn money(name: &'static str) -> Self {
        Self::new(name, Kind::Money)
    }

    /// The id of a record of the same account that stays what it is.
    pub const fn reference(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, Kind::Reference(to, false)).fixed()
    }

    /// The same; this record disappears from lists when that one is deleted.
    pub const fn parent(name: &'static str, to: &'static Resource) -> Self {
        Self::new(name, Kind::Reference(to, true)).fixed()
    }

    /// Must be sent with a new record.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            create: Need::Must,
            ..self
        }
    }

    /// Is sent so with a change.
    #[must_use]
    pub const fn update(self, update: Need) -> Self {
        Self { update, ..self }
    }

    /// Is not changed.
    #[must_use]
    pub const fn fixed(self) -> Self {
        self.update(Need::No)
    }

    /// Is never sent: rules set it.
    #[must_use]
    pub const fn kept(self) -> Self {
        Self {
            create: Need::No,
            update: Need::No,
            ..self
        }
    }

    /// Is never shown.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self {
            shown: false,
            ..self
        }
    }

    /// Starts with this word.
    #[must_use]
    pub const fn or(self, word: &'static str) -> Self {
        Self {
            default: Start::Word(word),
            ..self
        }
    }

    /// Starts with this.
    #[must_use]
    pub const fn or_flag(self, flag: bool) -> Self {
        Self {
            default: Start::Flag(flag),
            ..self
        }
    }

    /// Starts with this number.
    #[must_use]
    pub const fn or_number(self, number: i64) -> Self {
        Self {
            default: Start::Number(number),
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
    pub const fn gated(self, gates: &'static [Gate]) -> Self {
        Self { gates, ..self }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn older(self, tweet: &'static str) -> Self {
        Self {
            name: VocabularyWord::new(self.name.post, tweet),
            ..self
        }
    }
}

impl Filter {
    /// Up to 200 ids of a field that refers to this resource; `id`: of the record itself.
    pub const fn ids(name: &'static str, field: &'static str, of: &'static Resource) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            field,
            kind: Kind::Ids(of, 200),
            required: false,
        }
    }

    /// Some of these words in a field.
    pub const fn words(
        name: &'static str,
        field: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            field,
            kind: Kind::SomeOf(words),
            required: false,
        }
    }

    /// What a field must hold.
    pub const fn new(name: &'static str, field: &'static str, kind: Kind) -> Self {
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
        Self {
            required: true,
            ..self
        }
    }

    /// Has another name in the older vocabulary.
    #[must_use]
    pub const fn older(self, tweet: &'static str) -> Self {
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
