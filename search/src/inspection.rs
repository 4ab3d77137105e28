//! What the index contains, for a comparison with the database.

use base::Fault;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use crate::find::SearchWindow;
use crate::schema::{IndexFields, build_schema, encode_word};
use crate::snapshot::IndexSnapshot;
use crate::{IndexDocument, SearchHit, index_error};

impl IndexSnapshot {
    /// The posts with ids above one and up to another, by id. A post that is indexed twice is listed twice.
    pub fn list_posts(&self, above: i64, last: i64) -> Vec<SearchHit> {
        let window = SearchWindow { after_id: above, before_id: last.saturating_add(1), ..SearchWindow::ALL };
        let mut found = Vec::new();
        for block in self.blocks_in_window(&window) {
            let segment = self.searcher.segment_readers().get(block.segment);
            let (Some(reader), Some(columns)) = (segment, self.columns.get(block.segment)) else {
                continue;
            };
            let live = (block.first..block.end).filter(|doc| !reader.is_deleted(*doc));
            found.extend(live.map(|doc| columns.read_hit(doc)).filter(|hit| window.contains(*hit)));
        }
        found.sort_unstable();
        found
    }

    /// Whether the post is indexed with this author, time, flags and words.
    pub fn matches_document(&self, document: &IndexDocument) -> Result<bool, Fault> {
        let fields = build_schema().1;
        let mut readers = self.searcher.segment_readers().iter();
        let found =
            readers.try_fold(false, |found, reader| Ok(found || segment_matches_document(reader, fields, document)?));
        found.map_err(index_error("failed to look up a post in the index"))
    }
}

fn segment_matches_document(
    reader: &SegmentReader,
    fields: IndexFields,
    document: &IndexDocument,
) -> tantivy::Result<bool> {
    let id = Term::from_field_i64(fields.id, document.id);
    let Some(mut found) = reader.inverted_index(fields.id)?.read_postings(&id, IndexRecordOption::Basic)? else {
        return Ok(false);
    };
    while found.doc() != TERMINATED && reader.is_deleted(found.doc()) {
        found.advance();
    }
    let doc = found.doc();
    Ok(doc != TERMINATED
        && columns_match(reader, doc, document)?
        && contains_words(reader, fields, doc, &document.keys.runs)?)
}

fn columns_match(reader: &SegmentReader, doc: DocId, document: &IndexDocument) -> tantivy::Result<bool> {
    let columns = reader.fast_fields();
    Ok(columns.i64("at")?.first(doc) == Some(document.created_at_ms)
        && columns.i64("author")?.first(doc) == Some(document.author)
        && columns.u64("flags")?.first(doc) == Some(document.encode_flags()))
}

fn contains_words(reader: &SegmentReader, fields: IndexFields, doc: DocId, runs: &[Vec<u64>]) -> tantivy::Result<bool> {
    let index = reader.inverted_index(fields.words)?;
    let mut text = String::new();
    for word in runs.iter().flatten() {
        text.clear();
        encode_word(*word, &mut text);
        let term = Term::from_field_text(fields.words, &text);
        let Some(mut found) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            return Ok(false);
        };
        if found.doc() > doc || found.doc() < doc && found.seek(doc) != doc {
            return Ok(false);
        }
    }
    Ok(true)
}
