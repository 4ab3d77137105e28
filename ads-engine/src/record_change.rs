//! A record that is created, updated or deleted, as validation rules see it.

use crate::declaration::ResourceVerb;
use crate::record::AdsRecord;

#[derive(Clone, Debug)]
pub struct RecordChange {
    pub verb: ResourceVerb,
    /// The new state.
    pub record: AdsRecord,
    /// The previous state; `None` for a new record.
    pub before: Option<AdsRecord>,
    /// In the posts vocabulary.
    pub sent_fields: Vec<&'static str>,
}

impl RecordChange {
    pub const fn is_new(&self) -> bool {
        self.before.is_none()
    }

    pub fn was_sent(&self, name: &str) -> bool {
        self.sent_fields.contains(&name)
    }

    /// Whether a field differs from its previous value; true for every field of a new record.
    pub fn changes_field(&self, name: &str) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| before.get(name) != self.record.get(name))
    }

    pub fn has_any_change(&self) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| {
            !before.non_null_fields().eq(self.record.non_null_fields()) || before.deleted != self.record.deleted
        })
    }
}
