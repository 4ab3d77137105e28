//! Declarations of fields, parameters and list filters.

use base::VocabularyWord;
use schema::{DefaultValue, FieldRequirement, Kind, Parameter, ParameterLocation};

use super::{FeatureGate, Resource};

/// A field of a record and the parameter that sets it.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    pub name: VocabularyWord,
    /// Alternative parameter names.
    pub aliases: &'static [&'static str],
    pub kind: Kind,
    pub create: FieldRequirement,
    pub update: FieldRequirement,
    /// The value of a new record when the parameter is omitted.
    pub default_value: DefaultValue,
    pub is_shown: bool,
    /// Whether an update that sends the field empty leaves its value: the default is for new records.
    pub keeps_value: bool,
    /// Whether deleting the record that the field refers to hides this one.
    pub is_parent: bool,
    /// The features an account needs to set the field.
    pub gates: &'static [FeatureGate],
    /// For people; empty if the Ads Manager does not show the field.
    pub label: &'static str,
    pub help: &'static str,
    /// Whether forms show the field under further settings.
    pub is_advanced: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct ListFilter {
    pub parameter: Parameter,
    /// The field to compare; `id` for the record's id.
    pub field: &'static str,
}

/// A cursor holds the values that a list is sorted by, one of which is a name of up to 255 characters.
pub const MAX_CURSOR_CHARS: usize = 4096;
/// The standard parameters of lists implemented by custom operations.
pub const COUNT: FieldSpec = FieldSpec::new("count", Kind::int(1, 1000)).default_number(200);
pub const CURSOR: FieldSpec = FieldSpec::text("cursor", 1, MAX_CURSOR_CHARS);
pub const SORT_BY: FieldSpec = FieldSpec::new("sort_by", Kind::text(1, 100).list(1, 5));
pub const WITH_DELETED: FieldSpec = FieldSpec::new("with_deleted", Kind::BOOL).default_flag(false);
pub const WITH_TOTAL_COUNT: FieldSpec = FieldSpec::new("with_total_count", Kind::BOOL).default_flag(false);

impl FieldSpec {
    /// A field that may be sent on create and on update.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name: VocabularyWord::same_in_both(name),
            aliases: &[],
            kind,
            create: FieldRequirement::Optional,
            update: FieldRequirement::Optional,
            default_value: DefaultValue::Empty,
            is_shown: true,
            keeps_value: false,
            is_parent: false,
            gates: &[],
            label: "",
            help: "",
            is_advanced: false,
        }
    }

    /// A text whose length in characters is within these bounds.
    pub const fn text(name: &'static str, min: usize, max: usize) -> Self {
        Self::new(name, Kind::text(min, max))
    }

    pub const fn one_of(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, Kind::one_of(words))
    }

    /// An absolute `https` URL.
    pub const fn url(name: &'static str) -> Self {
        Self::new(name, Kind::URL)
    }

    /// An amount of money in millionths of the currency's unit.
    pub const fn money(name: &'static str) -> Self {
        Self::new(name, Kind::MONEY)
    }

    /// The id of a record of the same account, immutable.
    pub const fn reference(name: &'static str, target: &'static Resource) -> Self {
        Self::new(name, Kind::custom(target)).immutable()
    }

    /// Like [`Self::reference`]; deleting the parent hides this record.
    pub const fn parent(name: &'static str, target: &'static Resource) -> Self {
        Self { is_parent: true, ..Self::reference(name, target) }
    }

    /// The resource that the field refers to.
    pub fn target(&self) -> Option<&'static Resource> {
        self.kind.downcast().filter(|_| !self.kind.is_list())
    }

    pub(crate) fn to_parameter(self, requirement: FieldRequirement, is_new: bool) -> Parameter {
        Parameter {
            aliases: self.aliases,
            location: ParameterLocation::Query,
            requirement,
            may_be_unset: !is_new && self.create != FieldRequirement::Required,
            ..Parameter::member_named(self.name, self.kind)
        }
    }

    #[must_use]
    pub const fn required(self) -> Self {
        Self { create: FieldRequirement::Required, ..self }
    }

    #[must_use]
    pub const fn update(self, update: FieldRequirement) -> Self {
        Self { update, ..self }
    }

    #[must_use]
    pub const fn kept_when_unset(self) -> Self {
        Self { keeps_value: true, ..self }
    }

    /// Makes the field settable on create only.
    #[must_use]
    pub const fn immutable(self) -> Self {
        self.update(FieldRequirement::Ignored)
    }

    /// The field is never sent by clients; rules set it.
    #[must_use]
    pub const fn set_by_server(self) -> Self {
        Self { create: FieldRequirement::Ignored, update: FieldRequirement::Ignored, ..self }
    }

    #[must_use]
    pub const fn hidden(self) -> Self {
        Self { is_shown: false, ..self }
    }

    #[must_use]
    pub const fn default_word(self, word: &'static str) -> Self {
        Self { default_value: DefaultValue::Word(word), ..self }
    }

    #[must_use]
    pub const fn default_flag(self, flag: bool) -> Self {
        Self { default_value: DefaultValue::Flag(flag), ..self }
    }

    #[must_use]
    pub const fn default_number(self, number: i64) -> Self {
        Self { default_value: DefaultValue::Number(number), ..self }
    }

    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    #[must_use]
    pub const fn requires_features(self, gates: &'static [FeatureGate]) -> Self {
        Self { gates, ..self }
    }

    #[must_use]
    pub const fn legacy_name(self, tweet: &'static str) -> Self {
        Self { name: VocabularyWord::new(self.name.post, tweet), ..self }
    }

    #[must_use]
    pub const fn label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    #[must_use]
    pub const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    #[must_use]
    pub const fn advanced(self) -> Self {
        Self { is_advanced: true, ..self }
    }
}

impl ListFilter {
    pub const fn new(name: &'static str, field: &'static str, kind: Kind) -> Self {
        Self { parameter: Parameter::query(name, kind, ""), field }
    }

    /// Up to 200 ids, matched against a reference field, or against the record's id for `id`.
    pub const fn ids(name: &'static str, field: &'static str, resource: &'static Resource) -> Self {
        Self::new(name, field, Kind::custom(resource).list(1, 200))
    }

    pub const fn one_of_words(name: &'static str, field: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, field, Kind::one_of(words).list(1, words.len()))
    }

    #[must_use]
    pub const fn required(self) -> Self {
        Self { parameter: self.parameter.as_required(), ..self }
    }

    #[must_use]
    pub const fn legacy_name(self, tweet: &'static str) -> Self {
        let name = VocabularyWord::new(self.parameter.name.post, tweet);
        Self { parameter: Parameter { name, ..self.parameter }, ..self }
    }

    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { parameter: self.parameter.aliases(aliases), ..self }
    }
}
