//! Object types in responses: each implements [`RenderedObject`] in its own file.

use std::hash::{Hash, Hasher};

use base::{VocabularyWord, sorted_distinct};

use crate::field_schema::{Expansion, ExpansionTarget, FieldAudience, FieldDefinition, FieldInclusion, JsonFieldType};
use crate::json_writer::JsonWriter;

/// A type of object in responses.
pub(crate) trait RenderedObject: Sized + 'static {
    /// An object and what it is rendered from.
    type Context<'a>: Copy;

    /// The name of the schema in the OpenAPI document.
    const NAME: VocabularyWord;
    /// The name of the `*.fields` parameter.
    const FIELDS_PARAM: VocabularyWord;
    /// At most 64, in the order in which they are rendered.
    const FIELDS: &'static [ObjectField<Self>];
    /// At most 32.
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = &[];
    /// The member of `includes`, if the object can be included.
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> = None;

    const KIND: ObjectKind = ObjectKind(&ObjectTable {
        name: Self::NAME,
        fields_param: Self::FIELDS_PARAM,
        included: Self::INCLUDED,
        field_at: |index| Self::FIELDS.get(index).map(|field| &field.definition),
        expansion_at: |index| Self::EXPANSIONS.get(index).map(|expansion| &expansion.definition),
    });
    const DEFAULT_MASK: u64 = default_mask(Self::FIELDS);
    const PUBLIC_MASK: u64 = audience_mask(Self::FIELDS, FieldAudience::Anyone);

    /// The fields of a mask that the viewer may see.
    fn visible_fields(_: Self::Context<'_>, mask: u64) -> u64 {
        mask
    }

    /// Writes an object with the fields of a mask; fields without a value are omitted.
    fn write(out: &mut JsonWriter, ctx: Self::Context<'_>, mask: u64) {
        out.write_object(|out| {
            let mut rest = Self::visible_fields(ctx, mask);
            for field in Self::FIELDS {
                if rest == 0 {
                    break;
                }
                if rest & 1 == 1
                    && let Some(write) = field.writer
                {
                    out.write_member(field.definition.name, |out| write(out, ctx));
                }
                rest >>= 1;
            }
        });
    }
}

type WriteField<T> = for<'a> fn(&mut JsonWriter, <T as RenderedObject>::Context<'a>);
type ResolveTargets<T> = for<'a> fn(<T as RenderedObject>::Context<'a>, &mut Vec<ExpansionTarget<'a>>);

/// A field with the function that writes its value, or nothing if there is none.
pub(crate) struct ObjectField<T: RenderedObject> {
    pub(crate) definition: FieldDefinition,
    /// `None` if the field is accepted in requests, but never has a value.
    writer: Option<WriteField<T>>,
}

/// An expansion with the function that finds its targets.
pub(crate) struct ObjectExpansion<T: RenderedObject> {
    pub(crate) definition: Expansion,
    /// `None` if the expansion is accepted in requests, but never leads anywhere.
    pub(crate) resolver: Option<ResolveTargets<T>>,
}

impl<T: RenderedObject> ObjectField<T> {
    const fn new(
        inclusion: FieldInclusion,
        name: &'static str,
        json_type: JsonFieldType,
        description: &'static str,
    ) -> Self {
        let definition = FieldDefinition {
            name: VocabularyWord::same_in_both(name),
            inclusion,
            audience: FieldAudience::Anyone,
            json_type,
            description,
            may_be_absent: false,
        };
        Self { definition, writer: None }
    }

    pub(crate) const fn default_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Always, name, json, about)
    }

    pub(crate) const fn requested_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Requested, name, json, about)
    }

    pub(crate) const fn expansion_field(name: &'static str, json: JsonFieldType, about: &'static str) -> Self {
        Self::new(FieldInclusion::Expanded, name, json, about)
    }

    /// Sets the name in the tweets vocabulary.
    pub(crate) const fn tweet_name(mut self, tweet: &'static str) -> Self {
        self.definition.name.tweet = tweet;
        self
    }

    /// Marks the field as missing from some objects although it was requested.
    pub(crate) const fn absent_for_some(mut self) -> Self {
        self.definition.may_be_absent = true;
        self
    }

    pub(crate) const fn restrict_to(mut self, audience: FieldAudience) -> Self {
        self.definition.audience = audience;
        self
    }

    pub(crate) const fn writer(mut self, write: WriteField<T>) -> Self {
        self.writer = Some(write);
        self
    }
}

