//! A record that is being made, changed or deleted, as rules look at it.

use crate::declaration::ResourceVerb;
use crate::record::AdsRecord;

/// A change of a record.
#[derive(Clone, Debug)]
pub struct RecordChange {
    /// What is done to it.
    pub verb: ResourceVerb,
    /// The record as it will be.
    pub record: AdsRecord,
    /// The record as it was; none of a new one.
    pub before: Option<AdsRecord>,
    /// The fields that were sent, in the posts vocabulary.
    pub sent_fields: Vec<&'static str>,
}

impl RecordChange {
    /// Whether it is a new record.
    pub const fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Whether a field was sent.
    pub fn was_sent(&self, name: &str) -> bool {
        self.sent_fields.contains(&name)
    }

    /// Whether a field is another than before; of a new record every field is.
    pub fn changes_field(&self, name: &str) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| before.get(name) != self.record.get(name))
    }

    /// Whether anything is another than before.
    pub fn has_any_change(&self) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| {
            !before.non_null_fields().eq(self.record.non_null_fields()) || before.deleted != self.record.deleted
        })
    }
}
