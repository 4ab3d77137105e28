//! A record that is being made, changed or deleted, as rules look at it.

use crate::declare::Verb;
use crate::record::Record;

/// A change of a record.
#[derive(Clone, Debug)]
pub struct Change {
    /// What is done to it.
    pub verb: Verb,
    /// The record as it will be.
    pub record: Record,
    /// The record as it was; none of a new one.
    pub before: Option<Record>,
    /// The fields that were sent, in the posts vocabulary.
    pub sent: Vec<&'static str>,
}

impl Change {
    /// Whether it is a new record.
    pub const fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Whether a field was sent.
    pub fn sent(&self, name: &str) -> bool {
        self.sent.contains(&name)
    }

    /// Whether a field is another than before; of a new record every field is.
    pub fn changes(&self, name: &str) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| before.get(name) != self.record.get(name))
    }

    /// Whether anything is another than before.
    pub fn is_any(&self) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| {
            !before.held().eq(self.record.held()) || before.deleted != self.record.deleted
        })
    }
}
