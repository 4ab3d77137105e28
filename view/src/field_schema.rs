//! What the tables of object types declare: fields and expansions.

use base::{PostId, UserId, VocabularyWord};

#[derive(Clone, Copy, Debug)]
pub struct FieldDefinition {
    pub name: VocabularyWord,
    pub inclusion: FieldInclusion,
    pub audience: FieldAudience,
    pub json_type: JsonFieldType,
    /// One sentence for the OpenAPI document.
    pub description: &'static str,
    /// Whether the field can be missing although it was requested.
    pub may_be_absent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldInclusion {
    Always,
    /// When requested, or when an expansion goes through the field.
    Requested,
    /// Only when an expansion goes through the field.
    Expanded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldAudience {
    Anyone,
    /// Authenticated users: the field depends on the viewer.
    Users,
    /// The owner of the object.
    Owner,
}

#[derive(Clone, Copy, Debug)]
pub enum JsonFieldType {
    Text,
    /// A decimal id as a string.
    Id,
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    Time,
    Int,
    /// An integer; in the newer vocabulary, as a string.
    CountText,
    Real,
    Bool,
    OneOf(&'static [&'static str]),
    List(&'static JsonFieldType),
    /// All members are optional.
    Object(&'static [JsonMember]),
    /// An object with arbitrary members.
    Any,
}

#[derive(Clone, Copy, Debug)]
pub struct JsonMember {
    pub name: VocabularyWord,
    pub json_type: JsonFieldType,
}

impl JsonMember {
    pub(crate) const fn new(name: &'static str, json_type: JsonFieldType) -> Self {
        let name = VocabularyWord::same_in_both(name);
        Self { name, json_type }
    }

    pub(crate) const fn per_vocabulary(post: &'static str, tweet: &'static str, json_type: JsonFieldType) -> Self {
        let name = VocabularyWord::new(post, tweet);
        Self { name, json_type }
    }
}

/// A reference from an object to others, which are then rendered in `includes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// Empty in a vocabulary that lacks it.
    pub(crate) name: VocabularyWord,
    /// The field (posts vocabulary) it goes through, which is rendered as well.
    pub(crate) field: &'static str,
    /// Whether it starts at the posts that the object refers to, rather than at the object.
    pub(crate) nested: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExpansionTarget<'a> {
    User(UserId),
    Post(PostId),
    /// A media key.
    Media(&'a str),
    Topic(i64),
    Poll(i64),
    /// A place id in its API form.
    Place(&'a str),
}
