//! The members of a request body, looked up by the name in either vocabulary.

use base::{Error, Fault, Id, Refusal, VocabularyWord};
use serde_json::{Map, Value};

/// An object in the body, whose members already match their declaration.
#[derive(Clone, Copy, Debug)]
pub struct BodyMembers<'b>(&'b Map<String, Value>);

/// The name of a member: one for both vocabularies, or one for each.
pub trait MemberName: Copy {
    fn word(self) -> VocabularyWord;
}

impl MemberName for VocabularyWord {
    fn word(self) -> VocabularyWord {
        self
    }
}

impl MemberName for &'static str {
    fn word(self) -> VocabularyWord {
        VocabularyWord::same_in_both(self)
    }
}

impl<'b> BodyMembers<'b> {
    pub(super) const fn new(members: &'b Map<String, Value>) -> Self {
        Self(members)
    }

    pub fn get(&self, name: impl MemberName) -> Option<&'b Value> {
        let word = name.word();
        self.0.get(word.post).or_else(|| self.0.get(word.tweet))
    }

    pub fn has(&self, name: impl MemberName) -> bool {
        self.get(name).is_some()
    }

    pub fn name_used(&self, name: impl MemberName) -> &'static str {
        let word = name.word();
        if self.0.contains_key(word.post) { word.post } else { word.tweet }
    }

    pub fn required_id<K>(&self, name: impl MemberName) -> Result<Id<K>, Error> {
        self.require_present(name, self.optional_id(name))
    }

    pub fn required_text(&self, name: impl MemberName) -> Result<&'b str, Error> {
        self.require_present(name, self.optional_text(name))
    }

    pub fn required_bool(&self, name: impl MemberName) -> Result<bool, Error> {
        self.require_present(name, self.optional_bool(name))
    }

    pub fn required_int(&self, name: impl MemberName) -> Result<i64, Error> {
        self.require_present(name, self.optional_int(name))
    }

    pub fn optional_id<K>(&self, name: impl MemberName) -> Option<Id<K>> {
        self.optional_text(name).and_then(Id::parse)
    }

    pub fn optional_text(&self, name: impl MemberName) -> Option<&'b str> {
        self.get(name)?.as_str()
    }

    pub fn optional_bool(&self, name: impl MemberName) -> Option<bool> {
        match self.get(name)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_bool(),
        }
    }

    pub fn optional_int(&self, name: impl MemberName) -> Option<i64> {
        match self.get(name)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_i64(),
        }
    }

    pub fn optional_object(&self, name: impl MemberName) -> Option<BodyMembers<'b>> {
        self.get(name)?.as_object().map(BodyMembers)
    }

    /// Empty if the member is absent.
    pub fn value_array(&self, name: impl MemberName) -> &'b [Value] {
        self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn id_array<K>(&self, name: impl MemberName) -> Vec<Id<K>> {
        self.text_array(name).filter_map(Id::parse).collect()
    }

    pub fn text_array<N: MemberName>(&self, name: N) -> impl Iterator<Item = &'b str> + use<'b, N> {
        self.value_array(name).iter().filter_map(Value::as_str)
    }

    pub fn object_array<N: MemberName>(&self, name: N) -> impl Iterator<Item = BodyMembers<'b>> + use<'b, N> {
        self.value_array(name).iter().filter_map(Value::as_object).map(BodyMembers)
    }

    pub const fn as_map(&self) -> &'b Map<String, Value> {
        self.0
    }

    fn require_present<T>(self, name: impl MemberName, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| match self.get(name) {
            None => Refusal::missing_parameter(name.word().post).into(),
            Some(_) => Fault::new(format!("`{}` is declared with another shape", name.word().post)).into(),
        })
    }
}
