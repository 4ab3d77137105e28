//! The document that the index stores for a post.

use query::PostIndexKeys;
use tantivy::TantivyDocument;

use crate::schema::{IndexFields, LANGUAGE_SHIFT, ROOT_SHIFT, encode_word};

#[derive(Clone, Debug)]
pub struct IndexDocument {
    pub id: i64,
    /// In milliseconds since 1970.
    pub created_at_ms: i64,
    pub author: i64,
    pub keys: PostIndexKeys,
}

impl IndexDocument {
    pub(crate) fn encode_flags(&self) -> u64 {
        u64::from(self.keys.flags)
            | u64::from(self.keys.language) << LANGUAGE_SHIFT
            | u64::from(self.keys.is_root) << ROOT_SHIFT
    }

    pub(crate) fn to_tantivy(&self, fields: IndexFields) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_i64(fields.id, self.id);
        document.add_i64(fields.at, self.created_at_ms);
        document.add_i64(fields.author, self.author);
        document.add_u64(fields.flags, self.encode_flags());
        let mut text = String::new();
        // There is a position gap between the values of a field, so that no phrase spans two runs.
        for run in &self.keys.runs {
            text.clear();
            for word in run {
                encode_word(*word, &mut text);
            }
            document.add_text(fields.words, &text);
        }
        for feature in &self.keys.features {
            document.add_u64(fields.features, *feature);
        }
        document
    }
}
