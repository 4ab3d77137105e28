//! A post on its way into the index.

use query::Filed;
use tantivy::TantivyDocument;

use crate::schema::{Fields, LANGUAGE, ROOT, spell};

/// A post to be found.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id.
    pub id: i64,
    /// When it was written, in milliseconds since 1970.
    pub at: i64,
    /// Who wrote it.
    pub author: i64,
    /// What it is found by.
    pub filed: Filed,
}

impl Entry {
    pub(crate) fn document(&self, fields: Fields) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_i64(fields.id, self.id);
        document.add_i64(fields.at, self.at);
        document.add_i64(fields.author, self.author);
        let flags = u64::from(self.filed.flags)
            | u64::from(self.filed.language) << LANGUAGE
            | u64::from(self.filed.root) << ROOT;
        document.add_u64(fields.flags, flags);
        let mut text = String::new();
        // Between the values of a field lies a gap, so that no phrase spans two runs.
        for run in &self.filed.runs {
            text.clear();
            for word in run {
                spell(*word, &mut text);
            }
            document.add_text(fields.words, &text);
        }
        for mark in &self.filed.marks {
            document.add_u64(fields.marks, *mark);
        }
        document
    }
}