impl<T: RenderedObject> ObjectExpansion<T> {
    pub(crate) const fn new(name: &'static str, field: &'static str) -> Self {
        let name = VocabularyWord::same_in_both(name);
        Self { definition: Expansion { name, field, nested: false }, resolver: None }
    }

    pub(crate) const fn tweet_name(mut self, tweet: &'static str) -> Self {
        self.definition.name.tweet = tweet;
        self
    }

    pub(crate) const fn tweet_only(mut self) -> Self {
        self.definition.name.post = "";
        self
    }

    pub(crate) const fn post_only(self) -> Self {
        self.tweet_name("")
    }

    pub(crate) const fn start_at_references(mut self) -> Self {
        self.definition.nested = true;
        self
    }

    pub(crate) const fn resolver(mut self, resolve: ResolveTargets<T>) -> Self {
        self.resolver = Some(resolve);
        self
    }
}

/// The objects that expansions lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum IncludedKind {
    Post,
    User,
    Media,
    Topic,
    Poll,
    Place,
}

impl IncludedKind {
    pub(crate) const COUNT: usize = 6;

    /// Below [`Self::COUNT`].
    pub(crate) const fn index(self) -> usize {
        #[expect(clippy::as_conversions, reason = "the discriminant of a fieldless enum in a const fn")]
        let number = self as usize;
        number
    }
}

/// An object type as endpoints declare it. Its constants are where the types are.
#[derive(Clone, Copy, Debug)]
pub struct ObjectKind(&'static ObjectTable);

#[derive(Debug)]
struct ObjectTable {
    name: VocabularyWord,
    fields_param: VocabularyWord,
    included: Option<(IncludedKind, VocabularyWord)>,
    field_at: fn(usize) -> Option<&'static FieldDefinition>,
    expansion_at: fn(usize) -> Option<&'static Expansion>,
}

impl PartialEq for ObjectKind {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ObjectKind {}

impl Hash for ObjectKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl ObjectKind {
    /// The name of the schema in the OpenAPI document.
    pub const fn schema_name(self) -> VocabularyWord {
        self.0.name
    }

    /// The name of the `*.fields` parameter.
    pub const fn fields_param(self) -> VocabularyWord {
        self.0.fields_param
    }

    pub(crate) fn included_kind(self) -> Option<IncludedKind> {
        self.0.included.map(|(kind, _)| kind)
    }

    /// The member of `includes`, if objects of the type can be included.
    pub fn include_key(self) -> Option<VocabularyWord> {
        self.0.included.map(|(_, key)| key)
    }

    /// In the order in which they are rendered.
    pub fn fields(self) -> impl Iterator<Item = &'static FieldDefinition> {
        (0..).map_while(self.0.field_at)
    }

    pub(crate) fn expansions(self) -> impl Iterator<Item = &'static Expansion> {
        (0..).map_while(self.0.expansion_at)
    }

    /// The names accepted by the `*.fields` parameter in either vocabulary, sorted.
    pub fn field_names(self) -> Vec<&'static str> {
        let named = self.fields().filter(|field| !matches!(field.inclusion, FieldInclusion::Expanded));
        sort_names(named.map(|field| field.name))
    }

    /// The names accepted by `expansions` for primary objects of this type in either vocabulary, sorted.
    pub fn expansion_names(self) -> Vec<&'static str> {
        sort_names(self.expansions().map(|expansion| expansion.name))
    }

    /// The bit of a field by its name in the posts vocabulary.
    pub(crate) fn field_bit(self, name: &str) -> u64 {
        self.fields().position(|field| field.name.post == name).map_or(0, |index| 1 << index)
    }
}

fn sort_names(words: impl Iterator<Item = VocabularyWord>) -> Vec<&'static str> {
    let both = words.flat_map(|word| [word.post, word.tweet]);
    sorted_distinct(both.filter(|name| !name.is_empty()))
}

/// The bits of the fields restricted to an audience.
pub(crate) const fn audience_mask<T: RenderedObject>(fields: &[ObjectField<T>], audience: FieldAudience) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        let same = matches!(
            (first.definition.audience, audience),
            (FieldAudience::Anyone, FieldAudience::Anyone)
                | (FieldAudience::Users, FieldAudience::Users)
                | (FieldAudience::Owner, FieldAudience::Owner)
        );
        if same {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}

const fn default_mask<T: RenderedObject>(fields: &[ObjectField<T>]) -> u64 {
    let (mut bits, mut bit, mut rest) = (0, 1, fields);
    while let [first, tail @ ..] = rest {
        if matches!(first.definition.inclusion, FieldInclusion::Always) {
            bits |= bit;
        }
        bit <<= 1;
        rest = tail;
    }
    bits
}
