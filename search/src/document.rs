//! A post on its way into the index.

use query::PostIndexKeys;
use tantivy::TantivyDocument;

use crate::schema::{IndexFields, LANGUAGE_SHIFT, ROOT_SHIFT, encode_word};

/// A post to be found.
#[derive(Clone, Debug)]
pub struct IndexDocument {
    /// Its id.
    pub id: i64,
    /// When it was written, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// Who wrote it.
    pub author: i64,
    /// What it is found by.
    pub keys: PostIndexKeys,
}

impl IndexDocument {
    pub(crate) fn to_tantivy(&self, fields: IndexFields) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_i64(fields.id, self.id);
        document.add_i64(fields.at, self.created_at_ms);
        document.add_i64(fields.author, self.author);
        let flags = u64::from(self.keys.flags)
            | u64::from(self.keys.language) << LANGUAGE_SHIFT
            | u64::from(self.keys.is_root) << ROOT_SHIFT;
        document.add_u64(fields.flags, flags);
        let mut text = String::new();
        // Between the values of a field lies a gap, so that no phrase spans two runs.
        for run in &self.keys.runs {
            text.clear();
            for word in run {
                encode_word(*word, &mut text);
            }
            document.add_text(fields.words, &text);
        }
        for mark in &self.keys.features {
            document.add_u64(fields.marks, *mark);
        }
        document
    }
}
