//! The index as of a commit, with the bounds of ids and times of its parts.

use std::collections::HashMap;
use std::sync::Arc;

use base::Fault;
use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentId;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::schema::build_schema;
use crate::{SearchHit, index_error};

/// Documents per block.
const BLOCK_DOCS: u32 = 4_096;
/// Documents per step for counting by time: so few that most steps lie within an hour. A block
/// consists of whole steps.
pub(crate) const STEP_DOCS: u32 = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct DocBlock {
    pub(crate) segment: usize,
    pub(crate) first: DocId,
    pub(crate) end: DocId,
    pub(crate) lowest: i64,
    pub(crate) highest: i64,
    pub(crate) earliest: i64,
    pub(crate) latest: i64,
}

#[derive(Clone)]
pub(crate) struct SegmentColumns {
    pub(crate) ids: Arc<dyn ColumnValues<i64>>,
    pub(crate) times: Arc<dyn ColumnValues<i64>>,
    /// The earliest and the latest time of each [`STEP_DOCS`] documents.
    pub(crate) steps: Arc<[(i64, i64)]>,
    blocks: Arc<[DocBlock]>,
}

pub struct IndexSnapshot {
    pub(crate) searcher: Searcher,
    pub(crate) columns: Vec<SegmentColumns>,
    /// The blocks of all segments, the highest ids first.
    pub(crate) blocks: Vec<DocBlock>,
    columns_by_segment: HashMap<SegmentId, SegmentColumns>,
}

impl IndexSnapshot {
    /// Only reads the bounds of segments that `previous` does not have.
    pub(crate) fn new(searcher: Searcher, previous: Option<&Self>) -> Result<Self, Fault> {
        let (mut columns, mut blocks, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let id = reader.segment_id();
            let cached = previous.and_then(|previous| previous.columns_by_segment.get(&id).cloned());
            let read = match cached {
                Some(read) => read,
                None => SegmentColumns::from_segment(reader)
                    .map_err(index_error("failed to read the columns of the index"))?,
            };
            blocks.extend(read.blocks.iter().map(|block| DocBlock { segment, ..*block }));
            known.insert(id, read.clone());
            columns.push(read);
        }
        blocks.sort_unstable_by_key(|block| std::cmp::Reverse(block.highest));
        Ok(Self { searcher, columns, blocks, columns_by_segment: known })
    }

    pub fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    pub fn contains_post(&self, id: i64) -> Result<bool, Fault> {
        let field = build_schema().1.id;
        let term = Term::from_field_i64(field, id);
        let mut readers = self.searcher.segment_readers().iter();
        let found = readers.try_fold(false, |found, reader| Ok(found || segment_contains(reader, &term, field)?));
        found.map_err(index_error("failed to look up a post in the index"))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn segment_contains(reader: &SegmentReader, term: &Term, field: Field) -> tantivy::Result<bool> {
    let index = reader.inverted_index(field)?;
    let Some(mut found) = index.read_postings(term, IndexRecordOption::Basic)? else {
        return Ok(false);
    };
    while found.doc() != TERMINATED {
        if !reader.is_deleted(found.doc()) {
            return Ok(true);
        }
        found.advance();
    }
    Ok(false)
}

impl SegmentColumns {
    pub(crate) fn read_hit(&self, doc: DocId) -> SearchHit {
        SearchHit { id: self.ids.get_val(doc), created_at_ms: self.times.get_val(doc) }
    }

    fn from_segment(reader: &SegmentReader) -> tantivy::Result<Self> {
        let ids = reader.fast_fields().i64("id")?.first_or_default_col(0);
        let times = reader.fast_fields().i64("at")?.first_or_default_col(0);
        let (mut blocks, mut steps) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < reader.max_doc() {
            let end = reader.max_doc().min(first + BLOCK_DOCS);
            blocks.push(DocBlock::from_documents((first, end), &*ids, &*times, &mut steps));
            first = end;
        }
        Ok(Self { ids, times, steps: steps.into(), blocks: blocks.into() })
    }
}

impl DocBlock {
    fn from_documents(
        (first, end): (DocId, DocId),
        ids: &dyn ColumnValues<i64>,
        times: &dyn ColumnValues<i64>,
        steps: &mut Vec<(i64, i64)>,
    ) -> Self {
        let mut block =
            Self { segment: 0, first, end, lowest: i64::MAX, highest: i64::MIN, earliest: i64::MAX, latest: i64::MIN };
        for doc in first..end {
            let (id, at) = (ids.get_val(doc), times.get_val(doc));
            block.lowest = block.lowest.min(id);
            block.highest = block.highest.max(id);
            block.earliest = block.earliest.min(at);
            block.latest = block.latest.max(at);
            if let Some(step) = steps.last_mut().filter(|_| doc % STEP_DOCS != 0) {
                *step = (step.0.min(at), step.1.max(at));
            } else {
                steps.push((at, at));
            }
        }
        block
    }
}
