//! The members of a request body, looked up by the name in either vocabulary.

use base::{Error, Fault, Id, Refusal, VocabularyWord};
use serde_json::{Map, Value};

/// An object in the body, whose members already match their declaration.
#[derive(Clone, Copy, Debug)]
pub struct BodyMembers<'b>(&'b Map<String, Value>);

impl<'b> BodyMembers<'b> {
    pub(super) const fn new(members: &'b Map<String, Value>) -> Self {
        Self(members)
    }

    pub fn get(&self, word: VocabularyWord) -> Option<&'b Value> {
        self.0.get(word.post).or_else(|| self.0.get(word.tweet))
    }

    pub fn has(&self, word: VocabularyWord) -> bool {
        self.get(word).is_some()
    }

    pub fn name_used(&self, word: VocabularyWord) -> &'static str {
        if self.0.contains_key(word.post) {
            word.post
        } else {
            word.tweet
        }
    }

    pub fn required_id<K>(&self, word: VocabularyWord) -> Result<Id<K>, Error> {
        self.require_present(word, self.optional_id(word))
    }

    pub fn required_text(&self, word: VocabularyWord) -> Result<&'b str, Error> {
        self.require_present(word, self.optional_text(word))
    }

    pub fn required_bool(&self, word: VocabularyWord) -> Result<bool, Error> {
        self.require_present(word, self.optional_bool(word))
    }

    pub fn required_int(&self, word: VocabularyWord) -> Result<i64, Error> {
        self.require_present(word, self.optional_int(word))
    }

    pub fn optional_id<K>(&self, word: VocabularyWord) -> Option<Id<K>> {
        self.optional_text(word).and_then(Id::parse)
    }

    pub fn optional_text(&self, word: VocabularyWord) -> Option<&'b str> {
        self.get(word)?.as_str()
    }

    pub fn optional_bool(&self, word: VocabularyWord) -> Option<bool> {
        match self.get(word)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_bool(),
        }
    }

    pub fn optional_int(&self, word: VocabularyWord) -> Option<i64> {
        match self.get(word)? {
            Value::String(text) => text.parse().ok(),
            value => value.as_i64(),
        }
    }

    pub fn optional_object(&self, word: VocabularyWord) -> Option<BodyMembers<'b>> {
        self.get(word)?.as_object().map(BodyMembers)
    }

    /// Empty if the member is absent.
    pub fn value_array(&self, word: VocabularyWord) -> &'b [Value] {
        self.get(word)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub fn id_array<K>(&self, word: VocabularyWord) -> Vec<Id<K>> {
        self.text_array(word).filter_map(Id::parse).collect()
    }

    pub fn text_array(&self, word: VocabularyWord) -> impl Iterator<Item = &'b str> + use<'b> {
        self.value_array(word).iter().filter_map(Value::as_str)
    }

    pub fn object_array(&self, word: VocabularyWord) -> impl Iterator<Item = BodyMembers<'b>> + use<'b> {
        self.value_array(word)
            .iter()
            .filter_map(Value::as_object)
            .map(BodyMembers)
    }

    pub const fn as_map(&self) -> &'b Map<String, Value> {
        self.0
    }

    fn require_present<T>(self, word: VocabularyWord, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| match self.get(word) {
            None => Refusal::missing_parameter(word.post).into(),
            Some(_) => Fault::new(format!("`{}` is declared with another shape", word.post)).into(),
        })
    }
}
